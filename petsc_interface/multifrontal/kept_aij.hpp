// SPDX-License-Identifier: BSD-2-Clause
/// @file kept_aij.hpp  The matrix as AIJ, which is what is factored: itself, or a copy.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// Keeps the matrix as AIJ: itself, or a copy, which takes new numbers of the same pattern if it can, else is
/// made anew. Refinement takes a copy: the matrix may have other numbers when factors solve.
PetscErrorCode KeepAIJ(MultifrontalFactor *f, Mat A);
/// Whether a matrix is one of blocks, of which a copy as AIJ is kept, and how many entries it has: PETSc
/// (3.18) does not tell by the nonzero state when blocks are added.
PetscErrorCode CountBlocks(Mat A, bool *has_blocks, PetscLogDouble *entries);

} // namespace ribbon::petsc

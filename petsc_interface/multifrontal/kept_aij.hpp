// SPDX-License-Identifier: BSD-2-Clause
/// @file kept_aij.hpp  The matrix in the type AIJ, which is factored: the matrix itself, or a copy.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// Keeps the matrix as AIJ: itself, or a copy. A copy of the same pattern receives the new entries if
/// possible, otherwise it is created again. Refinement needs a copy, because the entries of the matrix may
/// change before a solve.
PetscErrorCode KeepAIJ(MultifrontalFactor *f, Mat A);
/// Whether a matrix consists of blocks, of which a copy as AIJ is kept, and how many entries it has. The
/// nonzero state of PETSc (3.18) does not change when blocks are added.
PetscErrorCode CountBlocks(Mat A, bool *has_blocks, PetscLogDouble *entries);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file aij.hpp  Matrices of the types AIJ, on hosts and devices, and their blocks.
#pragma once

#include "compat.h"

namespace ribbon::petsc {

/// Whether a matrix is AIJ, of any kind.
PetscErrorCode IsAIJ(Mat A, PetscBool *is);

/// The diagonal and the off-diagonal block of AIJ, borrowed. The latter may be null.
PetscErrorCode GetBlocks(Mat aij, Mat (&block)[2], const PetscInt **columns);

} // namespace ribbon::petsc

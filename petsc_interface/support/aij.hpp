// SPDX-License-Identifier: BSD-2-Clause
/// @file aij.hpp  Matrices of the types AIJ, on hosts and devices, and their blocks.
#pragma once

#include "compat.h"

namespace ribbon::petsc {

/// Whether a matrix is AIJ, of any kind.
PetscErrorCode IsAIJ(Mat A, PetscBool *is);

/// Copies a matrix of another type to AIJ. MatConvert() of MATMPIBAIJ raises the state of the matrix, which
/// stays as it was here: PCSetUp() would set up again before each application.
PetscErrorCode ConvertToAIJ(Mat A, Mat *aij);

/// The diagonal and the off-diagonal block of AIJ, borrowed. The latter may be null.
PetscErrorCode GetBlocks(Mat aij, Mat (&block)[2], const PetscInt **columns);

} // namespace ribbon::petsc

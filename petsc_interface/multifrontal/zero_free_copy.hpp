// SPDX-License-Identifier: BSD-2-Clause
/// @file zero_free_copy.hpp  A copy of a matrix without its stored zeros.
#pragma once

#include "../support/compat.h"

#include <vector>

namespace ribbon::petsc {

/// The entries of a matrix that a copy without zeros has, for new values.
struct ZeroFreeCopy {
  /// places of the entries in the blocks of the matrix, in the order of the copy
  std::vector<PetscInt> near, far;
};

/// Copies the nonzero entries of A to a matrix of the same type. Null if A stores no zeros. Collective.
PetscErrorCode CopyWithoutZeros(Mat aij, ZeroFreeCopy *places, Mat *copy);

/// Copies new values of A to the copy. Collective.
/// @param is_done  false if an entry that was left out is no longer zero; the same on all ranks
PetscErrorCode RefillWithoutZeros(Mat aij, const ZeroFreeCopy &places, Mat copy, bool *is_done);

} // namespace ribbon::petsc

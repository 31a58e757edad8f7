// SPDX-License-Identifier: BSD-2-Clause
/// @file zero_free_copy.hpp  A copy of a matrix without the zeros that it stores.
#pragma once

#include "../support/compat.h"

#include <vector>

namespace ribbon::petsc {

/// Which entries of a matrix a copy without zeros has, for new values.
struct ZeroFreeCopy {
  /// places of the entries in the blocks of the matrix, in the order of the copy's
  std::vector<PetscInt> near, far;
};

/// The entries of A that are not zero now, in a matrix of the same type. Null where A
/// stores no zeros. Collective.
PetscErrorCode CopyWithoutZeros(Mat aij, ZeroFreeCopy *places, Mat *copy);

/// Puts new values of A into the copy.
/// @param is_done  false where an entry that was left out is no longer zero; the
/// same on all ranks. Collective.
PetscErrorCode RefillWithoutZeros(Mat aij, const ZeroFreeCopy &places, Mat copy, bool *is_done);

} // namespace ribbon::petsc

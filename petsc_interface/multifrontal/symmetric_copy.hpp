// SPDX-License-Identifier: BSD-2-Clause
/// @file symmetric_copy.hpp  Copies the entries of an SBAIJ matrix, which stores the upper triangle, to an
///   AIJ matrix.
#pragma once

#include "../support/compat.h"

#include <vector>

namespace ribbon::petsc {

/// Created once for a pattern. Entries of the upper triangle are read from A. Entries below it on this rank
/// are mirrored (conjugated if A is known to be Hermitian). Entries that mirror rows of other ranks are
/// received from these. Both ranks list them by rank, column of the upper triangle, and row.
struct SymmetricCopy {
  bool is_made = false, is_usable = false; ///< the latter is the same on all ranks
  /// for each entry of the local block the entry that it mirrors; in the upper triangle the entry itself
  std::vector<PetscInt> near_from;
  /// places in the block of columns of other ranks
  std::vector<PetscInt>    sent, received;
  std::vector<PetscMPIInt> send_count, send_start, count, start; ///< of each rank
  std::vector<PetscScalar> send, receive;
  std::vector<PetscInt>    columns; ///< of a row
};

/// Copies the entries of A to `aij`, which has its pattern. Allocates only in the first call. Collective.
/// @param is_done  false: the copy has another pattern
PetscErrorCode CopySymmetric(Mat A, Mat aij, SymmetricCopy *copy, bool *is_done);

} // namespace ribbon::petsc

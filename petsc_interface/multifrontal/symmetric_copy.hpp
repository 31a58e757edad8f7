// SPDX-License-Identifier: BSD-2-Clause
/// @file symmetric_copy.hpp  How the numbers of an SBAIJ matrix, which has the upper triangle, go to the AIJ
///   matrix that was made of it.
#pragma once

#include "../support/compat.h"

#include <vector>

namespace ribbon::petsc {

/// Made once for a pattern. The upper triangle of a rank's rows is asked for, what lies below it and on this
/// rank is mirrored (conjugated where A is known to be Hermitian), and what mirrors rows of other ranks is
/// sent by these: both list it by rank, column of the upper triangle, and row.
struct SymmetricCopy {
  bool is_made = false, is_usable = false; ///< the latter the same on all ranks
  /// of each entry of the local block the one that it mirrors; itself in the upper triangle
  std::vector<PetscInt> near_from;
  /// places in the block of other ranks' columns
  std::vector<PetscInt>    sent, received;
  std::vector<PetscMPIInt> send_count, send_start, count, start; ///< of the ranks
  std::vector<PetscScalar> send, receive;
  std::vector<PetscInt>    columns; ///< of a row
};

/// Puts the numbers of A into `aij`, which has its pattern. Allocates in the first call alone. Collective.
/// @param is_done  false: the copy has another pattern
PetscErrorCode CopySymmetric(Mat A, Mat aij, SymmetricCopy *copy, bool *is_done);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file local_blocks.hpp  The blocks of an AIJ matrix with the rows of this rank.
#pragma once

#include "../support/csr.hpp"

namespace ribbon::petsc {

/// Returns the blocks of an AIJ matrix with the rows of this rank.
/// @param outside, columns  columns of other ranks, and their global numbers; both null if no other rank
///   has rows
PetscErrorCode LocalBlocks(Mat aij, Mat *local, Mat *outside, const PetscInt **columns);

/// Both blocks in host memory, between open() and close().
struct BothBlocks {
  Mat             local = nullptr, outside = nullptr;
  const PetscInt *columns = nullptr;
  HostRows        near, far;

  PetscErrorCode open(Mat aij, bool values)
  {
    PetscFunctionBegin;
    PetscCall(LocalBlocks(aij, &local, &outside, &columns));
    PetscCall(GetHostRows(local, values, &near));
    if (outside) PetscCall(GetHostRows(outside, values, &far));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close()
  {
    PetscFunctionBegin;
    if (outside) PetscCall(RestoreHostRows(outside, &far));
    PetscCall(RestoreHostRows(local, &near));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt near_entries() const { return near.rows > 0 ? near.row_begin[near.rows] : 0; }
  PetscInt far_entries() const { return outside && near.rows > 0 ? far.row_begin[near.rows] : 0; }
  PetscInt far_columns() const
  {
    PetscInt n = 0;
    if (outside) MatGetSize(outside, nullptr, &n);
    return n;
  }
};

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file tensor_rows.hpp  The rows of a matrix with the pattern of a TensorMass, on the host.
#pragma once

#include "../support/csr.hpp"
#include "tensor_mass.hpp"

namespace ribbon::petsc {

/// Calls f(row, entries) for all rows of this rank.
template <class F>
PetscErrorCode TensorMass::for_rows(Mat A, const F &f) const
{
  Mat             block[2];
  HostRows        rows[2];
  const PetscInt *columns;
  RowEntries      entries;
  PetscFunctionBegin;
  PetscCall(GetBlocks(A, block, &columns));
  for (int b = 0; b < 2; ++b) {
    if (!block[b]) continue;
    PetscCall(GetHostRows(block[b], true, &rows[b]));
    PetscCheck(static_cast<std::size_t>(rows[b].row_begin[rows[b].rows]) == entries_[b].size(),
               PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "ADI: the mass matrix has another pattern than the Jacobian");
  }
  for (PetscInt r = 0; r < static_cast<PetscInt>(algebraic_.size()); ++r) {
    entries.clear();
    for (int b = 0; b < 2; ++b)
      for (PetscInt k = block[b] ? rows[b].row_begin[r] : 0; block[b] && k < rows[b].row_begin[r + 1]; ++k)
        entries.emplace_back(entries_[b][static_cast<std::size_t>(k)],
                             reinterpret_cast<const PetscScalar *>(rows[b].value)[k]);
    PetscCallCXX(f(r, entries));
  }
  for (int b = 0; b < 2; ++b)
    if (block[b]) PetscCall(RestoreHostRows(block[b], &rows[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

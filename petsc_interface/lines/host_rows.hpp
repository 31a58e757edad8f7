// SPDX-License-Identifier: BSD-2-Clause
/// @file host_rows.hpp  The rows of sequential AIJ matrices in host memory, and who couples with whom in them.
#pragma once

#include "../compat.h"

#include <ribbon/lines_from_csr.hpp>

namespace ribbon::petsc {

using HostRows = CsrMatrix<Scalar, PetscInt>;

/// The compressed rows as they lie, numbers on the host included where `values`; RestoreHostRows() gives them back. Errors: PETSC_ERR_SUP for other types.
PetscErrorCode GetHostRows(Mat block, bool values, HostRows *rows);
PetscErrorCode RestoreHostRows(Mat block, HostRows *rows);

/// Columns of other ranks in the rows of this one, as a sequential AIJ matrix that is borrowed, and their global numbers (unless null); null where the type does not tell them apart.
PetscErrorCode GetOffProcessBlock(Mat rows, Mat *off, const PetscInt **columns);

/// The stored pattern of a block, by elements of `components` consecutive rows.
struct Pattern {
  HostRows A;
  PetscInt components = 1;

  PetscInt elements() const { return static_cast<PetscInt>(A.rows) / components; }
  /// f(row element, column element) for every stored entry, row by row, until it returns true.
  template <class F>
  void each(const F &f) const
  {
    for (PetscInt r = 0; r < static_cast<PetscInt>(A.rows); ++r)
      for (PetscInt e = A.row_begin[r]; e < A.row_begin[r + 1]; ++e)
        if (f(r / components, A.column[e] / components)) return;
  }
};

} // namespace ribbon::petsc

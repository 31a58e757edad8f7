// SPDX-License-Identifier: BSD-2-Clause
/// @file pattern.hpp  The couplings of a sequential AIJ matrix.
#pragma once

#include "../support/csr.hpp"

#include <algorithm>

namespace ribbon::petsc {

/// The stored pattern of a block, by elements of `components` consecutive rows.
struct Pattern {
  HostRows A;
  PetscInt components = 1;

  PetscInt elements() const { return static_cast<PetscInt>(A.rows) / components; }
  PetscInt column(PetscInt e) const { return components == 1 ? A.column[e] : A.column[e] / components; }
  /// Calls f(row element, column element) for every stored entry, row by row, until f returns true.
  template <class F>
  void each(const F &f) const
  {
    const auto rows = static_cast<PetscInt>(A.rows);
    for (PetscInt begin = 0, r = 0; begin < rows; begin += components, ++r)
      for (PetscInt e = A.row_begin[begin]; e < A.row_begin[std::min(begin + components, rows)]; ++e)
        if (f(r, column(e))) return;
  }
};

/// Ties at the borders of this rank with the neighbouring ranks that have rows.
struct Borders {
  bool before = false, after = false;
};
/// `tied`: on entry the ties by entries of this rank, on return also those by entries of its neighbours.
/// Collective.
PetscErrorCode AgreeOnBorders(MPI_Comm comm, bool has_rows, Borders *tied);

} // namespace ribbon::petsc

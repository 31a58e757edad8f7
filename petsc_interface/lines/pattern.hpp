// SPDX-License-Identifier: BSD-2-Clause
/// @file pattern.hpp  Who couples with whom in a sequential AIJ matrix.
#pragma once

#include "../support/csr.hpp"

namespace ribbon::petsc {

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

/// What hangs together at the borders of this rank with the next ones that have rows.
struct Borders {
  bool before = false, after = false;
};
/// `tied`: as some entry of the rank itself says; then as those of its neighbours say, too. Collective.
PetscErrorCode AgreeOnBorders(MPI_Comm comm, bool has_rows, Borders *tied);

} // namespace ribbon::petsc

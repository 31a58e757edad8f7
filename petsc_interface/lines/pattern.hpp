// SPDX-License-Identifier: BSD-2-Clause
/// @file pattern.hpp  Who couples with whom in a sequential AIJ matrix.
#pragma once

#include "../csr.hpp"

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

} // namespace ribbon::petsc

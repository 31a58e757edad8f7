// SPDX-License-Identifier: BSD-2-Clause
/// @file bands.hpp  The coefficients of a batch of banded matrices.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// How many different matrices a batch has.
enum class Lhs {
  shared,  ///< one matrix for all lines
  classes, ///< a few, with a table line -> class
  per_line ///< one for every line
};

inline const char *to_string(Lhs lhs)
{
  return lhs == Lhs::shared ? "shared" : lhs == Lhs::classes ? "classes" : "per_line";
}

/// Banded matrices of half-bandwidth h (1: tridiagonal, 2: pentadiagonal). Matrix c has the entries
///
///     A_c(i, i + d - h) = values(c, i, d),    0 <= d <= 2h.
///
/// A periodic matrix takes the column index modulo n (entries that fall on one place add up); otherwise entries outside the matrix are
/// ignored, whatever their value. `values` runs fastest over c, so that lines that lie side by side read side by side.
template <class Scalar, class MemorySpace>
struct Bands {
  using values_type  = Kokkos::View<Scalar ***, Kokkos::LayoutLeft, MemorySpace>;
  using classes_type = Kokkos::View<int *, MemorySpace>;

  values_type  values; ///< (matrices, rows, 2h + 1)
  bool         periodic = false;
  Lhs          lhs      = Lhs::shared;
  classes_type class_of_line; ///< (lines), read for Lhs::classes only

  int half_bandwidth() const { return (static_cast<int>(values.extent(2)) - 1) / 2; }
};

} // namespace ribbon

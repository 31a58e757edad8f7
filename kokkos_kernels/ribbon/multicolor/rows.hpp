// SPDX-License-Identifier: BSD-2-Clause
/// @file rows.hpp  Reads the rows of a sparse matrix as rows of small dense blocks.
#pragma once

#include <ribbon/coloring.hpp>

namespace ribbon {

/// Reads the nonzero blocks of a row of blocks.
/// @tparam Most  largest number of rows of a block: 1, or largest_point_block
template <class Scalar, int Most>
struct BlockRowReader {
  MulticolorRows<Scalar> A;

  /// Calls f(J, v) for each block that has a nonzero entry, the diagonal block included: v[c * block + r] is
  /// the entry of row r and column c. J of other ranks is blocks() + place.
  template <class F>
  KOKKOS_INLINE_FUNCTION void each(std::int64_t row, const F &f) const
  {
    for (int part = 0; part < (A.others.rows > 0 ? 2 : 1); ++part) // one call of f, which is inlined
      if constexpr (Most == 1) walk_scalars(part, row, f);
      else walk(part, row, f);
  }

private:
  /// Number of the unknown, or scalar, of a column.
  KOKKOS_INLINE_FUNCTION std::int64_t number(int part, std::int64_t column) const
  {
    return part == 0 ? column : A.own.rows + (A.place ? A.place[column] : column);
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void walk_scalars(int part, std::int64_t row, const F &f) const
  {
    const AnyCsrMatrix<Scalar> &rows  = part == 0 ? A.own : A.others;
    const std::int32_t         *place = part == 0 ? nullptr : A.place;
    const std::int64_t          first = part == 0 ? 0 : A.own.rows, end = rows.row_begin[row + 1];
    const AnyIndices            column = rows.column;
    const Scalar               *value  = rows.value;
    for (std::int64_t e = rows.row_begin[row]; e < end; ++e) {
      if (value[e] == Scalar(0)) continue;
      const std::int64_t c = column[e];
      f(place ? first + place[c] : first + c, value + e);
    }
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void walk(int part, std::int64_t row, const F &f) const
  {
    const AnyCsrMatrix<Scalar> &rows = part == 0 ? A.own : A.others;
    const int                   B    = A.block;
    std::int64_t                at[Most], end[Most];
    Scalar                      v[Most * Most];
    for (int r = 0; r < B; ++r) at[r] = rows.row_begin[row * B + r], end[r] = rows.row_begin[row * B + r + 1];
    const auto column = [&](std::int64_t e) { return number(part, rows.column[e]); };
    while (true) {
      constexpr std::int64_t none  = std::int64_t(1) << 62;
      std::int64_t           first = none;
      for (int r = 0; r < B; ++r)
        if (at[r] < end[r] && column(at[r]) < first) first = column(at[r]);
      if (first == none) return;
      const std::int64_t J       = first / B;
      const auto         c       = [&](std::int64_t e) { return column(e) - J * B; };
      const auto         is_of_J = [&](std::int64_t e) { return 0 <= c(e) && c(e) < B; };
      bool               nonzero = false;
      for (int k = 0; k < B * B; ++k) v[k] = Scalar(0);
      for (int r = 0; r < B; ++r)
        for (; at[r] < end[r] && is_of_J(at[r]); ++at[r]) {
          const Scalar &value = rows.value[at[r]];
          v[c(at[r]) * B + r] = value;
          nonzero             = nonzero || !(value == Scalar(0));
        }
      if (nonzero) f(J, v);
    }
  }
};

} // namespace ribbon

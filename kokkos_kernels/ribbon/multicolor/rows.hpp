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
    walk(A.own, nullptr, 0, row, f);
    if (A.others.rows > 0) walk(A.others, A.place, A.own.rows, row, f);
  }

private:
  template <class F>
  KOKKOS_INLINE_FUNCTION void walk(const AnyCsrMatrix<Scalar> &rows, const std::int32_t *place,
                                   std::int64_t first, std::int64_t row, const F &f) const
  {
    const int    B = Most == 1 ? 1 : A.block;
    std::int64_t at[Most], end[Most];
    Scalar       v[Most * Most];
    for (int r = 0; r < B; ++r) at[r] = rows.row_begin[row * B + r], end[r] = rows.row_begin[row * B + r + 1];
    const auto column = [&](std::int64_t e) {
      const std::int64_t c = rows.column[e];
      return first + (place ? place[c] : c);
    };
    while (true) {
      constexpr std::int64_t none = std::int64_t(1) << 62;
      std::int64_t           J    = none;
      for (int r = 0; r < B; ++r)
        if (at[r] < end[r]) {
          const std::int64_t next = column(at[r]) / B;
          if (next < J) J = next;
        }
      if (J == none) return;
      bool nonzero = false;
      for (int k = 0; k < B * B; ++k) v[k] = Scalar(0);
      for (int r = 0; r < B; ++r)
        for (; at[r] < end[r] && column(at[r]) / B == J; ++at[r]) {
          const Scalar &value                = rows.value[at[r]];
          v[(column(at[r]) - J * B) * B + r] = value;
          nonzero                            = nonzero || !(value == Scalar(0));
        }
      if (nonzero) f(J, v);
    }
  }
};

} // namespace ribbon

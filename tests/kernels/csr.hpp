// SPDX-License-Identifier: BSD-2-Clause
/// @file csr.hpp  Sparse matrices on the default execution space, for tests that read lines from them.
#pragma once

#include "batch.hpp"

#include <ribbon/lines_from_csr.hpp>

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace test {

/// A sparse matrix built entry by entry and copied to the memory of the default execution space.
struct Sparse {
  std::map<std::pair<int, int>, double> entries;
  int                                   rows = 0;
  Kokkos::View<int *, Memory>           row_begin, column;
  Kokkos::View<double *, Memory>        value;

  ribbon::CsrMatrix<double, std::int32_t> csr()
  {
    row_begin    = decltype(row_begin)("row_begin", static_cast<std::size_t>(rows) + 1);
    column       = decltype(column)("column", entries.size());
    value        = decltype(value)("value", entries.size());
    const auto r = Kokkos::create_mirror_view(row_begin), c = Kokkos::create_mirror_view(column);
    const auto v = Kokkos::create_mirror_view(value);
    Kokkos::deep_copy(r, 0);
    std::size_t k = 0;
    for (const auto &[at, a] : entries) {
      r(static_cast<std::size_t>(at.first) + 1) = static_cast<int>(k + 1);
      c(k)                                      = at.second;
      v(k++)                                    = a;
    }
    for (std::size_t i = 1; i <= static_cast<std::size_t>(rows); ++i) r(i) = std::max(r(i), r(i - 1));
    Kokkos::deep_copy(row_begin, r);
    Kokkos::deep_copy(column, c);
    Kokkos::deep_copy(value, v);
    return {rows, row_begin.data(), column.data(), value.data()};
  }
};

/// 5- or 7-point operator on a box, with strength s[d] in direction d, optionally periodic.
inline Sparse stencil(const std::int64_t (&n)[3], const std::array<double, 3> &s,
                      const std::array<bool, 3> &ring = {false, false, false})
{
  Sparse A;
  A.rows = static_cast<int>(n[0] * n[1] * n[2]);
  for (std::int64_t z = 0; z < n[2]; ++z)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t x = 0; x < n[0]; ++x) {
        const std::int64_t at[3] = {x, y, z};
        const int          row   = static_cast<int>(x + n[0] * (y + n[1] * z));
        A.entries[{row, row}] += 2 * (s[0] + s[1] + s[2]);
        for (std::size_t d = 0; d < 3; ++d)
          for (int step : {-1, 1}) {
            std::int64_t to[3] = {x, y, z};
            to[d] += step;
            if (to[d] < 0 || to[d] >= n[d]) {
              if (!ring[d]) continue;
              to[d] = (to[d] + n[d]) % n[d];
            }
            if (n[d] > 1)
              A.entries[{row, static_cast<int>(to[0] + n[0] * (to[1] + n[1] * to[2]))}] -=
                s[d] + 0.001 * static_cast<double>(at[0]);
          }
      }
  return A;
}

/// Adds a `part` table of zeros. The lines do not change, but the kernels for tables read them.
inline ribbon::LinePlaces through_tables(ribbon::LinePlaces places)
{
  static const auto *part = [] {
    auto *zeros = new Kokkos::View<std::int64_t *, Memory>("part", 1 << 16);
    Kokkos::push_finalize_hook([=] { delete zeros; });
    return zeros;
  }();
  EXPECT_LE(places.lines.unknowns(), static_cast<std::int64_t>(part->extent(0)));
  places.part = part->data();
  return places;
}

} // namespace test

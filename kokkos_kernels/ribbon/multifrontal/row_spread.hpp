// SPDX-License-Identifier: BSD-2-Clause
/// @file row_spread.hpp  The spread of the sizes of the rows of a matrix.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/host/vectors.hpp>

#include <algorithm>
#include <limits>

namespace ribbon::multifrontal {

/// The largest and the smallest of the largest entries of rows with at least two nonzero entries that are
/// not NaN. One thread per row.
template <class Scalar, class Index>
struct RowSpread {
  using Real       = real_t<Scalar>;
  using value_type = Kokkos::MinMaxScalar<Real>;
  CsrMatrix<Scalar, Index> local, outside;

  KOKKOS_FUNCTION static void look(const CsrMatrix<Scalar, Index> &rows, std::int64_t row, Real &largest,
                                   int &entries)
  {
    if (rows.rows == 0) return;
    const auto end = rows.row_begin[row + 1];
    host::prefetch(rows.value + end + 256); // a core waits for memory otherwise
    for (auto e = rows.row_begin[row]; e < end; ++e) {
      const Real size = magnitude(rows.value[e]);
      entries += size > Real(0) ? 1 : 0;
      largest = size > largest ? size : largest;
    }
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t row, value_type &found) const
  {
    Real largest = 0;
    int  entries = 0;
    look(local, row, largest, entries), look(outside, row, largest, entries);
    if (entries < 2 || !is_finite(largest)) return;
    if (largest > found.max_val) found.max_val = largest;
    if (largest < found.min_val) found.min_val = largest;
  }
};

/// The result of RowSpread for the first `rows` rows; max_val < min_val if no row counts. Waits.
template <class Scalar, class Index, class Exec>
Kokkos::MinMaxScalar<real_t<Scalar>> row_spread(const Exec &exec, const ChainMatrix<Scalar, Index> &A,
                                                std::int64_t rows)
{
  Kokkos::MinMaxScalar<real_t<Scalar>> found;
  Kokkos::parallel_reduce("ribbon::row_spread", indices(exec, rows),
                          RowSpread<Scalar, Index>{A.local, A.outside},
                          Kokkos::MinMax<real_t<Scalar>>(found));
  return found;
}

/// Whether the largest entries of near rows of a chain differ by more than 2^10: of rows in two consecutive blocks of
/// 8 kl rows. Partial pivoting compares kl + 1 rows; it is accurate if sizes change slowly along the chain. Rows with
/// fewer than two nonzero entries, and rows with NaN, do not count. On a host.
template <class Scalar, class Index>
bool rows_are_steep(const ChainMatrix<Scalar, Index> &A, std::int64_t chains, std::int64_t rows, int kl)
{
  using Real              = real_t<Scalar>;
  constexpr auto     most = Real(1024), infinite = std::numeric_limits<Real>::infinity();
  const std::int64_t block = 8 * std::max(kl, 1);
  for (std::int64_t c = 0; c < chains; ++c) {
    Real largest_before = 0, smallest_before = infinite;
    for (std::int64_t first = 0; first < rows; first += block) {
      Real largest = 0, smallest = infinite;
      for (std::int64_t i = first; i < std::min(first + block, rows); ++i) {
        const std::int64_t at      = c * rows + i;
        Real               size    = 0;
        int                entries = 0;
        RowSpread<Scalar, Index>::look(A.local, A.row_of ? A.row_of[at] : at, size, entries);
        if (entries < 2 || !is_finite(size)) continue;
        largest = std::max(largest, size), smallest = std::min(smallest, size);
      }
      if (std::max(largest, largest_before) > most * std::min(smallest, smallest_before)) return true;
      largest_before = largest, smallest_before = smallest;
    }
  }
  return false;
}

} // namespace ribbon::multifrontal

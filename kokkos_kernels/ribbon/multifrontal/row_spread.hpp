// SPDX-License-Identifier: BSD-2-Clause
/// @file row_spread.hpp  The spread of the sizes of the rows of a matrix.
#pragma once

#include <ribbon/chain.hpp>

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

} // namespace ribbon::multifrontal

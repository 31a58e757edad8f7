// SPDX-License-Identifier: BSD-2-Clause
/// @file row_dominance.hpp  How much the diagonal of band matrices dominates their rows: bounds of pivots, and of the
/// errors and the condition of tridiagonal matrices that are eliminated without pivoting, in any order.
///
/// s_i is the sum of the magnitudes of the entries of row i other than a_ii, and theta the largest s_i / |a_ii|.
///
/// theta <= 1: an elimination moves what is left of the diagonal to the right, and does not enlarge it. Pivot i is at
/// least |a_ii| minus what was left of it. Not for rings, where the last rows have entries on the right of others.
///
/// theta < 1: ||A^-1 D|| <= (1 + theta) / (1 - theta) in the maximum norm, D the row sums of |A| (Varah, Linear Algebra
/// Appl. 11, 1975). Schur complements have no larger theta (Carlson & Markham, Czech. Math. J. 29, 1979), so that the rows of
/// chunks, of the system of their separators, and of each of its cyclic reductions have at most theta, too. The error of
/// a row changes its neighbours by at most theta times as much, and all errors together are at most 1 / (1 - theta)
/// times those of one row. For sums of P + 1 terms (certificate.hpp), forward and backward, backward errors are to first
/// order at most 2 (3 P + 6) u / (1 - theta)^2. This is used for P = 1. In wider bands separators are blocks, which exchange
/// rows by their sizes: with rows of different sizes they lose accuracy.
#pragma once

#include <ribbon/elimination/certificate.hpp>
#include <ribbon/matrix/band_entries.hpp>

#include <algorithm>
#include <limits>

namespace ribbon {

/// Of all matrices of a batch.
struct RowDominance {
  /// 2 (3 + 6) u / (1 - theta)^2 is Certificate::most units of 2 u.
  static constexpr double most_certified = 0.5527;

  double       theta       = std::numeric_limits<double>::infinity(); ///< the largest; infinity if it was not computed
  double       pivot_bound = 0;                                      ///< of |pivot| / max|entry of its row|, if theta <= 1
  std::int64_t theta_matrix = -1, pivot_matrix = -1, pivot_row = -1; ///< where these are

  /// Whether no pivot is small, rows of theta = 1 rounded up included.
  bool bounds_pivots() const { return theta <= 1 + 1e-6 && pivot_bound >= 1. / 64; }
  /// Whether every solve is accurate.
  bool certifies(int half_bandwidth) const { return half_bandwidth <= 1 && bounds_pivots() && theta <= most_certified; }
  Certificate certificate() const
  {
    Certificate proved;
    proved.rcond = (1 - theta) / (1 + theta), proved.line = theta_matrix, proved.error = Certificate::most;
    return proved;
  }
};

/// Reduces to the largest theta and the smallest bound of a pivot.
template <class Scalar, class Memory>
struct RowDominanceKernel {
  using Real  = real_t<Scalar>;
  using Found = typename Kokkos::MinMaxLoc<Real, std::int64_t>::value_type;

  static constexpr Real none = std::numeric_limits<Real>::max(), largest = none / 1024, smallest = std::numeric_limits<Real>::min() * 1024;

  BandEntries<Scalar, Memory> entry; ///< block 1
  std::int64_t                matrices;

  KOKKOS_FUNCTION void operator()(const std::int64_t k, Found &found) const
  {
    const std::int64_t c = k % matrices, i = k / matrices;
    Real               left = 0, sum = 0;
    for (int d = -entry.lower; d <= entry.upper; ++d) {
      const Real size = d == 0 ? Real(0) : magnitude(entry(c, i, d));
      sum += size, left += d < 0 || entry.periodic ? size : Real(0);
    }
    const Real diagonal = magnitude(entry(c, i, 0));
    const bool usable   = diagonal >= smallest && diagonal <= largest && sum <= largest; // false for NaN
    const Real theta    = usable ? sum / diagonal : none, bound = usable ? 1 - left / diagonal : Real(0);
    if (theta > found.max_val) found.max_val = theta, found.max_loc = k;
    if (bound < found.min_val) found.min_val = bound, found.min_loc = k;
  }
};

/// Waits. @pre block 1
template <class Scalar, class Exec>
RowDominance row_dominance(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands)
{
  using Kernel = RowDominanceKernel<Scalar, typename Exec::memory_space>;
  const std::int64_t     matrices = bands.matrices(), rows = matrices * bands.rows();
  typename Kernel::Found found{};
  RowDominance           dominance;
  if (rows == 0) return dominance;
  Kokkos::parallel_reduce("ribbon::row_dominance", indices(exec, rows), Kernel{BandEntries<Scalar, typename Exec::memory_space>(bands), matrices},
                          Kokkos::MinMaxLoc<typename Kernel::Real, std::int64_t>(found));
  dominance.theta        = static_cast<double>(std::max(found.max_val, typename Kernel::Real(0)));
  dominance.pivot_bound  = static_cast<double>(found.min_val);
  dominance.theta_matrix = found.max_loc % matrices;
  dominance.pivot_matrix = found.min_loc % matrices, dominance.pivot_row = found.min_loc / matrices;
  return dominance;
}

} // namespace ribbon

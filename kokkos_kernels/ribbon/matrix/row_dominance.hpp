// SPDX-License-Identifier: BSD-2-Clause
/// @file row_dominance.hpp  Diagonal dominance of the rows of band matrices.
///
/// It bounds the pivots of elimination without pivoting. For tridiagonal matrices it also bounds errors and
/// condition, for any order of elimination.
///
/// s_i is the sum of the magnitudes of the off-diagonal entries of row i, and theta the largest s_i / |a_ii|.
///
/// theta <= 1: elimination replaces the lower entries of a row by upper entries whose magnitudes have no
/// larger sum. Pivot i is at least |a_ii| minus the sum of the magnitudes of its lower entries. The last
/// rows of a ring have upper entries in columns that are eliminated before: there all off-diagonal
/// entries count as lower ones.
///
/// theta < 1: ||A^-1 D|| <= (1 + theta) / (1 - theta) in the maximum norm, where D is the diagonal matrix of
/// the row sums of |A| (Varah, Linear Algebra Appl. 11, 1975). Schur complements have no larger theta
/// (Carlson & Markham, Czech. Math. J. 29, 1979). Hence theta bounds the rows of chunks, of the reduced
/// system and of each step of its cyclic reduction. An error in one row changes its neighbours by at most
/// theta times that error; the sum is at most 1 / (1 - theta) times the error of one row. If forward and
/// backward sweeps add P + 1 terms per row (certificate.hpp), the backward error is to first order at most 2
/// (3 P + 6) u / (1 - theta)^2.
///
/// Certificates use this for P = 1. The separators of wider bands are blocks that are eliminated with row
/// exchanges, which is inaccurate for rows of different sizes.
#pragma once

#include <ribbon/elimination/certificate.hpp>
#include <ribbon/matrix/band_entries.hpp>

#include <algorithm>
#include <limits>

namespace ribbon {

/// Of all matrices of a batch, scalar bands.
struct RowDominance {
  /// The largest theta for which 2 (3 + 6) u / (1 - theta)^2 is at most Certificate::most, in units of 2 u.
  static constexpr double most_certified = 0.5527;

  /// the largest theta; infinity if it was not computed
  double theta = std::numeric_limits<double>::infinity();
  /// bound of |pivot| / max|entry of its row|, if theta <= 1
  double       pivot_bound  = 0;
  std::int64_t theta_matrix = -1, pivot_matrix = -1, pivot_row = -1; ///< places of these bounds

  /// Whether no pivot is small. The tolerance admits theta = 1 with rounding errors.
  bool bounds_pivots() const { return theta <= 1 + 1e-6 && pivot_bound >= 1. / 64; }
  /// Whether every solve is accurate.
  bool certifies(int half_bandwidth) const
  {
    return half_bandwidth <= 1 && bounds_pivots() && theta <= most_certified;
  }
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

  static constexpr Real none = std::numeric_limits<Real>::max(), largest = none / 1024,
                        smallest = std::numeric_limits<Real>::min() * 1024;

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
    const Real theta = usable ? sum / diagonal : none, bound = usable ? 1 - left / diagonal : Real(0);
    if (theta > found.max_val) found.max_val = theta, found.max_loc = k;
    if (bound < found.min_val) found.min_val = bound, found.min_loc = k;
  }
};

/// Waits for the result. @pre block 1
template <class Scalar, class Exec>
RowDominance row_dominance(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands)
{
  using Kernel                    = RowDominanceKernel<Scalar, typename Exec::memory_space>;
  const std::int64_t     matrices = bands.matrices(), rows = matrices * bands.rows();
  typename Kernel::Found found{};
  RowDominance           dominance;
  if (rows == 0) return dominance;
  Kokkos::parallel_reduce("ribbon::row_dominance", indices(exec, rows),
                          Kernel{BandEntries<Scalar, typename Exec::memory_space>(bands), matrices},
                          Kokkos::MinMaxLoc<typename Kernel::Real, std::int64_t>(found));
  dominance.theta        = static_cast<double>(std::max(found.max_val, typename Kernel::Real(0)));
  dominance.pivot_bound  = static_cast<double>(found.min_val);
  dominance.theta_matrix = found.max_loc % matrices;
  dominance.pivot_matrix = found.min_loc % matrices, dominance.pivot_row = found.min_loc / matrices;
  return dominance;
}

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file band_lu_factors.hpp  Storage of a band LU with partial pivoting.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/multifrontal/reflector.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ribbon::multifrontal {

/// |a| in one instruction: on hosts, magnitude() is a branch.
template <class Scalar>
real_t<Scalar> absolute(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return std::fabs(a);
  else return magnitude(a);
}

/// The factors of chains, by rows, and the results of their eliminations. Rows are exchanged from the pivot
/// column on; multipliers are not.
template <class Scalar>
struct BandLuFactors {
  Chain chain;
  /// diagonals of the matrix; the band of `chain` may have more: see BandLu::set_band()
  int     given_kl = 0, given_ku = 0;
  Scalar *lower = nullptr; ///< (chains rows, kl): multipliers of a column
  /// (chains rows, ku + 1): 1 / U_jj, U for the next ku columns
  Scalar *upper = nullptr;
  Scalar *fill  = nullptr; ///< (chains rows, kl): U for the kl columns after these, and
  /// (chains rows): row j was exchanged with row j + exchange[j]; both from row `plain` of a chain on
  int                *exchange = nullptr;
  std::int64_t       *plain    = nullptr; ///< (chains): rows before the first exchange
  const std::int64_t *row_of   = nullptr; ///< as in ChainMatrix
  /// (chains): most steps by which the exchanges postpone the elimination of a row; unbounded if entries
  /// grow. See BandLu::loses_digits()
  std::int64_t *postponed = nullptr;
  /// (chains): the largest entry of U relative to that of the matrix
  real_t<Scalar> *grown    = nullptr;
  real_t<Scalar> *doubtful = nullptr; ///< (chains): see ChainSolver::doubtful_pivot()
  /// (chains rows): powers of two by which elimination multiplies rows, so that their largest entries are
  /// between 1/2 and 1; null: rows are not scaled
  real_t<Scalar> *row_scale = nullptr;

  /// Rows that are eliminated before the window is shifted.
  static constexpr int step = 32;
  /// Scalars of the window.
  std::size_t window_size() const
  {
    return static_cast<std::size_t>(step + chain.kl) * static_cast<std::size_t>(2 * chain.kl + chain.ku + 1);
  }
  /// U_(i,i+k) of a row with fill, 1 <= k <= ku + kl.
  Scalar u(std::int64_t i, int k, int kl, int ku) const
  {
    return k <= ku ? upper[i * (ku + 1) + k] : fill[i * kl + k - ku - 1];
  }
};

} // namespace ribbon::multifrontal

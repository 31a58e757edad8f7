// SPDX-License-Identifier: BSD-2-Clause
/// @file band_lu.hpp  A whole chain as one leaf: band LU with partial pivoting in the chain's own order (LAPACK's gbtrf), one thread per chain.
#pragma once

#include <ribbon/multifrontal/chain.hpp>
#include <ribbon/multifrontal/reflector.hpp>

#include <utility>

namespace ribbon::multifrontal {

/// Row i holds columns i - kl to i + ku + kl: multipliers, then U (1 / U_ii on the diagonal). Rows are exchanged from the pivot column on, multipliers stay.
template <class Scalar>
struct BandLu {
  Chain               chain;
  Scalar             *a        = nullptr; ///< (chains rows, 2 kl + ku + 1)
  int                *exchange = nullptr; ///< (chains rows): row j was exchanged with row j + exchange[j]
  const std::int64_t *row_of   = nullptr; ///< as in ChainMatrix

  int     width() const { return 2 * chain.kl + chain.ku + 1; }
  Scalar *row(std::int64_t i) const { return a + i * width() + chain.kl; } ///< at its diagonal

  template <class Index>
  PivotStatistics<real_t<Scalar>> factor(const ChainMatrix<Scalar, Index> &A, std::int64_t c) const
  {
    using Real                  = real_t<Scalar>;
    const std::int64_t    begin = c * chain.rows, end = begin + chain.rows;
    const int             kl = chain.kl, reach = kl + chain.ku;
    PivotStatistics<Real> statistics;
    const auto            fill = [&](std::int64_t i) {
      std::fill(row(i) - kl, row(i) + reach + 1, Scalar(0));
      const std::int64_t r = A.row_of ? A.row_of[i] : i;
      for (std::int64_t e = A.local.row_begin[r]; e < A.local.row_begin[r + 1]; ++e) row(i)[(A.place_of ? A.place_of[A.local.column[e]] : static_cast<std::int64_t>(A.local.column[e])) - i] = A.local.value[e];
    };
    for (std::int64_t i = begin; i < std::min(begin + kl, end); ++i) fill(i);
    for (std::int64_t j = begin; j < end; ++j) {
      if (j + kl < end) fill(j + kl);
      const int below = static_cast<int>(std::min<std::int64_t>(kl, end - 1 - j)), length = static_cast<int>(std::min<std::int64_t>(reach, end - 1 - j));
      int       p    = 0;
      Real      most = magnitude(row(j)[0]), largest = most;
      for (int k = 1; k <= below; ++k) {
        const Real size = magnitude(row(j + k)[-k]);
        if (size > most || !is_finite(size)) most = size, p = k;
      }
      for (int k = 1; k <= reach && j - k >= begin; ++k) largest = std::max(largest, magnitude(row(j - k)[k])); // column j of U above: what was eliminated of it
      largest     = std::max(largest, most);
      exchange[j] = p;
      Scalar *u   = row(j);
      if (p > 0)
        for (int k = 0; k <= length; ++k) std::swap(u[k], row(j + p)[k - p]);
      statistics.take(most, largest, j);
      u[0] = Scalar(1) / u[0];
      for (int r = 1; r <= below && most != Real(0); ++r) {
        Scalar      *to = row(j + r) - r;
        const Scalar l  = to[0] * u[0];
        to[0]           = l;
        if (l == Scalar(0)) continue;
        for (int k = 1; k <= length; ++k) to[k] -= l * u[k];
      }
    }
    return statistics;
  }

  std::int64_t at(std::int64_t i) const { return row_of ? row_of[i] : i; }

  /// One column. b == x is allowed unless rows are in another order.
  void solve(std::int64_t c, const Scalar *b, Scalar *x) const
  {
    const std::int64_t begin = c * chain.rows, end = begin + chain.rows;
    const int          kl = chain.kl, reach = kl + chain.ku;
    for (std::int64_t i = begin; i < end && b != x; ++i) x[at(i)] = b[at(i)];
    for (std::int64_t j = begin; j < end; ++j) {
      std::swap(x[at(j)], x[at(j + exchange[j])]);
      const Scalar known = x[at(j)];
      for (int r = 1; r <= kl && j + r < end; ++r) x[at(j + r)] -= row(j + r)[-r] * known;
    }
    for (std::int64_t j = end - 1; j >= begin; --j) {
      const Scalar *u   = row(j);
      Scalar        sum = x[at(j)];
      for (int k = 1; k <= reach && j + k < end; ++k) sum -= u[k] * x[at(j + k)];
      x[at(j)] = sum * u[0];
    }
  }
  /// A^T x = b.
  void solve_transposed(std::int64_t c, const Scalar *b, Scalar *x) const
  {
    const std::int64_t begin = c * chain.rows, end = begin + chain.rows;
    const int          kl = chain.kl, reach = kl + chain.ku;
    for (std::int64_t i = begin; i < end && b != x; ++i) x[at(i)] = b[at(i)];
    for (std::int64_t j = begin; j < end; ++j) {
      const Scalar *u = row(j);
      const Scalar  z = x[at(j)] * u[0];
      x[at(j)]        = z;
      for (int k = 1; k <= reach && j + k < end; ++k) x[at(j + k)] -= u[k] * z;
    }
    for (std::int64_t j = end - 1; j >= begin; --j) {
      Scalar sum = x[at(j)];
      for (int r = 1; r <= kl && j + r < end; ++r) sum -= row(j + r)[-r] * x[at(j + r)];
      x[at(j)] = sum;
      std::swap(x[at(j)], x[at(j + exchange[j])]);
    }
  }
};

} // namespace ribbon::multifrontal

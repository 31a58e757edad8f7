// SPDX-License-Identifier: BSD-2-Clause
/// @file band_lu.hpp  A whole chain as one leaf: band LU with partial pivoting in the chain's own order (LAPACK's gbtrf), one thread per chain.
#pragma once

#include <ribbon/multifrontal/chain.hpp>
#include <ribbon/multifrontal/reflector.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ribbon::multifrontal {

/// |a| in one instruction: on hosts, magnitude() is a branch.
template <class Scalar>
real_t<Scalar> absolute(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return std::fabs(a);
  else return magnitude(a);
}

/// Row i holds columns i - kl to i + ku + kl: multipliers, then U (1 / U_ii on the diagonal). Rows are exchanged from the pivot column on, multipliers stay. Loops over the band are unrolled where
/// kl = ku = K is a template argument; K = 0 stands for any.
template <class Scalar>
struct BandLu {
  Chain               chain;
  Scalar             *a        = nullptr; ///< (chains rows, 2 kl + ku + 1)
  int                *exchange = nullptr; ///< (chains rows): row j was exchanged with row j + exchange[j]
  int                *upper    = nullptr; ///< (chains): entries of U behind its diagonal, ku where no rows were exchanged
  const std::int64_t *row_of   = nullptr; ///< as in ChainMatrix

  int width() const { return 2 * chain.kl + chain.ku + 1; }

  /// Calls f(integral_constant K).
  template <class F>
  decltype(auto) with_width(const F &f) const
  {
    return with_half_bandwidth(chain.kl == chain.ku ? chain.kl : 0, f);
  }

  template <class Index>
  PivotStatistics<real_t<Scalar>> factor(const ChainMatrix<Scalar, Index> &A, std::int64_t c) const
  {
    return with_width([&](auto K) { return factor_band<K()>(A, c); });
  }

  template <int K, class Index>
  PivotStatistics<real_t<Scalar>> factor_band(const ChainMatrix<Scalar, Index> &A, std::int64_t c) const
  {
    using Real                  = real_t<Scalar>;
    const std::int64_t    begin = c * chain.rows, end = begin + chain.rows;
    const int             kl = K ? K : chain.kl, ku = K ? K : chain.ku, ld = 2 * kl + ku + 1;
    const auto            row = [&](std::int64_t i) { return a + i * ld + kl; }; // at its diagonal
    PivotStatistics<Real> statistics;
    Real                  biggest = 0;
    const auto            fill    = [&](std::int64_t i) {
      Scalar *to = row(i);
      for (int k = -kl; k <= ku + kl; ++k) to[k] = Scalar(0);
      const std::int64_t r      = A.row_of ? A.row_of[i] : i;
      Real               in_row = 0;
      for (std::int64_t e = A.local.row_begin[r]; e < A.local.row_begin[r + 1]; ++e) {
        const std::int64_t j                     = A.local.column[e];
        in_row                                   = std::max(in_row, absolute(A.local.value[e]));
        to[(A.place_of ? A.place_of[j] : j) - i] = A.local.value[e];
      }
      biggest = std::max(biggest, in_row);
    };
    for (std::int64_t i = begin; i < std::min(begin + kl, end); ++i) fill(i);
    std::int64_t filled     = begin; // last column that rows above have entries in
    int          most_upper = ku;
    // `below` rows are eliminated; a constant where the whole band is there
    const auto column = [&](std::int64_t j, auto below) {
      Scalar *u    = row(j);
      int     p    = 0;
      Real    most = absolute(u[0]), others = 0;
      for (int k = 1; k <= below; ++k) others = std::max(others, absolute(u[k * (ld - 1)]));
      if (others > most) {
        most = others;
        while (absolute(u[p * (ld - 1)]) != others) ++p;
      }
      Real largest = most; // of column j: looked for only where the pivot is small
      if (!(most >= std::min(statistics.smallest, Real(0.1)) * biggest))
        for (int k = 1; k <= ku + kl && j - k >= begin; ++k) largest = std::max(largest, absolute(row(j - k)[k]));
      statistics.take(most, largest, j);
      exchange[j]      = p;
      filled           = std::max(filled, std::min(j + ku + p, end - 1));
      const int length = static_cast<int>(filled - j);
      most_upper       = std::max(most_upper, length);
      if (p > 0)
        for (int k = 0; k <= length; ++k) std::swap(u[k], row(j + p)[k - p]);
      u[0] = Scalar(1) / u[0];
      if (most == Real(0)) return; // nothing to eliminate with
      if (K && length == K) {
        Scalar v[K + 1];
        for (int k = 0; k <= K; ++k) v[k] = u[k];
        for (int r = 1; r <= below; ++r) {
          Scalar      *to = u + r * (ld - 1);
          const Scalar l  = to[0] * v[0];
          to[0]           = l;
          for (int k = 1; k <= K; ++k) to[k] -= l * v[k];
        }
      } else
        for (int r = 1; r <= below; ++r) {
          Scalar      *to = u + r * (ld - 1);
          const Scalar l  = to[0] * u[0];
          to[0]           = l;
          for (int k = 1; k <= length; ++k) to[k] -= l * u[k];
        }
    };
    for (std::int64_t j = begin; j < end; ++j) {
      if (j + kl < end) {
        fill(j + kl);
        if constexpr (K > 0) column(j, std::integral_constant<int, K>());
        else column(j, kl);
      } else column(j, static_cast<int>(end - 1 - j));
    }
    upper[c] = most_upper;
    return statistics;
  }

  /// Columns that are solved at once.
  static constexpr int together = 4;

  /// x = A^-1 b, or A^-T b, for up to `together` columns. b == x is allowed unless rows are in another order.
  void solve(std::int64_t c, int columns, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx, bool transposed) const
  {
    const std::int64_t begin = c * chain.rows, end = begin + chain.rows;
    for (int q = 0; q < columns && b != x; ++q)
      for (std::int64_t i = begin; i < end; ++i) x[at(i) + q * ldx] = b[at(i) + q * ldb];
    const auto solve_for = [&](auto K, auto Q) {
      if (row_of)
        solve_columns<K(), Q()>(
          begin, end, upper[c], [&](std::int64_t i, int q) -> Scalar & { return x[row_of[i] + q * ldx]; }, transposed);
      else
        solve_columns<K(), Q()>(
          begin, end, upper[c], [&](std::int64_t i, int q) -> Scalar & { return x[i + q * ldx]; }, transposed);
    };
    with_width([&](auto K) {
      if (columns == together) return solve_for(K, std::integral_constant<int, together>());
      for (int q = 0; q < columns; ++q, x += ldx) solve_for(K, std::integral_constant<int, 1>());
    });
  }

private:
  std::int64_t at(std::int64_t i) const { return row_of ? row_of[i] : i; }

  template <int K, int Q, class X>
  void solve_columns(std::int64_t begin, std::int64_t end, int reach, const X &x, bool transposed) const
  {
    const int  kl = K ? K : chain.kl, ku = K ? K : chain.ku, ld = 2 * kl + ku + 1;
    const auto row = [&](std::int64_t i) { return a + i * ld + kl; };
    if (!transposed) {
      std::int64_t j = begin;
      if constexpr (K > 0) { // the next K rows wait in registers
        Scalar     next[K][Q];
        const auto load = [&] {
          for (int k = 0; k < K; ++k)
            for (int q = 0; q < Q; ++q) next[k][q] = x(j + k, q);
        };
        if (j + K < end) load();
        for (; j + K < end; ++j) {
          if (exchange[j] > 0) {
            for (int k = 0; k < K; ++k)
              for (int q = 0; q < Q; ++q) x(j + k, q) = next[k][q];
            for (int q = 0; q < Q; ++q) std::swap(x(j, q), x(j + exchange[j], q));
            load();
          }
          for (int q = 0; q < Q; ++q) {
            const Scalar known = next[0][q], last = x(j + K, q);
            x(j, q) = known;
            for (int r = 1; r < K; ++r) next[r - 1][q] = next[r][q] - row(j + r)[-r] * known;
            next[K - 1][q] = last - row(j + K)[-K] * known;
          }
        }
        for (int k = 0; k < K && j > begin; ++k)
          for (int q = 0; q < Q; ++q) x(j + k, q) = next[k][q];
      }
      for (; j < end; ++j)
        for (int q = 0; q < Q; ++q) {
          if (exchange[j] > 0) std::swap(x(j, q), x(j + exchange[j], q));
          const Scalar known = x(j, q);
          for (int r = 1; r <= kl && j + r < end; ++r) x(j + r, q) -= row(j + r)[-r] * known;
        }
      const auto substitute = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from - 1; i >= to; --i)
          for (int q = 0; q < Q; ++q) {
            const Scalar *u   = row(i);
            Scalar        sum = x(i, q);
            for (int k = static_cast<int>(std::min<std::int64_t>(reach, end - 1 - i)); k >= 1; --k) sum -= u[k] * x(i + k, q);
            x(i, q) = sum * u[0];
          }
      };
      const auto in_registers = [&](auto R) { // the last R values are kept
        substitute(end, end - R());
        Scalar found[R()][Q];
        for (int k = 0; k < R(); ++k)
          for (int q = 0; q < Q; ++q) found[k][q] = x(end - R() + k, q);
        for (std::int64_t i = end - R() - 1; i >= begin; --i) {
          const Scalar *u = row(i);
          for (int q = 0; q < Q; ++q) {
            Scalar sum = x(i, q);
            for (int k = R(); k >= 1; --k) sum -= u[k] * found[k - 1][q]; // the one that was found last comes last
            for (int k = R() - 1; k >= 1; --k) found[k][q] = found[k - 1][q];
            x(i, q) = found[0][q] = sum * u[0];
          }
        }
      };
      if constexpr (K > 0) {
        if (reach == K && end - begin > K) return in_registers(std::integral_constant<int, K>());
        if (K <= 2 && end - begin > 2 * K) return in_registers(std::integral_constant<int, 2 * K>());
      }
      substitute(end, begin);
    } else {
      for (std::int64_t j = begin; j < end; ++j) {
        const Scalar *u = row(j);
        const int     n = static_cast<int>(std::min<std::int64_t>(reach, end - 1 - j));
        for (int q = 0; q < Q; ++q) {
          const Scalar z = x(j, q) * u[0];
          x(j, q)        = z;
          for (int k = 1; k <= n; ++k) x(j + k, q) -= u[k] * z;
        }
      }
      for (std::int64_t j = end - 1; j >= begin; --j) {
        const int p = exchange[j], below = static_cast<int>(std::min<std::int64_t>(kl, end - 1 - j));
        for (int q = 0; q < Q; ++q) {
          Scalar sum = x(j, q);
          for (int r = 1; r <= below; ++r) sum -= row(j + r)[-r] * x(j + r, q);
          x(j, q) = sum;
          if (p > 0) std::swap(x(j, q), x(j + p, q));
        }
      }
    }
  }
};

} // namespace ribbon::multifrontal

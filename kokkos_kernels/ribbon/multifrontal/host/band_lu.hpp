// SPDX-License-Identifier: BSD-2-Clause
/// @file band_lu.hpp  A whole chain as one leaf: band LU with partial pivoting in the order of the chain
///   (LAPACK's gbtrf), one thread per chain.
#pragma once

#include <ribbon/multifrontal/host/band_lu_elimination.hpp>

#include <algorithm>
#include <utility>

namespace ribbon::multifrontal {

/// Factors chains and solves with the factors. Each sweep of a solve reads the stored factors once. Loops
/// over the band are unrolled if kl = ku = K is a template argument; K = 0: any band.
template <class Scalar>
struct BandLu : BandLuFactors<Scalar> {
  using Base = BandLuFactors<Scalar>;
  using Base::chain, Base::given_kl, Base::given_ku;
  using Base::lower, Base::upper, Base::exchange, Base::plain, Base::row_of, Base::row_scale;
  using Base::u;

  /// The largest half-bandwidth with unrolled loops.
  static constexpr int widest = 10;
  /// Whether the factors of a chain are inaccurate. Two effects bound the excess of |L| |U| over |A|. One
  /// is the growth of entries, up to 2^kl times and more. The other is the count of steps that a row
  /// remains in the window, because each step rounds it (Higham, Accuracy and Stability of Numerical
  /// Algorithms, 9.3). In matrices close to resonance one row is exchanged in all steps.
  static bool loses_digits(std::int64_t steps) { return steps > 1000; }

  /// The band of a chain. With kl != ku it uses the loops of the larger one, with more products, while
  /// these are faster than the loops for any band (measured on one core, 1e5 rows).
  void set_band(const Chain &given)
  {
    chain = given, given_kl = given.kl, given_ku = given.ku;
    if (const int most = std::max(given_kl, given_ku), least = std::min(given_kl, given_ku);
        most <= 4 || (most <= widest && most - least <= 2))
      chain.kl = chain.ku = most;
  }

  /// Calls f(integral_constant K).
  template <class F>
  decltype(auto) with_width(const F &f) const
  {
    if (row_scale) return f(std::integral_constant<int, 0>());
    static_assert(widest == 10, "the last of these");
    return with_half_bandwidth<1, 2, 3, 4, 5, 6, 7, 8, 9, 10>(chain.kl == chain.ku ? chain.kl : 0, f);
  }

  /// Eliminates chain c.
  /// @param window  scratch of window_size() scalars
  template <class Index>
  PivotStatistics<real_t<Scalar>> factor(const ChainMatrix<Scalar, Index> &A, std::int64_t c,
                                         Scalar *window) const
  {
    return with_width([&](auto K) { return BandElimination<Scalar, K(), Index>(*this, A, c, window).run(); });
  }

  /// Columns that are solved at once.
  static constexpr int together = 4;

  /// x = A^-1 b, or A^-T b, for up to `together` columns. b == x is allowed if rows are in natural order.
  void solve(std::int64_t c, int columns, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
             bool transposed) const
  {
    const auto solve_for = [&](auto K, auto Q) {
      const auto in_order = [&](const auto &place) {
        const auto scaled = [&](const Scalar &a, std::int64_t i) {
          return K() == 0 && row_scale ? a * row_scale[i] : a;
        };
        const auto at_b = [&](std::int64_t i, int q) {
          return K() > 0 || transposed ? b[place(i) + q * ldb] : scaled(b[place(i) + q * ldb], i);
        };
        const auto at_x = [&](std::int64_t i, int q) -> Scalar & { return x[place(i) + q * ldx]; };
        if (transposed) {
          solve_transposed<K(), Q()>(c, at_b, at_x);
          for (std::int64_t i = c * chain.rows; K() == 0 && row_scale && i < (c + 1) * chain.rows; ++i)
            for (int q = 0; q < Q(); ++q) at_x(i, q) = scaled(at_x(i, q), i);
        } else solve_columns<K(), Q()>(c, at_b, at_x);
      };
      if (row_of) in_order([&](std::int64_t i) { return row_of[i]; });
      else in_order([](std::int64_t i) { return i; });
    };
    with_width([&](auto K) {
      if (columns == together) return solve_for(K, std::integral_constant<int, together>());
      for (int q = 0; q < columns; ++q, b += ldb, x += ldx) solve_for(K, std::integral_constant<int, 1>());
    });
  }

private:
  template <int K, int Q, class B, class X>
  void solve_columns(std::int64_t c, const B &b, const X &x) const
  {
    const std::int64_t begin = c * chain.rows, end = begin + chain.rows, exchanged = begin + plain[c];
    const int          kl = K ? K : chain.kl, ku = K ? K : chain.ku;
    forward<K, Q>(begin, end, exchanged, b, x);
    const auto substitute = [&](std::int64_t from, std::int64_t to, int reach) {
      for (std::int64_t i = from - 1; i >= to; --i)
        for (int q = 0; q < Q; ++q) {
          Scalar sum = x(i, q);
          for (int k = static_cast<int>(std::min<std::int64_t>(reach, end - 1 - i)); k >= 1; --k)
            sum -= u(i, k, kl, ku) * x(i + k, q);
          x(i, q) = sum * upper[i * (ku + 1)];
        }
    };
    // the last R values stay in registers
    const auto in_registers = [&](auto R, std::int64_t from, std::int64_t to) {
      // there may be fewer than R values
      if (from == to) return;
      Scalar found[R()][Q];
      for (int k = 0; k < R(); ++k)
        for (int q = 0; q < Q; ++q) found[k][q] = x(from + k, q);
      for (std::int64_t i = from - 1; i >= to; --i) {
        for (int q = 0; q < Q; ++q) {
          Scalar sum = x(i, q);
          // the most recent unknown is used last
          for (int k = R(); k >= 1; --k) sum -= u(i, k, kl, ku) * found[k - 1][q];
          for (int k = R() - 1; k >= 1; --k) found[k][q] = found[k - 1][q];
          x(i, q) = found[0][q] = sum * upper[i * (ku + 1)];
        }
      }
    };
    std::int64_t solved = end;
    if (exchanged < end) {
      if constexpr (K == 1 || K == 2) {
        solved = std::max(exchanged, end - 2 * K);
        substitute(end, solved, kl + ku);
        in_registers(std::integral_constant<int, 2 * K>(), solved, exchanged);
      } else substitute(end, exchanged, kl + ku);
      solved = exchanged;
    }
    if constexpr (K > 0) {
      const std::int64_t from = std::min(solved, std::max(begin, end - K));
      substitute(solved, from, ku);
      in_registers(std::integral_constant<int, K>(), from, begin);
    } else substitute(solved, begin, ku);
  }

  /// x = L^-1 b
  template <int K, int Q, class B, class X>
  void forward(std::int64_t begin, std::int64_t end, std::int64_t exchanged, const B &b, const X &x) const
  {
    const int    kl = K ? K : chain.kl;
    std::int64_t j  = begin;
    if constexpr (K > 0) { // the next K rows are in registers
      const std::int64_t whole          = std::max(begin, end - K);
      Scalar             next[K + 1][Q] = {};
      for (int k = 0; k < K && begin + k < end; ++k)
        for (int q = 0; q < Q; ++q) next[k][q] = b(begin + k, q);
      const auto eliminate = [&] {
        const Scalar *l = lower + j * K;
        for (int q = 0; q < Q; ++q) {
          const Scalar known = next[0][q];
          x(j, q)            = known;
          for (int r = 1; r <= K; ++r) next[r - 1][q] = next[r][q] - l[r - 1] * known;
        }
      };
      for (; j < std::min(whole, exchanged); ++j) {
        for (int q = 0; q < Q; ++q) next[K][q] = b(j + K, q);
        eliminate();
      }
      for (; j < whole; ++j) {
        for (int q = 0; q < Q; ++q) next[K][q] = b(j + K, q);
        for (int k = 1; k <= K; ++k)
          if (k == exchange[j])
            for (int q = 0; q < Q; ++q) std::swap(next[0][q], next[k][q]);
        eliminate();
      }
      for (int k = 0; k < K && j + k < end; ++k)
        for (int q = 0; q < Q; ++q) x(j + k, q) = next[k][q];
    } else
      for (std::int64_t i = begin; i < end; ++i)
        for (int q = 0; q < Q; ++q) x(i, q) = b(i, q);
    for (; j < end; ++j)
      for (int q = 0; q < Q; ++q) {
        if (j >= exchanged && exchange[j] > 0) std::swap(x(j, q), x(j + exchange[j], q));
        const Scalar known = x(j, q);
        for (int r = 1; r <= kl && j + r < end; ++r) x(j + r, q) -= lower[j * kl + r - 1] * known;
      }
  }

  template <int K, int Q, class B, class X>
  void solve_transposed(std::int64_t c, const B &b, const X &x) const
  {
    const std::int64_t begin = c * chain.rows, end = begin + chain.rows, exchanged = begin + plain[c];
    const int          kl = K ? K : chain.kl, ku = K ? K : chain.ku;
    for (std::int64_t i = begin; i < end; ++i)
      for (int q = 0; q < Q; ++q) x(i, q) = b(i, q);
    for (std::int64_t j = begin; j < end; ++j) {
      const int n = static_cast<int>(std::min<std::int64_t>(j < exchanged ? ku : ku + kl, end - 1 - j));
      for (int q = 0; q < Q; ++q) {
        const Scalar z = x(j, q) * upper[j * (ku + 1)];
        x(j, q)        = z;
        for (int k = 1; k <= n; ++k) x(j + k, q) -= u(j, k, kl, ku) * z;
      }
    }
    for (std::int64_t j = end - 1; j >= begin; --j) {
      const int p     = j < exchanged ? 0 : exchange[j],
                below = static_cast<int>(std::min<std::int64_t>(kl, end - 1 - j));
      for (int q = 0; q < Q; ++q) {
        Scalar sum = x(j, q);
        for (int r = 1; r <= below; ++r) sum -= lower[j * kl + r - 1] * x(j + r, q);
        x(j, q) = sum;
        if (p > 0) std::swap(x(j, q), x(j + p, q));
      }
    }
  }
};

/// Factors chains, one thread per chain.
template <class Scalar, class Index, class Exec>
struct BandLuKernel {
  BandLu<Scalar>                          lu;
  ChainMatrix<Scalar, Index>              A;
  PivotStatistics<real_t<Scalar>>        *statistics;
  Scalar                                 *windows;
  Kokkos::Experimental::UniqueToken<Exec> thread;
  void                                    operator()(const std::int64_t c) const
  {
    const auto mine = thread.acquire();
    statistics[c]   = lu.factor(A, c, windows + static_cast<std::size_t>(mine) * lu.window_size());
    thread.release(mine);
  }
};
/// Solves; a thread has a chain and some columns.
template <class Scalar>
struct BandLuSolveKernel {
  BandLu<Scalar> lu;
  const Scalar  *b;
  Scalar        *x;
  std::int64_t   ldb, ldx, columns;
  bool           transposed;
  void           operator()(const std::int64_t item) const
  {
    const std::int64_t c = item % lu.chain.chains, column = item / lu.chain.chains * lu.together;
    lu.solve(c, static_cast<int>(std::min<std::int64_t>(lu.together, columns - column)), b + column * ldb,
             ldb, x + column * ldx, ldx, transposed);
  }
};

} // namespace ribbon::multifrontal

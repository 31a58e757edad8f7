// SPDX-License-Identifier: BSD-2-Clause
/// @file band_lu.hpp  A whole chain as one leaf: band LU with partial pivoting in the order of the chain
///   (LAPACK's gbtrf), one thread per chain.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/multifrontal/reflector.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ribbon::multifrontal {

/// |a| in one instruction: on hosts, magnitude() is a branch.
template <class Scalar>
real_t<Scalar> absolute(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return std::fabs(a);
  else return magnitude(a);
}

/// Rows are exchanged from the pivot column on; multipliers are not. Elimination uses a window that stays
/// in the cache. Each sweep of a solve reads the stored factors once. Loops over the band are unrolled if
/// kl = ku = K is a template argument; K = 0: any band.
template <class Scalar>
struct BandLu {
  Chain chain;
  /// diagonals of the matrix; the band of `chain` may have more: see set_band()
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
  /// grow. See loses_digits()
  std::int64_t *postponed = nullptr;
  /// (chains): the largest entry of U relative to that of the matrix
  real_t<Scalar> *grown    = nullptr;
  real_t<Scalar> *doubtful = nullptr; ///< (chains): see ChainSolver::doubtful_pivot()
  /// (chains rows): powers of two by which factor() multiplies rows, so that their largest entries are
  /// between 1/2 and 1; null: rows are not scaled
  real_t<Scalar> *row_scale = nullptr;

  /// Rows that are eliminated before the window is shifted.
  static constexpr int step = 32;
  /// The largest half-bandwidth with unrolled loops.
  static constexpr int widest = 10;
  /// Entries of U this many times larger than any of the matrix so far count as growth.
  static constexpr int growth = 64;
  /// If a column of U is this small relative to the largest entry of the matrix so far, its row or its
  /// column has different units. Units of columns do not change the elimination; units of rows make it
  /// inaccurate.
  static constexpr auto uneven = real_t<Scalar>(0x1p-10);
  /// Pivots this small relative to the largest entry so far are compared with their columns and rows.
  static constexpr double looks_at = 1e-5;
  /// The largest half-bandwidth for which origins and sizes of rows are tracked through exchanges.
  static constexpr int most_followed = 64;
  /// Whether the factors of a chain are inaccurate. Two effects bound the excess of |L| |U| over |A|. One
  /// is the growth of entries, up to 2^kl times and more. The other is the count of steps that a row
  /// remains in the window, because each step rounds it (Higham, Accuracy and Stability of Numerical
  /// Algorithms, 9.3). In matrices close to resonance one row is exchanged in all steps.
  static bool loses_digits(std::int64_t steps) { return steps > 1000; }
  /// Scalars of the window.
  std::size_t window_size() const
  {
    return static_cast<std::size_t>(step + chain.kl) * static_cast<std::size_t>(2 * chain.kl + chain.ku + 1);
  }

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

  template <class Index>
  PivotStatistics<real_t<Scalar>> factor(const ChainMatrix<Scalar, Index> &A, std::int64_t c,
                                         Scalar *window) const
  {
    return with_width([&](auto K) { return factor_band<K()>(A, c, window); });
  }

  template <int K, class Index>
  PivotStatistics<real_t<Scalar>> factor_band(const ChainMatrix<Scalar, Index> &A, std::int64_t c,
                                              Scalar *window) const
  {
    using Real               = real_t<Scalar>;
    const std::int64_t begin = c * chain.rows, end = begin + chain.rows;
    const int          kl = K ? K : chain.kl, ku = K ? K : chain.ku, ld = 2 * kl + ku + 1;
    // first row of the window
    std::int64_t first = begin;
    // row i, at its diagonal
    const auto            row = [&](std::int64_t i) { return window + (i - first) * ld + kl; };
    PivotStatistics<Real> statistics;
    Real       biggest = 0, biggest_of_u = 0, least = std::numeric_limits<Real>::max(), least_doubtful = 1;
    Real       size_of_row[step + most_followed]; // of the window, in the matrix
    const bool follows = kl <= most_followed;
    const auto load    = [&](std::int64_t i) {
      const std::int64_t r  = A.row_of ? A.row_of[i] : i;
      Scalar            *to = row(i);
      const auto         at = A.local.row_begin[r], stop = A.local.row_begin[r + 1];
      Real               in_row = 0;
      // columns ascend
      if (K && !A.place_of && stop - at == 2 * K + 1 && A.local.column[at] == i - K &&
          A.local.column[stop - 1] == i + K) {
        for (int k = 0; k <= 2 * K; ++k) {
          const Scalar value = A.local.value[at + k];
          in_row             = std::max(in_row, absolute(value));
          to[k - K]          = value;
        }
        for (int k = K + 1; k <= 2 * K; ++k) to[k] = Scalar(0);
      } else if (K && !A.place_of && stop - at == given_kl + given_ku + 1 &&
                 A.local.column[at] == i - given_kl && A.local.column[stop - 1] == i + given_ku) {
        for (int k = -K; k <= 2 * K; ++k) to[k] = Scalar(0);
        for (int k = 0; k <= given_kl + given_ku; ++k) {
          const Scalar value = A.local.value[at + k];
          in_row             = std::max(in_row, absolute(value));
          to[k - given_kl]   = value;
        }
      } else {
        for (int k = -kl; k <= ku + kl; ++k) to[k] = Scalar(0);
        for (auto e = at; e < stop; ++e) {
          const std::int64_t j    = A.local.column[e];
          const std::int64_t at_j = A.place_of ? A.place_of[j] : j;
          const Real         size = absolute(A.local.value[e]);
          in_row                  = std::max(in_row, size);
          to[at_j - i]            = A.local.value[e];
          // elimination adds such an entry to no diagonal here
          if ((kl == 0 || ku == 0) && !is_finite(size)) statistics.look(size, size, at_j);
        }
      }
      if (row_scale) {
        const int exponent = exponent_of<Real>(size_word(static_cast<double>(in_row)));
        row_scale[i]       = static_cast<Real>(power_of_two(-exponent));
        statistics.take_row(exponent, false, i);
        for (int k = -kl; k <= ku; ++k) to[k] *= row_scale[i];
        in_row *= row_scale[i];
      }
      biggest = std::max(biggest, in_row);
      if (follows) size_of_row[i - first] = in_row;
      // pivots of a row that is exchanged over many steps grow while the others decay
      least = std::min(least, in_row);
    };
    std::int64_t plain_rows = chain.rows, filled = begin; // last column with entries of the rows above
    // origins of the rows of the window, after the first exchange
    std::int64_t origin[step + most_followed], longest = 0;
    bool         grows  = false;
    const auto   follow = [&](std::int64_t j, int p) {
      if (plain_rows == j - begin)
        for (int k = 0; k < kl + step && first + k < end; ++k) origin[k] = first + k;
      longest = std::max(longest, j + p - origin[j - first]);
      std::swap(origin[j - first], origin[j + p - first]);
    };
    // `below` rows are eliminated; a constant if the whole band exists
    const auto column = [&](std::int64_t j, auto below) {
      Scalar *u    = row(j);
      int     p    = 0;
      Real    most = absolute(u[0]), others = 0;
      for (int k = 1; k <= below; ++k) others = std::max(others, absolute(u[k * (ld - 1)]));
      if (others > most) {
        most = others;
        while (absolute(u[p * (ld - 1)]) != others) ++p;
        plain_rows = std::min(plain_rows, j - begin);
      }
      Real largest = most; // of column j: computed only if the pivot is small
      least        = std::min(least, most);
      if (!(most >= std::min(std::max(statistics.smallest, Real(looks_at)), Real(0.1)) * biggest)) {
        for (int k = 1; k <= ku + kl && j - k >= begin; ++k)
          if (k <= ku || j - k - begin >= plain_rows)
            largest = std::max(
              largest, absolute(k <= ku ? upper[(j - k) * (ku + 1) + k] : fill[(j - k) * kl + k - ku - 1]));
        if (largest < biggest * uneven) statistics.has_small_column = true;
        // rows of 1 next to rows of 10^12 have pivots of 1 that are small in their columns
        const Real compared = follows ? std::min(largest, size_of_row[j - first + p]) : largest;
        if (most < least_doubtful * compared) least_doubtful = most / compared;
      }
      statistics.take(most, largest, j);
      const bool is_plain = j - begin < plain_rows;
      filled              = std::max(filled, std::min(j + ku + p, end - 1));
      const int length    = static_cast<int>(filled - j);
      if (p > 0) {
        for (int k = 0; k <= length; ++k) std::swap(u[k], row(j + p)[k - p]);
        if (follows) follow(j, p), std::swap(size_of_row[j - first], size_of_row[j + p - first]);
      }
      const Scalar reciprocal = Scalar(1) / u[0];
      Scalar      *kept = upper + j * (ku + 1), *l = lower + j * kl;
      kept[0]  = reciprocal;
      Real top = most;
      for (int k = 1; k <= ku; ++k) kept[k] = u[k], top = std::max(top, absolute(u[k]));
      if (!is_plain) {
        exchange[j] = p;
        for (int k = 0; k < kl; ++k)
          fill[j * kl + k] = u[ku + 1 + k], top = std::max(top, absolute(u[ku + 1 + k]));
      }
      grows        = grows || top > growth * biggest;
      biggest_of_u = std::max(biggest_of_u, top);
      if (most == Real(0)) { // a zero pivot eliminates nothing
        for (int r = 0; r < kl; ++r) l[r] = Scalar(0);
        return;
      }
      if (K && length == K) {
        Scalar v[K + 1];
        for (int k = 1; k <= K; ++k) v[k] = u[k];
        for (int r = 1; r <= below; ++r) {
          Scalar      *to     = u + r * (ld - 1);
          const Scalar factor = to[0] * reciprocal;
          l[r - 1]            = factor;
          for (int k = 1; k <= K; ++k) to[k] -= factor * v[k];
        }
      } else
        for (int r = 1; r <= below; ++r) {
          Scalar      *to     = u + r * (ld - 1);
          const Scalar factor = to[0] * reciprocal;
          l[r - 1]            = factor;
          int k               = 1;
          // loads before stores: rows do not overlap, but the compiler cannot deduce that
          for (; k + 3 <= length; k += 4) {
            Scalar next[4];
            for (int m = 0; m < 4; ++m) next[m] = to[k + m] - factor * u[k + m];
            for (int m = 0; m < 4; ++m) to[k + m] = next[m];
          }
          for (; k <= length; ++k) to[k] -= factor * u[k];
        }
    };
    for (std::int64_t i = begin; i < std::min(begin + kl, end); ++i) load(i);
    while (first < end) {
      const std::int64_t stop = std::min(first + step, end);
      for (std::int64_t j = first; j < stop; ++j) {
        if (j + kl < end) {
          load(j + kl);
          if constexpr (K > 0) column(j, std::integral_constant<int, K>());
          else column(j, kl);
        } else column(j, static_cast<int>(end - 1 - j));
      }
      std::copy(row(stop) - kl, row(std::min(stop + kl, end)) - kl, window);
      if (follows)
        std::copy(size_of_row + (stop - first), size_of_row + (std::min(stop + kl, end) - first),
                  size_of_row);
      if (follows && plain_rows < chain.rows) {
        std::copy(origin + (stop - first), origin + (std::min(stop + kl, end) - first), origin);
        for (int k = kl; k < kl + step; ++k) origin[k] = stop + k;
      }
      first = stop;
    }
    statistics.is_tiny =
      statistics.is_tiny || least < static_cast<Real>(power_of_two(least_exponent<Real>()));
    grown[c]     = biggest > 0 ? biggest_of_u / biggest : Real(1);
    doubtful[c]  = least_doubtful;
    plain[c]     = plain_rows;
    postponed[c] = grows                                 ? std::numeric_limits<std::int64_t>::max()
                   : follows || plain_rows == chain.rows ? longest
                                                         : chain.rows;
    return statistics;
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
  /// U_(i,i+k) of a row with fill, 1 <= k <= ku + kl.
  Scalar u(std::int64_t i, int k, int kl, int ku) const
  {
    return k <= ku ? upper[i * (ku + 1) + k] : fill[i * kl + k - ku - 1];
  }

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

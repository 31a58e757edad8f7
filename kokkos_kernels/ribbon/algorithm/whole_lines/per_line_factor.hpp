// SPDX-License-Identifier: BSD-2-Clause
/// @file per_line_factor.hpp  Factors one banded matrix per line in the memory of the coefficients, one
///   thread per line.
#pragma once

#include <ribbon/algorithm/whole_lines/thomas.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/elimination/small_block.hpp>

#include <algorithm>
#include <vector>

namespace ribbon {

/// Writes the words of PerLineFactors. The reduction finds the smallest pivot (SmallestPivot).
template <class Scalar, int P, class Memory>
struct PerLineFactorKernel {
  using Real     = real_t<Scalar>;
  using Watch    = SmallestPivot<Real>;
  using Smallest = typename Watch::value_type;

  /// The last P values, newest first.
  struct Window {
    Scalar               v[P] = {};
    KOKKOS_FUNCTION void push(const Scalar &a)
    {
      for (int q = P - 1; q > 0; --q) v[q] = v[q - 1];
      v[0] = a;
    }
  };

  BandEntries<Scalar, Memory> entry; ///< kl, ku <= P
  Scalar                     *words, *closures;
  std::int64_t                count;          ///< lines whose words are stored
  std::int64_t                first_line = 0; ///< of the words
  Real                        tolerance  = 0; ///< a line with a pivot at or below it is bad

  KOKKOS_FUNCTION void operator()(const std::int64_t l, Smallest &smallest) const
  {
    Smallest mine = Watch::start((first_line + l) * entry.rows);
    factor(l, mine);
    Watch::finish(mine, tolerance, smallest);
  }

  KOKKOS_FUNCTION void factor(std::int64_t l, Smallest &smallest) const
  {
    const bool         periodic = entry.periodic;
    const std::int64_t rows = entry.rows, m = rows - (periodic ? P : 0);
    const int          width = periodic ? 1 + 4 * P : 1 + 2 * P;
    auto   word = [&](std::int64_t i, int j) -> Scalar   &{ return words[(i * width + j) * count + l]; };
    Window h[P];         // last rows of H
    Scalar u[P][P] = {}; // u[q]: U of row i - 1 - q
    for (std::int64_t i = 0; i < m; ++i) {
      Scalar a[2 * P + 1], multiplier[P] = {};
      for (int d = -P; d <= P; ++d) a[d + P] = i + d < 0 ? Scalar(0) : entry(first_line + l, i, d);
      for (int q = P - 1; q >= 0; --q) {
        multiplier[q] = a[P - 1 - q];
        for (int p = 0; p < P; ++p) a[P - q + p] += multiplier[q] * u[q][p];
      }
      Watch::see(magnitude(a[P]), entry.row_max(first_line + l, i), (first_line + l) * rows + i, smallest);
      const Scalar inv = Scalar(1) / a[P];
      word(i, 0)       = inv;
      for (int q = P - 1; q > 0; --q)
        for (int p = 0; p < P; ++p) u[q][p] = u[q - 1][p];
      for (int q = 0; q < P; ++q) {
        word(i, 1 + q)     = -multiplier[q] * inv;
        word(i, 1 + P + q) = u[0][q] = -a[P + 1 + q] * inv;
      }
      if (!periodic) continue;
      for (int q = 0; q < P; ++q) {
        Scalar v = i <= q ? inv * entry(first_line + l, i, q - P - i) : Scalar(0);
        for (int p = 0; p < P; ++p) v -= multiplier[p] * inv * h[q].v[p];
        h[q].push(v);
        word(i, 1 + 3 * P + q) = v;
      }
    }
    if (periodic) close(l, m, smallest);
  }

  /// D, the couplings of the separators and their Schur complement with its inverse.
  KOKKOS_FUNCTION void close(std::int64_t l, std::int64_t m, Smallest &smallest) const
  {
    auto word = [&](std::int64_t i, int j) -> Scalar & { return words[(i * (1 + 4 * P) + j) * count + l]; };
    // [left, right][row][separator] of A^-1 times the couplings
    Scalar first[2][P][P] = {}, last[2][P][P] = {};
    for (int q = 0; q < P; ++q) {
      Window y, v;
      for (std::int64_t i = 0; i < m; ++i) { // U^T y = e_q
        Scalar t = i == q ? Scalar(1) : Scalar(0);
        for (int p = 0; p < P && i - 1 - p >= 0; ++p) t += word(i - 1 - p, 1 + P + p) * y.v[p];
        y.push(t);
        word(i, 1 + 2 * P + q) = t;
      }
      for (std::int64_t i = m - 1; i >= 0; --i) { // L^T D = y
        Scalar t = word(i, 1 + 2 * P + q);
        for (int p = 0; p < P && i + 1 + p < m; ++p) t += word(i + 1 + p, 1 + p) * v.v[p];
        v.push(t);
        word(i, 1 + 2 * P + q) = t * word(i, 0);
      }
      for (int side = 0; side < 2; ++side) {
        Window x;
        for (int p = 0; p < P; ++p) x.v[p] = Scalar(side == 1 && p == q ? 1 : 0);
        for (std::int64_t i = m - 1; i >= 0; --i) {
          Scalar t = side == 0 ? word(i, 1 + 3 * P + q) : Scalar(0);
          for (int p = 0; p < P; ++p) t += word(i, 1 + P + p) * x.v[p];
          x.push(t);
          const Scalar w = side == 0 ? t : -t;
          if (i < P) first[side][i][q] = w;
          if (i >= m - P) last[side][i - (m - P)][q] = w;
        }
      }
    }
    const std::int64_t    rows = entry.rows;
    Scalar               *c    = closures + l;
    SmallBlock<Scalar, P> S;
    Real                  scale[P];
    for (int a = 0; a < P; ++a) {
      scale[a] = entry.row_scale(first_line + l, m + a);
      for (int b = 0; b < P; ++b) {
        Scalar s = entry(first_line + l, m + a, b - a);
        for (int q = 0; q < P; ++q) { // the neighbour on both sides is this chunk itself
          const Scalar Ls = entry(first_line + l, m + a, q - P - a),
                       Us = entry(first_line + l, m + a, q + P - a);
          s -= Ls * (last[0][q][b] + last[1][q][b]) + Us * (first[0][q][b] + first[1][q][b]);
          if (b > 0) continue;
          // to g of row m - 1 - q, which is y except for q = 1: y_(m-2) = g_(m-2) + U g_(m-1)
          Scalar Lg = entry(first_line + l, m + a, -1 - q - a);
          if (P == 2 && q == 0) Lg += entry(first_line + l, m + a, -2 - a) * word(m - P, 1 + P);
          c[(a * P + q) * count] = Lg, c[(P * P + a * P + q) * count] = Us;
        }
        S.a[a][b]                          = s * scale[a];
        c[(2 * P * P + a * P + b) * count] = s;
      }
    }
    const auto G = S.inverse([&](const Scalar &pivot, int k) {
      Watch::see(magnitude(pivot), 1, (first_line + l) * rows + m + k, smallest);
    });
    for (int a = 0; a < P; ++a)
      for (int b = 0; b < P; ++b) c[(3 * P * P + a * P + b) * count] = G.a[a][b] * scale[b];
  }
};

/// The same on a host, some lines at a time: the words of one line would lie in as many lines of the cache. Each
/// line is factored in memory without gaps. Then the words of all lines of a tile are written together.
template <class Scalar, int P, class Memory>
struct PerLineFactorTiles {
  using Kernel   = PerLineFactorKernel<Scalar, P, Memory>;
  using Smallest = typename Kernel::Smallest;

  static constexpr std::int64_t lanes = 8;

  Kernel       kernel;
  std::int64_t tiles() const { return (kernel.count + lanes - 1) / lanes; }

  void operator()(const std::int64_t t, Smallest &smallest) const
  {
    const auto        &entry = kernel.entry;
    const std::int64_t first = t * lanes, n = std::min(lanes, kernel.count - first),
                       width    = entry.periodic ? 1 + 4 * P : 1 + 2 * P,
                       words    = (entry.rows - (entry.periodic ? P : 0)) * width,
                       closures = entry.periodic ? 4 * P * P : 0;
    std::vector<Scalar> own(static_cast<std::size_t>((words + closures) * n));
    for (std::int64_t k = 0; k < n; ++k) {
      Kernel one     = kernel;
      one.words      = own.data() + k * (words + closures);
      one.closures   = one.words + words;
      one.count      = 1;
      one.first_line = kernel.first_line + first + k;
      one(0, smallest);
    }
    const auto copy = [&](Scalar *to, std::int64_t from, std::int64_t numbers) {
      for (std::int64_t e = 0; e < numbers; ++e)
        for (std::int64_t k = 0; k < n; ++k)
          to[e * kernel.count + first + k] = own[static_cast<std::size_t>(k * (words + closures) + from + e)];
    };
    copy(kernel.words, 0, words);
    copy(kernel.closures, words, closures);
  }
};

} // namespace ribbon

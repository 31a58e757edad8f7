// SPDX-License-Identifier: BSD-2-Clause
/// @file factored_reduction_factor.hpp  The kernel that factors matrices for factored_reduction.hpp.
#pragma once

#include <ribbon/algorithm/cyclic_reduction/factored_reduction_shape.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/elimination/small_block.hpp>

#include <cstring>

namespace ribbon {

/// Factors matrices: a team factors one matrix, level by level. Equations of level 0 are read from the bands,
/// those of other levels from the workspace of the matrix: entry e of block w (A, D, C) of equation k of
/// `count` is at (w S^2 + e) count + k.
/// @tparam S  unknowns of an equation
template <class Scalar, int S, class Memory>
struct FactoredReductionFactor {
  static constexpr int max_threads = 128;
  using Real                       = real_t<Scalar>;
  using Block                      = SmallBlock<Scalar, S>;
  struct Idle { };
  struct Row {
    Scalar a[S] = {};
  };

  BandEntries<Scalar, Memory> entry;
  FactoredReductionShape      shape;
  std::int64_t                words; ///< length of the factors of a matrix
  Scalar                     *factors;
  Scalar                     *odd, *even; ///< workspace of all matrices: levels 1, 3, ...; levels 2, 4, ...
  unsigned long long         *pivots;     ///< for each matrix, ~key() of its worst pivot

  struct Level {
    int           number, count; ///< index of the level, count of its equations
    std::int64_t  at;            ///< offset of its factors
    const Scalar *now;
    Scalar       *next;
  };

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t          c           = team.league_rank();
    const std::int64_t          of_equation = std::int64_t(3) * S * S;
    Scalar *const               mine[2]     = {odd + c * of_equation * (shape.equations() / 2),
                                               even + c * of_equation * (shape.equations() / 4)};
    device::Threads<Idle, Team> threads(team, team.scratch());
    threads.for_each([&](int v, Idle &) { v == 0 ? void(pivots[c] = 0) : void(); });
    team.barrier();
    for (Level level{0, shape.equations(), 0, nullptr, mine[0]}; level.count > 0;) {
      threads.for_each([&](int v, Idle &) {
        for (int j = v; j < shape.left_out(level.count); j += team.size()) leave_out(level, c, j);
      });
      team.barrier();
      threads.for_each([&](int v, Idle &) {
        for (int e = v; e < shape.kept(level.count) * S; e += team.size()) keep(level, c, e / S, e % S);
      });
      team.barrier();
      level = {level.number + 1, shape.kept(level.count), level.at + shape.words(level.count), level.next,
               mine[1 - level.number % 2]};
    }
  }

  /// Orders failures of a line, causes before consequences: entries that are not finite, zero pivots,
  /// pivots that are not finite. Then come pivots by their size relative to the largest entry of the row.
  /// The lower half of the key is the row.
  KOKKOS_FUNCTION static unsigned long long key(Real pivot, Real largest, std::int64_t row)
  {
    const auto   size = static_cast<float>(largest > 0 ? pivot / largest : Real(0));
    unsigned int bits = 2;
    if (!is_finite(largest)) bits = 0;
    else if (size == 0) bits = 1;
    else if (is_finite(pivot) && is_finite(size)) {
      memcpy(&bits, &size, sizeof bits);
      bits += 3;
    }
    return static_cast<unsigned long long>(bits) << 32 | static_cast<unsigned long long>(row);
  }
  /// The relative size of the pivot of a key; -1: not finite.
  KOKKOS_FUNCTION static Real size_of(unsigned long long key)
  {
    unsigned int bits = static_cast<unsigned int>(key >> 32);
    float        size = bits == 1 ? 0 : -1;
    if (bits > 2) {
      bits -= 3;
      memcpy(&size, &bits, sizeof bits);
    }
    return static_cast<Real>(size);
  }

  /// Entry (a, b) of block w = -1, 0, 1 (A, D, C) of an equation. Rows that pad the last equation are those of the
  /// identity (w = 0) or zero.
  KOKKOS_INLINE_FUNCTION Scalar read(const Level &level, std::int64_t c, int k, int w, int a, int b) const
  {
    if (level.number > 0) return level.now[((w + 1) * S * S + a * S + b) * level.count + k];
    const int B = shape.block, i = k * shape.group + a / B, j = (k + w) * shape.group + b / B;
    if (i >= shape.rows) return Scalar(w == 0 && a == b ? 1 : 0);
    return j >= 0 && j < shape.rows ? entry(c, i, j - i, a % B, b % B) : Scalar(0);
  }
  KOKKOS_INLINE_FUNCTION Row read_row(const Level &level, std::int64_t c, int k, int w, int a) const
  {
    Row row;
    RIBBON_UNROLL
    for (int b = 0; b < S; ++b) row.a[b] = read(level, c, k, w, a, b);
    return row;
  }
  /// Largest entry of the rows of the equation that begins with `row`.
  KOKKOS_FUNCTION Real scale(std::int64_t c, int row) const
  {
    Real largest = 0;
    for (int i = row; i < row + shape.group && i < shape.rows; ++i)
      for (int a = 0; a < shape.block; ++a) {
        const Real size = entry.row_max(c, i, a);
        if (!(size <= largest) && largest == largest) largest = size; // keeps NaN
      }
    return largest;
  }
  /// The first entry of column b of block w of equation j of `count`.
  KOKKOS_INLINE_FUNCTION Scalar *column(std::int64_t c, std::int64_t begin, int w, int count, int j,
                                        int b) const
  {
    return factors + c * words + begin + ((std::int64_t(w) * S + b) * count + j) * S;
  }

  /// Stores D^-1, -D^-1 A and -D^-1 C of equation k = 2 j, which is eliminated.
  KOKKOS_FUNCTION void leave_out(const Level &level, std::int64_t c, int j) const
  {
    const int          left_out = shape.left_out(level.count), k = 2 * j;
    const std::int64_t begin   = level.at + shape.kept_words(level.count);
    const int          row     = shape.place(level.number, k) * shape.group;
    const Real         largest = scale(c, row);
    Block              inverse;
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a) RIBBON_UNROLL
    for (int b = 0; b < S; ++b) inverse.a[a][b] = read(level, c, k, 0, a, b);
    unsigned long long worst = 0;
    inverse.invert([&](const Scalar &pivot, int p) {
      if (row + p / shape.block >= shape.rows) return; // a row that pads the last equation
      const unsigned long long of = ~key(magnitude(pivot), largest, row);
      worst                       = of > worst ? of : worst;
    });
    Kokkos::atomic_fetch_max(pivots + c, worst);
    RIBBON_UNROLL
    for (int b = 0; b < S; ++b) RIBBON_UNROLL
    for (int a = 0; a < S; ++a) column(c, begin, 0, left_out, j, b)[a] = inverse.a[a][b];
    for (int w = -1; w <= 1; w += 2)
      for (int b = 0; b < S; ++b) {
        Scalar from[S], *to = column(c, begin, w < 0 ? 1 : 2, left_out, j, b);
        RIBBON_UNROLL
        for (int e = 0; e < S; ++e) from[e] = read(level, c, k, w, e, b);
        RIBBON_UNROLL
        for (int a = 0; a < S; ++a) {
          Scalar sum(0);
          RIBBON_UNROLL
          for (int e = 0; e < S; ++e) subtract_product(sum, inverse.a[a][e], from[e]);
          to[a] = sum;
        }
      }
  }

  /// -f F, where F is D^-1, -D^-1 A or -D^-1 C (w = 0, 1, 2) of the eliminated equation j.
  KOKKOS_INLINE_FUNCTION Row minus_product(const Row &f, const Level &level, std::int64_t c, int w,
                                           int j) const
  {
    const int          left_out = shape.left_out(level.count);
    const std::int64_t begin    = level.at + shape.kept_words(level.count);
    Row                product;
    RIBBON_UNROLL
    for (int b = 0; b < S; ++b) {
      const Scalar *from = column(c, begin, w, left_out, j, b);
      RIBBON_UNROLL
      for (int e = 0; e < S; ++e) subtract_product(product.a[b], f.a[e], from[e]);
    }
    return product;
  }
  /// Stores row a of -A_k D_(k-1)^-1 and -C_k D_(k+1)^-1 of k = 2 j + 1, and of the resulting equation j of the
  /// next level.
  KOKKOS_FUNCTION void keep(const Level &level, std::int64_t c, int j, int a) const
  {
    const int  kept  = shape.kept(level.count);
    const auto store = [&](int w, const Row &row) {
      RIBBON_UNROLL
      for (int b = 0; b < S; ++b) column(c, level.at, w, kept, j, b)[a] = row.a[b];
    };
    const auto put = [&](int w, const Row &row, Real sign) {
      RIBBON_UNROLL
      for (int b = 0; b < S; ++b) level.next[(w * S * S + a * S + b) * kept + j] = row.a[b] * sign;
    };
    const auto subtract = [](Row &from, const Row &row) {
      RIBBON_UNROLL
      for (int b = 0; b < S; ++b) from.a[b] -= row.a[b];
    };
    Row       D = read_row(level, c, 2 * j + 1, 0, a), C;
    const Row A = read_row(level, c, 2 * j + 1, -1, a);
    store(0, minus_product(A, level, c, 0, j));
    put(0, minus_product(A, level, c, 1, j), -1);
    subtract(D, minus_product(A, level, c, 2, j));
    if (2 * j + 2 < level.count) {
      C = read_row(level, c, 2 * j + 1, 1, a);
      store(1, minus_product(C, level, c, 0, j + 1));
      put(2, minus_product(C, level, c, 2, j + 1), -1);
      subtract(D, minus_product(C, level, c, 1, j + 1));
    } else {
      store(1, C);
      put(2, C, 1);
    }
    put(1, D, 1);
  }
};

/// The worst pivot of all matrices.
template <class Factor>
struct FactoredReductionPivots {
  using Real       = typename Factor::Real;
  using value_type = typename SmallestPivot<Real>::value_type;
  const unsigned long long *pivots; ///< as FactoredReductionFactor stores them
  std::int64_t              rows;
  Real                      tolerance;
  KOKKOS_FUNCTION void      operator()(const std::int64_t c, value_type &worst) const
  {
    const unsigned long long key = ~pivots[c];
    value_type line = SmallestPivot<Real>::start(c * rows + static_cast<std::int64_t>(key & 0xffffffffull));
    line.val        = Factor::size_of(key);
    SmallestPivot<Real>::finish(line, tolerance, worst);
  }
};

} // namespace ribbon

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
template <class Scalar, int Most, class Memory>
struct FactoredReductionFactor {
  static constexpr int max_threads = 128;
  using Real                       = real_t<Scalar>;
  using Block                      = SmallBlock<Scalar, Most>;
  struct Idle { };

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
    const std::int64_t          of_equation = std::int64_t(3) * shape.size() * shape.size();
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
        for (int j = v; j < shape.kept(level.count); j += team.size()) keep(level, c, j);
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

  /// Block w = -1, 0, 1 (A, D, C) of an equation. Rows and columns from S on, and rows that pad the last
  /// equation, are those of the identity (w = 0) or zero.
  KOKKOS_FUNCTION Block read(const Level &level, std::int64_t c, int k, int w) const
  {
    const int S = shape.size(), B = shape.block;
    Block     result;
    RIBBON_UNROLL
    for (int a = 0; a < Most; ++a) RIBBON_UNROLL
    for (int b = 0; b < Most; ++b) {
      const int i = k * shape.group + a / B, j = (k + w) * shape.group + b / B;
      if (a >= S || b >= S || (level.number == 0 && i >= shape.rows))
        result.a[a][b] = w == 0 && a == b ? Scalar(1) : Scalar(0);
      else if (level.number > 0) result.a[a][b] = level.now[((w + 1) * S * S + a * S + b) * level.count + k];
      else if (j >= 0 && j < shape.rows) result.a[a][b] = entry(c, i, j - i, a % B, b % B);
    }
    return result;
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
  KOKKOS_FUNCTION void store(std::int64_t c, std::int64_t begin, int w, int count_of, int j,
                             const Block &block, Real sign) const
  {
    const int S  = shape.size();
    Scalar   *to = factors + c * words + begin;
    RIBBON_UNROLL
    for (int b = 0; b < Most; ++b) RIBBON_UNROLL
    for (int a = 0; a < Most; ++a)
      if (a < S && b < S) to[((std::int64_t(w) * S + b) * count_of + j) * S + a] = block.a[a][b] * sign;
  }
  KOKKOS_FUNCTION Block load(std::int64_t c, std::int64_t begin, int w, int count_of, int j) const
  {
    const int     S    = shape.size();
    const Scalar *from = factors + c * words + begin;
    Block         block;
    RIBBON_UNROLL
    for (int b = 0; b < Most; ++b) RIBBON_UNROLL
    for (int a = 0; a < Most; ++a)
      if (a < S && b < S) block.a[a][b] = from[((std::int64_t(w) * S + b) * count_of + j) * S + a];
    return block;
  }

  /// Stores D^-1, -D^-1 A and -D^-1 C of equation k = 2 j, which is eliminated.
  KOKKOS_FUNCTION void leave_out(const Level &level, std::int64_t c, int j) const
  {
    const int          left_out = shape.left_out(level.count), k = 2 * j;
    const std::int64_t begin   = level.at + shape.kept_words(level.count);
    const int          row     = shape.place(level.number, k) * shape.group;
    const Real         largest = scale(c, row);
    const Block        inverse = read(level, c, k, 0).inverse([&](const Scalar &pivot, int p) {
      if (p < shape.size()) Kokkos::atomic_fetch_max(pivots + c, ~key(magnitude(pivot), largest, row));
    });
    store(c, begin, 0, left_out, j, inverse, 1);
    store(c, begin, 1, left_out, j, inverse * read(level, c, k, -1), -1);
    store(c, begin, 2, left_out, j, inverse * read(level, c, k, 1), -1);
  }
  /// Stores -A_k D_(k-1)^-1 and -C_k D_(k+1)^-1 of k = 2 j + 1, and the resulting equation j of the next
  /// level.
  KOKKOS_FUNCTION void keep(const Level &level, std::int64_t c, int j) const
  {
    const int kept = shape.kept(level.count), left_out = shape.left_out(level.count), S = shape.size();
    const std::int64_t begin = level.at + shape.kept_words(level.count);
    const auto         put   = [&](int w, const Block &block) {
      RIBBON_UNROLL
      for (int a = 0; a < Most; ++a) RIBBON_UNROLL
      for (int b = 0; b < Most; ++b)
        if (a < S && b < S) level.next[(w * S * S + a * S + b) * kept + j] = block.a[a][b];
    };
    Block       D = read(level, c, 2 * j + 1, 0);
    const Block A = read(level, c, 2 * j + 1, -1);
    store(c, level.at, 0, kept, j, A * load(c, begin, 0, left_out, j), -1);
    put(0, A * load(c, begin, 1, left_out, j));
    add(D, A * load(c, begin, 2, left_out, j));
    if (2 * j + 2 < level.count) {
      const Block C = read(level, c, 2 * j + 1, 1);
      store(c, level.at, 1, kept, j, C * load(c, begin, 0, left_out, j + 1), -1);
      put(2, C * load(c, begin, 2, left_out, j + 1));
      add(D, C * load(c, begin, 1, left_out, j + 1));
    } else {
      store(c, level.at, 1, kept, j, Block(), 1);
      put(2, Block());
    }
    put(1, D);
  }
  KOKKOS_FUNCTION static void add(Block &to, const Block &from)
  {
    RIBBON_UNROLL
    for (int a = 0; a < Most; ++a) RIBBON_UNROLL
    for (int b = 0; b < Most; ++b) to.a[a][b] += from.a[a][b];
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

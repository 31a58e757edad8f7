// SPDX-License-Identifier: BSD-2-Clause
/// @file factored_reduction_solve.hpp  The kernel that solves lines by factored_reduction.hpp.
#pragma once

#include <ribbon/algorithm/cyclic_reduction/factored_reduction_shape.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// Solves lines: a team holds `lanes` of them in its scratch.
/// @tparam Most  largest S: unrolled loops have this length and end early
template <class Scalar, int Most>
struct FactoredReductionSolve {
  static constexpr int max_threads = 256;
  struct Idle { };

  FactoredReductionShape shape;
  int                    lanes;
  std::int64_t           words; ///< length of the factors of a matrix
  const Scalar          *factors;
  std::int64_t           first, matrices; ///< line l has matrix (first + l) % matrices
  const Scalar          *b;
  Scalar                *x;
  LineSet                in, out;

  template <class F>
  KOKKOS_INLINE_FUNCTION static void each(int n, const F &f)
  {
    RIBBON_UNROLL
    for (int k = 0; k < Most; ++k) {
      if (k >= n) break;
      f(k);
    }
  }
  /// sum += a row of a block, times v. `from`: first entry of the row; `column`: distance of its entries.
  KOKKOS_INLINE_FUNCTION void multiply(const Scalar *from, std::int64_t column, const Scalar *v,
                                       Scalar &sum) const
  {
    each(shape.size(), [&](int e) { add_product(sum, read_only_scalar(from + e * column), v[e]); });
  }

  /// The lines of a team: their right-hand sides r and unknowns y, in its scratch.
  struct Lines {
    std::int64_t first;
    int          count, unknowns; ///< unknowns: of a line
    Scalar      *r, *y;
  };
  /// A level: its number, count of equations, and the offset of its factors.
  struct Level {
    int          number, count;
    std::int64_t at;
  };
  KOKKOS_FUNCTION const Scalar *factors_of(const Lines &own, int lane) const
  {
    return factors + (first + own.first + lane) % matrices * words;
  }

  /// Loads component a of equation k; rows that pad the last equation are zero.
  KOKKOS_FUNCTION void load(const Lines &own, int lane, int k, int a) const
  {
    const int row = k * shape.group + a / shape.block;
    own.r[lane * own.unknowns + k * shape.size() + a] =
      row < shape.rows ? b[in(own.first + lane, row) + a % shape.block * in.component_stride] : Scalar(0);
  }

  /// Component a of r of equation j of the next level.
  KOKKOS_FUNCTION void reduce(const Lines &own, const Level &level, int lane, int j, int a) const
  {
    const int          S      = shape.size();
    const Scalar      *from   = factors_of(own, lane) + level.at + j * S + a;
    const std::int64_t column = std::int64_t(shape.kept(level.count)) * S;
    Scalar *line = own.r + lane * own.unknowns, sum = line[shape.place(level.number, 2 * j + 1) * S + a];
    multiply(from, column, line + shape.place(level.number, 2 * j) * S, sum);
    if (2 * j + 2 < level.count)
      multiply(from + S * column, column, line + shape.place(level.number, 2 * j + 2) * S, sum);
    line[shape.place(level.number, 2 * j + 1) * S + a] = sum;
  }

  /// Component a of the unknowns of equation 2 j, whose neighbours are known. Stores it.
  KOKKOS_FUNCTION void substitute(const Lines &own, const Level &level, int lane, int j, int a) const
  {
    const int          S      = shape.size();
    const Scalar      *from   = factors_of(own, lane) + level.at + shape.kept_words(level.count) + j * S + a;
    const std::int64_t column = std::int64_t(shape.left_out(level.count)) * S;
    const int          k      = shape.place(level.number, 2 * j);
    Scalar             sum(0), *line = own.y + lane * own.unknowns;
    multiply(from, column, own.r + lane * own.unknowns + k * S, sum);
    if (j > 0) multiply(from + S * column, column, line + shape.place(level.number, 2 * j - 1) * S, sum);
    if (2 * j + 1 < level.count)
      multiply(from + 2 * S * column, column, line + shape.place(level.number, 2 * j + 1) * S, sum);
    line[k * S + a] = sum;
    const int row   = k * shape.group + a / shape.block;
    if (row < shape.rows) x[out(own.first + lane, row) + a % shape.block * out.component_stride] = sum;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const int          S = shape.size(), all = shape.equations(), n = all * S;
    const std::int64_t begin = team.league_rank() * lanes, lines = in.lines();
    Scalar *const      r = reinterpret_cast<Scalar *>(team.scratch());
    const Lines        own{begin, static_cast<int>(lines - begin < lanes ? lines - begin : lanes), n, r,
                    r + lanes * n};
    device::Threads<Idle, Team> threads(team, team.scratch());
    // calls work(lane, j, a) for component a of equation j of `count`, for all lines of the team
    const auto share = [&](int count, const auto &work) {
      threads.for_each([&](int v, Idle &) {
        for (int e = v; e < own.count * count * S; e += team.size())
          work(e / (count * S), e / S % count, e % S);
      });
      team.barrier();
    };
    share(all, [&](int lane, int k, int a) { load(own, lane, k, a); });
    Level level{0, all, 0};
    for (; level.count > 1; level.count = shape.kept(level.count), ++level.number) {
      share(shape.kept(level.count), [&](int lane, int j, int a) { reduce(own, level, lane, j, a); });
      level.at += shape.words(level.count);
    }
    for (; level.number >= 0; --level.number) {
      level.count = all >> level.number;
      share(shape.left_out(level.count), [&](int lane, int j, int a) { substitute(own, level, lane, j, a); });
      if (level.number > 0) level.at -= shape.words(all >> (level.number - 1));
    }
  }
};

} // namespace ribbon

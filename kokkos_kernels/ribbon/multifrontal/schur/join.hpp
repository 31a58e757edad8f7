// SPDX-License-Identifier: BSD-2-Clause
/// @file join.hpp  Elimination of joins without pivots, of any half-bandwidth.
#pragma once

#include <ribbon/device/lane_sum.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/schur/factors.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// A team has a join. The front, 3 w x 3 w, is in scratch by columns: those of its cut, of the cut before,
/// of the cut after; some lanes share a column. Gauss-Jordan steps on the cut produce the inverse there,
/// and the front to pass on elsewhere. The last of two teams that reach a node continues with it.
template <class Scalar>
struct SchurJoinKernel {
  static constexpr int max_threads = 512;
  using Statistics                 = PivotStatistics<real_t<Scalar>>;
  /// A team has `columns` (at least 3 w) times `parts` threads, whole warps on a device; 2^row_bits lanes
  /// load a row.
  struct Shape {
    int columns, parts, row_bits;
  };
  Tree                 tree;
  SchurFactors<Scalar> factors;
  Arrivals             arrivals;
  Shape                shape;

  struct Scratch {
    Scalar         *front;    ///< (3 w, ld)
    Scalar         *pivot[2]; ///< column of the pivot, alternating between steps
    real_t<Scalar> *size;     ///< (w, 2) |d_k|, and the largest entry of its column from row k on
    int            *flag;

    KOKKOS_INLINE_FUNCTION static int ld(int w, int parts)
    {
      return ((3 * w + parts - 1) / parts | 1) * parts;
    }
    KOKKOS_INLINE_FUNCTION static int scalars(int w, const Shape &shape)
    {
      return 3 * w * ld(w, shape.parts) + 6 * w;
    }
    static std::size_t bytes(int w, const Shape &shape)
    {
      return device::align16(static_cast<std::size_t>(scalars(w, shape)) * sizeof(Scalar)) +
             device::align16(2 * static_cast<std::size_t>(w) * sizeof(real_t<Scalar>)) + 16;
    }
    KOKKOS_INLINE_FUNCTION Scratch(char *memory, int w, const Shape &shape)
    {
      front    = reinterpret_cast<Scalar *>(memory);
      pivot[0] = front + 3 * w * ld(w, shape.parts);
      pivot[1] = pivot[0] + 3 * w;
      memory += device::align16(static_cast<std::size_t>(scalars(w, shape)) * sizeof(Scalar));
      size = reinterpret_cast<real_t<Scalar> *>(memory);
      flag = reinterpret_cast<int *>(
        memory + device::align16(2 * static_cast<std::size_t>(w) * sizeof(real_t<Scalar>)));
    }
  };

  KOKKOS_INLINE_FUNCTION Scalar gathered(std::int64_t chain, int level, std::int64_t node, int i, int c) const
  {
    const int     w      = cut_width(tree.chain);
    const bool    closes = level > tree.levels;
    const Scalar *before = factors.front_of(tree, chain, level - 1, closes ? 0 : 2 * node),
                 *behind = factors.front_of(tree, chain, level - 1, closes ? 0 : 2 * node + 1);
    const auto at        = [&](const Scalar *front, int r, int m) { return front[r * 2 * w + m]; };
    if (i < w && c < w)
      return closes
               ? at(before, i, c) + at(before, w + i, w + c) + at(before, i, w + c) + at(before, w + i, c)
               : at(before, w + i, w + c) + at(behind, i, c);
    if (closes) return Scalar(0);
    if (i < 2 * w && c < 2 * w) return at(before, i < w ? w + i : i - w, c < w ? w + c : c - w);
    const bool near_i = i < w || i >= 2 * w, near_c = c < w || c >= 2 * w;
    return near_i && near_c ? at(behind, i < w ? i : i - w, c < w ? c : c - w) : Scalar(0);
  }

  /// Step k for one lane's column; column k + 1 is copied for the next step.
  KOKKOS_INLINE_FUNCTION void eliminate(const Scratch &s, int k, int v) const
  {
    const int  w = cut_width(tree.chain), parts = shape.parts, c = v / parts, part = v % parts;
    const bool has_column = c < 3 * w;
    Scalar    *column     = s.front + (has_column ? c : 0) * Scratch::ld(w, parts),
           *next          = c == k + 1 && c < w ? s.pivot[(k + 1) % 2] : nullptr;
    const Scalar *pivot   = s.pivot[k % 2];
    const Scalar d = pivot[k] == Scalar(0) ? Scalar(0) : reciprocal(pivot[k]), f = c == k ? d : column[k] * d;
    device::lane_barrier(32); // row k has been read
    if (!has_column) return;
    for (int i = part; i < 3 * w; i += 4 * parts) {
      Scalar a[4];
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) {
        const int at = i + u * parts < 3 * w ? i + u * parts : i;
        a[u]         = at == k ? f : (c == k ? Scalar(0) : column[at]) - pivot[at] * f;
      }
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) {
        const int at = i + u * parts;
        if (at >= 3 * w) continue;
        column[at] = a[u];
        if (next) next[at] = a[u];
      }
    }
  }
  /// |d_k| and the largest entry of its column.
  KOKKOS_INLINE_FUNCTION void look(const Scratch &s, int k) const
  {
    const Scalar  *pivot = s.pivot[k % 2];
    real_t<Scalar> most  = 0;
    for (int i = k; i < 3 * cut_width(tree.chain); ++i)
      if (magnitude(pivot[i]) > most) most = magnitude(pivot[i]);
    s.size[2 * k] = magnitude(pivot[k]), s.size[2 * k + 1] = most;
  }
  KOKKOS_INLINE_FUNCTION void keep(const typename SchurFactors<Scalar>::Join &join, Scalar *front, int i,
                                   int c, const Scalar &a) const
  {
    const int w = cut_width(tree.chain);
    if (c < w && i < w) join.inverse[i * w + c] = a;
    else if (c < w) join.lower[c * 2 * w + i - w] = -a;
    else if (i < w) join.upper[i * 2 * w + c - w] = a;
    else front[(i - w) * 2 * w + c - w] = a;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void join(const Team &team, const Scratch &s, std::int64_t chain, int level,
                                   std::int64_t node) const
  {
    const int  w = cut_width(tree.chain), ld = Scratch::ld(w, shape.parts), threads = team.size();
    const auto phase = [&](const auto &body) {
      if constexpr (Team::is_virtual)
        for (int v = 0; v < team.size(); ++v) body(v);
      else body(team.rank());
      team.barrier();
    };
    const int lanes = 1 << shape.row_bits; // of a row
    phase([&](int v) {
      for (int c = v & (lanes - 1); c < 3 * w; c += lanes)
        device::copy_in_fours(
          v >> shape.row_bits, threads >> shape.row_bits, 3 * w,
          [&](int i) { return gathered(chain, level, node, i, c); },
          [&](int i, const Scalar &a) {
            s.front[c * ld + i] = a;
            if (c == 0) s.pivot[0][i] = a;
          });
    });
    for (int k = 0; k < w; ++k)
      phase([&](int v) {
        if (v == threads - 1) look(s, k);
        eliminate(s, k, v);
      });
    phase([&](int v) {
      const auto join  = factors.join_of(tree, chain, level, node);
      Scalar    *front = factors.front_of(tree, chain, level, node);
      for (int c = v & (lanes - 1); c < 3 * w; c += lanes)
        for (int i = v >> shape.row_bits; i < 3 * w; i += threads >> shape.row_bits)
          keep(join, front, i, c, s.front[c * ld + i]);
      if (v != threads - 1) return;
      const bool closes  = level > tree.levels;
      Statistics watched = factors.statistics(tree, chain, level - 1, closes ? 0 : 2 * node);
      if (!closes) watched.join(factors.statistics(tree, chain, level - 1, 2 * node + 1));
      for (int k = 0; k < w; ++k) {
        const std::int64_t at = tree.cut(level, node) - w + k;
        watched.take(s.size[2 * k], s.size[2 * k + 1],
                     chain * tree.chain.rows + (at < 0 ? at + tree.chain.rows : at));
      }
      factors.statistics(tree, chain, level, node) = watched;
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t lowest = tree.count[tree.stage_top(0)], chain = team.league_rank() / lowest;
    const Scratch      s(team.scratch(), cut_width(tree.chain), shape);
    climb(team, tree, arrivals, chain, team.league_rank() % lowest, 0, 1, s.flag,
          [&](const Levels &levels, std::int64_t top) {
            for (int level = levels.bottom + 1; level <= levels.top; ++level) {
              const NodeRange nodes = tree.below(levels.top, top, level);
              for (std::int64_t node = nodes.begin; node < nodes.end; ++node)
                if (tree.is_join(level, node)) join(team, s, chain, level, node);
            }
          });
  }
};

} // namespace ribbon::multifrontal

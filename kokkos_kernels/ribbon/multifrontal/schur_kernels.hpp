// SPDX-License-Identifier: BSD-2-Clause
/// @file schur_kernels.hpp  Kernels of the tree of Schur complements (schur_factors.hpp). K: the half-bandwidth, where it has kernels of its own, or 0.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/schur_factors.hpp>

namespace ribbon::multifrontal {

/// A thread has a leaf: a window of w + 1 rows slides along it, with the rows and columns of the cut before it.
template <class Scalar, int K>
struct SchurLeafKernel {
  static constexpr int max_threads = K > 0 ? 64 : 32;
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  SchurFactors<Scalar> factors;

  /// Numbers of the window: rows as bands, the columns of the cut before, its rows, their corner.
  KOKKOS_INLINE_FUNCTION static constexpr int window(int w) { return (w + 1) * (2 * w + 1) + 2 * w * (w + 1) + w * w; }
  /// Scratch of a thread: a row that arrives, and the window where it is not in registers.
  static std::size_t bytes(int w) { return device::align16(sizeof(Scalar) * static_cast<std::size_t>(2 * w + 1 + (K > 0 ? 0 : window(w)))); }

  template <class Matrix, class Window>
  KOKKOS_INLINE_FUNCTION void eliminate(const Matrix &matrix, const SchurLeaf &leaf, Window &a, Scalar *arriving) const
  {
    const Chain &chain = tree.chain;
    const int    w = K ? K : cut_width(chain), ld = 2 * w + 1, stride = factors.together;
    const auto   row    = [&](int r, int d) -> Scalar      &{ return a[r * ld + w + d]; };
    const auto   before = [&](int r, int k) -> Scalar   &{ return a[(w + 1) * ld + r * w + k]; };             // columns of the cut before
    const auto   above  = [&](int k, int c) -> Scalar    &{ return a[(w + 1) * (ld + w) + k * (w + 1) + c]; }; // its rows
    const auto   corner = [&](int k, int m) -> Scalar   &{ return a[(w + 1) * (ld + 2 * w) + k * w + m]; };
    const auto   arrive = [&](std::int64_t i) { // place i of the chain
      for (int k = 0; k < ld; ++k) arriving[k] = Scalar(0);
      const std::int64_t r = matrix.row(chain, leaf.chain, i);
      for (int e = 0, n = matrix.entries(r); e < n; ++e) {
          int          distance;
          const Scalar value     = matrix.entry(chain, leaf.chain, i, r, e, distance);
          arriving[w + distance] = value;
      }
    };
    const auto load = [&](int slot, int i) { // row i of the leaf
      if (i < leaf.rows) arrive(leaf.first + i);
      RIBBON_UNROLL
      for (int d = -w; d <= w; ++d) row(slot, d) = i < leaf.rows ? arriving[w + d] : Scalar(0);
      if (leaf.left) {
        RIBBON_UNROLL
        for (int k = 0; k < w; ++k) before(slot, k) = i < leaf.rows && k - i >= 0 ? arriving[k - i] : Scalar(0);
      }
    };
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) {
      RIBBON_UNROLL
      for (int m = 0; m < w; ++m) corner(k, m) = Scalar(0);
      if (leaf.left) arrive(leaf.first - w + k + (leaf.first == 0 ? chain.rows : 0));
      RIBBON_UNROLL
      for (int c = 0; c <= w; ++c) above(k, c) = leaf.left && w - k + c <= w ? arriving[2 * w - k + c] : Scalar(0);
      load(k, k);
    }
    const std::int64_t number = leaf.chain * tree.leaves + leaf.node;
    Scalar            *l = factors.lower + factors.place(tree, leaf.chain, leaf.node, factors.numbers), *u = factors.upper + factors.place(tree, leaf.chain, leaf.node, factors.numbers),
           *p = factors.pivot + factors.place(tree, leaf.chain, leaf.node, 1);
    Statistics statistics;
    for (int j = 0; j < leaf.own; ++j, l += factors.numbers * stride, u += factors.numbers * stride, p += stride) {
      load(w, j + w);
      const Scalar d    = row(0, 0) == Scalar(0) ? Scalar(0) : reciprocal(row(0, 0)); // what follows stays finite
      Real         most = magnitude(row(0, 0));
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) most = magnitude(row(r, -r)) > most ? magnitude(row(r, -r)) : most;
      statistics.take(magnitude(row(0, 0)), most, leaf.chain * chain.rows + leaf.first + j);
      p[0] = d;
      RIBBON_UNROLL
      for (int c = 1; c <= w; ++c) u[(c - 1) * stride] = row(0, c) * d;
      if (leaf.left) {
        RIBBON_UNROLL
        for (int k = 0; k < w; ++k) u[(w + k) * stride] = before(0, k) * d;
        RIBBON_UNROLL
        for (int k = 0; k < w; ++k) {
          const Scalar f      = above(k, 0) * d;
          l[(w + k) * stride] = f;
          RIBBON_UNROLL
          for (int c = 1; c <= w; ++c) above(k, c - 1) = above(k, c) - f * row(0, c);
          above(k, w) = Scalar(0);
          RIBBON_UNROLL
          for (int m = 0; m < w; ++m) corner(k, m) -= f * before(0, m);
        }
      }
      Scalar first[K > 0 ? K + 1 : 1]; // the pivot's row, which the window is moved over
      if constexpr (K > 0) {
        RIBBON_UNROLL
        for (int c = 0; c <= w; ++c) first[c] = row(0, c);
      } else
        for (int c = 0; c <= w; ++c) arriving[c] = row(0, c);
      const Scalar *pivot = K > 0 ? first : arriving;
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) {
        const Scalar f      = row(r, -r) * d;
        l[(r - 1) * stride] = f;
        RIBBON_UNROLL
        for (int c = 1; c <= w; ++c) row(r, c - r) -= f * pivot[c];
        if (leaf.left) {
          RIBBON_UNROLL
          for (int k = 0; k < w; ++k) before(r, k) -= f * before(0, k);
        }
      }
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) {
        RIBBON_UNROLL
        for (int c = -w; c <= w; ++c) row(r - 1, c) = row(r, c);
      }
      if (leaf.left) {
        RIBBON_UNROLL
        for (int r = 1; r <= w; ++r) {
          RIBBON_UNROLL
          for (int k = 0; k < w; ++k) before(r - 1, k) = before(r, k);
        }
      }
    }
    Scalar *front = factors.front + number * SchurFactors<Scalar>::front_size(w);
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) {
      RIBBON_UNROLL
      for (int m = 0; m < w; ++m) {
        front[k * 2 * w + m]           = corner(k, m);
        front[k * 2 * w + w + m]       = leaf.left && leaf.right ? above(k, m) : Scalar(0);
        front[(w + k) * 2 * w + m]     = leaf.left && leaf.right ? before(k, m) : Scalar(0);
        front[(w + k) * 2 * w + w + m] = leaf.right ? row(k, m - k) : Scalar(0);
      }
    }
    factors.leaf_statistics[number] = statistics;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const int         w      = cut_width(tree.chain);
    const std::size_t mine   = K > 0 ? sizeof(Scalar) * static_cast<std::size_t>(2 * w + 1) : sizeof(Scalar) * static_cast<std::size_t>(2 * w + 1 + window(w));
    const auto        thread = [&](int v, int slot) {
      const std::int64_t leaf = team.league_rank() * team.size() + v;
      if (leaf >= tree.chain.chains * tree.leaves) return;
      auto *arriving = reinterpret_cast<Scalar *>(team.scratch() + static_cast<std::size_t>(slot) * ((mine + 15) / 16 * 16));
      if constexpr (K > 0) {
        Scalar a[window(K)];
        A.with_indices([&](const auto &matrix) { eliminate(matrix, SchurLeaf(tree, leaf / tree.leaves, leaf % tree.leaves), a, arriving); });
      } else {
        Scalar *a = arriving + 2 * w + 1;
        A.with_indices([&](const auto &matrix) { eliminate(matrix, SchurLeaf(tree, leaf / tree.leaves, leaf % tree.leaves), a, arriving); });
      }
    };
    if constexpr (Team::is_virtual)
      for (int v = 0; v < team.size(); ++v) thread(v, 0);
    else thread(team.rank(), team.rank());
  }
};

/// A lane has a column of the front of a join, 3 w x 3 w: of its cut, of the cut before, of that behind. Gauss and Jordan's steps on the cut leave the inverse there and what is passed on elsewhere.
template <class Scalar, int K>
struct SchurJoinKernel {
  static constexpr int max_threads = 256;
  using Statistics                 = PivotStatistics<real_t<Scalar>>;
  Tree                 tree;
  Levels               levels;
  Groups               shape; ///< at least 3 w lanes
  SchurFactors<Scalar> factors;

  struct Lane {
    Scalar column[K > 0 ? 3 * K : 1];
  };
  KOKKOS_INLINE_FUNCTION static int         numbers(int w) { return K > 0 ? 2 * 3 * w : 2 * 3 * w + 9 * w * w; } ///< two pivot columns, and the front where it is not in registers
  KOKKOS_INLINE_FUNCTION static std::size_t shared_bytes(int w) { return (sizeof(Scalar) * static_cast<std::size_t>(numbers(w)) + 15) / 16 * 16 + (sizeof(Statistics) + 15) / 16 * 16; }
  static std::size_t                        scratch(int w, const Groups &g, bool virtual_threads)
  {
    return static_cast<std::size_t>(g.groups) * shared_bytes(w) + (virtual_threads ? static_cast<std::size_t>(g.groups * g.lanes) * device::align16(sizeof(Lane)) : 0);
  }

  KOKKOS_INLINE_FUNCTION Scalar gathered(std::int64_t chain, int level, std::int64_t node, int i, int c) const
  {
    const int     w      = K ? K : cut_width(tree.chain);
    const bool    closes = level > tree.levels;
    const Scalar *before = factors.front_of(tree, chain, level - 1, closes ? 0 : 2 * node), *behind = factors.front_of(tree, chain, level - 1, closes ? 0 : 2 * node + 1);
    const auto    at = [&](const Scalar *front, int r, int m) { return front[r * 2 * w + m]; };
    if (i < w && c < w) return closes ? at(before, i, c) + at(before, w + i, w + c) + at(before, i, w + c) + at(before, w + i, c) : at(before, w + i, w + c) + at(behind, i, c);
    if (closes) return Scalar(0);
    if (i < 2 * w && c < 2 * w) return at(before, i < w ? w + i : i - w, c < w ? w + c : c - w);
    const bool near_i = i < w || i >= 2 * w, near_c = c < w || c >= 2 * w;
    return near_i && near_c ? at(behind, i < w ? i : i - w, c < w ? c : c - w) : Scalar(0);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const int                   w     = K ? K : cut_width(tree.chain);
    const std::int64_t          chain = team.league_rank() / tree.count[levels.top], top = team.league_rank() % tree.count[levels.top];
    device::Threads<Lane, Team> lanes(team, team.scratch() + static_cast<std::size_t>(shape.groups) * shared_bytes(w));
    for (int level = levels.bottom + 1; level <= levels.top; ++level) {
      const NodeRange nodes = tree.below(levels.top, top, level);
      for (std::int64_t base = nodes.begin; base < nodes.end; base += shape.groups) {
        const auto phase = [&](const auto &body) { // body(node, lane, column(i), pivot columns, statistics)
          lanes.for_each([&](int v, Lane &mine) {
            const int          group = v / shape.lanes, c = v % shape.lanes;
            const std::int64_t node = base + group;
            if (group >= shape.groups || node >= nodes.end || (c >= 3 * w && c > 0) || !tree.is_join(level, node)) return;
            char *memory = team.scratch() + static_cast<std::size_t>(group) * shared_bytes(w);
            auto *shared = reinterpret_cast<Scalar *>(memory);
            body(
              node, c,
              [&](int i) -> Scalar & {
                if constexpr (K > 0) return mine.column[i];
                else return shared[6 * w + c * 3 * w + i];
              },
              shared, *reinterpret_cast<Statistics *>(memory + shared_bytes(w) - (sizeof(Statistics) + 15) / 16 * 16));
          });
          team.barrier();
        };
        const auto offer = [&](std::int64_t node, int k, const auto &column, Scalar *shared, Statistics &statistics) { // column k is the next pivot's
          real_t<Scalar> most = 0;
          RIBBON_UNROLL
          for (int i = 0; i < 3 * w; ++i) {
            shared[k % 2 * 3 * w + i] = column(i);
            if (i >= k && magnitude(column(i)) > most) most = magnitude(column(i));
          }
          const std::int64_t at = tree.cut(level, node) - w + k;
          statistics.take(magnitude(column(k)), most, chain * tree.chain.rows + (at < 0 ? at + tree.chain.rows : at));
        };
        phase([&](std::int64_t node, int c, const auto &column, Scalar *shared, Statistics &statistics) {
          if (c < 3 * w) {
            RIBBON_UNROLL
            for (int i = 0; i < 3 * w; ++i) column(i) = gathered(chain, level, node, i, c);
          }
          if (c > 0) return;
          const bool closes = level > tree.levels;
          statistics        = factors.statistics(tree, chain, level - 1, closes ? 0 : 2 * node);
          if (!closes) statistics.join(factors.statistics(tree, chain, level - 1, 2 * node + 1));
          if (w > 0) offer(node, 0, column, shared, statistics);
        });
        RIBBON_UNROLL
        for (int k = 0; k < w; ++k)
          phase([&](std::int64_t node, int c, const auto &column, Scalar *shared, Statistics &statistics) {
            const Scalar *pivot = shared + k % 2 * 3 * w;
            const Scalar  d = pivot[k] == Scalar(0) ? Scalar(0) : reciprocal(pivot[k]), f = c == k ? d : column(k) * d;
            RIBBON_UNROLL
            for (int i = 0; i < 3 * w; ++i)
              if (i != k) column(i) = (c == k ? Scalar(0) : column(i)) - pivot[i] * f;
            column(k) = f;
            if (c == k + 1 && c < w) offer(node, c, column, shared, statistics);
          });
        phase([&](std::int64_t node, int c, const auto &column, Scalar *, Statistics &statistics) {
          const auto join  = factors.join_of(tree, chain, level, node);
          Scalar    *front = factors.front_of(tree, chain, level, node);
          RIBBON_UNROLL
          for (int i = 0; i < 3 * w; ++i) {
            if (c >= 3 * w) continue;
            if (c < w && i < w) join.inverse[i * w + c] = column(i);
            else if (c < w) join.lower[c * 2 * w + i - w] = -column(i);
            else if (i < w) join.upper[i * 2 * w + c - w] = column(i);
            else front[(i - w) * 2 * w + c - w] = column(i);
          }
          if (c == 0) factors.statistics(tree, chain, level, node) = statistics;
        });
      }
    }
  }
};

/// Leaves: a thread has a leaf and C columns.
template <class Scalar, int K, int C>
struct SchurLeafSolveKernel {
  static constexpr int max_threads = 64;
  SchurSolve<Scalar>   solve;
  bool                 up;

  static std::size_t bytes(int w, int threads) { return K > 0 ? 0 : device::align16(sizeof(Scalar) * static_cast<std::size_t>(2 * w * threads)); }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree        &tree   = solve.at.tree;
    const std::int64_t leaves = tree.chain.chains * tree.leaves;
    const auto         thread = [&](int v, int slot, int slots) {
      const std::int64_t item = team.league_rank() * team.size() + v, leaf = item % leaves, column = item / leaves * C;
      if (column >= solve.at.v.columns) return;
      Scalar     mine[K > 0 ? C * 2 * K : 1];
      Scalar    *shared  = reinterpret_cast<Scalar *>(team.scratch());
      const auto numbers = [&](int c, int k) -> Scalar         &{
        if constexpr (K > 0) return mine[c * 2 * K + k];
        else return shared[k * slots + slot];
      };
      const SchurLeaf at(tree, leaf / tree.leaves, leaf % tree.leaves);
      const auto      columns = [&](auto N, std::int64_t first) {
        if (up) solve.template leaf_up<K, decltype(N)::value>(at, first, numbers);
        else solve.template leaf_down<K, decltype(N)::value>(at, first, numbers);
      };
      if (column + C <= solve.at.v.columns) columns(std::integral_constant<int, C>(), column);
      else
        for (std::int64_t c = column; c < solve.at.v.columns; ++c) columns(std::integral_constant<int, 1>(), c);
    };
    if constexpr (Team::is_virtual)
      for (int v = 0; v < team.size(); ++v) thread(v, 0, 1);
    else thread(team.rank(), team.rank(), team.size());
  }
};

/// Joins of some levels for a block of columns: a thread has a row of a join and a column.
template <class Scalar>
struct SchurJoinSolveKernel {
  static constexpr int max_threads = 256;
  SchurSolve<Scalar>   solve;
  Levels               levels;
  bool                 up;
  int                  block; ///< columns of a team

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree        &tree = solve.at.tree;
    const int          w = cut_width(tree.chain), count = up ? 3 * w : w;
    const std::int64_t blocks = (solve.at.v.columns + block - 1) / block, node_of_top = team.league_rank() / blocks, column0 = team.league_rank() % blocks * block;
    const int          columns = static_cast<int>(solve.at.v.columns - column0 < block ? solve.at.v.columns - column0 : block);
    const std::int64_t chain = node_of_top / tree.count[levels.top], top = node_of_top % tree.count[levels.top];
    for (int k = levels.bottom + 1; k <= levels.top; ++k) {
      const int       level = up ? k : levels.top + levels.bottom + 1 - k;
      const NodeRange nodes = tree.below(levels.top, top, level);
      const int       items = static_cast<int>(nodes.end - nodes.begin) * count * columns;
      const auto      body  = [&](int item) {
        const int          pair = item / columns, place = pair / count;
        const std::int64_t node = nodes.begin + place;
        if (!tree.is_join(level, node)) return;
        if (up) solve.join_up(chain, level, node, pair - place * count, column0 + item - pair * columns);
        else solve.join_down(chain, level, node, pair - place * count, column0 + item - pair * columns);
      };
      if constexpr (Team::is_virtual)
        for (int item = 0; item < items; ++item) body(item);
      else
        for (int item = team.rank(); item < items; item += team.size()) body(item);
      team.barrier();
    }
  }
};

} // namespace ribbon::multifrontal

// SPDX-License-Identifier: BSD-2-Clause
/// @file kernels.hpp  Kernels of the tree of Schur complements (schur/factors.hpp): leaves on hosts for
///   half-bandwidths known at compile time, and joins in a solve.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/schur/factors.hpp>

namespace ribbon::multifrontal {

/// A thread has a leaf: a window of K + 1 rows slides along it in registers, with the rows and columns of
/// the cut before it. For hosts.
template <class Scalar, int K>
struct SchurLeafKernel {
  static constexpr int max_threads = 64;
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  SchurFactors<Scalar> factors;

  /// Values of the window: rows as bands, the columns of the cut before, its rows, their corner.
  KOKKOS_INLINE_FUNCTION static constexpr int window(int w)
  {
    return (w + 1) * (2 * w + 1) + 2 * w * (w + 1) + w * w;
  }
  template <class Matrix>
  KOKKOS_INLINE_FUNCTION void eliminate(const Matrix &matrix, const SchurLeaf &leaf) const
  {
    constexpr int w = K, ld = 2 * w + 1;
    const Chain  &chain  = tree.chain;
    const int     stride = factors.together;
    Scalar        a[window(K)], arriving[ld];
    const auto    row = [&](int r, int d) -> Scalar    &{ return a[r * ld + w + d]; };
    // columns of the cut before
    const auto before = [&](int r, int k) -> Scalar & { return a[(w + 1) * ld + r * w + k]; };
    // its rows
    const auto above  = [&](int k, int c) -> Scalar  &{ return a[(w + 1) * (ld + w) + k * (w + 1) + c]; };
    const auto corner = [&](int k, int m) -> Scalar & { return a[(w + 1) * (ld + 2 * w) + k * w + m]; };
    const auto arrive = [&](std::int64_t i) { // place i of the chain
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
        for (int k = 0; k < w; ++k)
          before(slot, k) = i < leaf.rows && k - i >= 0 ? arriving[k - i] : Scalar(0);
      }
    };
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) {
      RIBBON_UNROLL
      for (int m = 0; m < w; ++m) corner(k, m) = Scalar(0);
      if (leaf.left) arrive(leaf.first - w + k + (leaf.first == 0 ? chain.rows : 0));
      RIBBON_UNROLL
      for (int c = 0; c <= w; ++c)
        above(k, c) = leaf.left && w - k + c <= w ? arriving[2 * w - k + c] : Scalar(0);
      load(k, k);
    }
    const std::int64_t number = leaf.chain * tree.leaves + leaf.node;
    Scalar            *l      = factors.lower + factors.place(tree, leaf.chain, leaf.node, factors.numbers),
           *u                 = factors.upper + factors.place(tree, leaf.chain, leaf.node, factors.numbers),
           *p                 = factors.pivot + factors.place(tree, leaf.chain, leaf.node, 1);
    Statistics statistics;
    for (int j = 0; j < leaf.own;
         ++j, l += factors.numbers * stride, u += factors.numbers * stride, p += stride) {
      load(w, j + w);
      // a zero reciprocal keeps the later values finite
      const Scalar d    = row(0, 0) == Scalar(0) ? Scalar(0) : reciprocal(row(0, 0));
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
      Scalar pivot[K + 1]; // the window moves over this row
      RIBBON_UNROLL
      for (int c = 0; c <= w; ++c) pivot[c] = row(0, c);
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
    const auto thread = [&](int v) {
      const std::int64_t leaf = team.league_rank() * team.size() + v;
      if (leaf < tree.chain.chains * tree.leaves)
        A.with_indices([&](const auto &matrix) {
          eliminate(matrix, SchurLeaf(tree, leaf / tree.leaves, leaf % tree.leaves));
        });
    };
    if constexpr (Team::is_virtual)
      for (int v = 0; v < team.size(); ++v) thread(v);
    else thread(team.rank());
  }
};

/// Leaves on hosts: a thread has a leaf and C columns.
template <class Scalar, int K, int C>
struct SchurLeafSolveKernel {
  static constexpr int max_threads = 64;
  SchurSolve<Scalar>   solve;
  bool                 up;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree        &tree   = solve.at.tree;
    const std::int64_t leaves = tree.chain.chains * tree.leaves;
    const auto         thread = [&](int v) {
      const std::int64_t item = team.league_rank() * team.size() + v, leaf = item % leaves,
                         column = item / leaves * C;
      if (column >= solve.at.v.columns) return;
      Scalar          mine[C * 2 * K];
      const auto      numbers = [&](int c, int k) -> Scalar              &{ return mine[c * 2 * K + k]; };
      const SchurLeaf at(tree, leaf / tree.leaves, leaf % tree.leaves);
      const auto      columns = [&](auto N, std::int64_t first) {
        if (up) solve.template leaf_up<K, decltype(N)::value>(at, first, numbers);
        else solve.template leaf_down<K, decltype(N)::value>(at, first, numbers);
      };
      if (column + C <= solve.at.v.columns) columns(std::integral_constant<int, C>(), column);
      else
        for (std::int64_t c = column; c < solve.at.v.columns; ++c)
          columns(std::integral_constant<int, 1>(), c);
    };
    if constexpr (Team::is_virtual)
      for (int v = 0; v < team.size(); ++v) thread(v);
    else thread(team.rank());
  }
};

/// Joins of some levels for a block of columns: a thread has a row of a join and a column.
template <class Scalar>
struct SchurJoinSolveKernel {
  static constexpr int max_threads = 256;
  SchurSolve<Scalar>   solve;
  Levels               levels;
  bool                 up;
  int                  block; ///< columns per team

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree        &tree = solve.at.tree;
    const int          w = cut_width(tree.chain), count = up ? 3 * w : w;
    const std::int64_t blocks      = (solve.at.v.columns + block - 1) / block,
                       node_of_top = team.league_rank() / blocks,
                       column0     = team.league_rank() % blocks * block;
    const int columns =
      static_cast<int>(solve.at.v.columns - column0 < block ? solve.at.v.columns - column0 : block);
    const std::int64_t chain = node_of_top / tree.count[levels.top],
                       top   = node_of_top % tree.count[levels.top];
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

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

  static constexpr int w = K, ld = 2 * w + 1;

  /// w + 1 rows of a leaf, with the rows and columns of the cut before it, if there is one (`left`). All
  /// places are known at compile time.
  struct Window {
    /// rows as bands, the columns of the cut before, its rows, their corner
    Scalar a[(w + 1) * ld + 2 * w * (w + 1) + w * w];
    Scalar arriving[ld]; ///< a row of the matrix, by diagonals

    KOKKOS_FORCEINLINE_FUNCTION Scalar &row(int r, int d) { return a[r * ld + w + d]; }
    KOKKOS_FORCEINLINE_FUNCTION Scalar &before(int r, int k) { return a[(w + 1) * ld + r * w + k]; }
    KOKKOS_FORCEINLINE_FUNCTION Scalar &above(int k, int c)
    {
      return a[(w + 1) * (ld + w) + k * (w + 1) + c];
    }
    KOKKOS_FORCEINLINE_FUNCTION Scalar &corner(int k, int m) { return a[(w + 1) * (ld + 2 * w) + k * w + m]; }

    /// Divides the pivot row by the pivot, whose reciprocal is d. The largest entry of the column is `most`.
    KOKKOS_FORCEINLINE_FUNCTION void divide(const Scalar &d, Scalar *u, int stride, bool left, Real &most)
    {
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) most = magnitude(row(r, -r)) > most ? magnitude(row(r, -r)) : most;
      RIBBON_UNROLL
      for (int c = 1; c <= w; ++c) u[(c - 1) * stride] = row(0, c) * d;
      if (!left) return;
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) u[(w + k) * stride] = before(0, k) * d;
    }
    /// Subtracts the pivot row from the rows of the cut, whose columns move by one.
    KOKKOS_FORCEINLINE_FUNCTION void eliminate_above(const Scalar &d, Scalar *l, int stride)
    {
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
    /// Subtracts the pivot row from the rows below.
    KOKKOS_FORCEINLINE_FUNCTION void eliminate_below(const Scalar &d, Scalar *l, int stride, bool left)
    {
      Scalar pivot[K + 1]; // the window moves over this row
      RIBBON_UNROLL
      for (int c = 0; c <= w; ++c) pivot[c] = row(0, c);
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) {
        const Scalar f      = row(r, -r) * d;
        l[(r - 1) * stride] = f;
        RIBBON_UNROLL
        for (int c = 1; c <= w; ++c) row(r, c - r) -= f * pivot[c];
        if (left) {
          RIBBON_UNROLL
          for (int k = 0; k < w; ++k) before(r, k) -= f * before(0, k);
        }
      }
    }
    /// Moves the window by a row.
    KOKKOS_FORCEINLINE_FUNCTION void shift(bool left)
    {
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) {
        RIBBON_UNROLL
        for (int c = -w; c <= w; ++c) row(r - 1, c) = row(r, c);
      }
      if (!left) return;
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) {
        RIBBON_UNROLL
        for (int k = 0; k < w; ++k) before(r - 1, k) = before(r, k);
      }
    }
    /// Stores the values that the leaf passes on: those of the cuts before and after it.
    KOKKOS_FORCEINLINE_FUNCTION void store(Scalar *front, bool left, bool right)
    {
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) {
        RIBBON_UNROLL
        for (int m = 0; m < w; ++m) {
          front[k * 2 * w + m]           = corner(k, m);
          front[k * 2 * w + w + m]       = left && right ? above(k, m) : Scalar(0);
          front[(w + k) * 2 * w + m]     = left && right ? before(k, m) : Scalar(0);
          front[(w + k) * 2 * w + w + m] = right ? row(k, m - k) : Scalar(0);
        }
      }
    }
  };

  /// Reads the row at place i of the chain.
  template <class Matrix>
  KOKKOS_FORCEINLINE_FUNCTION void read(const Matrix &matrix, const SchurLeaf &leaf, std::int64_t i,
                                        Window &v) const
  {
    for (int k = 0; k < ld; ++k) v.arriving[k] = Scalar(0);
    const std::int64_t r = matrix.row(tree.chain, leaf.chain, i);
    for (int e = 0, n = matrix.entries(r); e < n; ++e) {
      int          distance;
      const Scalar value       = matrix.entry(tree.chain, leaf.chain, i, r, e, distance);
      v.arriving[w + distance] = value;
    }
  }
  /// Loads row i of the leaf, or zeros after its last one.
  template <class Matrix>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Matrix &matrix, const SchurLeaf &leaf, int slot, int i,
                                        Window &v) const
  {
    if (i < leaf.rows) read(matrix, leaf, leaf.first + i, v);
    RIBBON_UNROLL
    for (int d = -w; d <= w; ++d) v.row(slot, d) = i < leaf.rows ? v.arriving[w + d] : Scalar(0);
    if (!leaf.left) return;
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k)
      v.before(slot, k) = i < leaf.rows && k - i >= 0 ? v.arriving[k - i] : Scalar(0);
  }
  /// Loads the rows of the cut, and the first w rows of the leaf.
  template <class Matrix>
  KOKKOS_FORCEINLINE_FUNCTION void begin(const Matrix &matrix, const SchurLeaf &leaf, Window &v) const
  {
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) {
      RIBBON_UNROLL
      for (int m = 0; m < w; ++m) v.corner(k, m) = v.before(k, m) = Scalar(0);
      if (leaf.left) read(matrix, leaf, leaf.first - w + k + (leaf.first == 0 ? tree.chain.rows : 0), v);
      RIBBON_UNROLL
      for (int c = 0; c <= w; ++c)
        v.above(k, c) = leaf.left && w - k + c <= w ? v.arriving[2 * w - k + c] : Scalar(0);
      load(matrix, leaf, k, k, v);
    }
  }

  template <class Matrix>
  KOKKOS_INLINE_FUNCTION void eliminate(const Matrix &matrix, const SchurLeaf &leaf) const
  {
    const int stride = factors.together;
    Window    v;
    begin(matrix, leaf, v);
    const std::int64_t number = leaf.chain * tree.leaves + leaf.node;
    Scalar            *l      = factors.lower + factors.place(tree, leaf.chain, leaf.node, factors.numbers),
           *u                 = factors.upper + factors.place(tree, leaf.chain, leaf.node, factors.numbers),
           *p                 = factors.pivot + factors.place(tree, leaf.chain, leaf.node, 1);
    Statistics statistics;
    for (int j = 0; j < leaf.own;
         ++j, l += factors.numbers * stride, u += factors.numbers * stride, p += stride) {
      load(matrix, leaf, w, j + w, v);
      // a zero reciprocal keeps the later values finite
      const Scalar d    = v.row(0, 0) == Scalar(0) ? Scalar(0) : reciprocal(v.row(0, 0));
      Real         most = magnitude(v.row(0, 0));
      v.divide(d, u, stride, leaf.left, most);
      statistics.take(magnitude(v.row(0, 0)), most, leaf.chain * tree.chain.rows + leaf.first + j);
      p[0] = d;
      if (leaf.left) v.eliminate_above(d, l, stride);
      v.eliminate_below(d, l, stride, leaf.left);
      v.shift(leaf.left);
    }
    v.store(factors.front + number * SchurFactors<Scalar>::front_size(w), leaf.left, leaf.right);
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

// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_solve.hpp  Solves with the factors of a tree: right-hand sides go up the tree, solutions come down, and for the transposed matrix the other way round.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

/// Right-hand sides and solutions, by columns. Places before and behind a piece of a chain lie in arrays of their own.
template <class Scalar>
struct Columns {
  const Scalar       *b   = nullptr;
  Scalar             *x   = nullptr;
  std::int64_t        ldb = 0, ldx = 0;
  std::int64_t        columns     = 1;
  const std::int64_t *row_of      = nullptr;               ///< as in ChainMatrix
  Scalar             *passed      = nullptr;               ///< (nodes, passed_rows, columns): what nodes pass up and down
  int                 passed_rows = 0;                     ///< W; transposed 2 W
  const Scalar       *before = nullptr, *behind = nullptr; ///< (W, columns): unknowns of the cuts at the ends of a piece
};

/// What one thread does with one column at one node. Up: rows of b become rows of Q^H b; down: the triangular solve.
template <class Scalar>
struct QrSolve {
  Tree            tree;
  Factors<Scalar> factors;
  Columns<Scalar> v;

  KOKKOS_INLINE_FUNCTION std::int64_t row(std::int64_t chain, std::int64_t place) const
  {
    const std::int64_t at = chain * tree.chain.rows + place;
    return v.row_of ? v.row_of[at] : at;
  }
  KOKKOS_INLINE_FUNCTION Scalar &x(std::int64_t chain, std::int64_t place, std::int64_t column) const
  {
    if (tree.chain.ring) place += place < 0 ? tree.chain.rows : place >= tree.chain.rows ? -tree.chain.rows : 0;
    return v.x[row(chain, place) + column * v.ldx];
  }
  KOKKOS_INLINE_FUNCTION Scalar b(std::int64_t chain, std::int64_t place, std::int64_t column) const { return v.b[row(chain, place) + column * v.ldb]; }
  /// Unknown k of a cut.
  KOKKOS_INLINE_FUNCTION Scalar at_cut(std::int64_t chain, std::int64_t cut, int k, std::int64_t column) const
  {
    if (cut == 0 && tree.chain.open_left) return v.before[k * v.columns + column];
    if (cut == tree.chain.rows && tree.chain.open_right) return v.behind[k * v.columns + column];
    return x(chain, cut - tree.chain.kl + k, column);
  }
  KOKKOS_INLINE_FUNCTION Scalar &passed(std::int64_t chain, int level, std::int64_t node, int k, std::int64_t column) const
  {
    tree.resolve(level, node);
    const std::int64_t number = level == 0 ? chain * tree.leaves + node : tree.chain.chains * tree.leaves + tree.join_number(chain, level, node);
    return v.passed[(number * v.passed_rows + k) * v.columns + column];
  }

  /// Numbers of one thread, `stride` apart: neighbouring threads have neighbouring ones.
  struct Work {
    Scalar                        *memory;
    int                            stride;
    KOKKOS_INLINE_FUNCTION Scalar &operator[](int k) const { return memory[k * stride]; }
  };
  /// Numbers that a thread needs.
  static int work(int W) { return 2 * W + 1; }

  KOKKOS_INLINE_FUNCTION void leaf_up(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &y) const
  {
    const int  W    = tree.chain.width();
    const Leaf leaf(tree, chain, node, true);
    for (int k = 0; k < leaf.carried; ++k) y[k] = b(chain, leaf.first + k, column);
    const Scalar *record = factors.reflection + (chain * tree.chain.rows + leaf.first) * (W + 1);
    for (int s = 0; s < leaf.own; ++s, record += W + 1) {
      const int    n        = leaf.at_step(s);
      const Scalar entering = leaf.arrives(s) ? b(chain, leaf.first + leaf.carried + s, column) : y[n];
      Scalar       sum      = entering;
      for (int k = 0; k < n; ++k) sum += conjugate(record[1 + k]) * y[k];
      sum *= record[0];
      for (int k = 0; k < n; ++k) y[k] -= record[1 + k] * sum;
      x(chain, leaf.first + leaf.begin + s, column) = entering - sum;
    }
    const NodeSize size = tree.size(0, node);
    for (int k = 0; k < size.rows; ++k) passed(chain, 0, node, k, column) = y[k];
  }

  KOKKOS_INLINE_FUNCTION void leaf_down(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &near) const
  {
    const int      W    = tree.chain.width();
    const Leaf     leaf(tree, chain, node, true);
    const NodeSize size = tree.size(0, node);
    const Work     left{&near[W + 1], near.stride};
    for (int k = 0; k < size.left; ++k) left[k] = at_cut(chain, leaf.first, k, column);
    for (int k = 0; k <= W; ++k) near[k] = Scalar(0);
    for (int k = 0; k < size.right; ++k) near[(leaf.own + k) % (W + 1)] = at_cut(chain, leaf.first + leaf.rows, k, column);
    for (int s = leaf.own - 1; s >= 0; --s) {
      const Scalar *record = factors.upper + (chain * tree.chain.rows + leaf.first + s) * (2 * W + 1);
      Scalar       &at     = x(chain, leaf.first + leaf.begin + s, column);
      Scalar        sum    = at;
      int           slot   = s % (W + 1);
      for (int k = 1; k <= W; ++k) {
        slot = slot == W ? 0 : slot + 1;
        sum -= record[k] * near[slot];
      }
      for (int k = 0; k < size.left; ++k) sum -= record[1 + W + k] * left[k];
      sum *= record[0];
      near[s % (W + 1)] = sum;
      at                                  = sum;
    }
  }

  /// The children's equations stacked: position k of them.
  KOKKOS_INLINE_FUNCTION Scalar &stacked(std::int64_t chain, int level, std::int64_t node, int k, std::int64_t column) const
  {
    if (level > tree.levels) return passed(chain, level - 1, 0, k, column);
    const int before = tree.size(level - 1, 2 * node).rows;
    return k < before ? passed(chain, level - 1, 2 * node, k, column) : passed(chain, level - 1, 2 * node + 1, k - before, column);
  }
  KOKKOS_INLINE_FUNCTION int stacked_rows(int level, std::int64_t node) const { return level > tree.levels ? tree.size(level - 1, 0).rows : tree.size(level - 1, 2 * node).rows + tree.size(level - 1, 2 * node + 1).rows; }
  /// Row r of Q^H times what the children pass; rows from W on are passed on.
  KOKKOS_INLINE_FUNCTION void join_up(std::int64_t chain, int level, std::int64_t node, int r, std::int64_t column) const
  {
    const int     W = tree.chain.width(), rows = stacked_rows(level, node);
    const Scalar *q = factors.join_at(tree, chain, level, node).q + r;
    if (r >= rows) return;
    Scalar sum(0);
    for (int k = 0; k < rows; ++k) sum += q[k * 2 * W] * stacked(chain, level, node, k, column);
    if (r < W) x(chain, tree.cut(level, node) - tree.chain.kl + r, column) = sum;
    else passed(chain, level, node, r - W, column) = sum;
  }
  /// Takes what the unknowns of the cuts before and behind make out of row r.
  KOKKOS_INLINE_FUNCTION void join_down(std::int64_t chain, int level, std::int64_t node, int r, std::int64_t column) const
  {
    const int          W    = tree.chain.width();
    const NodeSize     size = tree.size(level, node);
    const Scalar      *c    = factors.join_at(tree, chain, level, node).cut + r;
    const std::int64_t first = tree.start(tree.first_leaf(level, node)), end = tree.start(tree.end_leaf(level, node));
    Scalar            &at  = x(chain, tree.cut(level, node) - tree.chain.kl + r, column);
    Scalar             sum = at;
    for (int k = 0; k < size.left; ++k) sum -= c[k * W] * at_cut(chain, first, k, column);
    for (int k = 0; k < size.right; ++k) sum -= c[(size.left + k) * W] * at_cut(chain, end, k, column);
    at = sum;
  }
  /// Solves with R.
  KOKKOS_INLINE_FUNCTION void join_substitute(std::int64_t chain, int level, std::int64_t node, std::int64_t column, const Work &y) const
  {
    const int          W     = tree.chain.width();
    const Scalar      *r     = factors.join_at(tree, chain, level, node).r;
    const std::int64_t first = tree.cut(level, node) - tree.chain.kl;
    for (int k = 0; k < W; ++k) y[k] = x(chain, first + k, column);
    for (int k = W - 1; k >= 0; --k) {
      const Scalar found = y[k] * r[k * W + k];
      for (int i = 0; i < k; ++i) y[i] -= r[k * W + i] * found;
      x(chain, first + k, column) = found;
    }
  }

  /// A^T x = b. Up: R^T z = b, while every node passes on what it has to subtract from b at the cuts before and behind it.
  KOKKOS_INLINE_FUNCTION void leaf_up_transposed(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &near) const
  {
    const int      W    = tree.chain.width();
    const Leaf     leaf(tree, chain, node, true);
    const NodeSize size = tree.size(0, node);
    const Work     left{&near[W + 1], near.stride};
    for (int k = 0; k < size.left; ++k) left[k] = Scalar(0);
    for (int k = 0; k <= W; ++k) near[k] = Scalar(0);
    for (int s = 0; s < leaf.own; ++s) {
      const Scalar *record = factors.upper + (chain * tree.chain.rows + leaf.first + s) * (2 * W + 1);
      int           slot   = s % (W + 1);
      const Scalar  z      = (b(chain, leaf.first + leaf.begin + s, column) - near[slot]) * record[0];
      near[slot]           = Scalar(0);
      for (int k = 1; k <= W; ++k) {
        slot = slot == W ? 0 : slot + 1;
        near[slot] += record[k] * z;
      }
      for (int k = 0; k < size.left; ++k) left[k] += record[1 + W + k] * z;
      x(chain, leaf.first + leaf.begin + s, column) = z;
    }
    for (int k = 0; k < size.left; ++k) passed(chain, 0, node, k, column) = left[k];
    for (int k = 0; k < size.right; ++k) passed(chain, 0, node, size.left + k, column) = near[(leaf.own + k) % (W + 1)];
  }
  KOKKOS_INLINE_FUNCTION void join_substitute_transposed(std::int64_t chain, int level, std::int64_t node, std::int64_t column, const Work &z) const
  {
    const int          W      = tree.chain.width();
    const Scalar      *r      = factors.join_at(tree, chain, level, node).r;
    const bool         closes = level > tree.levels;
    const std::int64_t first = tree.cut(level, node) - tree.chain.kl, before = closes ? 0 : 2 * node, behind = closes ? 0 : 2 * node + 1;
    const int          left = tree.size(level - 1, before).left;
    for (int k = 0; k < W; ++k) {
      const std::int64_t place = first + k < 0 ? first + k + tree.chain.rows : first + k;
      Scalar             sum = b(chain, place, column) - passed(chain, level - 1, before, left + k, column) - passed(chain, level - 1, behind, k, column);
      for (int i = 0; i < k; ++i) sum -= r[k * W + i] * z[i];
      z[k]                        = sum * r[k * W + k];
      x(chain, first + k, column) = z[k];
    }
  }
  /// What is to be subtracted at unknown c of the cuts before and behind.
  KOKKOS_INLINE_FUNCTION void join_up_transposed(std::int64_t chain, int level, std::int64_t node, int c, std::int64_t column) const
  {
    const int      W    = tree.chain.width();
    const NodeSize size = tree.size(level, node);
    if (c >= size.left + size.right) return;
    const Scalar      *to    = factors.join_at(tree, chain, level, node).cut + c * W;
    const std::int64_t first = tree.cut(level, node) - tree.chain.kl;
    Scalar             sum   = c < size.left ? passed(chain, level - 1, 2 * node, c, column) : passed(chain, level - 1, 2 * node + 1, W + c - size.left, column);
    for (int k = 0; k < W; ++k) sum += to[k] * x(chain, first + k, column);
    passed(chain, level, node, c, column) = sum;
  }
  /// Down: x = conj(Q) z, row r.
  KOKKOS_INLINE_FUNCTION void join_down_transposed(std::int64_t chain, int level, std::int64_t node, int r, std::int64_t column) const
  {
    const int     W = tree.chain.width(), rows = stacked_rows(level, node);
    const Scalar *q = factors.join_at(tree, chain, level, node).q + r * 2 * W;
    if (r >= rows) return;
    const std::int64_t first = tree.cut(level, node) - tree.chain.kl;
    Scalar             sum(0);
    for (int k = 0; k < W; ++k) sum += q[k] * x(chain, first + k, column);
    for (int k = W; k < rows; ++k) sum += q[k] * passed(chain, level, node, k - W, column);
    stacked(chain, level, node, r, column) = sum;
  }
  KOKKOS_INLINE_FUNCTION void leaf_down_transposed(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &y) const
  {
    const int      W    = tree.chain.width();
    const Leaf     leaf(tree, chain, node, true);
    const NodeSize size = tree.size(0, node);
    for (int k = 0; k < size.rows; ++k) y[k] = passed(chain, 0, node, k, column);
    for (int s = leaf.own - 1; s >= 0; --s) {
      const Scalar *record = factors.reflection + (chain * tree.chain.rows + leaf.first + s) * (W + 1);
      const int     n      = leaf.at_step(s);
      const Scalar  z      = x(chain, leaf.first + leaf.begin + s, column);
      Scalar        sum    = z;
      for (int k = 0; k < n; ++k) sum += record[1 + k] * y[k];
      sum *= record[0];
      for (int k = 0; k < n; ++k) y[k] -= conjugate(record[1 + k]) * sum;
      if (leaf.arrives(s)) x(chain, leaf.first + leaf.carried + s, column) = z - sum;
      else y[n] = z - sum;
    }
    for (int k = 0; k < leaf.carried; ++k) x(chain, leaf.first + k, column) = y[k];
  }
};

enum class Sweep { up, down, up_transposed, down_transposed };

/// Leaves of any width: a thread has a leaf and a column.
template <class Scalar>
struct QrLeafSolveKernel {
  static constexpr int max_threads = 128;
  QrSolve<Scalar>      solve;
  Sweep                sweep;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree        &tree  = solve.tree;
    Scalar            *work  = reinterpret_cast<Scalar *>(team.scratch());
    const std::int64_t items = tree.chain.chains * tree.leaves * solve.v.columns;
    const auto         body  = [&](int v, int threads) {
      const std::int64_t item = team.league_rank() * team.size() + v, node = item / solve.v.columns, column = item % solve.v.columns, chain = node / tree.leaves, leaf = node % tree.leaves;
      if (item >= items) return;
      const typename QrSolve<Scalar>::Work mine{work + (threads > 1 ? v : 0), threads};
      switch (sweep) {
      case Sweep::up: solve.leaf_up(chain, leaf, column, mine); break;
      case Sweep::down: solve.leaf_down(chain, leaf, column, mine); break;
      case Sweep::up_transposed: solve.leaf_up_transposed(chain, leaf, column, mine); break;
      case Sweep::down_transposed: solve.leaf_down_transposed(chain, leaf, column, mine); break;
      }
    };
    if constexpr (Team::is_virtual)
      for (int v = 0; v < team.size(); ++v) body(v, 1);
    else body(team.rank(), team.size());
  }
};

/// Joins of some levels, for a block of columns: a thread has a row, or the triangular solve, of a join and a column.
template <class Scalar>
struct QrJoinSolveKernel {
  static constexpr int max_threads = 256;
  QrSolve<Scalar>      solve;
  Levels               levels;
  Sweep                sweep;
  int                  block; ///< columns of a team

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree        &tree    = solve.tree;
    const int          W       = tree.chain.width();
    const std::int64_t blocks  = (solve.v.columns + block - 1) / block, node_of_top = team.league_rank() / blocks, column0 = team.league_rank() % blocks * block;
    const std::int64_t columns = solve.v.columns - column0 < block ? solve.v.columns - column0 : block;
    const std::int64_t chain = node_of_top / tree.count[levels.top], top = node_of_top % tree.count[levels.top];
    const int          threads = Team::is_virtual ? 1 : team.size();
    const auto         thread  = [&] {
      if constexpr (Team::is_virtual) return 0;
      else return team.rank();
    }();
    const typename QrSolve<Scalar>::Work work{reinterpret_cast<Scalar *>(team.scratch()) + thread, threads};
    const auto                           rows = [&](int level, int count, const auto &body) { // body(node, row, column)
      const NodeRange    nodes = tree.below(levels.top, top, level);
      const std::int64_t items = (nodes.end - nodes.begin) * count * columns;
      for (std::int64_t item = thread; item < items; item += threads) {
        const std::int64_t pair = item / columns, node = nodes.begin + pair / count;
        if (tree.is_join(level, node)) body(node, static_cast<int>(pair % count), column0 + item % columns);
      }
      team.barrier();
    };
    const bool goes_up = sweep == Sweep::up || sweep == Sweep::up_transposed;
    for (int k = levels.bottom + 1; k <= levels.top; ++k) {
      const int level = goes_up ? k : levels.top + levels.bottom + 1 - k;
      switch (sweep) {
      case Sweep::up: rows(level, 2 * W, [&](std::int64_t node, int r, std::int64_t column) { solve.join_up(chain, level, node, r, column); }); break;
      case Sweep::down:
        rows(level, W, [&](std::int64_t node, int r, std::int64_t column) { solve.join_down(chain, level, node, r, column); });
        rows(level, 1, [&](std::int64_t node, int, std::int64_t column) { solve.join_substitute(chain, level, node, column, work); });
        break;
      case Sweep::up_transposed:
        rows(level, 1, [&](std::int64_t node, int, std::int64_t column) { solve.join_substitute_transposed(chain, level, node, column, work); });
        rows(level, 2 * W, [&](std::int64_t node, int r, std::int64_t column) { solve.join_up_transposed(chain, level, node, r, column); });
        break;
      case Sweep::down_transposed: rows(level, 2 * W, [&](std::int64_t node, int r, std::int64_t column) { solve.join_down_transposed(chain, level, node, r, column); }); break;
      }
    }
  }
};

} // namespace ribbon::multifrontal

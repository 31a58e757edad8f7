// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_solve.hpp  Solves with the factors of qr_factor.hpp: right-hand sides go up the tree, solutions come down, and for the transposed matrix the other way round.
#pragma once

#include <ribbon/multifrontal/qr_factor.hpp>

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
    const auto leaf = QrFactorKernel<Scalar, int>::leaf_of(tree, chain, node, true);
    for (int k = 0; k < leaf.carried; ++k) y[k] = b(chain, leaf.first + k, column);
    const Scalar *record = factors.record + (chain * tree.chain.rows + leaf.first) * Factors<Scalar>::record_size(W);
    for (std::int64_t s = 0; s < leaf.own; ++s, record += Factors<Scalar>::record_size(W)) {
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
    const auto     leaf = QrFactorKernel<Scalar, int>::leaf_of(tree, chain, node, true);
    const NodeSize size = tree.size(0, node);
    const Work     left{&near[W + 1], near.stride};
    for (int k = 0; k < size.left; ++k) left[k] = at_cut(chain, leaf.first, k, column);
    for (int k = 0; k <= W; ++k) near[k] = Scalar(0);
    for (int k = 0; k < size.right; ++k) near[static_cast<int>((leaf.own + k) % (W + 1))] = at_cut(chain, leaf.first + leaf.rows, k, column);
    for (std::int64_t s = leaf.own - 1; s >= 0; --s) {
      const Scalar *record = factors.record + (chain * tree.chain.rows + leaf.first + s) * Factors<Scalar>::record_size(W) + W + 1;
      Scalar       &at     = x(chain, leaf.first + leaf.begin + s, column);
      Scalar        sum    = at;
      int           slot   = static_cast<int>(s % (W + 1));
      for (int k = 1; k <= W; ++k) {
        slot = slot == W ? 0 : slot + 1;
        sum -= record[k] * near[slot];
      }
      for (int k = 0; k < size.left; ++k) sum -= record[1 + W + k] * left[k];
      sum *= record[0];
      near[static_cast<int>(s % (W + 1))] = sum;
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
  KOKKOS_INLINE_FUNCTION const Scalar *front_of(std::int64_t chain, int level, std::int64_t node) const
  {
    return factors.join_front + tree.join_number(chain, level, node) * Factors<Scalar>::join_size(tree.chain.width());
  }

  KOKKOS_INLINE_FUNCTION void join_up(std::int64_t chain, int level, std::int64_t node, std::int64_t column, const Work &y) const
  {
    const int     W = tree.chain.width(), ld = 2 * W + 1, rows = stacked_rows(level, node);
    const Scalar *front = front_of(chain, level, node);
    for (int k = 0; k < rows; ++k) y[k] = stacked(chain, level, node, k, column);
    for (int k = 0; k < W; ++k) {
      const Scalar *h   = front + k * ld;
      Scalar        sum = y[k];
      for (int i = k + 1; i < rows; ++i) sum += conjugate(h[i]) * y[i];
      sum *= front[3 * W * ld + k];
      y[k] -= sum;
      for (int i = k + 1; i < rows; ++i) y[i] -= h[i] * sum;
      x(chain, tree.cut(level, node) - tree.chain.kl + k, column) = y[k];
    }
    for (int k = W; k < rows; ++k) passed(chain, level, node, k - W, column) = y[k];
  }

  KOKKOS_INLINE_FUNCTION void join_down(std::int64_t chain, int level, std::int64_t node, std::int64_t column, const Work &y) const
  {
    const int          W = tree.chain.width(), ld = 2 * W + 1;
    const NodeSize     size  = tree.size(level, node);
    const Scalar      *front = front_of(chain, level, node);
    const std::int64_t cut   = tree.cut(level, node);
    const std::int64_t first = tree.start(tree.first_leaf(level, node)), end = tree.start(tree.end_leaf(level, node));
    for (int k = 0; k < W; ++k) y[k] = x(chain, cut - tree.chain.kl + k, column);
    for (int c = 0; c < size.left + size.right; ++c) {
      const Scalar  known = c < size.left ? at_cut(chain, first, c, column) : at_cut(chain, end, c - size.left, column);
      const Scalar *to    = front + (W + c) * ld;
      for (int k = 0; k < W; ++k) y[k] -= to[k] * known;
    }
    for (int k = W - 1; k >= 0; --k) {
      const Scalar *r = front + k * ld;
      y[k] *= r[k];
      for (int i = 0; i < k; ++i) y[i] -= r[i] * y[k];
      x(chain, cut - tree.chain.kl + k, column) = y[k];
    }
  }

  /// A^T x = b. Up: R^T z = b, while every node passes on what it has to subtract from b at the cuts before and behind it.
  KOKKOS_INLINE_FUNCTION void leaf_up_transposed(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &near) const
  {
    const int      W    = tree.chain.width();
    const auto     leaf = QrFactorKernel<Scalar, int>::leaf_of(tree, chain, node, true);
    const NodeSize size = tree.size(0, node);
    const Work     left{&near[W + 1], near.stride};
    for (int k = 0; k < size.left; ++k) left[k] = Scalar(0);
    for (int k = 0; k <= W; ++k) near[k] = Scalar(0);
    for (std::int64_t s = 0; s < leaf.own; ++s) {
      const Scalar *record = factors.record + (chain * tree.chain.rows + leaf.first + s) * Factors<Scalar>::record_size(W) + W + 1;
      int           slot   = static_cast<int>(s % (W + 1));
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
    for (int k = 0; k < size.right; ++k) passed(chain, 0, node, size.left + k, column) = near[static_cast<int>((leaf.own + k) % (W + 1))];
  }
  KOKKOS_INLINE_FUNCTION void join_up_transposed(std::int64_t chain, int level, std::int64_t node, std::int64_t column, const Work &z) const
  {
    const int          W = tree.chain.width(), ld = 2 * W + 1;
    const Scalar      *front  = front_of(chain, level, node);
    const std::int64_t cut    = tree.cut(level, node);
    const bool         closes = level > tree.levels;
    const NodeSize     size = tree.size(level, node), before = tree.size(level - 1, closes ? 0 : 2 * node);
    const std::int64_t behind = closes ? 0 : 2 * node + 1;
    for (int k = 0; k < W; ++k) {
      const std::int64_t place = cut - tree.chain.kl + k, wrapped = place < 0 ? place + tree.chain.rows : place;
      Scalar             sum = b(chain, wrapped, column) - passed(chain, level - 1, closes ? 0 : 2 * node, before.left + k, column) - passed(chain, level - 1, behind, k, column);
      const Scalar      *r   = front + k * ld;
      for (int i = 0; i < k; ++i) sum -= r[i] * z[i];
      z[k]                                      = sum * r[k];
      x(chain, cut - tree.chain.kl + k, column) = z[k];
    }
    for (int c = 0; c < size.left + size.right; ++c) {
      const Scalar *to  = front + (W + c) * ld;
      Scalar        sum = c < size.left ? passed(chain, level - 1, 2 * node, c, column) : passed(chain, level - 1, 2 * node + 1, W + c - size.left, column);
      for (int k = 0; k < W; ++k) sum += to[k] * z[k];
      passed(chain, level, node, c, column) = sum;
    }
  }
  /// Down: x = conj(Q) z.
  KOKKOS_INLINE_FUNCTION void join_down_transposed(std::int64_t chain, int level, std::int64_t node, std::int64_t column, const Work &y) const
  {
    const int     W = tree.chain.width(), ld = 2 * W + 1, rows = stacked_rows(level, node);
    const Scalar *front = front_of(chain, level, node);
    for (int k = 0; k < W; ++k) y[k] = x(chain, tree.cut(level, node) - tree.chain.kl + k, column);
    for (int k = W; k < rows; ++k) y[k] = passed(chain, level, node, k - W, column);
    for (int k = W - 1; k >= 0; --k) {
      const Scalar *h   = front + k * ld;
      Scalar        sum = y[k];
      for (int i = k + 1; i < rows; ++i) sum += h[i] * y[i];
      sum *= front[3 * W * ld + k];
      y[k] -= sum;
      for (int i = k + 1; i < rows; ++i) y[i] -= conjugate(h[i]) * sum;
    }
    for (int k = 0; k < rows; ++k) stacked(chain, level, node, k, column) = y[k];
  }
  KOKKOS_INLINE_FUNCTION void leaf_down_transposed(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &y) const
  {
    const int      W    = tree.chain.width();
    const auto     leaf = QrFactorKernel<Scalar, int>::leaf_of(tree, chain, node, true);
    const NodeSize size = tree.size(0, node);
    for (int k = 0; k < size.rows; ++k) y[k] = passed(chain, 0, node, k, column);
    for (std::int64_t s = leaf.own - 1; s >= 0; --s) {
      const Scalar *record = factors.record + (chain * tree.chain.rows + leaf.first + s) * Factors<Scalar>::record_size(W);
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

template <class Scalar>
struct QrSolveKernel {
  static constexpr int max_threads = 256;
  QrSolve<Scalar>      solve;
  Levels               levels;
  Sweep                sweep;
  bool                 has_leaves;
  int                  block; ///< columns of a team

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    using Work                = typename QrSolve<Scalar>::Work;
    const Tree        &tree   = solve.tree;
    const std::int64_t blocks = (solve.v.columns + block - 1) / block, node_of_top = team.league_rank() / blocks, column0 = team.league_rank() % blocks * block;
    const std::int64_t columns = solve.v.columns - column0 < block ? solve.v.columns - column0 : block;
    const std::int64_t chain = node_of_top / tree.count[levels.top], top = node_of_top % tree.count[levels.top];
    Scalar            *memory      = reinterpret_cast<Scalar *>(team.scratch());
    const int          threads     = Team::is_virtual ? 1 : team.size();
    const bool         goes_up     = sweep == Sweep::up || sweep == Sweep::up_transposed;
    const auto         thread_rank = [&] {
      if constexpr (Team::is_virtual) return 0;
      else return team.rank();
    }();
    const Work work{memory + thread_rank, threads};
    const auto leaves = [&] {
      const std::int64_t first = tree.first_leaf(levels.top, top), items = (tree.end_leaf(levels.top, top) - first) * columns;
      for (std::int64_t item = thread_rank; item < items; item += threads) {
        const std::int64_t node = first + item / columns, column = column0 + item % columns;
        switch (sweep) {
        case Sweep::up:
          solve.leaf_up(chain, node, column, work);
          break;
        case Sweep::down:
          solve.leaf_down(chain, node, column, work);
          break;
        case Sweep::up_transposed:
          solve.leaf_up_transposed(chain, node, column, work);
          break;
        case Sweep::down_transposed:
          solve.leaf_down_transposed(chain, node, column, work);
          break;
        }
      }
    };
    const auto joins = [&](int level) {
      const bool         closes = level > tree.levels;
      const std::int64_t begin = closes ? 0 : top << (levels.top - level), after = closes ? 1 : (top + 1) << (levels.top - level), end = after < tree.count[level] ? after : tree.count[level];
      for (std::int64_t item = thread_rank; item < (end - begin) * columns; item += threads) {
        const std::int64_t node = begin + item / columns, column = column0 + item % columns;
        if (!tree.is_join(level, node)) continue;
        switch (sweep) {
        case Sweep::up:
          solve.join_up(chain, level, node, column, work);
          break;
        case Sweep::down:
          solve.join_down(chain, level, node, column, work);
          break;
        case Sweep::up_transposed:
          solve.join_up_transposed(chain, level, node, column, work);
          break;
        case Sweep::down_transposed:
          solve.join_down_transposed(chain, level, node, column, work);
          break;
        }
      }
    };
    if (goes_up) {
      if (has_leaves && levels.bottom == 0) leaves();
      for (int level = levels.bottom + 1; level <= levels.top; ++level) {
        team.barrier();
        joins(level);
      }
    } else {
      for (int level = levels.top; level > levels.bottom; --level) {
        joins(level);
        team.barrier();
      }
      if (has_leaves && levels.bottom == 0) leaves();
    }
  }
};

} // namespace ribbon::multifrontal

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
  Scalar             *cuts = nullptr;                      ///< (chains joins, W, columns): rows of Q^H b at the cuts, where a tile of leaves is worked off at a time
};

/// What one thread does with one column at one node. Up: rows of b become rows of Q^H b; down: the triangular solve.
template <class Scalar>
struct QrSolve {
  Tree            tree;
  Factors<Scalar> factors;
  Columns<Scalar> v;

  /// n / d for numbers of teams, which fit 31 bits.
  KOKKOS_INLINE_FUNCTION static std::int64_t quotient(std::int64_t n, std::int64_t d) { return static_cast<std::uint32_t>(n) / static_cast<std::uint32_t>(d); }
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
  /// A row of b in a leaf, scaled.
  KOKKOS_INLINE_FUNCTION Scalar scaled_b(const Leaf &leaf, std::int64_t place, std::int64_t column) const { return b(leaf.chain, place, column) * factors.scale(tree, leaf.chain, leaf.node, place); }
  /// Unknown k of a cut.
  KOKKOS_INLINE_FUNCTION Scalar at_cut(std::int64_t chain, std::int64_t cut, int k, std::int64_t column) const
  {
    if (cut == 0 && !tree.chain.ring) return tree.chain.open_left ? v.before[k * v.columns + column] : Scalar(0);
    if (cut == tree.chain.rows && !tree.chain.ring) return tree.chain.open_right ? v.behind[k * v.columns + column] : Scalar(0);
    return x(chain, cut - tree.chain.kl + k, column);
  }
  KOKKOS_INLINE_FUNCTION Scalar &passed(std::int64_t chain, int level, std::int64_t node, int k, std::int64_t column) const
  {
    tree.resolve(level, node);
    const std::int64_t number = level == 0 ? chain * tree.leaves + node : tree.chain.chains * tree.leaves + tree.join_number(chain, level, node);
    return v.passed[(number * v.passed_rows + k) * v.columns + column];
  }

  /// What a node was passed down; nothing comes to the top of a chain that is whole.
  KOKKOS_INLINE_FUNCTION Scalar came_down(std::int64_t chain, int level, std::int64_t node, int k, std::int64_t column) const
  {
    return level == tree.top() && !tree.is_piece() ? Scalar(0) : passed(chain, level, node, k, column);
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
    const int  W = tree.chain.width();
    const Leaf leaf(tree, chain, node);
    for (int k = 0; k < W; ++k) y[k] = has_row(tree.chain, leaf.first + k) ? scaled_b(leaf, leaf.first + k, column) : Scalar(0);
    for (int s = 0; s < leaf.own; ++s) {
      const auto   record   = factors.step(factors.reflection, tree, chain, node, s, W + 1);
      const Scalar entering = has_row(tree.chain, leaf.first + W + s) ? scaled_b(leaf, leaf.first + W + s, column) : taken(y[row_instead(tree.chain, leaf.first + W + s)]);
      Scalar       sum      = entering;
      for (int k = 0; k < W; ++k) sum += conjugate(record[1 + k]) * y[k];
      sum *= record[0];
      for (int k = 0; k < W; ++k) y[k] -= record[1 + k] * sum;
      x(chain, leaf.first + tree.chain.ku + s, column) = entering - sum;
    }
    for (int k = 0; k < W; ++k) passed(chain, 0, node, k, column) = y[k];
  }

  KOKKOS_INLINE_FUNCTION void leaf_down(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &near) const
  {
    const int  W = tree.chain.width();
    const Leaf leaf(tree, chain, node);
    const Work left{&near[W + 1], near.stride};
    for (int k = 0; k < W; ++k) left[k] = at_cut(chain, tree.start(node), k, column);
    for (int k = 0; k < W; ++k) near[(leaf.own + k) % (W + 1)] = at_cut(chain, tree.start(node + 1), k, column);
    for (int s = leaf.own - 1; s >= 0; --s) {
      const auto record = factors.step(factors.upper, tree, chain, node, s, 2 * W + 1);
      Scalar    &at     = x(chain, leaf.first + tree.chain.ku + s, column);
      Scalar     sum    = at;
      int        slot   = s % (W + 1);
      for (int k = 1; k <= W; ++k) {
        slot = slot == W ? 0 : slot + 1;
        sum -= record[k] * near[slot];
      }
      for (int k = 0; k < W; ++k) sum -= record[1 + W + k] * left[k];
      sum *= record[0];
      near[s % (W + 1)] = sum;
      at                = sum;
    }
  }

  /// Neighbouring numbers of a column.
  struct Strip {
    Scalar                        *at;
    std::int64_t                   stride;
    KOKKOS_INLINE_FUNCTION Scalar &operator[](int k) const { return at[k * stride]; }
  };
  KOKKOS_INLINE_FUNCTION Strip passed_strip(std::int64_t chain, int level, std::int64_t node, std::int64_t column) const { return {&passed(chain, level, node, 0, column), v.columns}; }

  /// What a thread knows of a join.
  struct Join {
    std::int64_t  chain, node;
    int           level;
    std::int64_t  cut; ///< first unknown of the cut
    bool          closes;
    const Scalar *r, *c, *q;
  };
  KOKKOS_INLINE_FUNCTION Join join_of(std::int64_t chain, int level, std::int64_t node) const
  {
    const auto join = factors.join_at(tree, chain, level, node);
    return {chain, node, level, tree.cut(level, node) - tree.chain.kl, level > tree.levels, join.r, join.cut, join.q};
  }
  KOKKOS_INLINE_FUNCTION Strip passed_before(const Join &j, std::int64_t column) const { return passed_strip(j.chain, j.level - 1, j.closes ? 0 : 2 * j.node, column); }
  KOKKOS_INLINE_FUNCTION Strip passed_behind(const Join &j, std::int64_t column) const { return passed_strip(j.chain, j.level - 1, j.closes ? 0 : 2 * j.node + 1, column); }

  template <class Term>
  KOKKOS_INLINE_FUNCTION static Scalar sum_of(int n, const Term &term)
  {
    Scalar sum(0);
    for (int k = 0; k < n; ++k) sum += term(k);
    return sum;
  }

  /// Row r of Q^H times what the children pass; rows from W on are passed on.
  KOKKOS_INLINE_FUNCTION void join_up(const Join &j, int r, std::int64_t column) const
  {
    const int     W      = tree.chain.width();
    const Scalar *q      = j.q + r;
    const Strip   before = passed_before(j, column), behind = passed_behind(j, column);
    Scalar        sum = sum_of(W, [&](int k) { return q[k * 2 * W] * before[k]; });
    if (!j.closes) sum += sum_of(W, [&](int k) { return q[(W + k) * 2 * W] * behind[k]; });
    if (r < W) x(j.chain, j.cut + r, column) = sum;
    else if (!j.closes) passed(j.chain, j.level, j.node, r - W, column) = sum;
  }
  /// Takes what the unknowns of the cuts before and behind make out of row r.
  KOKKOS_INLINE_FUNCTION void join_down(const Join &j, int r, std::int64_t column) const
  {
    const int          W     = tree.chain.width();
    const Scalar      *c     = j.c + r;
    const std::int64_t first = tree.start(tree.first_leaf(j.level, j.node)), end = tree.start(tree.end_leaf(j.level, j.node));
    Scalar            &at = x(j.chain, j.cut + r, column);
    if (j.closes) return;
    Scalar sum = sum_of(W, [&](int k) { return c[k * W] * at_cut(j.chain, first, k, column); });
    sum += sum_of(W, [&](int k) { return c[(W + k) * W] * at_cut(j.chain, end, k, column); });
    at -= sum;
  }
  /// Solves with R.
  template <class Numbers>
  KOKKOS_INLINE_FUNCTION void join_substitute(const Join &j, std::int64_t column, const Numbers &y) const
  {
    const int W = tree.chain.width();
    for (int k = 0; k < W; ++k) y[k] = x(j.chain, j.cut + k, column);
    for (int k = W - 1; k >= 0; --k) {
      const Scalar found = y[k] * j.r[k * W + k];
      for (int i = 0; i < k; ++i) y[i] -= j.r[k * W + i] * found;
      y[k] = found;
    }
    for (int k = 0; k < W; ++k) x(j.chain, j.cut + k, column) = y[k];
  }

  /// A^T x = b. Up: R^T z = b, while every node passes on what it has to subtract from b at the cuts before and behind it.
  KOKKOS_INLINE_FUNCTION void leaf_up_transposed(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &near) const
  {
    const int  W = tree.chain.width();
    const Leaf leaf(tree, chain, node);
    const Work left{&near[W + 1], near.stride};
    for (int k = 0; k < W; ++k) left[k] = Scalar(0);
    for (int k = 0; k <= W; ++k) near[k] = Scalar(0);
    for (int s = 0; s < leaf.own; ++s) {
      const auto         record = factors.step(factors.upper, tree, chain, node, s, 2 * W + 1);
      const std::int64_t place  = leaf.first + tree.chain.ku + s;
      int                slot   = s % (W + 1);
      const Scalar       z      = (b(chain, place, column) - near[slot]) * record[0];
      near[slot]                = Scalar(0);
      for (int k = 1; k <= W; ++k) {
        slot = slot == W ? 0 : slot + 1;
        near[slot] += record[k] * z;
      }
      for (int k = 0; k < W; ++k) left[k] += record[1 + W + k] * z;
      x(chain, place, column) = z;
    }
    for (int k = 0; k < W; ++k) passed(chain, 0, node, k, column) = left[k], passed(chain, 0, node, W + k, column) = near[(leaf.own + k) % (W + 1)];
  }
  template <class Numbers>
  KOKKOS_INLINE_FUNCTION void join_substitute_transposed(const Join &j, std::int64_t column, const Numbers &z) const
  {
    const int   W      = tree.chain.width();
    const Strip before = passed_before(j, column), behind = passed_behind(j, column);
    for (int k = 0; k < W; ++k) {
      Scalar sum = b(j.chain, j.cut + k < 0 ? j.cut + k + tree.chain.rows : j.cut + k, column) - before[W + k] - behind[k];
      for (int i = 0; i < k; ++i) sum -= j.r[k * W + i] * z[i];
      z[k] = sum * j.r[k * W + k];
    }
    for (int k = 0; k < W; ++k) x(j.chain, j.cut + k, column) = z[k];
  }
  /// What is to be subtracted at unknown c of the cuts before and behind.
  KOKKOS_INLINE_FUNCTION void join_up_transposed(const Join &j, int c, std::int64_t column) const
  {
    const int W = tree.chain.width();
    if (j.closes) return;
    const Scalar *to                            = j.c + c * W;
    const Scalar  sum                           = sum_of(W, [&](int k) { return to[k] * x(j.chain, j.cut + k, column); });
    passed(j.chain, j.level, j.node, c, column) = (c < W ? passed_before(j, column)[c] : passed_behind(j, column)[c]) + sum;
  }
  /// Down: x = conj(Q) z, row r.
  KOKKOS_INLINE_FUNCTION void join_down_transposed(const Join &j, int r, std::int64_t column) const
  {
    const int W = tree.chain.width();
    if (j.closes && r >= W) return;
    const Scalar *q   = j.q + r * 2 * W;
    Scalar        sum = sum_of(W, [&](int k) { return q[k] * x(j.chain, j.cut + k, column); });
    sum += sum_of(W, [&](int k) { return q[W + k] * came_down(j.chain, j.level, j.node, k, column); });
    (r < W ? passed_before(j, column)[r] : passed_behind(j, column)[r - W]) = sum;
  }
  KOKKOS_INLINE_FUNCTION void leaf_down_transposed(std::int64_t chain, std::int64_t node, std::int64_t column, const Work &y) const
  {
    const int  W = tree.chain.width();
    const Leaf leaf(tree, chain, node);
    const auto leaves = [&](std::int64_t place, const Scalar &value) { // a row of x
      if (has_row(tree.chain, place)) x(chain, place, column) = value * factors.scale(tree, chain, node, place);
    };
    for (int k = 0; k < W; ++k) y[k] = came_down(chain, 0, node, k, column);
    for (int s = leaf.own - 1; s >= 0; --s) {
      const auto   record = factors.step(factors.reflection, tree, chain, node, s, W + 1);
      const Scalar z      = x(chain, leaf.first + tree.chain.ku + s, column);
      Scalar       sum    = z;
      for (int k = 0; k < W; ++k) sum += record[1 + k] * y[k];
      sum *= record[0];
      for (int k = 0; k < W; ++k) y[k] -= conjugate(record[1 + k]) * sum;
      if (has_row(tree.chain, leaf.first + W + s)) leaves(leaf.first + W + s, z - sum);
      else y[row_instead(tree.chain, leaf.first + W + s)] = z - sum;
    }
    for (int k = 0; k < W; ++k) leaves(leaf.first + k, y[k]);
  }
};

enum class Sweep { up, down, up_transposed, down_transposed };
enum class Way { up, down, both };

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
      case Sweep::up:
        solve.leaf_up(chain, leaf, column, mine);
        break;
      case Sweep::down:
        solve.leaf_down(chain, leaf, column, mine);
        break;
      case Sweep::up_transposed:
        solve.leaf_up_transposed(chain, leaf, column, mine);
        break;
      case Sweep::down_transposed:
        solve.leaf_down_transposed(chain, leaf, column, mine);
        break;
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
    using Join                = typename QrSolve<Scalar>::Join;
    const Tree        &tree   = solve.tree;
    const int          W      = tree.chain.width();
    const std::int64_t blocks = (solve.v.columns + block - 1) / block, node_of_top = team.league_rank() / blocks, column0 = team.league_rank() % blocks * block;
    const int          columns = static_cast<int>(solve.v.columns - column0 < block ? solve.v.columns - column0 : block);
    const std::int64_t chain = node_of_top / tree.count[levels.top], top = node_of_top % tree.count[levels.top];
    const int          threads = Team::is_virtual ? 1 : team.size();
    const auto         thread  = [&] {
      if constexpr (Team::is_virtual) return 0;
      else return team.rank();
    }();
    const typename QrSolve<Scalar>::Work work{reinterpret_cast<Scalar *>(team.scratch()) + thread, threads}; // W numbers of the thread
    const auto                           rows = [&](int level, int count, const auto &body) {                // body(join, row, column)
      const NodeRange nodes = tree.below(levels.top, top, level);
      const int       items = static_cast<int>(nodes.end - nodes.begin) * count * columns;
      for (int item = thread; item < items; item += threads) {
                                  const int          pair = item / columns, place = pair / count;
                                  const std::int64_t node = nodes.begin + place;
                                  if (tree.is_join(level, node)) body(solve.join_of(chain, level, node), pair - place * count, column0 + item - pair * columns);
      }
                                team.barrier();
    };
    const bool goes_up = sweep == Sweep::up || sweep == Sweep::up_transposed;
    for (int k = levels.bottom + 1; k <= levels.top; ++k) {
      const int level = goes_up ? k : levels.top + levels.bottom + 1 - k;
      switch (sweep) {
      case Sweep::up:
        rows(level, 2 * W, [&](const Join &j, int r, std::int64_t column) { solve.join_up(j, r, column); });
        break;
      case Sweep::down:
        rows(level, W, [&](const Join &j, int r, std::int64_t column) { solve.join_down(j, r, column); });
        rows(level, 1, [&](const Join &j, int, std::int64_t column) { solve.join_substitute(j, column, work); });
        break;
      case Sweep::up_transposed:
        rows(level, 1, [&](const Join &j, int, std::int64_t column) { solve.join_substitute_transposed(j, column, work); });
        rows(level, 2 * W, [&](const Join &j, int r, std::int64_t column) { solve.join_up_transposed(j, r, column); });
        break;
      case Sweep::down_transposed:
        rows(level, 2 * W, [&](const Join &j, int r, std::int64_t column) { solve.join_down_transposed(j, r, column); });
        break;
      }
    }
  }
};

} // namespace ribbon::multifrontal

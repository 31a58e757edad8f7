// SPDX-License-Identifier: BSD-2-Clause
/// @file join_solve.hpp  Joins of any width in a solve. For narrow ones see qr/tile_joins.hpp and
///   qr/column_joins.hpp.
#pragma once

#include <ribbon/device/lane_sum.hpp>
#include <ribbon/multifrontal/qr/join_products.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// A team has the joins below a node at the end of the lowest stage of the tree, and a block of columns. On
/// the way up, the last team that reaches a node above continues with it. On the way down, every team
/// begins at the top, and also solves the joins above its node.
/// Products with matrices of a join: a thread has a row and a column or, with a warp of columns, some rows
/// and a column. Triangular solves: a thread has a column, or a warp if there are few columns. For many
/// columns, matrices and their operands are copied to scratch first.
template <class Scalar>
struct QrJoinSolveKernel : QrJoinProducts<Scalar> {
  using Base = QrJoinProducts<Scalar>;
  using Base::solve, Base::sweep, Base::count, Base::at_cut_of;
  using typename Base::Join, typename Base::Strip, typename Base::Numbers;

  static constexpr int max_threads  = 256;
  static constexpr int teams_beside = 2;
  Arrivals             arrivals;
  struct Shape {
    int  block;     ///< columns per team
    int  together;  ///< joins that fit scratch
    bool has_lanes; ///< a lane has a column; else a team has only few columns
    bool is_staged; ///< matrices are copied to scratch

    KOKKOS_INLINE_FUNCTION std::int64_t blocks(std::int64_t columns) const
    {
      return (columns + block - 1) / block;
    }
    /// Scratch of a join, in scalars: R and its unknowns; then, if staged, a matrix and its operands. R is
    /// not read on the way up.
    KOKKOS_INLINE_FUNCTION int triangle(int W, Sweep sweep) const
    {
      return sweep == Sweep::up || sweep == Sweep::down_transposed ? 0 : W * (W + block);
    }
    KOKKOS_INLINE_FUNCTION int numbers(int W, Sweep sweep) const
    {
      return triangle(W, sweep) + (is_staged ? 2 * W * ((sweep == Sweep::up ? 2 * W : W) + block) : 0);
    }
    std::size_t scratch(int W, Sweep sweep) const
    {
      return device::align16(static_cast<std::size_t>(together * numbers(W, sweep)) * sizeof(Scalar)) + 16;
    }
  } shape;

  /// Solves with R in scratch. Lanes have every `lanes`-th unknown; all read the values y.
  KOKKOS_INLINE_FUNCTION void substitute(const Join &j, const Scalar *r, std::int64_t column, int lane,
                                         int lanes, const Numbers &y) const
  {
    const int W = solve.tree.chain.width();
    if (lanes == 1) substitute_alone(r, W, y);
    else
      for (int k = W - 1; k >= 0; --k) {
        device::lane_barrier(32);
        const Scalar found = y[k] * r[k * W + k];
        for (int i = lane; i < k; i += lanes) y[i] -= r[k * W + i] * found;
      }
    const Strip passed = solve.passed_strip(j.chain, j.level, j.node, column);
    for (int k = lane; k < W; k += lanes) {
      const Scalar found                  = lanes == 1 ? y[k] : y[k] * r[k * W + k];
      solve.x(j.chain, j.cut + k, column) = passed[k] = found;
    }
  }
  /// The same for one lane: y becomes the unknowns. Four unknowns are computed before they are subtracted
  /// from the rows above.
  KOKKOS_INLINE_FUNCTION static void substitute_alone(const Scalar *r, int W, const Numbers &y)
  {
    constexpr int N = 4;
    int           k = W - N; // the first of four
    for (; k >= 0; k -= N) {
      Scalar found[N];
      RIBBON_UNROLL
      for (int u = N - 1; u >= 0; --u) {
        found[u] = y[k + u];
        RIBBON_UNROLL
        for (int m = N - 1; m > u; --m) found[u] -= r[(k + m) * W + k + u] * found[m];
        found[u] *= r[(k + u) * W + k + u];
      }
      RIBBON_UNROLL
      for (int u = 0; u < N; ++u) y[k + u] = found[u];
      RIBBON_UNROLL_TWICE
      for (int i = 0; i < k; ++i) {
        Scalar sum(0);
        RIBBON_UNROLL
        for (int u = 0; u < N; ++u) sum += r[(k + u) * W + i] * found[u];
        y[i] -= sum;
      }
    }
    for (int m = k + N - 1; m >= 0; --m) {
      const Scalar found = y[m] * r[m * W + m];
      y[m]               = found;
      for (int i = 0; i < m; ++i) y[i] -= r[m * W + i] * found;
    }
  }
  /// A^T x = b: R^T z = b. Every node passes on the values to subtract from b at the cuts before and after
  /// it. A lane has separate unknowns.
  KOKKOS_INLINE_FUNCTION void substitute_transposed(const Join &j, const Scalar *r, std::int64_t column,
                                                    int lane, int lanes, const Numbers &z) const
  {
    const int   W      = solve.tree.chain.width();
    const Strip before = solve.passed_before(j, column), behind = solve.passed_behind(j, column);
    for (int k = lane; k < W; k += lanes)
      z[k] = solve.b(j.chain, j.cut + k < 0 ? j.cut + k + solve.tree.chain.rows : j.cut + k, column) -
             before[W + k] - behind[k];
    for (int k = 0; k < W; ++k) {
      Scalar sum(0);
      for (int i = lane; i < k; i += lanes) sum += r[k * W + i] * z[i];
      sum = device::lane_sum(sum, lanes);
      if (lane == k % lanes) z[k] = (z[k] - sum) * r[k * W + k];
    }
    for (int k = lane; k < W; k += lanes)
      solve.x(j.chain, j.cut + k, column) = at_cut_of(j, k, column) = z[k];
  }

  /// Starts to copy the matrix of a join and its operands, for some columns.
  KOKKOS_INLINE_FUNCTION void stage(const Join &j, std::int64_t column0, int columns, int thread, int threads,
                                    Scalar *matrix, Scalar *in) const
  {
    const int     W = solve.tree.chain.width(), size = 2 * W * count();
    const Scalar *from = sweep == Sweep::up ? j.q : j.c;
    for (int e = thread; e < size; e += threads) device::async_copy(matrix + e, from + e);
    const int lanes = threads < shape.block ? threads : shape.block, groups = threads / lanes,
              group = thread / lanes;
    // with several groups, every second group copies the operands of one side
    const int sides = j.closes ? 1 : 2, at_once = groups > 1 ? 2 : 1, first = group / at_once,
              apart = groups / at_once;
    for (int c = thread % lanes; c < columns; c += lanes)
      for (int side = group % at_once; side < sides; side += at_once) {
        Scalar    *to   = in + side * W * shape.block + c;
        const auto copy = [&](const Scalar *at, std::int64_t stride) {
          for (int k = first; k < W; k += apart) {
            if (stride == 0) to[k * shape.block] = Scalar(0);
            else device::async_copy(to + k * shape.block, at + k * stride);
          }
        };
        if (sweep == Sweep::up) {
          const Strip passed =
            side == 0 ? solve.passed_before(j, column0 + c) : solve.passed_behind(j, column0 + c);
          copy(passed.at, passed.stride);
        } else {
          const auto cut = solve.cut(j.chain,
                                     side == 0 ? solve.tree.first_leaf(j.level, j.node)
                                               : solve.tree.end_leaf(j.level, j.node),
                                     column0 + c);
          copy(cut.at, cut.stride);
        }
      }
  }

  /// Neighbouring nodes of a level whose joins are in scratch at the same time, and a block of columns.
  template <class Team>
  struct Block {
    static constexpr int warp = Team::is_virtual ? 1 : 32;
    const Team          &team;
    std::int64_t         chain, base, column0; ///< base: the first node
    int                  level, here, columns; ///< here: count of nodes
    int                  thread, threads;
  };
  /// R of a node of the block, its unknowns y, and its staged matrix and operands.
  template <class Team>
  KOKKOS_INLINE_FUNCTION Scalar *r_of(const Block<Team> &at, int node) const
  {
    return reinterpret_cast<Scalar *>(at.team.scratch() + 16) +
           node * shape.numbers(solve.tree.chain.width(), sweep);
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION Numbers y_of(const Block<Team> &at, int node, int column) const
  {
    const int W = solve.tree.chain.width();
    return Numbers{r_of(at, node) + W * W + column, shape.block};
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION Scalar *matrix_of(const Block<Team> &at, int node) const
  {
    return r_of(at, node) + shape.triangle(solve.tree.chain.width(), sweep);
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION Scalar *in_of(const Block<Team> &at, int node) const
  {
    return matrix_of(at, node) + 2 * solve.tree.chain.width() * count();
  }

  /// Copies R of the joins, and staged operands.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void bring(const Block<Team> &at) const
  {
    const int W = solve.tree.chain.width();
    for (int node = 0; node < at.here; ++node) {
      if (!solve.tree.is_join(at.level, at.base + node)) continue;
      const Join j  = solve.join_of(at.chain, at.level, at.base + node);
      Scalar    *to = r_of(at, node);
      for (int e = at.thread; sweep != Sweep::up && e < W * W; e += at.threads)
        device::async_copy(to + e, j.r + e);
      if (shape.is_staged && !(sweep == Sweep::down && j.closes))
        stage(j, at.column0, at.columns, at.thread, at.threads, matrix_of(at, node), in_of(at, node));
    }
    device::async_commit(), device::async_wait(0);
    if (shape.is_staged || sweep == Sweep::up_transposed) at.team.barrier();
  }
  /// Calls some(join, its place here, row, column) for `together` rows of a join, one(...) for one row.
  template <class Team, class Some, class One>
  KOKKOS_INLINE_FUNCTION void for_rows(const Block<Team> &at, int together, const Some &some,
                                       const One &one) const
  {
    const int blocks = (count() + together - 1) / together;
    for (int item = at.thread / at.warp; item < at.here * blocks; item += at.threads / at.warp) {
      const int node = item / blocks, r = (item - node * blocks) * together;
      if (!solve.tree.is_join(at.level, at.base + node)) continue;
      const Join j = solve.join_of(at.chain, at.level, at.base + node);
      for (int c = at.thread % at.warp; c < at.columns; c += at.warp) {
        if (r + together <= count()) some(j, node, r, c);
        else
          for (int i = r; i < count(); ++i) one(j, node, i, c);
      }
    }
  }
  /// Multiplies by the matrices of the joins.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void multiply_all(const Block<Team> &at) const
  {
    if (shape.is_staged)
      for_rows(
        at, 8,
        [&](const Join &j, int node, int r, int c) {
          Base::template multiply_staged<8>(j, r, at.column0 + c, y_of(at, node, c), matrix_of(at, node),
                                            Numbers{in_of(at, node) + c, shape.block});
        },
        [&](const Join &j, int node, int r, int c) {
          Base::template multiply_staged<1>(j, r, at.column0 + c, y_of(at, node, c), matrix_of(at, node),
                                            Numbers{in_of(at, node) + c, shape.block});
        });
    else if (shape.has_lanes)
      for_rows(
        at, 4,
        [&](const Join &j, int node, int r, int c) {
          Base::template multiply_rows<4>(j, r, at.column0 + c, y_of(at, node, c));
        },
        [&](const Join &j, int node, int r, int c) {
          Base::template multiply_rows<1>(j, r, at.column0 + c, y_of(at, node, c));
        });
    else {
      const int items = at.here * count() * at.columns;
      for (int item = at.thread; item < items; item += at.threads) {
        const int pair = item / at.columns, node = pair / count();
        if (solve.tree.is_join(at.level, at.base + node))
          Base::template multiply_rows<1>(solve.join_of(at.chain, at.level, at.base + node),
                                          pair - node * count(), at.column0 + item - pair * at.columns,
                                          y_of(at, node, item - pair * at.columns));
      }
    }
    at.team.barrier();
  }
  /// Solves with R of the joins.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void substitute_all(const Block<Team> &at) const
  {
    const bool is_transposed = sweep == Sweep::up_transposed,
               has_lanes     = !Team::is_virtual && shape.has_lanes;
    const int together       = has_lanes ? 1 : at.warp; // lanes per column
    for (int item = at.thread / together; item < at.here * (has_lanes ? at.warp : at.columns);
         item += at.threads / together) {
      const int node   = item / (has_lanes ? at.warp : at.columns),
                column = item - node * (has_lanes ? at.warp : at.columns);
      if (column >= at.columns || !solve.tree.is_join(at.level, at.base + node)) continue;
      const Join j = solve.join_of(at.chain, at.level, at.base + node);
      if (is_transposed)
        substitute_transposed(j, r_of(at, node), at.column0 + column, at.thread % together, together,
                              y_of(at, node, column));
      else
        substitute(j, r_of(at, node), at.column0 + column, at.thread % together, together,
                   y_of(at, node, column));
    }
    at.team.barrier();
  }

  /// Processes nodes of one level.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void work(const Team &team, std::int64_t chain, int level, const NodeRange &nodes,
                                   std::int64_t column0) const
  {
    const int columns =
      static_cast<int>(solve.v.columns - column0 < shape.block ? solve.v.columns - column0 : shape.block);
    const int  threads = Team::is_virtual ? 1 : team.size();
    const auto thread  = [&] {
      if constexpr (Team::is_virtual) return 0;
      else return team.rank();
    }();
    for (std::int64_t base = nodes.begin; base < nodes.end; base += shape.together) {
      const int here =
        static_cast<int>(nodes.end - base < shape.together ? nodes.end - base : shape.together);
      const Block<Team> at{team, chain, base, column0, level, here, columns, thread, threads};
      if (shape.is_staged || sweep == Sweep::down || sweep == Sweep::up_transposed) bring(at);
      if (sweep == Sweep::up_transposed) substitute_all(at);
      multiply_all(at);
      if (sweep == Sweep::down) substitute_all(at);
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree        &tree   = solve.tree;
    const int          lowest = tree.stage_top(0);
    const std::int64_t blocks = shape.blocks(solve.v.columns), place = team.league_rank() / blocks,
                       block = team.league_rank() - place * blocks, column0 = block * shape.block;
    const std::int64_t chain = place / tree.count[lowest], node = place - chain * tree.count[lowest];
    int               *flag = reinterpret_cast<int *>(team.scratch());
    if (sweep == Sweep::up || sweep == Sweep::up_transposed) {
      climb(team, tree, arrivals, chain, node, block, blocks, flag,
            [&](const Levels &levels, std::int64_t top) {
              for (int level = levels.bottom + 1; level <= levels.top; ++level)
                work(team, chain, level, tree.below(levels.top, top, level), column0);
            });
      return;
    }
    for (int level = tree.top(); level > 0; --level) {
      const int          high  = lowest < tree.levels ? lowest : tree.levels;
      const std::int64_t above = level > tree.levels ? 0 : node >> (level > high ? level - high : 0);
      work(team, chain, level, level > lowest ? NodeRange{above, above + 1} : tree.below(lowest, node, level),
           column0);
    }
  }
};

} // namespace ribbon::multifrontal

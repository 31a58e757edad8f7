// SPDX-License-Identifier: BSD-2-Clause
/// @file join_solve.hpp  Joins of any width in a solve. For narrow ones see qr/tile_joins.hpp and
///   qr/column_joins.hpp.
#pragma once

#include <ribbon/device/lane_sum.hpp>
#include <ribbon/multifrontal/qr/solve.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// A team has the joins below a node at the end of the lowest stage of the tree, and a block of columns. On
/// the way up, the last team that reaches a node above continues with it. On the way down, every team
/// begins at the top, and also solves the joins above its node.
/// Products with matrices of a join: a thread has a row and a column or, with a warp of columns, some rows
/// and a column. Triangular solves: a thread has a column, or a warp if there are few columns. For many
/// columns, matrices and their operands are copied to scratch first.
template <class Scalar>
struct QrJoinSolveKernel {
  static constexpr int max_threads  = 256;
  static constexpr int teams_beside = 2;
  QrSolve<Scalar>      solve; ///< its tree has the stages of solves
  Arrivals             arrivals;
  Sweep                sweep;
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

  using Join  = typename QrSolve<Scalar>::Join;
  using Strip = typename QrSolve<Scalar>::Strip;
  /// The values of a column.
  struct Numbers {
    Scalar                        *at;
    int                            stride;
    KOKKOS_INLINE_FUNCTION Scalar &operator[](int k) const { return at[k * stride]; }
  };
  /// A matrix whose entry (r, k) is at r rows + k columns.
  struct Matrix {
    const Scalar *at;
    int           rows, columns;
  };

  /// Adds N rows of a matrix, from r on, times n values; loads of several terms overlap.
  template <int N, class Value>
  KOKKOS_INLINE_FUNCTION static void multiply(const Matrix &m, int r, int n, const Value &value,
                                              Scalar (&sum)[N])
  {
    constexpr int terms = N == 1 ? 8 : N == 4 ? 4 : 2;
    const Scalar *at    = m.at + r * m.rows;
    int           k     = 0;
    for (; k + terms <= n; k += terms) {
      Scalar a[N][terms], b[terms];
      RIBBON_UNROLL
      for (int u = 0; u < terms; ++u) {
        b[u] = value(k + u);
        RIBBON_UNROLL
        for (int i = 0; i < N; ++i) a[i][u] = at[i * m.rows + (k + u) * m.columns];
      }
      RIBBON_UNROLL
      for (int u = 0; u < terms; ++u) {
        RIBBON_UNROLL
        for (int i = 0; i < N; ++i) sum[i] += a[i][u] * b[u];
      }
    }
    for (; k < n; ++k) {
      const Scalar b = value(k);
      RIBBON_UNROLL
      for (int i = 0; i < N; ++i) sum[i] += at[i * m.rows + k * m.columns] * b;
    }
  }
  /// Rows of Q^H b at a cut; for the transposed matrix, the unknowns z of the way up.
  KOKKOS_INLINE_FUNCTION Scalar &at_cut_of(const Join &j, int r, std::int64_t column) const
  {
    return solve.v.cuts[(solve.tree.join_number(j.chain, j.level, j.node) * solve.tree.chain.width() + r) *
                          solve.v.columns +
                        column];
  }

  /// Rows of a join that are multiplied by a matrix.
  KOKKOS_INLINE_FUNCTION int count() const
  {
    return sweep == Sweep::down ? solve.tree.chain.width() : 2 * solve.tree.chain.width();
  }
  /// Stores N products, from row r on, for one column; y: the place of its unknowns.
  template <int N>
  KOKKOS_INLINE_FUNCTION void keep_rows(const Join &j, int r, std::int64_t column, const Numbers &y,
                                        const Scalar (&sum)[N]) const
  {
    const int          W       = solve.tree.chain.width();
    const std::int64_t columns = solve.v.columns;
    Scalar            *cut = &at_cut_of(j, 0, column), *passed = sweep == Sweep::up && !j.closes
                                                                   ? &solve.passed(j.chain, j.level, j.node, 0, column)
                                                                   : nullptr;
    RIBBON_UNROLL
    for (int i = 0; i < N; ++i) {
      if (sweep == Sweep::down) y[r + i] = cut[(r + i) * columns] - sum[i];
      else if (r + i < W) cut[(r + i) * columns] = sum[i];
      else if (passed) passed[(r + i - W) * columns] = sum[i];
    }
  }
  /// Up: Q^H times the values that the children pass; rows from W on are passed on. Down: the contribution
  /// of the unknowns of the cuts before and after. Matrix and operands are in scratch.
  template <int N>
  KOKKOS_INLINE_FUNCTION void multiply_staged(const Join &j, int r, std::int64_t column, const Numbers &y,
                                              const Scalar *matrix, const Numbers &in) const
  {
    const int W      = solve.tree.chain.width();
    Scalar    sum[N] = {};
    multiply(
      Matrix{matrix, 1, count()}, r, j.closes ? (sweep == Sweep::up ? W : 0) : 2 * W,
      [&](int k) { return in[k]; }, sum);
    keep_rows(j, r, column, y, sum);
  }
  /// The same, and the other products, with operands in memory.
  template <int N>
  KOKKOS_INLINE_FUNCTION void multiply_rows(const Join &j, int r, std::int64_t column, const Numbers &y) const
  {
    const int W      = solve.tree.chain.width();
    Scalar    sum[N] = {};
    switch (sweep) {
    case Sweep::up: {
      const Strip before = solve.passed_before(j, column), behind = solve.passed_behind(j, column);
      multiply(
        Matrix{j.q, 1, 2 * W}, r, W, [&](int k) { return before[k]; }, sum);
      if (!j.closes)
        multiply(
          Matrix{j.q + 2 * W * W, 1, 2 * W}, r, W, [&](int k) { return behind[k]; }, sum);
      keep_rows(j, r, column, y, sum);
      break;
    }
    case Sweep::down:
      if (!j.closes) {
        const auto before = solve.cut(j.chain, solve.tree.first_leaf(j.level, j.node), column),
                   behind = solve.cut(j.chain, solve.tree.end_leaf(j.level, j.node), column);
        multiply(
          Matrix{j.c, 1, W}, r, W, [&](int k) { return before[k]; }, sum);
        multiply(
          Matrix{j.c + W * W, 1, W}, r, W, [&](int k) { return behind[k]; }, sum);
      }
      keep_rows(j, r, column, y, sum);
      break;
    case Sweep::up_transposed: // the values to subtract at the unknowns of the cuts before and after
      if (j.closes) break;
      multiply(
        Matrix{j.c, W, 1}, r, W, [&](int k) { return y[k]; }, sum);
      RIBBON_UNROLL
      for (int i = 0; i < N; ++i)
        solve.passed(j.chain, j.level, j.node, r + i, column) =
          (r + i < W ? solve.passed_before(j, column)[r + i] : solve.passed_behind(j, column)[r + i]) +
          sum[i];
      break;
    case Sweep::down_transposed: // x = conj(Q) z
      multiply(
        Matrix{j.q, 2 * W, 1}, r, W, [&](int k) { return at_cut_of(j, k, column); }, sum);
      multiply(
        Matrix{j.q + W, 2 * W, 1}, r, W,
        [&](int k) { return solve.came_down(j.chain, j.level, j.node, k, column); }, sum);
      RIBBON_UNROLL
      for (int i = 0; i < N; ++i) {
        if (r + i < W) solve.passed_before(j, column)[r + i] = sum[i];
        else if (!j.closes) solve.passed_behind(j, column)[r + i - W] = sum[i];
      }
      break;
    }
  }

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

  /// Processes nodes of one level.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void work(const Team &team, std::int64_t chain, int level, const NodeRange &nodes,
                                   std::int64_t column0) const
  {
    const int W        = solve.tree.chain.width(),
              columns  = static_cast<int>(solve.v.columns - column0 < shape.block ? solve.v.columns - column0
                                                                                  : shape.block);
    const int  threads = Team::is_virtual ? 1 : team.size();
    const auto thread  = [&] {
      if constexpr (Team::is_virtual) return 0;
      else return team.rank();
    }();
    const int warp = Team::is_virtual ? 1 : 32, numbers = shape.numbers(W, sweep);
    for (std::int64_t base = nodes.begin; base < nodes.end; base += shape.together) {
      const int here =
        static_cast<int>(nodes.end - base < shape.together ? nodes.end - base : shape.together);
      const auto r_of = [&](int node) {
        return reinterpret_cast<Scalar *>(team.scratch() + 16) + node * numbers;
      };
      const auto y_of = [&](int node, int column) {
        return Numbers{r_of(node) + W * W + column, shape.block};
      };
      const auto matrix_of = [&](int node) { return r_of(node) + shape.triangle(W, sweep); };
      const auto in_of     = [&](int node) { return matrix_of(node) + 2 * W * count(); };

      // copies R of the joins, and staged operands
      const auto bring = [&] {
        for (int node = 0; node < here; ++node) {
          if (!solve.tree.is_join(level, base + node)) continue;
          const Join j  = solve.join_of(chain, level, base + node);
          Scalar    *to = r_of(node);
          for (int e = thread; sweep != Sweep::up && e < W * W; e += threads)
            device::async_copy(to + e, j.r + e);
          if (shape.is_staged && !(sweep == Sweep::down && j.closes))
            stage(j, column0, columns, thread, threads, matrix_of(node), in_of(node));
        }
        device::async_commit(), device::async_wait(0);
        if (shape.is_staged || sweep == Sweep::up_transposed) team.barrier();
      };
      // calls some(join, its place here, row, column) for `together` rows of a join, one(...) for one row
      const auto blocks_of_rows = [&](int together, const auto &some, const auto &one) {
        const int blocks = (count() + together - 1) / together;
        for (int item = thread / warp; item < here * blocks; item += threads / warp) {
          const int node = item / blocks, r = (item - node * blocks) * together;
          if (!solve.tree.is_join(level, base + node)) continue;
          const Join j = solve.join_of(chain, level, base + node);
          for (int c = thread % warp; c < columns; c += warp) {
            if (r + together <= count()) some(j, node, r, c);
            else
              for (int i = r; i < count(); ++i) one(j, node, i, c);
          }
        }
      };
      const auto rows = [&] {
        if (shape.is_staged)
          blocks_of_rows(
            8,
            [&](const Join &j, int node, int r, int c) {
              multiply_staged<8>(j, r, column0 + c, y_of(node, c), matrix_of(node),
                                 Numbers{in_of(node) + c, shape.block});
            },
            [&](const Join &j, int node, int r, int c) {
              multiply_staged<1>(j, r, column0 + c, y_of(node, c), matrix_of(node),
                                 Numbers{in_of(node) + c, shape.block});
            });
        else if (shape.has_lanes)
          blocks_of_rows(
            4,
            [&](const Join &j, int node, int r, int c) {
              multiply_rows<4>(j, r, column0 + c, y_of(node, c));
            },
            [&](const Join &j, int node, int r, int c) {
              multiply_rows<1>(j, r, column0 + c, y_of(node, c));
            });
        else {
          const int items = here * count() * columns;
          for (int item = thread; item < items; item += threads) {
            const int pair = item / columns, node = pair / count();
            if (solve.tree.is_join(level, base + node))
              multiply_rows<1>(solve.join_of(chain, level, base + node), pair - node * count(),
                               column0 + item - pair * columns, y_of(node, item - pair * columns));
          }
        }
        team.barrier();
      };
      const auto triangles = [&] {
        const bool is_transposed = sweep == Sweep::up_transposed,
                   has_lanes     = !Team::is_virtual && shape.has_lanes;
        const int together       = has_lanes ? 1 : warp; // lanes per column
        for (int item = thread / together; item < here * (has_lanes ? warp : columns);
             item += threads / together) {
          const int node   = item / (has_lanes ? warp : columns),
                    column = item - node * (has_lanes ? warp : columns);
          if (column >= columns || !solve.tree.is_join(level, base + node)) continue;
          const Join j = solve.join_of(chain, level, base + node);
          if (is_transposed)
            substitute_transposed(j, r_of(node), column0 + column, thread % together, together,
                                  y_of(node, column));
          else substitute(j, r_of(node), column0 + column, thread % together, together, y_of(node, column));
        }
        team.barrier();
      };
      if (shape.is_staged || sweep == Sweep::down || sweep == Sweep::up_transposed) bring();
      if (sweep == Sweep::up_transposed) triangles();
      rows();
      if (sweep == Sweep::down) triangles();
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

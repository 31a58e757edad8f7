// SPDX-License-Identifier: BSD-2-Clause
/// @file join_products.hpp  Products with the matrices of joins of any width in a solve.
#pragma once

#include <ribbon/multifrontal/qr/solve.hpp>

namespace ribbon::multifrontal {

/// Products of rows of Q^H, or of the columns of the cuts before and after a join, for one column of
/// right-hand sides.
template <class Scalar>
struct QrJoinProducts {
  QrSolve<Scalar> solve; ///< its tree has the stages of solves
  Sweep           sweep;

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
};

} // namespace ribbon::multifrontal

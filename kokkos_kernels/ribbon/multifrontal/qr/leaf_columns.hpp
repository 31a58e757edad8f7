// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_columns.hpp  Many right-hand sides at the leaves of chains without tiles, by orthogonal
///   elimination. For few, and for transposed matrices, see qr/leaf_solve.hpp.
#pragma once

#include <ribbon/multifrontal/leaf_lanes.hpp>
#include <ribbon/multifrontal/qr/solve.hpp>

namespace ribbon::multifrontal {

/// A lane has a column, with window values in registers. Its group has a leaf, and copies rows of its
/// columns and factors to scratch, a chunk of steps at a time. For W = kl + ku <= P: if W < P, some factors
/// are zero.
template <class Scalar, int P>
struct QrLeafColumnsKernel : LeafLanes<Scalar> {
  static constexpr int teams_beside = P * sizeof(Scalar) <= 128 ? 4 : 2;
  static constexpr int chunk        = P <= 16 ? 16 : 8;
  /// unknowns that are computed before the window is shifted
  static constexpr int together = 4;
  static constexpr int pack     = device::pack<Scalar>; ///< factors per load from scratch
  using Base                    = LeafLanes<Scalar>;
  using Real                    = real_t<Scalar>;
  using Lane                    = typename Base::Lane;
  using Numbers                 = Scalar[P];
  using Base::for_lanes, Base::is_active, Base::row, Base::sync, Base::shape;
  QrSolve<Scalar> solve;
  bool            is_up;

  struct alignas(pack * sizeof(Scalar)) Pack {
    Scalar of[pack];
  };
  /// Scalars of a step in scratch: the factors of window values, then the single factor of the step.
  KOKKOS_INLINE_FUNCTION static constexpr int step(int columns) { return columns * P + pack; }
  static constexpr int                        numbers(int ld) { return chunk * (ld + step(2) + 1); }

  KOKKOS_INLINE_FUNCTION Scalar *factors(const Lane &l) const { return l.rows + chunk * shape.ld(); }
  KOKKOS_INLINE_FUNCTION Real   &scale(const Lane &l, int r) const
  {
    return reinterpret_cast<Real *>(factors(l) + chunk * step(2))[r];
  }
  KOKKOS_INLINE_FUNCTION static void read(const Scalar *from, Numbers &to)
  {
    RIBBON_UNROLL
    for (int k = 0; k < P; k += pack) {
      const Pack some = *reinterpret_cast<const Pack *>(from + k);
      RIBBON_UNROLL
      for (int i = 0; i < pack; ++i) to[k + i] = some.of[i];
    }
  }

  /// Calls body(place in scratch, place in memory) for a lane's part of n rows of the columns of the group;
  /// at(r): row r of the first column, or null.
  template <class Number, class At, class Body>
  KOKKOS_INLINE_FUNCTION void for_rows(const Lane &l, int n, std::int64_t ld, const At &at,
                                       const Body &body) const
  {
    const int abreast = shape.lanes() < chunk ? shape.lanes() : chunk, c0 = l.lane / abreast,
              apart = shape.lanes() / abreast;
    for (int r = l.lane % abreast; r < n; r += abreast) {
      Scalar *near = &l.rows[r * shape.ld()];
      Number *far  = at(r);
      if (far) far += c0 * ld;
      for (int c = c0; c < l.columns; c += apart) {
        body(near[c], far);
        if (far) far += apart * ld;
      }
    }
  }
  /// Starts to copy the factors of n steps: the single factor, W factors of the first window values and, if
  /// `columns` is 2, W factors of the others.
  KOKKOS_INLINE_FUNCTION void bring_factors(const Lane &l, int n, const Scalar *from, int columns) const
  {
    const int W = solve.tree.chain.width(), count = columns * W + 1;
    for (int k = l.lane; k < count; k += shape.lanes()) {
      const Scalar *far  = from + static_cast<std::int64_t>(k) * solve.factors.together;
      Scalar       *near = factors(l) + (k == 0 ? columns * P : k <= W ? k - 1 : P + k - W - 1);
      for (int s = 0; s < n;
           ++s, near += step(columns), far += static_cast<std::int64_t>(count) * solve.factors.together)
        device::async_copy(near, far);
    }
  }
  KOKKOS_INLINE_FUNCTION void await() const
  {
    device::async_commit(), device::async_wait(0);
    sync();
  }
  /// Zeros for factors beyond W.
  KOKKOS_INLINE_FUNCTION void clear_factors(const Lane &l) const
  {
    if (solve.tree.chain.width() == P) return;
    for (int e = l.lane; e < chunk * step(2); e += shape.lanes()) factors(l)[e] = Scalar(0);
    sync();
  }
  /// The first factor of step s.
  KOKKOS_INLINE_FUNCTION const Scalar *factor_at(const Leaf &leaf, const Scalar *all, int s, int count) const
  {
    return solve.factors.step(all, solve.tree, leaf.chain, leaf.node, s, count).at;
  }

  /// Starts to copy rows i to i + n - 1 of a leaf and their scales.
  KOKKOS_INLINE_FUNCTION void bring_rows(const Lane &l, const Leaf &leaf, int i, int n) const
  {
    const Chain       &chain = solve.tree.chain;
    const std::int64_t first = leaf.first + i, column = l.column - l.here;
    for (int r = l.lane; r < n; r += shape.lanes())
      scale(l, r) = has_row(chain, first + r)
                      ? solve.factors.scale(solve.tree, leaf.chain, leaf.node, first + r)
                      : Real(0);
    for_rows<const Scalar>(
      l, n, solve.v.ldb,
      [&](int r) { return has_row(chain, first + r) ? &solve.b(leaf.chain, first + r, column) : nullptr; },
      [](Scalar &near, const Scalar *far) {
        if (far) device::async_copy(&near, far);
        else near = Scalar(0);
      });
  }
  /// Turns row r of the chunk, row i of its chain, into a row of Q^H b.
  /// @tparam Ends  row i may be after the end, see Leaf
  template <bool Ends>
  KOKKOS_INLINE_FUNCTION void reflect(const Lane &l, int r, std::int64_t i, Numbers &w) const
  {
    const Scalar *at = factors(l) + r * step(1);
    Numbers       v;
    read(at, v);
    Scalar y = row(l, r) * scale(l, r);
    if (Ends && !has_row(solve.tree.chain, i)) {
      const int instead = row_instead(solve.tree.chain, i);
      RIBBON_UNROLL
      for (int k = 0; k < P; ++k)
        if (k == instead) y = taken(w[k]);
    }
    Scalar sum = y, other(0);
    RIBBON_UNROLL
    for (int k = 0; k < P; k += 2) sum += conjugate(v[k]) * w[k], other += conjugate(v[k + 1]) * w[k + 1];
    sum = (sum + other) * at[P];
    RIBBON_UNROLL
    for (int k = 0; k < P; ++k) w[k] -= v[k] * sum;
    row(l, r) = y - sum;
  }
  /// Turns rows of b into rows of Q^H b.
  KOKKOS_INLINE_FUNCTION void up(const Lane &l, const Leaf &leaf) const
  {
    const Chain       &chain = solve.tree.chain;
    const int          W     = chain.width();
    const std::int64_t first = leaf.first + W, column = l.column - l.here;
    Numbers            w = {};
    for (int i = 0; i < W; i += chunk) {
      const int n = W - i < chunk ? W - i : chunk;
      bring_rows(l, leaf, i, n), await();
      RIBBON_UNROLL
      for (int k = 0; k < P; ++k)
        if (k >= i && k < i + n) w[k] = row(l, k - i) * scale(l, k - i);
      sync();
    }
    for (int s = 0; s < leaf.own; s += chunk) {
      const int n = leaf.own - s < chunk ? leaf.own - s : chunk;
      bring_rows(l, leaf, W + s, n),
        bring_factors(l, n, factor_at(leaf, solve.factors.reflection, s, W + 1), 1), await();
      if (has_row(chain, first + s + n - 1))
        for (int r = 0; r < n; ++r) reflect<false>(l, r, 0, w);
      else
        for (int r = 0; r < n; ++r) reflect<true>(l, r, first + s + r, w);
      sync();
      for_rows<Scalar>(
        l, n, solve.v.ldx, [&](int r) { return &solve.x(leaf.chain, leaf.first + chain.ku + s + r, column); },
        [](const Scalar &near, Scalar *far) { *far = near; });
      sync();
    }
    if (!is_active(l)) return;
    Scalar *to = &solve.passed(leaf.chain, 0, leaf.node, 0, l.column);
    RIBBON_UNROLL
    for (int k = 0; k < P; ++k)
      if (k < W) to[k * solve.v.columns] = w[k];
  }

  /// Computes the unknowns of N rows of the chunk, of which r is the last. `w`: the unknowns after them,
  /// the nearest first; `left`: those of the cut before the leaf.
  template <int N>
  KOKKOS_INLINE_FUNCTION void substitute(const Lane &l, int r, Numbers &w, const Numbers &left) const
  {
    Scalar found[N];
    RIBBON_UNROLL
    for (int u = 0; u < N; ++u) {
      const Scalar *at = factors(l) + (r - u) * step(2);
      Numbers       upper;
      Scalar        sum = row(l, r - u), other(0);
      read(at + P, upper);
      RIBBON_UNROLL
      for (int k = 0; k < P; k += 2) sum -= upper[k] * left[k], other -= upper[k + 1] * left[k + 1];
      read(at, upper);
      RIBBON_UNROLL
      for (int k = P - 1; k > u; k -= 2) {
        other -= upper[k] * w[k - u];
        if (k - 1 > u) sum -= upper[k - 1] * w[k - 1 - u];
      }
      sum += other;
      sum -= upper[u] * w[0];
      RIBBON_UNROLL
      for (int k = N - 1; k >= 0; --k) // the most recent unknown is used last
        if (k < u) sum -= upper[k] * found[u - 1 - k];
      found[u] = row(l, r - u) = sum * at[2 * P];
    }
    RIBBON_UNROLL
    for (int k = P - 1; k >= 0; --k) w[k] = k < N ? found[k < N ? N - 1 - k : 0] : w[k < N ? 0 : k - N];
  }
  /// The triangular solve.
  KOKKOS_INLINE_FUNCTION void down(const Lane &l, const Leaf &leaf) const
  {
    const int          W      = solve.tree.chain.width();
    const std::int64_t first  = leaf.first + solve.tree.chain.ku;
    const auto         column = is_active(l) ? l.column : 0;
    const auto         before = solve.cut(leaf.chain, leaf.node, column),
               behind         = solve.cut(leaf.chain, leaf.node + 1, column);
    Numbers w = {}, left = {};
    RIBBON_UNROLL
    for (int k = 0; k < P; ++k)
      if (k < W) w[k] = behind[k], left[k] = before[k];
    for (int s = leaf.own > 0 ? (leaf.own - 1) / chunk * chunk : -1; s >= 0; s -= chunk) {
      const int  n    = leaf.own - s < chunk ? leaf.own - s : chunk;
      const auto x_at = [&](int r) { return &solve.x(leaf.chain, first + s + r, l.column - l.here); };
      for_rows<const Scalar>(l, n, solve.v.ldx, x_at,
                             [](Scalar &near, const Scalar *far) { device::async_copy(&near, far); });
      bring_factors(l, n, factor_at(leaf, solve.factors.upper, s, 2 * W + 1), 2), await();
      int r = n - 1;
      for (; r >= together - 1; r -= together) substitute<together>(l, r, w, left);
      for (; r >= 0; --r) substitute<1>(l, r, w, left);
      sync();
      for_rows<Scalar>(l, n, solve.v.ldx, x_at, [](const Scalar &near, Scalar *far) { *far = near; });
      sync();
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree &tree = solve.tree;
    for_lanes(team, tree.chain.width(), tree.chain.chains * tree.leaves, solve.v.columns, [&](const Lane &l) {
      const Leaf leaf(tree, l.node / tree.leaves, l.node % tree.leaves);
      clear_factors(l);
      if (is_up) up(l, leaf);
      else down(l, leaf);
    });
  }
};

} // namespace ribbon::multifrontal

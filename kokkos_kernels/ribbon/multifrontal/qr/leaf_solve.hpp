// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_solve.hpp  Leaves of any width in a solve by orthogonal elimination. For narrow ones see
///   qr/tile.hpp.
#pragma once

#include <ribbon/multifrontal/leaf_lanes.hpp>
#include <ribbon/multifrontal/qr/solve.hpp>

namespace ribbon::multifrontal {

/// The window values of a column are its rows of the window. In triangular solves, unknown m of the leaf is
/// at m % (W + 1), followed by those of the cut before.
template <class Scalar>
struct QrLeafSolveKernel : LeafLanes<Scalar> {
  using Base    = LeafLanes<Scalar>;
  using Lane    = typename Base::Lane;
  using Numbers = typename Base::Numbers;
  using Base::bring_numbers, Base::for_lanes, Base::for_own, Base::for_steps, Base::is_active, Base::number,
    Base::row, Base::store_numbers, Base::sum_of_parts, Base::sync;
  QrSolve<Scalar> solve;
  Sweep           sweep;

  KOKKOS_INLINE_FUNCTION const Scalar *first_step(const Leaf &leaf, const Scalar *all, int count) const
  {
    return solve.factors.step(all, solve.tree, leaf.chain, leaf.node, 0, count).at;
  }

  /// Turns rows of b into rows of Q^H b.
  KOKKOS_INLINE_FUNCTION void up(const Lane &l, const Leaf &leaf) const
  {
    const Chain       &chain  = solve.tree.chain;
    const int          W      = chain.width();
    const std::int64_t first  = leaf.first;
    const auto         row_of = [&](std::int64_t place, std::int64_t column) {
      return has_row(chain, place) ? solve.scaled_b(leaf, place, column) : Scalar(0);
    };
    bring_numbers(l, W, [&](int k, std::int64_t column) { return row_of(first + k, column); });
    for_steps(
      l, leaf.own, true, first_step(leaf, solve.factors.reflection, W + 1), solve.factors.together, W + 1,
      [&](int s, std::int64_t column) { return row_of(first + W + s, column); },
      [&](int s, int r, const Numbers &reflection) {
        Scalar entering = row(l, r);
        if (!has_row(chain, first + W + s)) {
          const int k = row_instead(chain, first + W + s);
          sync();
          entering = number(l, k);
          sync();
          if (k % this->shape.parts == l.part) number(l, k) = Scalar(0);
        }
        Scalar sum(0);
        for_own(
          l, W, [&](int k) { return reflection[1 + k]; },
          [&](const Scalar &v, const Scalar &y, Scalar &) { sum += conjugate(v) * y; });
        sum = (entering + sum_of_parts(sum)) * reflection[0];
        for_own(
          l, W, [&](int k) { return reflection[1 + k]; },
          [&](const Scalar &v, const Scalar &y, Scalar &place) { place = y - v * sum; });
        sync(); // all lanes have read the row
        if (l.part == 0) row(l, r) = entering - sum;
      },
      [&](int s, std::int64_t column, const Scalar &value) {
        solve.x(leaf.chain, first + chain.ku + s, column) = value;
      });
    if (is_active(l))
      for_own(l, W, [&](int k) { solve.passed(leaf.chain, 0, leaf.node, k, l.column) = number(l, k); });
  }

  /// The factor of step s for window value k: 0 for unknown s itself.
  KOKKOS_INLINE_FUNCTION static int factor_of(int k, int pivot, int W)
  {
    return k > W || k == pivot ? (k == pivot ? 0 : k) : k > pivot ? k - pivot : k - pivot + W + 1;
  }

  /// The triangular solve.
  KOKKOS_INLINE_FUNCTION void down(const Lane &l, const Leaf &leaf) const
  {
    const int          W     = solve.tree.chain.width();
    const std::int64_t first = leaf.first + solve.tree.chain.ku;
    const auto         x_at  = [&](int s, std::int64_t column) -> Scalar          &{
      return solve.x(leaf.chain, first + s, column);
    };
    const auto column = is_active(l) ? l.column : 0;
    const auto before = solve.cut(leaf.chain, leaf.node, column),
               behind = solve.cut(leaf.chain, leaf.node + 1, column);
    for_own(l, W, [&](int k) {
      number(l, W + 1 + k) = before[k], number(l, (leaf.own + k) % (W + 1)) = behind[k];
    });
    if (l.part == 0) number(l, (leaf.own + W) % (W + 1)) = Scalar(0); // is read before it is computed
    for_steps(
      l, leaf.own, false, first_step(leaf, solve.factors.upper, 2 * W + 1), solve.factors.together, 2 * W + 1,
      [&](int s, std::int64_t c) { return x_at(s, c); },
      [&](int s, int r, const Numbers &upper) {
        const int pivot = s % (W + 1);
        Scalar    sum(0);
        sync(); // the most recent unknown is written
        for_own(
          l, 2 * W + 1,
          [&](int k) {
            const int at = factor_of(k, pivot, W);
            return at == 0 ? Scalar(0) : upper[at];
          },
          [&](const Scalar &u, const Scalar &y, Scalar &) { sum += u * y; });
        sum = sum_of_parts(sum);
        sync(); // all lanes have read the window
        if (l.part == 0) row(l, r) = number(l, pivot) = (row(l, r) - sum) * upper[0];
      },
      [&](int s, std::int64_t c, const Scalar &value) { x_at(s, c) = value; });
  }

  /// A^T x = b. Up: R^T z = b, while every node passes on the values to subtract from b at the cuts before
  /// and after it.
  KOKKOS_INLINE_FUNCTION void up_transposed(const Lane &l, const Leaf &leaf) const
  {
    const int          W     = solve.tree.chain.width();
    const std::int64_t first = leaf.first + solve.tree.chain.ku;
    for_own(l, 2 * W + 1, [&](int k) { number(l, k) = Scalar(0); });
    for_steps(
      l, leaf.own, true, first_step(leaf, solve.factors.upper, 2 * W + 1), solve.factors.together, 2 * W + 1,
      [&](int s, std::int64_t column) { return solve.b(leaf.chain, first + s, column); },
      [&](int s, int r, const Numbers &upper) {
        const int pivot = s % (W + 1);
        sync(); // the values to subtract are written
        const Scalar z = (row(l, r) - number(l, pivot)) * upper[0];
        sync();
        for_own(
          l, 2 * W + 1, [&](int k) { return upper[factor_of(k, pivot, W)]; },
          [&](const Scalar &u, const Scalar &y, Scalar &place) { place = y + u * z; });
        if (pivot % this->shape.parts == l.part) number(l, pivot) = Scalar(0);
        if (l.part == 0) row(l, r) = z;
      },
      [&](int s, std::int64_t column, const Scalar &value) {
        solve.x(leaf.chain, first + s, column) = value;
      });
    if (is_active(l))
      for_own(l, W, [&](int k) {
        solve.passed(leaf.chain, 0, leaf.node, k, l.column)     = number(l, W + 1 + k);
        solve.passed(leaf.chain, 0, leaf.node, W + k, l.column) = number(l, (leaf.own + k) % (W + 1));
      });
  }

  /// Down: x = conj(Q) z.
  KOKKOS_INLINE_FUNCTION void down_transposed(const Lane &l, const Leaf &leaf) const
  {
    const Chain       &chain = solve.tree.chain;
    const int          W     = chain.width();
    const std::int64_t first = leaf.first;
    // stores a row of x
    const auto leave = [&](std::int64_t place, std::int64_t column, const Scalar &value) {
      if (has_row(chain, place))
        solve.x(leaf.chain, place, column) =
          value * solve.factors.scale(solve.tree, leaf.chain, leaf.node, place);
    };
    for_own(l, W, [&](int k) {
      number(l, k) = is_active(l) ? solve.came_down(leaf.chain, 0, leaf.node, k, l.column) : Scalar(0);
    });
    for_steps(
      l, leaf.own, false, first_step(leaf, solve.factors.reflection, W + 1), solve.factors.together, W + 1,
      [&](int s, std::int64_t column) { return solve.x(leaf.chain, first + chain.ku + s, column); },
      [&](int s, int r, const Numbers &reflection) {
        const Scalar z = row(l, r);
        Scalar       sum(0);
        for_own(
          l, W, [&](int k) { return reflection[1 + k]; },
          [&](const Scalar &v, const Scalar &y, Scalar &) { sum += v * y; });
        sum = (z + sum_of_parts(sum)) * reflection[0];
        for_own(
          l, W, [&](int k) { return reflection[1 + k]; },
          [&](const Scalar &v, const Scalar &y, Scalar &place) { place = y - conjugate(v) * sum; });
        sync(); // all lanes have read the row
        if (has_row(chain, first + W + s)) {
          if (l.part == 0) row(l, r) = z - sum;
        } else if (row_instead(chain, first + W + s) % this->shape.parts == l.part)
          number(l, row_instead(chain, first + W + s)) = z - sum;
      },
      [&](int s, std::int64_t column, const Scalar &value) { leave(first + W + s, column, value); });
    store_numbers(l, W,
                  [&](int k, std::int64_t column, const Scalar &value) { leave(first + k, column, value); });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree &tree = solve.tree;
    for_lanes(team, tree.chain.width(), tree.chain.chains * tree.leaves, solve.v.columns, [&](const Lane &l) {
      const Leaf leaf(tree, l.node / tree.leaves, l.node % tree.leaves);
      switch (sweep) {
      case Sweep::up:
        up(l, leaf);
        break;
      case Sweep::down:
        down(l, leaf);
        break;
      case Sweep::up_transposed:
        up_transposed(l, leaf);
        break;
      case Sweep::down_transposed:
        down_transposed(l, leaf);
        break;
      }
    });
  }
};

} // namespace ribbon::multifrontal

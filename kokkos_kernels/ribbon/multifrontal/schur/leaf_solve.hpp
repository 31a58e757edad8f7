// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_solve.hpp  Leaves of any half-bandwidth in a solve without pivots. For narrow ones see
///   schur/tile.hpp.
#pragma once

#include <ribbon/multifrontal/leaf_lanes.hpp>
#include <ribbon/multifrontal/schur/factors.hpp>

namespace ribbon::multifrontal {

/// The window values of a column: for unknown j of the leaf, at j % (w + 1), the value to subtract from it,
/// or the unknown; after these the values of the cut before.
template <class Scalar>
struct SchurLeafLanesSolveKernel : LeafLanes<Scalar> {
  using Base    = LeafLanes<Scalar>;
  using Lane    = typename Base::Lane;
  using Numbers = typename Base::Numbers;
  using Base::for_lanes, Base::for_own, Base::for_steps, Base::is_active, Base::number, Base::row,
    Base::sum_of_parts, Base::sync;
  SchurSolve<Scalar> solve;
  bool               is_up;

  KOKKOS_INLINE_FUNCTION const Scalar *first_step(const SchurLeaf &leaf, const Scalar *all, int count) const
  {
    return all + solve.factors.place(solve.at.tree, leaf.chain, leaf.node, count);
  }

  /// The factor of step j for window value k; -1 for unknown j itself.
  KOKKOS_INLINE_FUNCTION static int factor_of(int k, int pivot, int w)
  {
    return k > w ? k - 1 : k >= pivot ? k - pivot - 1 : k - pivot + w;
  }

  KOKKOS_INLINE_FUNCTION void up(const Lane &l, const SchurLeaf &leaf) const
  {
    const int  w = cut_width(solve.at.tree.chain), n = leaf.left ? 2 * w + 1 : w + 1;
    const auto passed = [&](int k) -> Scalar & {
      return solve.at.passed(leaf.chain, 0, leaf.node, k, l.column);
    };
    for_own(l, 2 * w + 1, [&](int k) { number(l, k) = Scalar(0); });
    for_steps(
      l, leaf.own, true, first_step(leaf, solve.factors.lower, solve.factors.numbers), solve.factors.together,
      solve.factors.numbers,
      [&](int s, std::int64_t column) { return solve.at.b(leaf.chain, leaf.first + s, column); },
      [&](int s, int r, const Numbers &lower) {
        const int pivot = s % (w + 1);
        sync(); // the values to subtract are written
        const Scalar y = row(l, r) - number(l, pivot);
        sync();
        for_own(
          l, n,
          [&](int k) {
            const int at = factor_of(k, pivot, w);
            return lower[at < 0 ? 0 : at];
          },
          [&](const Scalar &f, const Scalar &before, Scalar &place) { place = before + f * y; });
        if (pivot % this->shape.parts == l.part) number(l, pivot) = Scalar(0);
        if (l.part == 0) row(l, r) = y;
      },
      [&](int s, std::int64_t column, const Scalar &value) {
        solve.at.x(leaf.chain, leaf.first + s, column) = value;
      });
    if (!is_active(l)) return;
    for_own(l, w, [&](int k) {
      if (leaf.left) passed(k) = -number(l, w + 1 + k);
      if (leaf.right)
        passed(w + k) =
          solve.at.b(leaf.chain, leaf.first + leaf.own + k, l.column) - number(l, (leaf.own + k) % (w + 1));
    });
  }

  KOKKOS_INLINE_FUNCTION void down(const Lane &l, const SchurLeaf &leaf) const
  {
    const int  w = cut_width(solve.at.tree.chain), n = leaf.left ? 2 * w + 1 : w + 1;
    const auto d = Numbers{first_step(leaf, solve.factors.pivot, 1), solve.factors.together};
    for_own(l, w, [&](int k) {
      number(l, w + 1 + k) =
        is_active(l) && leaf.left ? solve.at_cut(leaf.chain, leaf.first, k, l.column) : Scalar(0);
      number(l, (leaf.own + k) % (w + 1)) = is_active(l) && leaf.right
                                              ? solve.at_cut(leaf.chain, leaf.first + leaf.rows, k, l.column)
                                              : Scalar(0);
    });
    if (l.part == 0) number(l, (leaf.own + w) % (w + 1)) = Scalar(0); // is read before it is computed
    for_steps(
      l, leaf.own, false, first_step(leaf, solve.factors.upper, solve.factors.numbers),
      solve.factors.together, solve.factors.numbers,
      [&](int s, std::int64_t column) { return solve.at.x(leaf.chain, leaf.first + s, column) * d[s]; },
      [&](int s, int r, const Numbers &upper) {
        const int pivot = s % (w + 1);
        Scalar    sum(0);
        sync(); // the most recent unknown is written
        for_own(
          l, n,
          [&](int k) {
            const int at = factor_of(k, pivot, w);
            return at < 0 ? Scalar(0) : upper[at];
          },
          [&](const Scalar &u, const Scalar &found, Scalar &) { sum += u * found; });
        sum = sum_of_parts(sum);
        sync(); // all lanes have read the window
        if (l.part == 0) row(l, r) = number(l, pivot) = row(l, r) - sum;
      },
      [&](int s, std::int64_t column, const Scalar &value) {
        solve.at.x(leaf.chain, leaf.first + s, column) = value;
      });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree &tree = solve.at.tree;
    for_lanes(team, cut_width(tree.chain), tree.chain.chains * tree.leaves, solve.at.v.columns,
              [&](const Lane &l) {
                const SchurLeaf leaf(tree, l.node / tree.leaves, l.node % tree.leaves);
                if (is_up) up(l, leaf);
                else down(l, leaf);
              });
  }
};

} // namespace ribbon::multifrontal

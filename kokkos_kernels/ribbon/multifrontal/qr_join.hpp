// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_join.hpp  Joins of a tree: QR of what two neighbours pass on.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

/// A team works off some levels, a group of its lanes a join at a time. Fronts stay in global memory, where the caches hold them.
template <class Scalar>
struct QrJoinKernel {
  static constexpr int max_threads = 1024;
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  Tree            tree;
  Levels          levels;
  Groups          shape;
  Factors<Scalar> factors;

  /// A join, and what its children pass.
  struct Front {
    typename Factors<Scalar>::Passed before, behind;
    typename Factors<Scalar>::Join   join;
    NodeSize                         size_before, size_behind;
    Statistics                      *statistics;
    const Statistics                *statistics_before, *statistics_behind;
    int                              rows, columns; ///< besides Q
    bool                             closes;        ///< the ends of a ring
  };
  KOKKOS_INLINE_FUNCTION Front front_of(std::int64_t chain, int level, std::int64_t node) const
  {
    const bool   closes = level > tree.levels;
    int          l = level - 1, r = level - 1;
    std::int64_t left = closes ? 0 : 2 * node, right = closes ? 0 : 2 * node + 1;
    tree.resolve(l, left), tree.resolve(r, right);
    const NodeSize size = tree.size(level, node), before = tree.size(l, left), behind = tree.size(r, right);
    return {factors.passed(tree, chain, l, left),
            factors.passed(tree, chain, r, right),
            factors.join_at(tree, chain, level, node),
            before,
            behind,
            &factors.statistics(tree, chain, level, node),
            &factors.statistics(tree, chain, l, left),
            &factors.statistics(tree, chain, r, right),
            closes ? before.rows : before.rows + behind.rows,
            tree.chain.width() + size.left + size.right,
            closes};
  }
  /// Columns are numbered as in Factors::Join; those of the cut before the node come at W, those of the cut behind at W + size.left, Q at 3 W.
  KOKKOS_INLINE_FUNCTION int column_at(const Front &f, int c) const { return c < f.columns ? c : 3 * tree.chain.width() + c - f.columns; }

  KOKKOS_INLINE_FUNCTION static Scalar larger(const Scalar &a, const Scalar &b) { return magnitude(a) <= magnitude(b) ? b : a; }

  /// One lane's columns, gathered from the children; Q begins as the identity. The scale of a column of the cut waits in tau.
  KOKKOS_INLINE_FUNCTION void gather(const Front &f, int lane) const
  {
    const int W = tree.chain.width(), first = f.size_before.rows;
    for (int c = lane; c < f.columns + f.rows; c += shape.lanes) {
      Scalar    *top = f.join.top(column_at(f, c)), *bottom = f.join.bottom(column_at(f, c));
      const auto put = [&](int i, const Scalar &value) { (i < W ? top[i] : bottom[i - W]) = value; };
      if (c >= f.columns) {
        for (int i = 0; i < f.rows; ++i) put(i, Scalar(i == c - f.columns ? Real(1) : Real(0)));
        continue;
      }
      const int before = c < W ? f.size_before.left + c : c - W < f.size_before.left ? c - W : -1; // column of the child before, and of the one behind
      const int behind = c < W ? c : c - W < f.size_before.left ? -1 : f.size_behind.left + c - W - f.size_before.left;
      Scalar    scale;
      if (f.closes) {
        for (int i = 0; i < f.rows; ++i) put(i, f.before.entry(i, behind) + f.before.entry(i, before));
        scale = larger(f.before.scale(behind), f.before.scale(before));
      } else {
        for (int i = 0; i < first; ++i) put(i, before < 0 ? Scalar(0) : f.before.entry(i, before));
        for (int i = first; i < f.rows; ++i) put(i, behind < 0 ? Scalar(0) : f.behind.entry(i - first, behind));
        scale = before < 0 ? f.behind.scale(behind) : behind < 0 ? f.before.scale(before) : larger(f.before.scale(before), f.behind.scale(behind));
      }
      (c < W ? f.join.tau[c] : f.join.passed.scale(c - W)) = scale;
    }
  }

  KOKKOS_INLINE_FUNCTION void reflect(const Front &f, int k, std::int64_t column_number) const
  {
    const int W   = tree.chain.width();
    Scalar   *top = f.join.top(k), *bottom = f.join.bottom(k);
    Real      rest = 0;
    for (int i = k + 1; i < W; ++i) rest += squared(top[i]);
    for (int i = 0; i < f.rows - W; ++i) rest += squared(bottom[i]);
    const Reflector<Scalar> h = make_reflector(top[k], rest);
    for (int i = k + 1; i < W; ++i) top[i] *= h.factor;
    for (int i = 0; i < f.rows - W; ++i) bottom[i] *= h.factor;
    top[k] = Scalar(h.one_over_beta);
    f.statistics->take(h.beta, magnitude(f.join.tau[k]), column_number);
    f.join.tau[k] = h.tau_conjugate;
  }

  KOKKOS_INLINE_FUNCTION void apply(const Front &f, int k, int c) const
  {
    const int     W = tree.chain.width();
    const Scalar *v = f.join.top(k), *w = f.join.bottom(k);
    Scalar       *top = f.join.top(c), *bottom = f.join.bottom(c);
    Scalar        sum = top[k];
    for (int i = k + 1; i < W; ++i) sum += conjugate(v[i]) * top[i];
    for (int i = 0; i < f.rows - W; ++i) sum += conjugate(w[i]) * bottom[i];
    sum *= f.join.tau[k];
    top[k] -= sum;
    for (int i = k + 1; i < W; ++i) top[i] -= v[i] * sum;
    for (int i = 0; i < f.rows - W; ++i) bottom[i] -= w[i] * sum;
  }

  /// Joins the pairs below nodes base + group of a level.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void join(const Team &team, std::int64_t chain, int level, std::int64_t base, std::int64_t end) const
  {
    const int  W      = tree.chain.width();
    const auto phases = [&](const auto &body) {
      for_each_lane(team, shape, [&](int group, int lane) {
        const std::int64_t node = base + group;
        if (node < end && tree.is_join(level, node)) body(front_of(chain, level, node), node, lane);
      });
      team.barrier();
    };
    const auto column_number = [&](std::int64_t node, int k) {
      const std::int64_t c = tree.cut(level, node) - tree.chain.kl + k;
      return chain * tree.chain.rows + (c < 0 ? c + tree.chain.rows : c);
    };
    phases([&](const Front &f, std::int64_t node, int lane) {
      gather(f, lane);
      if (lane != 0) return;
      *f.statistics = *f.statistics_before;
      if (!f.closes) f.statistics->join(*f.statistics_behind);
      if (W > 0) reflect(f, 0, column_number(node, 0));
    });
    for (int k = 0; k < W; ++k)
      phases([&](const Front &f, std::int64_t node, int lane) {
        for (int c = lane; c < f.columns + f.rows; c += shape.lanes) {
          if (c <= k) continue;
          apply(f, k, column_at(f, c));
          if (c == k + 1 && c < W) reflect(f, c, column_number(node, c));
        }
      });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t chain = team.league_rank() / tree.count[levels.top], top = team.league_rank() % tree.count[levels.top];
    for (int level = levels.bottom + 1; level <= levels.top; ++level) {
      const NodeRange nodes = tree.below(levels.top, top, level);
      for (std::int64_t node = nodes.begin; node < nodes.end; node += shape.groups) join(team, chain, level, node, nodes.end);
    }
  }
};

} // namespace ribbon::multifrontal

// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_join.hpp  Joins of a tree: QR of what two neighbours pass on.
#pragma once

#include <ribbon/dense_elimination.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

/// A join, and what its children pass.
template <class Scalar>
struct Front {
  using Statistics = typename Factors<Scalar>::Statistics;
  typename Factors<Scalar>::Passed before, behind;
  typename Factors<Scalar>::Join   join;
  Statistics                      *statistics;
  const Statistics                *statistics_before, *statistics_behind;
  bool                             closes; ///< the ends of a ring: both are the same child

  KOKKOS_INLINE_FUNCTION Front(const Factors<Scalar> &factors, const Tree &tree, std::int64_t chain, int level, std::int64_t node) : join(factors.join_at(tree, chain, level, node)), closes(level > tree.levels)
  {
    int          l = level - 1, r = level - 1;
    std::int64_t left = closes ? 0 : 2 * node, right = closes ? 0 : 2 * node + 1;
    tree.resolve(l, left), tree.resolve(r, right);
    before = factors.passed(tree, chain, l, left), behind = factors.passed(tree, chain, r, right);
    statistics        = &factors.statistics(tree, chain, level, node);
    statistics_before = &factors.statistics(tree, chain, l, left), statistics_behind = &factors.statistics(tree, chain, r, right);
  }
  /// Rows of a front that change places with those W further: the first ku of a child at the beginning of a chain are zeros, which must not be pivots, see Leaf.
  KOKKOS_INLINE_FUNCTION static int exchanged(const Tree &tree, std::int64_t node) { return node == 0 && !tree.chain.is_open_left() ? tree.chain.ku : 0; }
  /// Unknown k of the cut.
  KOKKOS_INLINE_FUNCTION static std::int64_t column_number(const Tree &tree, std::int64_t chain, int level, std::int64_t node, int k)
  {
    const std::int64_t c = tree.cut(level, node) - tree.chain.kl + k;
    return chain * tree.chain.rows + (c < 0 ? c + tree.chain.rows : c);
  }
};

/// A team works off some levels, a group of its lanes a join at a time. Fronts stay in global memory, where the caches hold them.
template <class Scalar>
struct QrJoinKernel {
  static constexpr int max_threads = 1024;
  using Real                       = real_t<Scalar>;
  using Front                      = multifrontal::Front<Scalar>;
  Tree            tree;
  Levels          levels;
  Groups          shape;
  Factors<Scalar> factors;

  /// Columns are numbered as in Factors::Join: W of the cut, W of the cut before, W of the cut behind, 2 W of Q. A ring closes without the middle ones, of W rows and as many zeros.
  KOKKOS_INLINE_FUNCTION static Scalar larger(const Scalar &a, const Scalar &b) { return magnitude(a) <= magnitude(b) ? b : a; }

  /// One lane's columns, gathered from the children; Q begins as the identity. The scale of a column of the cut waits in tau.
  KOKKOS_INLINE_FUNCTION void gather(const Front &f, std::int64_t node, int lane) const
  {
    const int W = tree.chain.width();
    for (int c = lane; c < 5 * W; c += shape.lanes) {
      Scalar   *top = f.join.top(c), *bottom = f.join.bottom(c);
      const int before = c < W ? W + c : c < 2 * W && !f.closes ? c - W : -1; // columns of what the children pass
      const int behind = c < W ? c : c >= 2 * W && c < 3 * W && !f.closes ? c - W : -1;
      for (int i = 0; i < W; ++i) {
        top[i] = before < 0 ? Scalar(0) : f.before.entry(i, before), bottom[i] = behind < 0 || f.closes ? Scalar(0) : f.behind.entry(i, behind);
        if (f.closes && c < W) top[i] += f.before.entry(i, behind);
      }
      if (c >= 3 * W) (c < 4 * W ? top[c - 3 * W] : bottom[c - 4 * W]) = Scalar(1);
      for (int i = 0, n = f.exchanged(tree, node); i < n; ++i) swap_values(top[i], bottom[i]);
      if (c >= 3 * W) continue;
      const Scalar from_before = before < 0 ? Scalar(0) : f.before.scale(before), from_behind = behind < 0 ? Scalar(0) : f.behind.scale(behind);
      (c < W ? f.join.tau[c] : f.join.passed.scale(c - W)) = larger(from_before, from_behind);
    }
  }

  KOKKOS_INLINE_FUNCTION void reflect(const Front &f, int k, std::int64_t column_number) const
  {
    const int W   = tree.chain.width();
    Scalar   *top = f.join.top(k), *bottom = f.join.bottom(k);
    Real      rest = 0;
    for (int i = k + 1; i < W; ++i) rest += squared(top[i]);
    for (int i = 0; i < W; ++i) rest += squared(bottom[i]);
    const Reflector<Scalar> h = make_reflector(top[k], rest);
    for (int i = k + 1; i < W; ++i) top[i] *= h.factor;
    for (int i = 0; i < W; ++i) bottom[i] *= h.factor;
    top[k] = Scalar(h.one_over_beta);
    f.statistics->take(pivot_of(h.beta), magnitude(f.join.tau[k]), column_number);
    f.join.tau[k] = h.tau_conjugate;
  }

  KOKKOS_INLINE_FUNCTION void apply(const Front &f, int k, int c) const
  {
    const int     W = tree.chain.width();
    const Scalar *v = f.join.top(k), *w = f.join.bottom(k);
    Scalar       *top = f.join.top(c), *bottom = f.join.bottom(c);
    Scalar        sum = top[k];
    for (int i = k + 1; i < W; ++i) sum += conjugate(v[i]) * top[i];
    for (int i = 0; i < W; ++i) sum += conjugate(w[i]) * bottom[i];
    sum *= f.join.tau[k];
    top[k] -= sum;
    for (int i = k + 1; i < W; ++i) top[i] -= v[i] * sum;
    for (int i = 0; i < W; ++i) bottom[i] -= w[i] * sum;
  }

  /// Joins the pairs below nodes base + group of a level.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void join(const Team &team, std::int64_t chain, int level, std::int64_t base, std::int64_t end) const
  {
    const int  W      = tree.chain.width();
    const auto phases = [&](const auto &body) {
      for_each_lane(team, shape, [&](int group, int lane) {
        const std::int64_t node = base + group;
        if (node < end && tree.is_join(level, node)) body(Front(factors, tree, chain, level, node), node, lane);
      });
      team.barrier();
    };
    phases([&](const Front &f, std::int64_t node, int lane) {
      gather(f, node, lane);
      if (lane != 0) return;
      *f.statistics = *f.statistics_before;
      if (!f.closes) f.statistics->join(*f.statistics_behind);
      if (W > 0) reflect(f, 0, f.column_number(tree, chain, level, node, 0));
    });
    for (int k = 0; k < W; ++k)
      phases([&](const Front &f, std::int64_t node, int lane) {
        for (int c = lane; c < 5 * W; c += shape.lanes) {
          if (c <= k) continue;
          apply(f, k, c);
          if (c == k + 1 && c < W) reflect(f, c, f.column_number(tree, chain, level, node, c));
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

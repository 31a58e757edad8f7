// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf.hpp  Orthogonal elimination of leaves, of any width; columns lie in scratch. qr_leaf_registers.hpp is for narrow ones.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

template <class Scalar, class Index>
struct QrLeafKernel {
  static constexpr int max_threads = 1024;
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  Tree                       tree;
  Groups                     shape;
  ChainMatrix<Scalar, Index> A;
  Factors<Scalar>            factors;
  std::size_t                window_bytes; ///< Window::bytes(W)

  /// Scratch of a group: the window by columns, four entering rows, largest entries of the columns, two reflections.
  struct Window {
    static constexpr int                        arriving = 4;
    Scalar                                     *window, *row[arriving], *reflection[2];
    Real                                       *scale;
    Statistics                                 *statistics;
    KOKKOS_INLINE_FUNCTION static constexpr int columns(int W) { return 2 * W + 1; }
    KOKKOS_INLINE_FUNCTION static constexpr int ld(int W) { return (W + 1) | 1; } ///< odd: lanes read columns
    static std::size_t                          bytes(int W)
    {
      const std::size_t scalars = static_cast<std::size_t>(columns(W)) * static_cast<std::size_t>(ld(W) + arriving) + 2 * (static_cast<std::size_t>(W) + 2);
      return device::align16(scalars * sizeof(Scalar)) + device::align16(static_cast<std::size_t>(columns(W)) * sizeof(Real)) + device::align16(sizeof(Statistics));
    }
    KOKKOS_INLINE_FUNCTION Window(char *memory, int W)
    {
      window = reinterpret_cast<Scalar *>(memory);
      row[0] = window + columns(W) * ld(W);
      for (int k = 1; k < arriving; ++k) row[k] = row[k - 1] + columns(W);
      reflection[0] = row[arriving - 1] + columns(W);
      reflection[1] = reflection[0] + W + 2;
      memory += device::align16(sizeof(Scalar) * static_cast<std::size_t>(columns(W) * (ld(W) + arriving) + 2 * (W + 2)));
      scale = reinterpret_cast<Real *>(memory);
      memory += device::align16(static_cast<std::size_t>(columns(W)) * sizeof(Real));
      statistics = reinterpret_cast<Statistics *>(memory);
    }
  };

  /// Calls put(slot, value) for the entries e = lane, lane + lanes, ... of row i of a leaf.
  template <class Put>
  KOKKOS_INLINE_FUNCTION void fetch(const Leaf &leaf, int i, int lane, const Put &put) const
  {
    const Chain       &c   = tree.chain;
    const int          W   = c.width();
    const std::int64_t row = A.row(c, leaf.chain, leaf.first + i);
    for (int e = lane, n = A.entries(row); e < n; e += shape.lanes) {
      int          distance;
      const Scalar value = A.entry(c, leaf.chain, leaf.first + i, row, e, distance) * factors.row_scale[leaf.chain * c.rows + leaf.first + i];
      const int    at    = i + distance;
      put(at < leaf.begin ? W + 1 + at + c.kl : (at - leaf.begin) % (W + 1), value);
    }
  }

  /// Makes the reflection of step s from its column.
  KOKKOS_INLINE_FUNCTION void reflect(const Window &w, const Leaf &leaf, int s) const
  {
    const int     W = tree.chain.width(), slot = s % (W + 1), n = leaf.at_step(s);
    const Scalar *column = w.window + slot * Window::ld(W);
    const Scalar  alpha  = leaf.arrives(s) ? w.row[s % Window::arriving][slot] : column[n];
    const Real    size   = leaf.arrives(s) ? magnitude(alpha) : Real(0);
    Real          rest   = 0;
    for (int k = 0; k < n; ++k) rest += squared(column[k]);
    const Reflector<Scalar> h = make_reflector(alpha, rest);
    Scalar                 *r = w.reflection[s % 2];
    r[0]                      = h.tau_conjugate;
    for (int k = 0; k < n; ++k) r[1 + k] = h.factor * column[k];
    for (int k = n; k < W; ++k) r[1 + k] = Scalar(0);
    r[1 + W] = Scalar(h.one_over_beta);
    w.statistics->take(h.beta, size > w.scale[slot] ? size : w.scale[slot], leaf.chain * tree.chain.rows + leaf.first + leaf.begin + s);
  }

  /// One lane's part of step s: the reflection of its columns, the row of R, what comes next.
  KOKKOS_INLINE_FUNCTION void step(const Window &w, const Leaf &leaf, int s, int lane) const
  {
    const int          W = tree.chain.width(), n = leaf.at_step(s), pivot = s % (W + 1), next = (s + 1) % (W + 1);
    const Scalar      *r          = w.reflection[s % 2];
    const std::int64_t number     = leaf.chain * tree.leaves + leaf.node;
    const auto         reflection = factors.step(factors.reflection, tree, number, s, W + 1), upper = factors.step(factors.upper, tree, number, s, 2 * W + 1);
    Scalar            *now = w.row[s % Window::arriving], *later = w.row[(s + 3) % Window::arriving];
    for (int k = lane; k <= W; k += shape.lanes) reflection[k] = r[k];
    if (lane == 0) upper[0] = r[W + 1];
    for (int c = lane; c < W + 1 + leaf.left; c += shape.lanes) {
      Scalar *column = w.window + c * Window::ld(W);
      if (c == pivot) {
        for (int k = 0; k < leaf.carried; ++k) column[k] = Scalar(0);
        w.scale[c] = 0;
      } else {
        const Scalar entering = leaf.arrives(s) ? now[c] : column[n];
        if (leaf.arrives(s) && magnitude(entering) > w.scale[c]) w.scale[c] = magnitude(entering);
        Scalar sum = entering;
        for (int k = 0; k < n; ++k) sum += conjugate(r[1 + k]) * column[k];
        sum *= r[0];
        for (int k = 0; k < n; ++k) column[k] -= r[1 + k] * sum;
        const int rank  = c > W ? c - 1 : (c - pivot + W + 1) % (W + 1) - 1;
        upper[1 + rank] = entering - sum;
      }
      if (c == next && s + 1 < leaf.own) reflect(w, leaf, s + 1);
      later[c] = Scalar(0);
    }
    if (leaf.arrives(s + 2) && s + 2 < leaf.own) {
      Scalar *to = w.row[(s + 2) % Window::arriving];
      fetch(leaf, leaf.carried + s + 2, lane, [&](int slot, const Scalar &value) { to[slot] = value; });
    }
  }

  /// Eliminates leaves base + group.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void eliminate_leaves(const Team &team, std::int64_t chain, std::int64_t base, std::int64_t end) const
  {
    const int  W      = tree.chain.width();
    const auto phases = [&](const auto &body) {
      for_each_lane(team, shape, [&](int group, int lane) {
        const Leaf leaf(tree, chain, base + group, base + group < end);
        if (leaf.active) body(Window(group_memory(team, group), W), leaf, lane);
      });
      team.barrier();
    };
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      for (int c = lane; c < W + 1 + leaf.left; c += shape.lanes) {
        for (int k = 0; k < Window::ld(W); ++k) w.window[c * Window::ld(W) + k] = Scalar(0);
        for (int k = 0; k < Window::arriving; ++k) w.row[k][c] = Scalar(0);
      }
      if (lane == 0) *w.statistics = Statistics();
    });
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      for (int i = 0; i < leaf.carried; ++i) fetch(leaf, i, lane, [&](int slot, const Scalar &value) { w.window[slot * Window::ld(W) + i] = value; });
      for (int i = 0; i < 2; ++i)
        if (leaf.arrives(i)) fetch(leaf, leaf.carried + i, lane, [&](int slot, const Scalar &value) { w.row[i][slot] = value; });
    });
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      for (int c = lane; c < W + 1 + leaf.left; c += shape.lanes) {
        Real largest = 0;
        for (int k = 0; k < leaf.carried; ++k) {
          const Real size = magnitude(w.window[c * Window::ld(W) + k]);
          if (!(size <= largest)) largest = size; // NaN, too
        }
        w.scale[c] = largest;
        if (c == 0 && leaf.own > 0) reflect(w, leaf, 0);
      }
    });
    int most = 0;
    for (std::int64_t node = base; node < end && node < base + shape.groups; ++node) {
      const int own = Leaf(tree, chain, node, true).own;
      most          = own > most ? own : most;
    }
    for (int s = 0; s < most; ++s)
      phases([&](const Window &w, const Leaf &leaf, int lane) {
        if (s < leaf.own) step(w, leaf, s, lane);
      });
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      const NodeSize size  = tree.size(0, leaf.node);
      Scalar        *front = factors.leaf_passed + (leaf.chain * tree.leaves + leaf.node) * Factors<Scalar>::passed_size(W);
      for (int c = lane; c < size.left + size.right; c += shape.lanes) {
        const int slot = c < size.left ? W + 1 + c : (leaf.own + c - size.left) % (W + 1);
        for (int k = 0; k < size.rows; ++k) front[c * (W + 1) + k] = w.window[slot * Window::ld(W) + k];
        front[c * (W + 1) + W] = Scalar(w.scale[slot]);
      }
      if (lane == 0) factors.leaf_statistics[leaf.chain * tree.leaves + leaf.node] = *w.statistics;
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION char *group_memory(const Team &team, int group) const
  {
    return team.scratch() + static_cast<std::size_t>(group) * window_bytes;
  }

  /// A team has `groups` leaves of one chain.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t teams = (tree.leaves + shape.groups - 1) / shape.groups, chain = team.league_rank() / teams, base = team.league_rank() % teams * shape.groups;
    eliminate_leaves(team, chain, base, tree.leaves);
  }
};

} // namespace ribbon::multifrontal

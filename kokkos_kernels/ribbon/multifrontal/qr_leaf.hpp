// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf.hpp  Orthogonal elimination of leaves, of any width; columns lie in scratch. qr_leaf_tile.hpp is for narrow ones.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

template <class Scalar>
struct QrLeafKernel {
  static constexpr int max_threads = 1024;
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  Tree                 tree;
  Groups               shape;
  ChainEntries<Scalar> A;
  Factors<Scalar>      factors;
  std::size_t          window_bytes; ///< Window::bytes(W)

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
  template <class Matrix, class Put>
  KOKKOS_INLINE_FUNCTION void fetch(const Matrix &matrix, const Leaf &leaf, int i, int lane, const Put &put) const
  {
    const Chain &c = tree.chain;
    const int    W = c.width();
    if (!has_row(c, leaf.first + i)) return;
    const std::int64_t row = matrix.row(c, leaf.chain, leaf.first + i);
    for (int e = lane, n = matrix.entries(row); e < n; e += shape.lanes) {
      int          distance;
      const Scalar value = matrix.entry(c, leaf.chain, leaf.first + i, row, e, distance) * factors.scale(tree, leaf.chain, leaf.node, leaf.first + i);
      const int    at    = i + distance;
      put(at < c.ku ? W + 1 + at + c.kl : (at - c.ku) % (W + 1), value);
    }
  }

  /// Whether a row of the chain arrives for step s, and which of the window does where none does.
  KOKKOS_INLINE_FUNCTION bool arrives(const Leaf &leaf, int s) const { return has_row(tree.chain, leaf.first + tree.chain.width() + s); }
  KOKKOS_INLINE_FUNCTION int  instead(const Leaf &leaf, int s) const { return row_instead(tree.chain, leaf.first + tree.chain.width() + s); }
  /// Makes the reflection of step s from its column.
  KOKKOS_INLINE_FUNCTION void reflect(const Window &w, const Leaf &leaf, int s) const
  {
    const int     W = tree.chain.width(), slot = s % (W + 1);
    const Scalar *column = w.window + slot * Window::ld(W);
    const Scalar  alpha  = w.row[s % Window::arriving][slot];
    const Real    size   = magnitude(alpha);
    Real          rest   = 0;
    for (int k = 0; k < W; ++k) rest += squared(column[k]);
    const Reflector<Scalar> h = make_reflector(alpha, rest);
    Scalar                 *r = w.reflection[s % 2];
    r[0]                      = h.tau_conjugate;
    for (int k = 0; k < W; ++k) r[1 + k] = h.factor * column[k];
    r[1 + W] = Scalar(h.one_over_beta);
    w.statistics->take(pivot_of(h.beta), size > w.scale[slot] ? size : w.scale[slot], leaf.chain * tree.chain.rows + leaf.first + tree.chain.ku + s);
  }

  /// One lane's part of step s: the reflection of its columns, the row of R, what comes next.
  template <class Matrix>
  KOKKOS_INLINE_FUNCTION void step(const Matrix &matrix, const Window &w, const Leaf &leaf, int s, int lane) const
  {
    const int     W = tree.chain.width(), pivot = s % (W + 1), next = (s + 1) % (W + 1);
    const Scalar *r          = w.reflection[s % 2];
    const auto    reflection = factors.step(factors.reflection, tree, leaf.chain, leaf.node, s, W + 1), upper = factors.step(factors.upper, tree, leaf.chain, leaf.node, s, 2 * W + 1);
    Scalar       *now = w.row[s % Window::arriving], *later = w.row[(s + 3) % Window::arriving];
    for (int k = lane; k <= W; k += shape.lanes) reflection[k] = r[k];
    if (lane == 0) upper[0] = r[W + 1];
    const bool ends = s + 1 < leaf.own && !arrives(leaf, s + 1);
    for (int c = lane; c < Window::columns(W); c += shape.lanes) {
      Scalar *column = w.window + c * Window::ld(W);
      if (c == pivot) {
        for (int k = 0; k < W; ++k) column[k] = Scalar(0);
        w.scale[c] = 0;
      } else {
        const Scalar entering = now[c];
        if (magnitude(entering) > w.scale[c]) w.scale[c] = magnitude(entering);
        Scalar sum = entering;
        for (int k = 0; k < W; ++k) sum += conjugate(r[1 + k]) * column[k];
        sum *= r[0];
        for (int k = 0; k < W; ++k) column[k] -= r[1 + k] * sum;
        const int rank  = c > W ? c - 1 : (c - pivot + W + 1) % (W + 1) - 1;
        upper[1 + rank] = entering - sum;
      }
      if (ends) w.row[(s + 1) % Window::arriving][c] = taken(column[instead(leaf, s + 1)]);
      if (c == next && s + 1 < leaf.own) reflect(w, leaf, s + 1);
      later[c] = Scalar(0);
    }
    if (s + 2 < leaf.own) {
      Scalar *to = w.row[(s + 2) % Window::arriving];
      fetch(matrix, leaf, W + s + 2, lane, [&](int slot, const Scalar &value) { to[slot] = value; });
    }
  }

  /// Finds the scales of a lane's rows.
  template <class Matrix>
  KOKKOS_INLINE_FUNCTION void scale_rows(const Matrix &matrix, const Leaf &leaf, int lane) const
  {
    const Chain &c = tree.chain;
    for (int i = lane; i < leaf.rows(tree); i += shape.lanes) {
      if (!has_row(c, leaf.first + i)) continue;
      const std::int64_t row     = matrix.row(c, leaf.chain, leaf.first + i);
      Real               largest = 0;
      for (int e = 0, n = matrix.entries(row); e < n; ++e) {
        int        distance;
        const Real size = magnitude(matrix.entry(c, leaf.chain, leaf.first + i, row, e, distance));
        if (size > largest) largest = size;
      }
      // a row of zeros has the scale 0 until take_rows has seen it
      factors.scale(tree, leaf.chain, leaf.node, leaf.first + i) = largest > 0 ? static_cast<Real>(power_of_two(-exponent_of<Real>(size_word(static_cast<double>(largest))))) : Real(0);
    }
  }
  /// One lane adds them up.
  KOKKOS_INLINE_FUNCTION void take_rows(const Leaf &leaf, Statistics &statistics) const
  {
    for (int i = 0; i < leaf.rows(tree); ++i) {
      if (!has_row(tree.chain, leaf.first + i)) continue;
      Real      &scale   = factors.scale(tree, leaf.chain, leaf.node, leaf.first + i);
      const bool is_zero = scale == Real(0);
      if (is_zero) scale = 1;
      statistics.take_row(1 - exponent_of<Real>(size_word(static_cast<double>(scale))), is_zero, leaf.chain * tree.chain.rows + leaf.first + i);
    }
  }

  /// Eliminates leaves base + group.
  template <class Matrix, class Team>
  KOKKOS_INLINE_FUNCTION void eliminate_leaves(const Matrix &matrix, const Team &team, std::int64_t chain, std::int64_t base, std::int64_t end) const
  {
    const int  W      = tree.chain.width();
    const auto phases = [&](const auto &body) {
      for_each_lane(team, shape, [&](int group, int lane) {
        if (base + group < end) body(Window(group_memory(team, group), W), Leaf(tree, chain, base + group), lane);
      });
      team.barrier();
    };
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      for (int c = lane; c < Window::columns(W); c += shape.lanes) {
        for (int k = 0; k < Window::ld(W); ++k) w.window[c * Window::ld(W) + k] = Scalar(0);
        for (int k = 0; k < Window::arriving; ++k) w.row[k][c] = Scalar(0);
      }
      scale_rows(matrix, leaf, lane);
    });
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      if (lane != 0) return;
      *w.statistics = Statistics();
      take_rows(leaf, *w.statistics);
    });
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      for (int i = 0; i < W; ++i) fetch(matrix, leaf, i, lane, [&](int slot, const Scalar &value) { w.window[slot * Window::ld(W) + i] = value; });
      for (int i = 0; i < 2; ++i)
        if (i < leaf.own) fetch(matrix, leaf, W + i, lane, [&](int slot, const Scalar &value) { w.row[i][slot] = value; });
    });
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      for (int c = lane; c < Window::columns(W); c += shape.lanes) {
        Real largest = 0;
        for (int k = 0; k < W; ++k) {
          const Real size = magnitude(w.window[c * Window::ld(W) + k]);
          if (!(size <= largest)) largest = size; // NaN, too
        }
        w.scale[c] = largest;
        if (leaf.own > 0 && !arrives(leaf, 0)) w.row[0][c] = taken(w.window[c * Window::ld(W) + instead(leaf, 0)]);
        if (c == 0 && leaf.own > 0) reflect(w, leaf, 0);
      }
    });
    int most = 0;
    for (std::int64_t node = base; node < end && node < base + shape.groups; ++node) {
      const int own = Leaf(tree, chain, node).own;
      most          = own > most ? own : most;
    }
    for (int s = 0; s < most; ++s)
      phases([&](const Window &w, const Leaf &leaf, int lane) {
        if (s < leaf.own) step(matrix, w, leaf, s, lane);
      });
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      const auto passed = factors.passed(tree, leaf.chain, 0, leaf.node);
      for (int c = lane; c < 2 * W; c += shape.lanes) {
        const int slot = c < W ? W + 1 + c : (leaf.own + c - W) % (W + 1);
        for (int k = 0; k < W; ++k) passed.entry(k, c) = w.window[slot * Window::ld(W) + k];
        passed.scale(c) = Scalar(w.scale[slot]);
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
    A.with_indices([&](const auto &matrix) { eliminate_leaves(matrix, team, chain, base, tree.leaves); });
  }
};

} // namespace ribbon::multifrontal

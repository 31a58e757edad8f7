// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_factor.hpp  Orthogonal elimination of a chain on its tree.
///
/// A leaf takes its rows one by one into a window of W + 1 rows (W = kl + ku) and removes, by one Householder reflection per row, the columns that no other leaf touches (Wright, SIAM J. Sci. Stat.
/// Comput. 13, 1992; Golub & Van Loan, 5.2). What is left are at most W equations in the W unknowns of the cut before it and the W of the cut behind. A join removes the W unknowns of the cut between two
/// such sets of equations by a dense QR. Every row of the matrix is in one leaf, every column is removed where all its rows are: it is a QR factorization of the matrix with its columns permuted.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/chain.hpp>
#include <ribbon/multifrontal/reflector.hpp>

namespace ribbon::multifrontal {

/// Factors of a tree. A leaf keeps a record of 3 W + 2 numbers per removed column, at the place of the column's order in the leaf: conj(tau), v_1 .. v_W, 1 / R_jj, R to the next W columns, R to the W
/// unknowns of the cut before the leaf. A join keeps its front after the QR, by columns of 2 W + 1: W of the cut (1 / R_jj on the diagonal, R above, v below), then W before and W behind; rows
/// from W on are passed to the next level, and the last one is not a row of the front but the largest entry of each column; behind the columns W numbers conj(tau).
template <class Scalar>
struct Factors {
  using Statistics            = PivotStatistics<real_t<Scalar>>;
  Scalar     *record          = nullptr; ///< (chains rows, 3 W + 2)
  Scalar     *leaf_front      = nullptr; ///< (chains leaves, 2 W, W + 1): what leaves pass, and the largest entry of each column
  Scalar     *join_front      = nullptr; ///< (chains joins, join_size(W))
  Statistics *leaf_statistics = nullptr, *join_statistics = nullptr;

  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t record_size(int W) { return 3 * W + 2; }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t leaf_size(int W) { return 2 * static_cast<std::int64_t>(W) * (W + 1); }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t join_size(int W) { return 3 * static_cast<std::int64_t>(W) * (2 * W + 1) + W; }

  /// Equations that a node passes on: entry(row, column), columns of the cut before the node first; scale(column).
  struct Passed {
    const Scalar                        *at;
    int                                  ld, rows;
    KOKKOS_INLINE_FUNCTION const Scalar &entry(int row, int column) const { return at[column * ld + row]; }
    KOKKOS_INLINE_FUNCTION Scalar        scale(int column) const { return at[column * ld + rows]; }
  };
  KOKKOS_INLINE_FUNCTION Passed passed(const Tree &tree, std::int64_t chain, int level, std::int64_t node) const
  {
    const int W = tree.chain.width();
    if (level == 0) return {leaf_front + (chain * tree.leaves + node) * leaf_size(W), W + 1, W};
    return {join_front + tree.join_number(chain, level, node) * join_size(W) + W * (2 * W + 1) + W, 2 * W + 1, W};
  }
  KOKKOS_INLINE_FUNCTION Statistics &statistics(const Tree &tree, std::int64_t chain, int level, std::int64_t node) const
  {
    return level == 0 ? leaf_statistics[chain * tree.leaves + node] : join_statistics[tree.join_number(chain, level, node)];
  }
};

/// A group of lanes has one node; lanes share its columns.
struct Groups {
  int lanes, groups;
};

template <class Scalar, class Index>
struct QrFactorKernel {
  static constexpr int max_threads = 1024;
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  Tree                       tree;
  Levels                     levels;
  Groups                     shape;
  bool                       has_leaves; ///< false: leaf_front is given
  ChainMatrix<Scalar, Index> A;
  Factors<Scalar>            factors;

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

  /// A leaf: rows first to first + rows - 1 of a chain, of whose columns `own` are removed, from column `begin` on.
  struct Leaf {
    std::int64_t chain, node, first;
    std::int64_t rows, own;
    int          begin, carried, left; ///< rows of the window before the first step, unknowns of the cut before
    bool         active;
    /// Rows in the window besides the one of step s.
    KOKKOS_INLINE_FUNCTION int  at_step(std::int64_t s) const { return static_cast<int>(rows - 1 - s < carried ? rows - 1 - s : carried); }
    KOKKOS_INLINE_FUNCTION bool arrives(std::int64_t s) const { return carried + s < rows; }
  };
  KOKKOS_INLINE_FUNCTION static Leaf leaf_of(const Tree &tree, std::int64_t chain, std::int64_t node, bool active)
  {
    if (!active) return {0, 0, 0, 0, 0, 0, 0, 0, false};
    const NodeSize     size  = tree.size(0, node);
    const std::int64_t first = tree.start(node), rows = tree.start(node + 1) - first;
    const int          carried = size.left > 0 ? tree.chain.width() : tree.chain.kl;
    return {chain, node, first, rows, rows - size.rows, size.left > 0 ? tree.chain.ku : 0, static_cast<int>(rows < carried ? rows : carried), size.left, true};
  }

  /// Calls put(slot, value) for the entries e = lane, lane + lanes, ... of row i of a leaf.
  template <class Put>
  KOKKOS_INLINE_FUNCTION void fetch(const Leaf &leaf, std::int64_t i, int lane, const Put &put) const
  {
    const Chain       &c     = tree.chain;
    const int          W     = c.width();
    const std::int64_t place = leaf.chain * c.rows + leaf.first + i, row = A.row_of ? A.row_of[place] : place;
    const auto         take = [&](std::int64_t column, const Scalar &value) { // its distance from the first row of the leaf
      std::int64_t off = column - leaf.first - i;
      if (c.ring) off += off > c.ku ? -c.rows : off < -c.kl ? c.rows : 0;
      const std::int64_t at = i + off;
      put(at < leaf.begin ? static_cast<int>(W + 1 + at + c.kl) : static_cast<int>((at - leaf.begin) % (W + 1)), value);
    };
    for (std::int64_t e = A.local.row_begin[row] + lane; e < A.local.row_begin[row + 1]; e += shape.lanes)
      take((A.place_of ? A.place_of[A.local.column[e]] : static_cast<std::int64_t>(A.local.column[e])) - leaf.chain * c.rows, A.local.value[e]);
    if (A.outside.rows > 0)
      for (std::int64_t e = A.outside.row_begin[row] + lane; e < A.outside.row_begin[row + 1]; e += shape.lanes) take(A.outside_column[A.outside.column[e]], A.outside.value[e]);
  }

  /// Makes the reflection of step s from its column.
  KOKKOS_INLINE_FUNCTION void reflect(const Window &w, const Leaf &leaf, std::int64_t s) const
  {
    const int     W = tree.chain.width(), slot = static_cast<int>(s % (W + 1)), n = leaf.at_step(s);
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
    r[1 + W] = Scalar(Real(1) / h.beta);
    w.statistics->take(h.beta, size > w.scale[slot] ? size : w.scale[slot], leaf.chain * tree.chain.rows + leaf.first + leaf.begin + s);
  }

  /// One lane's part of step s: the reflection of its columns, the row of R, what comes next.
  KOKKOS_INLINE_FUNCTION void step(const Window &w, const Leaf &leaf, std::int64_t s, int lane) const
  {
    const int     W = tree.chain.width(), n = leaf.at_step(s), pivot = static_cast<int>(s % (W + 1)), next = static_cast<int>((s + 1) % (W + 1));
    const Scalar *r      = w.reflection[s % 2];
    Scalar       *record = factors.record + (leaf.chain * tree.chain.rows + leaf.first + s) * Factors<Scalar>::record_size(W);
    Scalar       *now = w.row[s % Window::arriving], *later = w.row[(s + 3) % Window::arriving];
    for (int k = lane; k <= W + 1; k += shape.lanes) record[k] = r[k];
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
        const int rank       = c > W ? c - 1 : (c - pivot + W + 1) % (W + 1) - 1;
        record[W + 2 + rank] = entering - sum;
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
      for_each(team, [&](int group, int lane) {
        const Leaf leaf = leaf_of(tree, chain, base + group, base + group < end);
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
    std::int64_t most = 0;
    for (std::int64_t node = base; node < end && node < base + shape.groups; ++node) {
      const std::int64_t own = leaf_of(tree, chain, node, true).own;
      most                   = own > most ? own : most;
    }
    for (std::int64_t s = 0; s < most; ++s)
      phases([&](const Window &w, const Leaf &leaf, int lane) {
        if (s < leaf.own) step(w, leaf, s, lane);
      });
    phases([&](const Window &w, const Leaf &leaf, int lane) {
      const NodeSize size  = tree.size(0, leaf.node);
      Scalar        *front = factors.leaf_front + (leaf.chain * tree.leaves + leaf.node) * Factors<Scalar>::leaf_size(W);
      for (int c = lane; c < size.left + size.right; c += shape.lanes) {
        const int slot = c < size.left ? W + 1 + c : static_cast<int>((leaf.own + c - size.left) % (W + 1));
        for (int k = 0; k < size.rows; ++k) front[c * (W + 1) + k] = w.window[slot * Window::ld(W) + k];
        front[c * (W + 1) + W] = Scalar(w.scale[slot]);
      }
      if (lane == 0) factors.leaf_statistics[leaf.chain * tree.leaves + leaf.node] = *w.statistics;
    });
  }

  /// The front of a join, and what its children pass.
  struct Join {
    typename Factors<Scalar>::Passed before, behind;
    NodeSize                         size_before, size_behind;
    Scalar                          *front;
    int                              columns;
    bool                             closes; ///< the ends of a ring
  };
  KOKKOS_INLINE_FUNCTION Join join_of(std::int64_t chain, int level, std::int64_t node) const
  {
    Join j;
    j.closes       = level > tree.levels;
    int          l = level - 1, r = level - 1;
    std::int64_t left = j.closes ? 0 : 2 * node, right = j.closes ? 0 : 2 * node + 1;
    tree.resolve(l, left), tree.resolve(r, right);
    j.before = factors.passed(tree, chain, l, left), j.behind = factors.passed(tree, chain, r, right);
    j.size_before = tree.size(l, left), j.size_behind = tree.size(r, right);
    const NodeSize size = tree.size(level, node);
    j.columns           = tree.chain.width() + size.left + size.right;
    j.front             = factors.join_front + tree.join_number(chain, level, node) * Factors<Scalar>::join_size(tree.chain.width());
    return j;
  }
  KOKKOS_INLINE_FUNCTION static int rows_of(const Join &j) { return j.closes ? j.size_before.rows : j.size_before.rows + j.size_behind.rows; }

  KOKKOS_INLINE_FUNCTION void reflect(const Join &j, int k, std::int64_t column_number, Statistics &statistics) const
  {
    const int W = tree.chain.width(), ld = 2 * W + 1, rows = rows_of(j);
    Scalar   *column = j.front + k * ld;
    Real      rest   = 0;
    for (int i = k + 1; i < rows; ++i) rest += squared(column[i]);
    const Reflector<Scalar> h = make_reflector(column[k], rest);
    for (int i = k + 1; i < rows; ++i) column[i] *= h.factor;
    column[k]               = Scalar(Real(1) / h.beta);
    j.front[3 * W * ld + k] = h.tau_conjugate;
    const Scalar &largest   = column[2 * W];
    if constexpr (std::is_floating_point_v<Scalar>) statistics.take(h.beta, largest, column_number);
    else statistics.take(h.beta, largest.real(), column_number);
  }

  KOKKOS_INLINE_FUNCTION static Scalar larger(const Scalar &a, const Scalar &b) { return magnitude(a) <= magnitude(b) ? b : a; }

  /// One lane's columns of the front, gathered from the children.
  KOKKOS_INLINE_FUNCTION void gather(const Join &j, int lane) const
  {
    const int W = tree.chain.width(), ld = 2 * W + 1;
    for (int c = lane; c < j.columns; c += shape.lanes) {
      Scalar   *column = j.front + c * ld;
      const int before = c < W ? j.size_before.left + c : c - W < j.size_before.left ? c - W : -1; // column of the child before, and of the one behind
      const int behind = c < W ? c : c - W < j.size_before.left ? -1 : j.size_behind.left + c - W - j.size_before.left;
      if (j.closes) {
        for (int i = 0; i < j.size_before.rows; ++i) column[i] = j.before.entry(i, behind) + j.before.entry(i, before);
        column[2 * W] = larger(j.before.scale(behind), j.before.scale(before));
        continue;
      }
      for (int i = 0; i < j.size_before.rows; ++i) column[i] = before < 0 ? Scalar(0) : j.before.entry(i, before);
      for (int i = 0; i < j.size_behind.rows; ++i) column[j.size_before.rows + i] = behind < 0 ? Scalar(0) : j.behind.entry(i, behind);
      column[2 * W] = before < 0 ? j.behind.scale(behind) : behind < 0 ? j.before.scale(before) : larger(j.before.scale(before), j.behind.scale(behind));
    }
  }

  /// Joins the pairs below nodes base + group of a level.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void join(const Team &team, std::int64_t chain, int level, std::int64_t base, std::int64_t end) const
  {
    const int  W = tree.chain.width(), ld = 2 * W + 1;
    const auto phases = [&](const auto &body) {
      for_each(team, [&](int group, int lane) {
        const std::int64_t node = base + group;
        if (node < end && tree.is_join(level, node)) body(join_of(chain, level, node), Window(group_memory(team, group), W).statistics, node, lane);
      });
      team.barrier();
    };
    const auto column_number = [&](std::int64_t node, int k) {
      const std::int64_t c = tree.cut(level, node) - tree.chain.kl + k;
      return chain * tree.chain.rows + (c < 0 ? c + tree.chain.rows : c);
    };
    phases([&](const Join &j, Statistics *statistics, std::int64_t node, int lane) {
      gather(j, lane);
      if (lane != 0) return;
      *statistics    = Statistics();
      int          l = level - 1, r = level - 1;
      std::int64_t left = j.closes ? 0 : 2 * node, right = 2 * node + 1;
      tree.resolve(l, left);
      statistics->join(factors.statistics(tree, chain, l, left));
      if (!j.closes) {
        tree.resolve(r, right);
        statistics->join(factors.statistics(tree, chain, r, right));
      }
      if (W > 0) reflect(j, 0, column_number(node, 0), *statistics);
    });
    for (int k = 0; k < W; ++k)
      phases([&](const Join &j, Statistics *statistics, std::int64_t node, int lane) {
        const int     rows = rows_of(j);
        const Scalar *v    = j.front + k * ld;
        const Scalar  tau  = j.front[3 * W * ld + k];
        for (int c = lane; c < j.columns; c += shape.lanes) {
          if (c <= k) continue;
          Scalar *column = j.front + c * ld;
          Scalar  sum    = column[k];
          for (int i = k + 1; i < rows; ++i) sum += conjugate(v[i]) * column[i];
          sum *= tau;
          column[k] -= sum;
          for (int i = k + 1; i < rows; ++i) column[i] -= v[i] * sum;
          if (c == k + 1 && c < W) reflect(j, c, column_number(node, c), *statistics);
        }
      });
    phases([&](const Join &, Statistics *statistics, std::int64_t node, int lane) {
      if (lane == 0) factors.join_statistics[tree.join_number(chain, level, node)] = *statistics;
    });
  }

  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION void for_each(const Team &team, const Body &body) const
  {
    if constexpr (Team::is_virtual)
      for (int group = 0; group < shape.groups; ++group) body(group, 0);
    else if (team.rank() < shape.groups * shape.lanes) body(team.rank() / shape.lanes, team.rank() % shape.lanes);
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION char *group_memory(const Team &team, int group) const
  {
    return team.scratch() + static_cast<std::size_t>(group) * window_bytes;
  }
  std::size_t window_bytes = 0; ///< Window::bytes(W)

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t chain = team.league_rank() / tree.count[levels.top], top = team.league_rank() % tree.count[levels.top];
    if (levels.bottom == 0 && has_leaves)
      for (std::int64_t node = tree.first_leaf(levels.top, top); node < tree.end_leaf(levels.top, top); node += shape.groups) eliminate_leaves(team, chain, node, tree.end_leaf(levels.top, top));
    for (int level = levels.bottom + 1; level <= levels.top; ++level) {
      const bool         closes = level > tree.levels;
      const std::int64_t begin = closes ? 0 : top << (levels.top - level), after = closes ? 1 : (top + 1) << (levels.top - level), end = after < tree.count[level] ? after : tree.count[level];
      for (std::int64_t node = begin; node < end; node += shape.groups) join(team, chain, level, node, end);
    }
  }
};

} // namespace ribbon::multifrontal

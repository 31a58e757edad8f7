// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf.hpp  Orthogonal elimination of leaves, of any width, with columns in scratch. For narrow ones
///   see qr/leaf_tile.hpp.
#pragma once

#include <ribbon/device/lane_sum.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

/// A group of lanes has a leaf, a lane one or a few of the 2 W columns that a reflection changes. Columns
/// of the leaf are numbered from the first that it eliminates; column m is in slot m % (W + 1) of the
/// window. Step s eliminates column s: row W + s of the leaf enters. All lanes read column s. They compute
/// its norm together with its product with their own column, and each computes the reflection, so that a
/// step has one barrier. Column s + W begins with the entering row.
template <class Scalar>
struct QrLeafKernel {
  static constexpr int max_threads  = 128;
  static constexpr int teams_beside = 4;
  static constexpr int chunk        = 8; ///< rows that are loaded together
  using Real                        = real_t<Scalar>;
  using Statistics                  = PivotStatistics<Real>;
  Tree                 tree;
  Groups               shape;
  ChainEntries<Scalar> A;
  Factors<Scalar>      factors;
  std::size_t          window_bytes; ///< Window::bytes(W)

  struct Pivot {
    Real beta, size;
  };
  /// Scratch of a group.
  struct Window {
    /// (2 W + 1, ld) columns: slots, then those of the cut before; rows after the W-th are zeros
    Scalar *window;
    Scalar *row; ///< (chunk, W + 1) unscaled rows of the matrix, by diagonals
    /// rows of the window that enter after the end of the chain: column s first, those of the cut before
    /// last; alternating between steps
    Scalar     *ending[2];
    Real       *scale;      ///< largest entries of the columns
    Real       *row_scale;  ///< of the rows of a chunk, 0 for rows of zeros
    Pivot      *pivot;      ///< of the steps of a chunk
    Statistics *statistics; ///< (chunk) partial statistics of lanes

    KOKKOS_INLINE_FUNCTION static constexpr int columns(int W) { return 2 * W + 1; }
    /// rows of a column, processed four at a time
    KOKKOS_INLINE_FUNCTION static constexpr int rows(int W) { return (W + 3) / 4 * 4; }
    /// odd, because lanes read columns
    KOKKOS_INLINE_FUNCTION static constexpr int ld(int W) { return rows(W) + 1; }
    KOKKOS_INLINE_FUNCTION static constexpr int scalars(int W)
    {
      return columns(W) * ld(W) + chunk * (W + 1) + 2 * columns(W);
    }
    KOKKOS_INLINE_FUNCTION static constexpr int reals(int W) { return columns(W) + 3 * chunk; }
    static std::size_t                          bytes(int W)
    {
      return device::align16(static_cast<std::size_t>(scalars(W)) * sizeof(Scalar)) +
             device::align16(static_cast<std::size_t>(reals(W)) * sizeof(Real)) +
             device::align16(chunk * sizeof(Statistics));
    }
    KOKKOS_INLINE_FUNCTION Window(char *memory, int W)
    {
      window    = reinterpret_cast<Scalar *>(memory);
      row       = window + columns(W) * ld(W);
      ending[0] = row + chunk * (W + 1);
      ending[1] = ending[0] + columns(W);
      memory += device::align16(static_cast<std::size_t>(scalars(W)) * sizeof(Scalar));
      scale     = reinterpret_cast<Real *>(memory);
      row_scale = scale + columns(W);
      pivot     = reinterpret_cast<Pivot *>(row_scale + chunk);
      memory += device::align16(static_cast<std::size_t>(reals(W)) * sizeof(Real));
      statistics = reinterpret_cast<Statistics *>(memory);
    }
    KOKKOS_INLINE_FUNCTION Scalar *column(int slot, int W) const { return window + slot * ld(W); }
  };

  /// The data of a lane for its leaf.
  struct Place {
    Leaf    leaf;
    Window  window;
    Scalar *reflection, *upper; ///< of step 0
    int     stride;             ///< distance of their values
    int     arriving;           ///< steps in which a row of the chain enters
  };
  KOKKOS_INLINE_FUNCTION Place place_of(char *memory, std::int64_t chain, std::int64_t node) const
  {
    const int          W = tree.chain.width();
    const Leaf         leaf(tree, chain, node);
    const std::int64_t left  = tree.chain.rows - leaf.first - W;
    const auto         first = [&](Scalar *all, int count) {
      return factors.step(all, tree, chain, node, 0, count).at;
    };
    return {leaf,
            Window(memory, W),
            first(factors.reflection, W + 1),
            first(factors.upper, 2 * W + 1),
            factors.together,
            left < leaf.own ? static_cast<int>(left) : leaf.own};
  }
  /// The slot of column s + t.
  KOKKOS_INLINE_FUNCTION static int slot_of(int pivot, int t, int W)
  {
    return pivot + t > W ? pivot + t - W - 1 : pivot + t;
  }
  /// The row of the window that enters in step s if no row of the chain does.
  KOKKOS_INLINE_FUNCTION int instead(const Leaf &leaf, int s) const
  {
    return row_instead(tree.chain, leaf.first + tree.chain.width() + s);
  }

  /// Loads rows i to i + n - 1 of a leaf into rows of zeros.
  template <class Matrix>
  KOKKOS_INLINE_FUNCTION void fetch(const Matrix &matrix, const Window &w, const Leaf &leaf, int i, int n,
                                    int lane) const
  {
    struct Entry {
      Scalar value;
      int    at;
    };
    const Chain &c     = tree.chain;
    const int    width = c.width() + 1;
    device::copy_in_fours(
      lane, shape.lanes, n * width,
      [&](int e) -> Entry {
        const int          r = e / width, k = e - r * width;
        const std::int64_t place = leaf.first + i + r;
        if (!has_row(c, place)) return {Scalar(0), -1};
        const std::int64_t row = matrix.row(c, leaf.chain, place);
        if (k >= matrix.entries(row)) return {Scalar(0), -1};
        int          distance;
        const Scalar value = matrix.entry(c, leaf.chain, place, row, k, distance);
        return {value, r * width + c.kl + distance};
      },
      [&](int, const Entry &entry) {
        if (entry.at >= 0) w.row[entry.at] = entry.value;
      });
  }
  /// Computes the scales of these rows.
  KOKKOS_INLINE_FUNCTION void scale_rows(const Window &w, const Leaf &leaf, int i, int n, int lane) const
  {
    const int width = tree.chain.width() + 1;
    for (int r = lane; r < n; r += shape.lanes) {
      if (!has_row(tree.chain, leaf.first + i + r)) continue;
      Real largest = 0;
      for (int k = 0; k < width; ++k) {
        const Real size = magnitude(w.row[r * width + k]);
        if (size > largest) largest = size;
      }
      const Real scale =
        largest > 0
          ? static_cast<Real>(power_of_two(-exponent_of<Real>(size_word(static_cast<double>(largest)))))
          : Real(0);
      w.row_scale[r]                                                 = scale;
      factors.scale(tree, leaf.chain, leaf.node, leaf.first + i + r) = scale > 0 ? scale : Real(1);
    }
  }
  /// Adds statistics of rows i to i + rows - 1 and of steps s to s + steps - 1, within the leaf. A lane
  /// adds every lanes-th of a chunk.
  KOKKOS_INLINE_FUNCTION void watch(const Place &at, int i, int rows, int s, int steps, int lane) const
  {
    if (lane >= chunk) return;
    const std::int64_t first   = at.leaf.chain * tree.chain.rows + at.leaf.first;
    Statistics         watched = at.window.statistics[lane];
    for (int r = lane; r < chunk; r += shape.lanes) {
      if (r < rows && i + r < at.leaf.own + tree.chain.width() &&
          has_row(tree.chain, at.leaf.first + i + r)) {
        const Real scale = at.window.row_scale[r];
        watched.take_row(1 -
                           exponent_of<Real>(size_word(scale == Real(0) ? 1.0 : static_cast<double>(scale))),
                         scale == Real(0), first + i + r);
      }
      if (!(r < steps && s + r < at.leaf.own)) continue;
      watched.look_at_column(at.window.pivot[r].size);
      watched.take(at.window.pivot[r].beta, at.window.pivot[r].size, first + tree.chain.ku + s + r);
    }
    at.window.statistics[lane] = watched;
  }

  /// The product with column x, and the squared norm of x.
  KOKKOS_INLINE_FUNCTION static Scalar product(int rows, const Scalar *x, const Scalar *column, Real &rest)
  {
    Scalar sum[2]     = {};
    Real   squares[2] = {};
    for (int k = 0; k < rows; k += 4) {
      Scalar a[4], b[4];
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) a[u] = x[k + u], b[u] = column[k + u];
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) squares[u % 2] += squared(a[u]), sum[u % 2] += conjugate(a[u]) * b[u];
    }
    rest = squares[0] + squares[1];
    return sum[0] + sum[1];
  }
  /// One lane's part of step s, with the column in slot `pivot`; n: the index of the step in the chunk.
  KOKKOS_INLINE_FUNCTION void step(const Place &at, int s, int pivot, int n, int lane) const
  {
    const int W = tree.chain.width(), rows = Window::rows(W);
    if (lane >= 2 * W && lane > 0) return;
    const Window &w     = at.window;
    const bool    comes = s < at.arriving, ends = s + 1 < at.leaf.own && s + 1 >= at.arriving;
    const int     next = ends ? instead(at.leaf, s + 1) : 0;
    const Scalar *x = w.column(pivot, W), *row = comes ? w.row + n * (W + 1) : w.ending[s % 2];
    const Scalar  scale = comes ? Scalar(w.row_scale[n]) : Scalar(1), alpha = row[0] * scale;
    Scalar       *later = w.ending[(s + 1) % 2],
           *reflection  = at.reflection + static_cast<std::int64_t>(s) * (W + 1) * at.stride,
           *upper       = at.upper + static_cast<std::int64_t>(s) * (2 * W + 1) * at.stride;
    Real                    rest;
    const Scalar            first = product(rows, x,
                                 lane < W ? w.column(slot_of(pivot, lane + 1, W), W)
                                                     : w.column(lane < 2 * W ? lane + 1 : pivot, W),
                                            rest);
    const Reflector<Scalar> h     = make_reflector(alpha, rest);
    for (int t = lane + 1; t <= 2 * W; t += shape.lanes) {
      // the place of a new column still holds the one that was eliminated before
      const bool   in_leaf = t <= W, is_new = t == W;
      const int    slot     = in_leaf ? slot_of(pivot, t, W) : t;
      Scalar      *column   = w.column(slot, W);
      const Scalar entering = in_leaf ? row[t] * scale : comes ? Scalar(0) : row[t];
      const Scalar with_x   = is_new ? Scalar(0) : t == lane + 1 ? first : product(rows, x, column, rest);
      const Scalar sum = (entering + conjugate(h.factor) * with_x) * h.tau_conjugate, tail = h.factor * sum;
      const Real   size = magnitude(entering);
      if (is_new || size > w.scale[slot]) w.scale[slot] = size;
      for (int k = 0; k < rows; k += 4) {
        Scalar a[4];
        RIBBON_UNROLL
        for (int u = 0; u < 4; ++u) a[u] = (is_new ? Scalar(0) : column[k + u]) - x[k + u] * tail;
        RIBBON_UNROLL
        for (int u = 0; u < 4; ++u) column[k + u] = a[u];
      }
      upper[t * at.stride] = entering - sum;
      if (ends) later[in_leaf ? t - 1 : t] = taken(column[next]);
    }
    for (int k = lane; k <= W; k += shape.lanes)
      reflection[k * at.stride] = k == 0 ? h.tau_conjugate : h.factor * x[k > 0 ? k - 1 : 0];
    if (lane > 0) return;
    upper[0] = Scalar(h.one_over_beta);
    if (ends) later[W] = Scalar(0);
    const Real size = magnitude(alpha);
    w.pivot[n]      = {pivot_of(h.beta), size > w.scale[pivot] ? size : w.scale[pivot]};
  }

  /// An empty window.
  KOKKOS_INLINE_FUNCTION void clear(const Place &at, int W, int lane) const
  {
    for (int k = lane; k < Window::columns(W) * Window::ld(W); k += shape.lanes)
      at.window.window[k] = Scalar(0);
    if (lane < chunk) at.window.statistics[lane] = Statistics();
  }
  /// Copies the loaded rows i to i + n - 1 of the leaf, scaled, to the window.
  KOKKOS_INLINE_FUNCTION void place_rows(const Place &at, int W, int i, int n, int lane) const
  {
    for (int e = lane; e < n * (W + 1); e += shape.lanes) {
      const int r = e / (W + 1), column = i + e - r * W; // = i + r + diagonal
      if (has_row(tree.chain, at.leaf.first + i + r))
        at.window.column(column < W ? W + 1 + column : column - W, W)[i + r] =
          at.window.row[e] * Scalar(at.window.row_scale[r]);
    }
  }
  /// The largest entries of the columns of the first W rows. Without a row of the chain, the last row of the
  /// window enters in step 0.
  KOKKOS_INLINE_FUNCTION void begin_columns(const Place &at, int W, int lane) const
  {
    for (int c = lane; c < Window::columns(W); c += shape.lanes) {
      Scalar *column  = at.window.column(c, W);
      Real    largest = 0;
      for (int k = 0; k < W; ++k) {
        const Real size = magnitude(column[k]);
        if (!(size <= largest)) largest = size; // NaN, too
      }
      at.window.scale[c] = largest;
      if (at.leaf.own > 0 && at.arriving <= 0) at.window.ending[0][c] = taken(column[instead(at.leaf, 0)]);
    }
  }
  /// Most columns that one of the leaves of the team eliminates.
  KOKKOS_INLINE_FUNCTION int most_steps(std::int64_t chain, std::int64_t base, std::int64_t end) const
  {
    int most = 0;
    for (std::int64_t node = base; node < end && node < base + shape.groups; ++node) {
      const int own = Leaf(tree, chain, node).own;
      most          = own > most ? own : most;
    }
    return most;
  }
  /// Stores the equations that the leaf passes on.
  KOKKOS_INLINE_FUNCTION void store_passed(const Place &at, int W, std::int64_t chain, int lane) const
  {
    const auto    passed = factors.passed(tree, chain, 0, at.leaf.node);
    const Window &w      = at.window;
    for (int e = lane; e < 2 * W * (W + 1); e += shape.lanes) {
      const int c = e / (W + 1), k = e - c * (W + 1),
                slot = c < W ? W + 1 + c : (at.leaf.own + c - W) % (W + 1);
      passed.at[e]   = k < W ? w.column(slot, W)[k] : Scalar(w.scale[slot]);
    }
  }
  /// Joins the partial statistics of lanes.
  KOKKOS_INLINE_FUNCTION void store_statistics(const Place &at, std::int64_t chain, int lane) const
  {
    if (lane > 0) return;
    Statistics watched = at.window.statistics[0];
    for (int k = 1; k < chunk && k < shape.lanes; ++k) watched.join_among(at.window.statistics[k]);
    factors.leaf_statistics[chain * tree.leaves + at.leaf.node] = watched;
  }

  /// Eliminates leaf base + group per group of lanes.
  template <class Matrix, class Team>
  KOKKOS_INLINE_FUNCTION void eliminate_leaves(const Matrix &matrix, const Team &team, std::int64_t chain,
                                               std::int64_t base, std::int64_t end) const
  {
    // a host has one lane
    const int W = tree.chain.width(), group = Team::is_virtual ? 0 : team.rank() / shape.lanes,
              lane      = Team::is_virtual ? 0 : team.rank() % shape.lanes;
    const bool has_leaf = base + group < end;
    const auto at       = place_of(team.scratch() + static_cast<std::size_t>(group) * window_bytes, chain,
                             has_leaf ? base + group : base);
    const auto phase    = [&](const auto &body) {
      if (has_leaf) body();
      if (shape.lanes > 32) team.barrier();
      else device::lane_barrier(32);
    };
    // Loads rows i to i + n - 1, after the statistics of the rows and steps before.
    const auto bring = [&](int i, int n, int rows_before, int s, int steps) {
      phase([&] {
        watch(at, i - rows_before, rows_before, s, steps, lane);
        for (int k = lane; k < n * (W + 1); k += shape.lanes) at.window.row[k] = Scalar(0);
      });
      const int rows = n < at.leaf.own + W - i ? n : at.leaf.own + W - i;
      phase([&] { fetch(matrix, at.window, at.leaf, i, rows, lane); });
      phase([&] { scale_rows(at.window, at.leaf, i, rows, lane); });
    };
    phase([&] { clear(at, W, lane); });
    int before = 0;
    for (int i = 0; i < W; i += chunk) {
      const int n = W - i < chunk ? W - i : chunk;
      bring(i, n, before, 0, 0);
      phase([&] { place_rows(at, W, i, n, lane); });
      before = n;
    }
    phase([&] { begin_columns(at, W, lane); });
    const int most  = most_steps(chain, base, end);
    int       pivot = 0;
    for (int first = 0; first < most; first += chunk) {
      const int steps = most - first < chunk ? most - first : chunk;
      bring(W + first, steps, first == 0 ? before : chunk, first == 0 ? 0 : first - chunk,
            first == 0 ? 0 : chunk);
      for (int n = 0; n < steps; ++n) {
        phase([&] {
          if (first + n < at.leaf.own) step(at, first + n, pivot, n, lane);
        });
        pivot = pivot == W ? 0 : pivot + 1;
      }
    }
    phase([&] {
      store_passed(at, W, chain, lane);
      const int begin = (most - 1) / chunk * chunk; // of the last chunk
      if (most > 0) watch(at, W + begin, chunk, begin, chunk, lane);
      else watch(at, W - before, before, 0, 0, lane);
    });
    phase([&] { store_statistics(at, chain, lane); });
  }

  /// A team has `groups` leaves of one chain.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t teams = (tree.leaves + shape.groups - 1) / shape.groups,
                       chain = team.league_rank() / teams, base = team.league_rank() % teams * shape.groups;
    A.with_indices([&](const auto &matrix) { eliminate_leaves(matrix, team, chain, base, tree.leaves); });
  }
};

} // namespace ribbon::multifrontal

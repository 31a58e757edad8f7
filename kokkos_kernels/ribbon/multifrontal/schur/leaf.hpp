// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf.hpp  Elimination of leaves without pivots, of any half-bandwidth. For narrow ones see
///   schur/leaf_tile.hpp.
#pragma once

#include <ribbon/device/lane_sum.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/schur/factors.hpp>

namespace ribbon::multifrontal {

/// A group of lanes has a leaf, a lane one or a few of the 2 w columns that a step changes: the next w of
/// the leaf and the w of the cut before it. Row i of the leaf is in slot i % (w + 1) of the window,
/// followed by the rows of the cut; column m is in slot m % (2 w + 1). In step j row j + w enters, over the
/// pivot row of the previous step, and column j is eliminated. A step has one barrier.
template <class Scalar>
struct SchurLeafLanesKernel {
  static constexpr int max_threads  = 128;
  static constexpr int teams_beside = 5;
  static constexpr int chunk        = 8; ///< rows that are loaded together
  using Real                        = real_t<Scalar>;
  using Statistics                  = PivotStatistics<Real>;
  Tree                 tree;
  Groups               shape;
  ChainEntries<Scalar> A;
  SchurFactors<Scalar> factors;
  std::size_t          window_bytes; ///< Window::bytes(w)

  /// |d_j|, and the largest entry of its column.
  struct Pivot {
    Real size, most;
  };
  /// Scratch of a group.
  struct Window {
    Scalar     *window;     ///< (2 w + 1, ld) rows: slots, then those of the cut
    Scalar     *row;        ///< (chunk, 2 w + 1) rows of the matrix, by diagonals
    Pivot      *pivot;      ///< of the steps of a chunk
    Statistics *statistics; ///< (chunk) partial statistics of lanes

    KOKKOS_INLINE_FUNCTION static constexpr int ld(int w) { return (3 * w + 1) | 1; }
    KOKKOS_INLINE_FUNCTION static constexpr int scalars(int w)
    {
      return (2 * w + 1) * ld(w) + chunk * (2 * w + 1);
    }
    static std::size_t bytes(int w)
    {
      return device::align16(static_cast<std::size_t>(scalars(w)) * sizeof(Scalar)) +
             device::align16(chunk * sizeof(Pivot)) + device::align16(chunk * sizeof(Statistics));
    }
    KOKKOS_INLINE_FUNCTION Window(char *memory, int w)
    {
      window = reinterpret_cast<Scalar *>(memory);
      row    = window + (2 * w + 1) * ld(w);
      memory += device::align16(static_cast<std::size_t>(scalars(w)) * sizeof(Scalar));
      pivot      = reinterpret_cast<Pivot *>(memory);
      statistics = reinterpret_cast<Statistics *>(memory + device::align16(chunk * sizeof(Pivot)));
    }
    KOKKOS_INLINE_FUNCTION Scalar *row_at(int slot, int w) const { return window + slot * ld(w); }
  };

  /// Loads n rows of a chain, within the range, into rows of zeros.
  template <class Matrix>
  KOKKOS_INLINE_FUNCTION void fetch(const Matrix &matrix, const Window &v, std::int64_t chain,
                                    const NodeRange &range, int n, int lane) const
  {
    struct Entry {
      Scalar value;
      int    at;
    };
    const Chain &c = tree.chain;
    const int    w = cut_width(c), width = 2 * w + 1;
    device::copy_in_fours(
      lane, shape.lanes, n * width,
      [&](int e) -> Entry {
        const int          r = e / width, k = e - r * width;
        const std::int64_t place = range.begin + r;
        if (place >= range.end) return {Scalar(0), -1};
        const std::int64_t row = matrix.row(c, chain, place);
        if (k >= matrix.entries(row)) return {Scalar(0), -1};
        int          distance;
        const Scalar value = matrix.entry(c, chain, place, row, k, distance);
        return {value, r * width + w + distance};
      },
      [&](int, const Entry &entry) {
        if (entry.at >= 0) v.row[entry.at] = entry.value;
      });
  }
  /// The data of a lane for its leaf.
  struct Place {
    SchurLeaf leaf;
    Window    window;
    Scalar   *pivot, *lower, *upper; ///< of step 0
  };
  KOKKOS_INLINE_FUNCTION Place place_of(char *memory, std::int64_t chain, std::int64_t node) const
  {
    const std::int64_t many = factors.place(tree, chain, node, factors.numbers);
    return {SchurLeaf(tree, chain, node), Window(memory, cut_width(tree.chain)),
            factors.pivot + factors.place(tree, chain, node, 1), factors.lower + many, factors.upper + many};
  }
  /// Adds statistics of steps j to j + steps - 1, within the leaf; each lane adds every lanes-th.
  KOKKOS_INLINE_FUNCTION void watch(const Place &at, int j, int steps, int lane) const
  {
    if (lane >= chunk) return;
    Statistics watched = at.window.statistics[lane];
    for (int k = lane; k < steps && j + k < at.leaf.own; k += shape.lanes)
      watched.take(at.window.pivot[k].size, at.window.pivot[k].most,
                   at.leaf.chain * tree.chain.rows + at.leaf.first + j + k);
    at.window.statistics[lane] = watched;
  }
  /// One lane's part of step j, whose row is in slot `first` and whose column is in slot `column`; n: the
  /// index of the step in the chunk.
  KOKKOS_INLINE_FUNCTION void step(const Place &at, int j, int first, int column, int n, int lane) const
  {
    const Window   &v    = at.window;
    const SchurLeaf leaf = at.leaf;
    const int w = cut_width(tree.chain), width = 2 * w + 1, ld = Window::ld(w), stride = factors.together,
              last         = first == 0 ? w : first - 1;
    const Scalar *arriving = v.row + n * width, *pivot = w > 0 ? v.row_at(first, w) : arriving;
    // a zero reciprocal keeps the later values finite
    const Scalar d    = pivot[column] == Scalar(0) ? Scalar(0) : reciprocal(pivot[column]);
    Scalar      *l    = at.lower + static_cast<std::int64_t>(j) * factors.numbers * stride,
           *u         = at.upper + static_cast<std::int64_t>(j) * factors.numbers * stride;
    const int columns = leaf.left ? 2 * w : w, slots = leaf.left ? 2 * w + 1 : w + 1;
    // the entry of row r below the pivot in its column: rows 1 to w of the leaf, then those of the cut
    const auto below = [&](int r) {
      return r == w ? arriving[0]
                    : v.row_at(r > w           ? r
                               : first + r > w ? first + r - w - 1
                                               : first + r,
                               w)[column];
    };
    for (int c = lane + 1; c <= columns; c += shape.lanes) { // 1 to w of the leaf, then those of the cut
      const bool in_leaf = c <= w;
      const int place = in_leaf ? (column + c >= width ? column + c - width : column + c) : width + c - w - 1;
      const Scalar f = pivot[place] * d, comes = in_leaf ? arriving[c] : Scalar(0);
      u[(c - 1) * stride] = f, l[(c - 1) * stride] = below(c) * d;
      for (int r = 0; r < slots; r += 4) {
        Scalar a[4];
        RIBBON_UNROLL
        for (int k = 0; k < 4; ++k) {
          const int     slot = r + k < slots ? r + k : r;
          const Scalar *row  = v.window + slot * ld;
          // column j + w of the rows of the cut begins here
          a[k] = slot == last ? comes - arriving[0] * f
                              : (c == w && slot > w ? Scalar(0) : row[place]) - row[column] * f;
        }
        RIBBON_UNROLL
        for (int k = 0; k < 4; ++k)
          if (r + k < slots && r + k != first) v.window[(r + k) * ld + place] = a[k];
      }
      // entries of the new row for later steps
      if (in_leaf)
        v.window[last * ld + (place + w >= width ? place + w - width : place + w)] = arriving[w + c];
    }
    if (lane > 0) return;
    at.pivot[static_cast<std::int64_t>(j) * stride] = d;
    Real most                                       = magnitude(pivot[column]);
    for (int r = 1; r <= w; ++r) {
      const Real size = magnitude(below(r));
      most            = size > most ? size : most;
    }
    v.pivot[n] = {magnitude(pivot[column]), most};
  }

  /// An empty window.
  KOKKOS_INLINE_FUNCTION void clear(const Place &at, int w, int lane) const
  {
    for (int k = lane; k < (2 * w + 1) * Window::ld(w); k += shape.lanes) at.window.window[k] = Scalar(0);
    if (lane < chunk) at.window.statistics[lane] = Statistics();
  }
  /// Copies the loaded rows i to i + n - 1 of the leaf to the window.
  KOKKOS_INLINE_FUNCTION void place_rows(const Place &at, int w, int i, int n, int lane) const
  {
    const int width = 2 * w + 1;
    for (int e = lane; e < n * width; e += shape.lanes) {
      const int r = e / width, c = i + e - r * width - w + r; // column
      if (c >= 0) at.window.row_at(i + r, w)[c] = at.window.row[e];
      else if (at.leaf.left && c >= -w) at.window.row_at(i + r, w)[width + w + c] = at.window.row[e];
    }
  }
  /// Copies the loaded rows i to i + n - 1 of the cut before the leaf to the window.
  KOKKOS_INLINE_FUNCTION void place_cut(const Place &at, int w, int i, int n, int lane) const
  {
    const int width = 2 * w + 1;
    for (int e = lane; e < n * width; e += shape.lanes) {
      const int r = e / width, c = i + r - w + (e - r * width) - w;
      if (c >= 0) at.window.row_at(w + 1 + i + r, w)[c] = at.window.row[e];
    }
  }
  /// Most columns that one of the leaves of the team eliminates.
  KOKKOS_INLINE_FUNCTION int most_steps(std::int64_t chain, std::int64_t base) const
  {
    int most = 0;
    for (std::int64_t node = base; node < tree.leaves && node < base + shape.groups; ++node) {
      const int own = SchurLeaf(tree, chain, node).own;
      most          = own > most ? own : most;
    }
    return most;
  }
  /// Stores the values that the leaf passes on: those of the cuts before and after it.
  KOKKOS_INLINE_FUNCTION void store_front(const Place &at, int w, std::int64_t chain, int lane) const
  {
    const int width = 2 * w + 1;
    Scalar   *front =
      factors.front + (chain * tree.leaves + at.leaf.node) * SchurFactors<Scalar>::front_size(w);
    for (int e = lane; e < 4 * w * w; e += shape.lanes) {
      const int  r = e / (2 * w), c = e - r * 2 * w;
      const bool is_there = r >= w && c >= w ? at.leaf.right
                            : r < w && c < w ? at.leaf.left
                                             : at.leaf.left && at.leaf.right;
      front[e]            = is_there ? at.window.row_at(r < w ? w + 1 + r : (at.leaf.own + r - w) % (w + 1),
                                             w)[c < w ? width + c : (at.leaf.own + c - w) % width]
                                     : Scalar(0);
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
                                               std::int64_t base) const
  {
    const int w = cut_width(tree.chain), width = 2 * w + 1;
    // a host has one lane
    const int group     = Team::is_virtual ? 0 : team.rank() / shape.lanes,
              lane      = Team::is_virtual ? 0 : team.rank() % shape.lanes;
    const bool has_leaf = base + group < tree.leaves;
    const auto at       = place_of(team.scratch() + static_cast<std::size_t>(group) * window_bytes, chain,
                             has_leaf ? base + group : base);
    const auto phase    = [&](const auto &body) {
      if (has_leaf) body();
      if (shape.lanes > 32) team.barrier();
      else device::lane_barrier(32);
    };
    // loads rows of the range, after the statistics of steps from j on
    const auto bring = [&](int n, const NodeRange &range, int j, int steps) {
      phase([&] {
        watch(at, j, steps, lane);
        for (int k = lane; k < n * width; k += shape.lanes) at.window.row[k] = Scalar(0);
      });
      phase([&] { fetch(matrix, at.window, chain, range, n, lane); });
    };
    phase([&] { clear(at, w, lane); });
    // the end of the rows of the cut
    const std::int64_t cut = at.leaf.first == 0 ? tree.chain.rows : at.leaf.first;
    // the first rows of the leaf, and those of the cut
    for (int i = 0; i < w; i += chunk) {
      const int n = w - i < chunk ? w - i : chunk;
      bring(n, NodeRange{at.leaf.first + i, at.leaf.first + at.leaf.rows}, 0, 0);
      phase([&] { place_rows(at, w, i, n, lane); });
      bring(n, NodeRange{cut - w + i, at.leaf.left ? cut : cut - w}, 0, 0); // without a cut: no rows
      phase([&] { place_cut(at, w, i, n, lane); });
    }
    const int most = most_steps(chain, base);
    int       row = 0, column = 0; // slots of the pivot
    for (int first = 0; first < most; first += chunk) {
      const int steps = most - first < chunk ? most - first : chunk;
      bring(steps, NodeRange{at.leaf.first + w + first, at.leaf.first + at.leaf.rows},
            first == 0 ? 0 : first - chunk, first == 0 ? 0 : chunk);
      for (int n = 0; n < steps; ++n) {
        phase([&] {
          if (first + n < at.leaf.own) step(at, first + n, row, column, n, lane);
        });
        row = row == w ? 0 : row + 1, column = column == 2 * w ? 0 : column + 1;
      }
    }
    phase([&] {
      store_front(at, w, chain, lane);
      if (most > 0) watch(at, (most - 1) / chunk * chunk, chunk, lane);
    });
    phase([&] { store_statistics(at, chain, lane); });
  }

  /// A team has `groups` leaves of one chain.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t teams = (tree.leaves + shape.groups - 1) / shape.groups;
    A.with_indices([&](const auto &matrix) {
      eliminate_leaves(matrix, team, team.league_rank() / teams, team.league_rank() % teams * shape.groups);
    });
  }
};

} // namespace ribbon::multifrontal

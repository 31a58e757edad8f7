// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_lanes.hpp  Leaves of any width in a solve: lanes share a leaf, or have one each.
#pragma once

#include <ribbon/device/lane_sum.hpp>
#include <ribbon/device/team_launch.hpp>

#include <cstdint>

namespace ribbon::multifrontal {

/// A group of lanes processes a leaf and some columns; `parts` lanes share a column. Each of these holds
/// every parts-th of the 2 W + 1 window values of the column. Rows of the vectors and factors are copied to
/// scratch for several steps at a time. A single lane, as on hosts, reads factors in place.
template <class Scalar>
struct LeafLanes {
  static constexpr int max_threads = 128;
  struct Shape {
    /// a group has parts x columns lanes, a warp or one; chunk: steps per copy to scratch; groups: of a
    /// team
    int parts, columns, chunk, groups;
    /// scalars in scratch per group, for kernels that keep window values in registers of a lane
    int numbers = 0;

    int                        threads() const { return groups * lanes(); }
    KOKKOS_INLINE_FUNCTION int lanes() const { return parts * columns; }
    /// window values of a column; factors of a step, at most
    KOKKOS_INLINE_FUNCTION static int window(int W) { return 2 * W + 1; }
    KOKKOS_INLINE_FUNCTION int        ld() const { return columns | 1; }
    /// per group; odd, so that single lanes read different banks
    KOKKOS_INLINE_FUNCTION std::size_t bytes(int W) const
    {
      if (numbers > 0) return device::align16(static_cast<std::size_t>(numbers) * sizeof(Scalar));
      const int all = window(W) * columns + chunk * ld() + (lanes() > 1 ? chunk * window(W) : 0);
      return static_cast<std::size_t>(all | 1) * sizeof(Scalar);
    }
    /// Bytes of a team.
    std::size_t scratch(int W) const { return device::align16(static_cast<std::size_t>(groups) * bytes(W)); }
    /// Groups for this many columns.
    KOKKOS_INLINE_FUNCTION std::int64_t blocks(std::int64_t n) const { return (n + columns - 1) / columns; }
    std::int64_t                        teams(std::int64_t leaves, std::int64_t n) const
    {
      return (leaves * blocks(n) + groups - 1) / groups;
    }
  };
  Shape shape;

  /// The data of a lane.
  struct Lane {
    std::int64_t node;             ///< the leaf, counted through all chains
    std::int64_t column;           ///< of the vectors
    int          lane, part, here; ///< place in the group; part; column of the group
    int          columns;          ///< count of columns of the group
    Scalar      *window, *rows, *factors;
  };
  /// Factors of a step.
  struct Numbers {
    const Scalar                        *at;
    int                                  stride;
    KOKKOS_INLINE_FUNCTION const Scalar &operator[](int k) const { return at[k * stride]; }
  };

  KOKKOS_INLINE_FUNCTION void sync() const
  {
    if (shape.lanes() > 1) device::lane_barrier(32);
  }
  /// Window value k of a lane's column.
  KOKKOS_INLINE_FUNCTION Scalar &number(const Lane &l, int k) const
  {
    return l.window[k * shape.columns + l.here];
  }
  /// Row r of the chunk.
  KOKKOS_INLINE_FUNCTION Scalar &row(const Lane &l, int r) const { return l.rows[r * shape.ld() + l.here]; }
  KOKKOS_INLINE_FUNCTION bool    is_active(const Lane &l) const { return l.here < l.columns; }
  KOKKOS_INLINE_FUNCTION Scalar  sum_of_parts(const Scalar &mine) const
  {
    return device::lane_sum(mine, shape.parts, shape.columns);
  }
  /// Calls body(k) for the values k < n of its column that a lane holds.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_own(const Lane &l, int n, const Body &body) const
  {
    for (int k = l.part; k < n; k += shape.parts) body(k);
  }

  /// The same with factors: use(factor(k), value, place of the value). Four loads overlap.
  template <class Factor, class Use>
  KOKKOS_INLINE_FUNCTION void for_own(const Lane &l, int n, const Factor &factor, const Use &use) const
  {
    constexpr int together = 4;
    Scalar       *numbers  = l.window + l.here;
    if (shape.parts > 4) { // a lane has few values
      for (int k = l.part; k < n; k += shape.parts)
        use(factor(k), numbers[k * shape.columns], numbers[k * shape.columns]);
      return;
    }
    for (int first = l.part; first < n; first += together * shape.parts) {
      Scalar a[together], b[together];
      RIBBON_UNROLL
      for (int u = 0; u < together; ++u) {
        const int k = first + u * shape.parts < n ? first + u * shape.parts : first;
        a[u] = factor(k), b[u] = numbers[k * shape.columns];
      }
      RIBBON_UNROLL
      for (int u = 0; u < together; ++u)
        if (first + u * shape.parts < n) use(a[u], b[u], numbers[(first + u * shape.parts) * shape.columns]);
    }
  }

  /// Copies n rows of a chunk to scratch, get(r, column), zeros if there is no column.
  template <class Get>
  KOKKOS_INLINE_FUNCTION void bring(const Lane &l, int n, const Get &get) const
  {
    const std::int64_t first = l.column - l.here;
    device::copy_in_fours(
      l.lane, shape.lanes(), shape.chunk * shape.columns,
      [&](int e) {
        const int r = e % shape.chunk, c = e / shape.chunk;
        return r < n && c < l.columns ? get(r, first + c) : Scalar(0);
      },
      [&](int e, const Scalar &value) { l.rows[e % shape.chunk * shape.ld() + e / shape.chunk] = value; });
  }
  /// Calls put(r, column, value) for these rows.
  template <class Put>
  KOKKOS_INLINE_FUNCTION void store(const Lane &l, int n, const Put &put) const
  {
    const std::int64_t first = l.column - l.here;
    for (int e = l.lane; e < shape.chunk * l.columns; e += shape.lanes()) {
      const int r = e % shape.chunk, c = e / shape.chunk;
      if (r < n) put(r, first + c, l.rows[r * shape.ld() + c]);
    }
  }
  /// Copies n = W rows of a leaf before or after its steps, get(k, column), to the first window values.
  template <class Get>
  KOKKOS_INLINE_FUNCTION void bring_numbers(const Lane &l, int W, const Get &get) const
  {
    for (int first = 0; first < W; first += shape.chunk) {
      const int n = W - first < shape.chunk ? W - first : shape.chunk;
      bring(l, n, [&](int r, std::int64_t column) { return get(first + r, column); });
      sync();
      for (int r = 0; r < n; ++r)
        if ((first + r) % shape.parts == l.part) number(l, first + r) = row(l, r);
      sync();
    }
  }
  /// The reverse, put(k, column, value).
  template <class Put>
  KOKKOS_INLINE_FUNCTION void store_numbers(const Lane &l, int W, const Put &put) const
  {
    for (int first = 0; first < W; first += shape.chunk) {
      const int n = W - first < shape.chunk ? W - first : shape.chunk;
      for (int r = 0; r < n; ++r)
        if ((first + r) % shape.parts == l.part) row(l, r) = number(l, first + r);
      sync();
      store(l, n, [&](int r, std::int64_t column, const Scalar &value) { put(first + r, column, value); });
      sync();
    }
  }
  /// Calls body(s, r, factors) for the `own` steps s of a leaf, in forward or reverse order. Before, get(s,
  /// column) and the factors, `count` values per step starting at `from`, are copied to scratch: row(r).
  /// Afterwards, the values of the rows go to put(s, column, value).
  template <class Get, class Body, class Put>
  KOKKOS_INLINE_FUNCTION void for_steps(const Lane &l, int own, bool forward, const Scalar *from, int stride,
                                        int count, const Get &get, const Body &body, const Put &put) const
  {
    const int chunks = (own + shape.chunk - 1) / shape.chunk;
    for (int c = 0; c < chunks; ++c) {
      const int s = (forward ? c : chunks - 1 - c) * shape.chunk,
                n = own - s < shape.chunk ? own - s : shape.chunk;
      bring(l, n, [&](int r, std::int64_t column) { return get(s + r, column); });
      const Scalar *factors = from + static_cast<std::int64_t>(s) * count * stride;
      if (shape.lanes() > 1)
        device::copy_in_fours(
          l.lane, shape.lanes(), n * count, [&](int e) { return factors[e * stride]; },
          [&](int e, const Scalar &value) { l.factors[e] = value; });
      sync();
      for (int k = 0; k < n; ++k) {
        const int r = forward ? k : n - 1 - k;
        body(s + r, r,
             shape.lanes() > 1 ? Numbers{l.factors + r * count, 1}
                               : Numbers{factors + r * count * stride, stride});
      }
      sync();
      store(l, n, [&](int k, std::int64_t column, const Scalar &value) { put(s + k, column, value); });
      sync();
    }
    if (chunks == 0) sync();
  }

  /// Calls body(lane) for the threads of a team.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION void for_lanes(const Team &team, int W, std::int64_t leaves, std::int64_t columns,
                                        const Body &body) const
  {
    const std::int64_t blocks = shape.blocks(columns);
    const auto         thread = [&](int v) {
      const int          group = v / shape.lanes();
      const std::int64_t item = team.league_rank() * shape.groups + group, block = item % blocks;
      Lane               l;
      l.node = item / blocks;
      if (l.node >= leaves) return;
      l.lane = v % shape.lanes(), l.here = l.lane % shape.columns, l.part = l.lane / shape.columns;
      l.column  = block * shape.columns + l.here;
      l.columns = static_cast<int>(
        columns - block * shape.columns < shape.columns ? columns - block * shape.columns : shape.columns);
      l.window = reinterpret_cast<Scalar *>(
        team.scratch() + static_cast<std::size_t>(Team::is_virtual ? 0 : group) * shape.bytes(W));
      l.rows    = l.window + (shape.numbers > 0 ? 0 : Shape::window(W) * shape.columns);
      l.factors = l.rows + shape.chunk * shape.ld();
      body(l);
    };
    if constexpr (Team::is_virtual)
      for (int v = 0; v < team.size(); ++v) thread(v);
    else thread(team.rank());
  }
};

} // namespace ribbon::multifrontal

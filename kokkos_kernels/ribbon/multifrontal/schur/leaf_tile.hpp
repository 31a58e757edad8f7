// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_tile.hpp  Elimination of leaves without pivots, 32 at a time, for half-bandwidths known at
///   compile time.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/roles.hpp>
#include <ribbon/multifrontal/leaf_runs.hpp>
#include <ribbon/multifrontal/schur/factors.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of SchurLeafKernel for the half-bandwidth w. A leaf has a thread in each of four warps.
/// The warps have different roles that take about the same time. One eliminates the next w rows and
/// columns, in registers. One follows a chunk of rows later with the columns and the rows of the cut
/// before. One copies entries to scratch in runs, see leaf_runs.hpp. One locates entries and watches
/// pivots. The corner, the Schur complement of the cut before, is accumulated by the following warp or, if
/// that lacks registers, by the last warp a chunk later. A leaf reads the w rows of the cut before it and
/// the rows of the leaf.
template <class Scalar, int w>
struct SchurLeafTile {
  static constexpr int leaves    = 32;
  static constexpr int team_size = 128;
  enum Role { ahead, behind, brings, watches, roles };
  static constexpr int  width   = 2 * w + 1;
  static constexpr int  chunk   = w == 1 ? 8 : w == 2 ? 5 : w == 3 ? 4 : 3; ///< rows of a leaf
  static constexpr int  entries = chunk * width;
  static constexpr int  front   = 4 * w * w;
  static constexpr bool apart   = w >= 5; ///< whether the last warp accumulates the corner
  static constexpr int  begins  = 8;      ///< chunks whose first entry is known, or being loaded
  using Real                    = real_t<Scalar>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  SchurFactors<Scalar> factors;

  /// Ahead: the next w rows in the next w columns, and the entries of these rows in later columns, i + 1
  /// entries of row i. Behind: the rows of the leaf in the columns of the cut, the rows of the cut in those
  /// of the leaf, their corner.
  struct Lane {
    Scalar                         a[3 * w * w];
    LeafPivots<Real>               pivots;
    KOKKOS_INLINE_FUNCTION Scalar &square(int block, int i, int k) { return a[(block * w + i) * w + k]; }
    KOKKOS_INLINE_FUNCTION Scalar &upper(int i, int k) { return a[w * w + i * (i + 1) / 2 + k]; }
  };
  struct Shared {
    // odd, so that lanes read different banks
    Scalar value[3][leaves][entries | 1];
    /// rows of the matrix; then, for the following warp: the row of U, the column of L, 1 / d, d
    Scalar step[2][chunk][width + 1][leaves];
    /// of the following warp, for the corner: entries of L and of the rows of the leaf
    Scalar cut[apart ? 2 : 1][apart ? chunk : 1][apart ? 2 * w : 1][apart ? leaves : 1];
    // the lower 32 bits of indices, as for the beginnings of chunks
    std::int32_t column[3][leaves][entries];
    std::int32_t first_of[begins][leaves];
    LeafRun      run[4][leaves];
    std::int64_t base, first_entry; ///< the first row of the tile, its first entry
    int          chunks;            ///< of the longest leaf
    int          own[leaves];       ///< count of steps
    /// first and end row that a leaf reads, and the first row of the cut before it, relative to the first
    /// row of the tile; begin and first differ at the beginning of a chain
    int  begin[leaves], end[leaves], first[leaves];
    bool left[leaves], right[leaves], full[4][leaves];
  };

  /// A leaf of the tile.
  struct Place {
    std::int64_t chain, node;
    bool         is_there;
  };
  KOKKOS_INLINE_FUNCTION Place place(std::int64_t tile, int lane) const
  {
    const std::int64_t slot = tile * leaves + lane, chain = tree.chain.chains == 1 ? 0 : slot / tree.slots,
                       node = slot - chain * tree.slots;
    return {chain, node, chain < tree.chain.chains && node < tree.leaves};
  }
  KOKKOS_INLINE_FUNCTION bool is_plain() const { return !A.row_of && A.outside.rows == 0; }

  KOKKOS_INLINE_FUNCTION void begin(std::int64_t tile, int lane, Shared &shared) const
  {
    const Place        first = place(tile, 0), at = place(tile, lane);
    const std::int64_t base = first.chain * tree.chain.rows + tree.start(first.node);
    if (lane == 0) {
      shared.base = base, shared.first_entry = is_plain() ? A.local.row_begin[base] : 0;
      const bool ends = !tree.chain.ring && first.node + leaves >= tree.leaves;
      shared.chunks   = (static_cast<int>(tree.most_rows()) + (ends ? 2 : 1) * w + chunk - 1) / chunk;
    }
    shared.own[lane] = 0, shared.begin[lane] = shared.end[lane] = shared.first[lane] = 0,
    shared.left[lane] = shared.right[lane] = false;
    if (at.is_there) {
      const SchurLeaf leaf(tree, at.chain, at.node);
      const int       before = static_cast<int>(at.chain * tree.chain.rows - base + leaf.first);
      shared.own[lane] = leaf.own, shared.left[lane] = leaf.left, shared.right[lane] = leaf.right;
      shared.first[lane] = before - w, shared.begin[lane] = at.node > 0 ? before - w : before,
      shared.end[lane] = before + leaf.rows;
    }
    if (!is_plain()) return;
    RIBBON_UNROLL
    for (int q = 0; q < begins - 2; ++q) find_first(q, lane, base, shared);
  }

  /// Count of rows of chunk q that a leaf reads.
  KOKKOS_INLINE_FUNCTION static int rows_of(int q, int lane, const Shared &shared)
  {
    const int n = shared.end[lane] - shared.first[lane] - q * chunk;
    return n < chunk ? n : chunk;
  }
  /// Whether column indices of chunk q are not read: its rows have an entry at every place of the band, and
  /// no entry wraps around the ends of a ring. True also if no row is read.
  KOKKOS_INLINE_FUNCTION bool is_full(std::int64_t tile, int q, int lane, const Shared &shared) const
  {
    const Chain &c = tree.chain;
    const int    n = rows_of(q, lane, shared);
    if (shared.end[lane] == 0 || (n <= 0 && shared.right[lane])) return true; // no leaf, or after it
    if (!is_plain() || n <= 0 || (n < chunk && !shared.right[lane]) ||
        entries_of(q, lane, shared) != n * width)
      return false;
    if (!c.ring) return true;
    const Place        at = place(tile, lane);
    const std::int64_t i  = shared.first[lane] + q * chunk + shared.base - at.chain * c.rows;
    return i >= w && i + n - 1 + w < c.rows;
  }
  /// Starts to load the beginning of chunk q, limited to the rows that the leaf reads.
  KOKKOS_INLINE_FUNCTION void find_first(int q, int lane, std::int64_t base, Shared &shared) const
  {
    const int i = shared.first[lane] + q * chunk, at = i < shared.begin[lane] ? shared.begin[lane]
                                                       : i > shared.end[lane] ? shared.end[lane]
                                                                              : i;
    device::async_copy(&shared.first_of[q % begins][lane], A.local.row_begin.low(base + at));
  }
  KOKKOS_INLINE_FUNCTION static int entries_of(int q, int lane, const Shared &shared)
  {
    return between(shared.first_of[q % begins][lane], shared.first_of[(q + 1) % begins][lane]);
  }
  /// Locates the entries of the rows of chunk q, one chunk before they are loaded.
  KOKKOS_INLINE_FUNCTION void find_run(std::int64_t tile, int q, int lane, Shared &shared) const
  {
    const int  count         = entries_of(q, lane, shared);
    const bool full          = is_full(tile, q, lane, shared);
    shared.full[q % 4][lane] = full;
    shared.run[q % 4][lane]  = {
       between(static_cast<std::int32_t>(shared.first_entry), shared.first_of[q % begins][lane]),
      full ? count : -1 - count};
  }
  /// Starts to copy the entries of chunk q, and column indices if these are read.
  template <int Threads>
  KOKKOS_INLINE_FUNCTION void stage_entries(int q, int v, Shared &shared) const
  {
    const auto with_gaps = [&](int leaf, int lane) {
      const LeafRun      run  = shared.run[q % 4][leaf];
      const std::int64_t from = shared.first_entry + run.first;
      for (int e = lane; e < -1 - run.count; e += 32)
        device::async_copy(&shared.value[q % 3][leaf][e], A.local.value + from + e),
          device::async_copy(&shared.column[q % 3][leaf][e], A.local.column.low(from + e));
    };
    stage_runs<Threads, 8, Scalar, (entries | 1), entries>(
      A.local.value + shared.first_entry, shared.run[q % 4], v, shared.value[q % 3], with_gaps);
  }
  /// Expands the rows of chunk q: one entry at every place of the band.
  KOKKOS_INLINE_FUNCTION void spread(std::int64_t tile, int q, int lane, Shared &shared) const
  {
    const Chain &c                           = tree.chain;
    const Place  at                          = place(tile, lane);
    const bool   plain                       = is_plain();
    Scalar(&dense)[chunk][width + 1][leaves] = shared.step[q % 2];
    const std::int32_t from_entry            = shared.first_of[q % begins][lane];
    RIBBON_NO_UNROLL
    for (int t = 0; t < chunk; ++t) {
      for (int k = 0; k < width; ++k) dense[t][k][lane] = Scalar(0);
      const int          row = shared.first[lane] + q * chunk + t;
      const std::int64_t i   = row + shared.base - at.chain * c.rows; // place in the chain
      if (!at.is_there || row >= shared.end[lane] || (i < 0 && !c.ring)) continue;
      if (plain && row >= shared.begin[lane]) {
        for (int e   = between(from_entry, *A.local.row_begin.low(shared.base + row)),
                 end = between(from_entry, *A.local.row_begin.low(shared.base + row + 1));
             e < end; ++e)
          dense[t][w + c.distance(0, between(static_cast<std::int32_t>(at.chain * c.rows + i),
                                             shared.column[q % 3][lane][e]))][lane] =
            shared.value[q % 3][lane][e];
        continue;
      }
      const std::int64_t from = i < 0 ? i + c.rows : i, r = A.row(c, at.chain, from);
      for (int e = 0, n = A.entries(r); e < n; ++e) {
        int          distance;
        const Scalar value           = A.entry(c, at.chain, from, r, e, distance);
        dense[t][w + distance][lane] = value;
      }
    }
    RIBBON_NO_UNROLL
    for (int t = 0; t < chunk; ++t)
      for (int k = 0; k < width; ++k) shared.value[q % 3][lane][t * width + k] = dense[t][k][lane];
  }

  /// Fills in row r that a leaf reads, before the first step, for the leading warp.
  KOKKOS_INLINE_FUNCTION static void fill_ahead(Lane &mine, int r, const Scalar *row,
                                                Scalar (&out)[width + 1][leaves], int lane)
  {
    Scalar e[width];
    RIBBON_UNROLL
    for (int k = 0; k < width; ++k) out[k][lane] = e[k] = row[k];
    if (r < w) return;
    const int i = r - w;
    RIBBON_UNROLL
    for (int c = 0; c < w; ++c) mine.square(0, i, c) = e[w + c - i];
    RIBBON_UNROLL
    for (int k = 0; k <= i; ++k) mine.upper(i, k) = e[2 * w + k - i];
  }
  /// The same for the following warp.
  KOKKOS_INLINE_FUNCTION static void fill_behind(Lane &mine, int r, const Scalar (&row)[width + 1][leaves],
                                                 int lane)
  {
    RIBBON_UNROLL
    for (int c = 0; c < w; ++c) {
      if (r >= w) mine.square(0, r - w, c) = c >= r - w ? row[c >= r - w ? c - r + w : 0][lane] : Scalar(0);
      else {
        mine.square(1, r, c) = c <= r ? row[c <= r ? 2 * w - r + c : 0][lane] : Scalar(0);
        if (!apart) mine.square(2, r, c) = Scalar(0);
      }
    }
  }

  /// The steps of chunk q.
  KOKKOS_INLINE_FUNCTION void eliminate(Lane &mine, std::int64_t tile, int lane, int q, Shared &shared) const
  {
    if (!is_plain() || !shared.full[q % 4][lane]) spread(tile, q, lane, shared);
    const Scalar *row = shared.value[q % 3][lane];
    RIBBON_UNROLL
    for (int r = 0; r < 2 * w; ++r)
      if (q == r / chunk) fill_ahead(mine, r, row + r % chunk * width, shared.step[q % 2][r % chunk], lane);
    const int first = q * chunk - 2 * w, t0 = first < 0 ? -first : 0, rest = shared.own[lane] - first,
              end = rest < chunk ? rest : chunk;
    if (t0 >= end) return;
    Scalar *pivot = factors.pivot + (tile * tree.most_rows() + first + t0) * leaves + lane,
           *lower = factors.lower + (tile * tree.most_rows() + first + t0) * 2 * w * leaves + lane,
           *upper = factors.upper + (tile * tree.most_rows() + first + t0) * 2 * w * leaves + lane,
           *out   = &shared.step[q % 2][t0][0][lane];
    Scalar now[width], next[width]; // a row is read one step before it enters
    row += t0 * width;
    RIBBON_UNROLL
    for (int k = 0; k < width; ++k) next[k] = row[k];
    RIBBON_NO_UNROLL
    for (int t = t0; t < end; ++t, out += (width + 1) * leaves, pivot += leaves, lower += 2 * w * leaves,
             upper += 2 * w * leaves) {
      if (t + 1 < end) row += width;
      RIBBON_UNROLL
      for (int k = 0; k < width; ++k) now[k] = next[k], next[k] = row[k];
      // a zero reciprocal keeps the later values finite
      const Scalar p = mine.square(0, 0, 0), d = p == Scalar(0) ? Scalar(0) : reciprocal(p);
      // entries of L; the row of the pivot
      Scalar f[w], u[w + 1];
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) {
        const Scalar below = r < w ? mine.square(0, r < w ? r : 0, 0) : now[0];
        f[r - 1]           = below * d;
      }
      RIBBON_UNROLL
      for (int c = 1; c <= w; ++c) u[c] = c < w ? mine.square(0, 0, c < w ? c : 0) : mine.upper(0, 0);
      pivot[0] = out[2 * w * leaves] = d, out[width * leaves] = p;
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) {
        upper[k * leaves] = out[k * leaves] = u[k + 1] * d;
        lower[k * leaves] = out[(w + k) * leaves] = f[k];
      }
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) {
        RIBBON_UNROLL
        for (int c = 1; c <= w; ++c)
          mine.square(0, r - 1, c - 1) = (r == w  ? now[c]
                                          : c < w ? mine.square(0, r < w ? r : 0, c < w ? c : 0)
                                                  : mine.upper(r < w ? r : 0, 0)) -
                                         f[r - 1] * u[c];
        RIBBON_UNROLL
        for (int k = 0; k < r; ++k)
          mine.upper(r - 1, k) = r == w ? now[w + 1 + k] : mine.upper(r < w ? r : 0, k + 1 <= r ? k + 1 : 0);
      }
    }
  }
  /// The same steps for the cut before.
  KOKKOS_INLINE_FUNCTION void follow(Lane &mine, std::int64_t tile, int lane, int q, Shared &shared) const
  {
    RIBBON_UNROLL
    for (int r = 0; r < 2 * w; ++r)
      if (q == r / chunk) fill_behind(mine, r, shared.step[q % 2][r % chunk], lane);
    const int first = q * chunk - 2 * w, t0 = first < 0 ? -first : 0, rest = shared.own[lane] - first,
              end = rest < chunk ? rest : chunk;
    if (t0 >= end) return;
    const std::int64_t at = (tile * tree.most_rows() + first + t0) * 2 * w + w;
    Scalar       *lower = factors.lower + at * leaves + lane, *upper = factors.upper + at * leaves + lane;
    const Scalar *in = &shared.step[q % 2][t0][0][lane];
    RIBBON_NO_UNROLL
    for (int t = t0; t < end;
         ++t, in += (width + 1) * leaves, lower += 2 * w * leaves, upper += 2 * w * leaves) {
      const Scalar d = in[2 * w * leaves];
      Scalar       u[w], f[w], b[w];
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k)
        u[k] = in[k * leaves], f[k] = in[(w + k) * leaves], b[k] = mine.square(0, 0, k);
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) {
        const Scalar above = mine.square(1, k, 0), l = above * d;
        lower[k * leaves] = l, upper[k * leaves] = b[k] * d;
        if (apart)
          shared.cut[apart ? q % 2 : 0][apart ? t : 0][apart ? k : 0]
                    [apart ? lane : 0] = l,
                                    shared.cut[apart ? q % 2 : 0][apart ? t : 0][apart ? w + k : 0]
                                              [apart ? lane : 0] = b[k];
        RIBBON_UNROLL
        for (int c = 0; c < w; ++c) {
          mine.square(1, k, c) =
            (c + 1 < w ? mine.square(1, k, c + 1 < w ? c + 1 : 0) : Scalar(0)) - above * u[c];
          if (!apart) mine.square(2, k, c) -= l * b[c];
        }
      }
      RIBBON_UNROLL
      for (int r = 0; r < w; ++r) {
        RIBBON_UNROLL
        for (int c = 0; c < w; ++c)
          mine.square(0, r, c) =
            (r + 1 < w ? mine.square(0, r + 1 < w ? r + 1 : 0, c) : Scalar(0)) - f[r] * b[c];
      }
    }
  }
  /// Adds the steps of chunk q to the corner.
  KOKKOS_INLINE_FUNCTION static void sum_corner(Lane &mine, int lane, int q, const Shared &shared)
  {
    const int first = q * chunk - 2 * w, rest = shared.own[lane] - first, end = rest < chunk ? rest : chunk;
    RIBBON_NO_UNROLL
    for (int t = first < 0 ? -first : 0; t < end; ++t) {
      Scalar l[w], b[w];
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k)
        l[k] = shared.cut[apart ? q % 2 : 0][apart ? t : 0][apart ? k : 0][apart ? lane : 0],
        b[k] = shared.cut[apart ? q % 2 : 0][apart ? t : 0][apart ? w + k : 0][apart ? lane : 0];
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) {
        RIBBON_UNROLL
        for (int c = 0; c < w; ++c) mine.square(2, k, c) -= l[k] * b[c];
      }
    }
  }
  /// Initializes the statistics and the corner.
  KOKKOS_INLINE_FUNCTION static void start(Lane &mine)
  {
    mine.pivots = LeafPivots<Real>();
    if (!apart) return;
    RIBBON_UNROLL
    for (int k = 0; k < w * w; ++k) mine.a[2 * w * w + k] = Scalar(0);
  }
  /// Watches the pivots of chunk q. The largest entry of a column is the pivot times the largest entry of
  /// L, or times 1.
  KOKKOS_INLINE_FUNCTION static void watch(Lane &mine, int lane, int q, const Shared &shared)
  {
    const int first = q * chunk - 2 * w, rest = shared.own[lane] - first, end = rest < chunk ? rest : chunk;
    RIBBON_NO_UNROLL
    for (int t = first < 0 ? -first : 0; t < end; ++t) {
      const Scalar(&in)[width + 1][leaves] = shared.step[q % 2][t];
      Real most                            = 1;
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k)
        if (magnitude(in[w + k][lane]) > most) most = magnitude(in[w + k][lane]);
      mine.pivots.take(in[width][lane], most * magnitude(in[width][lane]), first + t);
    }
  }
  /// Stores the front of a leaf, by rows, those of the cut before first.
  KOKKOS_INLINE_FUNCTION static void pass(Lane &mine, int role, int lane, const Shared &shared, Scalar *to)
  {
    const bool left = shared.left[lane], right = shared.right[lane];
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) {
      RIBBON_UNROLL
      for (int m = 0; m < w; ++m) {
        if (role == ahead) to[(w + k) * 2 * w + w + m] = right ? mine.square(0, k, m) : Scalar(0);
        if (role == (apart ? watches : behind)) to[k * 2 * w + m] = left ? mine.square(2, k, m) : Scalar(0);
        if (role != behind) continue;
        to[k * 2 * w + w + m]   = left && right ? mine.square(1, k, m) : Scalar(0);
        to[(w + k) * 2 * w + m] = left && right ? mine.square(0, k, m) : Scalar(0);
      }
    }
  }

  /// Eliminates tile number `tile`.
  /// @param passed  the place of the front of each leaf
  /// @param watched  the statistics of the pivots of each leaf
  template <class Team, class Passed>
  KOKKOS_INLINE_FUNCTION void work(const Team &team, device::Threads<Lane, Team> &threads, std::int64_t tile,
                                   Shared &shared, const Passed &passed, PivotStatistics<Real> *watched) const
  {
    const bool plain = is_plain();
    threads.for_each([&](int v, Lane &) {
      if (v < leaves) begin(tile, v, shared);
      device::async_commit(), device::async_wait(0);
    });
    team.barrier();
    if (plain) {
      threads.for_each([&](int v, Lane &) {
        if (v / leaves < 3) find_run(tile, v / leaves, v % leaves, shared);
      });
      team.barrier();
      threads.for_each([&](int v, Lane &) {
        RIBBON_NO_UNROLL
        for (int q = 0; q < 2; ++q) stage_entries<team_size>(q, v, shared);
        device::async_commit();
        device::async_wait(0); // threads that copy nothing later do not wait again
      });
    }
    team.barrier();
    // Chunk q is eliminated, q - 1 followed; entries of q + 2 and the beginning of chunk q + 6 are loaded.
    device::take_turns<roles>(team, threads, leaves, shared.chunks + (apart ? 2 : 1),
                              [&](auto role, int q, int v, Lane &mine) {
                                constexpr int does = decltype(role)::value;
                                const int     lane = v % leaves, chunks = shared.chunks;
                                if constexpr (does == ahead) {
                                  if (q < chunks) eliminate(mine, tile, lane, q, shared);
                                } else if constexpr (does == behind) {
                                  if (q > 0 && q <= chunks) follow(mine, tile, lane, q - 1, shared);
                                } else if constexpr (does == brings) {
                                  if (plain && q + 2 < chunks) stage_entries<leaves>(q + 2, lane, shared);
                                  device::async_commit(), device::async_wait(1);
                                } else {
                                  if (plain && q + 3 < chunks) find_run(tile, q + 3, lane, shared);
                                  if (plain && q + 6 <= chunks) find_first(q + 6, lane, shared.base, shared);
                                  if (q == 0) start(mine);
                                  if (q > 0 && q <= chunks) watch(mine, lane, q - 1, shared);
                                  if (apart && q > 1) sum_corner(mine, lane, q - 2, shared);
                                  device::async_commit(), device::async_wait(1);
                                }
                              });
    threads.for_each([&](int v, Lane &mine) {
      const int   role = v / leaves, lane = v % leaves;
      const Place at = place(tile, lane);
      if (at.is_there) pass(mine, role, lane, shared, passed(lane));
      if (role == watches)
        watched[lane] = at.is_there ? mine.pivots.finished(at.chain * tree.chain.rows + tree.start(at.node))
                                    : PivotStatistics<Real>();
    });
    team.barrier();
  }
};

} // namespace ribbon::multifrontal

// SPDX-License-Identifier: BSD-2-Clause
/// @file schur_leaf_tile.hpp  Elimination of leaves without pivots, 32 at a time, for half-bandwidths known when compiled.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/leaf_runs.hpp>
#include <ribbon/multifrontal/schur_factors.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of SchurLeafKernel for the half-bandwidth w. A leaf has a thread in each of two warps: one eliminates the w rows and columns ahead, in registers; one follows a chunk of rows behind with the columns and
/// the rows of the cut before, and what both leave over in its unknowns. The others bring entries to scratch in runs, see leaf_runs.hpp. The rows that a leaf sees are the w of the cut before it and its own.
template <class Scalar, int w>
struct SchurLeafTile {
  static constexpr int leaves    = 32;
  static constexpr int team_size = 128;
  static constexpr int stagers   = team_size - 2 * leaves;
  static constexpr int width     = 2 * w + 1;
  static constexpr int chunk     = w == 1 ? 8 : w == 2 ? 5 : w == 3 ? 4 : 3; ///< rows of a leaf
  static constexpr int entries   = chunk * width;
  static constexpr int front     = 4 * w * w;
  using Real                     = real_t<Scalar>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  SchurFactors<Scalar> factors;

  /// Ahead: the next w rows in the next w columns, and what these rows have behind those, row i i + 1 numbers. Behind: the rows of the leaf in the columns of the cut, its rows in those of the leaf, their corner.
  struct Lane {
    Scalar                         a[3 * w * w];
    KOKKOS_INLINE_FUNCTION Scalar &square(int block, int i, int k) { return a[(block * w + i) * w + k]; }
    KOKKOS_INLINE_FUNCTION Scalar &upper(int i, int k) { return a[w * w + i * (i + 1) / 2 + k]; }
  };
  struct Shared {
    Scalar           value[3][leaves][entries | 1];     // odd: no two lanes meet in a bank
    Scalar           step[2][chunk][width + 1][leaves]; ///< rows as they are, then for those that follow: the row of U, the column of L, 1 / d, d
    std::int32_t     column[3][leaves][entries];        // their lower bits, as those of where rows begin
    std::int32_t     row_begin[6][leaves][chunk + 1];
    LeafRun          run[2][leaves];
    std::int64_t     base, first_entry;                         ///< the first row of the tile, its first entry
    int              chunks;                                    ///< of the longest leaf
    int              own[leaves];                               ///< steps
    int              begin[leaves], end[leaves], first[leaves]; ///< rows that a leaf sees, and the first of the cut before it, from the first row of the tile on; they differ at the ends of chains
    bool             left[leaves], right[leaves], full[4][leaves];
    LeafPivots<Real> pivots[leaves];
  };

  /// A leaf of the tile.
  struct Place {
    std::int64_t chain, node;
    bool         is_there;
  };
  KOKKOS_INLINE_FUNCTION Place place(std::int64_t tile, int lane) const
  {
    const std::int64_t slot = tile * leaves + lane, chain = slot / tree.slots, node = slot - chain * tree.slots;
    return {chain, node, chain < tree.chain.chains && node < tree.leaves};
  }
  KOKKOS_INLINE_FUNCTION bool is_plain() const { return !A.row_of && A.outside.rows == 0; }

  KOKKOS_INLINE_FUNCTION void begin(std::int64_t tile, int lane, Shared &shared) const
  {
    const std::int64_t slot0 = tile * leaves, chain0 = slot0 / tree.slots, node0 = slot0 - chain0 * tree.slots, base = chain0 * tree.chain.rows + tree.start(node0);
    const Place        at = place(tile, lane);
    if (lane == 0) {
      shared.base = base, shared.first_entry = is_plain() ? A.local.row_begin[base] : 0;
      const bool ends = !tree.chain.ring && node0 + leaves >= tree.leaves;
      shared.chunks   = (static_cast<int>(tree.most_rows()) + (ends ? 2 : 1) * w + chunk - 1) / chunk;
    }
    shared.own[lane] = 0, shared.begin[lane] = shared.end[lane] = shared.first[lane] = 0, shared.left[lane] = shared.right[lane] = false;
    shared.pivots[lane] = LeafPivots<Real>();
    if (!at.is_there) return;
    const SchurLeaf leaf(tree, at.chain, at.node);
    const int       before = static_cast<int>(at.chain * tree.chain.rows - base + leaf.first);
    shared.own[lane] = leaf.own, shared.left[lane] = leaf.left, shared.right[lane] = leaf.right;
    shared.first[lane] = before - w, shared.begin[lane] = at.node > 0 ? before - w : before, shared.end[lane] = before + leaf.rows;
  }

  /// Rows of chunk q that a leaf sees.
  KOKKOS_INLINE_FUNCTION static int rows_of(int q, int lane, const Shared &shared)
  {
    const int n = shared.end[lane] - shared.first[lane] - q * chunk;
    return n < chunk ? n : chunk;
  }
  /// Whether the rows of chunk q have an entry at every place of the band, none of them around the ends of a ring, so that their column indices are not read; or nothing of them is.
  KOKKOS_INLINE_FUNCTION bool is_full(std::int64_t tile, int q, int lane, const Shared &shared) const
  {
    const Chain        &c     = tree.chain;
    const int           n     = rows_of(q, lane, shared);
    const std::int32_t *begin = shared.row_begin[q % 6][lane];
    if (shared.end[lane] == 0 || (n <= 0 && shared.right[lane])) return true; // no leaf, or behind it
    if (!is_plain() || n <= 0 || (n < chunk && !shared.right[lane]) || between(begin[0], begin[n]) != n * width) return false;
    if (!c.ring) return true;
    const Place        at = place(tile, lane);
    const std::int64_t i  = shared.first[lane] + q * chunk + shared.base - at.chain * c.rows;
    return i >= w && i + n - 1 + w < c.rows;
  }
  /// Asks for where the rows of chunk q begin; rows that a leaf does not see begin where those that it does do, or end.
  KOKKOS_INLINE_FUNCTION void stage_rows(int q, int v, Shared &shared) const
  {
    for (int k = v; k < leaves * (chunk + 1); k += stagers) {
      const int leaf = k / (chunk + 1), r = k - leaf * (chunk + 1), i = shared.first[leaf] + q * chunk + r;
      const int at = i < shared.begin[leaf] ? shared.begin[leaf] : i > shared.end[leaf] ? shared.end[leaf] : i;
      device::async_copy(&shared.row_begin[q % 6][leaf][r], A.local.row_begin.low(shared.base + at));
    }
  }
  /// Where the entries of the rows of chunk q are, a chunk before they are asked for.
  KOKKOS_INLINE_FUNCTION void find_run(std::int64_t tile, int q, int lane, Shared &shared) const
  {
    const std::int32_t *begin = shared.row_begin[q % 6][lane];
    const int           count = between(begin[0], begin[chunk]);
    const bool          full  = is_full(tile, q, lane, shared);
    shared.full[q % 4][lane]  = full;
    shared.run[q % 2][lane]   = {between(static_cast<std::int32_t>(shared.first_entry), begin[0]), full ? count : -1 - count};
  }
  /// Brings the entries of chunk q, and column indices where these are read.
  KOKKOS_INLINE_FUNCTION void stage_entries(int q, int v, Shared &shared) const
  {
    const auto with_gaps = [&](int leaf, int lane) {
      const LeafRun      run  = shared.run[q % 2][leaf];
      const std::int64_t from = shared.first_entry + run.first;
      for (int e = lane; e < -1 - run.count; e += 32) device::async_copy(&shared.value[q % 3][leaf][e], A.local.value + from + e), device::async_copy(&shared.column[q % 3][leaf][e], A.local.column.low(from + e));
    };
    stage_runs<stagers, 8, Scalar, (entries | 1), entries>(A.local.value + shared.first_entry, shared.run[q % 2], v, shared.value[q % 3], with_gaps);
  }
  /// Gives the rows of chunk q an entry at every place of the band.
  KOKKOS_INLINE_FUNCTION void spread(std::int64_t tile, int q, int lane, Shared &shared) const
  {
    const Chain &c                           = tree.chain;
    const Place  at                          = place(tile, lane);
    const bool   plain                       = is_plain();
    Scalar(&dense)[chunk][width + 1][leaves] = shared.step[q % 2];
    const std::int32_t *begin                = shared.row_begin[q % 6][lane];
    RIBBON_NO_UNROLL
    for (int t = 0; t < chunk; ++t) {
      for (int k = 0; k < width; ++k) dense[t][k][lane] = Scalar(0);
      const int          row = shared.first[lane] + q * chunk + t;
      const std::int64_t i   = row + shared.base - at.chain * c.rows; // place in the chain
      if (!at.is_there || row >= shared.end[lane] || (i < 0 && !c.ring)) continue;
      if (plain && row >= shared.begin[lane]) {
        for (int e = between(begin[0], begin[t]), end = between(begin[0], begin[t + 1]); e < end; ++e)
          dense[t][w + c.distance(0, between(static_cast<std::int32_t>(at.chain * c.rows + i), shared.column[q % 3][lane][e]))][lane] = shared.value[q % 3][lane][e];
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

  /// Row r of those that a leaf sees, which is not eliminated with, by whoever is ahead.
  KOKKOS_INLINE_FUNCTION static void fill_ahead(Lane &mine, int r, const Scalar *row, Scalar (&out)[width + 1][leaves], int lane)
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
  /// The same by whoever follows.
  KOKKOS_INLINE_FUNCTION static void fill_behind(Lane &mine, int r, const Scalar (&row)[width + 1][leaves], int lane)
  {
    RIBBON_UNROLL
    for (int c = 0; c < w; ++c) {
      if (r >= w) mine.square(0, r - w, c) = c >= r - w ? row[c >= r - w ? c - r + w : 0][lane] : Scalar(0);
      else mine.square(1, r, c) = c <= r ? row[c <= r ? 2 * w - r + c : 0][lane] : Scalar(0), mine.square(2, r, c) = Scalar(0);
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
    const int first = q * chunk - 2 * w, t0 = first < 0 ? -first : 0, rest = shared.own[lane] - first, end = rest < chunk ? rest : chunk;
    if (t0 >= end) return;
    Scalar *pivot = factors.pivot + (tile * tree.most_rows() + first + t0) * leaves + lane, *lower = factors.lower + (tile * tree.most_rows() + first + t0) * 2 * w * leaves + lane,
           *upper = factors.upper + (tile * tree.most_rows() + first + t0) * 2 * w * leaves + lane, *out = &shared.step[q % 2][t0][0][lane];
    constexpr bool early = w <= 3; // a row is read a step before it arrives, where there are registers for it
    Scalar         now[early ? width : 1], next[early ? width : 1];
    const auto     arriving = [&](int k) { return early ? now[early ? k : 0] : row[k]; };
    row += t0 * width;
    if (early) {
      RIBBON_UNROLL
      for (int k = 0; k < width; ++k) next[early ? k : 0] = row[k];
    }
    RIBBON_NO_UNROLL
    for (int t = t0; t < end; ++t, out += (width + 1) * leaves, pivot += leaves, lower += 2 * w * leaves, upper += 2 * w * leaves) {
      if (early) {
        if (t + 1 < end) row += width;
        RIBBON_UNROLL
        for (int k = 0; k < width; ++k) now[early ? k : 0] = next[early ? k : 0], next[early ? k : 0] = row[k];
      }
      const Scalar p = mine.square(0, 0, 0), d = p == Scalar(0) ? Scalar(0) : reciprocal(p); // what follows stays finite
      Scalar       f[w], u[w + 1];                                                           // of L; the pivot's row
      RIBBON_UNROLL
      for (int r = 1; r <= w; ++r) {
        const Scalar below = r < w ? mine.square(0, r < w ? r : 0, 0) : arriving(0);
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
        for (int c = 1; c <= w; ++c) mine.square(0, r - 1, c - 1) = (r == w ? arriving(c) : c < w ? mine.square(0, r < w ? r : 0, c < w ? c : 0) : mine.upper(r < w ? r : 0, 0)) - f[r - 1] * u[c];
        RIBBON_UNROLL
        for (int k = 0; k < r; ++k) mine.upper(r - 1, k) = r == w ? arriving(w + 1 + k) : mine.upper(r < w ? r : 0, k + 1 <= r ? k + 1 : 0);
      }
      if (!early) row += width;
    }
  }
  /// The same steps for the cut before.
  KOKKOS_INLINE_FUNCTION void follow(Lane &mine, std::int64_t tile, int lane, int q, const Shared &shared) const
  {
    RIBBON_UNROLL
    for (int r = 0; r < 2 * w; ++r)
      if (q == r / chunk) fill_behind(mine, r, shared.step[q % 2][r % chunk], lane);
    const int first = q * chunk - 2 * w, t0 = first < 0 ? -first : 0, rest = shared.own[lane] - first, end = rest < chunk ? rest : chunk;
    if (t0 >= end) return;
    const std::int64_t at    = (tile * tree.most_rows() + first + t0) * 2 * w + w;
    Scalar            *lower = factors.lower + at * leaves + lane, *upper = factors.upper + at * leaves + lane;
    const Scalar      *in = &shared.step[q % 2][t0][0][lane];
    RIBBON_NO_UNROLL
    for (int t = t0; t < end; ++t, in += (width + 1) * leaves, lower += 2 * w * leaves, upper += 2 * w * leaves) {
      const Scalar d = in[2 * w * leaves];
      Scalar       u[w], f[w], b[w];
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) u[k] = in[k * leaves], f[k] = in[(w + k) * leaves], b[k] = mine.square(0, 0, k);
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) {
        const Scalar above = mine.square(1, k, 0), l = above * d;
        lower[k * leaves] = l, upper[k * leaves] = b[k] * d;
        RIBBON_UNROLL
        for (int c = 0; c < w; ++c) {
          mine.square(1, k, c) = (c + 1 < w ? mine.square(1, k, c + 1 < w ? c + 1 : 0) : Scalar(0)) - above * u[c];
          mine.square(2, k, c) -= l * b[c];
        }
      }
      RIBBON_UNROLL
      for (int r = 0; r < w; ++r) {
        RIBBON_UNROLL
        for (int c = 0; c < w; ++c) mine.square(0, r, c) = (r + 1 < w ? mine.square(0, r + 1 < w ? r + 1 : 0, c) : Scalar(0)) - f[r] * b[c];
      }
    }
  }
  /// Watches the pivots of chunk q. The largest entry of a column is the pivot times the largest of L, or 1.
  KOKKOS_INLINE_FUNCTION static void watch(int lane, int q, Shared &shared)
  {
    const int first = q * chunk - 2 * w, rest = shared.own[lane] - first, end = rest < chunk ? rest : chunk;
    RIBBON_NO_UNROLL
    for (int t = first < 0 ? -first : 0; t < end; ++t) {
      const Scalar(&in)[width + 1][leaves] = shared.step[q % 2][t];
      Real most                            = 1;
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k)
        if (magnitude(in[w + k][lane]) > most) most = magnitude(in[w + k][lane]);
      shared.pivots[lane].take(in[width][lane], most * magnitude(in[width][lane]), first + t);
    }
  }
  /// What a leaf leaves over, by rows, those of the cut before first.
  KOKKOS_INLINE_FUNCTION static void pass(Lane &mine, int v, const Shared &shared, Scalar *to)
  {
    const bool left = shared.left[v % leaves], right = shared.right[v % leaves];
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) {
      RIBBON_UNROLL
      for (int m = 0; m < w; ++m) {
        if (v < leaves) to[(w + k) * 2 * w + w + m] = right ? mine.square(0, k, m) : Scalar(0);
        else {
          to[k * 2 * w + m]       = left ? mine.square(2, k, m) : Scalar(0);
          to[k * 2 * w + w + m]   = left && right ? mine.square(1, k, m) : Scalar(0);
          to[(w + k) * 2 * w + m] = left && right ? mine.square(0, k, m) : Scalar(0);
        }
      }
    }
  }

  /// Eliminates tile number `tile`. @param passed  for every leaf the place of what it leaves over @param watched  the same of its pivots
  template <class Team, class Passed>
  KOKKOS_INLINE_FUNCTION void work(const Team &team, device::Threads<Lane, Team> &threads, std::int64_t tile, Shared &shared, const Passed &passed, PivotStatistics<Real> *watched) const
  {
    const bool plain = is_plain();
    threads.for_each([&](int v, Lane &) {
      if (v < leaves) begin(tile, v, shared);
    });
    team.barrier();
    RIBBON_NO_UNROLL
    for (int q = -5; q <= shared.chunks; ++q) { // chunk q is eliminated, q - 1 followed; entries of q + 2 are asked for, and where the rows of q + 5 begin
      threads.for_each([&](int v, Lane &mine) {
        const int lane = v % leaves, role = v / leaves, chunks = shared.chunks;
        if (role >= 2 && plain) {
          const int s = v - 2 * leaves;
          if (q >= -2 && q + 2 < chunks) stage_entries(q + 2, s, shared);
          if (q + 5 < chunks) stage_rows(q + 5, s, shared);
          if (q >= -3 && q + 3 < chunks && role == 2) find_run(tile, q + 3, lane, shared);
        }
        if (role == 0 && q >= 0 && q < chunks) eliminate(mine, tile, lane, q, shared);
        if (role == 1 && q > 0) follow(mine, tile, lane, q - 1, shared);
        if (role == 3 && q > 0) watch(lane, q - 1, shared);
      });
      threads.for_each([&](int, Lane &) { device::async_commit(), device::async_wait(1); });
      team.barrier();
    }
    threads.for_each([&](int v, Lane &mine) {
      const Place at = place(tile, v % leaves);
      if (v >= 2 * leaves) return;
      if (at.is_there) pass(mine, v, shared, passed(v % leaves));
      if (v < leaves) watched[v] = at.is_there ? shared.pivots[v].finished(at.chain * tree.chain.rows + tree.start(at.node)) : PivotStatistics<Real>();
    });
    team.barrier();
  }
};

} // namespace ribbon::multifrontal

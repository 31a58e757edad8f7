// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_tile.hpp  Orthogonal elimination of leaves of one width, 32 at a time: a thread has a leaf, and half of its window in registers.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>
#include <ribbon/multifrontal/leaf_runs.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrLeafKernel for W = kl + ku known when compiled. A leaf has a thread in each of two or three warps, which work on three chunks of its rows at the same time: one prepares rows (scaled, an entry for
/// every place of the band), one has the W columns ahead in registers and makes the reflections, one follows with the W columns of the cut before and watches the pivots. Where windows fill the registers the one
/// ahead prepares, too. Entries come through scratch, a chunk of rows of all leaves at once, in runs; where a row has an entry at every place its column indices are not read.
template <class Scalar, int W>
struct QrLeafTileKernel {
  static constexpr int leaves       = 32;
  static constexpr int warps        = W <= 6 ? 3 : 2;
  static constexpr int max_threads  = warps * leaves;
  static constexpr int stagers      = max_threads - leaves;        ///< threads that move entries: all but those ahead, whom the others wait for
  static constexpr int chunk        = W <= 2 ? 8 : W <= 8 ? 4 : 3; ///< rows of a leaf
  static constexpr int first_chunks = (W + chunk - 1) / chunk;     ///< with the rows that fill the window
  static constexpr int entries      = chunk * (W + 1);
  static constexpr int half         = W * (W + 1);        ///< numbers that a leaf passes for one of its cuts
  static constexpr int early        = W <= 8 ? W : W - 3; ///< columns whose products do not wait for the reflection: as many as registers hold
  using Real                        = real_t<Scalar>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  Factors<Scalar>      factors;

  /// What does not change, and what is not needed at every step, is in scratch: windows take the registers, and a number that is put aside waits for the copies of entries when it is read again.
  struct Lane {
    Scalar window[W][W]; ///< columns; those of the leaf move up as they are removed
  };
  struct Shared {
    Scalar           value[2][leaves][entries | 1]; // odd: no two lanes meet in a bank
    Scalar           row[3][chunk][W + 2][leaves];  ///< as they are prepared; then the reflection of the step, and R_jj
    std::int32_t     column[2][leaves][entries];    // their lower bits, as those of where rows begin: what counts are small differences
    std::int32_t     row_begin[4][leaves][chunk + 1];
    LeafRun          run[2][leaves];
    std::int64_t     base, first_entry; ///< the first row of the tile, its first entry
    int              chunks;            ///< of the longest leaf
    Leaf             leaf[leaves];
    int              column_size[W][leaves];                    ///< size_word of the largest entries of the columns of the row that comes next
    int              first_size[W][leaves];                     ///< the same of the columns of the cut before
    int              begin[leaves], end[leaves], first[leaves]; ///< rows of a leaf, and the first of its window, from the first row of the tile on
    int              size[3][chunk][leaves];                    ///< size_word of the largest entry of the column that has its last row
    std::int16_t     exponent[2][leaves][chunk + 1];            ///< that was taken out of a row
    LeafPivots<Real> pivots[leaves];
  };
  static std::size_t scratch(bool virtual_threads) { return device::align16(sizeof(Shared)) + (virtual_threads ? max_threads * device::align16(sizeof(Lane)) : 0); }

  /// What a thread does.
  KOKKOS_INLINE_FUNCTION static bool is_ahead(int v) { return v < leaves; }
  KOKKOS_INLINE_FUNCTION static bool follows(int v) { return v / leaves == 1; }
  KOKKOS_INLINE_FUNCTION static bool prepares(int v) { return v / leaves == (warps == 3 ? 2 : 0); }

  /// Whether rows follow each other and columns are where they seem.
  KOKKOS_INLINE_FUNCTION bool is_plain() const { return !A.row_of && A.outside.rows == 0; }

  /// The first row of chunk q of a leaf, and how many it has.
  KOKKOS_INLINE_FUNCTION static int row_at(int q) { return q < first_chunks ? q * chunk : W + (q - first_chunks) * chunk; }

  /// Where the rows of chunk q begin.
  KOKKOS_INLINE_FUNCTION void stage_rows(std::int64_t base, int q, int v, Shared &shared) const
  {
    stage_row_begins<stagers>(A.local, base, row_at(q), v, shared, shared.row_begin[q % 4]);
  }
  /// Where the entries of the rows of chunk q are, a chunk before they are asked for.
  KOKKOS_INLINE_FUNCTION void find_run(int q, int lane, Shared &shared) const
  {
    const std::int32_t *begin = shared.row_begin[q % 4][lane];
    const auto          count = static_cast<std::int16_t>(between(begin[0], begin[chunk]));
    shared.run[q % 2][lane]   = {between(static_cast<std::int32_t>(shared.first_entry), begin[0]), count, is_full(lane, q, rows_of(q, shared.leaf[lane].rows(tree)), shared) ? std::int16_t(0) : count};
  }
  /// The scales that were found in chunk q.
  KOKKOS_INLINE_FUNCTION void store_scales(std::int64_t base, int q, int v, const Shared &shared) const
  {
    for (int k = v; k < leaves * chunk; k += stagers) {
      const int leaf = k / chunk, r = k - leaf * chunk, i = shared.first[leaf] + row_at(q) + r;
      if ((q >= first_chunks || row_at(q) + r < W) && i >= shared.begin[leaf] && i < shared.end[leaf]) factors.row_scale[base + i] = power_of_two(-shared.exponent[q % 2][leaf][r]);
    }
  }

  /// How many rows of chunk q a leaf of so many has.
  KOKKOS_INLINE_FUNCTION static int rows_of(int q, int rows)
  {
    const int end = q < first_chunks && rows > W ? W : rows, n = end - row_at(q);
    return n < chunk ? n : chunk;
  }

  /// Whether the first `rows` rows of chunk q have an entry at every place of the band, none of them around the ends of a ring.
  KOKKOS_INLINE_FUNCTION bool is_full(int lane, int q, int rows, const Shared &shared) const
  {
    const Chain        &c     = tree.chain;
    const std::int64_t  i     = shared.leaf[lane].first + row_at(q);
    const std::int32_t *begin = shared.row_begin[q % 4][lane];
    return is_plain() && rows > 0 && between(begin[0], begin[rows]) == rows * (W + 1) && (!c.ring || (i >= c.kl && i + rows - 1 + c.ku < c.rows));
  }
  /// Row t of chunk q: entries at all places of the band.
  KOKKOS_INLINE_FUNCTION void fetch(int lane, int q, int t, bool full, Scalar (&entry)[W + 1], Shared &shared) const
  {
    if (full) {
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) entry[k] = shared.value[q % 2][lane][t * (W + 1) + k];
      return;
    }
    const Chain       &c          = tree.chain;
    const Leaf         leaf       = shared.leaf[lane];
    const std::int64_t i          = leaf.first + row_at(q) + t;
    Scalar(&dense)[W + 2][leaves] = shared.row[q % 3][t];
    const std::int32_t *begin     = shared.row_begin[q % 4][lane] + t;
    const bool          plain     = is_plain();
    const int           n = plain ? between(begin[0], begin[1]) : 0, at = plain ? between(shared.row_begin[q % 4][lane][0], begin[0]) : 0;
    for (int k = 0; k <= W; ++k) dense[k][lane] = Scalar(0);
    for (int e = at; e < at + n; ++e) dense[c.kl + c.distance(0, between(static_cast<std::int32_t>(leaf.chain * c.rows + i), shared.column[q % 2][lane][e]))][lane] = shared.value[q % 2][lane][e];
    if (!plain && has_row(c, i)) {
      const std::int64_t place = A.row(c, leaf.chain, i);
      for (int e = 0, m = A.entries(place); e < m; ++e) {
        int          distance;
        const Scalar value           = A.entry(c, leaf.chain, i, place, e, distance);
        dense[c.kl + distance][lane] = value;
      }
    }
    RIBBON_UNROLL
    for (int k = 0; k <= W; ++k) entry[k] = dense[k][lane];
  }
  /// Scales the rows of chunk q by powers of two.
  KOKKOS_INLINE_FUNCTION void prepare(int lane, int q, Shared &shared) const
  {
    const int  rows      = rows_of(q, shared.leaf[lane].rows(tree));
    const bool full      = is_full(lane, q, rows, shared);
    int        exponents = 0;
    RIBBON_NO_UNROLL
    for (int t = 0; t < rows; ++t) {
      Scalar entry[W + 1];
      fetch(lane, q, t, full, entry, shared);
      int largest = 0;
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) largest = size_word(entry[k]) > largest ? size_word(entry[k]) : largest;
      const int  exponent             = exponent_of<Real>(largest);
      const Real s                    = power_of_two(-exponent);
      shared.exponent[q % 2][lane][t] = static_cast<std::int16_t>(exponent);
      exponents += exponent;
      if (largest == 0) {
        const Leaf         leaf = shared.leaf[lane];
        const std::int64_t i    = leaf.first + row_at(q) + t;
        if (has_row(tree.chain, i)) shared.pivots[lane].statistics.take_row(0, true, leaf.chain * tree.chain.rows + i);
      }
      int whole = 0; // of the column whose last row this is
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) {
        const Scalar a                = entry[k] * s;
        shared.row[q % 3][t][k][lane] = a;
        const int before = k < W ? shared.column_size[k < W ? k : 0][lane] : 0, size = size_word(a) > before ? size_word(a) : before;
        if (k > 0) shared.column_size[k > 0 ? k - 1 : 0][lane] = size;
        else whole = size;
      }
      shared.size[q % 3][t][lane] = whole;
      if (q < first_chunks) shared.first_size[row_at(q) + t][lane] = whole;
    }
    shared.pivots[lane].statistics.exponents += exponents;
  }

  /// Puts the rows of chunk q into the window.
  KOKKOS_INLINE_FUNCTION static void fill(Lane &mine, int v, int q, const Shared &shared)
  {
    const int lane = v % leaves;
    RIBBON_UNROLL
    for (int i = 0; i < W; ++i) { // entry k is in column i + k of those of the cut and, from W on, those ahead
      if (q != i / chunk) continue;
      const Scalar(&row)[W + 2][leaves] = shared.row[i / chunk % 3][i % chunk];
      if (is_ahead(v)) {
        RIBBON_UNROLL
        for (int c = 0; c < W; ++c) mine.window[c][i] = c <= i ? row[c <= i ? W + c - i : 0][lane] : Scalar(0);
      } else if (follows(v)) {
        RIBBON_UNROLL
        for (int c = 0; c < W; ++c) mine.window[c][i] = c >= i ? row[c >= i ? c - i : 0][lane] : Scalar(0);
      }
    }
  }

  /// The `count` numbers of a step, see Factors::step().
  KOKKOS_INLINE_FUNCTION Scalar       *step(Scalar *all, std::int64_t tile, int lane, int s, int count) const { return all + (tile * tree.most_rows() + s) * count * leaves + lane; }
  KOKKOS_INLINE_FUNCTION static Scalar dot(const Scalar (&a)[W], const Scalar (&b)[W])
  {
    Scalar sum(0), other(0);
    RIBBON_UNROLL
    for (int i = 0; i < W; i += 2) sum += a[i] * b[i], other += a[i + 1] * b[i + 1];
    return sum + other;
  }
  /// The row of the window that arrives instead of the first of chunk q if that is behind the end, see Leaf; one less for every row after it. W and more: none.
  KOKKOS_INLINE_FUNCTION static int row_instead(int lane, int q, const Shared &shared) { return W - 1 - (shared.first[lane] + row_at(q) - shared.end[lane]); }
  /// Removes a column: the steps of chunk q. What does not wait for the reflection, the products with the columns, comes first.
  KOKKOS_INLINE_FUNCTION void eliminate(Lane &mine, std::int64_t tile, int lane, int q, Shared &shared) const
  {
    Scalar *upper    = step(factors.upper, tile, lane, row_at(q) - W, 2 * W + 1);
    Scalar(&w)[W][W] = mine.window;
    const int steps = rows_of(q, shared.leaf[lane].rows(tree)), instead = row_instead(lane, q, shared) - steps;
    Scalar   *row = &shared.row[q % 3][0][0][lane];
    RIBBON_NO_UNROLL
    for (int left = steps; left > 0; --left, row += (W + 2) * leaves, upper += (2 * W + 1) * leaves) {
      if (instead + left < W) {
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) {
          if (i != instead + left) continue;
          RIBBON_UNROLL
          for (int c = 0; c < W; ++c) row[c * leaves] = taken(w[c][i]);
        }
      }
      Scalar x[W], product[W];
      Real   rest = 0, more = 0;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) x[i] = w[0][i];
      const Scalar alpha = row[0];
      RIBBON_UNROLL
      for (int i = 0; i < W; i += 2) rest += squared(x[i]), more += squared(x[i + 1]);
      RIBBON_UNROLL
      for (int c = 1; c < early; ++c) product[c] = dot(x, w[c]);
      const Reflector<Scalar> h = make_reflector(alpha, rest + more);
      upper[0]                  = h.one_over_beta;
      RIBBON_UNROLL
      for (int c = 1; c <= W; ++c) {
        const Scalar a = row[c * leaves], head = (c < W ? a + h.factor * (c < early ? product[c < early ? c : 0] : dot(x, w[c < W ? c : 0])) : a) * h.tau_conjugate, tail = h.factor * head;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) w[c - 1][i] = (c < W ? w[c < W ? c : 0][i] : Scalar(0)) - x[i] * tail;
        upper[c * leaves] = a - head;
      }
      row[0] = h.tau_conjugate;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) row[(1 + i) * leaves] = h.factor * x[i];
      row[(W + 1) * leaves] = h.beta;
    }
  }
  /// The same reflections of the columns of the cut before.
  KOKKOS_INLINE_FUNCTION void follow(Lane &mine, std::int64_t tile, int lane, int q, Shared &shared) const
  {
    Scalar *upper = step(factors.upper, tile, lane, row_at(q) - W, 2 * W + 1), *reflection = step(factors.reflection, tile, lane, row_at(q) - W, W + 1);
    Scalar(&w)[W][W]  = mine.window;
    const int steps   = rows_of(q, shared.leaf[lane].rows(tree));
    const int instead = row_instead(lane, q, shared);
    RIBBON_NO_UNROLL
    for (int t = 0; t < steps; ++t) {
      Scalar(&row)[W + 2][leaves] = shared.row[q % 3][t];
      Scalar     v[W];
      const bool takes = instead - t < W; // the row that arrives is among those of the window until it is reflected
      if (takes) row[1 + instead - t][lane] = Scalar(1);
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) v[i] = reflection[(1 + i) * leaves] = row[1 + i][lane];
      const Scalar tau = reflection[0] = row[0][lane];
      RIBBON_UNROLL
      for (int c = 0; c < W; ++c) {
        const Scalar sum = dot(v, w[c]) * tau;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) w[c][i] -= v[i] * sum;
        upper[(1 + W + c) * leaves] = -sum;
      }
      if (takes) {
        reflection[(1 + instead - t) * leaves] = Scalar(0);
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) {
          if (i != instead - t) continue;
          RIBBON_UNROLL
          for (int c = 0; c < W; ++c) upper[(1 + W + c) * leaves] = taken(w[c][i]);
        }
      }
      shared.pivots[lane].take(row[W + 1][lane], of_size_word(shared.size[q % 3][t][lane]), row_at(q) - W + t);
      reflection += (W + 1) * leaves, upper += (2 * W + 1) * leaves;
    }
  }

  /// Equations in the unknowns of one of the cuts, of all leaves: where entries and rows were, which are no longer needed.
  KOKKOS_INLINE_FUNCTION static Scalar *passed(int lane, Shared &shared)
  {
    static_assert(sizeof(shared.value) + sizeof(shared.row) >= leaves * (half | 1) * sizeof(Scalar), "value and row follow each other");
    return &shared.value[0][0][0] + lane * (half | 1);
  }
  KOKKOS_INLINE_FUNCTION static void put(const Lane &mine, int lane, const int (&size)[W][leaves], Shared &shared)
  {
    Scalar *to = passed(lane, shared);
    RIBBON_UNROLL
    for (int c = 0; c < W; ++c) {
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) to[c * (W + 1) + k] = mine.window[c][k];
      to[c * (W + 1) + W] = of_size_word(size[c][lane]);
    }
  }
  /// Stores them in runs. `first`: their place among what a leaf passes.
  KOKKOS_INLINE_FUNCTION void pass(int v, int first, Shared &shared) const
  {
    for (int k = v / leaves; k < leaves; k += warps) {
      const Leaf leaf = shared.leaf[k];
      if (leaf.own <= -W) continue;
      const Scalar *from = passed(k, shared);
      Scalar       *to   = factors.passed(tree, leaf.chain, 0, leaf.node).at + first;
      RIBBON_UNROLL
      for (int e = v % leaves; e < half; e += leaves) to[e] = from[e];
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    static_assert(std::is_floating_point_v<Scalar> && W % 2 == 0, "real numbers, sums in two halves");
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    device::Threads<Lane, Team> threads(team, team.scratch() + device::align16(sizeof(Shared)));
    const auto                  each = [&](const auto &phase) { // more threads wait for what comes after the leaves
      threads.for_each([&](int v, Lane &mine) {
        if (v < max_threads) phase(v, mine);
      });
    };
    const bool plain = is_plain();
    each([&](int v, Lane &) {
      if (!is_ahead(v)) return;
      const std::int64_t slot0 = team.league_rank() * leaves, chain0 = slot0 / tree.slots, base = chain0 * tree.chain.rows + tree.start(slot0 - chain0 * tree.slots);
      const std::int64_t chain = (slot0 + v) / tree.slots, node = (slot0 + v) - chain * tree.slots;
      const bool         is_there = chain < tree.chain.chains && node < tree.leaves;
      const int          lane     = v;
      Leaf               leaf;
      leaf.chain = leaf.node = leaf.first = 0, leaf.own = -W;
      if (is_there) leaf = Leaf(tree, chain, node);
      if (lane == 0) {
        shared.base = base, shared.first_entry = plain ? A.local.row_begin[base] : 0;
        shared.chunks = first_chunks + (tree.most_steps(slot0, leaves) + chunk - 1) / chunk;
      }
      const std::int64_t before = chain * tree.chain.rows - base;
      shared.leaf[lane]         = leaf;
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) shared.column_size[k][lane] = 0;
      shared.first[lane]  = is_there ? static_cast<int>(before + leaf.first) : 0;
      shared.begin[lane]  = is_there ? static_cast<int>(before + tree.start(node)) : 0;
      shared.end[lane]    = is_there ? static_cast<int>(before + tree.start(node + 1)) : 0;
      shared.pivots[lane] = LeafPivots<Real>();
    });
    team.barrier();
    RIBBON_NO_UNROLL
    for (int q = -4; q <= shared.chunks; ++q) { // chunk q is eliminated, q - 1 followed, q + 1 prepared; entries of q + 2 come, and where the rows of q + 4 begin
      each([&](int thread, Lane &mine) {
        const int          v    = W <= 6 ? thread : renewed(thread);
        const int          lane = v % leaves, chunks = shared.chunks;
        const std::int64_t tile = team.league_rank();
        if (!is_ahead(v)) {
          if (plain && q + 4 < chunks) stage_rows(shared.base, q + 4, v - leaves, shared);
          if (plain && q >= -3 && q + 3 < chunks && follows(v)) find_run(q + 3, lane, shared);
          if (plain && q >= -2 && q + 2 < chunks) stage_runs<stagers, W <= 8 ? 8 : 4>(A.local, shared.first_entry, shared.run[q & 1], v - leaves, shared.value[q & 1], shared.column[q & 1]);
          if (q >= 0 && q < chunks) store_scales(shared.base, q, v - leaves, shared);
        }
        if (q >= 0 && q < first_chunks) fill(mine, v, q, shared);
        if (is_ahead(v) && q >= first_chunks) eliminate(mine, tile, lane, q, shared);
        if (follows(v) && q > first_chunks) follow(mine, tile, lane, q - 1, shared);
        if (prepares(v) && q >= -1) prepare(lane, q + 1, shared);
      });
      each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
      team.barrier();
    }
    const auto pass_on = [&](auto &&has, const int(&size)[W][leaves], int first) {
      each([&](int v, Lane &mine) {
        if (has(v)) put(mine, v % leaves, size, shared);
      });
      team.barrier();
      each([&](int v, Lane &) { pass(v, first, shared); });
      team.barrier();
    };
    pass_on(follows, shared.first_size, 0);
    pass_on(is_ahead, shared.column_size, half);
    each([&](int v, Lane &) {
      const Leaf leaf = shared.leaf[v % leaves];
      if (!prepares(v) || leaf.own <= -W) return;
      factors.leaf_statistics[leaf.chain * tree.leaves + leaf.node] = shared.pivots[v % leaves].finished(leaf.chain * tree.chain.rows + leaf.first + tree.chain.ku);
    });
  }
};

} // namespace ribbon::multifrontal

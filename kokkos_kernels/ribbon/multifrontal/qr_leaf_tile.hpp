// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_tile.hpp  Orthogonal elimination of leaves of one width, 32 at a time: a thread has a leaf, and half of its window in registers.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrLeafKernel for W = kl + ku known when compiled. A leaf has a thread in each of two or three warps, which work on three chunks of its rows at the same time: one prepares rows (scaled, an entry for
/// every place of the band), one has the W columns ahead in registers and makes the reflections, one follows with the W columns of the cut before and watches the pivots. Where windows fill the registers the last one
/// prepares, too. Entries come through scratch, a chunk of rows of all leaves at once, in runs; where a row has an entry at every place its column indices are not read.
template <class Scalar, int W>
struct QrLeafTileKernel {
  static constexpr int leaves       = 32;
  static constexpr int warps        = W <= 6 ? 3 : 2;
  static constexpr int max_threads  = warps * leaves;
  static constexpr int stagers      = max_threads - leaves;                     ///< threads that move entries: all but those ahead, whom the others wait for
  static constexpr int chunk        = W <= 2 ? 8 : W <= 6 ? 4 : W <= 8 ? 3 : 2; ///< rows of a leaf
  static constexpr int first_chunks = (W + chunk - 1) / chunk;                  ///< with the rows that fill the window
  static constexpr int entries      = chunk * (W + 1);
  using Real                        = real_t<Scalar>;
  using Statistics                  = PivotStatistics<Real>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  Factors<Scalar>      factors;

  struct Lane {
    Leaf    leaf;
    Scalar  window[W][W];                     ///< columns; those of the leaf move up as they are removed
    int     size[W + 1];                      ///< size_word of the largest entries of the columns of the row that comes next
    bool    active, ahead, follows, prepares; ///< whether the thread has a leaf; what it does
    Scalar *reflections, *uppers;             ///< of the step that comes next
  };
  struct Shared {
    Scalar       value[2][leaves][entries | 1]; // odd: no two lanes meet in a bank
    std::int32_t column[2][leaves][entries];    // their lower bits, as those of where rows begin: what counts are small differences
    std::int32_t row_begin[3][leaves][chunk + 1];
    int          begin[leaves], end[leaves], first[leaves]; ///< rows of a leaf, and the first of its window, from the first row of the tile on
    Scalar       row[3][chunk][W + 2][leaves];              ///< as they are prepared; then the reflection of the step, and R_jj
    int          size[3][chunk][leaves];                    ///< size_word of the largest entry of the column that has its last row
    Real         row_scale[2][leaves][chunk + 1];
    Statistics   statistics[leaves];
  };
  static std::size_t scratch(bool virtual_threads) { return device::align16(sizeof(Shared)) + (virtual_threads ? max_threads * device::align16(sizeof(Lane)) : 0); }

  /// Whether rows follow each other and columns are where they seem.
  KOKKOS_INLINE_FUNCTION bool is_plain() const { return !A.row_of && A.outside.rows == 0; }

  /// The first row of chunk q of a leaf, and how many it has.
  KOKKOS_INLINE_FUNCTION static int row_at(int q) { return q < first_chunks ? q * chunk : W + (q - first_chunks) * chunk; }

  /// The difference of two numbers by their lower bits.
  KOKKOS_INLINE_FUNCTION static int between(std::int32_t from, std::int32_t to) { return static_cast<int>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from)); }

  /// Where the rows of chunk q begin.
  KOKKOS_INLINE_FUNCTION void stage_rows(std::int64_t base, int q, int v, Shared &shared) const
  {
    for (int k = v; k < leaves * (chunk + 1); k += stagers) {
      const int leaf = k / (chunk + 1), r = k - leaf * (chunk + 1), i = shared.first[leaf] + row_at(q) + r;
      const int at = i < shared.begin[leaf] ? shared.begin[leaf] : i > shared.end[leaf] ? shared.end[leaf] : i;
      device::async_copy(&shared.row_begin[q % 3][leaf][r], A.local.row_begin.low(base + at));
    }
  }
  /// The entries of the rows of chunk q. `first_entry`: of the tile.
  KOKKOS_INLINE_FUNCTION void stage_entries(std::int64_t first_entry, int q, int v, Shared &shared) const
  {
    const int e = v % leaves;
    for (int leaf = v / leaves; leaf < leaves; leaf += stagers / leaves) {
      const int begin = shared.row_begin[q % 3][leaf][0], n = between(begin, shared.row_begin[q % 3][leaf][chunk]);
      if (e >= n) continue;
      const std::int64_t at = first_entry + between(static_cast<std::int32_t>(first_entry), begin) + e;
      device::async_copy(&shared.value[q % 2][leaf][e], A.local.value + at);
      if (n != entries || tree.chain.ring) device::async_copy(&shared.column[q % 2][leaf][e], A.local.column.low(at));
    }
  }
  /// The scales that were found in chunk q.
  KOKKOS_INLINE_FUNCTION void store_scales(std::int64_t base, int q, int v, const Shared &shared) const
  {
    for (int k = v; k < leaves * chunk; k += stagers) {
      const int leaf = k / chunk, r = k - leaf * chunk, i = shared.first[leaf] + row_at(q) + r;
      if ((q >= first_chunks || row_at(q) + r < W) && i >= shared.begin[leaf] && i < shared.end[leaf]) factors.row_scale[base + i] = shared.row_scale[q % 2][leaf][r];
    }
  }

  /// How many rows of chunk q a leaf of so many has.
  KOKKOS_INLINE_FUNCTION static int rows_of(int q, int rows)
  {
    const int end = q < first_chunks && rows > W ? W : rows, n = end - row_at(q);
    return n < chunk ? n : chunk;
  }

  /// Row t of chunk q: entries at all places of the band.
  KOKKOS_INLINE_FUNCTION void fetch(const Lane &mine, int lane, int q, int t, Scalar (&entry)[W + 1], Shared &shared) const
  {
    const Chain       &c          = tree.chain;
    const std::int64_t i          = mine.leaf.first + row_at(q) + t;
    Scalar(&dense)[W + 2][leaves] = shared.row[q % 3][t];
    const std::int32_t *begin     = shared.row_begin[q % 3][lane] + t;
    const bool          plain     = is_plain();
    const int           n = plain ? between(begin[0], begin[1]) : 0, at = plain ? between(shared.row_begin[q % 3][lane][0], begin[0]) : 0;
    if (n == W + 1 && (!c.ring || (i >= c.kl && i + c.ku < c.rows))) {
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) entry[k] = shared.value[q % 2][lane][at + k];
      return;
    }
    for (int k = 0; k <= W; ++k) dense[k][lane] = Scalar(0);
    for (int e = at; e < at + n; ++e) dense[c.kl + c.distance(0, between(static_cast<std::int32_t>(mine.leaf.chain * c.rows + i), shared.column[q % 2][lane][e]))][lane] = shared.value[q % 2][lane][e];
    if (!plain && has_row(c, i)) {
      const std::int64_t place = A.row(c, mine.leaf.chain, i);
      for (int e = 0, m = A.entries(place); e < m; ++e) {
        int          distance;
        const Scalar value           = A.entry(c, mine.leaf.chain, i, place, e, distance);
        dense[c.kl + distance][lane] = value;
      }
    }
    RIBBON_UNROLL
    for (int k = 0; k <= W; ++k) entry[k] = dense[k][lane];
  }
  /// Scales the rows of chunk q by powers of two.
  KOKKOS_INLINE_FUNCTION void prepare(Lane &mine, int lane, int q, Shared &shared) const
  {
    const int rows = rows_of(q, mine.leaf.rows(tree));
    RIBBON_NO_UNROLL
    for (int t = 0; t < rows; ++t) {
      Scalar entry[W + 1];
      fetch(mine, lane, q, t, entry, shared);
      int largest = 0;
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) largest = size_word(entry[k]) > largest ? size_word(entry[k]) : largest;
      const int          exponent      = exponent_of<Real>(largest);
      const Real         s             = power_of_two(-exponent);
      const std::int64_t i             = mine.leaf.first + row_at(q) + t;
      shared.row_scale[q % 2][lane][t] = s;
      if (has_row(tree.chain, i)) shared.statistics[lane].take_row(exponent, largest == 0, mine.leaf.chain * tree.chain.rows + i);
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) {
        const Scalar a                = entry[k] * s;
        shared.row[q % 3][t][k][lane] = a;
        mine.size[k]                  = size_word(a) > mine.size[k] ? size_word(a) : mine.size[k];
      }
      const int whole = mine.size[0]; // of the column whose last row this was
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) mine.size[k] = mine.size[k + 1];
      mine.size[W]                = 0;
      shared.size[q % 3][t][lane] = whole;
      if (q < first_chunks) factors.passed(tree, mine.leaf.chain, 0, mine.leaf.node).scale(row_at(q) + t) = of_size_word(whole);
    }
  }

  /// Puts the rows of chunk q into the window.
  KOKKOS_INLINE_FUNCTION void fill(Lane &mine, int lane, int q, const Shared &shared) const
  {
    RIBBON_UNROLL
    for (int i = 0; i < W; ++i) { // entry k is in column i + k of those of the cut and, from W on, those ahead
      if (q != i / chunk) continue;
      const Scalar(&row)[W + 2][leaves] = shared.row[i / chunk % 3][i % chunk];
      if (mine.ahead) {
        RIBBON_UNROLL
        for (int c = 0; c < W; ++c) mine.window[c][i] = c <= i ? row[c <= i ? W + c - i : 0][lane] : Scalar(0);
      } else if (mine.follows) {
        RIBBON_UNROLL
        for (int c = 0; c < W; ++c) mine.window[c][i] = c >= i ? row[c >= i ? c - i : 0][lane] : Scalar(0);
      }
    }
  }

  /// Removes a column: the steps of chunk q. What does not wait for the reflection, the products with the columns, comes first.
  KOKKOS_INLINE_FUNCTION void eliminate(Lane &mine, int lane, int q, Shared &shared) const
  {
    Scalar(&w)[W][W] = mine.window;
    const int steps  = rows_of(q, mine.leaf.rows(tree));
    RIBBON_NO_UNROLL
    for (int t = 0; t < steps; ++t) {
      Scalar(&row)[W + 2][leaves] = shared.row[q % 3][t];
      Scalar x[W], product[W];
      Real   rest = 0, more = 0;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) x[i] = w[0][i];
      const Scalar alpha = row[0][lane];
      RIBBON_UNROLL
      for (int i = 0; i < W; i += 2) rest += squared(x[i]), more += squared(x[i + 1]);
      RIBBON_UNROLL
      for (int c = 1; c < W; ++c) {
        Scalar sum(0), other(0);
        RIBBON_UNROLL
        for (int i = 0; i < W; i += 2) sum += x[i] * w[c][i], other += x[i + 1] * w[c][i + 1];
        product[c] = sum + other;
      }
      const Reflector<Scalar> h = make_reflector(alpha, rest + more);
      mine.uppers[0]            = h.one_over_beta;
      RIBBON_UNROLL
      for (int c = 1; c <= W; ++c) {
        const Scalar a = row[c][lane], head = (c < W ? a + h.factor * product[c < W ? c : 0] : a) * h.tau_conjugate, tail = h.factor * head;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) w[c - 1][i] = (c < W ? w[c < W ? c : 0][i] : Scalar(0)) - x[i] * tail;
        mine.uppers[c * leaves] = a - head;
      }
      row[0][lane] = h.tau_conjugate;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) row[1 + i][lane] = h.factor * x[i];
      row[W + 1][lane] = h.beta;
      mine.uppers += (2 * W + 1) * leaves;
    }
  }
  /// The same reflections of the columns of the cut before.
  KOKKOS_INLINE_FUNCTION void follow(Lane &mine, int lane, int q, Shared &shared) const
  {
    Scalar(&w)[W][W] = mine.window;
    const int first = row_at(q) - W, steps = rows_of(q, mine.leaf.rows(tree));
    RIBBON_NO_UNROLL
    for (int t = 0; t < steps; ++t) {
      const Scalar(&row)[W + 2][leaves] = shared.row[q % 3][t];
      Scalar v[W];
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) v[i] = mine.reflections[(1 + i) * leaves] = row[1 + i][lane];
      const Scalar tau = mine.reflections[0] = row[0][lane];
      RIBBON_UNROLL
      for (int c = 0; c < W; ++c) {
        Scalar sum(0), other(0);
        RIBBON_UNROLL
        for (int i = 0; i < W; i += 2) sum += v[i] * w[c][i], other += v[i + 1] * w[c][i + 1];
        sum = (sum + other) * tau;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) w[c][i] -= v[i] * sum;
        mine.uppers[(1 + W + c) * leaves] = -sum;
      }
      shared.statistics[lane].take(row[W + 1][lane], of_size_word(shared.size[q % 3][t][lane]), mine.leaf.chain * tree.chain.rows + mine.leaf.first + tree.chain.ku + first + t);
      mine.reflections += (W + 1) * leaves, mine.uppers += (2 * W + 1) * leaves;
    }
  }

  KOKKOS_INLINE_FUNCTION void pass(const Lane &mine, int lane, const Shared &shared) const
  {
    const auto passed = factors.passed(tree, mine.leaf.chain, 0, mine.leaf.node);
    if (mine.ahead || mine.follows) {
      RIBBON_UNROLL
      for (int c = 0; c < W; ++c) {
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k) passed.entry(k, mine.ahead ? W + c : c) = mine.window[c][k];
      }
    }
    if (mine.prepares) {
      RIBBON_UNROLL
      for (int c = 0; c < W; ++c) passed.scale(W + c) = of_size_word(mine.size[c]);
      factors.leaf_statistics[mine.leaf.chain * tree.leaves + mine.leaf.node] = shared.statistics[lane];
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    static_assert(std::is_floating_point_v<Scalar> && W % 2 == 0 && entries <= leaves, "real numbers, sums in two halves, a lane for each entry of a chunk");
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    device::Threads<Lane, Team> threads(team, team.scratch() + device::align16(sizeof(Shared)));
    const auto                  each = [&](const auto &phase) { // more threads wait for what comes after the leaves
      threads.for_each([&](int v, Lane &mine) {
        if (v < max_threads) phase(v, mine);
      });
    };
    const std::int64_t slot0 = team.league_rank() * leaves, chain0 = slot0 / tree.slots, base = chain0 * tree.chain.rows + tree.start(slot0 - chain0 * tree.slots);
    const int          chunks      = first_chunks + (tree.most_steps(slot0, leaves) + chunk - 1) / chunk;
    const bool         plain       = is_plain();
    const std::int64_t first_entry = plain ? A.local.row_begin[base] : 0;
    each([&](int v, Lane &mine) {
      const int          lane  = v % leaves;
      const std::int64_t chain = (slot0 + lane) / tree.slots, node = (slot0 + lane) - chain * tree.slots;
      mine.active = chain < tree.chain.chains && node < tree.leaves;
      mine.ahead = v < leaves, mine.follows = v / leaves == 1, mine.prepares = v / leaves == warps - 1;
      mine.leaf.own = 0;
      if (mine.active) {
        mine.leaf        = Leaf(tree, chain, node);
        mine.reflections = factors.step(factors.reflection, tree, chain, node, 0, W + 1).at, mine.uppers = factors.step(factors.upper, tree, chain, node, 0, 2 * W + 1).at;
      }
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) mine.size[k] = 0;
      if (!mine.ahead) return;
      const std::int64_t before = chain * tree.chain.rows - base;
      shared.first[lane]        = mine.active ? static_cast<int>(before + mine.leaf.first) : 0;
      shared.begin[lane]        = mine.active ? static_cast<int>(before + tree.start(node)) : 0;
      shared.end[lane]          = mine.active ? static_cast<int>(before + tree.start(node + 1)) : 0;
      shared.statistics[lane]   = Statistics();
    });
    team.barrier();
    RIBBON_NO_UNROLL
    for (int q = -3; q <= chunks; ++q) { // chunk q is eliminated, q - 1 followed, q + 1 prepared; entries of q + 2 come, and where the rows of q + 3 begin
      each([&](int v, Lane &mine) {
        const int lane = v % leaves;
        if (!mine.ahead) {
          if (plain && q + 3 < chunks) stage_rows(base, q + 3, v - leaves, shared);
          if (plain && q >= -2 && q + 2 < chunks) stage_entries(first_entry, q + 2, v - leaves, shared);
          if (q >= 0 && q < chunks) store_scales(base, q, v - leaves, shared);
        }
        if (!mine.active) return;
        if (q >= 0 && q < first_chunks) fill(mine, lane, q, shared);
        if (mine.ahead && q >= first_chunks && q < chunks) eliminate(mine, lane, q, shared);
        if (mine.follows && q > first_chunks) follow(mine, lane, q - 1, shared);
        if (mine.prepares && q >= -1 && q + 1 < chunks) prepare(mine, lane, q + 1, shared);
      });
      each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
      team.barrier();
    }
    each([&](int v, Lane &mine) {
      if (mine.active) pass(mine, v % leaves, shared);
    });
  }
};

} // namespace ribbon::multifrontal

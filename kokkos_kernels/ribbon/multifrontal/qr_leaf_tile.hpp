// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_tile.hpp  Orthogonal elimination of leaves of one width, 32 at a time: a thread has a leaf, and half of its window in registers.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrLeafKernel for W = kl + ku known when compiled. Of the two threads of a leaf one has the W columns ahead and makes the reflections, the other follows a chunk of rows behind with the W columns
/// of the cut before. Entries come through scratch, a chunk of rows of all leaves at once, in runs; where a row has an entry at every place its column indices are not read.
template <class Scalar, int W>
struct QrLeafTileKernel {
  static constexpr int leaves       = 32;
  static constexpr int max_threads  = 2 * leaves;
  static constexpr int chunk        = W <= 4 ? 8 : W <= 8 ? 4 : 3; ///< rows of a leaf
  static constexpr int first_chunks = (W + chunk - 1) / chunk;     ///< with the rows that fill the window
  static constexpr int entries      = chunk * (W + 1);
  using Real                        = real_t<Scalar>;
  using Statistics                  = PivotStatistics<Real>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  Factors<Scalar>      factors;

  struct Lane {
    Leaf   leaf;
    Scalar window[W][W];  ///< columns; those of the leaf move up as they are removed
    int    size[W];       ///< size_word of the largest entries of the columns
    bool   active, ahead; ///< whether it has the columns ahead
  };
  struct Shared {
    Scalar       value[2][leaves][entries | 1]; // odd: no two lanes meet in a bank
    std::int32_t column[2][leaves][entries];    // their lower bits, as those of where rows begin: what counts are small differences
    std::int32_t row_begin[3][leaves][chunk + 1];
    int          begin[leaves], end[leaves], first[leaves]; ///< rows of a leaf, and the first of its window, from the first row of the tile on
    Scalar       dense[2][leaves][W + 1];
    Scalar       reflection[2][chunk][W + 1][leaves];
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
    for (int k = v; k < leaves * (chunk + 1); k += max_threads) {
      const int leaf = k / (chunk + 1), r = k - leaf * (chunk + 1), i = shared.first[leaf] + row_at(q) + r;
      const int at = i < shared.begin[leaf] ? shared.begin[leaf] : i > shared.end[leaf] ? shared.end[leaf] : i;
      device::async_copy(&shared.row_begin[q % 3][leaf][r], A.local.row_begin.low(base + at));
    }
  }
  /// The entries of the rows of chunk q. `first_entry`: of the tile.
  KOKKOS_INLINE_FUNCTION void stage_entries(std::int64_t first_entry, int q, int v, Shared &shared) const
  {
    RIBBON_UNROLL
    for (int n_k = 0; n_k < (leaves * entries + max_threads - 1) / max_threads; ++n_k) {
      const int k = v + n_k * max_threads;
      if (k >= leaves * entries) continue;
      const int leaf = k / entries, e = k - leaf * entries;
      const int n = between(shared.row_begin[q % 3][leaf][0], shared.row_begin[q % 3][leaf][chunk]);
      if (e >= n) continue;
      const std::int64_t at = first_entry + between(static_cast<std::int32_t>(first_entry), shared.row_begin[q % 3][leaf][0]) + e;
      device::async_copy(&shared.value[q % 2][leaf][e], A.local.value + at);
      if (n != entries || tree.chain.ring) device::async_copy(&shared.column[q % 2][leaf][e], A.local.column.low(at));
    }
  }
  /// The scales that were found in chunk q.
  KOKKOS_INLINE_FUNCTION void store_scales(std::int64_t base, int q, int v, const Shared &shared) const
  {
    for (int k = v; k < leaves * chunk; k += max_threads) {
      const int leaf = k / chunk, r = k - leaf * chunk, i = shared.first[leaf] + row_at(q) + r;
      if ((q >= first_chunks || row_at(q) + r < W) && i >= shared.begin[leaf] && i < shared.end[leaf]) factors.row_scale[base + i] = shared.row_scale[q % 2][leaf][r];
    }
  }

  /// Row t of chunk q, an entry for every place of the band.
  KOKKOS_INLINE_FUNCTION const Scalar *row(const Lane &mine, int lane, int q, int t, Shared &shared) const
  {
    const Chain       &c     = tree.chain;
    const std::int64_t i     = mine.leaf.first + row_at(q) + t;
    Scalar            *dense = shared.dense[mine.ahead ? 0 : 1][lane];
    if (is_plain()) {
      const std::int32_t *begin = shared.row_begin[q % 3][lane] + t;
      const int           n = between(begin[0], begin[1]), at = between(shared.row_begin[q % 3][lane][0], begin[0]);
      if (n == W + 1 && (!c.ring || (i >= c.kl && i + c.ku < c.rows))) return shared.value[q % 2][lane] + at;
      for (int k = 0; k <= W; ++k) dense[k] = Scalar(0);
      for (int e = at; e < at + n; ++e) dense[c.kl + c.distance(0, between(static_cast<std::int32_t>(mine.leaf.chain * c.rows + i), shared.column[q % 2][lane][e]))] = shared.value[q % 2][lane][e];
    } else {
      for (int k = 0; k <= W; ++k) dense[k] = Scalar(0);
      if (!has_row(c, i)) return dense;
      const std::int64_t place = A.row(c, mine.leaf.chain, i);
      for (int e = 0, n = A.entries(place); e < n; ++e) {
        int          distance;
        const Scalar value     = A.entry(c, mine.leaf.chain, i, place, e, distance);
        dense[c.kl + distance] = value;
      }
    }
    return dense;
  }
  /// The scale of a row, which the thread with the columns ahead notes.
  KOKKOS_INLINE_FUNCTION Real scale(const Lane &mine, const Scalar *entry, int lane, int q, int t, Shared &shared) const
  {
    int largest = 0;
    RIBBON_UNROLL
    for (int k = 0; k <= W; ++k) largest = size_word(entry[k]) > largest ? size_word(entry[k]) : largest;
    const int  exponent = exponent_of<Real>(largest);
    const Real s        = power_of_two(-exponent);
    if (mine.ahead) {
      const std::int64_t i             = mine.leaf.first + row_at(q) + t;
      shared.row_scale[q % 2][lane][t] = s;
      if (has_row(tree.chain, i)) shared.statistics[lane].take_row(exponent, largest == 0, mine.leaf.chain * tree.chain.rows + i);
    }
    return s;
  }

  /// Puts row i of the leaf into the window.
  KOKKOS_INLINE_FUNCTION void fill(Lane &mine, int lane, int q, int i, Shared &shared) const
  {
    const Scalar *entry = row(mine, lane, q, i - row_at(q), shared);
    const Real    s     = scale(mine, entry, lane, q, i - row_at(q), shared);
    RIBBON_UNROLL
    for (int c = 0; c < W; ++c) { // entry k is in column i + k of those of the cut and, from W on, those ahead
      const int    k    = mine.ahead ? W + c - i : c - i;
      const Scalar a    = k >= 0 && k <= W ? entry[k] * s : Scalar(0);
      mine.window[c][i] = a;
      mine.size[c]      = i == 0 || size_word(a) > mine.size[c] ? size_word(a) : mine.size[c];
    }
  }

  /// Removes a column: the steps of chunk q.
  KOKKOS_INLINE_FUNCTION void eliminate(Lane &mine, int lane, int q, Shared &shared) const
  {
    Scalar(&w)[W][W]      = mine.window;
    const int first       = row_at(q) - W;
    Scalar   *reflections = factors.step(factors.reflection, tree, mine.leaf.chain, mine.leaf.node, first, W + 1).at;
    Scalar   *uppers      = factors.step(factors.upper, tree, mine.leaf.chain, mine.leaf.node, first, 2 * W + 1).at;
    for (int t = 0; t < chunk && first + t < mine.leaf.own; ++t) {
      const Scalar *entry = row(mine, lane, q, t, shared);
      const Real    s     = scale(mine, entry, lane, q, t, shared);
      const Scalar  alpha = entry[0] * s;
      Real          rest = 0, more = 0;
      RIBBON_UNROLL
      for (int i = 0; i < W; i += 2) rest += squared(w[0][i]), more += squared(w[0][i + 1]);
      const Reflector<Scalar> h   = make_reflector(alpha, rest + more);
      const int               own = size_word(alpha) > mine.size[0] ? size_word(alpha) : mine.size[0];
      shared.statistics[lane].take(h.beta, of_size_word(own), mine.leaf.chain * tree.chain.rows + mine.leaf.first + tree.chain.ku + first + t);
      Scalar(&to)[W + 1][leaves] = shared.reflection[q % 2][t];
      Scalar v[W];
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) v[i] = h.factor * w[0][i];
      to[0][lane] = reflections[0] = h.tau_conjugate, uppers[0] = h.one_over_beta;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) to[1 + i][lane] = reflections[(1 + i) * leaves] = v[i];
      RIBBON_UNROLL
      for (int c = 1; c <= W; ++c) {
        const Scalar a   = entry[c] * s;
        Scalar       sum = a, other(0);
        if (c < W) {
          RIBBON_UNROLL
          for (int i = 0; i < W; i += 2) sum += v[i] * w[c][i], other += v[i + 1] * w[c][i + 1];
        }
        sum = (sum + other) * h.tau_conjugate;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) w[c - 1][i] = (c < W ? w[c][i] : Scalar(0)) - v[i] * sum;
        uppers[c * leaves] = a - sum;
        mine.size[c - 1]   = c == W || size_word(a) > mine.size[c] ? size_word(a) : mine.size[c];
      }
      reflections += (W + 1) * leaves, uppers += (2 * W + 1) * leaves;
    }
  }
  /// The same reflections of the columns of the cut before.
  KOKKOS_INLINE_FUNCTION void follow(Lane &mine, int lane, int q, const Shared &shared) const
  {
    Scalar(&w)[W][W] = mine.window;
    const int first  = row_at(q) - W;
    Scalar   *uppers = factors.step(factors.upper, tree, mine.leaf.chain, mine.leaf.node, first, 2 * W + 1).at;
    for (int t = 0; t < chunk && first + t < mine.leaf.own; ++t) {
      const Scalar(&r)[W + 1][leaves] = shared.reflection[q % 2][t];
      Scalar v[W];
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) v[i] = r[1 + i][lane];
      const Scalar tau = r[0][lane];
      RIBBON_UNROLL
      for (int c = 0; c < W; ++c) {
        Scalar sum(0), other(0);
        RIBBON_UNROLL
        for (int i = 0; i < W; i += 2) sum += v[i] * w[c][i], other += v[i + 1] * w[c][i + 1];
        sum = (sum + other) * tau;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) w[c][i] -= v[i] * sum;
        uppers[(1 + W + c) * leaves] = -sum;
      }
      uppers += (2 * W + 1) * leaves;
    }
  }

  KOKKOS_INLINE_FUNCTION void pass(const Lane &mine, int lane, const Shared &shared) const
  {
    const auto passed = factors.passed(tree, mine.leaf.chain, 0, mine.leaf.node);
    RIBBON_UNROLL
    for (int c = 0; c < W; ++c) {
      const int to = mine.ahead ? W + c : c;
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) passed.entry(k, to) = mine.window[c][k];
      passed.scale(to) = of_size_word(mine.size[c]);
    }
    if (mine.ahead) factors.leaf_statistics[mine.leaf.chain * tree.leaves + mine.leaf.node] = shared.statistics[lane];
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    static_assert(std::is_floating_point_v<Scalar> && W % 2 == 0, "real numbers, and sums in two halves");
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
      mine.active = chain < tree.chain.chains && node < tree.leaves, mine.ahead = v < leaves;
      mine.leaf.own = 0;
      if (mine.active) mine.leaf = Leaf(tree, chain, node);
      if (!mine.ahead) return;
      const std::int64_t before = chain * tree.chain.rows - base;
      shared.first[lane]        = mine.active ? static_cast<int>(before + mine.leaf.first) : 0;
      shared.begin[lane]        = mine.active ? static_cast<int>(before + tree.start(node)) : 0;
      shared.end[lane]          = mine.active ? static_cast<int>(before + tree.start(node + 1)) : 0;
      shared.statistics[lane]   = Statistics();
    });
    team.barrier();
    if (plain) {
      each([&](int v, Lane &) { stage_rows(base, 0, v, shared), stage_rows(base, 1, v, shared); });
      each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
      team.barrier();
      each([&](int v, Lane &) { stage_entries(first_entry, 0, v, shared); });
      each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
      team.barrier();
    }
    const auto at_chunk = [&](int q, const auto &body) { // while the next one comes
      each([&](int v, Lane &mine) {
        if (plain && q + 2 < chunks) stage_rows(base, q + 2, v, shared);
        if (plain && q + 1 < chunks) stage_entries(first_entry, q + 1, v, shared);
        if (q > 0) store_scales(base, q - 1, v, shared);
        if (mine.active) body(v % leaves, mine);
      });
      each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
      team.barrier();
    };
    RIBBON_UNROLL
    for (int q = 0; q < first_chunks; ++q)
      at_chunk(q, [&](int lane, Lane &mine) {
        RIBBON_UNROLL
        for (int t = 0; t < chunk; ++t)
          if (q * chunk + t < W) fill(mine, lane, q, q * chunk + t, shared);
      });
    for (int q = first_chunks; q <= chunks; ++q)
      at_chunk(q, [&](int lane, Lane &mine) {
        if (!mine.ahead) {
          if (q > first_chunks) follow(mine, lane, q - 1, shared);
        } else if (q < chunks) eliminate(mine, lane, q, shared);
      });
    each([&](int v, Lane &mine) {
      if (mine.active) pass(mine, v % leaves, shared);
    });
  }
};

} // namespace ribbon::multifrontal

// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_tile.hpp  What the kernels that bring right-hand sides of chains of one width through the leaves of a tree share.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/multifrontal/qr_solve.hpp>

namespace ribbon::multifrontal {

/// Sweeps over the leaves of a tile for W = kl + ku known when compiled. A team has all rows of its leaves and columns in scratch, `values`: they are asked for at once, and stay until they are solved. A thread has a
/// leaf and C columns. Factors come through a ring of slots, a chunk of steps of all leaves at once, while the ones before are worked off. One column: 32 leaves, whose joins the same team goes on with. Many: 8 leaves
/// and 16 columns, so that what is read of the factors is little for each column.
template <class Scalar, int W, bool Many, bool Up>
struct QrTile {
  static constexpr int leaves      = Many ? 8 : 32;
  static constexpr int max_threads = Many ? 64 : 128;
  static constexpr int team_size   = max_threads;
  static constexpr int C           = Many ? 2 : 1;                    ///< columns of a thread
  static constexpr int groups      = Many ? max_threads / leaves : 1; ///< threads that have the same leaf
  static constexpr int busy        = groups * leaves;                 ///< threads with columns; the others help with copies and joins
  static constexpr int block       = groups * C;                      ///< columns of a team
  static constexpr int most        = Up ? W + 1 : 2 * W + 1;          ///< numbers of a step
  /// Steps that the ring holds, so that with leaves of 65 rows three teams of many columns, or four of one, fit a multiprocessor.
  static constexpr int capacity = (Many ? 1264 * leaves : 40192) / (leaves * ((most + 1) * 8));
  static constexpr int chunk    = capacity >= 24 ? 8 : capacity >= 12 ? 4 : capacity >= 9 ? 3 : 2; ///< steps of a leaf
  static constexpr int stages   = capacity / chunk < 4 ? capacity / chunk : 4;
  QrSolve<Scalar>      solve;
  int                  pitch; ///< places of a leaf's rows in scratch: odd, so that no two lanes meet in a bank

  struct alignas(16) Shared {
    Scalar         factor[stages][chunk * most * leaves]; ///< by steps, numbers of a step, leaves
    real_t<Scalar> scale[stages][chunk * leaves];
    int            begin[leaves], length[leaves]; ///< of a leaf: rows, from the first row of the tile on
    int            lead[leaves], own[leaves];     ///< rows of zeros before the first of a chain; columns that are removed
  };
  struct Tile {
    std::int64_t  chain0, node0, base, column0; ///< first chain, leaf, row of all vectors, column
    int           chunks, columns, least;       ///< least: steps that find a row in every leaf
    const Scalar *reflection, *upper;           ///< of the first step of the first leaf
  };
  QrTile(const QrSolve<Scalar> &s) : solve(s), pitch(static_cast<int>(s.tree.most_rows()) | 1) { }
  KOKKOS_INLINE_FUNCTION std::size_t value_bytes() const { return device::align16(static_cast<std::size_t>(block * leaves * pitch) * sizeof(Scalar)); }
  std::int64_t                       teams() const { return (solve.tree.chain.chains * solve.tree.slots + leaves - 1) / leaves * blocks(); }

  KOKKOS_INLINE_FUNCTION std::int64_t blocks() const { return (solve.v.columns + block - 1) / block; }
  KOKKOS_INLINE_FUNCTION Tile         tile(std::int64_t team) const
  {
    const Tree        &tree   = solve.tree;
    const std::int64_t number = solve.quotient(team, blocks()), block_number = team - number * blocks(), slot0 = number * leaves, chain0 = tree.chain.chains == 1 ? 0 : slot0 / tree.slots,
                       node0 = slot0 - chain0 * tree.slots;
    const std::int64_t rest  = solve.v.columns - block_number * block;
    const auto         first = [&](const Scalar *all, int numbers) { return solve.factors.step(all, tree, chain0, node0, 0, numbers).at; };
    return {chain0,
            node0,
            chain0 * tree.chain.rows + tree.start(node0),
            block_number * block,
            (tree.most_steps(slot0 - chain0 * tree.slots, leaves) + chunk - 1) / chunk,
            static_cast<int>(rest < block ? rest : block),
            static_cast<int>(tree.shortest) - W,
            first(solve.factors.reflection, W + 1),
            first(solve.factors.upper, 2 * W + 1)};
  }
  KOKKOS_INLINE_FUNCTION void begin(const Tile &tile, int v, Shared &shared) const
  {
    if (v >= leaves) return;
    const Tree        &tree  = solve.tree;
    const int          slots = static_cast<int>(tree.slots < leaves ? tree.slots : leaves), group = slots == leaves ? 0 : v / slots;
    const std::int64_t chain = tile.chain0 + group, node = tile.node0 + v - group * slots;
    const bool         there = chain < tree.chain.chains && node < tree.leaves;
    Leaf               leaf;
    if (there) leaf = Leaf(tree, chain, node);
    shared.begin[v]  = there ? static_cast<int>(chain * tree.chain.rows + tree.start(node) - tile.base) : 0;
    shared.length[v] = there ? static_cast<int>(tree.start(node + 1) - tree.start(node)) : 0;
    shared.lead[v] = there ? static_cast<int>(tree.start(node) - leaf.first) : 0, shared.own[v] = there ? leaf.own : 0;
  }
  /// The leaf of a thread.
  KOKKOS_INLINE_FUNCTION bool find_leaf(const Tile &tile, int v, std::int64_t &chain, std::int64_t &node) const
  {
    const int slots = static_cast<int>(solve.tree.slots < leaves ? solve.tree.slots : leaves), leaf = v % leaves, group = slots == leaves ? 0 : leaf / slots;
    chain = tile.chain0 + group, node = tile.node0 + leaf - group * slots;
    return chain < solve.tree.chain.chains && node < solve.tree.leaves;
  }

  KOKKOS_INLINE_FUNCTION Scalar *value(Scalar *values, int column, int leaf) const { return values + (column * leaves + leaf) * pitch; }
  /// Calls body(place in scratch, row of the vectors) for a thread's share of the tile's rows; neighbouring threads have neighbouring rows.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_each_row(const Tile &tile, int v, const Shared &shared, Scalar *values, const Body &body) const
  {
    for (int leaf = v / 32; leaf < leaves; leaf += max_threads / 32)
      for (int r = v % 32; r < shared.length[leaf]; r += 32) {
        const std::int64_t place = tile.base + shared.begin[leaf] + r;
        body(value(values, 0, leaf) + r, solve.v.row_of ? solve.v.row_of[place] : place);
      }
  }
  /// Starts to bring the tile's rows of its columns.
  KOKKOS_INLINE_FUNCTION void bring(const Tile &tile, int v, const Shared &shared, Scalar *values, const Scalar *from, std::int64_t ld) const
  {
    const int stride = leaves * pitch;
    from += tile.column0 * ld;
    for_each_row(tile, v, shared, values, [&](Scalar *to, std::int64_t row) {
      const Scalar *at = from + row;
      RIBBON_UNROLL
      for (int c = 0; c < block; ++c, to += stride, at += ld)
        if (c < tile.columns) device::async_copy(to, at);
    });
  }
  KOKKOS_INLINE_FUNCTION void store(const Tile &tile, int v, const Shared &shared, Scalar *values) const
  {
    const int          stride = leaves * pitch;
    const std::int64_t ld     = solve.v.ldx;
    Scalar            *x      = solve.v.x + tile.column0 * ld;
    for_each_row(tile, v, shared, values, [&](const Scalar *from, std::int64_t row) {
      Scalar *at = x + row;
      RIBBON_UNROLL
      for (int c = 0; c < block; ++c, from += stride, at += ld)
        if (c < tile.columns) *at = *from;
    });
  }

  /// Starts to bring the factors of chunk q, of reflections or of R, to slot u % stages.
  template <bool Reflections, bool Virtual>
  KOKKOS_INLINE_FUNCTION void fetch(const Tile &tile, int u, int q, int v, Shared &shared) const
  {
    constexpr int numbers = Reflections ? W + 1 : 2 * W + 1, together = 32, pairs = leaves / 2, rounds = (chunk * numbers * pairs + max_threads - 1) / max_threads;
    const Scalar *from = (Reflections ? tile.reflection : tile.upper) + (q * chunk * numbers + v / pairs) * together + v % pairs * 2;
    Scalar       *to   = shared.factor[u % stages] + 2 * v;
    const int     rest = static_cast<int>(solve.tree.most_rows()) - q * chunk, n = (rest < chunk ? rest : chunk) * numbers * pairs;
    RIBBON_UNROLL
    for (int k = 0; k < rounds; ++k, from += max_threads / pairs * together, to += 2 * max_threads) {
      if (v + k * max_threads >= n) continue;
      if constexpr (Virtual) to[0] = from[0], to[1] = from[1];
      else device::async_copy_pack(to, from);
    }
    if constexpr (Reflections)
      for (int k = v; k < chunk * leaves; k += max_threads) {
        const int leaf = k % leaves, r = W + q * chunk + k / leaves - shared.lead[leaf];
        if (r < shared.length[leaf]) device::async_copy(&shared.scale[u % stages][k], static_cast<const real_t<Scalar> *>(solve.factors.row_scale) + tile.base + (shared.begin[leaf] + r));
      }
  }

  /// The first W rows of a thread's leaf, scaled.
  KOKKOS_INLINE_FUNCTION void fill(const Tile &tile, int v, Scalar (&window)[C][W], const Shared &shared, Scalar *values) const
  {
    const int leaf = v % leaves, first = -shared.lead[leaf];
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) {
      const bool           there = first + k >= 0 && first + k < shared.length[leaf];
      const real_t<Scalar> scale = there ? solve.factors.row_scale[tile.base + shared.begin[leaf] + first + k] : real_t<Scalar>(0);
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) window[c][k] = there ? value(values, c * groups + v / leaves, leaf)[first + k] * scale : Scalar(0);
    }
  }
  /// Reflects the rows of chunk q: b becomes Q^H b, which is put where its columns are if `keeps`. `Whole`: every leaf has all the steps.
  template <bool Whole>
  KOKKOS_INLINE_FUNCTION void reflect(int u, int q, int v, bool keeps, Scalar (&window)[C][W], const Shared &shared, Scalar *values) const
  {
    const int     leaf = v % leaves, first = q * chunk, own = shared.own[leaf], row = W + first - shared.lead[leaf], length = shared.length[leaf];
    const Scalar *factor = shared.factor[u % stages] + leaf;
    Scalar        y[C][chunk];
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) {
      const bool there = Whole || (first + t < own && row + t < length);
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) y[c][t] = there ? value(values, c * groups + v / leaves, leaf)[row + t] * shared.scale[u % stages][t * leaves + leaf] : Scalar(0);
    }
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) {
      if (!Whole && first + t >= own) continue;
      Scalar f[W + 1];
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) f[k] = factor[(t * (W + 1) + k) * leaves];
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        Scalar(&w)[W] = window[c];
        Scalar sum    = y[c][t], other(0);
        RIBBON_UNROLL
        for (int k = 0; k < W; k += 2) sum += f[1 + k] * w[k], other += f[2 + k] * w[k + 1];
        sum = (sum + other) * f[0];
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k) w[k] -= f[1 + k] * sum;
        y[c][t] -= sum;
      }
    }
    if (!keeps) return;
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) {
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c)
        if (Whole || first + t < own) value(values, c * groups + v / leaves, leaf)[row - solve.tree.chain.kl + t] = y[c][t];
    }
  }
  KOKKOS_INLINE_FUNCTION void up(const Tile &tile, int u, int q, int v, bool keeps, Scalar (&window)[C][W], const Shared &shared, Scalar *values) const
  {
    if (v >= busy) return;
    if ((q + 1) * chunk <= tile.least) reflect<true>(u, q, v, keeps, window, shared, values);
    else reflect<false>(u, q, v, keeps, window, shared, values);
  }

  /// Solves for the columns of chunk q; `window`: the unknowns behind them, `left`: those of the cut before the leaf.
  template <bool Whole>
  KOKKOS_INLINE_FUNCTION void substitute(int u, int q, int v, Scalar (&window)[C][W], const Scalar (&left)[C][W], const Shared &shared, Scalar *values) const
  {
    const int     leaf = v % leaves, first = q * chunk, own = shared.own[leaf], row = solve.tree.chain.ku + first - shared.lead[leaf];
    const Scalar *factor = shared.factor[u % stages] + leaf;
    Scalar        y[C][chunk];
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) {
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) y[c][t] = Whole || first + t < own ? value(values, c * groups + v / leaves, leaf)[row + t] : Scalar(0);
    }
    RIBBON_UNROLL
    for (int t = chunk - 1; t >= 0; --t) {
      if (!Whole && first + t >= own) continue;
      Scalar f[2 * W + 1];
      RIBBON_UNROLL
      for (int k = 0; k <= 2 * W; ++k) f[k] = factor[(t * (2 * W + 1) + k) * leaves];
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        Scalar(&w)[W] = window[c];
        Scalar sum    = y[c][t], other(0);
        RIBBON_UNROLL
        for (int k = 0; k < W; k += 2) sum -= f[1 + W + k] * left[c][k], other -= f[2 + W + k] * left[c][k + 1];
        sum += other;
        RIBBON_UNROLL
        for (int k = W - 1; k >= 0; --k) sum -= f[1 + k] * w[k]; // the one that was found last comes last
        RIBBON_UNROLL
        for (int k = W - 1; k > 0; --k) w[k] = w[k - 1];
        y[c][t] = w[0] = sum * f[0];
      }
    }
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) {
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c)
        if (Whole || first + t < own) value(values, c * groups + v / leaves, leaf)[row + t] = y[c][t];
    }
  }
  KOKKOS_INLINE_FUNCTION void down(const Tile &tile, int u, int q, int v, Scalar (&window)[C][W], const Scalar (&left)[C][W], const Shared &shared, Scalar *values) const
  {
    if (v >= busy) return;
    if ((q + 1) * chunk <= tile.least) substitute<true>(u, q, v, window, left, shared, values);
    else substitute<false>(u, q, v, window, left, shared, values);
  }
  /// Puts the unknowns of the cuts before and behind a leaf that are in its rows among its values.
  KOKKOS_INLINE_FUNCTION void place_cuts(int v, const Scalar (&behind)[C][W], const Scalar (&before)[C][W], const Shared &shared, Scalar *values) const
  {
    const Chain &chain = solve.tree.chain;
    const int    leaf = v % leaves, above = chain.ku - shared.lead[leaf], below = shared.length[leaf] - above - shared.own[leaf]; // rows of the leaf that are not its own columns
    RIBBON_UNROLL
    for (int c = 0; c < C; ++c) {
      Scalar *to = value(values, c * groups + v / leaves, leaf);
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) {
        if (k >= chain.kl && above > 0) to[k - chain.kl] = before[c][k];
        if (k < below) to[shared.length[leaf] - below + k] = behind[c][k];
      }
    }
  }

  /// Whether Q^H b stays on the chip, so that b is reflected once more on the way down. The way down of a piece begins without b.
  KOKKOS_INLINE_FUNCTION bool reflects_again() const { return Many && !solve.tree.is_piece(); }

  /// A sweep over chunks 0 to n - 1 in two parts: fetch(u, v) starts the copies of one, work(u, v, state) is done with it.
  template <class Threads, class Fetch>
  KOKKOS_INLINE_FUNCTION static void prime(Threads &threads, int n, const Fetch &fetch)
  {
    for (int u = 0; u < stages - 1; ++u)
      threads.for_each([&](int v, auto &) {
        if (u < n) fetch(u, v);
        device::async_commit();
      });
  }
  template <class Team, class Threads, class Fetch, class Work>
  KOKKOS_INLINE_FUNCTION static void run(const Team &team, Threads &threads, int n, const Fetch &fetch, const Work &work)
  {
    for (int u = 0; u < n; ++u) {
      threads.for_each([&](int, auto &) { device::async_wait(stages - 2); });
      team.barrier();
      threads.for_each([&](int v, auto &mine) {
        if (u + stages - 1 < n) fetch(u + stages - 1, v);
        device::async_commit();
        work(u, v, mine);
      });
    }
    threads.for_each([&](int, auto &) { device::async_wait(0); }); // chains without a step have rows, too
    team.barrier();
  }
};

} // namespace ribbon::multifrontal

// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_tile_down.hpp  Solutions of chains of one width on their way down, in one launch.
#pragma once

#include <ribbon/multifrontal/qr_tile.hpp>

namespace ribbon::multifrontal {

/// R x = Q^H b.
template <class Scalar, int W, int C>
struct QrTileDownKernel : QrTile<Scalar, W, C, false> {
  using Base = QrTile<Scalar, W, C, false>;
  using Base::block;
  using Base::chunk;
  using Base::leaves;
  using Base::max_threads;
  using typename Base::Shared;
  using typename Base::Tile;

  struct Lane {
    Scalar window[C][W], left[C][W]; ///< the unknowns behind, those of the cut before
  };
  using Cut = Scalar[W][block]; ///< the unknowns of a cut
  static std::size_t scratch(const Tree &tree, bool virtual_threads)
  {
    const std::size_t cuts = static_cast<std::size_t>(leaves + 1 + leaves / (tree.slots < leaves ? tree.slots : leaves));
    return device::align16(sizeof(Shared)) + device::align16(cuts * sizeof(Cut)) + (virtual_threads ? max_threads * device::align16(sizeof(Lane)) : 0);
  }

  /// Row r of what a join has to substitute, from the unknowns of the cuts before and behind.
  KOKKOS_INLINE_FUNCTION Scalar right_side(std::int64_t chain, int level, std::int64_t node, int r, std::int64_t column, int c, const Cut &before, const Cut &behind) const
  {
    const Scalar *cut = this->solve.factors.join_at(this->solve.tree, chain, level, node).cut + r;
    Scalar        given[2 * W], sum = this->cut_value(chain, level, node, r, column), other(0);
    RIBBON_UNROLL
    for (int k = 0; k < 2 * W; ++k) given[k] = cut[k * W]; // all under way at once
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) sum -= given[k] * before[k][c], other -= given[W + k] * behind[k][c];
    return sum + other;
  }
  /// Solves with R; y(k) is the right-hand side, and put(k, x) takes the solution.
  template <class Given, class Put>
  KOKKOS_INLINE_FUNCTION void substitute(std::int64_t chain, int level, std::int64_t node, const Given &given, const Put &put) const
  {
    const Scalar *r = this->solve.factors.join_at(this->solve.tree, chain, level, node).r;
    Scalar        y[W];
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) y[k] = given(k);
    RIBBON_UNROLL
    for (int k = W - 1; k >= 0; --k) {
      y[k] *= r[k * W + k];
      RIBBON_UNROLL
      for (int i = 0; i < k; ++i) y[i] -= r[k * W + i] * y[k];
    }
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) put(k, y[k]);
  }

  KOKKOS_INLINE_FUNCTION void compute(int q, int v, Lane &mine, Shared &shared) const
  {
    const int warp = v / leaves, lane = v % leaves;
    if (warp >= Base::with_columns) return;
    Scalar(&value)[C][leaves][chunk + 1] = shared.value[q % 2][warp];
    RIBBON_UNROLL
    for (int t = chunk - 1; t >= 0; --t) {
      if (Base::step_at(q) + t >= shared.own[lane]) continue;
      Scalar f[2 * W + 1];
      RIBBON_UNROLL
      for (int k = 0; k <= 2 * W; ++k) f[k] = shared.factor[q % 2][t][k][lane];
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        Scalar(&w)[W] = mine.window[c];
        Scalar sum    = value[c][lane][t], other(0);
        RIBBON_UNROLL
        for (int k = 0; k < W; k += 2) sum -= f[1 + W + k] * mine.left[c][k], other -= f[2 + W + k] * mine.left[c][k + 1];
        sum += other;
        RIBBON_UNROLL
        for (int k = W - 1; k >= 0; --k) sum -= f[1 + k] * w[k]; // the one that was found last comes last
        RIBBON_UNROLL
        for (int k = W - 1; k > 0; --k) w[k] = w[k - 1];
        value[c][lane][t] = w[0] = sum * f[0];
      }
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree                 &tree   = this->solve.tree;
    const Columns<Scalar>      &v      = this->solve.v;
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    Cut                        *cuts   = reinterpret_cast<Cut *>(team.scratch() + device::align16(sizeof(Shared)));
    const std::int64_t          blocks = this->blocks(), number = team.league_rank() / blocks;
    const Tile                  tile   = this->tile(number, team.league_rank() - number * blocks);
    const int                   lowest = tree.levels < 5 ? tree.levels : 5, stored = tile.chains * (tile.leaves_of_chain + 1); // level of the tile's top; cuts
    const std::int64_t          top = tile.node0 / leaves;
    device::Threads<Lane, Team> threads(team, reinterpret_cast<char *>(cuts) + device::align16(static_cast<std::size_t>(leaves + 1 + leaves / (tree.slots < leaves ? tree.slots : leaves)) * sizeof(Cut)));
    threads.for_each([&](int t, Lane &) { this->begin(tile, t, shared); });
    team.barrier();
    threads.for_each([&](int t, Lane &) {
      if (tile.chunks > 0) this->template stage<Team::is_virtual>(tile, tile.chunks - 1, t, shared);
    });
    const auto items = [&](int n, const auto &body) { // body(number, column of the block) on all threads
      threads.for_each([&](int t, Lane &) {
        for (int item = t; item < n * block; item += max_threads)
          if (tile.column0 + item % block < v.columns) body(item / block, item % block);
      });
      team.barrier();
    };
    items(tile.chains * 2 * W, [&](int item, int c) { // the ends of a chain, until a join says better
      const int k = item % W, end = item / W % 2, g = item / (2 * W);
      cuts[tile.cut(g, end * tile.leaves_of_chain)][k][c] = end == 0 && tree.chain.open_left    ? v.before[k * v.columns + tile.column0 + c]
                                                            : end == 1 && tree.chain.open_right ? v.behind[k * v.columns + tile.column0 + c]
                                                                                                : Scalar(0);
    });
    if (tree.chain.ring)
      items(tile.chains, [&](int g, int c) {
        const int level = tree.levels + 1;
        substitute(
          tile.chain0 + g, level, 0, [&](int k) { return this->cut_value(tile.chain0 + g, level, 0, k, tile.column0 + c); },
          [&](int k, const Scalar &x) { cuts[tile.cut(g, 0)][k][c] = cuts[tile.cut(g, tile.leaves_of_chain)][k][c] = x; });
      });
    for (int level = tree.levels; level > lowest; --level) { // joins above the tile: every team works off those that concern it
      const std::int64_t node = top >> (level - lowest);
      if (!tree.is_join(level, node)) continue;
      Cut &before = cuts[0], &behind = cuts[tile.leaves_of_chain], &between = cuts[stored], &found = (top >> (level - 1 - lowest)) % 2 == 1 ? before : behind;
      items(W, [&](int r, int c) { between[r][c] = right_side(tile.chain0, level, node, r, tile.column0 + c, c, before, behind); });
      items(1, [&](int, int c) {
        substitute(
          tile.chain0, level, node, [&](int k) { return between[k][c]; }, [&](int k, const Scalar &x) { found[k][c] = x; });
      });
    }
    for (int level = lowest; level > 0; --level) {
      const auto join = [&](int j, const auto &body) { // body(node, cut before, between, behind)
        const auto n = this->node_at(tile.chain0, top, lowest, level, j);
        if (n.chain >= tree.chain.chains || n.node >= tree.count[level] || !tree.is_join(level, n.node)) return;
        const int within = (j - (n.group << (lowest - level))) << level, end = within + (1 << level);
        body(n, cuts[tile.cut(n.group, within)], cuts[tile.cut(n.group, within + (1 << (level - 1)))], cuts[tile.cut(n.group, end < tile.leaves_of_chain ? end : tile.leaves_of_chain)]);
      };
      const int nodes = this->nodes_at(tile.chains, lowest, level);
      items(nodes * W, [&](int item, int c) {
        join(item / W, [&](const auto &n, const Cut &before, Cut &between, const Cut &behind) { between[item % W][c] = right_side(n.chain, level, n.node, item % W, tile.column0 + c, c, before, behind); });
      });
      items(nodes, [&](int j, int c) {
        join(j, [&](const auto &n, const Cut &, Cut &between, const Cut &) {
          substitute(
            n.chain, level, n.node, [&](int k) { return between[k][c]; }, [&](int k, const Scalar &x) { between[k][c] = x; });
        });
      });
    }
    threads.for_each([&](int t, Lane &mine) {
      const int warp = t / leaves, lane = t % leaves, g = static_cast<int>(lane / (tree.slots < leaves ? tree.slots : leaves)), i = lane - g * static_cast<int>(tree.slots < leaves ? tree.slots : leaves);
      if (warp >= Base::with_columns || shared.end[lane] == 0) return;
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k) mine.left[c][k] = cuts[tile.cut(g, i)][k][warp * C + c], mine.window[c][k] = cuts[tile.cut(g, i + 1)][k][warp * C + c];
      }
    });
    items(stored * W, [&](int item, int c) { // every cut belongs to the leaf behind it
      const int          k = item % W, g = item / W / (tile.leaves_of_chain + 1), i = item / W % (tile.leaves_of_chain + 1);
      const std::int64_t node = tile.node0 + i;
      if (i < tile.leaves_of_chain && (node > 0 || tree.chain.ring)) this->solve.x(tile.chain0 + g, tree.start(node) - tree.chain.kl + k, tile.column0 + c) = cuts[tile.cut(g, i)][k][c];
    });
    for (int q = tile.chunks - 1; q >= 0; --q) {
      threads.for_each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
      team.barrier();
      threads.for_each([&](int t, Lane &mine) {
        if (q > 0) this->template stage<Team::is_virtual>(tile, q - 1, t, shared);
        compute(q, t, mine, shared);
      });
      threads.for_each([&](int, Lane &) { device::lane_barrier(leaves); });
      threads.for_each([&](int t, Lane &) { this->store(tile, q, t, shared); });
    }
  }
};

} // namespace ribbon::multifrontal

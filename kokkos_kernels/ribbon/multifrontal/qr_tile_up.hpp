// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_tile_up.hpp  Right-hand sides of chains of one width on their way up, in one launch.
#pragma once

#include <ribbon/multifrontal/qr_tile.hpp>

namespace ribbon::multifrontal {

/// b becomes Q^H b.
template <class Scalar, int W, int C>
struct QrTileUpKernel : QrTile<Scalar, W, C, true> {
  using Base = QrTile<Scalar, W, C, true>;
  using Base::block;
  using Base::chunk;
  using Base::first_chunks;
  using Base::leaves;
  using Base::max_threads;
  using typename Base::Shared;
  using typename Base::Tile;
  Arrivals arrivals;

  struct Lane {
    Scalar window[C][W];
  };
  /// What nodes pass on, of two levels.
  struct Passed {
    Scalar at[2][leaves][W][block];
  };
  static constexpr std::size_t first_bytes = sizeof(Shared) > sizeof(Passed) ? sizeof(Shared) : sizeof(Passed);
  static std::size_t           scratch(const Tree &, bool virtual_threads) { return device::align16(first_bytes) + 16 + (virtual_threads ? max_threads * device::align16(sizeof(Lane)) : 0); }

  KOKKOS_INLINE_FUNCTION void compute(int q, int v, Lane &mine, Shared &shared) const
  {
    const int warp = v / leaves, lane = v % leaves;
    if (warp >= Base::with_columns) return;
    Scalar(&value)[C][leaves][chunk + 1] = shared.value[q % 2][warp];
    const Scalar(&scale)[chunk + 1]      = shared.scale[q % 2][lane];
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) {
      if (Base::step_at(q) + t >= shared.own[lane]) continue;
      Scalar f[W + 1];
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) f[k] = shared.factor[q % 2][t][k][lane];
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        Scalar(&w)[W]         = mine.window[c];
        const Scalar entering = value[c][lane][t] * scale[t];
        Scalar       sum      = entering, other(0);
        RIBBON_UNROLL
        for (int k = 0; k < W; k += 2) sum += f[1 + k] * w[k], other += f[2 + k] * w[k + 1];
        sum = (sum + other) * f[0];
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k) w[k] -= f[1 + k] * sum;
        value[c][lane][t] = entering - sum;
      }
    }
  }

  /// Row r of Q^H times what the children of a node pass.
  KOKKOS_INLINE_FUNCTION void join(const Tile &tile, const typename Base::Node &n, int level, int j, int r, int c, Passed &passed) const
  {
    const Tree &tree   = this->solve.tree;
    const bool  closes = level > tree.levels;
    if (n.chain >= tree.chain.chains || n.node >= tree.count[level]) return;
    Scalar(&to)[leaves][W][block]         = passed.at[level % 2];
    const Scalar(&from)[leaves][W][block] = passed.at[1 - level % 2];
    if (!tree.is_join(level, n.node)) {
      if (r < W) to[j][r][c] = from[2 * j][r][c];
      return;
    }
    const Scalar *q                 = this->solve.factors.join_at(tree, n.chain, level, n.node).q + r;
    const Scalar(&before)[W][block] = from[closes ? j : 2 * j];
    Scalar given[2 * W], sum(0), other(0);
    RIBBON_UNROLL
    for (int k = 0; k < 2 * W; ++k) given[k] = q[k * 2 * W]; // all under way at once
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) sum += given[k] * before[k][c];
    if (!closes) {
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) other += given[W + k] * from[2 * j + 1][k][c];
    }
    sum += other;
    if (r >= W) to[j][r - W][c] = sum;
    else if (tile.column0 + c < this->solve.v.columns) this->cut_value(n.chain, level, n.node, r, tile.column0 + c) = sum;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree                 &tree   = this->solve.tree;
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    Passed                     &passed = *reinterpret_cast<Passed *>(team.scratch());
    int                        *flag   = reinterpret_cast<int *>(team.scratch() + device::align16(first_bytes));
    device::Threads<Lane, Team> threads(team, reinterpret_cast<char *>(flag) + 16);
    const std::int64_t          blocks = this->blocks(), number = team.league_rank() / blocks, block_number = team.league_rank() - number * blocks;
    const Tile                  tile = this->tile(number, block_number);
    threads.for_each([&](int v, Lane &) { this->begin(tile, v, shared); });
    team.barrier();
    threads.for_each([&](int v, Lane &) { this->template stage<Team::is_virtual>(tile, 0, v, shared); });
    const auto at_chunk = [&](int q, const auto &body) { // while the next one comes
      threads.for_each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
      team.barrier();
      threads.for_each([&](int v, Lane &mine) {
        if (q + 1 < tile.chunks) this->template stage<Team::is_virtual>(tile, q + 1, v, shared);
        body(v, mine);
      });
    };
    RIBBON_UNROLL
    for (int q = 0; q < first_chunks; ++q)
      at_chunk(q, [&](int v, Lane &mine) {
        if (v / leaves >= Base::with_columns) return;
        RIBBON_UNROLL
        for (int t = 0; t < chunk; ++t) {
          RIBBON_UNROLL
          for (int c = 0; c < C; ++c)
            if (q * chunk + t < W) mine.window[c][q * chunk + t] = shared.value[q % 2][v / leaves][c][v % leaves][t] * shared.scale[q % 2][v % leaves][t];
        }
      });
    for (int q = first_chunks; q < tile.chunks; ++q) {
      at_chunk(q, [&](int v, Lane &mine) { compute(q, v, mine, shared); });
      threads.for_each([&](int, Lane &) { device::lane_barrier(leaves); });
      threads.for_each([&](int v, Lane &) { this->store(tile, q, v, shared); });
    }
    threads.for_each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
    team.barrier();
    threads.for_each([&](int v, Lane &mine) {
      if (v / leaves >= Base::with_columns) return;
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k) passed.at[0][v % leaves][k][v / leaves * C + c] = mine.window[c][k];
      }
    });
    team.barrier();
    climb(team, tree, arrivals, tile.chain0, tile.node0 / leaves, block_number, blocks, flag, [&](const Levels &stage, std::int64_t top) {
      const auto items = [&](int n, const auto &body) { // body(number, column) on all threads
        threads.for_each([&](int v, Lane &) {
          for (int item = v; item < n * block; item += max_threads) body(item / block, item % block);
        });
        team.barrier();
      };
      const auto there  = [&](int c) { return tile.column0 + c < this->solve.v.columns; };
      const int  chains = stage.bottom == 0 ? tile.chains : 1;
      if (stage.bottom > 0)
        items(this->nodes_at(1, stage.top, stage.bottom) * W, [&](int item, int c) {
          const int  j = item / W, k = item - j * W;
          const auto n = this->node_at(tile.chain0, top, stage.top, stage.bottom, j);
          if (n.node < tree.count[stage.bottom] && there(c)) passed.at[stage.bottom % 2][j][k][c] = this->solve.passed(n.chain, stage.bottom, n.node, k, tile.column0 + c);
        });
      for (int level = stage.bottom + 1; level <= stage.top; ++level)
        items(this->nodes_at(chains, stage.top, level) * 2 * W, [&](int item, int c) {
          const int j = item / (2 * W);
          join(tile, this->node_at(tile.chain0, top, stage.top, level, j), level, j, item - j * 2 * W, c, passed);
        });
      if (stage.top < tree.top() || tree.is_piece())
        items(W, [&](int k, int c) {
          if (there(c)) this->solve.passed(tile.chain0, stage.top, top, k, tile.column0 + c) = passed.at[stage.top % 2][0][k][c];
        });
    });
  }
};

} // namespace ribbon::multifrontal

// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_tile_solve.hpp  Right-hand sides of chains of one width, 32 leaves at a time: one launch up, one launch down.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/multifrontal/qr_solve.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// What the kernels up and down share for W = kl + ku known when compiled: a warp has 32 leaves and C columns, a thread one of the leaves. Factors come through scratch for all warps of a team, right-hand sides for each
/// warp, a chunk of steps of all leaves at once, in runs.
template <class Scalar, int W, int C, bool Up>
struct QrTile {
  static constexpr int leaves       = 32;
  static constexpr int warps        = 4;
  static constexpr int max_threads  = warps * leaves;
  static constexpr int with_columns = C == 1 ? 1 : warps;     ///< warps that have some; the others help with copies and joins
  static constexpr int block        = with_columns * C;       ///< columns of a team
  static constexpr int numbers      = Up ? W + 1 : 2 * W + 1; ///< of a step
  static constexpr int chunk        = W <= 4 ? 8 : 4;
  static constexpr int first_chunks = Up ? (W + chunk - 1) / chunk : 0; ///< with the rows that fill the window
  QrSolve<Scalar>      solve;

  struct Shared {
    Scalar factor[2][chunk][numbers][leaves];
    Scalar value[2][with_columns][C][leaves][chunk + 1]; // odd: no two lanes meet in a bank
    Scalar scale[2][leaves][chunk + 1];
    int    begin[leaves], end[leaves], first[leaves], own[leaves]; ///< of a leaf, from the first row of the tile on
    int    flag;
  };
  struct Tile {
    std::int64_t chain0, node0, base, column0;    ///< first chain, leaf, row of all vectors, column
    int          chains, leaves_of_chain, chunks; ///< in this tile
    /// Unknowns at cuts of a tile: before leaf i of its chain g.
    KOKKOS_INLINE_FUNCTION int cut(int g, int i) const { return g * (leaves_of_chain + 1) + i; }
  };
  KOKKOS_INLINE_FUNCTION std::int64_t tiles() const { return (solve.tree.chain.chains * solve.tree.slots + leaves - 1) / leaves; }
  KOKKOS_INLINE_FUNCTION std::int64_t blocks() const { return (solve.v.columns + block - 1) / block; }
  KOKKOS_INLINE_FUNCTION Tile         tile(std::int64_t number, std::int64_t block_number) const
  {
    const Tree        &tree  = solve.tree;
    const std::int64_t slot0 = number * leaves, chain0 = slot0 / tree.slots, node0 = slot0 - chain0 * tree.slots;
    const std::int64_t chains = tree.slots < leaves ? leaves / tree.slots : 1, there = tree.chain.chains - chain0, rest = tree.leaves - node0;
    return {chain0,
            node0,
            chain0 * tree.chain.rows + tree.start(node0),
            block_number * block,
            static_cast<int>(chains < there ? chains : there),
            static_cast<int>(rest < leaves ? rest : leaves),
            first_chunks + (tree.most_steps(slot0, leaves) + chunk - 1) / chunk};
  }
  KOKKOS_INLINE_FUNCTION void begin(const Tile &tile, int v, Shared &shared) const
  {
    if (v >= leaves) return;
    const Tree        &tree  = solve.tree;
    const std::int64_t chain = tile.chain0 + v / tree.slots, node = tile.node0 + v % tree.slots, before = chain * tree.chain.rows - tile.base;
    const bool         there = chain < tree.chain.chains && node < tree.leaves;
    Leaf               leaf;
    if (there) leaf = Leaf(tree, chain, node);
    shared.first[v] = there ? static_cast<int>(before + leaf.first) : 0, shared.own[v] = there ? leaf.own : 0;
    shared.begin[v] = there ? static_cast<int>(before + tree.start(node)) : 0, shared.end[v] = there ? static_cast<int>(before + tree.start(node + 1)) : 0;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t row(std::int64_t place) const { return solve.v.row_of ? solve.v.row_of[place] : place; }
  /// The first row of chunk q of a leaf; down: the first column.
  KOKKOS_INLINE_FUNCTION int row_at(int q) const
  {
    if constexpr (Up) return q < first_chunks ? q * chunk : W + (q - first_chunks) * chunk;
    else return solve.tree.chain.ku + q * chunk;
  }
  /// The first step of chunk q.
  KOKKOS_INLINE_FUNCTION static int step_at(int q) { return (q - first_chunks) * chunk; }

  /// Starts what a thread copies of chunk q.
  template <bool Virtual>
  KOKKOS_INLINE_FUNCTION void stage(const Tile &tile, int q, int v, Shared &shared) const
  {
    const Tree &tree = solve.tree;
    if (q >= first_chunks) {
      const Scalar *from = solve.factors.step(static_cast<const Scalar *>(Up ? solve.factors.reflection : solve.factors.upper), tree, tile.chain0, tile.node0, step_at(q), numbers).at;
      Scalar       *to   = shared.factor[q % 2][0][0];
      const int     rest = static_cast<int>(tree.most_rows()) - step_at(q), n = (rest < chunk ? rest : chunk) * numbers * leaves;
      for (int k = 2 * v; k < n; k += 2 * max_threads) {
        if constexpr (Virtual) to[k] = from[k], to[k + 1] = from[k + 1];
        else device::async_copy_pack(to + k, from + k);
      }
    }
    if constexpr (Up) {
      for (int k = v; k < leaves * chunk; k += max_threads) {
        const int leaf = k / chunk, r = k % chunk, i = shared.first[leaf] + row_at(q) + r;
        if (i >= shared.begin[leaf] && i < shared.end[leaf]) device::async_copy(&shared.scale[q % 2][leaf][r], static_cast<const real_t<Scalar> *>(solve.factors.row_scale) + tile.base + i);
        else shared.scale[q % 2][leaf][r] = Scalar(0);
      }
    }
    const int warp = v / leaves;
    if (warp >= with_columns) return;
    RIBBON_UNROLL
    for (int k = v % leaves; k < leaves * chunk; k += leaves) {
      const int          leaf = k / chunk, r = k % chunk, i = shared.first[leaf] + row_at(q) + r;
      const bool         there = Up ? i >= shared.begin[leaf] && i < shared.end[leaf] : step_at(q) + r < shared.own[leaf];
      Scalar            *to    = &shared.value[q % 2][warp][0][leaf][r];
      const std::int64_t at    = there ? row(tile.base + i) : 0;
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c, to += leaves * (chunk + 1)) {
        const std::int64_t column = tile.column0 + warp * C + c;
        if (there && column < solve.v.columns) device::async_copy(to, Up ? solve.v.b + at + column * solve.v.ldb : static_cast<const Scalar *>(solve.v.x) + at + column * solve.v.ldx);
        else *to = Scalar(0);
      }
    }
  }
  /// Stores what a warp made of the values of chunk q.
  KOKKOS_INLINE_FUNCTION void store(const Tile &tile, int q, int v, const Shared &shared) const
  {
    const int warp = v / leaves;
    if (warp >= with_columns) return;
    RIBBON_UNROLL
    for (int k = v % leaves; k < leaves * chunk; k += leaves) {
      const int leaf = k / chunk, r = k % chunk, s = step_at(q) + r;
      if (s >= shared.own[leaf]) continue;
      const Scalar      *from = &shared.value[q % 2][warp][0][leaf][r];
      const std::int64_t at   = row(tile.base + shared.first[leaf] + solve.tree.chain.ku + s);
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c, from += leaves * (chunk + 1)) {
        const std::int64_t column = tile.column0 + warp * C + c;
        if (column < solve.v.columns) solve.v.x[at + column * solve.v.ldx] = *from;
      }
    }
  }

  /// A node of a level within a tile, number j of those that its stage has there.
  struct Node {
    int          group; ///< chain of the tile
    std::int64_t chain, node;
  };
  KOKKOS_INLINE_FUNCTION Node node_at(std::int64_t chain0, std::int64_t top_node, int top, int level, int j) const
  {
    const int most = top < solve.tree.levels ? top : solve.tree.levels, shift = level < most ? most - level : 0, group = j >> shift;
    return {group, chain0 + group, (top_node << shift) + (j - (group << shift))};
  }
  KOKKOS_INLINE_FUNCTION int nodes_at(int chains, int top, int level) const
  {
    const int most = top < solve.tree.levels ? top : solve.tree.levels;
    return chains << (level < most ? most - level : 0);
  }
  KOKKOS_INLINE_FUNCTION Scalar &cut_value(std::int64_t chain, int level, std::int64_t node, int k, std::int64_t column) const
  {
    return solve.v.cuts[(solve.tree.join_number(chain, level, node) * W + k) * solve.v.columns + column];
  }
};

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

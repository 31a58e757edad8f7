// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_tile.hpp  What the kernels that bring right-hand sides of chains of one width up and down the tree share: 32 leaves at a time.
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

} // namespace ribbon::multifrontal

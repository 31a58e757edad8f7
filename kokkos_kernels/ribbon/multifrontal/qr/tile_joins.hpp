// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_joins.hpp  Right-hand sides at the joins of a tree, for chains of one width.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/multifrontal/qr/solve.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// The joins above 32 leaves, and the places of their data.
template <class Scalar, int W>
struct JoinTile {
  static constexpr int   leaves      = 32;
  static constexpr int   max_threads = 128, team_size = max_threads;
  const QrSolve<Scalar> &solve;
  std::int64_t           chain0 = 0, node0 = 0, above = 0; ///< first chain and leaf; the node above them
  int                    chains = 0, leaves_of_chain = 0;  ///< of this tile
  int                    lowest = 0;                       ///< level of node `above`

  KOKKOS_INLINE_FUNCTION JoinTile(const QrSolve<Scalar> &s, std::int64_t number) : solve(s)
  {
    const Tree        &tree  = solve.tree;
    const std::int64_t slot0 = number * leaves;
    chain0 = tree.chain.chains == 1 ? 0 : slot0 / tree.slots, node0 = slot0 - chain0 * tree.slots,
    above = node0 / leaves, lowest = tree.levels < 5 ? tree.levels : 5;
    const std::int64_t most  = tree.slots < leaves ? leaves / static_cast<int>(tree.slots) : 1,
                       there = tree.chain.chains - chain0, rest = tree.leaves - node0;
    chains          = static_cast<int>(most < there ? most : there),
    leaves_of_chain = static_cast<int>(rest < leaves ? rest : leaves);
  }
  /// Tiles of a tree that has joins.
  static std::int64_t tiles(const Tree &tree)
  {
    return tree.top() > 0 ? (tree.chain.chains * tree.slots + leaves - 1) / leaves : 0;
  }
  /// The index of the unknowns at a cut of a tile: before leaf i of its chain g.
  KOKKOS_INLINE_FUNCTION int cut(int g, int i) const { return g * (leaves_of_chain + 1) + i; }
  /// Most cuts of a tile, including those at the ends of chains.
  KOKKOS_INLINE_FUNCTION static int most_cuts(const Tree &tree)
  {
    return leaves + leaves / static_cast<int>(tree.slots < leaves ? tree.slots : leaves);
  }

  /// A node of a level, given by its index j among those of a stage.
  struct Node {
    int          group; ///< chain of the tile
    std::int64_t chain, node;
  };
  KOKKOS_INLINE_FUNCTION int shift(int stage_top, int level) const
  {
    const int s = (stage_top < solve.tree.levels ? stage_top : solve.tree.levels) - level;
    return s > 0 ? s : 0;
  }
  KOKKOS_INLINE_FUNCTION int nodes_at(int groups, int stage_top, int level) const
  {
    return groups << shift(stage_top, level);
  }
  KOKKOS_INLINE_FUNCTION Node node_at(std::int64_t top_node, int stage_top, int level, int j) const
  {
    const int s = shift(stage_top, level), group = j >> s;
    return {group, chain0 + group, (top_node << s) + (j - (group << s))};
  }
  /// The nodes of a level in a stage: `count` places, those of a chain one after another.
  struct Nodes {
    std::int64_t first;        ///< node 0 of the first chain
    std::int64_t number;       ///< its index among all joins
    std::int64_t apart;        ///< distance of the indices of two chains
    int          count, shift; ///< 1 << shift places per chain
    /// per chain: places with a node, and those whose node joins two
    int                         there, joining;
    KOKKOS_INLINE_FUNCTION int  chain(int j) const { return j >> shift; }
    KOKKOS_INLINE_FUNCTION int  within(int j) const { return j - (chain(j) << shift); }
    KOKKOS_INLINE_FUNCTION bool is_there(int j) const { return within(j) < there; }
    KOKKOS_INLINE_FUNCTION bool is_join(int j) const { return within(j) < joining; }
    KOKKOS_INLINE_FUNCTION std::int64_t join_number(int j) const
    {
      return number + chain(j) * apart + within(j);
    }
  };
  KOKKOS_INLINE_FUNCTION Nodes nodes(int groups, std::int64_t top_node, int stage_top, int level) const
  {
    const Tree        &tree   = solve.tree;
    const bool         closes = level > tree.levels;
    const int          s      = shift(stage_top, level);
    const std::int64_t first = closes ? 0 : top_node << s, rest = closes ? 1 : tree.count[level] - first,
                       joining = closes ? 1 : tree.count[level - 1] / 2 - first;
    const auto within          = [&](std::int64_t n) {
      return static_cast<int>(n < 0 ? 0 : n < (1 << s) ? n : 1 << s);
    };
    return {first,          tree.join_number(chain0, level, first), tree.joins, groups << s, s, within(rest),
            within(joining)};
  }
  KOKKOS_INLINE_FUNCTION bool is_there(const Node &n, int level) const
  {
    return n.chain < solve.tree.chain.chains && n.node < solve.tree.count[level];
  }
  KOKKOS_INLINE_FUNCTION Scalar *cut_values(std::int64_t chain, int level, std::int64_t node,
                                            std::int64_t column) const
  {
    return solve.v.cuts + solve.tree.join_number(chain, level, node) * W * solve.v.columns + column;
  }
  /// Calls body(node, cut before, cut between, cut after) for join j of a level of the tile; cuts by their
  /// indices.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void with_cuts(int level, int j, const Body &body) const
  {
    const Node n = node_at(above, lowest, level, j);
    if (!is_there(n, level) || !solve.tree.is_join(level, n.node)) return;
    const int within = (j - (n.group << (lowest - level))) << level, end = within + (1 << level);
    body(n, cut(n.group, within), cut(n.group, within + (1 << (level - 1))),
         cut(n.group, end < leaves_of_chain ? end : leaves_of_chain));
  }
  /// The cut of the tile that a join above it eliminates: the one at its beginning or the one at its end.
  KOKKOS_INLINE_FUNCTION int found_above(int level) const
  {
    return (above >> (level - 1 - lowest)) % 2 == 1 ? 0 : leaves_of_chain;
  }

  /// A warp prefetches this many bytes.
  KOKKOS_INLINE_FUNCTION static void ask(int v, const Scalar *numbers, int bytes)
  {
    constexpr int line = 64;
    for (int k = v % 32; k * line < bytes; k += 32)
      device::prefetch(reinterpret_cast<const char *>(numbers) + k * line);
  }
  /// Calls body(number) for the joins of the tile and, if requested, for those above it: a warp has a join.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_joins(int v, bool above_too, const Body &body) const
  {
    const Tree &tree = solve.tree;
    for (int level = lowest; level > 0; --level) {
      const Nodes here = nodes(chains, above, lowest, level);
      for (int j = v / 32; j < here.count; j += max_threads / 32)
        if (here.is_join(j)) body(here.join_number(j));
    }
    for (int level = lowest + 1 + v / 32; above_too && level <= tree.levels; level += max_threads / 32)
      if (tree.is_join(level, above >> (level - lowest)))
        body(tree.join_number(chain0, level, above >> (level - lowest)));
  }
  /// Prefetches the data of the joins of the tile and, on the way down, of those above it.
  template <bool Up>
  KOKKOS_INLINE_FUNCTION void prefetch(int v) const
  {
    // Q, or the range from R to the blocks that are subtracted
    const auto ask_for = [&](std::int64_t number) {
      const Factors<Scalar> &factors = solve.factors;
      const auto             join =
        typename Factors<Scalar>::Join(factors.join + number * Factors<Scalar>::join_size(W), W);
      ask(v, Up ? join.q : join.r, (Up ? 4 : 3) * W * W * static_cast<int>(sizeof(Scalar)));
    };
    const Tree &tree = solve.tree;
    for_joins(v, !Up, ask_for);
    // one of the joins above the tiles, of which there are about as many as tiles
    if (Up && chain0 + 1 == tree.chain.chains && above < tree.joins && v >= max_threads - 32)
      ask_for(chain0 * tree.joins + tree.joins - 1 - above);
  }
};

/// Joins for one column: a thread has a row of a join. Nodes pass N values on.
template <class Scalar, int W, int N>
struct RowJoins : JoinTile<Scalar, W> {
  using Base = JoinTile<Scalar, W>;
  using Base::chain0;
  using Base::chains;
  using Base::leaves;
  using Base::solve;
  using typename Base::Node;
  using Rows = Scalar[W];
  using Base::Base;

  /// The values that nodes of two levels pass on.
  struct Passed {
    Scalar at[2][leaves][N];
  };
  /// One cut more, for the right-hand side of a join above the tile.
  KOKKOS_INLINE_FUNCTION static std::size_t cuts_bytes(const Tree &tree)
  {
    return device::align16(static_cast<std::size_t>(Base::most_cuts(tree) + 1) * sizeof(Rows));
  }

  template <class Team, class Threads, class Body>
  KOKKOS_INLINE_FUNCTION static void items(const Team &team, Threads &threads, int n, const Body &body)
  {
    threads.for_each([&](int v, auto &) {
      for (int item = v; item < n; item += Base::max_threads) body(item);
    });
    team.barrier();
  }

  /// Processes all joins on the way up, with join(node, level, j, r) for each of their `rows` rows. The
  /// values that the leaves pass are in passed.at[0]. Returns whether the team reached the top. `flag`: in
  /// team scratch.
  template <int rows, class Team, class Threads, class Join>
  KOKKOS_INLINE_FUNCTION bool up_rows(const Team &team, Threads &threads, const Arrivals &arrivals,
                                      Passed &passed, int *flag, const Join &join) const
  {
    const Tree &tree = solve.tree;
    return climb(
      team, tree, arrivals, chain0, this->above, 0, 1, flag, [&](const Levels &stage, std::int64_t top) {
        const int groups = stage.bottom == 0 ? chains : 1;
        if (stage.bottom > 0)
          items(team, threads, this->nodes_at(1, stage.top, stage.bottom) * N, [&](int item) {
            const int  j = item / N, k = item - j * N;
            const Node n = this->node_at(top, stage.top, stage.bottom, j);
            if (this->is_there(n, stage.bottom))
              passed.at[stage.bottom % 2][j][k] = solve.passed(n.chain, stage.bottom, n.node, k, 0);
          });
        for (int level = stage.bottom + 1; level <= stage.top; ++level)
          items(team, threads, this->nodes_at(groups, stage.top, level) * rows, [&](int item) {
            const int j = item / rows;
            join(this->node_at(top, stage.top, level, j), level, j, item - j * rows);
          });
        if (stage.top < tree.top() || tree.is_piece())
          items(team, threads, N,
                [&](int k) { solve.passed(chain0, stage.top, top, k, 0) = passed.at[stage.top % 2][0][k]; });
      });
  }
};

/// Q^H and R of joins for one column.
template <class Scalar, int W>
struct QrRowJoins : RowJoins<Scalar, W, W> {
  using Base = RowJoins<Scalar, W, W>;
  using Base::Base;
  using Base::chain0;
  using Base::chains;
  using Base::items;
  using Base::solve;
  using typename Base::Node;
  using typename Base::Passed;
  using typename Base::Rows;

  /// Row r of Q^H times the values that the children of a node pass.
  KOKKOS_INLINE_FUNCTION void join(const Node &n, int level, int j, int r, Passed &passed) const
  {
    const bool closes = level > solve.tree.levels;
    if (!this->is_there(n, level)) return;
    Rows       &to     = passed.at[level % 2][j];
    const Rows &before = passed.at[1 - level % 2][closes ? j : 2 * j],
               &behind = passed.at[1 - level % 2][closes ? j : 2 * j + 1];
    if (!solve.tree.is_join(level, n.node)) {
      if (r < W) to[r] = before[r];
      return;
    }
    const Scalar *q = solve.factors.join_at(solve.tree, n.chain, level, n.node).q + r;
    Scalar        given[2 * W], sum(0), other(0);
    RIBBON_UNROLL
    for (int k = 0; k < 2 * W; ++k)
      given[k] = k < W || !closes ? q[k * 2 * W] : Scalar(0); // all loads overlap
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) {
      sum += given[k] * before[k];
      if (!closes) other += given[W + k] * behind[k];
    }
    if (r >= W) to[r - W] = sum + other;
    else this->cut_values(n.chain, level, n.node, 0)[r] = sum + other;
  }
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION bool up(const Team &team, Threads &threads, const Arrivals &arrivals, Passed &passed,
                                 int *flag) const
  {
    return this->template up_rows<2 * W>(
      team, threads, arrivals, passed, flag,
      [&](const Node &n, int level, int j, int r) { join(n, level, j, r, passed); });
  }

  /// Row r of the right-hand side of a join, from the unknowns of the cuts before and after.
  KOKKOS_INLINE_FUNCTION Scalar right_side(std::int64_t chain, int level, std::int64_t node, int r,
                                           const Rows &before, const Rows &behind) const
  {
    const Scalar *cut = solve.factors.join_at(solve.tree, chain, level, node).cut + r;
    Scalar        given[2 * W], sum = this->cut_values(chain, level, node, 0)[r], other(0);
    RIBBON_UNROLL
    for (int k = 0; k < 2 * W; ++k) given[k] = cut[k * W]; // all loads overlap
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) sum -= given[k] * before[k], other -= given[W + k] * behind[k];
    return sum + other;
  }
  /// Solves with R of a join.
  KOKKOS_INLINE_FUNCTION void substitute(std::int64_t chain, int level, std::int64_t node,
                                         const Scalar *given, Rows &found) const
  {
    const Scalar *r = solve.factors.join_at(solve.tree, chain, level, node).r;
    Scalar        y[W];
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) y[k] = given[k];
    RIBBON_UNROLL
    for (int k = W - 1; k >= 0; --k) {
      y[k] *= r[k * W + k];
      RIBBON_UNROLL
      for (int i = 0; i < k; ++i) y[i] -= r[k * W + i] * y[k];
    }
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) found[k] = y[k];
  }
  /// The unknowns of all cuts of a tile, including those at its ends. Joins above the tile are solved by
  /// every team below them.
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION void down(const Team &team, Threads &threads, Rows *cuts) const
  {
    const Tree            &tree   = solve.tree;
    const Columns<Scalar> &v      = solve.v;
    const int              behind = this->leaves_of_chain;
    items(team, threads, chains * 2 * W, [&](int item) { // the ends of a chain; joins overwrite them
      const int k = item % W, end = item / W % 2, g = item / (2 * W);
      cuts[this->cut(g, end * behind)][k] = end == 0 && tree.chain.open_left    ? v.before[k]
                                            : end == 1 && tree.chain.open_right ? v.behind[k]
                                                                                : Scalar(0);
    });
    if (tree.chain.ring)
      items(team, threads, chains, [&](int g) {
        Rows &first = cuts[this->cut(g, 0)], &last = cuts[this->cut(g, behind)];
        substitute(chain0 + g, tree.levels + 1, 0, this->cut_values(chain0 + g, tree.levels + 1, 0, 0),
                   first);
        for (int k = 0; k < W; ++k) last[k] = first[k];
      });
    for (int level = tree.levels; level > this->lowest; --level) {
      const std::int64_t node = this->above >> (level - this->lowest);
      if (!tree.is_join(level, node)) continue;
      Rows &between = cuts[behind + 1];
      items(team, threads, W,
            [&](int r) { between[r] = right_side(chain0, level, node, r, cuts[0], cuts[behind]); });
      items(team, threads, 1,
            [&](int) { substitute(chain0, level, node, between, cuts[this->found_above(level)]); });
    }
    for (int level = this->lowest; level > 0; --level) {
      const int nodes = this->nodes_at(chains, this->lowest, level);
      items(team, threads, nodes * W, [&](int item) {
        this->with_cuts(level, item / W, [&](const Node &n, int before, int between, int after) {
          cuts[between][item % W] = right_side(n.chain, level, n.node, item % W, cuts[before], cuts[after]);
        });
      });
      items(team, threads, nodes, [&](int j) {
        this->with_cuts(level, j, [&](const Node &n, int, int between, int) {
          substitute(n.chain, level, n.node, cuts[between], cuts[between]);
        });
      });
    }
  }
};

} // namespace ribbon::multifrontal

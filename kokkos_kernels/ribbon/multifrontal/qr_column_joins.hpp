// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_column_joins.hpp  Many right-hand sides of chains of one width on their way through the joins of a tree.
#pragma once

#include <ribbon/multifrontal/qr_tile_joins.hpp>

namespace ribbon::multifrontal {

/// Joins for many columns: a warp has a join at a time, a lane all rows of a column. Factors are the same for all lanes.
template <class Scalar, int W>
struct QrColumnJoins : JoinTile<Scalar, W> {
  using Base = JoinTile<Scalar, W>;
  using Base::chain0;
  using Base::chains;
  using Base::solve;
  using typename Base::Node;
  static constexpr int block = 32, warps = Base::max_threads / block;
  using Rows = Scalar[W][block]; ///< numbers at a node or a cut, by columns
  std::int64_t block_number, column0;

  KOKKOS_INLINE_FUNCTION static std::int64_t blocks(const QrSolve<Scalar> &s) { return (s.v.columns + block - 1) / block; }
  KOKKOS_INLINE_FUNCTION QrColumnJoins(const QrSolve<Scalar> &s, std::int64_t team) : Base(s, s.quotient(team, blocks(s))), block_number(team - s.quotient(team, blocks(s)) * blocks(s)), column0(block_number * block) { }

  /// Calls body(item, lane) for n items, a warp for each.
  template <class Team, class Threads, class Body>
  KOKKOS_INLINE_FUNCTION void items(const Team &team, Threads &threads, int n, const Body &body) const
  {
    threads.for_each([&](int v, auto &) {
      if (column0 + v % block < solve.v.columns)
        for (int item = v / block; item < n; item += warps) body(item, v % block);
    });
    team.barrier();
  }

  /// Q^H times what the children of a node pass, which is in memory for the lowest level of a stage, else in scratch. What a node passes takes the place of what its first child did.
  KOKKOS_INLINE_FUNCTION void join(const Node &n, const Levels &stage, int level, int j, int lane, Rows *passed) const
  {
    const Tree &tree   = solve.tree;
    const bool  closes = level > tree.levels, is_join = tree.is_join(level, n.node), is_lowest = level == stage.bottom + 1;
    if (!this->is_there(n, level) || !(is_join || is_lowest)) return;
    const int s = level - stage.bottom - 1, below = closes ? j << (s > 0 ? s - 1 : 0) : j << s;
    Scalar    in[2 * W], out[2 * W];
    RIBBON_UNROLL
    for (int child = 0; child < 2; ++child) {
      const bool    there = child == 0 || (is_join && !closes);
      const Scalar *from  = is_lowest && there ? &solve.passed(n.chain, stage.bottom, closes ? 0 : 2 * n.node + child, 0, column0 + lane) : &passed[below + (there && s > 0 ? child << (s - 1) : 0)][0][lane];
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) in[child * W + k] = there ? from[k * (is_lowest ? solve.v.columns : block)] : Scalar(0);
    }
    if (is_join) {
      const Scalar *q = solve.factors.join_at(tree, n.chain, level, n.node).q;
      RIBBON_UNROLL
      for (int r = 0; r < 2 * W; ++r) out[r] = Scalar(0);
      RIBBON_UNROLL
      for (int k = 0; k < 2 * W; ++k) {
        if (closes && k >= W) continue;
        RIBBON_UNROLL
        for (int r = 0; r < 2 * W; ++r) out[r] += read_only_scalar(q + k * 2 * W + r) * in[k];
      }
      Scalar *cut = this->cut_values(n.chain, level, n.node, column0 + lane);
      RIBBON_UNROLL
      for (int r = 0; r < W; ++r) cut[r * solve.v.columns] = out[r], in[r] = out[W + r];
      if (closes) return;
    }
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) passed[below][k][lane] = in[k];
  }
  /// All joins on the way up. `flag`: in team scratch.
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION void up(const Team &team, Threads &threads, const Arrivals &arrivals, Rows *passed, int *flag) const
  {
    const Tree &tree = solve.tree;
    climb(team, tree, arrivals, chain0, this->above, block_number, blocks(solve), flag, [&](const Levels &stage, std::int64_t top) {
      const int groups = stage.bottom == 0 ? chains : 1;
      for (int level = stage.bottom + 1; level <= stage.top; ++level)
        items(team, threads, this->nodes_at(groups, stage.top, level), [&](int j, int lane) { join(this->node_at(top, stage.top, level, j), stage, level, j, lane, passed); });
      if (stage.top < tree.top() || tree.is_piece())
        items(team, threads, 1, [&](int, int lane) {
          for (int k = 0; k < W; ++k) solve.passed(chain0, stage.top, top, k, column0 + lane) = passed[0][k][lane];
        });
    });
  }

  /// The unknowns of the cut of a join, from those of the cuts before and behind; a ring closes without these.
  KOKKOS_INLINE_FUNCTION void solve_at(std::int64_t chain, int level, std::int64_t node, int lane, const Rows *before, const Rows *behind, Rows &found) const
  {
    const auto    join  = solve.factors.join_at(solve.tree, chain, level, node);
    const Scalar *value = this->cut_values(chain, level, node, column0 + lane);
    Scalar        y[W];
    RIBBON_UNROLL
    for (int r = 0; r < W; ++r) y[r] = value[r * solve.v.columns];
    if (before) {
      RIBBON_UNROLL
      for (int k = 0; k < 2 * W; ++k) {
        const Scalar known = k < W ? (*before)[k % W][lane] : (*behind)[k % W][lane];
        RIBBON_UNROLL
        for (int r = 0; r < W; ++r) y[r] -= read_only_scalar(join.cut + k * W + r) * known;
      }
    }
    RIBBON_UNROLL
    for (int k = W - 1; k >= 0; --k) {
      y[k] *= read_only_scalar(join.r + k * W + k);
      RIBBON_UNROLL
      for (int i = 0; i < k; ++i) y[i] -= read_only_scalar(join.r + k * W + i) * y[k];
    }
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) found[k][lane] = y[k];
  }
  /// The unknowns of all cuts of a tile, those at its ends among them; joins above the tile are worked off by every team that they concern.
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION void down(const Team &team, Threads &threads, Rows *cuts) const
  {
    const Tree            &tree = solve.tree;
    const Columns<Scalar> &v    = solve.v;
    const int              end  = this->leaves_of_chain;
    items(team, threads, chains, [&](int g, int lane) {
      Rows &first = cuts[this->cut(g, 0)], &last = cuts[this->cut(g, end)];
      if (tree.chain.ring) solve_at(chain0 + g, tree.levels + 1, 0, lane, nullptr, nullptr, first);
      for (int k = 0; k < W; ++k) {
        if (!tree.chain.ring) first[k][lane] = tree.chain.open_left ? v.before[k * v.columns + column0 + lane] : Scalar(0);
        last[k][lane] = tree.chain.ring ? first[k][lane] : tree.chain.open_right ? v.behind[k * v.columns + column0 + lane] : Scalar(0);
      }
      for (int level = tree.levels; level > this->lowest; --level) { // one chain
        const std::int64_t node = this->above >> (level - this->lowest);
        if (tree.is_join(level, node)) solve_at(chain0, level, node, lane, &first, &last, cuts[this->found_above(level)]);
      }
    });
    for (int level = this->lowest; level > 0; --level)
      items(team, threads, this->nodes_at(chains, this->lowest, level),
            [&](int j, int lane) { this->with_cuts(level, j, [&](const Node &n, int before, int between, int behind) { solve_at(n.chain, level, n.node, lane, cuts + before, cuts + behind, cuts[between]); }); });
  }
};

/// The unknowns of cuts between leaves where they are passed to the kernel that solves for leaves, in the place of what their joins passed up.
template <class Scalar, int W>
struct CutUnknowns {
  const QrSolve<Scalar> &solve;
  /// Unknown 0 of the cut before leaf i of a chain, of the first column; null where there are none. The next unknown is v.columns further.
  KOKKOS_INLINE_FUNCTION Scalar *at(std::int64_t chain, std::int64_t i) const
  {
    const Tree  &tree  = solve.tree;
    int          level = tree.levels + 1;
    std::int64_t node  = 0;
    if (i > 0 && i < tree.leaves)
      for (level = 1, node = i; node % 2 == 0; ++level) node /= 2;
    else if (!tree.chain.ring) return nullptr;
    return solve.v.passed + (tree.chain.chains * tree.leaves + tree.join_number(chain, level, node / 2)) * W * solve.v.columns;
  }
};

/// Joins of many columns on their way up.
template <class Scalar, int W>
struct QrJoinsUpKernel {
  using Joins                      = QrColumnJoins<Scalar, W>;
  using Rows                       = typename Joins::Rows;
  static constexpr int max_threads = Joins::max_threads, team_size = max_threads;
  QrSolve<Scalar>      solve;
  Arrivals             arrivals;
  struct Lane { };
  static constexpr std::size_t passed_bytes = Joins::leaves / 2 * sizeof(Rows);
  std::int64_t                 teams() const { return Joins::tiles(solve.tree) * Joins::blocks(solve); }
  static std::size_t           scratch(bool virtual_threads) { return passed_bytes + 16 + (virtual_threads ? max_threads * device::align16(sizeof(Lane)) : 0); }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    char                       *flag = team.scratch() + passed_bytes;
    device::Threads<Lane, Team> threads(team, flag + 16);
    const Joins                 joins(solve, team.league_rank());
    threads.for_each([&](int v, Lane &) { joins.template prefetch<true>(v); });
    joins.up(team, threads, arrivals, reinterpret_cast<Rows *>(team.scratch()), reinterpret_cast<int *>(flag));
  }
};
/// Joins of many columns on their way down.
template <class Scalar, int W>
struct QrJoinsDownKernel {
  using Joins                      = QrColumnJoins<Scalar, W>;
  using Rows                       = typename Joins::Rows;
  static constexpr int max_threads = Joins::max_threads, team_size = max_threads;
  QrSolve<Scalar>      solve;
  struct Lane { };
  std::int64_t                              teams() const { return Joins::tiles(solve.tree) * Joins::blocks(solve); }
  KOKKOS_INLINE_FUNCTION static std::size_t cuts_bytes(const Tree &tree) { return static_cast<std::size_t>(Joins::most_cuts(tree)) * sizeof(Rows); }
  std::size_t                               scratch(bool virtual_threads) const { return cuts_bytes(solve.tree) + (virtual_threads ? max_threads * device::align16(sizeof(Lane)) : 0); }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    Rows                       *cuts = reinterpret_cast<Rows *>(team.scratch());
    device::Threads<Lane, Team> threads(team, team.scratch() + cuts_bytes(solve.tree));
    const Joins                 joins(solve, team.league_rank());
    threads.for_each([&](int v, Lane &) { joins.template prefetch<false>(v); });
    joins.down(team, threads, cuts);
    joins.items(team, threads, joins.chains * joins.leaves_of_chain, [&](int item, int lane) { // every cut belongs to the leaf behind it
      const int g = item / joins.leaves_of_chain, i = item - g * joins.leaves_of_chain;
      Scalar   *to = CutUnknowns<Scalar, W>{solve}.at(joins.chain0 + g, joins.node0 + i);
      for (int k = 0; to && k < W; ++k) to[k * solve.v.columns + joins.column0 + lane] = cuts[joins.cut(g, i)][k][lane];
    });
  }
};

} // namespace ribbon::multifrontal

// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_solve.hpp  One right-hand side up and down the tree of Schur complements, for half-bandwidths
///   known at compile time.
#pragma once

#include <ribbon/multifrontal/qr/tile_joins.hpp>
#include <ribbon/multifrontal/schur/tile.hpp>

namespace ribbon::multifrontal {

/// Joins for one column; nodes pass values for the cut before and for the cut after.
template <class Scalar, int w>
struct SchurRowJoins : RowJoins<Scalar, w, 2 * w> {
  using Base = RowJoins<Scalar, w, 2 * w>;
  using Base::chain0;
  using Base::chains;
  using Base::items;
  using Base::solve;
  using typename Base::Node;
  using typename Base::Passed;
  using typename Base::Rows;
  using Join = typename SchurFactors<Scalar>::Join;
  const SchurFactors<Scalar> &factors;
  bool                        is_transposed;
  KOKKOS_INLINE_FUNCTION      SchurRowJoins(const QrSolve<Scalar> &s, const SchurFactors<Scalar> &f,
                                            bool transposed, std::int64_t number)
      : Base(s, number), factors(f), is_transposed(transposed)
  {
  }

  /// Prefetches the data of the joins of a tile and of those above it.
  KOKKOS_INLINE_FUNCTION void prefetch(int v) const
  {
    this->for_joins(v, true, [&](std::int64_t number) {
      this->ask(v, factors.join + number * SchurFactors<Scalar>::join_size(w),
                9 * w * w * static_cast<int>(sizeof(Scalar)));
    });
  }

  /// Row r of a join: of its cut, then of the cuts before and after it.
  KOKKOS_INLINE_FUNCTION void join(const Node &n, int level, int j, int r, Passed &passed) const
  {
    const bool closes = level > solve.tree.levels;
    if (!this->is_there(n, level)) return;
    Scalar(&to)[2 * w]                         = passed.at[level % 2][j];
    const Scalar(&before)[2 * w]               = passed.at[1 - level % 2][closes ? j : 2 * j],
                              (&behind)[2 * w] = passed.at[1 - level % 2][closes ? j : 2 * j + 1];
    if (!solve.tree.is_join(level, n.node)) {
      if (r < 2 * w) to[r] = before[r];
      return;
    }
    const Join    at    = factors.join_of(solve.tree, n.chain, level, n.node);
    const Scalar *row   = r >= w          ? (is_transposed ? at.upper : at.lower) + (r - w)
                          : is_transposed ? at.inverse + r
                                          : at.inverse + r * w;
    const int     apart = r >= w ? 2 * w : is_transposed ? w : 1;
    Scalar        given[w], sum(0);
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) given[k] = row[k * apart]; // all loads overlap
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) sum += given[k] * (before[w + k] + behind[k]);
    if (r < w) this->cut_values(n.chain, level, n.node, 0)[r] = sum;
    else if (!closes) to[r - w] = (r < 2 * w ? before : behind)[r - w] - sum;
  }
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION bool up(const Team &team, Threads &threads, const Arrivals &arrivals, Passed &passed,
                                 int *flag) const
  {
    return this->template up_rows<3 * w>(
      team, threads, arrivals, passed, flag,
      [&](const Node &n, int level, int j, int r) { join(n, level, j, r, passed); });
  }

  /// Unknown r of the cut of a join, from those of the cuts before and after it.
  KOKKOS_INLINE_FUNCTION Scalar unknown(std::int64_t chain, int level, std::int64_t node, int r,
                                        const Rows &before, const Rows &behind) const
  {
    const Join    at  = factors.join_of(solve.tree, chain, level, node);
    const Scalar *row = (is_transposed ? at.lower : at.upper) + r * 2 * w;
    Scalar        given[2 * w], sum = this->cut_values(chain, level, node, 0)[r], other(0);
    RIBBON_UNROLL
    for (int k = 0; k < 2 * w; ++k) given[k] = row[k]; // all loads overlap
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k) sum -= given[k] * before[k], other -= given[w + k] * behind[k];
    return sum + other;
  }
  /// The unknowns of all cuts of a tile, including those at its ends. Joins above the tile are solved by
  /// every team below them.
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION void down(const Team &team, Threads &threads, Rows *cuts) const
  {
    const Tree &tree   = solve.tree;
    const int   behind = this->leaves_of_chain;
    items(team, threads, chains * 2 * w, [&](int item) { // the ends of a chain; joins overwrite them
      const int k = item % w, end = item / w % 2, g = item / (2 * w);
      cuts[this->cut(g, end * behind)][k] =
        tree.chain.ring ? this->cut_values(chain0 + g, tree.levels + 1, 0, 0)[k] : Scalar(0);
    });
    for (int level = tree.levels; level > this->lowest; --level) {
      const std::int64_t node = this->above >> (level - this->lowest);
      if (!tree.is_join(level, node)) continue;
      threads.for_each([&](int r, auto &) {
        if (r < w) cuts[behind + 1][r] = unknown(chain0, level, node, r, cuts[0], cuts[behind]);
      });
      threads.for_each([&](int, auto &) { device::lane_barrier(32); });
      threads.for_each([&](int r, auto &) {
        if (r < w) cuts[this->found_above(level)][r] = cuts[behind + 1][r];
      });
      threads.for_each([&](int, auto &) { device::lane_barrier(32); });
    }
    team.barrier();
    for (int level = this->lowest; level > 0; --level)
      items(team, threads, this->nodes_at(chains, this->lowest, level) * w, [&](int item) {
        this->with_cuts(level, item / w, [&](const Node &n, int before, int between, int after) {
          cuts[between][item % w] = unknown(n.chain, level, n.node, item % w, cuts[before], cuts[after]);
        });
      });
  }
};

/// One column up and down, or only one way, as QrTileKernel.
template <class Scalar, int w>
struct SchurTileKernel : SchurTile<Scalar, w, false> {
  using Base  = SchurTile<Scalar, w, false>;
  using Joins = SchurRowJoins<Scalar, w>;
  using typename Base::Shared;
  using typename Base::Tile;
  using Rows                     = typename Joins::Rows;
  static constexpr int team_size = Base::team_size;
  /// few registers, so that several teams fit a multiprocessor
  static constexpr int max_threads = 4 * team_size;
  Arrivals             arrivals;
  bool                 is_transposed;
  Way                  way;
  SchurTileKernel(const SchurSolve<Scalar> &s, const Arrivals &a, Way d)
      : Base(s), arrivals(a), is_transposed(s.is_transposed), way(d)
  {
  }

  struct Lane {
    Scalar near[w], cut[w];
  };
  static constexpr std::size_t passed_bytes = device::align16(sizeof(typename Joins::Passed)) + 16;
  std::size_t                  scratch(bool virtual_threads) const
  {
    return Base::shared_bytes() + this->value_bytes() + passed_bytes + Joins::cuts_bytes(this->solve.tree) +
           (virtual_threads ? team_size * device::align16(sizeof(Lane)) : 0);
  }

  /// Returns whether the team reached the top of the tree.
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION bool go_up(const Team &team, Threads &threads, const Tile &tile, const Joins &joins,
                                    bool stays, Shared &shared, Scalar *values, char *rest) const
  {
    const auto fetch = [&](int u, int v) {
      this->template fetch<true, Team::is_virtual>(tile, u, u, v, shared);
    };
    threads.for_each([&](int v, Lane &mine) {
      this->template bring<Team::is_virtual>(tile, v, shared, values, this->solve.v.b, this->solve.v.ldb);
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) mine.near[k] = mine.cut[k] = Scalar(0);
    });
    Base::prime(threads, tile.chunks, fetch);
    threads.for_each([&](int v, Lane &) { joins.prefetch(v); });
    Base::run(team, threads, tile.chunks, fetch, [&](int u, int v, Lane &mine) {
      this->up(tile, u, u, v, mine.near, mine.cut, shared, values);
    });
    auto &passed = *reinterpret_cast<typename Joins::Passed *>(rest);
    threads.for_each([&](int v, Lane &mine) {
      if (!stays) this->store(tile, v, shared, values);
      if (v >= Base::busy) return;
      RIBBON_UNROLL
      for (int k = 0; k < 2 * w; ++k)
        passed.at[0][v][k] = this->passed(v, k, mine.near, mine.cut, shared, values);
    });
    team.barrier();
    return joins.up(team, threads, arrivals, passed, reinterpret_cast<int *>(rest + passed_bytes - 16));
  }
  /// @param came_up  whether y is on the chip
  /// @param await  called before data of joins is read
  template <class Team, class Threads, class Await>
  KOKKOS_INLINE_FUNCTION void go_down(const Team &team, Threads &threads, const Tile &tile,
                                      const Joins &joins, bool came_up, Shared &shared, Scalar *values,
                                      Rows *cuts, const Await &await) const
  {
    const Tree &tree  = this->solve.tree;
    const auto  fetch = [&](int u, int v) {
      this->template fetch<false, Team::is_virtual>(tile, u, tile.chunks - 1 - u, v, shared);
    };
    if (!came_up)
      threads.for_each([&](int v, Lane &) {
        this->template bring<Team::is_virtual>(tile, v, shared, values, this->solve.v.x, this->solve.v.ldx);
      });
    Base::prime(threads, tile.chunks, fetch);
    if (!came_up) threads.for_each([&](int v, Lane &) { joins.prefetch(v); });
    await();
    joins.down(team, threads, cuts);
    threads.for_each([&](int, Lane &) { device::async_wait(Base::stages - 2); });
    team.barrier();
    threads.for_each([&](int v, Lane &mine) {
      const int slots = static_cast<int>(tree.slots < Base::leaves ? tree.slots : Base::leaves),
                g = v / slots, i = v - g * slots;
      if (v >= Base::busy || g >= joins.chains || i >= joins.leaves_of_chain) return;
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k)
        mine.cut[k] = cuts[joins.cut(g, i)][k], mine.near[k] = cuts[joins.cut(g, i + 1)][k];
      this->place_cut(v, mine.near, shared, values);
    });
    Base::run(team, threads, tile.chunks, fetch, [&](int u, int v, Lane &mine) {
      this->down(tile, u, tile.chunks - 1 - u, v, mine.near, mine.cut, shared, values);
    });
    threads.for_each([&](int v, Lane &) { this->store(tile, v, shared, values); });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    Scalar                     *values = reinterpret_cast<Scalar *>(team.scratch() + Base::shared_bytes());
    char                       *passed = team.scratch() + Base::shared_bytes() + this->value_bytes();
    Rows                       *cuts   = reinterpret_cast<Rows *>(passed + passed_bytes);
    device::Threads<Lane, Team> threads(team,
                                        reinterpret_cast<char *>(cuts) + Joins::cuts_bytes(this->solve.tree));
    const std::int64_t          teams =
      (this->solve.tree.chain.chains * this->solve.tree.slots + Base::leaves - 1) / Base::leaves;
    const bool both      = way == Way::both;
    const auto with_tile = [&](std::int64_t number, const auto &go) {
      const Tile  tile = this->tile(number);
      const Joins joins(this->solve, this->factors, is_transposed, number);
      team.barrier();
      threads.for_each([&](int v, Lane &) { this->begin(tile, v, shared); });
      team.barrier();
      go(tile, joins);
    };
    with_tile(team.league_rank(), [&](const Tile &tile, const Joins &joins) {
      const bool is_at_top = way != Way::down && go_up(team, threads, tile, joins, both && !Team::is_virtual,
                                                       shared, values, passed);
      if (way == Way::up) return;
      if constexpr (Team::is_virtual) {
        const auto go = [&](const Tile &t, const Joins &j) {
          go_down(team, threads, t, j, false, shared, values, cuts, [] {});
        };
        if (!both) return go(tile, joins);
        for (std::int64_t t = 0; is_at_top && t < teams; ++t) with_tile(t, go);
      } else {
        if (both && is_at_top) announce_top(team, arrivals);
        go_down(team, threads, tile, joins, both, shared, values, cuts, [&] {
          if (both) await_top(team, arrivals, teams);
        });
      }
    });
  }
};

} // namespace ribbon::multifrontal

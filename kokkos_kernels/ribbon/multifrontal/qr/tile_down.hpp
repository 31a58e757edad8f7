// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_down.hpp  Solutions on the way down, for chains of one width.
#pragma once

#include <ribbon/multifrontal/qr/column_joins.hpp>
#include <ribbon/multifrontal/qr/tile_up.hpp>

namespace ribbon::multifrontal {

/// R x = Q^H b. One column: at joins and leaves, with Q^H b read from x. Many: at leaves, which reflect b
/// again and hold Q^H b on the chip; unknowns of cuts are those of QrJoinsDownKernel. A leaf writes only
/// its rows, so that b may be x.
template <class Scalar, int W, bool Many>
struct QrTileDownKernel : QrTile<Scalar, W, Many, false> {
  using Base  = QrTile<Scalar, W, Many, false>;
  using Joins = QrRowJoins<Scalar, W>;
  using Base::leaves;
  using typename Base::Shared;
  using Rows                       = typename Joins::Rows;
  static constexpr int max_threads = Base::team_size;
  explicit QrTileDownKernel(const QrSolve<Scalar> &s) : Base(s) { }

  struct Lane {
    /// the rows that are reflected, then the unknowns after them; those of the cuts before and after the
    /// leaf
    Scalar window[W], left[W], behind[W];
  };
  KOKKOS_INLINE_FUNCTION static std::size_t cuts_bytes(const Tree &tree)
  {
    return Many ? 0 : Joins::cuts_bytes(tree);
  }
  std::size_t scratch(bool virtual_threads) const
  {
    return Base::shared_bytes() + this->value_bytes() + cuts_bytes(this->solve.tree) +
           (virtual_threads ? Base::team_size * device::align16(sizeof(Lane)) : 0);
  }

  /// The unknowns of the cut before leaf i of a chain.
  KOKKOS_INLINE_FUNCTION void read_cut(std::int64_t chain, std::int64_t i, std::int64_t column,
                                       Scalar (&to)[W]) const
  {
    const Columns<Scalar> &v    = this->solve.v;
    const Scalar          *from = CutUnknowns<Scalar, W>{this->solve}.at(chain, i);
    if (!from)
      from = i == 0 && this->solve.tree.chain.open_left   ? v.before
             : i > 0 && this->solve.tree.chain.open_right ? v.behind
                                                          : nullptr;
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) to[k] = from ? from[k * v.columns + column] : Scalar(0);
  }

  /// Many columns: the unknowns of the cuts before and after the leaf of a thread.
  KOKKOS_FORCEINLINE_FUNCTION void read_cuts(const typename Base::Tile &tile, int v, Lane &mine) const
  {
    std::int64_t chain, node;
    if (!this->find_leaf(tile, v, chain, node)) return;
    const std::int64_t column = tile.column0 + Base::column_of(v);
    read_cut(chain, node, column, mine.left), read_cut(chain, node + 1, column, mine.behind);
  }
  /// One column: the same, after the joins of the tile are solved.
  KOKKOS_FORCEINLINE_FUNCTION void take_cuts(const Joins &joins, const Rows *cuts, int v, Lane &mine) const
  {
    const Tree &tree  = this->solve.tree;
    const int   slots = static_cast<int>(tree.slots < leaves ? tree.slots : leaves), g = v / slots,
              i = v - g * slots;
    if (v >= Base::busy || g >= joins.chains || i >= joins.leaves_of_chain) return;
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k)
      mine.left[k] = cuts[joins.cut(g, i)][k], mine.behind[k] = cuts[joins.cut(g, i + 1)][k];
  }
  /// From reflections to R: the window holds the unknowns after the leaf.
  KOKKOS_FORCEINLINE_FUNCTION void turn(const typename Base::Tile &tile, int v, const Shared &shared,
                                        Scalar *values, Lane &mine) const
  {
    if (!Base::works(tile, v)) return;
    if (shared.length[Base::leaf_of(v)] > 0) this->place_cuts(v, mine.behind, mine.left, shared, values);
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) mine.window[k] = mine.behind[k];
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    work(team, team.league_rank(), false, [] {});
  }
  /// Solves for tile `number`.
  /// @param came_up  whether Q^H b is on the chip
  /// @param await  called before data of joins is read
  template <class Team, class Await>
  KOKKOS_INLINE_FUNCTION void work(const Team &team, std::int64_t number, bool came_up,
                                   [[maybe_unused]] const Await &await) const
  {
    const Tree            &tree   = this->solve.tree;
    const Columns<Scalar> &given  = this->solve.v;
    Shared                &shared = *reinterpret_cast<Shared *>(team.scratch());
    Scalar                *values = reinterpret_cast<Scalar *>(team.scratch() + Base::shared_bytes());
    Rows *cuts = reinterpret_cast<Rows *>(team.scratch() + Base::shared_bytes() + this->value_bytes());
    device::Threads<Lane, Team> threads(team, reinterpret_cast<char *>(cuts) + cuts_bytes(tree));
    const auto                  tile = this->tile(number);
    if (tile.node0 >= tree.leaves) return;
    const int  reflected = this->reflects_again() ? tile.chunks : 0, all = reflected + tile.chunks; // chunks
    const auto fetch = [&](int u, int v) {
      if (u < reflected) this->template fetch<true, Team::is_virtual>(tile, u, u, v, shared);
      else this->template fetch<false, Team::is_virtual>(tile, u, all - 1 - u, v, shared);
    };
    threads.for_each([&](int v, Lane &) { this->begin(tile, v, shared); });
    team.barrier();
    if (!came_up)
      threads.for_each([&](int v, Lane &) {
        this->template bring<Team::is_virtual>(tile, v, shared, values,
                                               this->reflects_again() ? given.b : given.x,
                                               this->reflects_again() ? given.ldb : given.ldx);
      });
    Base::prime(threads, all, fetch);
    if constexpr (Many) {
      threads.for_each([&](int v, Lane &mine) { read_cuts(tile, v, mine); });
    } else {
      const Joins joins(this->solve, number);
      threads.for_each([&](int v, Lane &) { joins.template prefetch<false>(v); });
      await();
      joins.down(team, threads, cuts);
      threads.for_each([&](int v, Lane &mine) { take_cuts(joins, cuts, v, mine); });
    }
    if (reflected > 0)
      threads.for_each([&](int v, Lane &mine) { this->begin_window(tile, v, mine.window, shared); });
    threads.for_each([&](int, Lane &) { device::async_wait(Base::stages - 2); });
    team.barrier();
    if (reflected > 0)
      threads.for_each([&](int v, Lane &mine) { this->fill_window(tile, v, mine.window, shared, values); });
    if (all == 0) threads.for_each([&](int v, Lane &mine) { turn(tile, v, shared, values, mine); });
    Base::run(team, threads, all, fetch, [&](int u, int v, Lane &mine) {
      if (u == reflected) turn(tile, v, shared, values, mine); // all rows are reflected
      if (u < reflected) this->up(tile, u, u, v, true, mine.window, shared, values);
      else this->down(tile, u, all - 1 - u, v, mine.window, mine.left, shared, values);
    });
    threads.for_each([&](int v, Lane &) { this->store(tile, v, shared, values); });
  }
};

/// One column up and down, or only one way. If all teams run at the same time, both ways are one launch. On
/// hosts the team that reaches the top goes down for all teams.
template <class Scalar, int W>
struct QrTileKernel {
  using Up                       = QrTileUpKernel<Scalar, W, false>;
  using Down                     = QrTileDownKernel<Scalar, W, false>;
  static constexpr int team_size = Up::team_size;
  /// few registers, so that several teams fit a multiprocessor
  static constexpr int max_threads = (W <= 4 ? 5 : W <= 8 ? 4 : 3) * team_size;
  Up                   up;
  Down                 down;
  Way                  way;

  std::int64_t teams() const { return up.teams(); }
  std::size_t  scratch(bool virtual_threads) const
  {
    const std::size_t bytes = up.scratch(virtual_threads), more = down.scratch(virtual_threads);
    return bytes > more ? bytes : more;
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t chains = up.solve.tree.chain.chains * up.solve.tree.slots,
                       teams  = (chains + Up::leaves - 1) / Up::leaves;
    const bool both           = way == Way::both,
               is_at_top      = way != Way::down && up.work(team, both && !Team::is_virtual);
    if (way == Way::up) return;
    if constexpr (Team::is_virtual) {
      const auto go_down = [&](std::int64_t number) { down.work(team, number, false, [] {}); };
      if (!both) return go_down(team.league_rank());
      for (std::int64_t t = 0; is_at_top && t < teams; ++t) go_down(t);
    } else {
      if (both && is_at_top) announce_top(team, up.arrivals);
      down.work(team, team.league_rank(), both, [&] {
        if (both) await_top(team, up.arrivals, teams);
      });
    }
  }
};

} // namespace ribbon::multifrontal

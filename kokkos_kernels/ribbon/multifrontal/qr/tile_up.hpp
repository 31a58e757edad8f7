// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_up.hpp  Right-hand sides on the way up, for chains of one width.
#pragma once

#include <ribbon/multifrontal/qr/tile.hpp>
#include <ribbon/multifrontal/qr/tile_joins.hpp>

namespace ribbon::multifrontal {

/// b becomes Q^H b. One column: at leaves and joins, and stored in x. Many: at leaves, which store only the
/// values that they pass on, because QrTileDownKernel reads b again.
template <class Scalar, int W, bool Many>
struct QrTileUpKernel : QrTile<Scalar, W, Many, true> {
  using Base  = QrTile<Scalar, W, Many, true>;
  using Joins = QrRowJoins<Scalar, W>;
  using typename Base::Shared;
  static constexpr int max_threads = Base::team_size;
  Arrivals             arrivals;
  QrTileUpKernel(const QrSolve<Scalar> &s, const Arrivals &a) : Base(s), arrivals(a) { }

  struct Lane {
    Scalar window[W];
  };
  static constexpr std::size_t joins_bytes = Many ? 0 : device::align16(sizeof(typename Joins::Passed)) + 16;
  std::size_t                  scratch(bool virtual_threads) const
  {
    return Base::shared_bytes() + this->value_bytes() + joins_bytes +
           (virtual_threads ? Base::team_size * device::align16(sizeof(Lane)) : 0);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    work(team);
  }
  /// Returns whether the team reached the top of the tree.
  /// @param goes_down  the same team will go down: the column stays on the chip
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool work(const Team &team, bool goes_down = false) const
  {
    const Tree                 &tree   = this->solve.tree;
    const Columns<Scalar>      &given  = this->solve.v;
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    Scalar                     *values = reinterpret_cast<Scalar *>(team.scratch() + Base::shared_bytes());
    char                       *rest   = team.scratch() + Base::shared_bytes() + this->value_bytes();
    device::Threads<Lane, Team> threads(team, rest + joins_bytes);
    const auto                  tile = this->tile(team.league_rank());
    const Joins                 joins(this->solve, Many ? 0 : team.league_rank());
    if (tile.node0 >= tree.leaves) return false;
    const auto fetch = [&](int u, int v) {
      this->template fetch<true, Team::is_virtual>(tile, u, u, v, shared);
    };
    threads.for_each([&](int v, Lane &) { this->begin(tile, v, shared); });
    team.barrier();
    threads.for_each([&](int v, Lane &) {
      this->template bring<Team::is_virtual>(tile, v, shared, values, given.b, given.ldb);
    });
    Base::prime(threads, tile.chunks, fetch);
    if constexpr (!Many) threads.for_each([&](int v, Lane &) { joins.template prefetch<true>(v); });
    threads.for_each([&](int v, Lane &mine) { this->begin_window(tile, v, mine.window, shared); });
    threads.for_each([&](int, Lane &) { device::async_wait(Base::stages - 2); });
    team.barrier();
    threads.for_each([&](int v, Lane &mine) { this->fill_window(tile, v, mine.window, shared, values); });
    Base::run(team, threads, tile.chunks, fetch, [&](int u, int v, Lane &mine) {
      this->up(tile, u, u, v, !this->reflects_again(), mine.window, shared, values);
    });
    if constexpr (Many) {
      threads.for_each([&](int v, Lane &mine) {
        if (!this->reflects_again()) this->store(tile, v, shared, values);
        std::int64_t chain, node;
        if (!this->find_leaf(tile, v, chain, node)) return;
        Scalar *to = &this->solve.passed(chain, 0, node, 0, tile.column0 + Base::column_of(v));
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k) to[k * given.columns] = mine.window[k];
      });
      return false;
    } else {
      auto &passed = *reinterpret_cast<typename Joins::Passed *>(rest);
      threads.for_each([&](int v, Lane &mine) {
        if (!goes_down) this->store(tile, v, shared, values);
        if (v >= Base::busy) return;
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k) passed.at[0][v][k] = mine.window[k];
      });
      team.barrier();
      return joins.up(team, threads, arrivals, passed, reinterpret_cast<int *>(rest + joins_bytes - 16));
    }
  }
};

} // namespace ribbon::multifrontal

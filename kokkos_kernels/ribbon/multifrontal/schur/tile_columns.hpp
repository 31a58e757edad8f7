// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_columns.hpp  Many right-hand sides at the leaves of the tree of Schur complements, for
///   half-bandwidths known at compile time.
#pragma once

#include <ribbon/multifrontal/schur/tile.hpp>

namespace ribbon::multifrontal {

/// Up: leaves pass their contributions to the right-hand sides of cuts, and store nothing else. Down, after
/// the unknowns of the cuts are in x: b is read and eliminated again, and stays on the chip until it is
/// solved. A leaf writes only its rows, those of the cut after it unchanged, so that b may be x.
template <class Scalar, int w, bool Up>
struct SchurColumnsKernel : SchurTile<Scalar, w, true> {
  using Base = SchurTile<Scalar, w, true>;
  using typename Base::Shared;
  static constexpr int team_size = Base::team_size, max_threads = team_size;
  explicit SchurColumnsKernel(const SchurSolve<Scalar> &s) : Base(s) { }

  struct Lane {
    Scalar near[w], cut[w], behind[w], before[w]; ///< see SchurTile; the unknowns of the cuts
  };
  std::size_t scratch(bool virtual_threads) const
  {
    return Base::shared_bytes() + this->value_bytes() +
           (virtual_threads ? team_size * device::align16(sizeof(Lane)) : 0);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    Scalar                     *values = reinterpret_cast<Scalar *>(team.scratch() + Base::shared_bytes());
    device::Threads<Lane, Team> threads(team, team.scratch() + Base::shared_bytes() + this->value_bytes());
    const QrSolve<Scalar>      &given = this->solve;
    const auto                  tile  = this->tile(team.league_rank());
    if (tile.node0 >= given.tree.leaves) return;
    const int  all   = Up ? tile.chunks : 2 * tile.chunks;
    const auto fetch = [&](int u, int v) {
      if (u < tile.chunks) this->template fetch<true, Team::is_virtual>(tile, u, u, v, shared);
      else this->template fetch<false, Team::is_virtual>(tile, u, all - 1 - u, v, shared);
    };
    const auto with_leaf = [&](int v, const auto &body) { // body(leaf, column)
      std::int64_t chain, node;
      if (this->find_leaf(tile, v, chain, node))
        body(SchurLeaf(given.tree, chain, node), tile.column0 + Base::column_of(v));
    };
    threads.for_each([&](int v, Lane &) { this->begin(tile, v, shared); });
    team.barrier();
    threads.for_each([&](int v, Lane &) {
      this->template bring<Team::is_virtual>(tile, v, shared, values, given.v.b, given.v.ldb);
    });
    Base::prime(threads, all, fetch);
    threads.for_each([&](int v, Lane &mine) {
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) mine.near[k] = mine.cut[k] = mine.behind[k] = mine.before[k] = Scalar(0);
      if constexpr (!Up)
        with_leaf(v, [&](const SchurLeaf &leaf, std::int64_t column) {
          RIBBON_UNROLL
          for (int k = 0; k < w; ++k) {
            if (leaf.left) mine.before[k] = given.x(leaf.chain, leaf.first - w + k, column);
            if (leaf.right) mine.behind[k] = given.x(leaf.chain, leaf.first + leaf.own + k, column);
          }
        });
    });
    const auto turn = [&](int v, Lane &mine) { // all rows are eliminated
      if (!Base::works(tile, v)) return;
      this->place_cut(v, mine.behind, shared, values);
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) mine.near[k] = mine.behind[k];
    };
    Base::run(team, threads, all, fetch, [&](int u, int v, Lane &mine) {
      if (!Up && u == tile.chunks) turn(v, mine);
      if (u < tile.chunks) this->up(tile, u, u, v, mine.near, mine.cut, shared, values);
      else this->down(tile, u, all - 1 - u, v, mine.near, mine.before, shared, values);
    });
    threads.for_each([&](int v, Lane &mine) {
      if constexpr (Up)
        with_leaf(v, [&](const SchurLeaf &leaf, std::int64_t column) {
          Scalar *to = &given.passed(leaf.chain, 0, leaf.node, 0, column);
          RIBBON_UNROLL
          for (int k = 0; k < 2 * w; ++k)
            to[k * given.v.columns] = this->passed(v, k, mine.near, mine.cut, shared, values);
        });
      else this->store(tile, v, shared, values);
    });
  }
};

} // namespace ribbon::multifrontal

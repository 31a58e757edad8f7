// SPDX-License-Identifier: BSD-2-Clause
/// @file schur_tile_factor.hpp  The tree of Schur complements in one launch, for half-bandwidths known when compiled.
#pragma once

#include <ribbon/multifrontal/schur_leaf_tile.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// A team eliminates 32 leaves and goes on with the joins above them; of the teams below a node that ends a stage the last one goes on with it. What nodes of a stage pass stays in scratch. A lane has a column of the
/// front of a join, 3 w x 3 w: of its cut, of the cut before, of that behind. Gauss and Jordan's steps on the cut leave the inverse there and what is passed on elsewhere, as in SchurJoinKernel.
template <class Scalar, int w>
struct SchurTileFactorKernel {
  using Leaves                     = SchurLeafTile<Scalar, w>;
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  static constexpr int team_size   = Leaves::team_size;
  static constexpr int max_threads = (w <= 3 ? 4 : 3) * team_size; ///< so few registers that several teams fit a multiprocessor
  static constexpr int nodes       = 32;                           ///< below a stage
  static constexpr int lanes = w == 1 ? 4 : w == 2 ? 8 : 16, groups = team_size / lanes;
  Leaves               leaves;
  Arrivals             arrivals;
  Statistics          *report; ///< where statistics of the nodes at the top are also written, a chain's joins apart; may be null

  struct Lane {
    Scalar column[3 * w];
    bool   active; ///< whether the lane has a column of a join
  };
  struct alignas(16) Shared {
    Scalar     passed[nodes][Leaves::front | 1]; ///< by a node, at the place of the first one below it
    Scalar     pivot[groups][w][3 * w];          ///< columns of pivots
    Real       most[groups][w];                  ///< their largest entries
    Statistics watched[nodes];
    int        flag;
  };
  static constexpr std::size_t leaf_bytes = device::align16(sizeof(typename Leaves::Shared));
  static std::size_t           scratch(bool virtual_threads)
  {
    constexpr std::size_t state = sizeof(typename Leaves::Lane) > sizeof(Lane) ? sizeof(typename Leaves::Lane) : sizeof(Lane);
    return leaf_bytes + sizeof(Shared) + (virtual_threads ? team_size * device::align16(state) : 0);
  }
  std::int64_t tiles() const { return (leaves.tree.chain.chains * leaves.tree.slots + nodes - 1) / nodes; }

  /// Column c of a front from what the children pass; a ring closes with one child.
  KOKKOS_INLINE_FUNCTION static void gather(const Scalar *first, const Scalar *second, bool closes, int c, Lane &mine)
  {
    constexpr int ld   = 2 * w;
    const int     kind = c / w, k = c - kind * w;
    RIBBON_UNROLL
    for (int i = 0; i < 3 * w; ++i) {
      const int  block = i / w, r = i - block * w;
      const bool from_first = block < 2 && kind < 2, from_second = block != 1 && kind != 1;
      Scalar     a(0);
      if (closes) {
        if (block == 0 && kind == 0) a = first[r * ld + k] + first[(w + r) * ld + w + k] + first[r * ld + w + k] + first[(w + r) * ld + k];
      } else {
        if (from_first) a = first[(block == 0 ? w + r : r) * ld + (kind == 0 ? w + k : k)];
        if (from_second) a += second[(block == 0 ? r : w + r) * ld + (kind == 0 ? k : w + k)];
      }
      mine.column[i] = a;
    }
  }
  KOKKOS_INLINE_FUNCTION static void eliminate(int k, int c, Lane &mine, const Scalar (&pivot)[3 * w])
  {
    const Scalar d = pivot[k] == Scalar(0) ? Scalar(0) : reciprocal(pivot[k]), f = c == k ? d : mine.column[k] * d;
    RIBBON_UNROLL
    for (int i = 0; i < 3 * w; ++i)
      if (i != k) mine.column[i] = (c == k ? Scalar(0) : mine.column[i]) - pivot[i] * f;
    mine.column[k] = f;
  }
  KOKKOS_INLINE_FUNCTION static void store(const typename SchurFactors<Scalar>::Join &join, Scalar *passed, Scalar *outside, int c, const Lane &mine)
  {
    RIBBON_UNROLL
    for (int i = 0; i < 3 * w; ++i) {
      const Scalar a = mine.column[i];
      if (c < w && i < w) join.inverse[i * w + c] = a;
      else if (c < w) join.lower[c * 2 * w + i - w] = -a;
      else if (i < w) join.upper[i * 2 * w + c - w] = a;
      else {
        passed[(i - w) * 2 * w + c - w] = a;
        if (outside) outside[(i - w) * 2 * w + c - w] = a;
      }
    }
  }
  /// Adds the pivots of a join to what the nodes below it watched.
  KOKKOS_INLINE_FUNCTION void watch(std::int64_t chain, int level, std::int64_t node, int group, Statistics &watched, const Statistics *other, const Shared &shared) const
  {
    const Tree &tree = leaves.tree;
    Statistics  seen = watched;
    if (other) seen.join(*other);
    RIBBON_NO_UNROLL
    for (int k = 0; k < w; ++k) {
      const std::int64_t at = tree.cut(level, node) - w + k;
      seen.take(shared.pivot[group][k][k], shared.most[group][k], chain * tree.chain.rows + (at < 0 ? at + tree.chain.rows : at));
    }
    watched = seen;
  }

  /// Joins of one level of a stage, those of `chains` chains, whose nodes below the stage are `slots` places apart.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void join_level(const Team &team, device::Threads<Lane, Team> &threads, const Levels &stage, std::int64_t top, int level, std::int64_t chain0, int chains, int slots, Shared &shared) const
  {
    const Tree                 &tree    = leaves.tree;
    const SchurFactors<Scalar> &factors = leaves.factors;
    const bool                  closes  = level > tree.levels;
    const int                   up      = level - stage.bottom;
    const std::int64_t          first = tree.below(stage.top, top, level).begin, rest = closes ? 1 : tree.count[level - 1] / 2 - first, most = closes ? 1 : nodes >> up;
    const int                   n = static_cast<int>(rest < most ? rest : most), all = n * chains;
    RIBBON_NO_UNROLL
    for (int base = 0; base < all; base += groups) {
      const auto number = [&](int v, int &chain, int &i) { // of the join of a thread
        const int j = base + v / lanes;
        chain = chains == 1 ? 0 : j / n, i = j - chain * n;
      };
      const auto phase = [&](const auto &body) {
        threads.for_each([&](int v, Lane &mine) {
          if (mine.active) body(v % lanes, v / lanes, v, mine);
        });
        threads.for_each([&](int, Lane &) { device::lane_barrier(32); });
      };
      threads.for_each([&](int v, Lane &mine) { mine.active = v / lanes < groups && base + v / lanes < all && v % lanes < 3 * w; });
      phase([&](int c, int group, int v, Lane &mine) {
        int chain, i;
        number(v, chain, i);
        const Scalar *before = shared.passed[chain * slots + (closes ? 0 : i << up)];
        gather(before, closes ? before : shared.passed[chain * slots + ((2 * i + 1) << (up - 1))], closes, c, mine);
        if (c > 0) return;
        RIBBON_UNROLL
        for (int e = 0; e < 3 * w; ++e) shared.pivot[group][0][e] = mine.column[e];
      });
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k)
        phase([&](int c, int group, int, Lane &mine) {
          eliminate(k, c, mine, shared.pivot[group][k]);
          if (c != k + 1 || c >= w) return;
          RIBBON_UNROLL
          for (int e = 0; e < 3 * w; ++e) shared.pivot[group][k + 1 < w ? k + 1 : 0][e] = mine.column[e];
        });
      phase([&](int c, int group, int v, Lane &mine) {
        int chain, i;
        number(v, chain, i);
        int          last_level = stage.top; // the join that passes to the stages above, if there is one
        std::int64_t last = top, node = first + i;
        tree.resolve(last_level, last);
        Scalar *at = factors.join + tree.join_number(chain0 + chain, level, node) * SchurFactors<Scalar>::join_size(w);
        store(factors.join_of(tree, chain0 + chain, level, node), shared.passed[chain * slots + (closes ? 0 : i << up)], level == last_level ? at : nullptr, c, mine);
        if (c >= w) return;
        Real largest = 0;
        RIBBON_NO_UNROLL
        for (int e = c; e < 3 * w; ++e)
          if (magnitude(shared.pivot[group][c][e]) > largest) largest = magnitude(shared.pivot[group][c][e]);
        shared.most[group][c] = largest;
      });
      phase([&](int c, int group, int v, Lane &) {
        if (c > 0) return;
        int chain, i;
        number(v, chain, i);
        const int at = chain * slots + (closes ? 0 : i << up);
        watch(chain0 + chain, level, first + i, group, shared.watched[at], closes ? nullptr : &shared.watched[at + (1 << (up - 1))], shared);
      });
    }
    team.barrier();
  }

  /// Brings what the nodes below a stage pass.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void bring(const Team &team, device::Threads<Lane, Team> &threads, std::int64_t chain, int level, const NodeRange &below, Shared &shared) const
  {
    const Tree &tree = leaves.tree;
    threads.for_each([&](int v, Lane &) {
      for (int child = v / 32; child < below.end - below.begin; child += team_size / 32) {
        const Scalar *from = leaves.factors.front_of(tree, chain, level, below.begin + child);
        for (int e = v % 32; e < Leaves::front; e += 32) device::async_copy(&shared.passed[child][e], from + e);
        if (v % 32 == 0) shared.watched[child] = leaves.factors.statistics(tree, chain, level, below.begin + child);
      }
      device::async_commit(), device::async_wait(0);
    });
    team.barrier();
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree        &tree   = leaves.tree;
    Shared            &shared = *reinterpret_cast<Shared *>(team.scratch() + leaf_bytes);
    char              *states = team.scratch() + leaf_bytes + sizeof(Shared);
    const std::int64_t slot0 = team.league_rank() * nodes, chain0 = slot0 / tree.slots, node0 = slot0 - chain0 * tree.slots;
    const int          slots  = static_cast<int>(tree.slots < nodes ? tree.slots : nodes);
    const std::int64_t there  = tree.chain.chains - chain0;
    int                chains = tree.slots < nodes ? nodes / slots : 1;
    if (there < chains) chains = static_cast<int>(there);
    {
      device::Threads<typename Leaves::Lane, Team> threads(team, states);
      leaves.work(
        team, threads, team.league_rank(), *reinterpret_cast<typename Leaves::Shared *>(team.scratch()), [&](int leaf) { return shared.passed[leaf]; }, shared.watched);
    }
    if (node0 >= tree.leaves) return;
    device::Threads<Lane, Team> threads(team, states);
    Levels                      stage{0, tree.stage_top(0)};
    std::int64_t                top = node0 / nodes;
    // The code of a join is there once: it is long, and a team goes through it for every level.
    RIBBON_NO_UNROLL
    do {
      if (stage.bottom > 0) {
        chains = 1;
        bring(team, threads, chain0, stage.bottom, tree.below(stage.top, top, stage.bottom), shared);
      }
      RIBBON_NO_UNROLL
      for (int level = stage.bottom + 1; level <= stage.top; ++level) join_level(team, threads, stage, top, level, chain0, chains, slots, shared);
      threads.for_each([&](int v, Lane &) {
        const int chain = v;
        if (chain >= chains) return;
        leaves.factors.statistics(tree, chain0 + chain, stage.top, top) = shared.watched[chain * slots];
        if (report && stage.top == tree.top()) report[(chain0 + chain) * (tree.top() > 0 ? tree.joins : 1)] = shared.watched[chain * slots];
      });
      if (stage.bottom == 0 && stage.top < tree.top()) { // a leaf that is passed on
        int          level = stage.top;
        std::int64_t node  = top;
        tree.resolve(level, node);
        if (level == 0)
          threads.for_each([&](int v, Lane &) {
            for (int e = v; e < Leaves::front; e += team_size) leaves.factors.front_of(tree, chain0, 0, node)[e] = shared.passed[0][e];
          });
      }
    } while (goes_on(team, tree, arrivals, chain0, stage, top, 0, 1, &shared.flag));
  }
};

} // namespace ribbon::multifrontal

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
  /// A pivot, and the largest entry of its column.
  struct Pivot {
    Real value, most;
  };
  struct alignas(16) Shared {
    Scalar     passed[nodes][Leaves::front | 1]; ///< by a node, at the place of the first one below it
    Scalar     pivot[groups][w][3 * w];          ///< columns of pivots
    Pivot      pivots[nodes][w];                 ///< of the joins of a stage, at the place where their second child begins; where a ring closes, its first
    Statistics watched[nodes];
    int        flag;
  };
  /// Leaves and joins take turns.
  static constexpr std::size_t bytes = sizeof(typename Leaves::Shared) > sizeof(Shared) ? device::align16(sizeof(typename Leaves::Shared)) : sizeof(Shared);
  static std::size_t           scratch(bool virtual_threads)
  {
    constexpr std::size_t state = sizeof(typename Leaves::Lane) > sizeof(Lane) ? sizeof(typename Leaves::Lane) : sizeof(Lane);
    return bytes + (virtual_threads ? team_size * device::align16(state) : 0);
  }
  std::int64_t tiles() const { return (leaves.tree.chain.chains * leaves.tree.slots + nodes - 1) / nodes; }

  /// Column c of a front from what the children pass; a ring closes with one child.
  KOKKOS_INLINE_FUNCTION static void gather(const Scalar *first, const Scalar *second, bool closes, int c, Lane &mine)
  {
    constexpr int ld   = 2 * w;
    const int     kind = c / w, k = c - kind * w;
    const bool    from_first = kind < 2, from_second = kind != 1;
    const Scalar *upper = first + (kind == 0 ? w + k : k), *lower = second + (kind == 0 ? k : w + k); // kinds that are none of the child read something
    if (closes) {
      RIBBON_UNROLL
      for (int i = 0; i < 3 * w; ++i)
        mine.column[i] = i < w && kind == 0 ? first[(i < w ? i : 0) * ld + k] + first[(w + (i < w ? i : 0)) * ld + w + k] + first[(i < w ? i : 0) * ld + w + k] + first[(w + (i < w ? i : 0)) * ld + k] : Scalar(0);
      return;
    }
    RIBBON_UNROLL
    for (int i = 0; i < w; ++i) {
      const Scalar a = upper[(w + i) * ld], b = lower[i * ld], above = upper[i * ld], below = lower[(w + i) * ld];
      mine.column[i]         = (from_first ? a : Scalar(0)) + (from_second ? b : Scalar(0));
      mine.column[w + i]     = from_first ? above : Scalar(0);
      mine.column[2 * w + i] = from_second ? below : Scalar(0);
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
    Scalar   *top   = c < w ? join.inverse + c : join.upper + (c - w);
    const int apart = c < w ? w : 2 * w;
    RIBBON_UNROLL
    for (int i = 0; i < w; ++i) top[i * apart] = mine.column[i];
    if (c < w) {
      RIBBON_UNROLL
      for (int i = 0; i < 2 * w; ++i) join.lower[c * 2 * w + i] = -mine.column[w + i];
      return;
    }
    RIBBON_UNROLL
    for (int i = 0; i < 2 * w; ++i) passed[i * 2 * w + c - w] = mine.column[w + i];
    if (!outside) return;
    RIBBON_UNROLL
    for (int i = 0; i < 2 * w; ++i) outside[i * 2 * w + c - w] = mine.column[w + i];
  }
  /// Adds the pivots of a stage to what was watched below it. All of a chain is in its first record then.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void watch(device::Threads<Lane, Team> &threads, const Levels &stage, std::int64_t top, std::int64_t chain0, int chains, int slots, Shared &shared) const
  {
    const Tree &tree = leaves.tree;
    threads.for_each([&](int v, Lane &) {
      const int chain = v / slots, place = v - chain * slots;
      if (v >= nodes || chain >= chains) return;
      int up = 1;
      while (place > 0 && (place >> up) << up == place) ++up;
      const int          level = place == 0 ? tree.levels + 1 : stage.bottom + up;
      const std::int64_t node  = place == 0 ? 0 : tree.below(stage.top, top, level < stage.top ? level : stage.top).begin + (place >> up);
      if (level > stage.top || (place > 0 && (level > tree.levels || node >= tree.count[level])) || !tree.is_join(level, node)) return;
      Statistics         seen = shared.watched[v];
      const std::int64_t cut  = tree.cut(level, node) - w;
      RIBBON_NO_UNROLL
      for (int k = 0; k < w; ++k) seen.take(shared.pivots[v][k].value, shared.pivots[v][k].most, (chain0 + chain) * tree.chain.rows + (cut + k < 0 ? cut + k + tree.chain.rows : cut + k));
      shared.watched[v] = seen;
    });
    RIBBON_NO_UNROLL
    for (int apart = 1; apart < slots; apart *= 2) {
      threads.for_each([&](int, Lane &) { device::lane_barrier(32); });
      threads.for_each([&](int v, Lane &) {
        if (v < nodes && v % (2 * apart) == 0) shared.watched[v].join(shared.watched[v + apart]);
      });
    }
    threads.for_each([&](int v, Lane &) {
      if (v >= chains * slots || v % slots > 0) return;
      const std::int64_t chain                               = chain0 + v / slots;
      leaves.factors.statistics(tree, chain, stage.top, top) = shared.watched[v];
      if (report && stage.top == tree.top()) report[chain * (tree.top() > 0 ? tree.joins : 1)] = shared.watched[v];
    });
  }

  /// Joins of one level of a stage, those of `chains` chains, whose nodes below the stage are `slots` places apart. @param is_last  whether the stages above take what they pass
  template <class Team>
  KOKKOS_INLINE_FUNCTION void join_level(const Team &team, device::Threads<Lane, Team> &threads, const Levels &stage, std::int64_t top, int level, std::int64_t chain0, int chains, int slots, bool is_last,
                                         Shared &shared) const
  {
    const Tree                 &tree    = leaves.tree;
    const SchurFactors<Scalar> &factors = leaves.factors;
    const bool                  closes  = level > tree.levels;
    const int                   up      = level - stage.bottom;
    const std::int64_t          first = tree.below(stage.top, top, level).begin, rest = closes ? 1 : tree.count[level - 1] / 2 - first, most = closes ? 1 : nodes >> up;
    const int                   n = static_cast<int>(rest < most ? rest : most), all = n * chains;
    Scalar                     *joins = factors.join + tree.join_number(chain0, level, first) * SchurFactors<Scalar>::join_size(w);
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
        Scalar *at = joins + (chain * tree.joins + i) * SchurFactors<Scalar>::join_size(w);
        store(SchurFactors<Scalar>::join_at(at, w), shared.passed[chain * slots + (closes ? 0 : i << up)], is_last ? at : nullptr, c, mine);
        if (c >= w) return;
        Real largest = 0;
        RIBBON_UNROLL
        for (int e = 0; e < 3 * w; ++e)
          if (e >= c && magnitude(shared.pivot[group][c][e]) > largest) largest = magnitude(shared.pivot[group][c][e]);
        shared.pivots[chain * slots + (closes ? 0 : (2 * i + 1) << (up - 1))][c] = {shared.pivot[group][c][c], largest};
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
      constexpr int together = team_size / nodes; // threads that bring what a node passes
      const int     child    = v / together;
      if (child < below.end - below.begin) {
        const Scalar *from = leaves.factors.front_of(tree, chain, level, below.begin + child);
        RIBBON_UNROLL
        for (int e = v % together; e < Leaves::front; e += together) device::async_copy(&shared.passed[child][e], from + e);
      }
      if (v < nodes) shared.watched[v] = v < below.end - below.begin ? leaves.factors.statistics(tree, chain, level, below.begin + v) : Statistics();
      device::async_commit(), device::async_wait(0);
    });
    team.barrier();
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    static_assert(sizeof(Shared) <= sizeof(Leaves::Shared::value) + sizeof(Leaves::Shared::step), "what joins begin with is written while leaves are known");
    const Tree        &tree   = leaves.tree;
    Shared            &shared = *reinterpret_cast<Shared *>(team.scratch());
    char              *states = team.scratch() + bytes;
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
      int          last_level = stage.top; // of the join that passes to the stages above, if there is one
      std::int64_t last       = top;
      tree.resolve(last_level, last);
      RIBBON_NO_UNROLL
      for (int level = stage.bottom + 1; level <= last_level; ++level) join_level(team, threads, stage, top, level, chain0, chains, slots, level == last_level && stage.top < tree.top(), shared);
      watch(threads, stage, top, chain0, chains, slots, shared);
      if (last_level == 0 && stage.top < tree.top()) // a leaf that is passed on
        threads.for_each([&](int v, Lane &) {
          for (int e = v; e < Leaves::front; e += team_size) leaves.factors.front_of(tree, chain0, 0, last)[e] = shared.passed[0][e];
        });
    } while (goes_on(team, tree, arrivals, chain0, stage, top, 0, 1, &shared.flag));
  }
};

} // namespace ribbon::multifrontal

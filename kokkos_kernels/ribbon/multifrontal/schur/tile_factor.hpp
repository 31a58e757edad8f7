// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_factor.hpp  The tree of Schur complements in one launch, for half-bandwidths known at compile
///   time.
#pragma once

#include <ribbon/multifrontal/schur/leaf_tile.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// A team eliminates 32 leaves and continues with the joins above them. Of the teams below a node that ends
/// a stage, the last one continues. Fronts that nodes of a stage pass stay in scratch. A lane has a column
/// of the front of a join, 3 w x 3 w: of its cut, of the cut before, or of the cut after. Every lane of a
/// join computes the Gauss-Jordan steps on the w x w matrix of its cut, so that lanes do not wait for one
/// another. A column then holds S^-1 times its entries there. Its product with the rows of the other cuts
/// is subtracted from the front that is passed on. Meanwhile the last warp watches pivots of the levels
/// below.
template <class Scalar, int w>
struct SchurTileFactorKernel {
  using Leaves                   = SchurLeafTile<Scalar, w>;
  using Real                     = real_t<Scalar>;
  using Statistics               = PivotStatistics<Real>;
  static constexpr int team_size = Leaves::team_size;
  /// few registers, so that several teams fit a multiprocessor
  static constexpr int max_threads = (w <= 3 ? 4 : 3) * team_size;
  static constexpr int nodes       = 32; ///< nodes below a stage
  static constexpr int lanes = w == 1 ? 4 : w == 2 ? 8 : 16, groups = team_size / lanes;
  static constexpr int watchers = team_size - 32; ///< first thread of the warp that watches pivots
  Leaves               leaves;
  Arrivals             arrivals;
  /// also receives the statistics of the top nodes, those of a chain every tree.joins records; may be null
  Statistics *report;

  /// A pivot, and the largest entry of its column.
  struct Pivot {
    Real value, most;
  };
  struct Lane {
    Scalar column[3 * w];
    Pivot  pivot;  ///< of a column of the cut
    bool   active; ///< whether the lane has a column of a join
  };
  /// Joins of a level of a stage.
  struct Joins {
    std::int64_t first;      ///< node
    int          up, n, all; ///< levels above the lowest nodes of the stage; joins of a chain; of all chains
    bool         closes;     ///< a ring
  };
  struct alignas(16) Shared {
    Scalar     passed[nodes][Leaves::front | 1]; ///< front of a node, at the place of the first node below it
    Statistics watched[nodes];                   ///< likewise
    /// of the joins of a stage, at the place where their second child begins; for a closing ring, their
    /// first child
    Pivot pivots[nodes][w];
    /// entries of the rows of the other cuts in columns of pivots
    Real rest[groups][w][2 * w];
    int  flag;
  };
  /// Leaves and joins use the same scratch one after another.
  static constexpr std::size_t bytes = sizeof(typename Leaves::Shared) > sizeof(Shared)
                                         ? device::align16(sizeof(typename Leaves::Shared))
                                         : sizeof(Shared);
  static std::size_t           scratch(bool virtual_threads)
  {
    constexpr std::size_t state =
      sizeof(typename Leaves::Lane) > sizeof(Lane) ? sizeof(typename Leaves::Lane) : sizeof(Lane);
    return bytes + (virtual_threads ? team_size * device::align16(state) : 0);
  }
  std::int64_t tiles() const { return (leaves.tree.chain.chains * leaves.tree.slots + nodes - 1) / nodes; }

  /// Column c of a join, from the fronts of its children; a ring closes with one child. @param rest  of the
  /// join
  KOKKOS_INLINE_FUNCTION static void eliminate(const Scalar *first, const Scalar *second, bool closes, int c,
                                               Lane &mine, Real (&rest)[w][2 * w])
  {
    constexpr int ld = 2 * w;
    // the column has the index of row r of the other cuts, too
    const int     kind = c / w, k = c - kind * w, r = c < w ? 0 : c - w;
    Scalar        S[w][w], row[w];
    const Scalar *upper = kind == 2 ? second + w + k : first + w * ld + k,
                 *lower = kind == 2 ? upper + w * ld : first + k,
                 *at    = r < w ? first + r * ld + w : second + r * ld;
    RIBBON_UNROLL
    for (int i = 0; i < w; ++i) {
      RIBBON_UNROLL
      for (int j = 0; j < w; ++j)
        S[i][j] = closes ? first[i * ld + j] + first[(w + i) * ld + w + j] + first[i * ld + w + j] +
                             first[(w + i) * ld + j]
                         : first[(w + i) * ld + w + j] + second[i * ld + j];
      const Scalar above = upper[i * ld], beside = lower[i * ld], left = at[i];
      mine.column[i]         = kind == 0 ? Scalar(i == k ? 1 : 0) : closes ? Scalar(0) : above;
      mine.column[w + i]     = kind == 1 && !closes ? beside : Scalar(0);
      mine.column[2 * w + i] = kind == 2 && !closes ? beside : Scalar(0);
      row[i]                 = closes ? Scalar(0) : left;
    }
    RIBBON_UNROLL
    for (int p = 0; p < w; ++p) {
      const Scalar d = S[p][p] == Scalar(0) ? Scalar(0) : reciprocal(S[p][p]), f = mine.column[p] * d;
      if (c >= w) rest[p][r] = magnitude(row[p]);
      if (c == p) {
        mine.pivot = {static_cast<Real>(S[p][p]), magnitude(S[p][p])};
        RIBBON_UNROLL
        for (int i = p + 1; i < w; ++i)
          if (magnitude(S[i][p]) > mine.pivot.most) mine.pivot.most = magnitude(S[i][p]);
      }
      RIBBON_UNROLL
      for (int i = 0; i < w; ++i)
        if (i != p) mine.column[i] -= S[i][p] * f;
      mine.column[p] = f;
      RIBBON_UNROLL
      for (int j = p + 1; j < w; ++j) {
        const Scalar u = S[p][j] * d;
        RIBBON_UNROLL
        for (int i = 0; i < w; ++i)
          if (i != p) S[i][j] -= S[i][p] * u;
        S[p][j] = u;
        row[j] -= row[p] * u;
      }
    }
    if (closes) return;
    RIBBON_UNROLL
    for (int i = 0; i < w; ++i) {
      RIBBON_UNROLL
      for (int p = 0; p < w; ++p) {
        mine.column[w + i] -= first[i * ld + w + p] * mine.column[p];
        mine.column[2 * w + i] -= second[(w + i) * ld + p] * mine.column[p];
      }
    }
  }
  KOKKOS_INLINE_FUNCTION static void store(const typename SchurFactors<Scalar>::Join &join, Scalar *passed,
                                           Scalar *outside, int c, const Lane &mine)
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
  KOKKOS_INLINE_FUNCTION Joins joins_of(const Levels &stage, std::int64_t top, int level, int chains) const
  {
    const Tree        &tree   = leaves.tree;
    const bool         closes = level > tree.levels;
    const int          up     = level - stage.bottom;
    const std::int64_t first  = tree.below(stage.top, top, level).begin,
                       rest = closes ? 1 : tree.count[level - 1] / 2 - first, most = closes ? 1 : nodes >> up;
    const int n = static_cast<int>(rest < most ? rest : most);
    return {first, up, n, n * chains, closes};
  }
  /// The last warp adds the pivots of levels `from` to `to` to the statistics of the levels below, with a
  /// lane per join. The sum is in the place of the first node below.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void watch(device::Threads<Lane, Team> &threads, const Levels &stage,
                                    std::int64_t top, int from, int to, std::int64_t chain0, int chains,
                                    int slots, Shared &shared) const
  {
    const Tree &tree = leaves.tree;
    RIBBON_NO_UNROLL
    for (int level = from; level <= to; ++level) {
      threads.for_each([&](int v, Lane &) {
        if (v < watchers) return;
        const Joins at = joins_of(stage, top, level, chains);
        if (v - watchers >= at.all) return;
        const int chain = chains == 1 ? 0 : (v - watchers) / at.n, i = v - watchers - chain * at.n,
                  place  = chain * slots + (at.closes ? 0 : i << at.up),
                  second = at.closes ? place : place + (1 << (at.up - 1));
        Statistics seen  = shared.watched[place];
        if (!at.closes) seen.join(shared.watched[second]);
        const std::int64_t cut = tree.cut(level, at.first + i) - w;
        RIBBON_NO_UNROLL
        for (int k = 0; k < w; ++k)
          seen.take(shared.pivots[second][k].value, shared.pivots[second][k].most,
                    (chain0 + chain) * tree.chain.rows + (cut + k < 0 ? cut + k + tree.chain.rows : cut + k));
        shared.watched[place] = seen;
      });
      threads.for_each([&](int, Lane &) { device::lane_barrier(32); });
    }
  }
  /// Stores the statistics, those of a chain in its first record, for the stage above or the host.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void tell(device::Threads<Lane, Team> &threads, const Levels &stage,
                                   std::int64_t top, std::int64_t chain0, int chains, int slots,
                                   const Shared &shared) const
  {
    const Tree &tree = leaves.tree;
    threads.for_each([&](int v, Lane &) {
      const int i = v - watchers;
      if (i < 0 || i >= chains * slots || i % slots > 0) return;
      const std::int64_t chain                               = chain0 + i / slots;
      leaves.factors.statistics(tree, chain, stage.top, top) = shared.watched[i];
      if (report && stage.top == tree.top())
        report[chain * (tree.top() > 0 ? tree.joins : 1)] = shared.watched[i];
    });
  }

  /// Joins of one level of a stage, for `chains` chains, whose nodes below the stage are `slots` places
  /// apart.
  /// @param is_last  whether the stages above read the fronts
  template <class Team>
  KOKKOS_INLINE_FUNCTION void join_level(const Team &team, device::Threads<Lane, Team> &threads,
                                         const Joins &level, std::int64_t number, int chains, int slots,
                                         bool is_last, Shared &shared) const
  {
    const bool closes = level.closes;
    const int  up     = level.up;
    Scalar    *joins  = leaves.factors.join + number * SchurFactors<Scalar>::join_size(w);
    RIBBON_NO_UNROLL
    for (int base = 0; base < level.all; base += groups) {
      const auto phase = [&](const auto &body) {
        threads.for_each([&](int v, Lane &mine) {
          if (!mine.active) return;
          const int j = base + v / lanes, chain = chains == 1 ? 0 : j / level.n, i = j - chain * level.n,
                    place = chain * slots + (closes ? 0 : i << up);
          body(v % lanes, v / lanes, place, closes ? place : place + (1 << (up - 1)),
               joins + (chain * leaves.tree.joins + i) * SchurFactors<Scalar>::join_size(w), mine);
        });
        threads.for_each([&](int, Lane &) { device::lane_barrier(32); });
      };
      threads.for_each([&](int v, Lane &mine) {
        mine.active = v / lanes < groups && base + v / lanes < level.all && v % lanes < 3 * w;
      });
      phase([&](int c, int group, int place, int second, Scalar *, Lane &mine) {
        eliminate(shared.passed[place], shared.passed[second], closes, c, mine, shared.rest[group]);
      });
      phase([&](int c, int group, int place, int second, Scalar *at, Lane &mine) {
        store(SchurFactors<Scalar>::join_at(at, w), shared.passed[place], is_last ? at : nullptr, c, mine);
        if (c >= w) return;
        RIBBON_UNROLL
        for (int e = 0; e < 2 * w; ++e)
          if (shared.rest[group][c][e] > mine.pivot.most) mine.pivot.most = shared.rest[group][c][e];
        shared.pivots[second][c] = mine.pivot;
      });
    }
    team.barrier();
  }

  /// Loads the fronts of the nodes below a stage.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void bring(const Team &team, device::Threads<Lane, Team> &threads,
                                    std::int64_t chain, int level, const NodeRange &below,
                                    Shared &shared) const
  {
    const Tree &tree = leaves.tree;
    threads.for_each([&](int v, Lane &) {
      constexpr int together = team_size / nodes; // threads that load the front of one node
      const int     child    = v / together;
      if (child < below.end - below.begin) {
        const Scalar *from = leaves.factors.front_of(tree, chain, level, below.begin + child);
        RIBBON_UNROLL
        for (int e = v % together; e < Leaves::front; e += together)
          device::async_copy(&shared.passed[child][e], from + e);
      }
      if (v >= watchers)
        shared.watched[v - watchers] =
          v - watchers < below.end - below.begin
            ? leaves.factors.statistics(tree, chain, level, below.begin + v - watchers)
            : Statistics();
      device::async_commit(), device::async_wait(0);
    });
    team.barrier();
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    static_assert(sizeof(Shared::passed) + sizeof(Shared::watched) <=
                    sizeof(Leaves::Shared::value) + sizeof(Leaves::Shared::step),
                  "what joins begin with is written while leaves are known");
    const Tree        &tree   = leaves.tree;
    Shared            &shared = *reinterpret_cast<Shared *>(team.scratch());
    char              *states = team.scratch() + bytes;
    const std::int64_t slot0  = team.league_rank() * nodes,
                       chain0 = tree.chain.chains == 1 ? 0 : slot0 / tree.slots,
                       node0  = slot0 - chain0 * tree.slots;
    const int          slots  = static_cast<int>(tree.slots < nodes ? tree.slots : nodes);
    const std::int64_t there  = tree.chain.chains - chain0;
    int                chains = tree.slots < nodes ? nodes / slots : 1;
    if (there < chains) chains = static_cast<int>(there);
    {
      device::Threads<typename Leaves::Lane, Team> threads(team, states);
      leaves.work(
        team, threads, team.league_rank(), *reinterpret_cast<typename Leaves::Shared *>(team.scratch()),
        [&](int leaf) { return shared.passed[leaf]; }, shared.watched);
    }
    if (node0 >= tree.leaves) return;
    device::Threads<Lane, Team> threads(team, states);
    Levels                      stage{0, tree.stage_top(0)};
    std::int64_t                top = node0 / nodes;
    // The code of a join exists once, because it is long; a team executes it for every level.
    RIBBON_NO_UNROLL
    do {
      if (stage.bottom > 0) {
        chains = 1;
        bring(team, threads, chain0, stage.bottom, tree.below(stage.top, top, stage.bottom), shared);
      }
      int          last_level = stage.top; // of the join that passes to the stages above, if there is one
      std::int64_t last       = top;
      tree.resolve(last_level, last);
      int watched = stage.bottom; // level up to which pivots have been added
      RIBBON_NO_UNROLL
      for (int level = stage.bottom + 1; level <= last_level; ++level) {
        const Joins joins = joins_of(stage, top, level, chains);
        if (joins.all * lanes <= watchers) { // the last warp has no join
          watch(threads, stage, top, watched + 1, level - 1, chain0, chains, slots, shared);
          watched = level - 1;
        }
        join_level(team, threads, joins, tree.join_number(chain0, level, joins.first), chains, slots,
                   level == last_level && stage.top < tree.top(), shared);
      }
      watch(threads, stage, top, watched + 1, last_level, chain0, chains, slots, shared);
      tell(threads, stage, top, chain0, chains, slots, shared);
      if (last_level == 0 && stage.top < tree.top()) // a leaf that is passed on
        threads.for_each([&](int v, Lane &) {
          for (int e = v; e < Leaves::front; e += team_size)
            leaves.factors.front_of(tree, chain0, 0, last)[e] = shared.passed[0][e];
        });
    } while (goes_on(team, tree, arrivals, chain0, stage, top, 0, 1, &shared.flag));
  }
};

} // namespace ribbon::multifrontal

// SPDX-License-Identifier: BSD-2-Clause
/// @file join_registers.hpp  Joins of chains of one width: a lane has a few columns of the front in
///   registers.
#pragma once

#include <ribbon/elimination/dense_elimination.hpp>
#include <ribbon/device/async_copy.hpp>
#include <ribbon/multifrontal/qr/join.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrJoinKernel for W = kl + ku known at compile time. Equations that nodes of a stage
/// pass to one another stay in scratch. The data for solves goes to global memory, without waiting. The
/// column of a pivot is copied to scratch, and every lane computes the reflection from it, so that a step
/// has one barrier of a warp.
/// @tparam Lanes  lanes that share the columns of a join; with few lanes, work other than arithmetic is
///   rare. With 64, two warps both have the columns of the cut and need not wait for each other; one also
///   has those of the cuts before and after, the other has Q
/// @tparam TeamSize  threads, limited so that registers suffice for all teams of a long chain at the same
///   time
template <class Scalar, int W, int Lanes = W <= 4 ? W : 32, int TeamSize = W <= 4 ? 16 * W : 128>
struct QrJoinRegistersKernel {
  static constexpr int team_size = TeamSize;
  /// few registers, so that several teams fit a multiprocessor
  static constexpr int max_threads = team_size == 128 ? 384 : team_size;
  static constexpr int lanes       = Lanes;
  /// with a warp per join, registers would spill
  static constexpr bool settles = lanes != 32;
  /// columns of a lane, among those of the cut, the cuts before and after, and Q
  static constexpr int own  = (5 * W + lanes - 1) / lanes;
  static constexpr int warp = 32;
  /// lanes that read a pivot from the same place
  static constexpr int together = lanes < warp ? lanes : warp;
  static constexpr int groups   = team_size / lanes;
  static constexpr int nodes    = 32; ///< nodes below a stage; more than the joins of a stage
  using Real                    = real_t<Scalar>;
  using Statistics              = PivotStatistics<Real>;
  Tree            tree;
  Factors<Scalar> factors;
  Arrivals        arrivals;
  Levels          levels; ///< a team begins with the stage at the bottom of these levels
  /// also receives the statistics of the top joins, those of a chain every tree.joins records; may be null
  Statistics *report;

  struct Lane {
    Scalar column[own][2 * W];
    Real   size[own]; ///< largest entries
    bool   active;    ///< whether the group has a join
  };
  /// R_jj, and the largest entry of the column.
  struct Pivot {
    Real beta, size;
  };
  struct alignas(16) Shared {
    /// equations of a node, at the place of the first node below it
    Scalar     passed[nodes][Factors<Scalar>::passed_size(W)];
    Scalar     column[team_size / together][2][2 * W]; ///< column of the pivot
    Pivot      pivots[nodes][W];                       ///< of joins, see number()
    Statistics watched[nodes];                         ///< of the nodes below
    /// count of these nodes with values that are not finite
    int not_finite;
    int flag;
  };
  static std::size_t scratch(bool virtual_threads)
  {
    return sizeof(Shared) + (virtual_threads ? team_size * device::align16(sizeof(Lane)) : 0);
  }

  /// Joins of a stage are numbered from its lowest level on. Returns the number of the first join `up`
  /// levels above the bottom.
  KOKKOS_INLINE_FUNCTION static constexpr int number(int up) { return nodes - (2 * nodes >> up); }

  /// The column of the front for column j of a lane; 5 W: no column.
  KOKKOS_INLINE_FUNCTION static int column_of(int lane, int j)
  {
    if (lanes <= warp) return lane + j * lanes;
    const int c = lane % warp;
    return c < W ? c : c >= 3 * W ? 5 * W : lane < warp ? c : 2 * W + c;
  }
  /// Its kind: the cut (0), the cut before (1), the cut after (2), or Q.
  KOKKOS_INLINE_FUNCTION static int kind_of(int j, int c) { return lanes == W ? j : c / W; }
  /// Loads the columns of a lane. `first`, `second`: the equations that the children pass.
  KOKKOS_INLINE_FUNCTION static void gather(const Scalar *first, const Scalar *second, bool closes,
                                            int exchanged, int lane, Lane &mine)
  {
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) {
      const int  c = column_of(lane, j), kind = kind_of(j, c);
      const bool has_upper   = kind == 0 || (kind == 1 && !closes),
                 has_lower   = kind == 0 || (kind == 2 && !closes);
      const Scalar *upper    = first + (kind == 0 ? W + c : c - W) * (W + 1),
                   *lower    = second + (kind == 0 ? c : c - W) * (W + 1);
      Scalar(&column)[2 * W] = mine.column[j];
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) {
        column[i]     = has_upper ? upper[i] : Scalar(c == 3 * W + i ? 1 : 0);
        column[W + i] = has_lower ? lower[i] : Scalar(c == 4 * W + i ? 1 : 0);
      }
      const Real above = has_upper ? upper[W] : Real(0), below = has_lower ? lower[W] : Real(0);
      mine.size[j] = above <= below ? below : above;
      if (closes && kind == 0) {
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) column[i] += column[W + i], column[W + i] = Scalar(0);
      }
      if (exchanged == 0) continue;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i)
        if (i < exchanged) swap_values(column[i], column[W + i]);
    }
  }
  /// Stores two values at an even place.
  KOKKOS_INLINE_FUNCTION static void store_pair(Scalar *to, const Scalar *from)
  {
    struct alignas(2 * sizeof(Scalar)) Pair {
      Scalar first, second;
    };
    *reinterpret_cast<Pair *>(to) = {from[0], from[1]};
  }
  KOKKOS_INLINE_FUNCTION static void publish(int k, const Lane &mine, Scalar (&pivot)[2][2 * W])
  {
    RIBBON_UNROLL
    for (int i = 0; i < 2 * W; i += 2)
      if (i + 1 >= k) store_pair(pivot[k % 2] + i, mine.column[0] + i);
  }
  /// The squared norm of x below row k. With a warp per join it is the product of lane k.
  KOKKOS_INLINE_FUNCTION static Real rest_of(int k, const Scalar *x, [[maybe_unused]] const Scalar &product)
  {
#ifdef __CUDA_ARCH__
    if constexpr (lanes >= warp) return __shfl_sync(device::lane_mask(lanes), product, k);
#endif
    return below(k, x, x);
  }
  /// The product of two columns below row k.
  KOKKOS_INLINE_FUNCTION static Scalar below(int k, const Scalar *x, const Scalar *column)
  {
    constexpr int sums      = own == 1 ? 4 : 2; // with one column per lane, latency counts
    Scalar        sum[sums] = {};
    RIBBON_UNROLL
    for (int i = 0; i < 2 * W; ++i)
      if (i > k) sum[i % sums] += x[i] * column[i];
    if constexpr (sums == 4) return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    else return sum[0] + sum[1];
  }
  /// Applies reflection k.
  KOKKOS_INLINE_FUNCTION static void apply(int k, int lane, Lane &mine, const Scalar (&pivot)[2][2 * W],
                                           Pivot (&pivots)[W])
  {
    const Scalar *x = pivot[k % 2];
    Scalar        product[own]; // operations that do not depend on the reflection come first
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) product[j] = below(k, x, mine.column[j]);
    const Reflector<Scalar> h = make_reflector(x[k], rest_of(k, x, product[0]));
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) {
      Scalar(&column)[2 * W] = mine.column[j];
      const Scalar head      = W < 10 ? column[k] * h.tau_conjugate + h.tau_factor * product[j]
                                      : (column[k] + h.factor * product[j]) * h.tau_conjugate,
                   tail      = h.factor * head;
      column[k] -= head;
      RIBBON_UNROLL
      for (int i = 0; i < 2 * W; ++i)
        if (i > k) column[i] -= x[i] * tail;
    }
    if (lane != k) return; // the second warp does not store it
    mine.column[0][k] = Scalar(h.one_over_beta);
    pivots[k]         = {h.beta, mine.size[0]};
  }
  /// Columns begin at even places.
  KOKKOS_INLINE_FUNCTION static void store_half(Scalar *to, const Scalar *from)
  {
    RIBBON_UNROLL
    for (int i = 0; i < W; i += 2) store_pair(to + i, from + i);
  }
  /// Stores the factors, and passes equations to the stage and, if `outside` is not null, to the stages
  /// above.
  KOKKOS_INLINE_FUNCTION static void store(const typename Factors<Scalar>::Join &join, Scalar *passed,
                                           Scalar *outside, int lane, const Lane &mine)
  {
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) {
      const int     c = column_of(lane, j), kind = kind_of(j, c), at = (c - W) * (W + 1);
      const Scalar *column = mine.column[j];
      Scalar       *top    = kind == 0  ? join.r + c * W
                             : kind < 3 ? join.cut + (c - W) * W
                                        : join.q + (c - 3 * W) * 2 * W;
      if (c >= 5 * W || (lane >= warp && kind == 0)) continue;
      store_half(top, column);
      if (kind >= 3) store_half(top + W, column + W);
      else if (kind > 0) {
        RIBBON_UNROLL
        for (int i = 0; i <= W; ++i) {
          const Scalar a = i < W ? column[W + (i < W ? i : 0)] : Scalar(mine.size[j]);
          passed[at + i] = a;
          if (outside) outside[at + i] = a;
        }
      }
    }
  }

  /// Loads the equations and statistics that the nodes below the stage pass.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void bring(const Team &team, device::Threads<Lane, Team> &threads,
                                    std::int64_t chain, int level, const NodeRange &below,
                                    Shared &shared) const
  {
    constexpr int each = team_size / nodes; // threads that load the equations of one node
    threads.for_each([&](int v, Lane &) {
      const int child = v / each;
      if (child < below.end - below.begin) {
        int          at   = level;
        std::int64_t node = below.begin + child;
        tree.resolve(at, node);
        const Scalar *from = factors.passed(tree, chain, at, node).at;
        RIBBON_UNROLL
        for (int e = v % each; e < Factors<Scalar>::passed_size(W); e += each)
          device::async_copy(&shared.passed[child][e], from + e);
        device::async_commit();
        if (v % each == 0) {
          const Statistics seen = shared.watched[child] = factors.statistics(tree, chain, at, node);
          if (seen.not_finite) Kokkos::atomic_add(&shared.not_finite, 1);
        }
      } else if (v % each == 0) shared.watched[child] = Statistics();
      device::async_wait(0);
    });
    team.barrier();
  }
  /// Adds the pivots of a stage to the statistics of the nodes below it. The first record holds the sum.
  KOKKOS_INLINE_FUNCTION void take_pivots(int v, std::int64_t chain, const Levels &stage, std::int64_t top,
                                          Shared &shared) const
  {
    int up = 1;
    while (v >= number(up + 1)) ++up;
    const int level = stage.bottom + up;
    if (level > stage.top || shared.not_finite > 0) return;
    const NodeRange    range = tree.below(stage.top, top, level);
    const std::int64_t node  = range.begin + (v - number(up));
    if (node >= range.end || !tree.is_join(level, node)) return;
    Statistics seen = shared.watched[v];
    RIBBON_NO_UNROLL
    for (int k = 0; k < W; ++k) {
      seen.look_at_column(shared.pivots[v][k].size);
      seen.take(pivot_of(shared.pivots[v][k].beta), shared.pivots[v][k].size,
                Front<Scalar>::column_number(tree, chain, level, node, k));
    }
    shared.watched[v] = seen;
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void watch(device::Threads<Lane, Team> &threads, std::int64_t chain,
                                    const Levels &stage, std::int64_t top, Shared &shared) const
  {
    threads.for_each([&](int v, Lane &) {
      if (v < nodes) take_pivots(v, chain, stage, top, shared);
    });
    RIBBON_NO_UNROLL
    for (int apart = 1; apart < nodes; apart *= 2) {
      threads.for_each([&](int, Lane &) { device::lane_barrier(warp); });
      threads.for_each([&](int v, Lane &) {
        if (v * 2 * apart < nodes) shared.watched[v * 2 * apart].join(shared.watched[v * 2 * apart + apart]);
      });
    }
  }

  /// Joins `first` to first + n - 1 of a level, `up` levels above the bottom of the stage.
  struct LevelJoins {
    int          up, n;
    std::int64_t first;
    bool         closes;  ///< the ends of a ring meet
    bool         is_last; ///< its join also passes to the stages above
    Scalar      *joins;   ///< factors of the first join
  };
  KOKKOS_FORCEINLINE_FUNCTION LevelJoins joins_of(std::int64_t chain, const Levels &stage, std::int64_t top,
                                                  int level, int last_level) const
  {
    const bool         closes = level > tree.levels;
    const int          up     = level - stage.bottom;
    const std::int64_t first  = tree.below(stage.top, top, level).begin,
                       rest = closes ? 1 : tree.count[level - 1] / 2 - first, most = closes ? 1 : nodes >> up;
    return {up,
            static_cast<int>(rest < most ? rest : most),
            first,
            closes,
            level == last_level,
            factors.join + tree.join_number(chain, level, first) * Factors<Scalar>::join_size(W)};
  }
  /// Processes the joins of a level from number `base` on, one per group of lanes.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void eliminate(device::Threads<Lane, Team> &threads, const LevelJoins &level,
                                             int base, Shared &shared) const
  {
    const auto phase = [&](const auto &body) {
      threads.for_each(
        [&](int v, Lane &mine) { body(v % lanes, base + v / lanes, mine, shared.column[v / together]); });
      threads.for_each([&](int, Lane &) { device::lane_barrier(warp); });
    };
    threads.for_each([&](int v, Lane &mine) { mine.active = base + v / lanes < level.n; });
    phase([&](int lane, int i, Lane &mine, auto &pivot) {
      if (!mine.active) return;
      const Scalar *before = shared.passed[level.closes ? 0 : i << level.up];
      gather(before, level.closes ? before : shared.passed[(2 * i + 1) << (level.up - 1)], level.closes,
             Front<Scalar>::rows_exchanged(tree, level.first + i), lane, mine);
      if (lane % warp == 0) publish(0, mine, pivot);
    });
    // the equations that are passed overwrite those that were read
    if (lanes > warp) threads.for_each([&](int v, Lane &) { group_barrier(v / lanes, lanes); });
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k)
      phase([&](int lane, int i, Lane &mine, auto &pivot) {
        if (!mine.active) return;
        apply(k, lane, mine, pivot, shared.pivots[number(level.up) + i]);
        if (k + 1 < W && lane % warp == k + 1) publish(k + 1, mine, pivot);
      });
    threads.for_each([&](int v, Lane &mine) {
      const int i = base + v / lanes;
      if (!mine.active) return;
      const typename Factors<Scalar>::Join join(level.joins + i * Factors<Scalar>::join_size(W), W);
      store(join, shared.passed[level.closes ? 0 : i << level.up], level.is_last ? join.passed.at : nullptr,
            v % lanes, mine);
    });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    static_assert(std::is_floating_point_v<Scalar> && W % 2 == 0 && W <= lanes &&
                    (lanes <= warp || 3 * W <= warp),
                  "real numbers, columns of pairs, a pivot a lane");
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    device::Threads<Lane, Team> threads(team, team.scratch() + sizeof(Shared));
    Levels                      stage{levels.bottom, tree.stage_top(levels.bottom)};
    const std::int64_t          tops = tree.count[stage.top], chain = team.league_rank() / tops;
    std::int64_t                top = team.league_rank() % tops;
    threads.for_each([&](int v, Lane &) {
      if (v == 0) shared.not_finite = 0;
    });
    team.barrier();
    // The code of a join exists once, because it is long; a team executes it for every level.
    RIBBON_NO_UNROLL
    do {
      int          last_level = stage.top; // the join that passes to the stages above, if there is one
      std::int64_t last       = top;
      tree.resolve(last_level, last);
      if (last_level <= stage.bottom) continue;
      bring(team, threads, chain, stage.bottom, tree.below(stage.top, top, stage.bottom), shared);
      RIBBON_NO_UNROLL
      for (int level = stage.bottom + 1; level <= last_level; ++level) {
        const LevelJoins joins = joins_of(chain, stage, top, level, last_level);
        RIBBON_NO_UNROLL
        for (int base = 0; base < joins.n; base += groups) eliminate(threads, joins, base, shared);
        team.barrier();
      }
      watch(threads, chain, stage, top, shared);
      threads.for_each([&](int v, Lane &) {
        if (v != 0) return;
        factors.statistics(tree, chain, last_level, last) = shared.watched[0];
        if (report && stage.top == tree.top()) report[chain * tree.joins] = shared.watched[0];
      });
    } while (stage.top < levels.top && goes_on(team, tree, arrivals, chain, stage, top, 0, 1, &shared.flag));
  }
};

} // namespace ribbon::multifrontal

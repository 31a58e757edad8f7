// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_join_registers.hpp  Joins of chains of one width: a lane has one or two columns of the front in registers.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/multifrontal/qr_join.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// Threads of a group of 16, 32 or 64, one of at most 15 of its team, wait for each other.
KOKKOS_INLINE_FUNCTION void group_barrier([[maybe_unused]] int group, [[maybe_unused]] int threads)
{
#if defined(__CUDA_ARCH__)
  if (threads > 32) {
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(threads) : "memory");
    return;
  }
#endif
  device::lane_barrier(32); // groups of a warp go together
}

/// The arithmetic of QrJoinKernel for W = kl + ku known when compiled. The column of a pivot goes to scratch as it is; every lane makes the reflection of it for itself, so that a step has one barrier, of a warp.
/// @tparam TeamSize  threads; where wide joins are few, larger teams with a column a lane are faster, where they fill the device, two
template <class Scalar, int W, int TeamSize = W <= 4 ? 256 : 128>
struct QrJoinRegistersKernel {
  static constexpr int  team_size       = TeamSize;
  static constexpr int  own             = W > 6 && TeamSize == 128 ? 2 : 1; ///< columns of a lane
  static constexpr int  max_threads     = own == 2 ? 384 : 512;             ///< so few registers that several teams fit a multiprocessor
  static constexpr int  busy            = 5 * W / own;                      ///< lanes with columns: of the cut, the cuts before and behind, Q
  static constexpr int  lanes           = busy <= 16 ? 16 : busy <= 32 ? 32 : 64;
  static constexpr int  groups          = team_size / lanes;
  static constexpr bool through_scratch = W > 4; ///< fronts come and go in runs; else lanes' columns are so short that they are fetched and stored as they are
  using Real                            = real_t<Scalar>;
  using Statistics                      = PivotStatistics<Real>;
  Tree            tree;
  Factors<Scalar> factors;
  Arrivals        arrivals;
  Levels          levels; ///< a team begins with a stage of them from the bottom on
  Statistics     *report; ///< where statistics of the joins at the top are also written, a chain's joins apart; may be null

  struct Lane {
    Scalar column[own][2 * W];
    Real   size[own];        ///< largest entries
    bool   is_there, active; ///< whether the group has a join, and the lane columns of it
  };
  struct alignas(16) Shared {
    Scalar        pivot[2][2 * W];
    Real          beta[W], size[W], ratio[W];                      ///< R_jj, the largest entry of the column, and what one is of the other
    Scalar        columns[through_scratch ? 5 * W : 1][2 * W + 1]; ///< on the way to and from memory, where neighbouring lanes have neighbouring numbers; odd: no two lanes meet in a bank
    Statistics    statistics[2];                                   ///< of the children
    Front<Scalar> front;
    /// What the two children pass.
    KOKKOS_INLINE_FUNCTION Scalar *passed(int child) { return columns[0] + child * Factors<Scalar>::passed_size(W); }
  };
  static std::size_t scratch(bool virtual_threads) { return groups * sizeof(Shared) + 16 + (virtual_threads ? team_size * device::align16(sizeof(Lane)) : 0); }

  /// Brings what the children pass.
  KOKKOS_INLINE_FUNCTION static void fetch(const Front<Scalar> &f, int lane, Shared &shared)
  {
    constexpr int n = static_cast<int>(Factors<Scalar>::passed_size(W));
    RIBBON_UNROLL
    for (int k = lane; k < n; k += lanes) shared.passed(0)[k] = f.before.at[k], shared.passed(1)[k] = f.behind.at[k];
  }
  /// Lane c has columns c and c + busy. `first`, `second`: what the children pass.
  KOKKOS_INLINE_FUNCTION static void gather(const Scalar *first, const Scalar *second, bool closes, int exchanged, int lane, Lane &mine)
  {
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) {
      const int     c      = lane + j * busy;
      const int     before = c < W ? W + c : c < 2 * W && !closes ? c - W : -1; // columns of what the children pass
      const int     behind = c < W ? c : c >= 2 * W && c < 3 * W && !closes ? c - W : -1;
      const Scalar *upper = first + before * (W + 1), *lower = second + behind * (W + 1);
      Scalar(&column)[2 * W] = mine.column[j];
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) {
        column[i]     = before >= 0 ? upper[i] : Scalar(c == 3 * W + i ? 1 : 0);
        column[W + i] = behind >= 0 ? lower[i] : Scalar(c == 4 * W + i ? 1 : 0);
      }
      const Real above = before >= 0 ? upper[W] : Real(0), below = behind >= 0 ? lower[W] : Real(0);
      mine.size[j] = above <= below ? below : above;
      if (closes) {
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i)
          if (c < W) column[i] += column[W + i], column[W + i] = Scalar(0);
      }
      if (exchanged == 0) continue;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i)
        if (i < exchanged) exchange(column[i], column[W + i]);
    }
  }
  KOKKOS_INLINE_FUNCTION static void publish(int k, const Lane &mine, Shared &shared)
  {
    RIBBON_UNROLL
    for (int i = 0; i < 2 * W; ++i)
      if (i >= k) shared.pivot[k % 2][i] = mine.column[0][i];
  }
  /// Reflection k.
  KOKKOS_INLINE_FUNCTION static void apply(int k, int lane, Lane &mine, Shared &shared)
  {
    const Scalar *x    = shared.pivot[k % 2];
    Real          rest = 0, more = 0;
    RIBBON_UNROLL
    for (int i = 0; i < 2 * W; i += 2) {
      if (i > k) rest += squared(x[i]);
      if (i + 1 > k) more += squared(x[i + 1]);
    }
    Scalar product[own]; // what does not wait for the reflection comes first
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) {
      Scalar sum(0), other(0);
      RIBBON_UNROLL
      for (int i = 0; i < 2 * W; i += 2) {
        if (i > k) sum += x[i] * mine.column[j][i];
        if (i + 1 > k) other += x[i + 1] * mine.column[j][i + 1];
      }
      product[j] = sum + other;
    }
    const Reflector<Scalar> h = make_reflector(x[k], rest + more);
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) {
      Scalar(&column)[2 * W] = mine.column[j];
      const Scalar head = (column[k] + h.factor * product[j]) * h.tau_conjugate, tail = h.factor * head;
      column[k] -= head;
      RIBBON_UNROLL
      for (int i = 0; i < 2 * W; ++i)
        if (i > k) column[i] -= x[i] * tail;
    }
    if (lane != k) return;
    mine.column[0][k] = Scalar(h.one_over_beta);
    shared.beta[k] = h.beta, shared.size[k] = mine.size[0];
  }
  KOKKOS_INLINE_FUNCTION static void put(int lane, const Lane &mine, Shared &shared)
  {
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) {
      RIBBON_UNROLL
      for (int i = 0; i < 2 * W; ++i) shared.columns[lane + j * busy][i] = mine.column[j][i];
    }
  }
  /// What is kept, and what is passed on.
  KOKKOS_INLINE_FUNCTION static void store(const Front<Scalar> &f, int lane, const Lane &mine, const Shared &shared)
  {
    if constexpr (through_scratch) {
      for (int k = lane; k < W * W; k += lanes) f.join.r[k] = shared.columns[k / W][k % W];
      for (int k = lane; k < 2 * W * W; k += lanes) f.join.cut[k] = shared.columns[W + k / W][k % W], f.join.passed.at[k / W * (W + 1) + k % W] = shared.columns[W + k / W][W + k % W];
      for (int k = lane; k < 4 * W * W; k += lanes) f.join.q[k] = shared.columns[3 * W + k / (2 * W)][k % (2 * W)];
    } else {
      RIBBON_UNROLL
      for (int j = 0; j < own; ++j) {
        const int c = lane + j * busy;
        if (lane >= busy) continue;
        Scalar *top = c < W ? f.join.r + c * W : c < 3 * W ? f.join.cut + (c - W) * W : f.join.q + (c - 3 * W) * 2 * W, *bottom = c < 3 * W ? f.join.passed.at + (c - W) * (W + 1) : top + W;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) {
          top[i] = mine.column[j][i];
          if (c >= W) bottom[i] = mine.column[j][W + i];
        }
      }
    }
    RIBBON_UNROLL
    for (int j = 0; j < own; ++j) {
      const int c = lane + j * busy - W;
      if (lane < busy && c >= 0 && c < 2 * W) f.join.passed.scale(c) = mine.size[j];
    }
  }

  /// The children's pivots and those of the cut.
  KOKKOS_INLINE_FUNCTION Statistics watched(std::int64_t chain, int level, std::int64_t node, const Shared &shared) const
  {
    Statistics all = shared.statistics[0];
    if (!shared.front.closes) all.join(shared.statistics[1]);
    Real product = 1, smallest = all.smallest;
    int  at = -1;
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) {
      product *= magnitude(shared.beta[k]);
      if (!(shared.ratio[k] >= smallest)) smallest = shared.ratio[k], at = k;
    }
    if (!all.not_finite && product > 1e-100 && product < 1e100) {
      all.product *= product;
      if (!all.is_tame()) all.settle();
      if (at >= 0) all.smallest = smallest, all.column = Front<Scalar>::column_number(tree, chain, level, node, at);
      return all;
    }
    RIBBON_NO_UNROLL
    for (int k = 0; k < W; ++k) all.take(shared.beta[k], shared.size[k], Front<Scalar>::column_number(tree, chain, level, node, k));
    return all;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    Shared                     *all  = reinterpret_cast<Shared *>(team.scratch());
    int                        *flag = reinterpret_cast<int *>(all + groups);
    device::Threads<Lane, Team> threads(team, reinterpret_cast<char *>(flag) + 16);
    Levels                      stage{levels.bottom, tree.stage_top(levels.bottom)};
    const std::int64_t          tops = tree.count[stage.top], chain = team.league_rank() / tops;
    const auto                  join = [&](int level, std::int64_t base, std::int64_t end) {
      const auto phase = [&](const auto &body) {
        threads.for_each([&](int v, Lane &mine) { body(v % lanes, base + v / lanes, mine, all[v / lanes]); });
        threads.for_each([&](int v, Lane &) { group_barrier(v / lanes, lanes); });
      };
      const auto begin = [&](const Scalar *first, const Scalar *second, std::int64_t node, int lane, Lane &mine, Shared &shared) {
        mine.active = lane < busy && mine.is_there;
        if (!mine.active) return;
        gather(first, second, level > tree.levels, Front<Scalar>::exchanged(tree, node), lane, mine);
        if (lane == 0) publish(0, mine, shared);
      };
      phase([&](int lane, std::int64_t node, Lane &mine, Shared &shared) {
        mine.is_there = node < end && tree.is_join(level, node), mine.active = false;
        if (!mine.is_there) return;
        const Front<Scalar> f(factors, tree, chain, level, node);
        if constexpr (through_scratch) fetch(f, lane, shared);
        else begin(f.before.at, f.behind.at, node, lane, mine, shared);
        if (lane == 0) shared.front = f;
        if (lane < 2) shared.statistics[lane] = lane == 0 ? *f.statistics_before : *f.statistics_behind;
      });
      if constexpr (through_scratch) phase([&](int lane, std::int64_t node, Lane &mine, Shared &shared) { begin(shared.passed(0), shared.passed(1), node, lane, mine, shared); });
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k)
        phase([&](int lane, std::int64_t, Lane &mine, Shared &shared) {
          if (!mine.active) return;
          apply(k, lane, mine, shared);
          if (k + 1 < W && lane == k + 1) publish(k + 1, mine, shared);
        });
      if constexpr (through_scratch)
        phase([&](int lane, std::int64_t, Lane &mine, Shared &shared) {
          if (mine.active) put(lane, mine, shared);
        });
      phase([&](int lane, std::int64_t, Lane &mine, Shared &shared) {
        if (!mine.is_there) return;
        if (lane < W) shared.ratio[lane] = magnitude(shared.beta[lane]) / shared.size[lane];
        store(shared.front, lane, mine, shared);
      });
      phase([&](int lane, std::int64_t node, Lane &mine, Shared &shared) {
        if (!mine.is_there || lane != lanes - 1) return;
        const Statistics seen = *shared.front.statistics = watched(chain, level, node, shared);
        if (report && level == tree.top()) report[chain * tree.joins] = seen;
      });
    };
    std::int64_t top = team.league_rank() % tops;
    RIBBON_NO_UNROLL
    do // the code of a join is there once: it is long, and a team goes through it for every level
      for (int level = stage.bottom + 1; level <= stage.top; ++level) {
        const NodeRange nodes = tree.below(stage.top, top, level);
        for (std::int64_t node = nodes.begin; node < nodes.end; node += groups) join(level, node, nodes.end);
        team.barrier();
      }
    while (stage.top < levels.top && goes_on(team, tree, arrivals, chain, stage, top, 0, 1, flag));
  }
};

} // namespace ribbon::multifrontal

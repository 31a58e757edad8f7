// SPDX-License-Identifier: BSD-2-Clause
/// @file stages.hpp  One launch for all levels of a tree on the way up: the last team that reaches a node
///   continues with it.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/chain.hpp>

namespace ribbon::multifrontal {

/// Synchronizes the threads of a group of 16, 32 or 64, one of at most 15 groups of its team.
KOKKOS_INLINE_FUNCTION void group_barrier([[maybe_unused]] int group, [[maybe_unused]] int threads)
{
#if defined(__CUDA_ARCH__)
  if (threads > 32) {
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(threads) : "memory");
    return;
  }
#endif
  device::lane_barrier(32); // all groups of a warp are synchronized
}

/// Counts the teams that have reached the nodes at the ends of stages, except those of the lowest stage.
/// All counts are zero before and after a launch.
struct Arrivals {
  int *counts = nullptr; ///< at_top, gone_on; (chains, size(tree), blocks)

  KOKKOS_INLINE_FUNCTION static std::int64_t before(const Tree &tree)
  {
    const int lowest = tree.stage_top(0);
    return lowest == tree.top() ? tree.joins : tree.first[tree.stage_top(lowest)];
  }
  KOKKOS_INLINE_FUNCTION static std::int64_t size(const Tree &tree) { return tree.joins - before(tree); }
  /// Length of `counts` for `blocks` blocks: two counts more are for teams that have reached the top and
  /// left it.
  static std::int64_t count(const Tree &tree, std::int64_t blocks)
  {
    return tree.chain.chains * size(tree) * blocks + 2;
  }
  KOKKOS_INLINE_FUNCTION int *at(const Tree &tree, std::int64_t chain, int level, std::int64_t node,
                                 std::int64_t block, std::int64_t blocks) const
  {
    return counts + 2 + (chain * size(tree) + tree.first[level] + node - before(tree)) * blocks + block;
  }
};

/// Whether the team is the last of `all` that arrive here. Writes of the other teams before are then
/// visible to it. `flag`: in team scratch.
template <class Team>
KOKKOS_INLINE_FUNCTION bool comes_last(const Team &team, int *count, int all, int *flag)
{
  const auto arrive = [&] {
    Kokkos::memory_fence();
    *flag = Kokkos::atomic_fetch_add(count, 1) == all - 1 ? 1 : 0;
    if (*flag) *count = 0;
    Kokkos::memory_fence();
  };
  team.barrier();
  if constexpr (Team::is_virtual) arrive();
  else if (team.rank() == 0) arrive();
  team.barrier();
  return *flag != 0;
}

/// Continues from a node at the end of a stage to the node above at the end of the next stage. False at the
/// top, and for all teams but the last that arrives there. `block`: one of `blocks` independent blocks.
template <class Team>
KOKKOS_INLINE_FUNCTION bool goes_on(const Team &team, const Tree &tree, const Arrivals &arrivals,
                                    std::int64_t chain, Levels &stage, std::int64_t &node, std::int64_t block,
                                    std::int64_t blocks, int *flag)
{
  if (stage.top >= tree.top()) return false;
  const Levels       next{stage.top, tree.stage_top(stage.top)};
  const std::int64_t above    = node >> ((next.top < tree.levels ? next.top : tree.levels) - next.bottom);
  const NodeRange    children = tree.below(next.top, above, next.bottom);
  if (!comes_last(team, arrivals.at(tree, chain, next.top, above, block, blocks),
                  static_cast<int>(children.end - children.begin), flag))
    return false;
  stage = next, node = above;
  return true;
}

/// Calls work(levels, node) for a node at the end of the lowest stage, and for those above it at which the
/// team arrives last. Returns whether the team reached the top.
template <class Team, class Work>
KOKKOS_INLINE_FUNCTION bool climb(const Team &team, const Tree &tree, const Arrivals &arrivals,
                                  std::int64_t chain, std::int64_t node, std::int64_t block,
                                  std::int64_t blocks, int *flag, const Work &work)
{
  Levels stage{0, tree.stage_top(0)};
  work(stage, node);
  while (goes_on(team, tree, arrivals, chain, stage, node, block, blocks, flag)) work(stage, node);
  return stage.top >= tree.top();
}

/// The team at the top notifies all teams of a league; its earlier writes are visible to those that have
/// waited.
template <class Team>
KOKKOS_INLINE_FUNCTION void announce_top(const Team &team, const Arrivals &arrivals)
{
  team.barrier();
  if (team.rank() != 0) return;
  Kokkos::memory_fence();
  Kokkos::atomic_fetch_add(arrivals.counts, 1);
}
/// All teams wait for the notification. They must run at the same time, unless threads are virtual.
template <class Team>
KOKKOS_INLINE_FUNCTION void await_top(const Team &team, const Arrivals &arrivals, std::int64_t teams)
{
  if (team.rank() == 0) {
    int *at_top = arrivals.counts, *gone_on = arrivals.counts + 1;
    while (Kokkos::atomic_fetch_add(at_top, 0) == 0) {
    }
    Kokkos::memory_fence();
    if (Kokkos::atomic_fetch_add(gone_on, 1) == static_cast<int>(teams) - 1) *gone_on = 0, *at_top = 0;
  }
  team.barrier();
}

} // namespace ribbon::multifrontal

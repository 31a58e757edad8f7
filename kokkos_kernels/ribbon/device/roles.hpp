// SPDX-License-Identifier: BSD-2-Clause
/// @file roles.hpp  Teams whose threads run different tasks at the same time, in turns.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>

#include <type_traits>

namespace ribbon::device {

/// Calls f(integral_constant role). Each of the roles 0 to Roles - 1 gets separate code.
template <int Roles, int First = 0, class F>
KOKKOS_INLINE_FUNCTION void with_role(int role, const F &f)
{
  if constexpr (First + 1 == Roles) f(std::integral_constant<int, First>());
  else if (role == First) f(std::integral_constant<int, First>());
  else with_role<Roles, First + 1>(role, f);
}

/// Calls work(integral_constant role, turn, v, state) for all virtual threads v of a team, for turns 0 to
/// turns - 1. `size` neighbouring threads (whole warps) have the same role. All threads wait for each other
/// after every turn. On a device each role has a separate loop, so that its threads hold only the registers
/// of their role.
template <int Roles, class State, class Team, class Work>
KOKKOS_INLINE_FUNCTION void take_turns(const Team &team, Threads<State, Team> &threads, int size, int turns,
                                       const Work &work)
{
  if constexpr (Team::is_virtual) {
    for (int turn = 0; turn < turns; ++turn) {
      threads.for_each([&](int v, State &mine) {
        with_role<Roles>(v / size, [&](auto role) { work(role, turn, v, mine); });
      });
      team.barrier();
    }
  } else {
    with_role<Roles>(team.rank() / size, [&](auto role) {
      RIBBON_NO_UNROLL
      for (int turn = 0; turn < turns; ++turn) {
        threads.for_each([&](int v, State &mine) { work(role, turn, v, mine); });
        lane_barrier(32); // a warp reaches the barrier as a whole
        team.barrier();
      }
    });
  }
}

} // namespace ribbon::device

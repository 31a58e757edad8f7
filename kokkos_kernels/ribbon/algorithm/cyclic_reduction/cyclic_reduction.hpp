// SPDX-License-Identifier: BSD-2-Clause
/// @file cyclic_reduction.hpp  Cyclic reduction (Hockney 1965, with Golub; Zhang, Cohen & Owens 2010,
///   section 3.2): half of the equations at a time.
///
/// Forward, every second equation eliminates its two neighbours and then couples with the next but one. The
/// result is half as many equations of the same form. Backward, the eliminated equations compute their
/// unknowns from their neighbours. O(n) operations in 2 log2 n steps; each step leaves half of the threads
/// of the previous one idle.
#pragma once

#include <ribbon/algorithm/cyclic_reduction/reduction_equations.hpp>

namespace ribbon {

/// One level down, for a tile of lines: equations 1, 3, 5, ... of `level` become 0, 1, 2, ... of the next.
/// note(row, lane, |pivot|) is called for every pivot.
template <class Equations, class Threads, class Team, class Note>
KOKKOS_FUNCTION void reduce(const Equations &all, int level, Threads &threads, const Team &team,
                            const Note &note)
{
  const ReductionTile &tile = all.tile;
  const int            n = tile.equations(level), kept = n / 2;
  threads.for_each([&](int v, auto &) {
    tile.for_equations(kept + (all.ring ? 1 : 0), v, team.size(), [&](int j, int lane) {
      const int k = 2 * j + 1;
      if (j == kept)
        all.reduce_separator(all.separator(lane),
                             n % 2 ? all.equation(level, n - 1, lane) : typename Equations::Equation(),
                             all.equation(level, 0, lane));
      else {
        const auto e = all.equation(level, k, lane);
        note(tile.row(level, k), lane,
             all.combine(e, all.equation(level, k - 1, lane), all.equation(level, k + 1, lane), e));
      }
    });
  });
  team.barrier();
}

/// One level up: the unknowns of equations 0, 2, 4, ... of `level`.
template <class Equations, class Threads, class Team>
KOKKOS_FUNCTION void substitute(const Equations &all, int level, Threads &threads, const Team &team)
{
  const ReductionTile &tile = all.tile;
  threads.for_each([&](int v, auto &) {
    tile.for_equations((tile.equations(level) + 1) / 2, v, team.size(), [&](int j, int lane) {
      all.substitute(all.equation(level, 2 * j, lane), all.equation(level, 2 * j - 1, lane),
                     all.equation(level, 2 * j + 1, lane), lane);
    });
  });
  team.barrier();
}

} // namespace ribbon

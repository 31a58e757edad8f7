// SPDX-License-Identifier: BSD-2-Clause
/// @file parallel_cyclic_reduction.hpp  Parallel cyclic reduction (Hockney & Jesshope 1981; Zhang, Cohen &
///   Owens 2010, section 3.3): every equation eliminates its neighbours.
///
/// After step s = 1, 2, 4, ... equations couple with those 2 s away. Once s reaches the number of
/// equations, each equation contains only its unknown, and there is no backward phase. log2 n steps with
/// all threads busy, O(n log2 n) operations.
#pragma once

#include <ribbon/algorithm/cyclic_reduction/reduction_equations.hpp>

namespace ribbon {

/// Solves the equations of the last level except for the separator of a ring: x = r - (A + C) z. They
/// alternate between two copies in scratch; all.tile.last is the place of the current one.
template <class Equations, class Threads, class Team, class Note>
KOKKOS_FUNCTION void reduce_in_parallel(Equations &all, Threads &threads, const Team &team, const Note &note)
{
  ReductionTile &tile = all.tile;
  const int      m    = tile.equations(tile.levels);
  for (int step = 1; step < m; step *= 2) {
    const int from = tile.last, to = from == tile.rows ? tile.rows - m : tile.rows;
    threads.for_each([&](int v, auto &) {
      tile.for_equations(m, v, team.size(), [&](int k, int lane) {
        using Equation       = typename Equations::Equation;
        const Equation left  = k >= step ? all.at(from + k - step, lane) : Equation(),
                       right = k + step < m ? all.at(from + k + step, lane) : Equation();
        note(tile.row(tile.levels, k), lane,
             all.combine(all.at(from + k, lane), left, right, all.at(to + k, lane)));
      });
    });
    team.barrier();
    tile.last = to;
  }
}

} // namespace ribbon

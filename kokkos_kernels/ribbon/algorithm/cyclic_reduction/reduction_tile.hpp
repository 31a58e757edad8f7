// SPDX-License-Identifier: BSD-2-Clause
/// @file reduction_tile.hpp  Layout of the equations of cyclic reduction in team scratch.
///
/// Level 0 has the n equations of a line. Level l + 1 has equations 1, 3, 5, ... of level l as 0, 1, 2, ...
/// Equation k of level l is row (k + 1) 2^l - 1 of the line, and level l has floor(n / 2^l) equations.
/// Equations that are eliminated at one level are contiguous, as are those of the last level:
///
///     row     0  1  2  3  4  5  6  7  8  9      n = 10, two levels
///     place   0  5  1  8  2  6  3  9  4  7      level 0: rows 0 2 4 6 8, level 1: 1 5 9, level 2: 3 7
///
/// So neighbouring threads access neighbouring places at every level, without bank conflicts. The strides
/// 2^l of cyclic reduction in place are its known weakness (Zhang, Cohen & Owens 2010, section 5.3).
/// Goeddeke & Strzodka 2011 sort in the same way. In every place, the lines of the tile are contiguous.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>

#include <algorithm>
#include <limits>

namespace ribbon {

struct ReductionTile {
  int rows      = 0; ///< n: equations of a line
  int levels    = 0; ///< L
  int last      = 0; ///< place of the first equation of level L
  int places    = 0; ///< per line: n, plus a second copy of level L if requested
  int lane_bits = 0; ///< log2 of the lines of a tile
  int pitch     = 1; ///< scalars between two places

  KOKKOS_INLINE_FUNCTION int lanes() const { return 1 << lane_bits; }
  KOKKOS_INLINE_FUNCTION int equations(int level) const { return rows >> level; }
  KOKKOS_INLINE_FUNCTION int row(int level, int k) const { return ((k + 1) << level) - 1; }

  /// Place of equation k of a level.
  KOKKOS_INLINE_FUNCTION int place(int level, int k) const
  {
    for (; level < levels; ++level, k >>= 1)
      if (k % 2 == 0) return rows - (rows >> level) + (k >> 1);
    return last + k;
  }

  /// Calls work(k, lane) for those of `count` equations of all lanes that belong to virtual thread v.
  template <class Work>
  KOKKOS_FUNCTION void for_equations(int count, int v, int threads, const Work &work) const
  {
    for (int e = v; e < (count << lane_bits); e += threads) work(e >> lane_bits, e & (lanes() - 1));
  }
  /// Calls move(row, lane) for those of `count` rows of all lanes that belong to virtual thread v.
  /// Neighbouring threads access neighbours in `set`.
  template <class Move>
  KOKKOS_FUNCTION void for_rows(const LineSet &set, int count, int v, int threads, const Move &move) const
  {
    if (set.row_stride >= set.stride0) return for_equations(count, v, threads, move);
    for (int lane = 0; lane < lanes(); ++lane)
      for (int i = v; i < count; i += threads) move(i, lane);
  }

  /// Virtual threads of a team: one per equation that is eliminated at the first level, at most `most`.
  int threads(int most) const
  {
    int t = 32;
    while (t < most && t < (rows + 1) / 2 * lanes()) t *= 2;
    return t;
  }
};

/// Scratch that an equation and a line of a tile need, and that a team has.
struct ReductionRoom {
  std::size_t equation = 0; ///< bytes per place and line
  std::size_t line     = 0; ///< further bytes per line
  std::size_t team     = 0; ///< limit

  std::size_t bytes(const ReductionTile &tile) const
  {
    return device::align16(static_cast<std::size_t>(tile.places) * static_cast<std::size_t>(tile.pitch) *
                           equation) +
           device::align16(line * static_cast<std::size_t>(tile.lanes()));
  }
};

/// A tile for lines of `rows` equations that are halved until at most `keep` are left.
/// @param twice   level L needs a second copy
/// @param asked   lines of a tile, 0: free choice
/// @return places == 0 and rows > 0 if no tile fits
template <class Exec>
ReductionTile choose_reduction_tile(const LineSet &lines, int rows, std::int64_t keep, bool twice, int asked,
                                    const ReductionRoom &room)
{
  ReductionTile tile;
  tile.rows = rows;
  while (tile.equations(tile.levels) > std::max<std::int64_t>(1, keep)) ++tile.levels;
  const int kept = tile.equations(tile.levels);
  tile.last      = rows - kept;
  if (rows > std::numeric_limits<int>::max() / 128) return tile;
  tile.places           = rows + (twice && kept > 1 ? kept : 0);
  const bool contiguous = lines.row_stride < lines.stride0;
  for (tile.lane_bits = 5;; --tile.lane_bits) {
    const int lanes = tile.lanes();
    // odd, because neighbouring threads load the rows of a line
    tile.pitch     = contiguous && lanes > 1 ? lanes + 1 : lanes;
    const bool fit = room.bytes(tile) <= room.team;
    // two teams per multiprocessor
    const bool two = 2 * room.bytes(tile) <= room.team || lanes <= 8;
    // all lanes have lines
    const bool all = lanes == 1 || (lanes / 2 < lines.lines() && (is_device_space<Exec> || lanes <= 8));
    // more teams
    const bool cut = is_device_space<Exec> && lanes > 4 && lines.lines() < lanes * std::int64_t(128);
    if (asked > 0 ? lanes == asked : fit && two && all && !cut) {
      if (!fit) tile.places = 0;
      return tile;
    }
    if (lanes == 1) break;
  }
  tile.places = 0;
  return tile;
}

} // namespace ribbon

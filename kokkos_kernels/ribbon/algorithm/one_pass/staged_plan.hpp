// SPDX-License-Identifier: BSD-2-Clause
/// @file staged_plan.hpp  Number of contiguous lines of a one-pass team, and their layout in its scratch.
///   The constants were measured on an H200.
#pragma once

#include <ribbon/algorithm/one_pass/shape.hpp>

namespace ribbon {

/// Lays 2^bits contiguous lines out in scratch.
template <class Scheme>
void lay_out_staged(OnePassShape &s, int bits)
{
  const int B = Scheme::block, unknowns = (s.split.begin(s.split.chunks - 1) + s.split.last) * B;
  s.lane_bits  = bits;
  s.gap        = (s.slots - s.split.last * B) % s.pack;
  s.piece_bits = 0; // tiles of four lines are slower in parts
  for (const bool whole = !Scheme::always_ring && s.split.first * B == s.slots && s.split.last * B == s.slots;
       whole && s.lane_bits < 2 && s.lane_bits + s.piece_bits < 3 &&
       s.split.chunks % (2 << s.piece_bits) == 0;)
    ++s.piece_bits;
  s.piece_gap = s.pack << s.lane_bits;
  // an odd number of packs
  s.pitch = ((unknowns + s.gap + ((1 << s.piece_bits) - 1) * s.piece_gap + s.pack - 1) / s.pack | 1) * s.pack;
}

/// Lines of a team. Small teams are better, because many fit a multiprocessor. But lanes share the
/// coefficients of an irregular chunk.
/// @param regular  chunks that share a block
/// @param few      no chunk is regular, and all blocks fit the rest of the L1 cache
/// @param scratch  scratch(shape): the bytes of a team
template <class Scheme, class Scratch>
void fit_staged(OnePassShape &s, const TeamRoom &room, int regular, bool few, const Scratch &scratch)
{
  using Scalar        = typename Scheme::Scalar;
  constexpr int  S    = Scheme::separators;
  constexpr bool wide = sizeof(Scalar) > 8;
  /// threads: scratch has space for 32 lines in float, but the registers allow only one team per
  /// multiprocessor
  constexpr int most     = sizeof(Scalar) < 8 ? 256 : 512;
  const int     unknowns = (s.split.begin(s.split.chunks - 1) + s.split.last) * Scheme::block;
  const bool    all      = regular == s.split.chunks;
  // only the last chunk is irregular: it has a separate warp
  const bool last_only =
    regular > 0 && regular + 1 == s.split.chunks && s.split.first * Scheme::block == s.slots;
  const auto teams = [&] {
    return all && s.lane_bits > (wide && S == 2 ? 3 : 2)                        ? 14
           : few || (Scheme::always_ring && S == 2 && !wide && s.lane_bits > 4) ? 6
           : s.slots == 64 && s.lane_bits == 4                                  ? 4
                                                                                : 3;
  };
  const auto fits = [&] {
    const std::size_t tile = (static_cast<std::size_t>(unknowns) << s.lane_bits) * sizeof(Scalar);
    OnePassShape      with = s;
    if (last_only) with.idle = (32 - ((s.split.chunks - 1) << s.lane_bits) % 32) % 32;
    return s.threads() <= most && (last_only ? scratch(with) + device::reserved_scratch : tile) <=
                                    room.scratch / static_cast<std::size_t>(teams());
  };
  for (lay_out_staged<Scheme>(s, 5); s.lane_bits > 0 && !fits();) lay_out_staged<Scheme>(s, s.lane_bits - 1);
  // a single warp waits for no other
  if (sizeof(Scalar) < 8 && all && s.threads() == 64 && s.lane_bits == 5 && !room.is_virtual)
    lay_out_staged<Scheme>(s, 4);
  if (S != 2 || wide || Scheme::always_ring || room.is_virtual) return;
  // pentadiagonal lines: a quarter of the lanes idle costs more than fewer teams. Small teams are faster if
  // the last chunk has a separate warp and the other chunks fill theirs
  const int idle = (32 - s.threads() % 32) % 32, half = (s.split.chunks - 1) << s.lane_bits >> 1;
  if (all && 4 * idle >= s.threads() + idle && s.lane_bits < 5) lay_out_staged<Scheme>(s, s.lane_bits + 1);
  else if (last_only && half % 32 == 0 && half >= 96 && s.lane_bits > 0)
    lay_out_staged<Scheme>(s, s.lane_bits - 1);
}

/// Whether sweeps over irregular chunks are loops: if there are regular chunks, or if many slots are empty.
/// Measured on an H200: full chunks are slower with loops.
inline bool by_loops(const OnePassShape &s, int regular, int block)
{
  const int slots = s.split.chunks * s.slots,
            empty = slots - (s.split.begin(s.split.chunks - 1) + s.split.last) * block;
  return regular > 0 || (s.pack == 1 || s.split.chunks == 2 ? 4 * empty > slots : 5 * empty > 2 * slots);
}

/// Layout of persistent teams (Kernel: a ResidentOnePassKernel), so that a multiprocessor has enough
/// threads, a few hundred, and preferably two tiles for each team. Measured on an H200: 16 sizes from 160
/// to 2048 rows, 4 to 32 lines, one and two tiles. Not on devices with less scratch.
/// @return false if teams of one tile are faster
template <class Kernel, class Scheme>
bool fit_resident(OnePassShape &s, const TeamRoom &room, int lines_per_team)
{
  constexpr int         enough = 320, fewest = 192; // threads per multiprocessor
  constexpr std::size_t limit = std::size_t(227) << 10;
  int                   most  = 0;
  OnePassShape          best  = s;
  if (s.split.chunks < (Scheme::separators == 1 ? 12 : 8) || s.split.chunks > 64 || room.scratch < limit)
    return false;
  for (int bits = 2; bits <= 4; ++bits)
    for (int tiles = 2; tiles > 0; --tiles) {
      OnePassShape with = s;
      with.set_blocks(1), with.resident = tiles;
      lay_out_staged<Scheme>(with, bits);
      const int fit   = static_cast<int>((limit + device::reserved_scratch) /
                                       (Kernel::scratch(with, false) + device::reserved_scratch));
      const int teams = std::min(Kernel::max_threads / with.threads(), fit), threads = teams * with.threads();
      const int percent = (tiles > 1 ? 100 : teams > 1 ? 75 : 50) - (bits == 3 ? 0 : bits == 2 ? 5 : 10);
      if (threads < fewest || std::min(threads, enough) * percent <= most ||
          (lines_per_team > 0 && lines_per_team >> bits != 1))
        continue;
      most = std::min(threads, enough) * percent, best = with;
    }
  s = best;
  return most > 0;
}

/// Teams of such a league: as many as run at once. On a host, three tiles per team or one team per thread;
/// persistent teams have no advantage there.
template <class Kernel, class Exec>
std::int64_t resident_teams(const Exec &exec, const device::League &tiles, std::int64_t &at_once)
{
  if constexpr (!is_device_space<Exec>)
    return std::max<std::int64_t>((tiles.teams + 2) / 3,
                                  std::min<std::int64_t>(tiles.teams, exec.concurrency()));
  else if (at_once == 0)
    at_once = std::max<std::int64_t>(1, device::teams_at_once<Kernel>(exec, tiles.threads, tiles.scratch));
  return std::min(tiles.teams, at_once);
}

} // namespace ribbon

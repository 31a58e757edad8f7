// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass_staged_plan.hpp  How many contiguous lines a one-pass team takes, and how they lie in its scratch. The numbers were measured on an H200.
#pragma once

#include <ribbon/algorithm/one_pass_shape.hpp>

namespace ribbon {

/// Lays 2^bits contiguous lines out in scratch.
template <class Scheme>
void lay_out_staged(OnePassShape &s, int bits)
{
  const int B = Scheme::block, unknowns = (s.split.begin(s.split.chunks - 1) + s.split.last) * B;
  s.lane_bits  = bits;
  s.gap        = (s.slots - s.split.last * B) % s.pack;
  s.piece_bits = 0; // tiles of four lines lose by pieces
  for (const bool whole = !Scheme::always_ring && s.split.first * B == s.slots && s.split.last * B == s.slots; whole && s.lane_bits < 2 && s.lane_bits + s.piece_bits < 3 && s.split.chunks % (2 << s.piece_bits) == 0;)
    ++s.piece_bits;
  s.piece_gap = s.pack << s.lane_bits;
  s.pitch     = ((unknowns + s.gap + ((1 << s.piece_bits) - 1) * s.piece_gap + s.pack - 1) / s.pack | 1) * s.pack; // an odd number of packs
}

/// Lines of a team: small teams, so that many fit a multiprocessor; but lanes share what a chunk that is not regular brings.
/// @param regular  chunks that share a block
/// @param few      no chunk is regular, and all blocks fit what is left of the L1 cache
/// @param scratch  scratch(shape): the bytes of a team
template <class Scheme, class Scratch>
void fit_staged(OnePassShape &s, const TeamRoom &room, int regular, bool few, const Scratch &scratch)
{
  using Scalar             = typename Scheme::Scalar;
  constexpr int  S         = Scheme::separators;
  constexpr bool wide      = sizeof(Scalar) > 8;
  const int      unknowns  = (s.split.begin(s.split.chunks - 1) + s.split.last) * Scheme::block;
  const bool     all       = regular == s.split.chunks;
  const bool     last_only = regular > 0 && regular + 1 == s.split.chunks && s.split.first * Scheme::block == s.slots; // is not regular: it has a warp of its own
  const auto     teams     = [&] { return all && s.lane_bits > (wide && S == 2 ? 3 : 2) ? 14 : few || (Scheme::always_ring && S == 2 && !wide && s.lane_bits > 4) ? 6 : 3; };
  const auto     fits      = [&] {
    const std::size_t tile = (static_cast<std::size_t>(unknowns) << s.lane_bits) * sizeof(Scalar);
    OnePassShape      with = s;
    if (last_only) with.idle = (32 - ((s.split.chunks - 1) << s.lane_bits) % 32) % 32;
    return s.threads() <= 512 && (last_only ? scratch(with) + device::reserved_scratch : tile) <= room.scratch / static_cast<std::size_t>(teams());
  };
  for (lay_out_staged<Scheme>(s, 5); s.lane_bits > 0 && !fits();) lay_out_staged<Scheme>(s, s.lane_bits - 1);
  if (S != 2 || wide || Scheme::always_ring || room.is_virtual) return;
  // pentadiagonal lines: a quarter of the lanes idle costs more than fewer teams; small teams gain where the last chunk has a warp of its own and the others fill theirs
  const int idle = (32 - s.threads() % 32) % 32, half = (s.split.chunks - 1) << s.lane_bits >> 1;
  if (all && 4 * idle >= s.threads() + idle && s.lane_bits < 5) lay_out_staged<Scheme>(s, s.lane_bits + 1);
  else if (last_only && half % 32 == 0 && half >= 96 && s.lane_bits > 0) lay_out_staged<Scheme>(s, s.lane_bits - 1);
}

} // namespace ribbon

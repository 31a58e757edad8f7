// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_runs.hpp  Copies entries of a few rows of 32 leaves to scratch.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/chain.hpp>

namespace ribbon::multifrontal {

/// The difference of two integers, given their lower 32 bits.
KOKKOS_INLINE_FUNCTION int between(std::int32_t from, std::int32_t to)
{
  return static_cast<int>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
}

/// Contiguous entries of some rows of a leaf: `first` is the first one, relative to that of the tile, and
/// `count` their count. If the rows lack entries of the band, `count` holds -1 - count: then their column
/// indices and row beginnings are read, too.
struct alignas(8) LeafRun {
  int                         first, count;
  KOKKOS_INLINE_FUNCTION bool has_gaps() const { return count < 0; }
};

/// The same address. The compiler keeps it instead of recomputing the sum at each use.
template <class Scalar>
KOKKOS_INLINE_FUNCTION const Scalar *one_address(const Scalar *a)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+l"(a));
#endif
  return a;
}

/// Copies the values of runs to scratch: a warp has a run, and a thread has the entries of a run from the
/// 33rd on.
/// @param v  one of Threads threads
/// @tparam Together  runs whose places are read before the first copy starts
template <int Threads, int Together, class Scalar, int Places, int Entries, class Gaps>
KOKKOS_INLINE_FUNCTION void stage_runs(const Scalar *first_value, const LeafRun (&runs)[32], int v,
                                       Scalar (&value)[32][Places], const Gaps &with_gaps)
{
  constexpr int warp = 32, leaves = 32;
  const int     e    = v % warp;
  const Scalar *from = one_address(first_value + e);
  RIBBON_NO_UNROLL
  for (int first = v / warp * Together; first < leaves; first += Threads / warp * Together) {
    LeafRun run[Together];
    Scalar *to  = value[first] + e;
    int     all = 0;
    RIBBON_UNROLL
    for (int k = 0; k < Together; ++k) run[k] = runs[first + k], all |= run[k].count;
    RIBBON_UNROLL
    for (int k = 0; k < Together; ++k)
      if (e < run[k].count) device::async_copy(to + k * Places, from + run[k].first);
    if (all >= 0) continue;
    RIBBON_NO_UNROLL
    for (int k = first; k < first + Together; ++k)
      if (runs[k].has_gaps()) with_gaps(k, e);
  }
  if constexpr (Entries > warp) {
    const LeafRun at = runs[e];
    RIBBON_UNROLL
    for (int k = warp; k < Entries; ++k)
      if (v < leaves && k < at.count) device::async_copy(&value[e][k], first_value + at.first + k);
  }
}

/// The same for runs that have `Entries` entries each, without gaps.
template <int Warps, int Entries, class Scalar, int Places>
KOKKOS_INLINE_FUNCTION void stage_equal_runs(const Scalar *first_value, const LeafRun (&runs)[32], int v,
                                             Scalar (&value)[32][Places])
{
  constexpr int warp = 32, leaves = 32, share = (leaves + Warps - 1) / Warps;
  const int     e = v % warp, first = v / warp * share;
  int           place[share]; // all are loaded before the first copy starts
  RIBBON_UNROLL
  for (int k = 0; k < share; ++k)
    place[k] = runs[leaves % Warps == 0 || first + k < leaves ? first + k : leaves - 1].first;
  if (e < Entries) {
    const Scalar *from = one_address(first_value + e);
    Scalar       *to   = value[first] + e;
    RIBBON_UNROLL
    for (int k = 0; k < share; ++k)
      if (leaves % Warps == 0 || first + k < leaves) device::async_copy(to + k * Places, from + place[k]);
  }
  if constexpr (Entries > warp) {
    RIBBON_UNROLL
    for (int k = warp; k < Entries; ++k)
      if (v < leaves) device::async_copy(&value[e][k], first_value + runs[e].first + k);
  }
}

} // namespace ribbon::multifrontal

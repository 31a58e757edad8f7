// SPDX-License-Identifier: BSD-2-Clause
/// @file slices.hpp  The storage of a matrix by colours: slices of unknowns, entry by entry.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

inline constexpr int most_offsets = 32; ///< bits of a mask

/// The entries of H unknowns. A slot holds one block of each lane. The first slot has the inverses of the
/// diagonal. Then come couplings with earlier colours, then those with later ones. Slices with equal values
/// share slots. The columns are those of a few diagonals of the matrix, one for each slot, or are stored.
struct ColorSlice {
  std::int64_t  begin;          ///< slot of the inverses
  std::int64_t  column;         ///< first slot of the stored columns; -1: slots are diagonals
  std::uint32_t earlier, later; ///< how many slots, or masks of diagonals with a slot for each bit

  KOKKOS_INLINE_FUNCTION bool is_on_diagonals() const { return column < 0; }
  KOKKOS_INLINE_FUNCTION int  slots(bool of_earlier) const
  {
    const std::uint32_t all = of_earlier ? earlier : later;
    return is_on_diagonals() ? bits(all) : static_cast<int>(all);
  }
  /// without that of the inverses
  KOKKOS_INLINE_FUNCTION int        slots() const { return slots(true) + slots(false); }
  KOKKOS_INLINE_FUNCTION static int bits(std::uint32_t mask)
  {
#ifdef __CUDA_ARCH__
    return __popc(mask);
#else
    mask -= mask >> 1 & 0x55555555u;
    mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
    return static_cast<int>(((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24);
#endif
  }
};

/// Place of the lowest bit of a mask that is not 0.
KOKKOS_INLINE_FUNCTION int lowest_bit(std::uint32_t mask)
{
#ifdef __CUDA_ARCH__
  return __ffs(static_cast<int>(mask)) - 1;
#else
  return __builtin_ctz(mask);
#endif
}

/// A matrix in slices of H lanes, not owned. Entry (r, c) of the block of a lane in a slot is at
/// ((slot * B + c) * B + r) * H + lane.
template <class Scalar>
struct ColorSlices {
  const std::int32_t *order; ///< unknown at each place; -1: none
  const ColorSlice   *slice;
  const std::int32_t *diagonal; ///< distances of the diagonals of masks
  std::int32_t       *column;   ///< unknown of each block; -1: none
  Scalar             *value;
  Scalar             *sums; ///< b - L x of each place
  std::int64_t        unknowns;
};

} // namespace ribbon

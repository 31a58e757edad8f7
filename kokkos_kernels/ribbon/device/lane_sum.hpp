// SPDX-License-Identifier: BSD-2-Clause
/// @file lane_sum.hpp  Sums over lanes that share a column.
#pragma once

#include <ribbon/device/async_copy.hpp>

namespace ribbon::device {

/// The sum of `value` over `parts` lanes at distance `apart`, bitwise equal in all of them. parts * apart
/// (powers of two) is at most 32. All lanes of a warp call it together. With one part, as on hosts, the sum
/// is `value`.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar lane_sum(Scalar value, [[maybe_unused]] int parts,
                                       [[maybe_unused]] int apart = 1)
{
#if defined(__CUDA_ARCH__)
  constexpr unsigned all = 0xffffffffu;
  for (int d = apart; d < parts * apart; d *= 2) {
    if constexpr (std::is_floating_point_v<Scalar>) value += __shfl_xor_sync(all, value, d);
    else value += Scalar(__shfl_xor_sync(all, value.real(), d), __shfl_xor_sync(all, value.imag(), d));
  }
#endif
  return value;
}

/// Copies get(e) to put(e, value) for e = first, first + step, ... below end. Four loads start before the
/// first store, so that their latencies overlap.
template <class Get, class Put>
KOKKOS_INLINE_FUNCTION void copy_in_fours(int first, int step, int end, const Get &get, const Put &put)
{
  constexpr int together = 4;
  for (int base = first; base < end; base += together * step) {
    decltype(get(0)) value[together] = {};
    RIBBON_UNROLL
    for (int k = 0; k < together; ++k)
      if (base + k * step < end) value[k] = get(base + k * step);
    RIBBON_UNROLL
    for (int k = 0; k < together; ++k)
      if (base + k * step < end) put(base + k * step, value[k]);
  }
}

} // namespace ribbon::device

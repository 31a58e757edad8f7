// SPDX-License-Identifier: BSD-2-Clause
/// @file noise.hpp  Random values that threads compute independently.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// Value `key` of a sequence uniform in [-1, 1), the same on every machine (splitmix64: Steele, Lea &
/// Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
template <class Real>
KOKKOS_INLINE_FUNCTION Real noise(std::uint64_t key)
{
  key += 0x9e3779b97f4a7c15ull;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ull;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebull;
  return static_cast<Real>(static_cast<double>((key ^ (key >> 31)) >> 11) * (2.0 / 9007199254740992.0) - 1.0);
}

} // namespace ribbon

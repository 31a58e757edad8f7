// SPDX-License-Identifier: BSD-2-Clause
/// @file noise.hpp  Random numbers that depend on a key alone. Initial states are the same on any number of
///   ranks, on devices, and in any part of a study.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ch {

/// A value in [-1, 1) (splitmix64).
KOKKOS_INLINE_FUNCTION double hash_uniform(std::uint64_t key)
{
  key += 0x9e3779b97f4a7c15ULL;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ULL;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((key ^ (key >> 31)) >> 11) * 0x1p-52 - 1;
}

} // namespace ch

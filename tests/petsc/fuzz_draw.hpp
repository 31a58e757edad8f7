// SPDX-License-Identifier: BSD-2-Clause
/// @file fuzz_draw.hpp  Random values for test cases.
#pragma once

#include <petscsys.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace test {

/// Random values that are the same on all ranks and machines (splitmix64).
class Draw {
public:
  explicit Draw(std::uint64_t seed) : state_(seed) { }
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }
  /// A value in 0 .. n - 1.
  PetscInt below(PetscInt n) { return static_cast<PetscInt>(next() % static_cast<std::uint64_t>(n)); }
  /// A value in first .. last.
  PetscInt between(PetscInt first, PetscInt last) { return first + below(last - first + 1); }
  bool     one_in(PetscInt n) { return below(n) == 0; }
  double   real(double low, double high) { return low + (high - low) * unit(next()); }
  template <class T>
  T of(std::initializer_list<T> choices)
  {
    return choices.begin()[below(static_cast<PetscInt>(choices.size()))];
  }
  /// A value in [-1, 1), a function of its arguments.
  static double noise(std::uint64_t seed, PetscInt a, PetscInt b)
  {
    return 2 * unit(mix(mix(mix(seed + static_cast<std::uint64_t>(a)) + static_cast<std::uint64_t>(b)))) - 1;
  }
  /// Splits n items among `ranks` owners. With `empty_ones` some owners may get zero items.
  std::vector<PetscInt> split(PetscInt n, PetscInt ranks, bool empty_ones)
  {
    std::vector<PetscInt> sizes(static_cast<std::size_t>(ranks), n / ranks);
    sizes.back() += n % ranks;
    for (std::size_t r = 0; r + 1 < sizes.size() && !one_in(3); ++r) {
      const PetscInt moved = below(sizes[r] + (empty_ones ? 1 : sizes[r] > 1 ? 0 : 1));
      if (!empty_ones && moved >= sizes[r]) continue;
      sizes[r] -= moved, sizes[static_cast<std::size_t>(below(ranks))] += moved;
    }
    return sizes;
  }

private:
  static std::uint64_t mix(std::uint64_t z)
  {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  static double unit(std::uint64_t z) { return static_cast<double>(z >> 11) / 9007199254740992.0; }
  std::uint64_t state_;
};

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
/// @file factored_reduction_shape.hpp  Equations of a line and layout of their factors, for
///   factored_reduction.hpp.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// Sizes of the equations of a line, and the layout of their factors. Equation k of level l is equation
/// (k + 1) 2^l - 1 of level 0.
struct FactoredReductionShape {
  int rows = 0, group = 1, block = 1; ///< rows of a line; rows of an equation (K); unknowns of a row (B)

  KOKKOS_INLINE_FUNCTION int        size() const { return group * block; } ///< S
  KOKKOS_INLINE_FUNCTION int        equations() const { return (rows + group - 1) / group; }
  KOKKOS_INLINE_FUNCTION static int kept(int equations) { return equations / 2; }
  KOKKOS_INLINE_FUNCTION static int left_out(int equations) { return equations - equations / 2; }
  KOKKOS_INLINE_FUNCTION static int place(int level, int k) { return ((k + 1) << level) - 1; }
  /// Length of the factors of a level: two blocks for each equation that remains, then three for each
  /// eliminated one. Column b of block w of equation j of `count` begins at ((w S + b) count + j) S, so
  /// that neighbouring threads read neighbouring values.
  KOKKOS_INLINE_FUNCTION std::int64_t kept_words(int equations) const
  {
    return std::int64_t(2) * size() * size() * kept(equations);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t words(int equations) const
  {
    return kept_words(equations) + std::int64_t(3) * size() * size() * left_out(equations);
  }
  /// Length of the factors of all levels.
  KOKKOS_INLINE_FUNCTION std::int64_t words() const
  {
    std::int64_t sum = 0;
    for (int m = equations(); m > 0; m = kept(m)) sum += words(m);
    return sum;
  }
};

} // namespace ribbon

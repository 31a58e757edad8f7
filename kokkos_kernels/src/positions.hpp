// SPDX-License-Identifier: BSD-2-Clause
/// @file positions.hpp  First positions of rows from their counts, as the functor of a scan over n + 1 indices.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon::detail {

/// Turns the counts of n rows into first positions, in place.
struct Positions {
  using value_type = std::int64_t;
  std::int64_t        *begin;
  std::int64_t         n;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t &sum, const bool final) const
  {
    const std::int64_t count = i < n ? begin[i] : 0;
    if (final) begin[i] = sum;
    sum += count;
  }
};

} // namespace ribbon::detail

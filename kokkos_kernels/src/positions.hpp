// SPDX-License-Identifier: BSD-2-Clause
/// @file positions.hpp  First positions of rows from their counts, as the functor of a scan over n + 1 indices; the
///   row at a position.
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

/// The last of n rows that begins at this position or before it. `begin` ascends.
KOKKOS_INLINE_FUNCTION std::int64_t row_at(const std::int64_t *begin, std::int64_t n, std::int64_t position)
{
  std::int64_t row = 0;
  for (std::int64_t end = n; row + 1 < end;) {
    const std::int64_t middle = row + (end - row) / 2;
    if (begin[middle] <= position) row = middle;
    else end = middle;
  }
  return row;
}

} // namespace ribbon::detail

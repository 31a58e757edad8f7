// SPDX-License-Identifier: BSD-2-Clause
/// @file edges.hpp  The arrays of an UnknownGraph in kernels.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// One direction of the couplings.
struct Edges {
  const std::int64_t *begin;
  const std::int32_t *neighbor;
  /// Whether the list of i has j. Lists are sorted, as the columns of a row.
  KOKKOS_FUNCTION bool has(std::int64_t i, std::int64_t j) const
  {
    std::int64_t first = begin[i], end = begin[i + 1];
    while (first < end) {
      const std::int64_t middle = first + (end - first) / 2;
      if (neighbor[middle] < j) first = middle + 1;
      else end = middle;
    }
    return first < begin[i + 1] && neighbor[first] == j;
  }
};

} // namespace ribbon

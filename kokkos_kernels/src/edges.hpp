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

/// Smallest colour that no neighbour of i has. Neighbours without a colour are ignored.
KOKKOS_INLINE_FUNCTION std::int32_t smallest_free(const Edges &graph, const std::int32_t *color,
                                                  std::int64_t i)
{
  for (std::int32_t base = 0;; base += 64) {
    std::uint64_t used = 0;
    for (std::int64_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e) {
      const std::int32_t c = color[graph.neighbor[e]] - base;
      if (c >= 0 && c < 64) used |= std::uint64_t(1) << c;
    }
    for (std::int32_t c = 0; c < 64; ++c)
      if (!(used >> c & 1)) return base + c;
  }
}

} // namespace ribbon

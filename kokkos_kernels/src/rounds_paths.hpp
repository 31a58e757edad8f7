// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_paths.hpp  Ends, rings and numbers of lines by pointer jumping, for lines_by_rounds().
#pragma once

#include "rounds_forest.hpp"

namespace ribbon::rounds {

/// Arc 2 i + s leaves row i through slot s. It leads to the arc by which the next row continues, or to itself
/// at an end.
struct FirstJumpKernel {
  Forest               forest;
  std::int32_t        *to;
  std::int32_t        *length; ///< rows from the arc to the place that it leads to
  KOKKOS_FUNCTION void operator()(const std::int64_t arc) const
  {
    const std::int64_t row = arc / 2, next = forest.neighbor[arc];
    to[arc]     = static_cast<std::int32_t>(next < 0 ? arc : 2 * next + (forest.neighbor[2 * next] == row));
    length[arc] = next >= 0;
  }
};

/// Makes jumps four times as long.
struct JumpKernel {
  const std::int32_t  *to, *length;
  std::int32_t        *new_to, *new_length;
  KOKKOS_FUNCTION void operator()(const std::int64_t arc) const
  {
    std::int32_t  at  = to[arc];
    std::uint32_t far = static_cast<std::uint32_t>(length[arc]); // overflows on rings, where it is not used
    for (int k = 0; k < 3; ++k) far += static_cast<std::uint32_t>(length[at]), at = to[at];
    new_to[arc] = at, new_length[arc] = static_cast<std::int32_t>(far);
  }
};

/// Counts the arcs that do not lead to an end yet.
struct CountKernel {
  const std::int32_t  *neighbor, *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t arc, std::int64_t &left) const
  {
    left += neighbor[to[arc]] >= 0;
  }
};

/// The smaller end of the line of every row that is not on a ring, and its rows.
struct LabelKernel {
  Forest               forest;
  const std::int32_t  *to, *length;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    if (forest.neighbor[to[2 * i]] >= 0) return; // a ring
    const std::int32_t a = to[2 * i] / 2, b = to[2 * i + 1] / 2;
    forest.label[i]  = a < b ? a : b;
    forest.length[i] = length[2 * i] + length[2 * i + 1] + 1;
  }
};

/// The couplings of rings by arc, in the order of their groups. Of tied couplings, that of the row with the largest
/// index is the last one, then that with the smaller neighbour. lines_from_graph() opens rings there, too, and so do
/// other ranks, which know other rows. Arcs of lines lead to themselves.
struct RingKernel {
  Graph                graph;
  Forest               forest;
  const std::int32_t  *to; ///< after all jumps
  Rank                *rank;
  std::int32_t        *next, *weakest;
  KOKKOS_FUNCTION void operator()(const std::int64_t arc) const
  {
    const std::int64_t row  = arc / 2;
    const bool         ring = forest.neighbor[to[arc]] >= 0;
    const std::int64_t j    = forest.neighbor[arc];
    weakest[arc]            = static_cast<std::int32_t>(arc);
    next[arc]               = static_cast<std::int32_t>(ring ? 2 * j + (forest.neighbor[2 * j] == row) : arc);
    if (!ring) return;
    const std::int64_t low = row < j ? row : j, high = row < j ? j : row;
    rank[arc] = {graph.group_of(graph.coupling(row, j)) << 32 | static_cast<std::uint64_t>(high),
                 static_cast<std::int32_t>(-low)};
  }
};

/// The weakest coupling of twice as many rows of a ring.
struct WeakestKernel {
  const Rank          *rank;
  const std::int32_t  *next, *weakest;
  std::int32_t        *new_next, *new_weakest;
  KOKKOS_FUNCTION void operator()(const std::int64_t arc) const
  {
    const std::int32_t far = next[arc];
    new_next[arc]          = next[far];
    new_weakest[arc] = far == arc || !(rank[weakest[arc]] < rank[weakest[far]]) ? weakest[arc] : weakest[far];
  }
};

/// For both rows of the weakest coupling of a ring: the neighbour from which they are cut, and whether the
/// ring is long.
struct FindCutKernel {
  Forest               forest;
  const std::int32_t  *to, *weakest;
  std::int32_t        *cut; ///< -1: none
  unsigned char       *is_long;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    cut[i] = -1;
    if (forest.neighbor[to[2 * i]] < 0) return;
    const std::int32_t arc = weakest[2 * i], a = arc / 2, b = forest.neighbor[arc];
    if (a != i && b != i) return;
    cut[i]              = a == i ? b : a;
    std::int64_t before = cut[i], row = i;
    int          rows = 1;
    for (; rows <= short_ring; ++rows) { // away from the cut
      const std::int32_t *next = forest.neighbor + 2 * row;
      const std::int64_t  onto = next[0] == before ? next[1] : next[0];
      before = row, row = onto;
      if (row == cut[i]) break;
    }
    is_long[i] = rows >= short_ring;
  }
};

struct CutKernel {
  Forest               forest;
  const std::int32_t  *cut;
  const unsigned char *is_long;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    if (cut[i] < 0) return;
    if (forest.neighbor[2 * i] == cut[i]) forest.neighbor[2 * i] = forest.neighbor[2 * i + 1];
    forest.neighbor[2 * i + 1] = -1;
    if (is_long[i]) forest.closed[i] = 1;
  }
};

/// Lines before a row in the upper 32 bits, and rows of these lines in the lower ones.
struct NumberKernel {
  using value_type = std::int64_t;
  Forest               forest;
  std::int64_t        *number;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t &sum, const bool final) const
  {
    if (final) number[i] = sum;
    if (forest.label[i] == i) sum += (std::int64_t(1) << 32) + forest.length[i];
  }
};

struct OrderKernel {
  Forest               forest;
  const std::int32_t  *to, *length;
  const std::int64_t  *number;
  std::int64_t        *order, *begin;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    const std::int64_t label = forest.label[i], first = number[label] & 0xffffffff;
    order[first + (to[2 * i] / 2 == label ? length[2 * i] : length[2 * i + 1])] = i;
    if (label == i) begin[number[i] >> 32] = first;
  }
};

} // namespace ribbon::rounds

// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_runs.hpp  Entries of a few rows of 32 leaves on their way to scratch.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/multifrontal/chain.hpp>

namespace ribbon::multifrontal {

/// The difference of two numbers by their lower bits.
KOKKOS_INLINE_FUNCTION int between(std::int32_t from, std::int32_t to)
{
  return static_cast<int>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
}

/// Entries of some rows of a leaf that follow each other: the first, counted from that of the tile, and how many.
struct alignas(8) LeafRun {
  int          first;
  std::int16_t count, columns; ///< columns: whose column indices are read
};

/// Asks for where rows `from` to `from` + Rows of those that each of 32 leaves sees begin: rows count from the first of the tile, `base`; rows that a leaf has not begin where its own end.
/// @param shared  with first, begin and end of every leaf
/// @param v       one of Threads threads
template <int Threads, class Scalar, class Shared, int Places>
KOKKOS_INLINE_FUNCTION void stage_row_begins(const AnyCsrMatrix<Scalar> &A, std::int64_t base, int from, int v, const Shared &shared, std::int32_t (&begin)[32][Places])
{
  for (int k = v; k < 32 * Places; k += Threads) {
    const int leaf = k / Places, r = k - leaf * Places, i = shared.first[leaf] + from + r;
    const int at = i < shared.begin[leaf] ? shared.begin[leaf] : i > shared.end[leaf] ? shared.end[leaf] : i;
    device::async_copy(&begin[leaf][r], A.row_begin.low(base + at));
  }
}

/// Brings the values of runs to scratch, and column indices where these are read: a warp has a run, and a thread what a run has beyond 32 entries.
/// @param v  one of Threads threads
/// @tparam Together  runs whose places are read before the first is asked for
template <int Threads, int Together, class Scalar, int Places, int Entries>
KOKKOS_INLINE_FUNCTION void stage_runs(const AnyCsrMatrix<Scalar> &A, std::int64_t first_entry, const LeafRun (&runs)[32], int v, Scalar (&value)[32][Places], std::int32_t (&column)[32][Entries])
{
  constexpr int warp = 32, leaves = 32;
  const int     e    = v % warp;
  const Scalar *from = A.value + first_entry;
  RIBBON_NO_UNROLL
  for (int first = v / warp * Together; first < leaves; first += Threads / warp * Together) {
    LeafRun run[Together];
    int     columns = 0;
    RIBBON_UNROLL
    for (int k = 0; k < Together; ++k) run[k] = runs[first + k], columns += run[k].columns;
    RIBBON_UNROLL
    for (int k = 0; k < Together; ++k)
      if (e < run[k].count) device::async_copy(&value[first + k][e], from + run[k].first + e);
    if (columns == 0) continue;
    RIBBON_NO_UNROLL
    for (int k = 0; k < Together; ++k) {
      const LeafRun at = runs[first + k];
      for (int more = e; more < at.columns; more += warp) device::async_copy(&column[first + k][more], A.column.low(first_entry + at.first + more));
    }
  }
  if constexpr (Entries > warp) {
    const LeafRun at = runs[e];
    RIBBON_UNROLL
    for (int k = warp; k < Entries; ++k)
      if (v < leaves && k < at.count) device::async_copy(&value[e][k], from + at.first + k);
  }
}

} // namespace ribbon::multifrontal

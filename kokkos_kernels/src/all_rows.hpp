// SPDX-License-Identifier: BSD-2-Clause
/// @file all_rows.hpp  Bands for algorithms that do not support repeated rows or classes.
#pragma once

#include <ribbon/algorithm/partition/kernels.hpp>

namespace ribbon::detail {

/// Bands that store every row (Bands::repeats == 1) and, if requested, classes as one matrix per line.
/// Entries outside a matrix that is not periodic are kept: they may be couplings.
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space>
all_rows(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, bool per_line = false)
{
  using Memory      = typename Exec::memory_space;
  using Cut         = typename PartitionKernels<Scalar, Memory>::CutKernel;
  auto         from = bands, all = bands;
  PartitionCut whole;
  // A and B of shifted matrices are copied as two matrices; no entry is outside
  from.lhs = Lhs::per_line, from.periodic = true;
  if (per_line) all.lhs = Lhs::per_line, all.class_of_line = {};
  whole.rows = whole.piece = bands.rows(),
  whole.lines  = static_cast<std::int64_t>(per_line ? bands.class_of_line.extent(0) : bands.values.extent(0)),
  whole.pieces = 1, whole.K = 0;
  all.repeats = 1;
  all.values  = allocate<decltype(all.values)>(exec, "ribbon::bands", static_cast<std::size_t>(whole.lines),
                                              static_cast<std::size_t>(whole.rows), bands.values.extent(2));
  Cut kernel{{BandEntries<Scalar, Memory>(from), false}, whole, all.values, whole.rows, false, false};
  if (per_line) kernel.class_of_line = bands.class_of_line;
  Kokkos::parallel_for(
    "ribbon::partition::cut",
    Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, whole.lines * whole.rows), kernel);
  return all;
}

} // namespace ribbon::detail

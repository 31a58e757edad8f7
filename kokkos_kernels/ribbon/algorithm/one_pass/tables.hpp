// SPDX-License-Identifier: BSD-2-Clause
/// @file tables.hpp  The tables of a one-pass solver, for kernels that are compiled elsewhere.
#pragma once

#include <ribbon/algorithm/one_pass/shape.hpp>

#include <vector>

namespace ribbon {

/// Factors of plain elimination for bands of half-bandwidth `reach` (1 or 2), as words. The views are shared
/// with the solver.
template <class Scalar, class Memory>
struct OnePassTables {
  using Words = Kokkos::View<Scalar *, Memory>;
  OnePassShape        shape;
  int                 reach   = 0;
  std::size_t         classes = 1;
  Words               blocks;  ///< ChunkBlock (class, chunk)
  Words               inverse; ///< of the reduced system
  std::vector<Scalar> regular; ///< the ChunkBlock of the chunks [regular_begin, regular_end)
  int                 regular_begin = 0, regular_end = 0;
  bool                correct = false; ///< one step of iterative refinement of the reduced system
};

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file known_rows.hpp  Rows beside lines that are pieces of longer ones, whose unknowns are known when the pieces are solved.
#pragma once

#include <ribbon/line_set.hpp>

namespace ribbon {

/// The unknowns around line s, in an array that has those of all boundaries of a longer line one after another: u = 0, 1, ... after the line,
/// u = -1, -2, ... before it, at lines.begin(s) + u lines.row_stride. As many as the rows of a kernel reach on either side can be read.
template <class Scalar>
struct KnownRows {
  const Scalar *values = nullptr; ///< null: lines end where they end
  LineSet       lines;            ///< rows and components are not used
  int           stored = 0;       ///< so many unknowns after each line are written behind its solution

  KOKKOS_INLINE_FUNCTION const Scalar *place(std::int64_t line, int u) const { return values + (lines.begin(line) + u * lines.row_stride); }
};

} // namespace ribbon

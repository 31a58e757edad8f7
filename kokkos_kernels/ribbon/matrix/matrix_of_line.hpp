// SPDX-License-Identifier: BSD-2-Clause
/// @file matrix_of_line.hpp  The matrix of each line of a solve.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// Maps the lines [first, ...) of the factored lines, or several times all of them (more right-hand sides),
/// to matrices.
struct MatrixOfLine {
  const int   *class_of_line; ///< from line `first` on, in kernel memory; null: one matrix, or one per line
  std::int64_t matrices, first, lines; ///< lines: count of factored lines

  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t line) const
  {
    return matrices == 1 ? 0 : class_of_line ? class_of_line[line % lines] : (first + line) % lines;
  }
};

} // namespace ribbon

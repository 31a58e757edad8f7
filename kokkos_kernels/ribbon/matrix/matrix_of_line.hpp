// SPDX-License-Identifier: BSD-2-Clause
/// @file matrix_of_line.hpp  Which matrix a line of a solve has.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// Lines [first, ...) of those that were factored, or several times all of them (more right-hand sides).
struct MatrixOfLine {
  const int   *class_of_line; ///< from line `first` on, where kernels run; null: one matrix, or one per line
  std::int64_t matrices, first, lines; ///< lines: that were factored

  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t line) const
  {
    return matrices == 1 ? 0 : class_of_line ? class_of_line[line % lines] : (first + line) % lines;
  }
};

} // namespace ribbon

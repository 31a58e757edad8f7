// SPDX-License-Identifier: BSD-2-Clause
/// @file line_matrices.hpp  Rows of the matrix of a line, for kernels that eliminate in flight: one matrix
///   per line, or alpha_l A + beta_l B.
#pragma once

#include <ribbon/bands.hpp>

namespace ribbon {

/// One matrix per line, with the line index fastest.
template <class Scalar, int K>
struct OwnMatrices {
  static constexpr bool from_memory = true; ///< rows should be prefetched
  const Scalar         *values;             ///< entry (line, i, d) at line + lines (i + rows d)
  std::int64_t          lines, rows;
  int                   lower, upper;

  struct Line {
    const Scalar *at;
    std::int64_t  row_step, diagonal_step;
    int           lower, upper;
    /// a[d + K] = entry at distance d of row `begin` + k, zero outside the bands; entries outside the
    /// matrix have their stored values.
    KOKKOS_FUNCTION void row(int k, Scalar (&a)[2 * K + 1]) const
    {
      for (int d = -K; d <= K; ++d)
        a[d + K] = d < -lower || d > upper
                     ? Scalar(0)
                     : read_only_scalar(at + k * row_step + (d + lower) * diagonal_step);
    }
    /// Whether `count` rows from k on can be processed together.
    KOKKOS_FUNCTION bool agree(int, int) const { return true; }
  };
  KOKKOS_FUNCTION Line line(std::int64_t l, std::int64_t begin) const
  {
    return {values + (l < lines ? l : l % lines) + begin * lines, lines, lines * rows, lower, upper};
  }
};

/// alpha_l A + beta_l B. If A and B have one stencil each except for a few rows at their ends, the rows
/// between are formed once per line.
template <class Scalar, int K>
struct ShiftedMatrices {
  static constexpr bool from_memory = false;
  const Scalar         *values; ///< A and B interleaved: entry (c, i, d) at c + 2 (i + rows d)
  const Scalar         *alpha, *beta;
  std::int64_t          lines, rows;
  int                   lower, upper;
  std::int64_t          equal_begin = 0, equal_end = 0; ///< rows that equal the middle one

  struct Line {
    const Scalar               *values; ///< of row `begin`
    std::int64_t                rows;
    int                         first, last; ///< of the equal rows, from `begin` on
    Scalar                      alpha, beta;
    int                         lower, upper;
    Scalar                      equal[2 * K + 1] = {}; ///< their entries
    KOKKOS_INLINE_FUNCTION void form(int k, Scalar (&a)[2 * K + 1]) const
    {
      for (int d = -K; d <= K; ++d) {
        const Scalar *at = values + 2 * (k + (d + lower) * rows);
        a[d + K]         = d < -lower || d > upper ? Scalar(0)
                                                   : alpha * read_only_scalar(at) + beta * read_only_scalar(at + 1);
      }
    }
    KOKKOS_FUNCTION void row(int k, Scalar (&a)[2 * K + 1]) const
    {
      if (agree(k, 1))
        for (int d = 0; d <= 2 * K; ++d) a[d] = equal[d];
      else form(k, a);
    }
    KOKKOS_FUNCTION bool agree(int k, int count) const { return k >= first && k + count <= last; }
  };
  KOKKOS_FUNCTION Line line(std::int64_t l, std::int64_t begin) const
  {
    const std::int64_t m = l < lines ? l : l % lines;
    Line               line;
    line.values = values + 2 * begin, line.rows = rows, line.lower = lower, line.upper = upper;
    line.alpha = alpha[m], line.beta = beta[m];
    line.first = static_cast<int>(equal_begin - begin), line.last = static_cast<int>(equal_end - begin);
    // the middle row has no entries outside the matrix
    if (equal_begin < equal_end) line.form(static_cast<int>(rows / 2 - begin), line.equal);
    return line;
  }
};

/// One matrix per line, with the line index fastest, or two for alpha_l A + beta_l B.
template <class Scalar>
struct MatricesInFlight {
  /// entry (line, i, e) at line + lines (i + rows e); of A and B at c + 2 (i + rows e)
  const Scalar *values;
  const Scalar *alpha = nullptr, *beta = nullptr; ///< null: one matrix per line
  std::int64_t  lines, rows;
  int           lower, upper;
};

} // namespace ribbon

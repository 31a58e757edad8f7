// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_parts.hpp  A sub-line as kernels see it: its rows, spikes V and W, and couplings to separators.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// A sub-line of m rows of every line: n interior rows, then K separators if the line continues to the
/// right. S = K B unknowns are a group of separators.
struct CutPiece {
  std::int64_t m = 0, lines = 0;
  int          K = 1, B = 1;
  bool         left = false, right = false; ///< the line continues there

  KOKKOS_INLINE_FUNCTION int S() const { return K * B; }
  KOKKOS_INLINE_FUNCTION std::int64_t n() const { return right ? m - K : m; }
  /// The interiors of the sub-lines `set`.
  LineSet inside(LineSet set) const
  {
    set.rows = n();
    return set;
  }
};

/// Data that the kernels of a sub-line read.
template <class Scalar, class Memory>
struct CutParts {
  using Values = typename Bands<Scalar, Memory>::values_type;
  using Words  = Kokkos::View<Scalar *, Memory>;
  using Real   = real_t<Scalar>;

  /// Entries of the sub-lines, including those in columns of other sub-lines. Columns -K .. -1 are the
  /// separators left of the sub-line, m .. m + K - 1 are the first rows right of it.
  struct Matrix {
    Values                      values;
    Kokkos::View<int *, Memory> class_of_line; ///< empty: one matrix, or one per line
    std::int64_t                lines = 0;
    int                         kl = 0, ku = 0, B = 1;
    KOKKOS_INLINE_FUNCTION std::int64_t of(std::int64_t line) const
    {
      const std::int64_t l = line % lines;
      return class_of_line.extent(0) ? class_of_line(l) : values.extent(0) == 1 ? 0 : l;
    }
    KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t c, std::int64_t i, std::int64_t j, int a,
                                             int b) const
    {
      const std::int64_t d = j - i;
      return d < -kl || d > ku ? Scalar(0) : values(c, i, ((d + kl) * B + a) * B + b);
    }
  };

  /// V and W up to the rows in which they have decayed.
  struct Spikes {
    Words                         V, W;
    std::int64_t                  left_rows = 0, right_rows = 0, n = 0, matrices = 1;
    int                           B = 1, S = 1;
    KOKKOS_INLINE_FUNCTION Scalar v(std::int64_t c, std::int64_t i, int a, int s) const
    {
      return i < left_rows ? V(((i * B + a) * S + s) * matrices + c) : Scalar(0);
    }
    KOKKOS_INLINE_FUNCTION Scalar w(std::int64_t c, std::int64_t i, int a, int s) const
    {
      return n - i <= right_rows ? W((((i - n + right_rows) * B + a) * S + s) * matrices + c) : Scalar(0);
    }
  };

  /// A sub-line and all couplings of its rows and of the separators left of it.
  struct Parts {
    CutPiece piece;
    Matrix   A;
    Spikes   spikes;
    /// couplings of the separators left of the sub-line to its first K rows: word (a S + e) us_count + line
    Words        Us;
    std::int64_t us_count = 1; ///< 1 or the number of lines

    KOKKOS_INLINE_FUNCTION Scalar us(std::int64_t line, int a, int e) const
    {
      return Us((static_cast<std::int64_t>(a) * piece.S() + e) * us_count +
                (us_count == 1 ? 0 : line % piece.lines));
    }
    /// Coupling of separator a to unknown e of the K rows before the separators. Rows left of the sub-line
    /// are separators themselves.
    KOKKOS_INLINE_FUNCTION Scalar ls(std::int64_t c, int a, int e) const
    {
      return A(c, piece.n() + a / piece.B, piece.n() - piece.K + e / piece.B, a % piece.B, e % piece.B);
    }
  };
};

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file input.hpp  Right-hand sides of the one-pass kernel: vectors, or products B u of banded matrices that
///   are formed while the forward sweep runs.
///
/// Row r of B u needs u from row r - W to row r + W. A chunk has a window of 2 W + 1 values in registers. W
/// values beyond either end of the chunk belong to other chunks. They come from memory, where other threads
/// of the team read the same cache lines, or from the scratch of contiguous lines. No thread writes rows of
/// the line to memory before all have finished the forward sweep, so u and y may be the same vector.
#pragma once

#include <ribbon/elimination/chunk.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// Right-hand sides as they are.
struct GivenRows {
  static constexpr int product_reach = 0;
  template <class Scheme, int slots>
  using Block = ChunkBlock<Scheme, slots>;
  struct Halo { };
  struct Window { };
};

/// The coefficients of a chunk, with its rows of B.
template <class Scheme, int slots, class Row>
struct ProductBlock {
  using Chunk                        = ChunkBlock<Scheme, slots>;
  using Backward                     = typename Chunk::Backward;
  static constexpr int rows          = Chunk::rows;
  static constexpr int forward_words = Chunk::forward_words;
  struct Forward : Chunk::Forward {
    Row product[rows];
  };
  Forward  forward;
  Backward backward;
};

/// y = alpha A^-1 B u + beta v with B of half-bandwidth up to W.
template <class Scalar, int W>
struct ProductRows {
  static constexpr int product_reach = W;
  /// Coefficients of a row of B, from the diagonal -W to W. 16-byte aligned for wide loads.
  struct alignas(16) Row {
    Scalar c[2 * W + 1] = {};
  };
  template <class Scheme, int slots>
  using Block = ProductBlock<Scheme, slots, Row>;
  /// u before and behind a chunk.
  struct Halo {
    Scalar before[W], behind[W];
  };

  struct Product {
    Scalar        stencil[2 * W + 1]; ///< of the regular chunks
    Scalar        alpha, beta;
    const Scalar *v;     ///< read if beta is not zero
    LineSet       lines; ///< of v

    /// x = alpha x + beta v at a row; `term` moves to the row before it.
    KOKKOS_INLINE_FUNCTION void finish(const Scalar *&term, Scalar &x) const
    {
      x *= alpha;
      if (beta == Scalar(0)) return;
      add_product(x, beta, *term);
      term -= lines.row_stride;
    }
  } product;

  /// u from row r - W to row r + W.
  struct Window {
    Scalar                        u[2 * W + 1];
    KOKKOS_INLINE_FUNCTION Scalar times(const Scalar (&b)[2 * W + 1]) const
    {
      Scalar sum(0);
      for (int d = 0; d <= 2 * W; ++d) add_product(sum, b[d], u[d]);
      return sum;
    }
    /// Moves to the next row; before the first row of a chunk (`keeps`), rows before it stay.
    KOKKOS_INLINE_FUNCTION void move(bool keeps)
    {
      for (int d = 0; d < W; ++d)
        if (!keeps) u[d] = u[d + 1];
      for (int d = W; d < 2 * W; ++d) u[d] = u[d + 1];
    }
  };

  /// Reads the rows beyond the ends of a chunk of rows [begin, end) of a line of n rows; zero outside an open
  /// line. row(r) reads row r.
  template <class Row>
  KOKKOS_INLINE_FUNCTION static void read_halo(int begin, int end, int n, bool ring, const Row &row,
                                               Halo &halo)
  {
    RIBBON_UNROLL
    for (int j = 0; j < W; ++j) {
      const int before = begin - W + j, behind = end + j;
      halo.before[j] = before >= 0 ? row(before) : ring ? row(before + n) : Scalar(0);
      halo.behind[j] = behind < n ? row(behind) : ring ? row(behind - n) : Scalar(0);
    }
  }
};

} // namespace ribbon

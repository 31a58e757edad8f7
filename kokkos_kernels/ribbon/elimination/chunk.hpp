// SPDX-License-Identifier: BSD-2-Clause
/// @file chunk.hpp  The two sweeps over a chunk of rows, for every algorithm, and their coefficients: plain
///   elimination.
///
/// A chunk is a run of consecutive rows of one line. A row holds B unknowns (1 for band matrices) and
/// couples with K rows on either side. The last K rows of a chunk are its separators (S = K B unknowns),
/// the rows before them its interior A. zl are the separators to the left of the chunk, zr those of the
/// chunk. With the elimination A = (L^-1)^-1 U of the interior,
///
///     forward    g_k = inv_k f_k + sum_q L_kq g_(k-1-q)              while f arrives,
///                y_first = sum_k D_k f_k                             (D: first K rows of A^-1),
///     backward   x_k = g_k - H_k zl + sum_q U_kq x_(k+1+q)           started from x = zr, while x is stored.
///
/// The separators of all chunks of a line form the reduced system R z = r (see reduced.hpp). A scheme is a
/// way to eliminate a chunk. The other scheme is in orthogonal.hpp.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// Elimination without pivoting between rows, but with pivoting inside the B x B pivots. All tables are
/// row-major. Coefficients are stored in the order of the members.
template <class Scalar_, int K, int B = 1>
struct PlainScheme {
  using Scalar                        = Scalar_;
  static constexpr int block          = B;     ///< unknowns of a row
  static constexpr int separators     = K * B; ///< unknowns between two chunks
  static constexpr int separator_rows = K;     ///< rows at the end of a chunk whose unknowns are separators
  /// rows between the arrival of f_k and the row whose g it completes
  static constexpr int delay = 0;
  /// row k of the chunk's unknowns is row k + shift of the line
  static constexpr int shift = 0;
  /// chunks contribute to the equations of their left neighbour
  static constexpr bool couples_left = true;
  static constexpr bool always_ring  = false; ///< the reduced system is a ring even for open lines
  static constexpr int  S            = separators;

  /// Rows of a chunk of `rows` rows that have forward coefficients.
  KOKKOS_INLINE_FUNCTION static constexpr int forward_rows(int rows) { return rows - K; }

  /// Coefficients of one row in the forward sweep. 16-byte aligned: a row is read in wide loads.
  struct alignas(16) Forward {
    Scalar               inv[B * B], L[K * B * B], D[S * B];
    static constexpr int words = B * B + K * B * B + S * B;
  };
  /// Coefficients of one row in the backward sweep.
  struct alignas(16) Backward {
    Scalar               U[K * B * B], H[B * S];
    static constexpr int words = 2 * B * S;
  };
  /// Couplings of separators to interiors.
  struct alignas(16) Edge {
    Scalar Lg[S * S]; ///< separators of the chunk <- last K values of g, newest first
    /// separators of the chunk to the left <- first K interior rows of this chunk
    Scalar               Us[S * S];
    static constexpr int words = 2 * S * S;
  };

  /// The last K rows of a recurrence, newest first, in registers.
  struct Window {
    Scalar                      v[S] = {};
    KOKKOS_INLINE_FUNCTION void push(const Scalar (&a)[B])
    {
      for (int q = S - 1; q >= B; --q) v[q] = v[q - B];
      for (int c = 0; c < B; ++c) v[c] = a[c];
    }
  };
  /// State of the forward sweep.
  struct Sweep {
    Window g;
    Scalar y_first[S] = {};
  };

  /// One row of the forward sweep: computes g = g_k and advances the sweep by a row.
  KOKKOS_INLINE_FUNCTION static void forward(const Forward &row, const Scalar (&f)[B], Sweep &s,
                                             Scalar (&g)[B])
  {
    for (int a = 0; a < B; ++a) {
      g[a] = row.inv[a * B] * f[0];
      for (int b = 1; b < B; ++b) add_product(g[a], row.inv[a * B + b], f[b]);
    }
    for (int e = 0; e < S; ++e)
      for (int b = 0; b < B; ++b) add_product(s.y_first[e], row.D[e * B + b], f[b]);
    for (int q = K - 1; q >= 0; --q) // the newest term last: the next row waits for one operation only
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b) add_product(g[a], row.L[(q * B + a) * B + b], s.g.v[q * B + b]);
    s.g.push(g);
  }

  /// Contributions of a finished forward sweep to the reduced right-hand sides: own = f_sep - Lg g for the
  /// separators of the chunk, left = Us y_first to be subtracted from those of its left neighbour.
  KOKKOS_INLINE_FUNCTION static void finish(const Edge &edge, const Sweep &s, const Scalar (&f_sep)[S],
                                            Scalar (&own)[S], Scalar (&left)[S])
  {
    for (int a = 0; a < S; ++a) {
      own[a]  = f_sep[a];
      left[a] = Scalar(0);
      for (int q = 0; q < S; ++q) {
        subtract_product(own[a], edge.Lg[a * S + q], s.g.v[q]);
        add_product(left[a], edge.Us[a * S + q], s.y_first[q]);
      }
    }
  }

  /// One row of the backward sweep: computes x = x_k and moves the window of x by a row.
  KOKKOS_INLINE_FUNCTION static void backward(const Backward &row, const Scalar (&g)[B],
                                              const Scalar (&zl)[S], Window &w, Scalar (&x)[B])
  {
    for (int a = 0; a < B; ++a) {
      x[a] = g[a];
      for (int q = 0; q < S; ++q) subtract_product(x[a], row.H[a * S + q], zl[q]);
    }
    for (int q = K - 1; q >= 0; --q)
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b) add_product(x[a], row.U[(q * B + a) * B + b], w.v[q * B + b]);
    w.push(x);
  }

  /// The initial window of a backward sweep: the separators right of the interior.
  KOKKOS_INLINE_FUNCTION static void start(const Scalar (&zr)[S], Window &w)
  {
    for (int e = 0; e < S; ++e) w.v[e] = zr[e];
  }
};

/// All coefficients of a chunk of Slots unknowns. Shorter chunks leave their first rows empty (all zero).
template <class Scheme, int Slots>
struct ChunkBlock {
  static constexpr int rows          = Slots / Scheme::block;
  static constexpr int forward_words = Scheme::Forward::words; ///< of a row
  struct Forward {
    typename Scheme::Forward row[Scheme::forward_rows(rows)];
    typename Scheme::Edge    edge;
  };
  struct Backward {
    typename Scheme::Backward row[rows - Scheme::separator_rows];
  };
  Forward  forward;
  Backward backward;
};

} // namespace ribbon

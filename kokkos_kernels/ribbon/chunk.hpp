// SPDX-License-Identifier: BSD-2-Clause
/// @file chunk.hpp  The two sweeps over a chunk of rows, shared by every algorithm, and the table of numbers that they read.
///
/// A chunk is a run of consecutive rows of one line. Its last P rows (P the half-bandwidth) are its separators, the rows before them its
/// interior A. zl are the separators to the left of the chunk, zr its own. With the elimination A = (L^-1)^-1 U of the interior,
///
///     forward    g_k = inv_k f_k + sum_q L_kq g_(k-1-q)                    while f arrives,
///                y_first = sum_k D_k f_k                                   (D: first P rows of A^-1),
///     backward   x_k = g_k - sum_q H_kq zl_q + sum_q U_kq x_(k+1+q)        started from x = zr, while x leaves.
///
/// The separators of all chunks of a line form the reduced system R z = r (see reduced.hpp).
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// Coefficients of one row in the forward sweep. 16-byte aligned: a row is read in two or three wide loads.
template <class Scalar, int P>
struct alignas(16) ForwardRow {
  Scalar               inv, L[P], D[P];
  static constexpr int words = 1 + 2 * P;
};

/// Coefficients of one row in the backward sweep.
template <class Scalar, int P>
struct alignas(16) BackwardRow {
  Scalar               U[P], H[P];
  static constexpr int words = 2 * P;
};

/// Couplings of a chunk's separators to interiors, row-major P x P.
template <class Scalar, int P>
struct alignas(16) ChunkEdge {
  Scalar Ls[P * P]; ///< own separators <- last P interior rows of this chunk
  Scalar Us[P * P]; ///< separators of the chunk to the left <- first P interior rows of this chunk
  Scalar U_last;    ///< first U of the last but one interior row
};

/// All coefficients of a chunk of Slots rows. Shorter chunks leave their first slots empty (all zero).
template <class Scalar, int P, int Slots>
struct ChunkBlock {
  struct Forward {
    ForwardRow<Scalar, P> row[Slots - P];
    ChunkEdge<Scalar, P>  edge;
  };
  struct Backward {
    BackwardRow<Scalar, P> row[Slots - P];
  };
  Forward  forward;
  Backward backward;
};

/// The last P values of a recurrence, newest first, in registers.
template <class Scalar, int P>
struct Window {
  Scalar                      v[P] = {};
  KOKKOS_INLINE_FUNCTION void push(const Scalar &a)
  {
    for (int q = P - 1; q > 0; --q) v[q] = v[q - 1];
    v[0] = a;
  }
};

/// One row of the forward sweep: returns g_k, updates the window of g and y_first.
template <class Scalar, int P>
KOKKOS_INLINE_FUNCTION Scalar forward_row(const ForwardRow<Scalar, P> &row, const Scalar &f, Window<Scalar, P> &g, Scalar (&y_first)[P])
{
  Scalar v = row.inv * f;
  for (int q = 0; q < P; ++q) y_first[q] += row.D[q] * f;
  for (int q = P - 1; q >= 0; --q) v += row.L[q] * g.v[q]; // the newest last: the next row waits for one operation only
  g.push(v);
  return v;
}

/// One row of the backward sweep: returns x_k, updates the window of x.
template <class Scalar, int P>
KOKKOS_INLINE_FUNCTION Scalar backward_row(const BackwardRow<Scalar, P> &row, const Scalar &g, const Scalar (&zl)[P], Window<Scalar, P> &x)
{
  Scalar v = g;
  for (int q = 0; q < P; ++q) v -= row.H[q] * zl[q];
  for (int q = P - 1; q >= 0; --q) v += row.U[q] * x.v[q]; // the newest last: the next row waits for one operation only
  x.push(v);
  return v;
}

/// Contributions of a finished forward sweep to the reduced right-hand sides: r_own = f_sep - Ls y_last to the chunk's own separators,
/// r_left = Us y_first to be subtracted from its left neighbour's. `last` is the backward row of the last but one interior row.
template <class Scalar, int P>
KOKKOS_INLINE_FUNCTION void reduced_rhs(const ChunkEdge<Scalar, P> &edge, const Window<Scalar, P> &g, const Scalar (&y_first)[P], const Scalar (&f_sep)[P], Scalar (&r_own)[P], Scalar (&r_left)[P])
{
  Scalar y_last[P];
  y_last[P - 1] = g.v[0];
  if constexpr (P == 2) y_last[0] = g.v[1] + edge.U_last * g.v[0];
  for (int a = 0; a < P; ++a) {
    r_own[a]  = f_sep[a];
    r_left[a] = Scalar(0);
    for (int q = 0; q < P; ++q) {
      r_own[a] -= edge.Ls[a * P + q] * y_last[q];
      r_left[a] += edge.Us[a * P + q] * y_first[q];
    }
  }
}

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file orthogonal.hpp  Orthogonal elimination of a chunk: as stable as QR for any matrix, and still one
///   pass.
///
/// Wright, "Stable parallel algorithms for two-point boundary value problems" (SIAM J. Sci. Stat. Comput.
/// 13, 1992): Householder reflections over a sliding window of W + 1 rows, W = kl + ku, eliminate the
/// columns whose entries all lie in one chunk. W equations per chunk remain. The chunk of rows [r, r + m)
/// has the unknowns [r + ku, r + m + ku) of the line. The last W of these are its separators zr: the last
/// kl unknowns of its rows and the first ku of its right neighbour. Window t, one new row a step:
///
///     forward    s = v^H (t_0 .. t_(W-1), scale_k f_k),   g_(k-W) = inv (t_0 - v_0 s),
///                t = (t_1 - v_1 s, ..., scale_k f_k - v_W s)
///     backward   x_k = g_k - H_k zl + sum_q U_kq x_(k+1+q),  started from x = zr.
///
/// The last window is the reduced right-hand side of the chunk: R_lower zl + R_diag zr = t. Open lines have
/// zero couplings in the place where a ring closes. `scale_k` equilibrates rows by powers of two.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// a -= product, where a + rest is the value and `rest` the rounding errors: a compensated sum (Kahan,
/// "Further remarks on reducing truncation errors", Comm. ACM 8, 1965; its two-sum is by Knuth).
template <class Scalar>
KOKKOS_INLINE_FUNCTION void subtract_compensated(Scalar &a, Scalar &rest, const Scalar &product)
{
  const Scalar change = rest - product, sum = a + change, seen = sum - a;
  rest = (a - (sum - seen)) + (change - seen);
  a    = sum;
}

/// For kl = ku = K. Smaller bandwidths are padded with zeros.
template <class Scalar_, int K>
struct OrthogonalScheme {
  using Scalar                         = Scalar_;
  static constexpr int  W              = 2 * K;
  static constexpr int  block          = 1;
  static constexpr int  separators     = W;
  static constexpr int  separator_rows = W;
  static constexpr int  delay          = W;
  static constexpr int  shift          = K;
  static constexpr bool couples_left   = false;
  static constexpr bool always_ring    = true;

  KOKKOS_INLINE_FUNCTION static constexpr int forward_rows(int rows) { return rows; }

  struct alignas(16) Forward {
    Scalar               v[W + 1], inv, scale;
    static constexpr int words = W + 3;
  };
  struct alignas(16) Backward {
    Scalar               U[W], H[W];
    static constexpr int words = 2 * W;
  };
  struct alignas(16) Edge {
    Scalar               unused[16 / sizeof(Scalar)];
    static constexpr int words = 0;
  };
  struct Window {
    Scalar v[W] = {};
  };
  struct Sweep {
    Scalar t[W] = {};
  };

  KOKKOS_INLINE_FUNCTION static void forward(const Forward &row, const Scalar (&f)[1], Sweep &s,
                                             Scalar (&g)[1])
  {
    const Scalar arriving = row.scale * f[0];
    Scalar       dot      = conjugate(row.v[W]) * arriving;
    for (int q = 0; q < W; ++q) add_product(dot, conjugate(row.v[q]), s.t[q]); // t_(W-1), the newest, last
    Scalar window[W + 1];                                                      // with the new row, reflected
    for (int q = 0; q <= W; ++q) {
      window[q] = q < W ? s.t[q] : arriving;
      subtract_product(window[q], row.v[q], dot);
    }
    g[0] = row.inv * window[0];
    for (int q = 0; q < W; ++q) s.t[q] = window[q + 1];
  }
  KOKKOS_INLINE_FUNCTION static void finish(const Edge &, const Sweep &s, const Scalar (&)[W],
                                            Scalar (&own)[W], Scalar (&left)[W])
  {
    for (int q = 0; q < W; ++q) own[q] = s.t[q], left[q] = Scalar(0);
  }
  KOKKOS_INLINE_FUNCTION static void backward(const Backward &row, const Scalar (&g)[1],
                                              const Scalar (&zl)[W], Window &w, Scalar (&x)[1])
  {
    x[0] = g[0];
    for (int q = 0; q < W; ++q) subtract_product(x[0], row.H[q], zl[q]);
    for (int q = W - 1; q >= 0; --q) add_product(x[0], row.U[q], w.v[q]);
    for (int q = W - 1; q > 0; --q) w.v[q] = w.v[q - 1];
    w.v[0] = x[0];
  }
  KOKKOS_INLINE_FUNCTION static void start(const Scalar (&zr)[W], Window &w)
  {
    for (int q = 0; q < W; ++q) w.v[q] = zr[q];
  }
};

} // namespace ribbon

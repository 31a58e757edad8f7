// SPDX-License-Identifier: BSD-2-Clause
/// @file small_solve.hpp  K x K systems with several right-hand sides, in registers.
#pragma once

#include <ribbon/elimination/dense_elimination.hpp>

namespace ribbon {

/// R = A^-1 R by Gauss-Jordan elimination with row pivoting. A is overwritten. This is less work than an
/// inverse and products with it. Inf or NaN if A is singular.
template <class Scalar, int K, int C>
KOKKOS_INLINE_FUNCTION void solve_in_place(Scalar (&A)[K][K], Scalar (&R)[K][C])
{
  RIBBON_UNROLL
  for (int k = 0; k < K; ++k) {
    RIBBON_UNROLL
    for (int i = k + 1; i < K; ++i)
      if (magnitude(A[i][k]) > magnitude(A[k][k])) {
        RIBBON_UNROLL
        for (int j = k; j < K; ++j) swap_values(A[i][j], A[k][j]);
        RIBBON_UNROLL
        for (int c = 0; c < C; ++c) swap_values(R[i][c], R[k][c]);
      }
    const Scalar inv = reciprocal(A[k][k]);
    RIBBON_UNROLL
    for (int j = k + 1; j < K; ++j) A[k][j] *= inv;
    RIBBON_UNROLL
    for (int c = 0; c < C; ++c) R[k][c] *= inv;
    RIBBON_UNROLL
    for (int i = 0; i < K; ++i) {
      if (i == k) continue;
      const Scalar f = A[i][k];
      RIBBON_UNROLL
      for (int j = k + 1; j < K; ++j) subtract_product(A[i][j], f, A[k][j]);
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) subtract_product(R[i][c], f, R[k][c]);
    }
  }
}

} // namespace ribbon

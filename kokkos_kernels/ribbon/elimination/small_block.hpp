// SPDX-License-Identifier: BSD-2-Clause
/// @file small_block.hpp  K x K blocks in registers, inverted with row pivoting.
#pragma once

#include <ribbon/elimination/dense_elimination.hpp>

namespace ribbon {

/// K x K block, row-major.
template <class Scalar, int K>
struct SmallBlock {
  Scalar a[K][K] = {};

  KOKKOS_INLINE_FUNCTION static SmallBlock identity()
  {
    SmallBlock I;
    for (int k = 0; k < K; ++k) I.a[k][k] = Scalar(1);
    return I;
  }
  /// Inverse by Gauss-Jordan elimination; Inf or NaN if the block is singular. All indices are compile-time
  /// constants, as registers of a device require. The pivot row of dense_elimination.hpp is not.
  KOKKOS_INLINE_FUNCTION SmallBlock inverse() const
  {
    return inverse([](const Scalar &, int) {});
  }
  /// Calls see(pivot, k) for every pivot.
  template <class See>
  KOKKOS_INLINE_FUNCTION SmallBlock inverse(const See &see) const
  {
    SmallBlock A = *this, B = identity();
    for (int k = 0; k < K; ++k) {
      for (int i = k + 1; i < K; ++i)
        if (magnitude(A.a[i][k]) > magnitude(A.a[k][k]))
          for (int j = 0; j < K; ++j) swap_values(A.a[i][j], A.a[k][j]), swap_values(B.a[i][j], B.a[k][j]);
      see(A.a[k][k], k);
      const Scalar inv = reciprocal(A.a[k][k]);
      for (int j = 0; j < K; ++j) A.a[k][j] *= inv, B.a[k][j] *= inv;
      for (int i = 0; i < K; ++i) {
        const Scalar f = A.a[i][k];
        for (int j = 0; i != k && j < K; ++j)
          ribbon::subtract_product(A.a[i][j], f, A.a[k][j]),
            ribbon::subtract_product(B.a[i][j], f, B.a[k][j]);
      }
    }
    return B;
  }
  /// Inverts the block in place, which needs half of the registers of inverse(). Calls see(pivot, k) for every pivot.
  template <class See>
  KOKKOS_INLINE_FUNCTION void invert(const See &see)
  {
    int pivot_row[K];
    RIBBON_UNROLL
    for (int k = 0; k < K; ++k) {
      int  row     = k;
      auto largest = magnitude(a[k][k]);
      RIBBON_UNROLL
      for (int i = k + 1; i < K; ++i)
        if (const auto size = magnitude(a[i][k]); size > largest) largest = size, row = i;
      pivot_row[k] = row;
      RIBBON_UNROLL
      for (int i = k + 1; i < K; ++i) RIBBON_UNROLL
      for (int j = 0; j < K; ++j)
        if (row == i) swap_values(a[i][j], a[k][j]);
      see(a[k][k], k);
      const Scalar inv = reciprocal(a[k][k]);
      a[k][k]          = Scalar(1);
      RIBBON_UNROLL
      for (int j = 0; j < K; ++j) a[k][j] *= inv;
      RIBBON_UNROLL
      for (int i = 0; i < K; ++i) {
        if (i == k) continue;
        const Scalar f = a[i][k];
        a[i][k]        = Scalar(0);
        RIBBON_UNROLL
        for (int j = 0; j < K; ++j) ribbon::subtract_product(a[i][j], f, a[k][j]);
      }
    }
    RIBBON_UNROLL
    for (int k = K - 1; k >= 0; --k) RIBBON_UNROLL
    for (int j = k + 1; j < K; ++j) RIBBON_UNROLL
    for (int i = 0; i < K; ++i)
      if (pivot_row[k] == j) swap_values(a[i][j], a[i][k]);
  }
  /// *this -= x y
  KOKKOS_INLINE_FUNCTION void subtract_product(const SmallBlock &x, const SmallBlock &y)
  {
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j)
        for (int k = 0; k < K; ++k) ribbon::subtract_product(a[i][j], x.a[i][k], y.a[k][j]);
  }
  KOKKOS_INLINE_FUNCTION friend SmallBlock operator*(const SmallBlock &x, const SmallBlock &y)
  {
    SmallBlock z;
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j)
        for (int k = 0; k < K; ++k) add_product(z.a[i][j], x.a[i][k], y.a[k][j]);
    return z;
  }
};

/// Unknowns in terms of their neighbours: x = r - l x_left - u x_right.
template <class Scalar, int K>
struct Relation {
  using Block = SmallBlock<Scalar, K>;
  Scalar r[K] = {};
  Block  l, u;

  /// r -= x y
  KOKKOS_INLINE_FUNCTION void subtract_product(const Block &x, const Scalar (&y)[K])
  {
    for (int i = 0; i < K; ++i)
      for (int k = 0; k < K; ++k) ribbon::subtract_product(r[i], x.a[i][k], y[k]);
  }
  /// Solves diag x = r - l x_left - u x_right for x.
  KOKKOS_INLINE_FUNCTION void divide_by(const Block &diag)
  {
    const Block inv  = diag.inverse();
    Scalar      s[K] = {};
    for (int i = 0; i < K; ++i)
      for (int k = 0; k < K; ++k) add_product(s[i], inv.a[i][k], r[k]);
    for (int i = 0; i < K; ++i) r[i] = s[i];
    l = inv * l, u = inv * u;
  }
  /// Substitutes the relations of the neighbours: x in terms of unknowns twice as far away (parallel cyclic
  /// reduction).
  KOKKOS_INLINE_FUNCTION void reduce(const Relation &left, const Relation &right)
  {
    Block diag = Block::identity(), far_l, far_u;
    diag.subtract_product(l, left.u);
    diag.subtract_product(u, right.l);
    subtract_product(l, left.r);
    subtract_product(u, right.r);
    far_l.subtract_product(l, left.l);
    far_u.subtract_product(u, right.u);
    l = far_l, u = far_u;
    divide_by(diag);
  }
  /// For a ring in which x is its neighbour on both sides.
  KOKKOS_INLINE_FUNCTION void close_ring()
  {
    Block diag = Block::identity();
    for (int i = 0; i < K; ++i)
      for (int k = 0; k < K; ++k) diag.a[i][k] += l.a[i][k] + u.a[i][k];
    divide_by(diag);
  }
};

} // namespace ribbon

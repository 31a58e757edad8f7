// SPDX-License-Identifier: BSD-2-Clause
/// @file dense_elimination.hpp  Small dense matrices, in place and with row pivoting: triangular factors
///   and inverse.
///
/// These functions run in kernels, in the precision of the scalar. Dense (elimination.hpp) computes the
/// tables of the host in extended precision. A matrix is a function: at(i, j) returns a reference to its
/// entry. A zero pivot gives Inf or NaN. see(pivot, k) is called for every pivot.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

template <class T>
KOKKOS_INLINE_FUNCTION void swap_values(T &a, T &b)
{
  const T c = a;
  a = b, b = c;
}

/// Swaps the row with the largest entry of column k, at or below the diagonal, to row k. @return the row
/// where it was
template <class At>
KOKKOS_INLINE_FUNCTION int bring_pivot(int n, int k, const At &at)
{
  int p = k;
  for (int i = k + 1; i < n; ++i)
    if (magnitude(at(i, k)) > magnitude(at(p, k))) p = i;
  for (int j = 0; p != k && j < n; ++j) swap_values(at(k, j), at(p, j));
  return p;
}

/// Triangular factors: unit lower, upper with reciprocal pivots. moved(k, p) is called in order: rows k and
/// p were exchanged; k = p if no rows were exchanged.
template <class At, class Moved, class See>
KOKKOS_INLINE_FUNCTION void factor_dense(int n, const At &at, const Moved &moved, const See &see)
{
  using T = std::decay_t<decltype(at(0, 0))>;
  for (int k = 0; k < n; ++k) {
    moved(k, bring_pivot(n, k, at));
    see(at(k, k), k);
    at(k, k) = T(1) / at(k, k);
    for (int i = k + 1; i < n; ++i) {
      at(i, k) *= at(k, k);
      for (int j = k + 1; j < n; ++j) at(i, j) -= at(i, k) * at(k, j);
    }
  }
}

/// Inverse by Gauss-Jordan elimination. @param order  work space of n integers
template <class At, class See>
KOKKOS_INLINE_FUNCTION void invert_dense(int n, const At &at, int *order, const See &see)
{
  using T = std::decay_t<decltype(at(0, 0))>;
  for (int k = 0; k < n; ++k) {
    order[k] = bring_pivot(n, k, at);
    see(at(k, k), k);
    const T inv = T(1) / at(k, k);
    at(k, k)    = T(1);
    for (int j = 0; j < n; ++j) at(k, j) *= inv;
    for (int i = 0; i < n; ++i) {
      const T f = at(i, k);
      if (i == k) continue;
      at(i, k) = T(0);
      for (int j = 0; j < n; ++j) at(i, j) -= f * at(k, j);
    }
  }
  for (int k = n - 1; k >= 0; --k)
    for (int i = 0; order[k] != k && i < n; ++i) swap_values(at(i, k), at(i, order[k]));
}

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file small_dense.hpp  A small dense matrix on the host: triangular factors and inverse.
#pragma once

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

namespace ribbon {

/// Small dense matrix, row-major.
template <class Wide>
struct Dense {
  int               n = 0, m = 0;
  std::vector<Wide> a;
  Dense() = default;
  Dense(int rows, int cols)
      : n(rows), m(cols), a(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), Wide(0))
  {
  }
  Wide &operator()(int i, int j)
  {
    return a[static_cast<std::size_t>(i) * static_cast<std::size_t>(m) + static_cast<std::size_t>(j)];
  }
  const Wide &operator()(int i, int j) const
  {
    return a[static_cast<std::size_t>(i) * static_cast<std::size_t>(m) + static_cast<std::size_t>(j)];
  }

  /// Replaces a square matrix by its triangular factors: unit lower, upper with reciprocal pivots. @return
  /// the order of the rows
  std::vector<int> factor()
  {
    Dense           &A = *this;
    std::vector<int> order(static_cast<std::size_t>(n));
    for (int k = 0; k < n; ++k) order[static_cast<std::size_t>(k)] = k;
    for (int k = 0; k < n; ++k) {
      int p = k;
      for (int i = k + 1; i < n; ++i)
        if (std::abs(A(i, k)) > std::abs(A(p, k))) p = i;
      for (int j = 0; p != k && j < n; ++j) std::swap(A(k, j), A(p, j));
      std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(p)]);
      A(k, k) = Wide(1) / A(k, k);
      for (int i = k + 1; i < n; ++i) {
        A(i, k) *= A(k, k);
        for (int j = k + 1; j < n; ++j) A(i, j) -= A(i, k) * A(k, j);
      }
    }
    return order;
  }

  /// Inverse by Gauss-Jordan elimination with row pivoting. see(pivot, row) is called for every pivot;
  /// their product is the determinant. A zero pivot gives Inf or NaN.
  template <class See>
  Dense inverse(const See &see) const
  {
    Dense A = *this, B(n, n);
    for (int i = 0; i < n; ++i) B(i, i) = Wide(1);
    for (int k = 0; k < n; ++k) {
      int p = k;
      for (int i = k + 1; i < n; ++i)
        if (std::abs(A(i, k)) > std::abs(A(p, k))) p = i;
      for (int j = 0; p != k && j < n; ++j) std::swap(A(k, j), A(p, j)), std::swap(B(k, j), B(p, j));
      see(p == k ? A(k, k) : -A(k, k), k);
      const Wide inv = Wide(1) / A(k, k);
      for (int j = 0; j < n; ++j) A(k, j) *= inv, B(k, j) *= inv;
      for (int i = 0; i < n; ++i) {
        const Wide f = A(i, k);
        if (i == k || f == Wide(0)) continue;
        for (int j = k; j < n; ++j) A(i, j) -= f * A(k, j);
        for (int j = 0; j < n; ++j) B(i, j) -= f * B(k, j);
      }
    }
    return B;
  }
};

} // namespace ribbon

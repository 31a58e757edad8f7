// SPDX-License-Identifier: BSD-2-Clause
/// @file elimination.hpp  Host side of a factorization: elimination of chunks and of the reduced system, in extended precision.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/chunk.hpp>

#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

namespace ribbon {

/// Extended-precision companion of a scalar: tables are computed in it and rounded once.
template <class Scalar>
struct WideOf {
  using type = long double;
};
template <class Real>
struct WideOf<Kokkos::complex<Real>> {
  using type = std::complex<long double>;
};
template <class Scalar>
using wide_t = typename WideOf<Scalar>::type;

template <class Scalar, class Wide>
Scalar narrow(const Wide &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return static_cast<Scalar>(a);
  else return Scalar(static_cast<real_t<Scalar>>(a.real()), static_cast<real_t<Scalar>>(a.imag()));
}

/// One banded matrix on the host, as an entry function with the conventions of Bands.
template <class Scalar, int P>
struct HostMatrix {
  using Wide = wide_t<Scalar>;
  std::vector<Scalar> values; ///< (row, diagonal), diagonal fastest
  int                 rows     = 0;
  bool                periodic = false;

  /// Entry (i, i + d), |d| <= P, zero outside a matrix that is not periodic.
  Wide operator()(int i, int d) const
  {
    if (!periodic && (i + d < 0 || i + d >= rows)) return Wide(0);
    const Scalar a = values[static_cast<std::size_t>(i) * (2 * P + 1) + static_cast<std::size_t>(d + P)];
    if constexpr (std::is_floating_point_v<Scalar>) return Wide(a);
    else return Wide(a.real(), a.imag());
  }
  long double row_max(int i) const
  {
    long double m = 0;
    for (int d = -P; d <= P; ++d) {
      const long double a = std::abs((*this)(i, d));
      if (!(a <= m)) m = a; // keeps NaN
    }
    return m;
  }
};

/// Smallest pivot met, relative to the largest entry of its row.
struct PivotWatch {
  long double smallest   = std::numeric_limits<long double>::infinity();
  int         row        = -1;
  bool        not_finite = false;

  void see(long double pivot, long double scale, int at)
  {
    if (smallest == 0) return; // what follows a zero pivot is infinite because of it
    if (!(pivot - pivot == 0) || !(scale - scale == 0)) {
      if (!not_finite) row = at;
      not_finite = true;
      return;
    }
    const long double relative = scale > 0 ? pivot / scale : 0;
    if (!not_finite && relative < smallest) smallest = relative, row = at;
  }
};

/// Small dense matrix, row-major.
template <class Wide>
struct Dense {
  int               n = 0, m = 0;
  std::vector<Wide> a;
  Dense() = default;
  Dense(int rows, int cols) : n(rows), m(cols), a(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), Wide(0)) { }
  Wide       &operator()(int i, int j) { return a[static_cast<std::size_t>(i) * static_cast<std::size_t>(m) + static_cast<std::size_t>(j)]; }
  const Wide &operator()(int i, int j) const { return a[static_cast<std::size_t>(i) * static_cast<std::size_t>(m) + static_cast<std::size_t>(j)]; }

  /// Inverse by Gauss-Jordan elimination with row pivoting. `see(|pivot|, row)` is told of every pivot; a zero pivot gives Inf or NaN.
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
      see(std::abs(A(k, k)), k);
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

/// Elimination of the chunk of rows [begin, begin + length) of a matrix, `separators` (0 or P) of them at its end.
template <class Scalar, int P>
struct ChunkElimination {
  using Wide = wide_t<Scalar>;
  using Edge = Dense<Wide>;
  std::vector<Wide> inv, L, U, H, D; ///< per interior row: 1, P, P, P, P numbers (see chunk.hpp)
  Edge              Ls{P, P}, Us{P, P};
  Edge              left_first{P, P}, left_last{P, P};   ///< first and last P rows of A^-1 (left couplings)
  Edge              right_first{P, P}, right_last{P, P}; ///< first and last P rows of A^-1 (couplings to the own separators)

  /// `at` maps a row that may lie outside [0, rows) of a periodic matrix into it.
  ChunkElimination(const HostMatrix<Scalar, P> &A, int begin, int length, int separators, PivotWatch &watch)
  {
    const int m = length - separators;
    auto      u = [&](int i, int q) -> Wide      &{ return U[static_cast<std::size_t>(i * P + q)]; };
    auto      l = [&](int i, int q) -> Wide      &{ return L[static_cast<std::size_t>(i * P + q)]; };
    auto      h = [&](int i, int q) -> Wide      &{ return H[static_cast<std::size_t>(i * P + q)]; };
    inv.assign(static_cast<std::size_t>(m), Wide(0));
    for (auto *v : {&L, &U, &H, &D}) v->assign(static_cast<std::size_t>(m * P), Wide(0));
    // rows are scaled by the pivots: row i reads x_i - U_i0 x_(i+1) - U_i1 x_(i+2) = g_i
    for (int i = 0; i < m; ++i) {
      Wide a[2 * P + 1]; // entries i-P .. i+P of the row being eliminated
      for (int d = -P; d <= P; ++d) a[d + P] = i + d < 0 || i + d >= length ? Wide(0) : A(begin + i, d);
      Wide multiplier[P] = {}; // multiplier[q] belongs to row i - 1 - q
      for (int q = P - 1; q >= 0; --q) {
        const int k = i - 1 - q;
        if (k < 0) continue;
        multiplier[q] = a[P - 1 - q];
        for (int p = 0; p < P; ++p) a[P - 1 - q + 1 + p] += multiplier[q] * u(k, p);
      }
      watch.see(std::abs(a[P]), A.row_max(begin + i), begin + i);
      const Wide scale                 = Wide(1) / a[P];
      inv[static_cast<std::size_t>(i)] = scale;
      for (int q = 0; q < P; ++q) {
        l(i, q) = -multiplier[q] * scale;
        u(i, q) = -a[P + 1 + q] * scale;
      }
    }
    // H = L^-1 (couplings to the left separators): entry (i, q) sits at distance q - P - i
    for (int q = 0; q < P; ++q)
      for (int i = 0; i < m; ++i) {
        Wide v = i <= q ? inv[static_cast<std::size_t>(i)] * A(begin + i, q - P - i) : Wide(0);
        for (int p = 0; p < P && i - 1 - p >= 0; ++p) v += l(i, p) * h(i - 1 - p, q);
        h(i, q) = v;
      }
    // D: rows 0..P-1 of A^-1, by solving with the transpose of the factors
    std::vector<Wide> y(static_cast<std::size_t>(m));
    for (int q = 0; q < P && q < m; ++q) {
      for (int i = 0; i < m; ++i) {
        Wide v = i == q ? Wide(1) : Wide(0);
        for (int p = 0; p < P && i - 1 - p >= 0; ++p) v += u(i - 1 - p, p) * y[static_cast<std::size_t>(i - 1 - p)];
        y[static_cast<std::size_t>(i)] = v;
      }
      for (int i = m - 1; i >= 0; --i)
        for (int p = 0; p < P && i + 1 + p < m; ++p) y[static_cast<std::size_t>(i)] += l(i + 1 + p, p) * y[static_cast<std::size_t>(i + 1 + p)];
      for (int i = 0; i < m; ++i) D[static_cast<std::size_t>(i * P + q)] = inv[static_cast<std::size_t>(i)] * y[static_cast<std::size_t>(i)];
    }
    if (separators == 0) return;
    // W = A^-1 (left couplings, couplings to the own separators)
    for (int side = 0; side < 2; ++side)
      for (int q = 0; q < P; ++q) {
        Window<Wide, P> x; // columns m, m + 1: the unit separator on the right side
        if (side == 1)
          for (int p = 0; p < P; ++p) x.v[p] = Wide(p == q ? 1 : 0);
        for (int i = m - 1; i >= 0; --i) {
          Wide v = side == 0 ? h(i, q) : Wide(0);
          for (int p = 0; p < P; ++p) v += u(i, p) * x.v[p];
          x.push(v);
          const Wide w = side == 0 ? v : -v;
          if (i < P) (side == 0 ? left_first : right_first)(i, q) = w;
          if (i >= m - P) (side == 0 ? left_last : right_last)(i - (m - P), q) = w;
        }
      }
    const int n = A.rows;
    for (int a = 0; a < P; ++a)
      for (int q = 0; q < P; ++q) {
        const int dl = (q - P) - a, dr = q + P - a; // distance to the last interior rows / to the next chunk's first ones
        Ls(a, q)      = -dl <= P ? A(begin + m + a, dl) : Wide(0);
        const int row = begin - P + a;
        Us(a, q)      = dr <= P && (A.periodic || row >= 0) ? A((row + n) % n, dr) : Wide(0);
      }
  }
};

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file host_matrix.hpp  A band or block tridiagonal matrix on the host, read in extended precision.
#pragma once

#include <ribbon/bands.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

namespace ribbon {

/// Extended-precision type of a scalar: tables are computed in it and rounded once.
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

template <class Scalar>
wide_t<Scalar> widen(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return wide_t<Scalar>(a);
  else return wide_t<Scalar>(a.real(), a.imag());
}

/// One band or block tridiagonal matrix on the host, as an entry function with the conventions of Bands.
template <class Scalar>
struct HostMatrix {
  using Wide = wide_t<Scalar>;
  std::vector<Scalar> values; ///< (row, diagonal, a, b), b fastest
  int                 rows = 0, lower = 0, upper = 0, block = 1;
  bool                periodic = false;
  /// part of a longer matrix: entries outside it couple with adjacent rows
  bool continued = false;

  int         reach() const { return std::max(lower, upper); }
  std::size_t at(int i, int d, int a = 0, int b = 0) const
  {
    const std::size_t B     = static_cast<std::size_t>(block),
                      width = static_cast<std::size_t>(lower + upper + 1);
    return ((static_cast<std::size_t>(i) * width + static_cast<std::size_t>(d + lower)) * B +
            static_cast<std::size_t>(a)) *
             B +
           static_cast<std::size_t>(b);
  }
  /// Entry (i, i + d), zero beyond the bands and outside a matrix that is neither periodic nor continued.
  Wide operator()(int i, int d, int a = 0, int b = 0) const
  {
    if (d < -lower || d > upper || (!periodic && !continued && (i + d < 0 || i + d >= rows))) return Wide(0);
    return widen(values[at(i, d, a, b)]);
  }
  /// Whether rows are equal except for a few at the ends.
  bool has_constant_stencil() const
  {
    const int  ends  = 2 * reach();
    const auto width = static_cast<std::ptrdiff_t>((lower + upper + 1) * block * block);
    for (int i = ends + 1; i < rows - ends; ++i)
      if (!std::equal(values.begin() + ends * width, values.begin() + (ends + 1) * width,
                      values.begin() + i * width))
        return false;
    return true;
  }
  bool is_finite() const
  {
    for (int i = 0; i < rows; ++i)
      for (int a = 0; a < block; ++a)
        if (const long double size = row_max(i, a); !(size - size == 0)) return false;
    return true;
  }
  long double row_max(int i, int a = 0) const
  {
    long double m = 0;
    for (int d = -lower; d <= upper; ++d)
      for (int b = 0; b < block; ++b) {
        const long double v = std::abs((*this)(i, d, a, b));
        if (!(v <= m) && m == m) m = v; // keeps NaN
      }
    return m;
  }

  /// The same matrix with rows of one unknown.
  HostMatrix scalar_band() const
  {
    if (block == 1) return *this;
    HostMatrix S;
    S.rows = rows * block, S.lower = (lower + 1) * block - 1, S.upper = (upper + 1) * block - 1,
    S.periodic = periodic;
    S.values.assign(static_cast<std::size_t>(S.rows) * static_cast<std::size_t>(S.lower + S.upper + 1),
                    Scalar(0));
    for (int i = 0; i < rows; ++i)
      for (int a = 0; a < block; ++a)
        for (int d = -lower; d <= upper; ++d)
          for (int b = 0; b < block; ++b)
            S.values[S.at(i * block + a, d * block + b - a)] = values[at(i, d, a, b)];
    return S;
  }

  /// The same matrix with at least `reach` diagonals on either side.
  HostMatrix padded(int reach) const
  {
    if (lower == reach && upper == reach) return *this;
    HostMatrix S = *this;
    S.lower = S.upper = reach;
    S.values.assign(
      static_cast<std::size_t>(rows) * static_cast<std::size_t>((2 * reach + 1) * block * block), Scalar(0));
    for (int i = 0; i < rows; ++i)
      std::copy(&values[at(i, -lower)], &values[at(i, -lower)] + (lower + upper + 1) * block * block,
                &S.values[S.at(i, -lower)]);
    return S;
  }

  /// A matrix of at most kl + ku rows as a ring that stores every entry once: kl + ku + 1 = rows.
  HostMatrix folded() const
  {
    HostMatrix S;
    S.rows = rows, S.lower = (rows - 1) / 2, S.upper = rows - 1 - S.lower, S.periodic = true;
    S.values.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows), Scalar(0));
    for (int i = 0; i < rows; ++i)
      for (int d = -lower; d <= upper; ++d) {
        if (!periodic && (i + d < 0 || i + d >= rows)) continue;
        int e = ((i + d) % rows + rows) % rows - i; // distance modulo the ring, in [-lower, upper]
        if (e < -S.lower) e += rows;
        if (e > S.upper) e -= rows;
        S.values[S.at(i, e)] += values[at(i, d)];
      }
    return S;
  }
};

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file extended.hpp  Backward errors and inverses of bands in extended precision.
#pragma once

#include "batch.hpp"

#include <limits>
#include <type_traits>

namespace test {

template <class Scalar>
using Wide = std::conditional_t<std::is_floating_point_v<Scalar>, long double, std::complex<long double>>;

template <class Scalar>
Wide<Scalar> widen(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return static_cast<long double>(a);
  else return {static_cast<long double>(a.real()), static_cast<long double>(a.imag())};
}

/// Largest residual of line l with matrix c, relative to the row sums and to the solution.
template <class Scalar>
long double backward_error_of(const HostBands<Scalar> &bands, std::size_t c, const ribbon::LineSet &set,
                              std::int64_t l, const std::vector<Scalar> &x, const std::vector<Scalar> &b)
{
  const std::int64_t n    = set.rows;
  long double        most = 0, size = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    auto        r   = widen(b[static_cast<std::size_t>(set(l, i))]);
    long double sum = 0;
    for (int d = -bands.lower; d <= bands.upper; ++d) {
      const std::int64_t j = bands.periodic ? (i + d + n) % n : i + d;
      if (j < 0 || j >= n) continue;
      const auto a =
        widen(bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + bands.lower)));
      r -= a * widen(x[static_cast<std::size_t>(set(l, j))]);
      sum += std::abs(a);
    }
    most = std::max(most, std::abs(r) / sum),
    size = std::max(size, std::abs(widen(x[static_cast<std::size_t>(set(l, i))])));
  }
  return size > 0 ? most / size : most;
}

/// ||A^-1 D||, where D contains the row sums of |A|, by elimination with row exchanges in extended
/// precision. Infinite for singular matrices.
template <class Scalar>
long double inverse_norm(const HostBands<Scalar> &bands, std::size_t c)
{
  const std::size_t                      n = bands.values.extent(1);
  std::vector<std::vector<Wide<Scalar>>> A(n, std::vector<Wide<Scalar>>(2 * n));
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = 0;
    for (int d = -bands.lower; d <= bands.upper; ++d) {
      const auto j = static_cast<std::int64_t>(i) + d;
      if (j < 0 || j >= static_cast<std::int64_t>(n)) continue;
      A[i][static_cast<std::size_t>(j)] =
        widen(bands.values(c, i, static_cast<std::size_t>(d + bands.lower)));
      sum += std::abs(A[i][static_cast<std::size_t>(j)]);
    }
    for (std::size_t j = 0; j < n; ++j) A[i][j] /= sum;
    A[i][n + i] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(A[i][k]) > std::abs(A[p][k])) p = i;
    std::swap(A[k], A[p]);
    if (!(std::abs(A[k][k]) > 0)) return std::numeric_limits<long double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      const auto m = A[i][k] / A[k][k];
      if (i == k || m == Wide<Scalar>(0)) continue;
      for (std::size_t j = k; j < 2 * n; ++j) A[i][j] -= m * A[k][j];
    }
  }
  long double norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = 0;
    for (std::size_t j = n; j < 2 * n; ++j) sum += std::abs(A[i][j] / A[i][i]);
    norm = std::max(norm, sum);
  }
  return norm;
}

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
/// @file units.hpp  Random units of rows and columns of bands.
#pragma once

#include "lapack.hpp"

namespace test {

/// Factors 10^U(-exponent, exponent), rounded to powers of two if `exact`.
inline std::vector<double> units(std::mt19937_64 &g, std::size_t count, double exponent, bool exact = false)
{
  std::uniform_real_distribution<double> u(-exponent, exponent);
  std::vector<double>                    factors(count);
  for (double &f : factors) f = std::pow(10.0, u(g)), f = exact ? std::ldexp(1.0, std::ilogb(f)) : f;
  return factors;
}

/// Multiplies rows of matrix `c` by `rows` and columns by `columns`, one factor per unknown.
template <class Scalar>
void multiply(HostBands<Scalar> &bands, std::size_t c, const std::vector<double> &rows,
              const std::vector<double> &columns)
{
  using Real    = ribbon::real_t<Scalar>;
  const auto n  = static_cast<std::int64_t>(bands.values.extent(1));
  const int  B  = bands.block;
  const auto of = [&](const std::vector<double> &f, std::int64_t i, int a) {
    return f[static_cast<std::size_t>((i % n + n) % n * B + a)];
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (int d = -bands.kl(); d <= bands.ku(); ++d)
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b) {
          Scalar &v = bands.values(c, static_cast<std::size_t>(i),
                                   static_cast<std::size_t>(((d + bands.kl()) * B + a) * B + b));
          v *= static_cast<Real>(of(rows, i, a) * of(columns, i + d, b));
        }
}

} // namespace test

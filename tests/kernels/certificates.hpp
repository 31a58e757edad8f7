// SPDX-License-Identifier: BSD-2-Clause
/// @file certificates.hpp  Matrices for which certificates are hard, and checks of certificates.
#pragma once

#include "extended.hpp"

#include <ribbon/algorithm/whole_lines/block_thomas.hpp>

#include <gtest/gtest.h>

namespace test {

using HostExec = Kokkos::DefaultHostExecutionSpace;

/// A batch of matrices of random kinds for which certificates are hard. Kinds are: dominant, nearly
/// singular, growing pivots, graded, symmetric, singular rows, and entries that vanish, are huge, or are
/// NaN.
template <class Scalar>
HostBands<Scalar> hard_bands(std::mt19937_64 &g, std::size_t matrices, std::size_t n, int kl, int ku)
{
  HostBands<Scalar> bands;
  bands.lhs = ribbon::Lhs::per_line, bands.lower = kl, bands.upper = ku;
  bands.values = decltype(bands.values)("test::bands", matrices, n, static_cast<std::size_t>(kl + ku + 1));
  using Real   = ribbon::real_t<Scalar>;
  const auto below = [&](int k) { return static_cast<int>(g() % static_cast<std::uint64_t>(k)); };
  for (std::size_t c = 0; c < matrices; ++c) {
    const int  kind   = below(10);
    const Real weight = static_cast<Real>(std::pow(10., below(9) - 8)),
               ratio  = static_cast<Real>(std::pow(10., below(7) - 3));
    Real size         = 1;
    for (std::size_t i = 0; i < n; ++i) {
      Real sum = 0;
      for (int d = -kl; d <= ku; ++d) {
        Scalar &v = bands.values(c, i, static_cast<std::size_t>(d + kl));
        v         = random_scalar<Scalar>(g);
        if (kind == 3 && d != 0) v *= ratio;
        if (kind == 4) v *= static_cast<Real>(std::pow(ratio, below(3) - 1));
        if (kind == 5) v = Scalar(static_cast<Real>(below(5) - 2));
        if (kind == 6 && below(3) == 0) v = Scalar(0);
        if (d != 0 && static_cast<std::int64_t>(i) + d >= 0 &&
            static_cast<std::size_t>(static_cast<std::int64_t>(i) + d) < n)
          sum += ribbon::magnitude(v);
      }
      Scalar &diagonal = bands.values(c, i, static_cast<std::size_t>(kl));
      if (kind <= 1) diagonal = Scalar(sum + (kind == 0 ? Real(0.1) : sum * weight));
      if (kind == 2) diagonal = Scalar(sum * (1 - weight));
      if (kind == 7) diagonal = Scalar(sum), size *= ratio;
      if (kind == 8 && below(static_cast<int>(n)) == 0)
        diagonal = Scalar(std::numeric_limits<Real>::quiet_NaN());
      if (kind == 9) diagonal *= Real(3);
      for (int d = -kl; d <= ku && kind == 7; ++d)
        bands.values(c, i, static_cast<std::size_t>(d + kl)) *=
          size > 0 && ribbon::is_finite(size) ? size : Real(1);
    }
  }
  return bands;
}

/// Checks the certificate of one matrix against its inverse and three solves.
template <class Scalar, class Solve>
void expect_truth(const HostBands<Scalar> &bands, std::size_t c, double rcond, int P, std::mt19937_64 &g,
                  const Solve &solve)
{
  ASSERT_LE(static_cast<long double>(rcond), 1.001L / inverse_norm(bands, c)) << "matrix " << c;
  std::vector<Scalar> b(bands.values.extent(1));
  for (int k = 0; k < 3; ++k) {
    for (Scalar &v : b) v = random_scalar<Scalar>(g);
    ASSERT_LE(backward_error_of(bands, c, ribbon::LineSet::contiguous(static_cast<std::int64_t>(b.size()), 1),
                                0, solve(b), b),
              static_cast<long double>(ribbon::Certificate::error_of(P) *
                                       static_cast<double>(ribbon::unit_roundoff<Scalar>())))
      << "matrix " << c;
  }
}

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_values.hpp  Kinds of values of chains, and the scalar types of their tests.
#pragma once

#include "chains.hpp"
#include "scalars.hpp"

namespace test {

enum class Values { dominant, random, wave, graded };

template <class Scalar>
void fill(ChainSystem<Scalar> &s, std::mt19937_64 &g, Values values)
{
  using Real         = ribbon::real_t<Scalar>;
  std::int64_t row   = -1;
  Real         scale = 1;
  s.fill([&](std::int64_t i, int d) {
    if (i != row)
      row = i, scale = values == Values::graded
                         ? static_cast<Real>(std::pow(10.0, std::uniform_int_distribution<int>(-4, 4)(g)))
                         : Real(1);
    // -u'' - k^2 u
    if (values == Values::wave)
      return Scalar(d == 0 ? static_cast<Real>(2 - 0.81) : d == 1 || d == -1 ? Real(-1) : Real(0));
    const Scalar a = random_scalar<Scalar>(g) * scale;
    return values == Values::dominant && d == 0 ? a + Scalar(static_cast<Real>(s.chain.width() + 1)) : a;
  });
}

template <class Scalar>
class Chains : public testing::Test {
};

} // namespace test

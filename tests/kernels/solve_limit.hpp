// SPDX-License-Identifier: BSD-2-Clause
/// @file solve_limit.hpp  Largest allowed backward error of an algorithm.
#pragma once

#include "batch.hpp"

namespace test {

/// Largest allowed backward error.
template <class Scalar>
double limit(const std::string &algorithm = "auto")
{
  return (algorithm.find("pivoted") == 0 ? 1e-14 : 1e-13) *
         (std::is_same_v<ribbon::real_t<Scalar>, float> ? 1.2e-7 / 2.2e-16 : 1);
}

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
/// @file line_maxima.hpp  Serial reference for the largest absolute value of every line.
#pragma once

#include <ribbon/line_set.hpp>

#include <limits>
#include <vector>

namespace ribbon::reference {

/// max |x| over the unknowns of every line, infinity if one of them is not finite.
template <class Scalar>
std::vector<real_t<Scalar>> line_maxima(const LineSet &lines, const Scalar *x)
{
  std::vector<real_t<Scalar>> largest(static_cast<std::size_t>(lines.lines()), 0);
  for (std::int64_t l = 0; l < lines.lines(); ++l)
    for (std::int64_t i = 0; i < lines.rows; ++i)
      for (int a = 0; a < lines.components; ++a) {
        const real_t<Scalar> size = magnitude(x[lines(l, i) + a * lines.component_stride]);
        real_t<Scalar>      &most = largest[static_cast<std::size_t>(l)];
        if (!is_finite(size)) most = std::numeric_limits<real_t<Scalar>>::infinity();
        else if (size > most) most = size;
      }
  return largest;
}

} // namespace ribbon::reference

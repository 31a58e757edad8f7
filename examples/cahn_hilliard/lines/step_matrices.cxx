// SPDX-License-Identifier: BSD-2-Clause
#include "step_matrices.hpp"

#include <cmath>
#include <vector>

namespace ch_lines {

/// The periodic Toeplitz matrix with this stencil.
static DeviceBands ring(const Equation &equation, const std::vector<double> &stencil)
{
  DeviceBands bands;
  const auto  rows = static_cast<std::size_t>(equation.rows);
  bands.values     = DeviceBands::values_type("cahn_hilliard::matrix", 1, rows, stencil.size());
  bands.periodic   = true;
  const auto host  = Kokkos::create_mirror_view(bands.values);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t d = 0; d < stencil.size(); ++d) host(0, i, d) = stencil[d];
  Kokkos::deep_copy(bands.values, host);
  return bands;
}

/// Columns sum to 1 exactly, so that solves keep the mean. Multiples of one power of two have exact sums.
DeviceBands implicit_matrix(const Equation &e)
{
  const double h = e.spacing(), h2 = h * h;
  double       fourth = e.dt * e.gamma / (h2 * h2), second = e.dt * e.stabilization / h2,
         first      = e.advection == Advection::central ? e.dt * e.speed / (12 * h) : 0;
  const double unit = std::ldexp(1., std::ilogb(1 + 6 * fourth + 2 * second + 8 * std::abs(first)) - 50);
  for (double *value : {&fourth, &second, &first}) *value = std::nearbyint(*value / unit) * unit;
  return ring(e, {fourth - first, -4 * fourth - second + 8 * first, 1 + 6 * fourth + 2 * second,
                  -4 * fourth - second - 8 * first, fourth + first});
}

DeviceBands identity(const Equation &e)
{
  return ring(e, {1});
}

DeviceBands nonlinear_matrix(const Equation &e)
{
  const double c = e.dt / (e.spacing() * e.spacing());
  return ring(e, {c, -2 * c, c});
}

} // namespace ch_lines

// SPDX-License-Identifier: BSD-2-Clause
/// @file line_determinants.hpp  The determinant of all lines, from those of their matrices.
#pragma once

#include "../support/session.hpp"

#include <ribbon/matrix/determinants.hpp>

#include <cmath>
#include <complex>
#include <vector>

namespace ribbon::petsc {

/// log |det| and det / |det| of every matrix, on the host.
struct MatrixDeterminants {
  std::vector<double>               log;
  std::vector<std::complex<double>> unit;
};

/// Computes them on `space`.
template <class Space, class Entry>
MatrixDeterminants determinants_on(const Space                                      &space,
                                   const Bands<Entry, typename Space::memory_space> &bands)
{
  using Memory             = typename Space::memory_space;
  const auto         count = static_cast<std::size_t>(bands.matrices());
  MatrixDeterminants found{std::vector<double>(count), std::vector<std::complex<double>>(count)};
  const auto         logs  = allocate<Kokkos::View<double *, Memory>>(space, "ribbon::log_abs_det", count);
  const auto         signs = allocate<Kokkos::View<Entry *, Memory>>(space, "ribbon::det_sign", count);
  determinants(space, bands, logs, signs);
  const auto host_logs  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), logs);
  const auto host_signs = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), signs);
  for (std::size_t c = 0; c < count; ++c) {
    found.log[c] = host_logs(c);
    if constexpr (std::is_floating_point_v<Entry>) found.unit[c] = static_cast<double>(host_signs(c));
    else
      found.unit[c] = {static_cast<double>(host_signs(c).real()), static_cast<double>(host_signs(c).imag())};
  }
  return found;
}

/// Multiplies by the determinants of all lines, whose matrices times alpha are in `bands`. A few matrices
/// are copied to the host, where one thread is faster.
template <class Exec, class Entry>
void multiply_determinants(const Bands<Entry, typename Exec::memory_space> &bands, std::int64_t lines,
                           Scalar alpha, double *log_abs, std::complex<double> *sign)
{
  const auto                matrices = static_cast<std::size_t>(bands.matrices());
  std::vector<std::int64_t> count(matrices, bands.lhs == Lhs::shared    ? lines
                                            : bands.lhs == Lhs::classes ? 0
                                                                        : 1);
  const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands.class_of_line);
  if (bands.lhs == Lhs::classes)
    for (std::int64_t l = 0; l < lines; ++l)
      ++count[static_cast<std::size_t>(classes(static_cast<std::size_t>(l)))];
  const bool here = !is_device_space<Exec> || bands.matrices() >= 1024;
  const auto found =
    here ? determinants_on(current_space<Exec>(), bands) : determinants_on(HostExec(), to_host(bands));
  for (std::size_t c = 0; c < matrices; ++c) {
    if (count[c] == 0) continue; // a class without lines
    const double rows = static_cast<double>(bands.rows() * bands.block), n = static_cast<double>(count[c]);
    *log_abs +=
      n * (found.log[c] - rows * std::log(static_cast<double>(magnitude(alpha)))); // alpha is positive
    *sign *= found.unit[c] == 0. ? 0. : std::polar(1., std::arg(found.unit[c]) * n);
  }
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file host_matrices.hpp  The few matrices of a LineSolver on the host, in the forms that its algorithms
///   need.
#pragma once

#include <ribbon/elimination/host_matrix.hpp>

namespace ribbon::detail {

/// The matrices of bands that are not shifted. @param continued  entries outside a matrix are couplings
template <class Scalar, class Memory>
std::vector<HostMatrix<Scalar>> host_matrices(const Bands<Scalar, Memory> &bands, bool continued)
{
  const auto                      values = to_host(bands).values;
  std::vector<HostMatrix<Scalar>> all;
  for (std::size_t c = 0; c < values.extent(0); ++c) {
    HostMatrix<Scalar> A;
    A.rows = static_cast<int>(bands.rows()), A.lower = bands.kl(), A.upper = bands.ku(),
    A.block = bands.block, A.periodic = bands.periodic, A.continued = continued;
    A.values.resize(values.extent(1) * values.extent(2));
    for (std::size_t i = 0; i < values.extent(1); ++i)
      for (std::size_t d = 0; d < values.extent(2); ++d) A.values[i * values.extent(2) + d] = values(c, i, d);
    all.push_back(A.reach() == 0 ? A.padded(1) : A);
  }
  return all;
}

/// The matrices with `reach` diagonals on either side.
template <class Scalar>
std::vector<HostMatrix<Scalar>> padded(const std::vector<HostMatrix<Scalar>> &matrices, int reach)
{
  std::vector<HostMatrix<Scalar>> all;
  for (const auto &A : matrices) all.push_back(A.padded(reach));
  return all;
}

/// Bands of lines with at most kl + ku unknowns, as rings that store every entry once, one matrix per line.
template <class Scalar, class Memory, class Exec>
Bands<Scalar, Memory> folded(const Exec &exec, const std::vector<HostMatrix<Scalar>> &matrices,
                             const Bands<Scalar, Memory> &bands)
{
  Bands<Scalar, Memory> result = bands;
  result.block = 1, result.periodic = true, result.lhs = Lhs::per_line;
  const auto n  = static_cast<std::size_t>(matrices[0].rows * matrices[0].block);
  result.values = allocate<typename Bands<Scalar, Memory>::values_type>(exec, "ribbon::folded bands",
                                                                        matrices.size(), n, n);
  const auto to = Kokkos::create_mirror_view(result.values);
  for (std::size_t c = 0; c < matrices.size(); ++c) {
    const auto A = matrices[c].scalar_band().folded();
    result.lower = A.lower, result.upper = A.upper;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t d = 0; d < n; ++d) to(c, i, d) = A.values[i * n + d];
  }
  Kokkos::deep_copy(exec, result.values, to);
  exec.fence();
  return result;
}

} // namespace ribbon::detail

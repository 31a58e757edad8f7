// SPDX-License-Identifier: BSD-2-Clause
/// @file dense.hpp  Serial reference: one line as a dense matrix, Gaussian elimination with partial
///   pivoting.
#pragma once

#include <ribbon/bands.hpp>

#include <utility>
#include <vector>

namespace ribbon::reference {

/// Matrix c of host bands as a dense row-major matrix of n B unknowns. This function defines the meaning of
/// bands, blocks and `periodic`.
template <class Scalar>
std::vector<Scalar> dense(const Bands<Scalar, Kokkos::HostSpace> &bands, std::int64_t c)
{
  const auto n = bands.rows(), B = static_cast<std::int64_t>(bands.block),
             kl = static_cast<std::int64_t>(bands.kl()), ku = static_cast<std::int64_t>(bands.ku());
  std::vector<Scalar> A(static_cast<std::size_t>(n * B * n * B), Scalar(0));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t d = -kl; d <= ku; ++d) {
      std::int64_t j = i + d;
      if (bands.periodic) j = ((j % n) + n) % n;
      if (j < 0 || j >= n) continue;
      for (std::int64_t a = 0; a < B; ++a)
        for (std::int64_t b = 0; b < B; ++b)
          A[static_cast<std::size_t>((i * B + a) * n * B + j * B + b)] +=
            bands.values(static_cast<std::size_t>(c), static_cast<std::size_t>(bands.stored(i)),
                         static_cast<std::size_t>(((d + kl) * B + a) * B + b));
    }
  return A;
}

/// Solves A x = b. @return x
template <class Scalar>
std::vector<Scalar> solve(std::vector<Scalar> A, std::vector<Scalar> b)
{
  const std::size_t n  = b.size();
  auto              at = [&](std::size_t i, std::size_t j) -> Scalar              &{ return A[i * n + j]; };
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (magnitude(at(i, k)) > magnitude(at(p, k))) p = i;
    for (std::size_t j = 0; j < n && p != k; ++j) std::swap(at(k, j), at(p, j));
    std::swap(b[k], b[p]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Scalar f = at(i, k) / at(k, k);
      if (f == Scalar(0)) continue;
      for (std::size_t j = k; j < n; ++j) at(i, j) -= f * at(k, j);
      b[i] -= f * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= at(k, j) * b[j];
    b[k] /= at(k, k);
  }
  return b;
}

/// ||b - A x|| / (||A|| ||x|| + ||b||) in maximum norms.
template <class Scalar>
double backward_error(const std::vector<Scalar> &A, const std::vector<Scalar> &x,
                      const std::vector<Scalar> &b)
{
  const std::size_t n = b.size();
  double            r = 0, a = 0, xs = 0, bs = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Scalar residual = b[i];
    double row      = 0;
    for (std::size_t j = 0; j < n; ++j) {
      residual -= A[i * n + j] * x[j];
      row += static_cast<double>(magnitude(A[i * n + j]));
    }
    const double size = static_cast<double>(magnitude(residual));
    if (!(size <= r)) r = size;
    a  = std::max(a, row);
    xs = std::max(xs, static_cast<double>(magnitude(x[i])));
    bs = std::max(bs, static_cast<double>(magnitude(b[i])));
  }
  return r == 0 ? 0 : r / (a * xs + bs);
}

} // namespace ribbon::reference

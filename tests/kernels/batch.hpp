// SPDX-License-Identifier: BSD-2-Clause
/// @file batch.hpp  Seeded random batches for the kernel tests on the default execution space, with host
///   copies.
#pragma once

#include <ribbon/line_solver.hpp>
#include <ribbon/reference/dense.hpp>

#include <cmath>
#include <complex>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

using Exec   = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

template <class Scalar>
using HostBands = ribbon::Bands<Scalar, Kokkos::HostSpace>;

enum class Kind { dominant, spd, poisson };

template <class Scalar>
Scalar random_scalar(std::mt19937_64 &g)
{
  std::uniform_real_distribution<double> u(-1, 1);
  if constexpr (std::is_floating_point_v<Scalar>) return static_cast<Scalar>(u(g));
  else {
    using Real    = ribbon::real_t<Scalar>;
    const Real re = static_cast<Real>(u(g));
    return Scalar(re, static_cast<Real>(u(g)));
  }
}

/// Lines of n rows.
struct LineSystem {
  std::int64_t n;
  int          kl, ku, block;
  bool         periodic;
};

/// Random bands: strictly diagonally dominant rows (not symmetric), symmetric positive definite (product of
/// banded Cholesky factors), or the stencil I + sigma (second or fourth difference).
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> random_bands(std::mt19937_64 &g, std::int64_t matrices,
                                                      std::int64_t n, int h, bool periodic, Kind kind)
{
  ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
  bands.periodic = periodic;
  bands.values   = decltype(bands.values)("test::bands", static_cast<std::size_t>(matrices),
                                        static_cast<std::size_t>(n), static_cast<std::size_t>(2 * h + 1));
  auto at        = [&](std::int64_t c, std::int64_t i, int d) -> Scalar        &{
    return bands.values(static_cast<std::size_t>(c), static_cast<std::size_t>(i),
                               static_cast<std::size_t>(d + h));
  };
  for (std::int64_t c = 0; c < matrices; ++c) {
    if (kind == Kind::dominant)
      for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0.05;
        for (int d = -h; d <= h; ++d)
          if (d != 0)
            at(c, i, d) = random_scalar<Scalar>(g),
                     sum += static_cast<double>(ribbon::magnitude(at(c, i, d)));
        at(c, i, 0) = Scalar(static_cast<ribbon::real_t<Scalar>>(sum));
      }
    if (kind == Kind::poisson)
      for (std::int64_t i = 0; i < n; ++i) {
        const double sigma = 100, s[5] = {h == 1 ? 0 : sigma, h == 1 ? -sigma : -4 * sigma,
                                          h == 1 ? 1 + 2 * sigma : 1 + 6 * sigma,
                                          h == 1 ? -sigma : -4 * sigma, h == 1 ? 0 : sigma};
        for (int d = -h; d <= h; ++d) at(c, i, d) = Scalar(static_cast<ribbon::real_t<Scalar>>(s[d + 2]));
      }
    if (kind == Kind::spd) { // rows of L L^H + a small multiple of I, L lower triangular with h subdiagonals
      std::vector<Scalar> L(static_cast<std::size_t>(n * (h + 1)));
      for (std::int64_t i = 0; i < n; ++i)
        for (int d = 0; d <= h; ++d)
          L[static_cast<std::size_t>(i * (h + 1) + d)] =
            i - d < 0 && !periodic ? Scalar(0) : random_scalar<Scalar>(g);
      auto l = [&](std::int64_t i, std::int64_t d) {
        return d < 0 || d > h ? Scalar(0) : L[static_cast<std::size_t>(((i % n + n) % n) * (h + 1) + d)];
      };
      auto conj = [](const Scalar &a) {
        if constexpr (std::is_floating_point_v<Scalar>) return a;
        else return Kokkos::conj(a);
      };
      for (std::int64_t i = 0; i < n; ++i)
        for (int d = -h; d <= h; ++d) { // A(i, j) = sum_k L(i, k) conj(L(j, k)), k = i - p = j - q
          Scalar s(0);
          for (int p = 0; p <= h; ++p) {
            const std::int64_t k = i - p;
            if (k < 0 && !periodic) continue;
            s += l(i, p) * conj(l(i + d, p + d));
          }
          at(c, i, d) = d == 0 ? s + Scalar(static_cast<ribbon::real_t<Scalar>>(0.1)) : s;
          if (!periodic && (i + d < 0 || i + d >= n)) at(c, i, d) = Scalar(0);
        }
    }
  }
  return bands;
}

/// Bands in the memory of the default execution space.
template <class Scalar>
ribbon::Bands<Scalar, Memory> to_device(const ribbon::Bands<Scalar, Kokkos::HostSpace> &host)
{
  ribbon::Bands<Scalar, Memory> bands;
  bands.periodic = host.periodic;
  bands.lower = host.lower, bands.upper = host.upper, bands.block = host.block, bands.repeats = host.repeats;
  bands.lhs           = host.lhs;
  bands.values        = Kokkos::create_mirror_view_and_copy(Memory(), host.values);
  bands.class_of_line = Kokkos::create_mirror_view_and_copy(Memory(), host.class_of_line);
  bands.alpha         = Kokkos::create_mirror_view_and_copy(Memory(), host.alpha),
  bands.beta          = Kokkos::create_mirror_view_and_copy(Memory(), host.beta);
  return bands;
}

/// Solves on the default execution space with b and x on the host.
template <class Scalar>
std::vector<Scalar> solve(const ribbon::LineSolver<Scalar, Exec> &solver, const std::vector<Scalar> &b,
                          bool in_place = false)
{
  using View = Kokkos::View<Scalar *, Memory>;
  View       device_b("test::b", b.size()), device_x("test::x", b.size());
  const auto host = Kokkos::create_mirror_view(device_b);
  for (std::size_t k = 0; k < b.size(); ++k) host(k) = b[k];
  Kokkos::deep_copy(device_b, host);
  if (in_place) device_x = device_b;
  solver.solve(Exec(), device_b.data(), device_x.data());
  Kokkos::fence();
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, device_x);
  return std::vector<Scalar>(result.data(), result.data() + b.size());
}

/// Number of matrices of a batch: one, three classes, one per line, or two to be combined.
inline std::int64_t matrices_for(ribbon::Lhs lhs, std::int64_t lines)
{
  return lhs == ribbon::Lhs::shared    ? 1
         : lhs == ribbon::Lhs::classes ? 3
         : lhs == ribbon::Lhs::shifted ? 2
                                       : lines;
}

/// Completes the matrices of matrices_for() to a batch. It sets the class of every line, or two positive
/// factors, with which dominant matrices stay dominant.
template <class Scalar>
void assign(std::mt19937_64 &g, ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, ribbon::Lhs lhs,
            std::int64_t lines)
{
  const auto count = static_cast<std::size_t>(lines);
  bands.lhs        = lhs;
  if (lhs == ribbon::Lhs::classes) {
    bands.class_of_line = decltype(bands.class_of_line)("test::classes", count);
    for (std::size_t l = 0; l < count; ++l)
      bands.class_of_line(l) = static_cast<int>((l * 5) % bands.values.extent(0));
  }
  if (lhs == ribbon::Lhs::shifted) {
    std::uniform_real_distribution<double> u(0.1, 2);
    bands.alpha = decltype(bands.alpha)("test::alpha", count),
    bands.beta  = decltype(bands.beta)("test::beta", count);
    for (std::size_t l = 0; l < count; ++l)
      bands.alpha(l) = Scalar(static_cast<ribbon::real_t<Scalar>>(u(g))),
      bands.beta(l)  = Scalar(static_cast<ribbon::real_t<Scalar>>(u(g)));
  }
}

/// alpha_l A + beta_l B as one matrix per line; other batches unchanged.
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> expanded(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands)
{
  if (bands.lhs != ribbon::Lhs::shifted) return bands;
  auto own   = bands;
  own.lhs    = ribbon::Lhs::per_line;
  own.values = decltype(own.values)("test::expanded", static_cast<std::size_t>(bands.matrices()),
                                    bands.values.extent(1), bands.values.extent(2));
  for (std::size_t l = 0; l < own.values.extent(0); ++l)
    for (std::size_t i = 0; i < own.values.extent(1); ++i)
      for (std::size_t d = 0; d < own.values.extent(2); ++d)
        own.values(l, i, d) = bands.alpha(l) * bands.values(0, i, d) + bands.beta(l) * bands.values(1, i, d);
  return own;
}

/// The matrix of line l of a batch.
template <class Scalar>
std::int64_t matrix_of(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, std::int64_t line)
{
  return bands.lhs == ribbon::Lhs::shared     ? 0
         : bands.lhs == ribbon::Lhs::per_line ? line
                                              : bands.class_of_line(static_cast<std::size_t>(line));
}

/// Random strictly diagonally dominant bands with kl sub- and ku superdiagonals, or (block >
/// 1) block tridiagonal ones.
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> random_system(std::mt19937_64 &g, std::int64_t matrices,
                                                       std::int64_t n, int kl, int ku, int block,
                                                       bool periodic)
{
  ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
  const int                                width = kl + ku + 1, BB = block * block;
  bands.periodic = periodic, bands.lower = kl, bands.upper = ku, bands.block = block;
  bands.values = decltype(bands.values)("test::bands", static_cast<std::size_t>(matrices),
                                        static_cast<std::size_t>(n), static_cast<std::size_t>(width * BB));
  for (std::size_t c = 0; c < static_cast<std::size_t>(matrices); ++c)
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      for (int a = 0; a < block; ++a) {
        double      sum  = 0.05;
        std::size_t diag = 0;
        for (int d = 0; d < width; ++d)
          for (int b = 0; b < block; ++b) {
            const auto e = static_cast<std::size_t>((d * block + a) * block + b);
            if (d == kl && a == b) diag = e;
            else
              bands.values(c, i, e) = random_scalar<Scalar>(g),
                                 sum += static_cast<double>(ribbon::magnitude(bands.values(c, i, e)));
          }
        bands.values(c, i, diag) = Scalar(static_cast<ribbon::real_t<Scalar>>(sum));
      }
  return bands;
}

/// Largest backward error over the lines, without dense matrices.
template <class Scalar>
double backward_error(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, const ribbon::LineSet &set,
                      const std::vector<Scalar> &x, const std::vector<Scalar> &b)
{
  const std::int64_t n = set.rows, B = bands.block, kl = bands.kl(), ku = bands.ku();
  const auto         at = [&](std::int64_t l, std::int64_t i, std::int64_t c) {
    return static_cast<std::size_t>(set(l, i) + c * set.component_stride);
  };
  double worst = 0;
  for (std::int64_t l = 0; l < set.lines(); ++l) {
    double norm_r = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t p = 0; p < B; ++p) {
        const Scalar bi       = b[at(l, i, p)];
        Scalar       residual = bi;
        double       row      = 0;
        for (std::int64_t d = -kl; d <= ku; ++d) {
          std::int64_t j = i + d;
          if (bands.periodic) j = ((j % n) + n) % n;
          if (j < 0 || j >= n) continue;
          for (std::int64_t q = 0; q < B; ++q) {
            const Scalar e =
              bands.values(static_cast<std::size_t>(matrix_of(bands, l)), static_cast<std::size_t>(i),
                           static_cast<std::size_t>(((d + kl) * B + p) * B + q));
            residual -= e * x[at(l, j, q)];
            row += static_cast<double>(ribbon::magnitude(e));
          }
        }
        const double size = static_cast<double>(ribbon::magnitude(residual));
        if (!(size <= norm_r)) norm_r = size;
        norm_a = std::max(norm_a, row);
        norm_x = std::max(norm_x, static_cast<double>(ribbon::magnitude(x[at(l, i, p)])));
        norm_b = std::max(norm_b, static_cast<double>(ribbon::magnitude(bi)));
      }
    const double error = norm_r == 0 ? 0 : norm_r / (norm_a * norm_x + norm_b);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

inline ribbon::Bands<double, Kokkos::HostSpace> toeplitz(std::int64_t n, const std::vector<double> &stencil,
                                                         bool periodic)
{
  ribbon::Bands<double, Kokkos::HostSpace> bands;
  bands.periodic = periodic;
  bands.values   = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(n), stencil.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    for (std::size_t d = 0; d < stencil.size(); ++d) bands.values(0, i, d) = stencil[d];
  return bands;
}

/// Backward error of one line against its dense matrix.
template <class Scalar>
double line_error(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, const ribbon::LineSet &set,
                  std::int64_t l, const std::vector<Scalar> &x, const std::vector<Scalar> &b)
{
  std::vector<Scalar> mine, right;
  for (std::int64_t i = 0; i < set.rows; ++i)
    mine.push_back(x[static_cast<std::size_t>(set(l, i))]),
      right.push_back(b[static_cast<std::size_t>(set(l, i))]);
  return ribbon::reference::backward_error(ribbon::reference::dense(bands, matrix_of(bands, l)), mine, right);
}

/// Determinant of a matrix of a batch, by elimination of the dense matrix with row exchanges.
template <class Scalar>
std::complex<double> determinant(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, std::int64_t matrix)
{
  std::vector<std::complex<double>> a;
  for (const auto &v : ribbon::reference::dense(bands, matrix)) {
    if constexpr (std::is_floating_point_v<Scalar>) a.emplace_back(v);
    else a.emplace_back(v.real(), v.imag());
  }
  const std::size_t    n   = static_cast<std::size_t>(bands.rows() * bands.block);
  std::complex<double> det = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[p * n + k])) p = i;
    if (p != k) det = -det;
    for (std::size_t j = 0; p != k && j < n; ++j) std::swap(a[k * n + j], a[p * n + j]);
    det *= a[k * n + k];
    for (std::size_t i = k + 1; i < n; ++i)
      for (std::size_t j = n; j-- > k;) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
  }
  return det;
}

/// The error message of LineSolver for arguments that it refuses, or an empty text.
inline std::string refusal(const ribbon::LineSet &set, const ribbon::Bands<double, Kokkos::HostSpace> &bands,
                           const ribbon::LineSolverOptions &options = {})
{
  try {
    ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands), options);
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "";
}

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
/// @file bands.hpp  The coefficients of a batch of banded matrices.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// How many different matrices a batch has.
enum class Lhs {
  shared,   ///< one matrix for all lines
  classes,  ///< a few, with a table line -> class
  per_line, ///< one for every line
  shifted   ///< alpha_l A + beta_l B for line l
};

inline const char *to_string(Lhs lhs)
{
  return lhs == Lhs::shared ? "shared" : lhs == Lhs::classes ? "classes" : lhs == Lhs::per_line ? "per_line" : "shifted";
}

/// Banded matrices with kl sub- and ku superdiagonals, 0 <= kl, ku <= 8. Matrix c has the entries
///
///     A_c(i, i + d - kl) = values(c, i, d),    0 <= d <= kl + ku.
///
/// With block = B > 1 the matrices are block tridiagonal (kl = ku = 1): row i stands for B unknowns, 2 <= B <= 8, and
///
///     A_c(i, i + d - 1)(a, b) = values(c, i, (d B + a) B + b),    0 <= d <= 2,  0 <= a, b < B.
///
/// A periodic matrix takes the column index modulo n (entries that fall on one place add up); otherwise entries outside the matrix are
/// ignored, whatever their value. `values` runs fastest over c, so that lines that lie side by side read side by side.
///
/// With Lhs::shifted `values` holds A (c = 0) and B (c = 1), and line l has the matrix alpha(l) A + beta(l) B: the modes of a fast Poisson solver,
/// Helmholtz families, parameter studies.
template <class Scalar, class MemorySpace>
struct Bands {
  using values_type  = Kokkos::View<Scalar ***, Kokkos::LayoutLeft, MemorySpace>;
  using classes_type = Kokkos::View<int *, MemorySpace>;
  using scale_type   = Kokkos::View<Scalar *, MemorySpace>;

  values_type  values; ///< (matrices, or 2 for Lhs::shifted, rows, (kl + ku + 1) B^2)
  bool         periodic = false;
  Lhs          lhs      = Lhs::shared;
  classes_type class_of_line; ///< (lines), read for Lhs::classes only
  scale_type   alpha, beta;   ///< (lines), read for Lhs::shifted only
  int          lower = -1;    ///< kl; -1 stands for half of the diagonals beside the main one
  int          upper = -1;    ///< ku, likewise
  int          block = 1;     ///< B

  /// Different matrices of the batch.
  std::int64_t matrices() const { return static_cast<std::int64_t>(lhs == Lhs::shifted ? alpha.extent(0) : values.extent(0)); }
  std::int64_t rows() const { return static_cast<std::int64_t>(values.extent(1)); }
  int          diagonals() const { return static_cast<int>(values.extent(2)) / (block * block); }
  int          kl() const { return lower < 0 ? (diagonals() - 1) / 2 : lower; }
  int          ku() const { return upper < 0 ? (diagonals() - 1) / 2 : upper; }
  int          half_bandwidth() const { return kl() > ku() ? kl() : ku(); }
};

/// The same matrices in memory of their own. Asynchronous on exec.
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space> copy(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands)
{
  auto       result = bands;
  const auto fill   = [&](auto &to, const auto &from, auto... extents) {
    to = allocate<std::decay_t<decltype(to)>>(exec, "ribbon::bands", extents...);
    Kokkos::deep_copy(exec, to, from);
  };
  fill(result.values, bands.values, bands.values.extent(0), bands.values.extent(1), bands.values.extent(2));
  if (bands.lhs == Lhs::shifted) fill(result.alpha, bands.alpha, bands.alpha.extent(0)), fill(result.beta, bands.beta, bands.beta.extent(0));
  return result;
}

/// A copy on the host; shifted matrices as one per line.
template <class Scalar, class MemorySpace>
Bands<Scalar, Kokkos::HostSpace> to_host(const Bands<Scalar, MemorySpace> &bands)
{
  const auto                       mirror = [](const auto &from) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from); };
  const auto                       from   = mirror(bands.values);
  const auto                       alpha = mirror(bands.alpha), beta = mirror(bands.beta);
  const bool                       shifted = bands.lhs == Lhs::shifted;
  Bands<Scalar, Kokkos::HostSpace> host;
  host.periodic = bands.periodic, host.lower = bands.kl(), host.upper = bands.ku(), host.block = bands.block, host.lhs = shifted ? Lhs::per_line : bands.lhs;
  host.class_of_line = mirror(bands.class_of_line);
  host.values        = decltype(host.values)("ribbon::bands", static_cast<std::size_t>(bands.matrices()), from.extent(1), from.extent(2));
  for (std::size_t c = 0; c < host.values.extent(0); ++c)
    for (std::size_t i = 0; i < from.extent(1); ++i)
      for (std::size_t d = 0; d < from.extent(2); ++d) host.values(c, i, d) = shifted ? alpha(c) * from(0, i, d) + beta(c) * from(1, i, d) : from(c, i, d);
  return host;
}

} // namespace ribbon

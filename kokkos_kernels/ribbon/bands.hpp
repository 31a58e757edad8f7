// SPDX-License-Identifier: BSD-2-Clause
/// @file bands.hpp  The coefficients of a batch of banded matrices.
#pragma once

#include <ribbon/compat.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ribbon {

/// How many different matrices a batch has.
enum class Lhs {
  shared,   ///< one matrix for all lines
  classes,  ///< a few matrices, with a table line -> class
  per_line, ///< one matrix per line
  shifted   ///< alpha_l A + beta_l B for line l
};

inline const char *to_string(Lhs lhs)
{
  return lhs == Lhs::shared     ? "shared"
         : lhs == Lhs::classes  ? "classes"
         : lhs == Lhs::per_line ? "per_line"
                                : "shifted";
}

/// Row i of a matrix whose row `middle` is stored once for `repeats` rows.
KOKKOS_INLINE_FUNCTION std::int64_t repeated_row(std::int64_t i, std::int64_t middle, std::int64_t repeats)
{
  const std::int64_t behind = i - (repeats - 1);
  return i <= middle ? i : behind > middle ? behind : middle;
}

/// Banded matrices with kl sub- and ku superdiagonals, 0 <= kl, ku <= 8. Matrix c has the entries
///
///     A_c(i, i + d - kl) = values(c, i, d),    0 <= d <= kl + ku.
///
/// With block = B > 1 the matrices are block tridiagonal (kl = ku = 1): row i stands for B unknowns, 2 <= B
/// <= 8, and
///
///     A_c(i, i + d - 1)(a, b) = values(c, i, (d B + a) B + b),    0 <= d <= 2,  0 <= a, b < B.
///
/// In a periodic matrix the column index is modulo n, and entries with equal indices add up. Otherwise
/// entries outside the matrix are ignored, with any value. `values` runs fastest over c, so that
/// neighbouring lines read neighbouring entries.
///
/// With Lhs::shifted `values` holds A (c = 0) and B (c = 1), and line l has the matrix alpha(l) A + beta(l)
/// B: the modes of a fast Poisson solver, Helmholtz families, parameter studies.
///
/// Matrices that are Toeplitz except for a few rows at their ends store these rows and one other row:
/// `values` then has an odd number of rows, and its middle row stands for `repeats` rows of the matrix
/// (toeplitz_bands()).
template <class Scalar, class MemorySpace>
struct Bands {
  using values_type  = Kokkos::View<Scalar ***, Kokkos::LayoutLeft, MemorySpace>;
  using classes_type = Kokkos::View<int *, MemorySpace>;
  using scale_type   = Kokkos::View<Scalar *, MemorySpace>;

  /// (matrices, or 2 for Lhs::shifted; stored rows, see repeats; (kl + ku + 1) B^2)
  values_type values;
  bool        periodic = false;
  Lhs         lhs      = Lhs::shared;
  /// (lines), read for Lhs::classes only; a class without lines is factored and reported, too
  classes_type class_of_line;
  scale_type   alpha, beta;  ///< (lines), read for Lhs::shifted only
  int          lower   = -1; ///< kl; -1: half of the diagonals off the main one
  int          upper   = -1; ///< ku; -1: likewise
  int          block   = 1;  ///< B
  std::int64_t repeats = 1;  ///< rows that the middle row of `values` stands for

  /// The count of different matrices in the batch.
  std::int64_t matrices() const
  {
    return static_cast<std::int64_t>(lhs == Lhs::shifted ? alpha.extent(0) : values.extent(0));
  }
  std::int64_t rows() const { return static_cast<std::int64_t>(values.extent(1)) + repeats - 1; }
  /// The row of `values` for row i of the matrices.
  std::int64_t stored(std::int64_t i) const
  {
    return repeated_row(i, static_cast<std::int64_t>(values.extent(1)) / 2, repeats);
  }
  int diagonals() const { return static_cast<int>(values.extent(2)) / (block * block); }
  int kl() const { return lower < 0 ? (diagonals() - 1) / 2 : lower; }
  int ku() const { return upper < 0 ? (diagonals() - 1) / 2 : upper; }
  int half_bandwidth() const { return kl() > ku() ? kl() : ku(); }
};

/// Whether the values of one batch can replace those of the other.
template <class Scalar, class Memory>
bool same_shape(const Bands<Scalar, Memory> &a, const Bands<Scalar, Memory> &b)
{
  bool same = a.lhs == b.lhs && a.periodic == b.periodic && a.kl() == b.kl() && a.ku() == b.ku() &&
              a.block == b.block && a.repeats == b.repeats;
  for (int e = 0; e < 3; ++e) same = same && a.values.extent(e) == b.values.extent(e);
  return same;
}

/// The same matrices in separate memory. Asynchronous on exec.
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space> copy(const Exec                                       &exec,
                                                const Bands<Scalar, typename Exec::memory_space> &bands)
{
  auto       result = bands;
  const auto fill   = [&](auto &to, const auto &from, auto... extents) {
    to = allocate<std::decay_t<decltype(to)>>(exec, "ribbon::bands", extents...);
    Kokkos::deep_copy(exec, to, from);
  };
  fill(result.values, bands.values, bands.values.extent(0), bands.values.extent(1), bands.values.extent(2));
  if (bands.lhs == Lhs::shifted)
    fill(result.alpha, bands.alpha, bands.alpha.extent(0)),
      fill(result.beta, bands.beta, bands.beta.extent(0));
  return result;
}

/// A copy on the host; shifted matrices become one per line.
template <class Scalar, class MemorySpace>
Bands<Scalar, Kokkos::HostSpace> to_host(const Bands<Scalar, MemorySpace> &bands)
{
  const auto mirror = [](const auto &from) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  };
  const auto                       from  = mirror(bands.values);
  const auto                       alpha = mirror(bands.alpha), beta = mirror(bands.beta);
  const bool                       shifted = bands.lhs == Lhs::shifted;
  Bands<Scalar, Kokkos::HostSpace> host;
  host.periodic = bands.periodic, host.lower = bands.kl(), host.upper = bands.ku(), host.block = bands.block,
  host.lhs           = shifted ? Lhs::per_line : bands.lhs;
  host.class_of_line = mirror(bands.class_of_line);
  host.values        = decltype(host.values)("ribbon::bands", static_cast<std::size_t>(bands.matrices()),
                                      static_cast<std::size_t>(bands.rows()), from.extent(2));
  for (std::size_t c = 0; c < host.values.extent(0); ++c)
    for (std::size_t i = 0; i < host.values.extent(1); ++i) {
      const auto k = static_cast<std::size_t>(bands.stored(static_cast<std::int64_t>(i)));
      for (std::size_t d = 0; d < from.extent(2); ++d)
        host.values(c, i, d) = shifted ? alpha(c) * from(0, k, d) + beta(c) * from(1, k, d) : from(c, k, d);
    }
  return host;
}

/// One matrix for all lines, with the same entries in all rows but the first and the last few. `values`
/// holds these and one of the others. Waits.
/// @param rows     of the matrix
/// @param stencil  entries of a row, in the order of Bands::values: kl + ku + 1 entries, or 3 B^2 with
///   blocks; for an unsymmetric stencil (kl != ku) set lower and upper of the result
/// @param first    the first rows, with the entries outside a matrix that is not periodic
/// @param last     the last rows
/// @throws std::invalid_argument if rows and stencil differ in length, or the matrix has fewer rows than
///   are given
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space>
toeplitz_bands(const Exec &exec, std::int64_t rows, const std::vector<Scalar> &stencil,
               const std::vector<std::vector<Scalar>> &first = {},
               const std::vector<std::vector<Scalar>> &last = {}, int block = 1)
{
  const auto count = static_cast<std::int64_t>(first.size()), behind = static_cast<std::int64_t>(last.size()),
             ends           = 2 * std::max(count, behind);
  const std::size_t  width  = stencil.size();
  const std::int64_t stored = std::min(ends + 1, rows);
  if (rows < count + behind)
    throw std::invalid_argument("ribbon: toeplitz_bands: " + std::to_string(count) + " first and " +
                                std::to_string(behind) + " last rows of a matrix of " + std::to_string(rows));
  Bands<Scalar, typename Exec::memory_space> bands;
  bands.block = block, bands.repeats = rows - stored + 1;
  bands.values    = allocate<decltype(bands.values)>(exec, "ribbon::bands", std::size_t(1),
                                                  static_cast<std::size_t>(stored), width);
  const auto host = Kokkos::create_mirror_view(bands.values);
  for (std::int64_t k = 0; k < stored; ++k) {
    const std::int64_t i   = k <= stored / 2 ? k : k + bands.repeats - 1;
    const auto        &row = i < count            ? first[static_cast<std::size_t>(i)]
                             : rows - i <= behind ? last[static_cast<std::size_t>(behind - (rows - i))]
                                                  : stencil;
    if (row.size() != width)
      throw std::invalid_argument("ribbon: toeplitz_bands: row " + std::to_string(i) + " has " +
                                  std::to_string(row.size()) + " entries, the stencil " +
                                  std::to_string(width));
    for (std::size_t d = 0; d < width; ++d) host(0, static_cast<std::size_t>(k), d) = row[d];
  }
  Kokkos::deep_copy(exec, bands.values, host);
  exec.fence();
  return bands;
}

} // namespace ribbon

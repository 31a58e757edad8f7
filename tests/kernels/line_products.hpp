// SPDX-License-Identifier: BSD-2-Clause
/// @file line_products.hpp  Random matrices A and B of lines, and products with B on the host.
#pragma once

#include "batch.hpp"

#include <utility>

namespace test {

/// Random matrices for lines; with `stencil`, all rows are equal.
template <class Scalar>
HostBands<Scalar> random_batch(std::mt19937_64 &g, std::int64_t n, std::int64_t lines, int kl, int ku,
                               bool periodic, ribbon::Lhs lhs, bool stencil)
{
  auto bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, 1, periodic);
  for (std::size_t i = 1; stencil && i < bands.values.extent(1); ++i)
    for (std::size_t c = 0; c < bands.values.extent(0); ++c)
      for (std::size_t d = 0; d < bands.values.extent(2); ++d) bands.values(c, i, d) = bands.values(c, 0, d);
  assign(g, bands, lhs, lines);
  return bands;
}

/// (M u)_i on line l, and the sum of the magnitudes of its terms.
template <class Scalar>
std::pair<Scalar, double> product(const HostBands<Scalar> &M, std::int64_t matrix, const ribbon::LineSet &set,
                                  const std::vector<Scalar> &u, std::int64_t l, std::int64_t i)
{
  const std::int64_t n = set.rows;
  Scalar             sum(0);
  double             size = 0;
  for (std::int64_t d = -M.kl(); d <= M.ku(); ++d) {
    std::int64_t j = i + d;
    if (M.periodic) j = ((j % n) + n) % n;
    if (j < 0 || j >= n) continue;
    const Scalar term = M.values(static_cast<std::size_t>(matrix), static_cast<std::size_t>(i),
                                 static_cast<std::size_t>(d + M.kl())) *
                        u[static_cast<std::size_t>(set(l, j))];
    sum += term, size += static_cast<double>(ribbon::magnitude(term));
  }
  return {sum, size};
}

/// Places of a batch: contiguous, interleaved, or a direction of a box with a gap before it.
inline ribbon::LineSet places(int layout, std::int64_t n, std::int64_t lines)
{
  if (layout == 0) return ribbon::LineSet::interleaved(n, lines);
  if (layout == 1) return ribbon::LineSet::contiguous(n, lines);
  ribbon::LineSet s{n, lines / 2, 2, lines / 2 + 1, 1, n * (lines / 2 + 1), 3};
  return s;
}

template <class Scalar>
std::vector<Scalar> random_values(std::mt19937_64 &g, std::size_t count)
{
  std::vector<Scalar> v(count);
  for (auto &a : v) a = random_scalar<Scalar>(g);
  return v;
}

template <class Scalar>
Kokkos::View<Scalar *, Memory> upload(const std::vector<Scalar> &from)
{
  Kokkos::View<Scalar *, Memory> to("test::values", from.size());
  const auto                     host = Kokkos::create_mirror_view(to);
  for (std::size_t k = 0; k < from.size(); ++k) host(k) = from[k];
  Kokkos::deep_copy(to, host);
  return to;
}

} // namespace test

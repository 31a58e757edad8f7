// SPDX-License-Identifier: BSD-2-Clause
// Residuals in double of lines whose matrices are in float, and rows outside the range of float.
#include "batch.hpp"

#include <ribbon/matrix/precision.hpp>
#include <ribbon/probe/refine.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using ribbon::Lhs;
using ribbon::LineSet;
using test::Exec;
using test::Memory;

using Floats = ribbon::Bands<float, Kokkos::HostSpace>;

/// Random blocks on three diagonals. With block 1: bands of half-bandwidth h.
Floats random_floats(std::mt19937_64 &g, std::int64_t matrices, std::int64_t n, int h, int block,
                     bool periodic)
{
  Floats bands;
  bands.periodic = periodic, bands.block = block;
  bands.values =
    decltype(bands.values)("test::bands", static_cast<std::size_t>(matrices), static_cast<std::size_t>(n),
                           static_cast<std::size_t>((2 * h + 1) * block * block));
  for (std::size_t k = 0; k < bands.values.size(); ++k)
    bands.values.data()[k] = test::random_scalar<float>(g);
  return bands;
}

/// A(i, j) of matrix c; i and j count unknowns.
double entry(const Floats &bands, std::int64_t c, std::int64_t i, std::int64_t j)
{
  const std::int64_t n = bands.rows(), row = i / bands.block, column = j / bands.block;
  double             sum = 0;
  for (int d = -bands.kl(); d <= bands.ku(); ++d) {
    if (bands.periodic ? ((row + d) % n + n) % n != column : row + d != column) continue;
    const std::int64_t e = ((d + bands.kl()) * bands.block + i % bands.block) * bands.block + j % bands.block;
    sum += static_cast<double>(
      bands.values(static_cast<std::size_t>(c), static_cast<std::size_t>(row), static_cast<std::size_t>(e)));
  }
  return sum;
}

/// The place of unknown i of line l.
std::size_t place(const LineSet &set, std::int64_t l, std::int64_t i)
{
  return static_cast<std::size_t>(set(l, i / set.components) + i % set.components * set.component_stride);
}

void compare(const Floats &host, Lhs lhs, std::int64_t lines, const LineSet &at, const LineSet &in,
             bool transposed)
{
  std::mt19937_64  g(7);
  const Exec       exec;
  const double     alpha = 0.3;
  auto             bands = host;
  std::vector<int> classes;
  bands.lhs = lhs;
  for (std::int64_t l = 0; l < lines; ++l) classes.push_back(static_cast<int>((l * 2 + 1) % 3));
  if (lhs == Lhs::classes) {
    bands.class_of_line = decltype(bands.class_of_line)("test::classes", classes.size());
    for (std::size_t l = 0; l < classes.size(); ++l) bands.class_of_line(l) = classes[l];
  }
  std::vector<double> b(static_cast<std::size_t>(in.unknowns()) + 100),
    x(static_cast<std::size_t>(at.unknowns()));
  for (auto *v : {&b, &x})
    for (double &value : *v) value = test::random_scalar<double>(g);
  const auto db = ribbon::upload(exec, "test::b", b), dx = ribbon::upload(exec, "test::x", x);
  const Kokkos::View<double *, Memory> r("test::r", x.size());
  ribbon::short_residual(exec, test::to_device(bands), lines, alpha, transposed, in,
                         static_cast<const double *>(db.data()), at, static_cast<const double *>(dx.data()),
                         r.data());
  exec.fence();
  const auto         found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), r);
  const std::int64_t n     = at.rows * at.components;
  for (std::int64_t l = 0; l < at.lines(); ++l) {
    const std::int64_t m = l % lines, c = lhs == Lhs::shared    ? 0
                                          : lhs == Lhs::classes ? classes[static_cast<std::size_t>(m)]
                                                                : m;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += (transposed ? entry(host, c, j, i) : entry(host, c, i, j)) * x[place(at, l, j)];
      EXPECT_NEAR(found(place(at, l, i)), b[place(in, l, i)] - sum / alpha, 1e-13) << l << " " << i;
    }
  }
}

TEST(Refine, ResidualsOfMatricesInFloat)
{
  std::mt19937_64 g(3);
  for (const bool periodic : {false, true})
    for (const bool transposed : {false, true})
      for (const Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line})
        for (const int block : {1, 3})
          for (const int h : {1, 2}) {
            if (block > 1 && h > 1) continue;
            const std::int64_t n = 9, lines = 5,
                               matrices = lhs == Lhs::shared    ? 1
                                          : lhs == Lhs::classes ? 3
                                                                : lines;
            const Floats bands          = random_floats(g, matrices, n, h, block, periodic);
            for (const std::int64_t columns : {1, 2}) {
              const LineSet behind = LineSet::contiguous(n, lines * columns).with_components(block);
              const LineSet beside = LineSet::interleaved(n, lines * columns).with_components(block);
              compare(bands, lhs, lines, behind, beside, transposed);
              compare(bands, lhs, lines, beside, beside, transposed);
            }
          }
}

TEST(Refine, FirstRowBelowTheRangeOfFloat)
{
  const Exec exec;
  for (const double small : {1e-30, 1e-39, 1e-43, 1e-60, 0.}) {
    ribbon::Bands<double, Kokkos::HostSpace> host;
    host.lhs    = Lhs::per_line;
    host.values = decltype(host.values)("test::bands", 2, 6, 3);
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t d = 0; d < 3; ++d)
          host.values(c, i, d) = (d == 1 ? 4 : -1) * (c == 1 && i >= 2 ? small : 1);
    const auto bands   = test::to_device(host);
    double     alpha   = 0;
    const auto rounded = ribbon::round_bands<float>(exec, bands, &alpha);
    const auto first   = ribbon::first_row_below_range<double, float>(exec, bands, rounded);
    EXPECT_EQ(first, small > 0 && small < 1e-38 ? 6 + 2 : -1) << small; // a row of zeros is in range
  }
}

TEST(Refine, SumsAndNoise)
{
  const Exec                           exec;
  const LineSet                        at = LineSet::contiguous(4, 3), out = LineSet::interleaved(4, 3);
  const Kokkos::View<double *, Memory> x("test::x", 12), d("test::d", 12), to("test::to", 12);
  ribbon::fill_with_noise(exec, 12, x.data());
  Kokkos::deep_copy(exec, d, 2.);
  ribbon::sum_lines(exec, at, static_cast<const double *>(x.data()), static_cast<const double *>(d.data()),
                    out, to.data());
  exec.fence();
  const auto hx = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x),
             ht = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  for (std::int64_t l = 0; l < 3; ++l)
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(ht(place(out, l, i)), hx(place(at, l, i)) + 2);
      EXPECT_LE(std::abs(hx(place(at, l, i))), 1);
    }
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// One line of 1e8 rows, on a device, or on a host if RIBBON_LARGE is set.
#include "large.hpp"

#include <ribbon/matrix/line_residuals.hpp>
#include <ribbon/probe/probe.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

using namespace test;

namespace {

/// ||b - A x|| / (||A|| ||x|| + ||b||) of one line with rows `stencil`, in maximum norms.
double stencil_error(const std::vector<double> &stencil, bool periodic,
                     const Kokkos::View<const double *, Memory> &b,
                     const Kokkos::View<const double *, Memory> &x)
{
  using Policy        = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const auto   n      = static_cast<std::int64_t>(b.extent(0));
  const int    h      = static_cast<int>(stencil.size() / 2);
  const auto   s      = ribbon::upload(Exec(), "test::stencil", stencil);
  double       norm_a = 0, norm_r = 0, norm_x = 0, norm_b = 0;
  const double infinite = std::numeric_limits<double>::infinity();
  for (double e : stencil) norm_a += std::abs(e);
  Kokkos::parallel_reduce(
    "test::residual", Policy(0, n),
    KOKKOS_LAMBDA(const std::int64_t i, double &most) {
      double r = b(i);
      for (int d = -h; d <= h; ++d) {
        const std::int64_t j = i + d;
        if (periodic || (j >= 0 && j < n)) r -= s(d + h) * x(j < 0 ? j + n : j >= n ? j - n : j);
      }
      ribbon::enlarge(most, r, infinite);
    },
    Kokkos::Max<double>(norm_r));
  Kokkos::parallel_reduce(
    "test::solution", Policy(0, n),
    KOKKOS_LAMBDA(const std::int64_t i, double &most) { ribbon::enlarge(most, x(i), infinite); },
    Kokkos::Max<double>(norm_x));
  Kokkos::parallel_reduce(
    "test::right_hand_side", Policy(0, n),
    KOKKOS_LAMBDA(const std::int64_t i, double &most) { ribbon::enlarge(most, b(i), infinite); },
    Kokkos::Max<double>(norm_b));
  return norm_r / (norm_a * norm_x + norm_b);
}

/// One line with one stencil in every row.
/// @param cut  whether `partition` has to solve it; on a device auto selects that
void check_line(std::int64_t n, const std::vector<double> &stencil, bool periodic,
                const std::string &algorithm, bool cut)
{
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  SCOPED_TRACE(algorithm + ", " + std::to_string(n) + " rows, half-bandwidth " +
               std::to_string(stencil.size() / 2) + ", diagonal " +
               std::to_string(stencil[stencil.size() / 2]) + (periodic ? ", ring" : ", open"));
  const auto                     size = static_cast<std::size_t>(n);
  Kokkos::View<double *, Memory> b(Kokkos::view_alloc(std::string("test::b"), Kokkos::WithoutInitializing),
                                   size),
    x(Kokkos::view_alloc(std::string("test::x"), Kokkos::WithoutInitializing), size);
  Kokkos::parallel_for(
    "test::b", Policy(0, n),
    KOKKOS_LAMBDA(const std::int64_t i) { b(i) = ribbon::noise<double>(static_cast<std::uint64_t>(i)); });
  ribbon::LineSolver<double, Exec> solver;
  {
    ribbon::Bands<double, Memory> bands;
    bands.periodic = periodic;
    bands.values   = decltype(bands.values)(
      Kokkos::view_alloc(std::string("test::bands"), Kokkos::WithoutInitializing), 1, size, stencil.size());
    const auto values = bands.values;
    const auto s      = ribbon::upload(Exec(), "test::stencil", stencil);
    const int  width  = static_cast<int>(stencil.size());
    Kokkos::parallel_for(
      "test::bands", Policy(0, n), KOKKOS_LAMBDA(const std::int64_t i) {
        for (int d = 0; d < width; ++d) values(0, i, d) = s(d);
      });
    solver = ribbon::LineSolver<double, Exec>(Exec(), ribbon::LineSet::contiguous(n, 1), bands, {algorithm});
  }
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  EXPECT_EQ(solver.report().algorithm.rfind("partition", 0) == 0, cut) << solver.report().algorithm;
  Kokkos::deep_copy(x, 0.0);
  solver.solve(Exec(), b.data(), x.data());
  EXPECT_LE(stencil_error(stencil, periodic, b, x), 1e-13) << solver.report().algorithm;
  Kokkos::deep_copy(x, b);
  solver.solve(Exec(), x.data(), x.data());
  EXPECT_LE(stencil_error(stencil, periodic, b, x), 1e-13) << solver.report().algorithm << ", in place";
}

/// Memory per row, in bytes, to factor and solve a line. On a device: three copies of the bands and a dozen
/// vectors. On a host the values are measured; whole lines are eliminated in extended precision there.
std::int64_t bytes_per_row(std::size_t width, bool periodic, bool cut)
{
  if (ribbon::is_device_space<Exec>) return 24 * static_cast<std::int64_t>(width) + 160;
  if (cut) return width == 3 ? 130 : 165;
  return (periodic ? 2 : 1) * (width == 3 ? 200 : 330);
}

/// Rapidly and slowly decaying inverses, open lines and rings. Returns the cases that do not fit in memory.
std::string check_lines(std::int64_t n)
{
  const std::vector<double> stencils[] = {
    {-1, 2.5, -1}, {-1, 2.0001, -1}, {1, -4, 7, -4, 1}, {1, -4, 6.001, -4, 1}};
  std::string left_out;
  for (const auto &stencil : stencils)
    for (bool periodic : {false, true})
      for (bool cut : {true, false}) { // hosts use `partition` only by name
        if (ribbon::is_device_space<Exec> && !cut) continue;
        const char *const algorithm = cut && !ribbon::is_device_space<Exec> ? "partition" : "auto";
        const auto        needed = static_cast<std::size_t>(n * bytes_per_row(stencil.size(), periodic, cut));
        if (free_memory() < needed)
          left_out += std::string(algorithm) + " of " + std::to_string(stencil.size()) + " diagonals" +
                      (periodic ? ", ring" : "") + ": " + std::to_string(needed >> 30) + " GiB; ";
        else check_line(n, stencil, periodic, algorithm, cut);
      }
  return left_out;
}

TEST(Large, OneLineOfAHundredMillionRows)
{
  if (!ribbon::is_device_space<Exec> && !std::getenv("RIBBON_LARGE"))
    GTEST_SKIP() << "on a host, where RIBBON_LARGE is set";
  const std::string left_out = check_lines(100000000);
  if (!left_out.empty()) GTEST_SKIP() << (free_memory() >> 30) << " GiB of memory are free: not " << left_out;
}

// A smaller case, for every machine.
TEST(Large, OneLineOfAQuarterMillionRows)
{
  const std::string left_out = check_lines(250007);
  if (!left_out.empty()) GTEST_SKIP() << "no memory is free: not " << left_out;
}

} // namespace

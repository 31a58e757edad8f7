// SPDX-License-Identifier: BSD-2-Clause
// tile_products: every width and block, short and long lines, both layouts, rings.
#include "batch.hpp"

#include <ribbon/device/line_tile.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

ribbon::LineSolver<double, Exec> solver_for(const ribbon::LineSet                          &set,
                                            const ribbon::Bands<double, Kokkos::HostSpace> &bands)
{
  return ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands), {"tile_products"});
}

/// Solves lines of one random matrix and measures the backward error, in place and out of place.
void expect_solved(std::int64_t n, int kl, int ku, int block, bool periodic, bool contiguous,
                   std::int64_t lines = 41)
{
  SCOPED_TRACE(std::to_string(n) + " rows, kl " + std::to_string(kl) + ", ku " + std::to_string(ku) +
               ", block " + std::to_string(block) + (periodic ? ", ring" : "") +
               (contiguous ? ", contiguous" : ""));
  std::mt19937_64 g(static_cast<std::uint64_t>(n * 100 + kl * 10 + ku));
  const auto      bands = random_system<double>(g, 1, n, kl, ku, block, periodic);
  const auto      set =
    (contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines))
      .with_components(block);
  const auto          solver = solver_for(set, bands);
  std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<double>(g);
  ASSERT_EQ(solver.report().algorithm, "tile_products");
  const auto x = solve(solver, b);
  EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
  EXPECT_EQ(x, solve(solver, b, true));
}

TEST(TileProducts, EveryBand)
{
  for (int kl = 0; kl <= 8; ++kl)
    for (int ku = 0; ku <= 8; ++ku)
      for (bool periodic : {false, true})
        for (std::int64_t n : {33, 64, 101})
          if (kl + ku > 0) expect_solved(n, kl, ku, 1, periodic, (kl + ku) % 2 == 0);
}

TEST(TileProducts, EveryBlock)
{
  for (int block = 1; block <= 8; ++block)
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true})
        for (std::int64_t n : {2, 3, 5, 16, 31, 40}) expect_solved(n, 1, 1, block, periodic, contiguous);
}

TEST(TileProducts, EveryLength)
{
  for (int h : {1, 2, 4, 5, 8})
    for (bool periodic : {false, true})
      for (std::int64_t n = 2 * h; n <= 80; n += h == 1 ? 1 : 3)
        expect_solved(n, h, h, 1, periodic, n % 2 == 0, 1 + n % 35);
  for (std::int64_t n : {127, 128, 255, 256, 257, 480, 500, 511, 512})
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true}) expect_solved(n, 3, 4, 1, periodic, contiguous, 65);
}

/// Lines of a box that are not adjacent in memory, or adjacent with any start, and other lines for the
/// result.
TEST(TileProducts, LinesAnywhere)
{
  std::mt19937_64    g(3);
  const std::int64_t size[3] = {7, 45, 6};
  for (int direction = 0; direction < 3; ++direction) {
    auto in = ribbon::LineSet::box(size, direction), out = in;
    in.offset = 3, out.offset = 1;
    const auto          bands  = random_system<double>(g, 1, in.rows, 2, 1, 1, true);
    const auto          solver = solver_for(in, bands);
    std::vector<double> b(static_cast<std::size_t>(in.unknowns() + 3)), x(b.size());
    for (auto &v : b) v = random_scalar<double>(g);
    Kokkos::View<double *, Memory>                  from("test::b", b.size()), to("test::x", b.size());
    const Kokkos::View<double *, Kokkos::HostSpace> given(b.data(), b.size()), found(x.data(), x.size());
    Kokkos::deep_copy(from, given);
    Kokkos::deep_copy(to, 7.0);
    solver.solve(Exec(), from.data(), in, to.data(), out);
    Kokkos::fence();
    Kokkos::deep_copy(found, to);
    EXPECT_EQ(x.front(), 7) << "before the lines";
    EXPECT_EQ(x[x.size() - 2], 7) << "behind the lines";
    EXPECT_EQ(x.back(), 7);
    std::rotate(x.begin(), x.end() - 2, x.end()); // to the places of the lines of b
    EXPECT_LE(backward_error(bands, in, x, b), 1e-14) << direction;
  }
}

/// A line with NaN or Inf does not affect the others.
TEST(TileProducts, OtherLinesAreUnharmed)
{
  std::mt19937_64     g(4);
  const auto          bands  = random_system<double>(g, 1, 70, 4, 4, 1, false);
  const auto          set    = ribbon::LineSet::interleaved(70, 33);
  const auto          solver = solver_for(set, bands);
  std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<double>(g);
  const auto clean                         = solve(solver, b);
  b[static_cast<std::size_t>(set(5, 17))]  = std::nan("");
  b[static_cast<std::size_t>(set(32, 69))] = std::numeric_limits<double>::infinity();
  const auto spoiled                       = solve(solver, b);
  for (std::int64_t l = 0; l < 33; ++l)
    for (std::int64_t i = 0; i < 70; ++i) {
      const auto k = static_cast<std::size_t>(set(l, i));
      EXPECT_TRUE(l != 5 || !ribbon::is_finite(spoiled[k]));
      if (l == 5 || l == 32) continue;
      ASSERT_EQ(spoiled[k], clean[k]) << l;
    }
}

/// A matrix of half-bandwidth h with one stencil, I + sigma (difference of order 2 h).
ribbon::Bands<double, Kokkos::HostSpace> stiff(std::int64_t n, int h, double sigma, bool periodic)
{
  ribbon::Bands<double, Kokkos::HostSpace> bands;
  bands.periodic = periodic, bands.lower = bands.upper = h;
  bands.values = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(n),
                                        static_cast<std::size_t>(2 * h + 1));
  for (std::int64_t i = 0; i < n; ++i)
    for (int d = -h; d <= h; ++d) {
      double binomial = 1; // binomial coefficient of 2 h and h + d
      for (int k = 1; k <= h + d; ++k) binomial *= static_cast<double>(2 * h + 1 - k) / k;
      bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(d + h)) =
        (d == 0 ? 1 : 0) + (d % 2 == 0 ? 1 : -1) * sigma * binomial;
    }
  return bands;
}

/// Stiff matrices are solved as accurately as by sweeps of rows. Inaccurate factors are reported, never
/// used.
TEST(TileProducts, DigitsAreKeptOrTheReportSaysSo)
{
  std::mt19937_64 g(6);
  for (int h : {1, 2, 3, 4, 8})
    for (double sigma : {0.4, 100.0, 5000.0, 1e7})
      for (bool periodic : {false, true}) {
        SCOPED_TRACE("half-bandwidth " + std::to_string(h) + ", sigma " + std::to_string(sigma) +
                     (periodic ? ", ring" : ""));
        const auto          set    = ribbon::LineSet::interleaved(200, 33);
        const auto          bands  = stiff(200, h, sigma, periodic);
        const auto          solver = solver_for(set, bands);
        std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
        for (auto &v : b) v = random_scalar<double>(g);
        EXPECT_TRUE(solver.report().ok() || h > 2 || sigma > 1e4) << solver.report().probe_error;
        if (solver.report().ok()) {
          EXPECT_LE(backward_error(bands, set, solve(solver, b), b), 1e-13);
        }
        const ribbon::LineSolver<double, Exec> any(Exec(), set, to_device(bands));
        ASSERT_TRUE(any.report().ok());
        EXPECT_LE(backward_error(bands, set, solve(any, b), b), 1e-13) << any.report().algorithm;
      }
  // No pivots without row exchanges.
  auto bands = random_system<double>(g, 1, 64, 1, 1, 1, false);
  for (std::size_t i = 0; i < 64; ++i)
    bands.values(0, i, 0) = bands.values(0, i, 2) = 1, bands.values(0, i, 1) = 0;
  EXPECT_FALSE(solver_for(ribbon::LineSet::interleaved(64, 3), bands).report().ok());
}

/// auto selects tile_products for systems that no other kernel solves in tiles, on devices with the
/// instructions.
TEST(TileProducts, AutoTakesItWhereItIsFast)
{
  std::mt19937_64 g(7);
  for (bool contiguous : {false, true}) {
    const auto set =
      contiguous ? ribbon::LineSet::contiguous(256, 100) : ribbon::LineSet::interleaved(256, 100);
    const auto report = [&](int h) {
      return ribbon::LineSolver<double, Exec>(Exec(), set,
                                              to_device(random_system<double>(g, 1, 256, h, h, 1, false)))
        .report();
    };
    for (int h : {5, 8})
      EXPECT_EQ(report(h).algorithm == "tile_products", ribbon::device::has_matrix_instructions<Exec>())
        << report(h).algorithm << ", " << report(h).reason;
    EXPECT_NE(report(1).algorithm, "tile_products");
  }
}

/// Unsupported problems are refused with a reason.
TEST(TileProducts, Refuses)
{
  std::mt19937_64 g(5);
  const auto      refusal = [&](const ribbon::LineSet &set, auto bands) {
    try {
      solver_for(set, bands);
    } catch (const std::invalid_argument &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string prefix = "ribbon: algorithm tile_products: ";
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(513, 3), random_system<double>(g, 1, 513, 1, 1, 1, false)),
            prefix + "lines of 513 rows are too long");
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(5, 3), random_system<double>(g, 1, 5, 3, 3, 1, false)),
            prefix + "lines of 5 rows are too short");
  auto classes = random_system<double>(g, 3, 40, 1, 1, 1, false);
  assign(g, classes, ribbon::Lhs::classes, 3);
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(40, 3), classes),
            prefix + "one matrix for all lines, in double precision");
  auto own = random_system<double>(g, 3, 40, 1, 1, 1, false);
  assign(g, own, ribbon::Lhs::per_line, 3);
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(40, 3), own),
            prefix + "one matrix for all lines, in double precision");
}

} // namespace

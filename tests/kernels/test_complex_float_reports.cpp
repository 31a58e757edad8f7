// SPDX-License-Identifier: BSD-2-Clause
// Reports and refusals of complex<float>, which are those of complex<double>, and matrices and solutions at
// the limits of its range.
#include "complex_float.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

using ribbon::Lhs;

namespace test::complex_float {
namespace {

/// The constructor's error for an invalid argument, which `spoil` makes.
template <class S, class Spoil>
std::string refusal_of(const Spoil &spoil)
{
  std::mt19937_64                     g(1);
  auto                                set   = LineSet::interleaved(20, many);
  ribbon::Bands<S, Kokkos::HostSpace> bands = random_system<S>(g, 1, 20, 1, 1, 1, false);
  Options                             options;
  spoil(set, bands, options);
  return Tried<S>(set, bands, options).refusal;
}

TEST(ComplexFloat, RefusesInTheWordsOfTheOthers)
{
  int        k      = 0;
  const auto expect = [&](const auto &spoil) {
    const auto mine = refusal_of<Scalar>(spoil);
    EXPECT_NE(mine, "") << "argument " << k;
    EXPECT_EQ(mine, refusal_of<Wide>(spoil)) << "argument " << k;
    ++k;
  };
  expect([](auto &, auto &, auto &o) { o.algorithm = "lu"; });
  expect([](auto &, auto &, auto &o) { o.singular = "pin"; });
  expect([](auto &, auto &, auto &o) { o.lines_per_team = 3; });
  expect([](auto &, auto &, auto &o) { o.switch_rows = -1; });
  expect([](auto &, auto &, auto &o) { o.rows_per_piece = -1; });
  expect([](auto &, auto &, auto &o) { o.refactors = true; });
  expect([](auto &, auto &, auto &o) { o.refactors = true, o.algorithm = "partition"; });
  expect([](auto &set, auto &, auto &) { set.rows = 21; });
  expect([](auto &set, auto &, auto &) { set.count0 = -6, set.count1 = -1; });
  expect([](auto &set, auto &, auto &) { set.components = 2; });
  expect([](auto &set, auto &, auto &) { set.components = 0; });
  expect([](auto &, auto &bands, auto &) { bands.block = 9; });
  expect([](auto &, auto &bands, auto &) { bands.lower = 2; });
  expect([](auto &, auto &bands, auto &) { bands.values = {}; });
  for (Lhs lhs : {Lhs::classes, Lhs::per_line, Lhs::shifted})
    expect([lhs](auto &, auto &bands, auto &) { bands.lhs = lhs; });
  expect([](auto &, auto &bands, auto &) {
    bands.lhs = Lhs::shifted, bands.values = std::decay_t<decltype(bands.values)>("test::bands", 2, 20, 3);
    bands.alpha = std::decay_t<decltype(bands.alpha)>("test::alpha", many),
    bands.beta  = std::decay_t<decltype(bands.beta)>("test::beta", 1);
  });
}

TEST(ComplexFloat, BatchesWithoutRowsOrLines)
{
  for (const LineSet &set : {LineSet::interleaved(0, 3), LineSet::interleaved(7, 0)}) {
    HostBands bands;
    bands.values = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(set.rows), 3);
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands));
    EXPECT_EQ(solver.report().reason, "no unknowns");
    solver.solve(Exec(), nullptr, nullptr);
  }
}

// Diagonal 1, entries -r above it. The inverse grows as r^100, for r = 3 and 10 beyond the range of float.
TEST(ComplexFloat, MatricesWhoseSolutionsExceedTheRangeOfFloatAreReported)
{
  for (float r : {1.2f, 3.0f, 10.0f})
    for (const char *algorithm : {"auto", "thomas"}) {
      SCOPED_TRACE(testing::Message() << algorithm << ", r " << r);
      HostBands bands;
      bands.values = decltype(bands.values)("test::bands", 1, 100, 3);
      for (std::size_t i = 0; i < 100; ++i)
        bands.values(0, i, 1) = Scalar(1), bands.values(0, i, 2) = Scalar(-r);
      const ribbon::LineSolver<Scalar, Exec> solver(Exec(), LineSet::interleaved(100, 2), to_device(bands),
                                                    {algorithm});
      EXPECT_EQ(solver.report().ok(), r < 2) << static_cast<int>(solver.report().status);
    }
}

// One bad line of six, with a zero pivot or NaN: it is reported, and the others are solved. If all lines
// share a bad matrix, all solutions are NaN.
TEST(ComplexFloat, ReportsBadLines)
{
  const std::int64_t n = 30, bad = 4, row = 11;
  for (bool zero : {false, true})
    for (const char *algorithm : {"thomas", "one_pass", "pivoted"})
      for (Lhs lhs : {Lhs::shared, Lhs::per_line}) {
        SCOPED_TRACE(testing::Message() << algorithm << ", " << to_string(lhs) << ", zero " << zero);
        std::mt19937_64 g(4);
        auto            bands = random_system<Scalar>(g, matrices_for(lhs, many), n, 1, 1, 1, false);
        assign(g, bands, lhs, many);
        const std::size_t c = lhs == Lhs::shared ? 0 : bad;
        for (std::size_t d = 0; d < 3; ++d)
          bands.values(c, row, d) = zero ? Scalar(0) : Scalar(0, std::numeric_limits<float>::quiet_NaN());
        const auto                             set = layout(0, n, 1);
        const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
        EXPECT_EQ(solver.report().status,
                  zero ? ribbon::FactorStatus::zero_pivot : ribbon::FactorStatus::not_finite);
        EXPECT_EQ(solver.report().line, static_cast<std::int64_t>(c));
        EXPECT_TRUE(solver.report().row == row || algorithm != std::string("thomas")) << solver.report().row;
        const auto b = numbers<Scalar>(g, words(set)), before = numbers<Scalar>(g, b.size());
        const auto x =
          on_device(b, before, [&](const Scalar *from, Scalar *to) { solver.solve(Exec(), from, to); });
        if (lhs == Lhs::shared) {
          for (std::int64_t l = 0; l < many; ++l)
            EXPECT_TRUE(std::isnan(x[static_cast<std::size_t>(set(l, n - 1))].real())) << "line " << l;
          continue;
        }
        for (std::int64_t l = 0; l < many; l += l + 1 == bad ? 2 : 1)
          EXPECT_LE(line_error(widened(bands), set, l, cast<Wide>(x), cast<Wide>(b)), rounded_once)
            << "line " << l;
      }
}

// A pivot of 2e-6 relative to its row counts as zero in single precision, unless the caller sets a smaller
// limit. With that limit the line is solved to the last digit. A sum of a row counts as zero if it is zero
// in single precision.
TEST(ComplexFloat, SmallPivotsAndSumsAreThoseOfSinglePrecision)
{
  const std::int64_t n = 20;
  std::mt19937_64    g(2);
  const auto         set                           = layout(1, n, 1);
  auto               bands                         = random_system<Scalar>(g, 1, n, 1, 1, 1, false);
  bands.values(0, n - 2, 0)                        = Scalar(0),
                         bands.values(0, n - 2, 1) = bands.values(0, n - 2, 2) = bands.values(0, n - 1, 0) =
                           Scalar(1),
                         bands.values(0, n - 1, 1) = Scalar(1 + 2e-6f);
  Options options                                  = {"thomas"};
  for (double zero_pivot : {0.0, 1e-5, 1e-10}) {
    options.zero_pivot = zero_pivot;
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
    EXPECT_EQ(solver.report().ok(), zero_pivot == 1e-10)
      << zero_pivot << ": " << solver.report().smallest_pivot;
    if (!solver.report().ok()) {
      EXPECT_EQ(solver.report().row, n - 1);
      continue;
    }
    const auto b = numbers<Scalar>(g, words(set));
    EXPECT_LE(backward_error(widened(bands), set, cast<Wide>(solve(solver, b)), cast<Wide>(b)), rounded_once);
  }

  options          = Options();
  options.singular = "zero_mean";
  for (Lhs lhs : {Lhs::shared, Lhs::per_line})
    for (bool periodic : {false, true}) {
      SCOPED_TRACE(testing::Message() << to_string(lhs) << ", ring " << periodic);
      auto neumann = random_system<Scalar>(g, matrices_for(lhs, many), n, 1, 1, 1, periodic);
      assign(g, neumann, lhs, many);
      double most = 0;
      for (std::size_t c = 0; c < neumann.values.extent(0); ++c)
        for (std::size_t i = 0; i < static_cast<std::size_t>(n);
             ++i) { // real couplings: the null space of the adjoint is close to the constants
          const float left  = !periodic && i == 0 ? 0.0f : 1 + neumann.values(c, i, 0).real() / 2,
                      right = !periodic && i + 1 == static_cast<std::size_t>(n)
                                ? 0.0f
                                : 1 + neumann.values(c, i, 2).real() / 2;
          const Scalar phase(0.6f, 0.8f);
          neumann.values(c, i, 0) = left * phase, neumann.values(c, i, 2) = right * phase,
                               neumann.values(c, i, 1) = -(left + right) * phase;
          most = std::max(most, std::abs(static_cast<double>(neumann.values(c, i, 0).real()) +
                                         neumann.values(c, i, 1).real() + neumann.values(c, i, 2).real()));
        }
      ASSERT_GT(most, 1e-9) << "sums vanish in double, too";
      const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(neumann), options);
      ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
      EXPECT_EQ(solver.report().singular_lines, many);
      EXPECT_EQ(Tried<Wide>(set, widened(neumann), options).solver->report().singular_lines, 0)
        << "of entries that have all digits of double";
      const auto          solution = numbers<Scalar>(g, words(set));
      std::vector<Scalar> b(solution.size());
      for (std::int64_t l = 0; l < many; ++l) // a consistent right-hand side: b = A y
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t d = -1; d <= 1; ++d)
            if (periodic || (i + d >= 0 && i + d < n))
              b[static_cast<std::size_t>(set(l, i))] +=
                neumann.values(static_cast<std::size_t>(matrix_of(neumann, l)), static_cast<std::size_t>(i),
                               static_cast<std::size_t>(d + 1)) *
                solution[static_cast<std::size_t>(set(l, (i + d + n) % n))];
      const auto x = solve(solver, b);
      // Rounding makes b inconsistent.
      EXPECT_LE(backward_error(widened(neumann), set, cast<Wide>(x), cast<Wide>(b)), 4e-7);
      for (std::int64_t l = 0; l < many; ++l) {
        Wide sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += cast<Wide>(x)[static_cast<std::size_t>(set(l, i))];
        EXPECT_LE(ribbon::magnitude(sum), 1e-6 * static_cast<double>(n)) << "line " << l;
      }
    }
}

// Matrices of any size in the range of float: no intermediate result leaves the range. Only a solution
// outside the range is infinite.
TEST(ComplexFloat, OnlySolutionsBeyondTheRangeAreInfinite)
{
  const std::int64_t n   = 40;
  const auto         set = layout(0, n, 1);
  for (float size : {1e-37f, 1e37f}) {
    std::mt19937_64 g(6);
    auto            bands = random_system<Scalar>(g, 1, n, 2, 2, 1, true);
    for (std::size_t k = 0; k < bands.values.size(); ++k) bands.values.data()[k] *= size;
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands));
    ASSERT_TRUE(solver.report().ok());
    auto b = numbers<Scalar>(g, words(set)), large = b;
    for (auto &v : b) v *= size;
    for (auto &v : large) v *= 1e10f;
    const auto x = solve(solver, b), y = solve(solver, large);
    EXPECT_LE(backward_error(widened(bands), set, cast<Wide>(x), cast<Wide>(b)), rounded_once);
    EXPECT_EQ(std::isinf(y[0].real()), size < 1) << y[0].real();
  }
}

} // namespace
} // namespace test::complex_float

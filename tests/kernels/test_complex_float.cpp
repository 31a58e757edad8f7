// SPDX-License-Identifier: BSD-2-Clause
// complex<float>, which is solved in complex<double>: the same algorithms, reports and refusals,
// and solutions rounded once.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

using namespace test;
using ribbon::Lhs;
using ribbon::LineSet;

namespace {

using Scalar    = Kokkos::complex<float>;
using Wide      = Kokkos::complex<double>;
using HostBands = ribbon::Bands<Scalar, Kokkos::HostSpace>;
using Options   = ribbon::LineSolverOptions;

/// backward error of a solution to more than single precision that is rounded: 2^-24 and a little
constexpr double       rounded_once = 6.1e-8;
constexpr std::int64_t many         = 6; ///< lines

template <class To, class From>
std::vector<To> cast(const std::vector<From> &from)
{
  std::vector<To> to;
  for (const auto &v : from)
    to.emplace_back(static_cast<ribbon::real_t<To>>(v.real()), static_cast<ribbon::real_t<To>>(v.imag()));
  return to;
}

ribbon::Bands<Wide, Kokkos::HostSpace> widened(const HostBands &bands)
{
  const Kokkos::DefaultHostExecutionSpace here;
  const auto                              result = ribbon::cast_bands<Wide>(here, bands);
  here.fence();
  return result;
}

/// Interleaved, contiguous, and both at two strides with gaps, the unknowns of a block in planes.
LineSet layout(int kind, std::int64_t n, int block)
{
  if (kind < 2)
    return (kind ? LineSet::contiguous(n, many) : LineSet::interleaved(n, many)).with_components(block);
  const std::int64_t half = kind == 2 ? 4 * n + 3 : 3 * (n + 2) + 1;
  LineSet            set{n, 3, 2, kind == 2 ? 4 : 1, kind == 2 ? 1 : n + 2, half, 5};
  set.components = block, set.component_stride = 2 * half + 4;
  return set;
}
std::size_t words(const LineSet &set)
{
  return static_cast<std::size_t>(set(set.lines() - 1, set.rows - 1) +
                                  (set.components - 1) * set.component_stride + 9);
}

/// Calls f(place in a, place in b) for every unknown of two sets of lines.
template <class F>
void for_each_unknown(const LineSet &a, const LineSet &b, const F &f)
{
  for (std::int64_t l = 0; l < a.lines(); ++l)
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (int c = 0; c < a.components; ++c)
        f(static_cast<std::size_t>(a(l, i) + c * a.component_stride),
          static_cast<std::size_t>(b(l, i) + c * b.component_stride));
}

template <class S>
std::vector<S> numbers(std::mt19937_64 &g, std::size_t count)
{
  std::vector<S> b(count);
  for (auto &v : b) v = random_scalar<S>(g);
  return b;
}

/// A solver, or what the constructor throws.
template <class S>
struct Tried {
  std::optional<ribbon::LineSolver<S, Exec>> solver;
  std::string                                refusal;

  Tried(const LineSet &set, const ribbon::Bands<S, Kokkos::HostSpace> &bands, const Options &options)
  {
    try {
      solver.emplace(Exec(), set, to_device(bands), options);
    } catch (const std::invalid_argument &e) {
      refusal = e.what();
    }
  }
};

/// x = f(b) in the memory of the default execution space, x holding `before` at first.
template <class F>
std::vector<Scalar> on_device(const std::vector<Scalar> &b, const std::vector<Scalar> &before, const F &f)
{
  const auto from = ribbon::upload(Exec(), "test::b", b), to = ribbon::upload(Exec(), "test::x", before);
  f(from.data(), to.data());
  Kokkos::fence();
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  return {x.data(), x.data() + x.extent(0)};
}

void check(const std::string &algorithm, Lhs lhs, int kl, int ku, int block, int kind, std::int64_t n,
           bool periodic)
{
  SCOPED_TRACE(testing::Message() << algorithm << ", " << to_string(lhs) << ", kl " << kl << ", ku " << ku
                                  << ", block " << block << ", layout " << kind << ", rows " << n
                                  << (periodic ? ", ring" : ""));
  std::mt19937_64 g(static_cast<std::uint64_t>(n + 100 * kl + 1000 * block));
  auto            bands = random_system<Scalar>(g, matrices_for(lhs, many), n, kl, ku, block, periodic);
  for (std::size_t i = 1; algorithm == "toeplitz_cr" && i < bands.values.extent(1); ++i)
    for (std::size_t d = 0; d < bands.values.extent(2); ++d) bands.values(0, i, d) = bands.values(0, 0, d);
  assign(g, bands, lhs, many);
  const auto set   = layout(kind, n, block),
             inner = (set.is_contiguous() ? LineSet::contiguous(n, many) : LineSet::interleaved(n, many))
                       .with_components(block);
  Options options, in_double;
  options.algorithm = in_double.algorithm = algorithm, in_double.single_entries = true;
  const Tried<Scalar> mine(set, bands, options);
  const Tried<Wide>   other(inner, widened(bands), in_double);
  ASSERT_EQ(mine.refusal, other.refusal);
  if (!mine.solver) return;
  const auto &r = mine.solver->report(), &s = other.solver->report();
  EXPECT_TRUE(r.ok()) << r.reason;
  EXPECT_EQ(std::tie(r.algorithm, r.reason, r.status, r.smallest_pivot, r.line, r.row, r.probe_error),
            std::tie(s.algorithm, s.reason, s.status, s.smallest_pivot, s.line, s.row, s.probe_error));
  EXPECT_EQ(r.bytes, s.bytes + sizeof(Wide) * static_cast<std::size_t>(set.unknowns()));
  EXPECT_EQ(mine.solver->lines().stride1, set.stride1);
  EXPECT_FALSE(mine.solver->joins());

  const auto        b = numbers<Scalar>(g, words(set));
  std::vector<Wide> right(static_cast<std::size_t>(inner.unknowns()));
  for_each_unknown(
    set, inner, [&](std::size_t from, std::size_t to) { right[to] = Wide(b[from].real(), b[from].imag()); });
  const auto y        = cast<Scalar>(solve(*other.solver, right));
  auto       expected = b;
  for_each_unknown(set, inner, [&](std::size_t to, std::size_t from) { expected[to] = y[from]; });
  const auto x =
    on_device(b, b, [&](const Scalar *from, Scalar *to) { mine.solver->solve(Exec(), from, to); });
  EXPECT_TRUE(x == expected) << "not the solution in double, rounded, or gaps were written";
  EXPECT_TRUE(solve(*mine.solver, b, true) == expected) << "in place";
  EXPECT_LE(backward_error(expanded(widened(bands)), set, cast<Wide>(x), cast<Wide>(b)), rounded_once);
}

// Every algorithm, source and layout, lines of one row and rings with it: what complex<double> takes is
// taken, solved, and rounded once; what it refuses is refused in the same words.
TEST(ComplexFloat, IsSolvedInDoubleAndRoundedOnce)
{
  int k = 0;
  for (const std::string algorithm :
       {"auto", "one_pass", "thomas", "pivoted", "partition", "cyclic_reduction", "parallel_cyclic_reduction",
        "cr_pcr", "toeplitz_cr", "tile_products"})
    for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      for (auto [kl, ku, block] :
           {std::tuple{0, 0, 1}, std::tuple{1, 1, 1}, std::tuple{1, 2, 1}, std::tuple{4, 3, 1},
            std::tuple{8, 0, 1}, std::tuple{1, 1, 2}, std::tuple{1, 1, 3}})
        for (std::int64_t n : {1, 2, 5, algorithm == "partition" ? 130 : 40})
          for (bool periodic : {false, true})
            check(algorithm, lhs, kl, ku, block, k++ * 7 / 3 % 4, n, periodic);
}

// Lines at other strides than those that were factored, three right-hand sides a matrix, whose lines are
// no multiple of a stride's.
TEST(ComplexFloat, SeveralRightHandSidesAtOtherStrides)
{
  const std::int64_t n = 70, all = 3 * many;
  for (const char *algorithm : {"auto", "one_pass", "pivoted", "partition"})
    for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      for (bool contiguous : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << algorithm << ", " << to_string(lhs) << ", contiguous " << contiguous);
        std::mt19937_64 g(8);
        auto            bands = random_system<Scalar>(g, matrices_for(lhs, many), n, 1, 2, 1, true);
        assign(g, bands, lhs, many);
        const auto                             set = layout(contiguous ? 1 : 0, n, 1);
        const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
        ASSERT_TRUE(solver.report().ok());
        const LineSet in{n, 9, 2, 10, 1, 10 * n + 4, 3}, out{n, 2, 9, 1, n + 1, 2 * n + 5, 1};
        const auto    b    = numbers<Scalar>(g, words(in));
        auto          want = numbers<Scalar>(g, words(out)), in_place = b;
        const auto    x = on_device(
             b, want, [&](const Scalar *from, Scalar *to) { solver.solve(Exec(), from, in, to, out); });
        const auto y =
          on_device(b, b, [&](const Scalar *, Scalar *to) { solver.solve(Exec(), to, in, to, in); });
        for (std::int64_t r = 0; r < 3; ++r) {
          std::vector<Scalar> one(static_cast<std::size_t>(set.unknowns()));
          const auto          each = [&](const auto &f) {
            for (std::int64_t l = 0; l < many; ++l)
              for (std::int64_t i = 0; i < n; ++i) f(static_cast<std::size_t>(set(l, i)), r * many + l, i);
          };
          each([&](std::size_t k, std::int64_t l, std::int64_t i) {
            one[k] = b[static_cast<std::size_t>(in(l, i))];
          });
          one = solve(solver, one);
          each([&](std::size_t k, std::int64_t l, std::int64_t i) {
            want[static_cast<std::size_t>(out(l, i))] = in_place[static_cast<std::size_t>(in(l, i))] = one[k];
          });
        }
        ASSERT_EQ(in.lines(), all);
        EXPECT_TRUE(x == want);
        EXPECT_TRUE(y == in_place) << "in place";
        try {
          solver.solve(Exec(), nullptr, LineSet::interleaved(n, many + 1), nullptr,
                       LineSet::interleaved(n, many + 1));
          ADD_FAILURE() << "taken";
        } catch (const std::invalid_argument &e) {
          EXPECT_STREQ(e.what(), "ribbon::LineSolver: solve: the lines of the right-hand side do not fit the "
                                 "lines that were factored");
        }
      }
}

/// What the constructor says to an argument that does not fit, which `spoil` makes.
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
  expect([](auto &, auto &, auto &o) { o.continued = true; });
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

// Diagonal 1, entries -r above it: the inverse grows as r^100, for r = 3 and 10 beyond the range of float.
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

// One bad line of six, by a zero pivot or NaN: it is reported, the others are solved. Where a bad matrix is
// that of all lines, all hold NaN.
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

// A pivot of 2e-6 of its row is zero in single precision, unless a smaller one is asked for: then the line is
// solved to the last digit. Sums of rows count as zero when they are in single precision.
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
             ++i) { // real couplings: the null space of the adjoint is not far from the constants
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
      for (std::int64_t l = 0; l < many; ++l) // consistent: b = A y
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t d = -1; d <= 1; ++d)
            if (periodic || (i + d >= 0 && i + d < n))
              b[static_cast<std::size_t>(set(l, i))] +=
                neumann.values(static_cast<std::size_t>(matrix_of(neumann, l)), static_cast<std::size_t>(i),
                               static_cast<std::size_t>(d + 1)) *
                solution[static_cast<std::size_t>(set(l, (i + d + n) % n))];
      const auto x = solve(solver, b);
      // b is rounded, and no longer consistent
      EXPECT_LE(backward_error(widened(neumann), set, cast<Wide>(x), cast<Wide>(b)), 4e-7);
      for (std::int64_t l = 0; l < many; ++l) {
        Wide sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += cast<Wide>(x)[static_cast<std::size_t>(set(l, i))];
        EXPECT_LE(ribbon::magnitude(sum), 1e-6 * static_cast<double>(n)) << "line " << l;
      }
    }
}

// Matrices of any size that float has: nothing between them and the solution leaves its range. What the
// solution itself loses, is lost.
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

// Other matrices in one call, of the widths that were factored and narrower ones;
// those that were factored stay.
TEST(ComplexFloat, FactorAndSolve)
{
  const std::int64_t n = 50;
  for (const auto &[algorithm, h, block] : {std::tuple{"one_pass", 2, 1},
                                            {"cr_pcr", 1, 1},
                                            {"cr_pcr", 1, 2},
                                            {"thomas", 1, 1},
                                            {"thomas", 2, 1},
                                            {"thomas", 4, 1},
                                            {"thomas", 1, 3},
                                            {"auto", 2, 1}})
    for (Lhs factored : {Lhs::per_line, Lhs::shifted})
      for (Lhs given : {Lhs::per_line, Lhs::shifted})
        for (int narrower : {0, 1}) {
          if (narrower && h == 1) continue;
          SCOPED_TRACE(testing::Message()
                       << algorithm << ", h " << h << ", block " << block << ", " << to_string(factored)
                       << ", " << to_string(given) << ", narrower by " << narrower);
          std::mt19937_64 g(5);
          auto bands  = random_system<Scalar>(g, matrices_for(factored, many), n, h, h, block, true),
               others = random_system<Scalar>(g, matrices_for(given, many), n, h - narrower, h, block, true);
          assign(g, bands, factored, many), assign(g, others, given, many);
          Options options;
          options.algorithm = algorithm, options.refactors = true;
          const auto                             set = layout(3, n, block);
          const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
          ASSERT_TRUE(solver.report().ok());
          const auto b = numbers<Scalar>(g, words(set)), kept = solve(solver, b);
          const auto by = to_device(others);
          try {
            const auto x = on_device(
              b, b, [&](const Scalar *from, Scalar *to) { solver.factor_and_solve(Exec(), by, from, to); });
            EXPECT_LE(backward_error(expanded(widened(others)), set, cast<Wide>(x), cast<Wide>(b)),
                      rounded_once);
            EXPECT_EQ(factored == Lhs::shifted && given == Lhs::per_line, false) << "no room for these";
          } catch (const std::invalid_argument &e) {
            EXPECT_EQ(factored == Lhs::shifted && given == Lhs::per_line, true);
            EXPECT_STREQ(e.what(), "ribbon::LineSolver: factor_and_solve: no room for these matrices of "
                                   "complex<float>; ask for refactors, with matrices of this kind and width");
          }
          EXPECT_TRUE(solve(solver, b) == kept);
        }
  // what is refused: without room, in one that has no kernel for it, matrices that do not fit
  std::mt19937_64 g(5);
  const auto      set   = layout(0, n, 1);
  auto            bands = random_system<Scalar>(g, many, n, 1, 1, 1, false);
  assign(g, bands, Lhs::per_line, many);
  const auto text = [&](const Options &options, const HostBands &others) -> std::string {
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
    Kokkos::View<Scalar *, Memory>         x("test::x", static_cast<std::size_t>(set.unknowns()));
    try {
      solver.factor_and_solve(Exec(), to_device(others), x.data(), x.data());
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
    return "";
  };
  Options with_room   = {"pivoted"};
  with_room.refactors = true;
  EXPECT_EQ(text({"one_pass"}, bands),
            "ribbon::LineSolver: factor_and_solve: no room for these matrices of complex<float>; ask for "
            "refactors, with matrices of this kind and width");
  EXPECT_EQ(text(with_room, bands),
            "ribbon::LineSolver: factor_and_solve: pivoted keeps factors, has other widths or solves "
            "singular lines for zero mean; ask for algorithm one_pass, or thomas with refactors");
  EXPECT_EQ(text(with_room, random_system<Scalar>(g, 1, n, 1, 1, 1, false)),
            "ribbon::LineSolver: factor_and_solve: shared bands (per_line, shifted)");
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Every algorithm crossed with scalars, bandwidths, kinds of matrices, rings, layouts and sizes.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <tuple>

using namespace test;

namespace {

/// Of the backward error.
template <class Scalar>
double limit(const std::string &algorithm = "auto")
{
  return (algorithm.find("pivoted") == 0 ? 1e-14 : 1e-13) *
         (std::is_same_v<ribbon::real_t<Scalar>, float> ? 1.2e-7 / 2.2e-16 : 1);
}

// (half-bandwidth, periodic, contiguous, lhs, algorithm)
using Setting = std::tuple<int, bool, bool, ribbon::Lhs, std::string>;

std::string name(const testing::TestParamInfo<Setting> &info)
{
  const auto &[h, periodic, contiguous, lhs, algorithm] = info.param;
  return std::string(h == 1 ? "tri" : "penta") + (periodic ? "_ring" : "_open") +
         (contiguous ? "_contiguous_" : "_interleaved_") + ribbon::to_string(lhs) + "_" + algorithm;
}

class Solve : public testing::TestWithParam<Setting> {
protected:
  template <class Scalar>
  void check(std::int64_t n, std::int64_t lines, Kind kind)
  {
    const auto &[h, periodic, contiguous, lhs, algorithm] = GetParam();
    const std::uint64_t seed                              = static_cast<std::uint64_t>(n * 1000 + lines);
    SCOPED_TRACE("n = " + std::to_string(n) + ", lines = " + std::to_string(lines) + ", kind " +
                 std::to_string(static_cast<int>(kind)) + ", seed " + std::to_string(seed));
    std::mt19937_64 g(seed);
    auto            bands = random_bands<Scalar>(g, matrices_for(lhs, lines), n, h, periodic, kind);
    assign(g, bands, lhs, lines);
    const auto set =
      contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
    ASSERT_TRUE(solver.report().ok())
      << "status " << static_cast<int>(solver.report().status) << ", probe " << solver.report().probe_error;
    std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
    for (auto &v : b) v = random_scalar<Scalar>(g);
    const auto x = solve(solver, b);
    EXPECT_LE(backward_error(expanded(bands), set, x, b), limit<Scalar>(solver.report().algorithm))
      << solver.report().algorithm;
    EXPECT_TRUE(solve(solver, b, true) == x) << "in place differs from out of place";
    if (n <= 70) compare_with_reference(expanded(bands), set, x, b);
  }

  /// Never more than 100 times the error of partial pivoting (where that is above roundoff).
  template <class Scalar>
  void compare_with_reference(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands,
                              const ribbon::LineSet &set, const std::vector<Scalar> &x,
                              const std::vector<Scalar> &b)
  {
    for (std::int64_t l = 0; l < std::min<std::int64_t>(set.lines(), 3); ++l) {
      const auto          A = ribbon::reference::dense(bands, matrix_of(bands, l));
      std::vector<Scalar> mine, right;
      for (std::int64_t i = 0; i < set.rows; ++i)
        mine.push_back(x[static_cast<std::size_t>(set(l, i))]),
          right.push_back(b[static_cast<std::size_t>(set(l, i))]);
      const double reference =
        ribbon::reference::backward_error(A, ribbon::reference::solve(A, right), right);
      EXPECT_LE(ribbon::reference::backward_error(A, mine, right),
                100 * std::max(reference, static_cast<double>(ribbon::unit_roundoff<Scalar>())));
    }
  }
};

TEST_P(Solve, Double)
{
  const auto &[h, periodic, contiguous, lhs, algorithm] = GetParam();
  for (std::int64_t n : {1,  2,  3,  4,   5,   7,   15,  16,  17,  31,  32,  33,  63,
                         64, 65, 67, 100, 127, 129, 241, 256, 300, 511, 512, 1000}) {
    if (algorithm == "one_pass" && n < 2 * h) continue; // refused, see Refuses
    for (Kind kind : {Kind::dominant, Kind::spd, Kind::poisson}) check<double>(n, n > 300 ? 5 : 37, kind);
  }
  check<double>(64, 1, Kind::dominant);
  check<double>(17, 260, Kind::dominant);
}

TEST_P(Solve, Float)
{
  for (std::int64_t n : {4, 33, 100, 300})
    for (Kind kind : {Kind::dominant, Kind::spd}) check<float>(n, 35, kind);
}

TEST_P(Solve, Complex)
{
  for (std::int64_t n : {4, 33, 100, 300})
    for (Kind kind : {Kind::dominant, Kind::spd}) check<Kokkos::complex<double>>(n, 35, kind);
}

std::vector<Setting> settings()
{
  std::vector<Setting> all;
  for (int h : {1, 2})
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true})
        for (auto lhs :
             {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
          for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted"})
            all.emplace_back(h, periodic, contiguous, lhs, algorithm);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Solve, testing::ValuesIn(settings()), name);

// (kl, ku, block, periodic, contiguous, lhs)
using WideSetting = std::tuple<int, int, int, bool, bool, ribbon::Lhs>;

std::string wide_name(const testing::TestParamInfo<WideSetting> &info)
{
  const auto &[kl, ku, block, periodic, contiguous, lhs] = info.param;
  const std::string system =
    block > 1 ? "block" + std::to_string(block) : "band" + std::to_string(kl) + "_" + std::to_string(ku);
  return system + (periodic ? "_ring" : "_open") + (contiguous ? "_contiguous_" : "_interleaved_") +
         ribbon::to_string(lhs);
}

class SolveSystems : public testing::TestWithParam<WideSetting> {
protected:
  template <class Scalar>
  void check(std::int64_t n, std::int64_t lines, const std::string &algorithm)
  {
    const auto &[kl, ku, block, periodic, contiguous, lhs] = GetParam();
    const std::uint64_t seed                               = static_cast<std::uint64_t>(n * 100 + lines);
    SCOPED_TRACE(algorithm + ", n = " + std::to_string(n) + ", lines = " + std::to_string(lines) + ", seed " +
                 std::to_string(seed));
    std::mt19937_64 g(seed);
    auto            bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, block, periodic);
    assign(g, bands, lhs, lines);
    const auto set =
      (contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines))
        .with_components(block);
    const int h = std::max({kl, ku, 1});
    if (algorithm == "partition" && n < 10 * h) return;
    // half-bandwidth of the kernel
    const int unrolled = h == 3 && lhs == ribbon::Lhs::classes ? 4 : h;
    // no kernel
    if (algorithm == "one_pass" && (n < 2 * unrolled || h > 4 || block == 3 || block > 4)) return;
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
    ASSERT_TRUE(solver.report().ok())
      << "status " << static_cast<int>(solver.report().status) << ", probe " << solver.report().probe_error
      << ", pivot " << solver.report().smallest_pivot;
    std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
    for (auto &v : b) v = random_scalar<Scalar>(g);
    const auto x = solve(solver, b);
    EXPECT_LE(backward_error(expanded(bands), set, x, b), limit<Scalar>(solver.report().algorithm))
      << solver.report().algorithm;
    EXPECT_TRUE(solve(solver, b, true) == x) << "in place differs from out of place";
  }
};

TEST_P(SolveSystems, EveryAlgorithm)
{
  for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted", "partition"}) {
    for (std::int64_t n : {1, 2, 3, 5, 7, 8, 9, 11, 16, 17, 31, 33, 64, 100, 257})
      check<double>(n, n > 64 ? 3 : 11, algorithm);
    for (std::int64_t n : {4, 37})
      check<float>(n, 9, algorithm), check<Kokkos::complex<double>>(n, 9, algorithm);
  }
}

std::vector<WideSetting> wide_settings()
{
  std::vector<WideSetting> all;
  const int                systems[][3] = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {2, 1, 1}, {3, 3, 1}, {4, 4, 1},
                                           {1, 3, 1}, {4, 0, 1}, {5, 5, 1}, {8, 8, 1}, {8, 2, 1}, {0, 8, 1},
                                           {1, 1, 2}, {1, 1, 3}, {1, 1, 4}, {1, 1, 8}};
  for (const auto &s : systems)
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true})
        for (auto lhs :
             {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
          all.emplace_back(s[0], s[1], s[2], periodic, contiguous, lhs);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, SolveSystems, testing::ValuesIn(wide_settings()), wide_name);

/// Orthogonal elimination loses nothing, however long the lines: dominant and indefinite ones, and such
/// whose inverse hardly decays.
TEST(SolveLong, PivotedWhateverTheLength)
{
  using Case               = std::tuple<int, ribbon::Lhs, std::int64_t>;
  const std::int64_t lines = 3;
  for (auto [h, lhs, n] : {Case{1, ribbon::Lhs::shared, 10000},
                           {3, ribbon::Lhs::shared, 10000},
                           {1, ribbon::Lhs::per_line, 10000},
                           {2, ribbon::Lhs::per_line, 10000},
                           {3, ribbon::Lhs::per_line, 10000},
                           {1, ribbon::Lhs::shared, 300000},
                           {2, ribbon::Lhs::per_line, 100000},
                           {8, ribbon::Lhs::shared, 20000}})
    for (const std::string kind : {"dominant", "indefinite", "stiff"}) {
      const bool periodic = kind == "indefinite", contiguous = h == 2;
      SCOPED_TRACE(kind + ", half-bandwidth " + std::to_string(h) + ", " + ribbon::to_string(lhs) + ", " +
                   std::to_string(n) + " rows, seed 5");
      std::mt19937_64 g(5);
      auto            bands = random_system<double>(g, matrices_for(lhs, lines), n, h, h, 1, periodic);
      for (std::size_t c = 0; c < bands.values.extent(0); ++c)
        for (std::size_t i = 0; i < bands.values.extent(1); ++i)
          for (std::size_t d = 0; d < bands.values.extent(2); ++d) {
            const bool diagonal = d == static_cast<std::size_t>(h);
            if (kind == "indefinite" && diagonal) bands.values(c, i, d) *= 0.3;
            if (kind == "stiff") bands.values(c, i, d) = diagonal ? 2.0 * h + 1e-7 : -1;
          }
      assign(g, bands, lhs, lines);
      const auto set =
        contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"pivoted"});
      ASSERT_TRUE(solver.report().ok()) << solver.report().probe_error;
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      EXPECT_LE(backward_error(bands, set, solve(solver, b), b), limit<double>("pivoted"))
        << solver.report().algorithm;
    }
}

// (half-bandwidth, block, periodic, contiguous, per line)
using LongSetting = std::tuple<int, int, bool, bool, bool>;

class SolveLong : public testing::TestWithParam<LongSetting> { };

TEST_P(SolveLong, PiecesOfEveryLength)
{
  const auto &[h, block, periodic, contiguous, per_line] = GetParam();
  for (std::int64_t lines : {1, 3, 33})
    for (std::int64_t n : {200, 999, 1021})
      for (std::int64_t piece : {0, 50, 64, 333}) {
        SCOPED_TRACE(std::to_string(lines) + " lines of " + std::to_string(n) + " rows, pieces of " +
                     std::to_string(piece));
        std::mt19937_64 g(static_cast<std::uint64_t>(n + lines));
        auto            bands = random_system<double>(g, per_line ? lines : 1, n, h, h, block, periodic);
        if (per_line) bands.lhs = ribbon::Lhs::per_line;
        const auto set =
          (contiguous ? ribbon::LineSet::contiguous(n, lines, n + 3) : ribbon::LineSet::interleaved(n, lines))
            .with_components(block);
        ribbon::LineSolverOptions options;
        options.algorithm = "partition", options.rows_per_piece = piece;
        if (2 * piece > n) continue;
        const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
        ASSERT_TRUE(solver.report().ok()) << solver.report().reason << solver.report().probe_error;
        std::vector<double> b(
          static_cast<std::size_t>(set.begin(lines - 1) + n * set.row_stride + block * set.component_stride));
        for (auto &v : b) v = random_scalar<double>(g);
        const auto x = solve(solver, b);
        EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
        const auto in_place = solve(solver, b, true);
        for (std::int64_t l = 0; l < lines; ++l)
          for (std::int64_t i = 0; i < n; ++i)
            ASSERT_EQ(in_place[static_cast<std::size_t>(set(l, i))], x[static_cast<std::size_t>(set(l, i))]);
      }
}

INSTANTIATE_TEST_SUITE_P(
  All, SolveLong,
  testing::Values(LongSetting{1, 1, false, false, false}, LongSetting{1, 1, true, false, true},
                  LongSetting{1, 1, false, true, true}, LongSetting{1, 1, true, true, false},
                  LongSetting{2, 1, false, false, true}, LongSetting{2, 1, true, true, false},
                  LongSetting{3, 1, false, true, true}, LongSetting{1, 2, true, false, false},
                  LongSetting{1, 4, false, false, true}));

// Stencils whose inverse decays fast, slowly (over several pieces) and hardly: pieces of one matrix, two
// lengths, rings, many lines and few pieces.
TEST(SolveLong, AStencilOfAnyDecay)
{
  for (double sigma : {0.4, 100.0, 5000.0})
    for (int h : {1, 2})
      for (bool periodic : {false, true})
        for (std::int64_t lines : {1, 5, 40})
          for (std::int64_t n : {700, 1024, 4099}) {
            if (lines > 5 && n > 1024) continue;
            const auto bands =
              toeplitz(n,
                       h == 1 ? std::vector<double>{-sigma, 1 + 2 * sigma, -sigma}
                              : std::vector<double>{sigma, -4 * sigma, 1 + 6 * sigma, -4 * sigma, sigma},
                       periodic);
            for (bool contiguous : {false, true})
              for (std::int64_t piece : {64, 350, 512}) {
                if (2 * piece > n) continue;
                SCOPED_TRACE(testing::Message()
                             << "sigma " << sigma << " h " << h << " ring " << periodic << " lines " << lines
                             << " rows " << n << " contiguous " << contiguous << " pieces of " << piece);
                const auto set =
                  contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
                ribbon::LineSolverOptions options;
                options.algorithm = "partition", options.rows_per_piece = piece;
                const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
                ASSERT_TRUE(solver.report().ok()) << solver.report().reason << solver.report().probe_error;
                EXPECT_TRUE(solver.report().algorithm.find("corrected") == std::string::npos ||
                            (h == 2 && !contiguous))
                  << solver.report().algorithm;
                std::mt19937_64     g(static_cast<std::uint64_t>(n + lines));
                std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
                for (auto &v : b) v = random_scalar<double>(g);
                const auto x = solve(solver, b);
                EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
                EXPECT_TRUE(solve(solver, b, true) == x) << "in place differs from out of place";
              }
          }
}

// Pieces of whole chunks of contiguous lines, which find the separators beside them in one launch: inverses
// that reach no other separators, one or several pieces away, with and without a tail.
TEST(SolveLong, PiecesFindTheSeparatorsBesideThem)
{
  for (int h : {1, 2})
    for (double sigma : {0.4, 100.0, 5000.0, 1e5})
      for (std::int64_t lines : {1, 3, 40})
        for (std::int64_t n : {546 * 2, 546 * 7, 546 * 30 + 100, 546 * 60 + 3}) {
          if (lines > 3 && n > 4000) continue;
          SCOPED_TRACE(testing::Message()
                       << "sigma " << sigma << " h " << h << " lines " << lines << " rows " << n);
          const auto bands =
            toeplitz(n,
                     h == 1 ? std::vector<double>{-sigma, 1 + 2 * sigma, -sigma}
                            : std::vector<double>{sigma, -4 * sigma, 1 + 6 * sigma, -4 * sigma, sigma},
                     false);
          const auto                set = ribbon::LineSet::contiguous(n, lines, n + n % 2);
          ribbon::LineSolverOptions options;
          options.algorithm = "partition", options.rows_per_piece = 544;
          const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
          ASSERT_TRUE(solver.report().ok()) << solver.report().reason << solver.report().probe_error;
          EXPECT_EQ(solver.report().algorithm.find("corrected"), std::string::npos)
            << solver.report().algorithm;
          std::mt19937_64     g(static_cast<std::uint64_t>(n + lines));
          std::vector<double> b(static_cast<std::size_t>(set.begin(lines - 1) + n));
          for (auto &v : b) v = random_scalar<double>(g);
          const auto x = solve(solver, b);
          EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
          EXPECT_TRUE(solve(solver, b) == x) << "a second solve differs";
          const auto in_place = solve(solver, b, true);
          for (std::int64_t l = 0; l < lines; ++l)
            for (std::int64_t i = 0; i < n; ++i)
              ASSERT_EQ(in_place[static_cast<std::size_t>(set(l, i))],
                        x[static_cast<std::size_t>(set(l, i))]);
        }
}

TEST(SolveLong, AStencilThatDecaysCorrectsTheEndsOfPiecesOnly)
{
  for (bool periodic : {false, true})
    for (int h : {1, 2}) {
      std::mt19937_64           g(1);
      const std::int64_t        n     = 10007;
      const auto                bands = random_bands<double>(g, 1, n, h, periodic, Kind::poisson);
      const auto                set   = ribbon::LineSet::contiguous(n, 2);
      ribbon::LineSolverOptions options;
      options.algorithm = "partition", options.rows_per_piece = 2000;
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
      ASSERT_TRUE(solver.report().ok());
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      EXPECT_LE(backward_error(bands, set, solve(solver, b), b), 1e-15);
    }
}

// Rows in the middle of a longer line, with its solution beside them; two right-hand sides of a matrix.
template <class Scalar>
void check_between(int h, bool contiguous, bool classes, std::int64_t before, std::int64_t n,
                   std::int64_t after, bool stencil = false)
{
  SCOPED_TRACE(testing::Message() << "h " << h << " contiguous " << contiguous << " classes " << classes
                                  << " rows " << n << (stencil ? " of one stencil" : ""));
  const std::int64_t matrices = 6, lines = 2 * matrices, all = before + n + after, S = h;
  std::mt19937_64    g(static_cast<std::uint64_t>(n));
  auto               whole = random_system<Scalar>(g, classes ? 3 : 1, all, h, h, 1, false);
  ribbon::Bands<Scalar, Kokkos::HostSpace> part = whole;
  for (std::size_t i = 1; stencil && i < whole.values.extent(1); ++i)
    for (std::size_t c = 0; c < whole.values.extent(0); ++c)
      for (std::size_t d = 0; d < whole.values.extent(2); ++d) whole.values(c, i, d) = whole.values(c, 0, d);
  assign(g, whole, classes ? ribbon::Lhs::classes : ribbon::Lhs::shared, matrices);
  const auto set =
    (contiguous ? ribbon::LineSet::contiguous(all, lines) : ribbon::LineSet::interleaved(all, lines));
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  ribbon::LineSet first = set, rows = set;
  first.count0     = matrices;
  const auto right = ribbon::upload(Exec(), "test::b", b), solution = ribbon::upload(Exec(), "test::x", b);
  ribbon::LineSolver<Scalar, Exec>(Exec(), first, to_device(whole))
    .solve(Exec(), right.data(), set, solution.data(), set);
  Kokkos::fence();
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, solution);

  part.lhs = whole.lhs, part.class_of_line = whole.class_of_line;
  const std::int64_t stored = stencil ? 3 : n; // the middle one stands for the others
  part.repeats              = n - stored + 1;
  part.values = decltype(part.values)("test::part", whole.values.extent(0), static_cast<std::size_t>(stored),
                                      whole.values.extent(2));
  Kokkos::deep_copy(part.values, Kokkos::subview(whole.values, Kokkos::ALL,
                                                 std::make_pair(before, before + stored), Kokkos::ALL));
  rows.rows = first.rows = n, rows.offset = first.offset = before * set.row_stride;
  ribbon::LineSolverOptions options;
  options.algorithm = "one_pass", options.continued = true;
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), first, to_device(part), options);
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  // S unknowns before a line and S after it, one after another, of all lines side by side
  std::vector<Scalar> beside(static_cast<std::size_t>(2 * S * lines));
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t u = 0; u < 2 * S; ++u) {
      const std::int64_t i                            = u < S ? before - h + u : before + n + u - S;
      beside[static_cast<std::size_t>(u * lines + l)] = x(static_cast<std::size_t>(set(l, i)));
    }
  const auto                known = ribbon::upload(Exec(), "test::known", beside);
  ribbon::KnownRows<Scalar> known_rows;
  known_rows.values = known.data() + S * lines,
  known_rows.lines = ribbon::LineSet{0, lines, 1, lines, 1, 0, 0}, known_rows.stored = static_cast<int>(S);
  solver.solve(Exec(), right.data(), rows, right.data(), rows, known_rows);
  Kokkos::fence();
  const auto y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, right);
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < all; ++i) {
      const auto k = static_cast<std::size_t>(set(l, i));
      if (i >= before && i < before + n)
        ASSERT_LE(static_cast<double>(ribbon::magnitude(y(k) - x(k))), 1e3 * limit<Scalar>())
          << "line " << l << " row " << i;
      else
        ASSERT_EQ(y(k), i >= before + n && i < before + n + h ? x(k) : b[k]) << "line " << l << " row " << i;
    }
}

TEST(SolveBetween, PiecesOfLongerLinesTakeWhatIsKnownBesideThem)
{
  for (bool contiguous : {false, true})
    for (bool classes : {false, true})
      for (std::int64_t n : {10, 32, 65, 160, 1100}) {
        for (int h : {1, 2}) check_between<double>(h, contiguous, classes, 5, n, 6);
        check_between<float>(1, contiguous, classes, 3, n, 2),
          check_between<Kokkos::complex<double>>(2, contiguous, classes, 3, n, 2);
        for (int h : {1, 2}) check_between<Kokkos::complex<float>>(h, contiguous, classes, 5, n, 6);
        for (int h : {1, 2}) check_between<double>(h, contiguous, classes, 5, n, 6, true);
      }
}

TEST(SolveBetween, WhatCannotBeContinuedIsRefused)
{
  const auto                set = ribbon::LineSet::interleaved(50, 3);
  ribbon::LineSolverOptions options;
  options.continued = true;
  EXPECT_NE(refusal(set, toeplitz(50, {-1, 3, -1}, false), options), "");
  options.algorithm = "one_pass";
  EXPECT_EQ(refusal(set, toeplitz(50, {-1, 3, -1}, false), options), "");
  EXPECT_NE(refusal(set, toeplitz(50, {-1, 3, -1}, true), options), "");
  EXPECT_NE(refusal(set, toeplitz(50, {0, 0, -1, 3, -1, 0, 0}, false), options), "") << "no kernel";
}

} // namespace

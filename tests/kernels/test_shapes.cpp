// SPDX-License-Identifier: BSD-2-Clause
// Shapes of kernels and batches: tiles, boxes, empty and large batches, several right-hand
// sides, matrices that change.
#include "batch.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

TEST(SolveShapes, EveryRowsPerThreadAndLinesPerTeam)
{
  for (bool contiguous : {false, true})
    for (int rows : contiguous ? std::vector<int>{32} : std::vector<int>{16, 32, 64})
      for (int lanes : {1, 2, 8, 32})
        for (bool periodic : {false, true}) {
          SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(lanes));
          std::mt19937_64 g(5);
          const auto      bands = random_bands<double>(g, 1, 130, 2, periodic, Kind::spd);
          const auto      set =
            contiguous ? ribbon::LineSet::contiguous(130, 41) : ribbon::LineSet::interleaved(130, 41);
          const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands),
                                                        {"one_pass", 0, rows, lanes});
          std::vector<double>                    b(static_cast<std::size_t>(set.unknowns()));
          for (auto &v : b) v = random_scalar<double>(g);
          EXPECT_LE(backward_error(bands, set, solve(solver, b), b), 1e-13);
        }
}

TEST(SolveShapes, ComplexStencilsInEveryShape)
{
  using Complex = Kokkos::complex<double>;
  for (bool contiguous : {false, true})
    for (int rows : contiguous ? std::vector<int>{0, 16, 32} : std::vector<int>{0, 32})
      for (int lanes : {0, 1, 4, 16})
        for (std::int64_t n : {16, 17, 32, 100, 256, 300})
          for (bool periodic : {false, true}) {
            SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(rows) + " x " +
                         std::to_string(lanes));
            std::mt19937_64 g(5);
            auto            bands = random_bands<Complex>(g, 1, n, 2, periodic, Kind::poisson);
            for (std::size_t i = 0; i < bands.values.extent(1); ++i)
              for (std::size_t d = 0; d < bands.values.extent(2); ++d)
                bands.values(0, i, d) *= Complex(1, 0.1);
            const auto set =
              contiguous ? ribbon::LineSet::contiguous(n, 41) : ribbon::LineSet::interleaved(n, 41);
            const ribbon::LineSolver<Complex, Exec> solver(Exec(), set, to_device(bands),
                                                           {"one_pass", 0, rows, lanes});
            std::vector<Complex>                    b(static_cast<std::size_t>(set.unknowns()));
            for (auto &v : b) v = random_scalar<Complex>(g);
            EXPECT_LE(backward_error(bands, set, solve(solver, b), b), 1e-13);
          }
}

TEST(SolveShapes, OnePassPerLineInEveryShape)
{
  for (int count : {41, 48, 2}) // odd, whole packs of neighbours, less than a sector of the cache
    for (bool contiguous : {false, true})
      for (int rows : count == 41 ? std::vector<int>{2, 7, 16, 32, 64, 200} : std::vector<int>{7, 16})
        for (int lanes : {1, 4, 32})
          for (bool periodic : {false, true})
            for (auto lhs : {ribbon::Lhs::per_line, ribbon::Lhs::shifted}) {
              if (130 / rows * lanes > 500) continue;
              SCOPED_TRACE(std::to_string(count) + " lines, " + std::to_string(rows) + " x " +
                           std::to_string(lanes));
              std::mt19937_64 g(5);
              auto            bands =
                random_bands<double>(g, matrices_for(lhs, count), 130, 2, periodic, Kind::dominant);
              assign(g, bands, lhs, count);
              const auto          set = contiguous ? ribbon::LineSet::contiguous(130, count)
                                                   : ribbon::LineSet::interleaved(130, count);
              std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
              for (auto &v : b) v = random_scalar<double>(g);
              try {
                const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands),
                                                              {"one_pass", 0, rows, lanes});
                EXPECT_LE(backward_error(expanded(bands), set, solve(solver, b), b), 1e-14);
              } catch (const std::invalid_argument &e) { // so many lines of a team, on a device
                EXPECT_GT(lanes, 1) << e.what();
              }
            }
}

/// What `outside` and `ends` do to rows that otherwise agree: entries outside the matrix, and
/// the two rows at either end.
void expect_shifted_stencils(bool contiguous, bool periodic, int n, int h, bool ends, bool outside)
{
  SCOPED_TRACE(std::to_string(n) + " rows, half-bandwidth " + std::to_string(h) + (periodic ? ", ring" : "") +
               (contiguous ? ", contiguous" : "") + (ends ? ", other ends" : ""));
  std::mt19937_64 g(7);
  const auto      stencil = random_bands<double>(g, 2, 1, h, true, Kind::dominant);
  auto            bands   = random_bands<double>(g, 2, n, h, periodic, Kind::dominant);
  const auto      width = static_cast<std::size_t>(2 * h + 1), rows = static_cast<std::size_t>(n);
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t d = 0; d < width; ++d) {
        const bool inside =
          periodic || (i + d >= static_cast<std::size_t>(h) && i + d < rows + static_cast<std::size_t>(h));
        if (!inside) bands.values(c, i, d) = outside ? std::nan("") : 0;
        else if (!ends || (i > 1 && i + 2 < rows)) bands.values(c, i, d) = stencil.values(c, 0, d);
      }
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t i = 0; i < rows; ++i)
      bands.values(c, i, static_cast<std::size_t>(h)) += 4; // dominant whatever was random
  const auto set = contiguous ? ribbon::LineSet::contiguous(n, 41) : ribbon::LineSet::interleaved(n, 41);
  assign(g, bands, ribbon::Lhs::shifted, 41);
  std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<double>(g);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"one_pass"});
  EXPECT_LE(backward_error(expanded(bands), set, solve(solver, b), b), 1e-14);
}

TEST(SolveShapes, ShiftedStencilsAreEliminatedOncePerLine)
{
  for (bool contiguous : {false, true})
    for (bool periodic : {false, true})
      for (int h : {1, 2})
        for (int n : {5, 16, 17, 31, 32, 33, 47, 64, 65, 96, 100, 257, 300, 512})
          for (bool ends : {false, true})
            expect_shifted_stencils(contiguous, periodic, n, h, ends, !periodic && n % 2 == 0);
}

/// What factor_and_solve() throws; empty where it takes the matrices.
template <class Scalar>
std::string refusal_of_values(const ribbon::LineSolver<Scalar, Exec> &solver,
                              const ribbon::Bands<Scalar, Memory>    &bands)
{
  Kokkos::View<Scalar *, Memory> x("test::x", static_cast<std::size_t>(solver.lines().unknowns()));
  try {
    solver.factor_and_solve(Exec(), bands, x.data(), x.data());
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "";
}

/// Other values are solved with, in place, and the factored ones are kept, also by an independent solver.
template <class Scalar>
void expect_other_values(const std::string &algorithm, ribbon::Lhs lhs, const LineSystem &system,
                         bool contiguous)
{
  const auto &[n, kl, ku, block, periodic] = system;
  SCOPED_TRACE(algorithm + ", " + ribbon::to_string(lhs) + ", band " + std::to_string(kl) + "+" +
               std::to_string(ku) + ", blocks of " + std::to_string(block) + ", " + std::to_string(n) +
               " rows");
  const std::int64_t lines = n > 1000 ? 2 : 33;
  std::mt19937_64    g(5);
  const auto         set =
    (contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines))
      .with_components(block);
  auto bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, block, periodic),
       other = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, block, periodic);
  assign(g, bands, lhs, lines), assign(g, other, lhs, lines);
  ribbon::LineSolverOptions options;
  options.algorithm = algorithm, options.refactors = algorithm == "thomas" || algorithm == "auto";
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
  ASSERT_TRUE(solver.report().ok());
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  Kokkos::View<Scalar *, Memory> at("b", b.size());
  const auto                     host  = Kokkos::create_mirror_view(at);
  const double                   limit = 45 * static_cast<double>(ribbon::unit_roundoff<Scalar>());
  for (const auto &each : {solver, solver.independent(Exec())}) {
    std::copy(b.begin(), b.end(), host.data());
    Kokkos::deep_copy(at, host);
    each.factor_and_solve(Exec(), to_device(other), at.data(), at.data());
    Kokkos::fence();
    Kokkos::deep_copy(host, at);
    EXPECT_LE(
      backward_error(expanded(other), set, std::vector<Scalar>(host.data(), host.data() + b.size()), b),
      limit);
    EXPECT_LE(backward_error(expanded(bands), set, solve(each, b), b), limit)
      << "the factored matrices are kept";
  }
  other.periodic = !periodic;
  EXPECT_NE(refusal_of_values(solver, to_device(other)), "");
}

TEST(SolveShapes, FactorAndSolveTakesOtherValues)
{
  for (auto lhs : {ribbon::Lhs::per_line, ribbon::Lhs::shifted})
    for (bool contiguous : {false, true})
      for (bool periodic : {false, true}) {
        for (int h : {1, 2, 3, 4})
          expect_other_values<double>("one_pass", lhs, {50, h, h, 1, periodic}, contiguous);
        for (int block : {2, 4})
          expect_other_values<double>("one_pass", lhs, {30, 1, 1, block, periodic}, contiguous);
        expect_other_values<float>("one_pass", lhs, {50, 1, 3, 1, periodic}, contiguous),
          expect_other_values<Kokkos::complex<double>>("one_pass", lhs, {40, 1, 1, 2, periodic}, contiguous);
        for (const char *algorithm : {"cyclic_reduction", "cr_pcr"})
          expect_other_values<double>(algorithm, lhs, {50, 1, 1, 1, periodic}, contiguous);
        for (const LineSystem &s : {LineSystem{50, 1, 1, 1, periodic},
                                    {50, 2, 1, 1, periodic},
                                    {50, 3, 3, 1, periodic},
                                    {50, 2, 8, 1, periodic},
                                    {30, 1, 1, 2, periodic},
                                    {30, 1, 1, 5, periodic},
                                    {20000, 2, 2, 1, periodic}})
          if (s.n < 1000 || contiguous) expect_other_values<double>("thomas", lhs, s, contiguous);
        expect_other_values<float>("thomas", lhs, {50, 3, 3, 1, periodic}, contiguous),
          expect_other_values<Kokkos::complex<double>>("thomas", lhs, {40, 1, 1, 3, periodic}, contiguous);
        expect_other_values<double>("auto", lhs, {50, 4, 4, 1, periodic}, contiguous);
      }
}

TEST(SolveShapes, FactorAndSolveSaysWhatItWants)
{
  std::mt19937_64 g(5);
  const auto      set   = ribbon::LineSet::interleaved(50, 4);
  auto            bands = random_system<double>(g, 4, 50, 3, 3, 1, false);
  bands.lhs             = ribbon::Lhs::per_line;
  const std::string none =
    "ribbon::LineSolver: factor_and_solve: thomas keeps factors, has other widths or solves singular lines "
    "for zero mean; ask for algorithm one_pass, or thomas with refactors";
  // made no room
  EXPECT_EQ(refusal_of_values<double>({Exec(), set, to_device(bands), {"thomas"}}, to_device(bands)), none);
  ribbon::LineSolverOptions options;
  options.algorithm = "thomas", options.refactors = true;
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
  auto                                   wide = random_system<double>(g, 4, 50, 4, 0, 1, false);
  wide.lhs                                    = ribbon::Lhs::per_line;
  EXPECT_EQ(refusal_of_values(solver, to_device(wide)), none);
  bands.lhs = ribbon::Lhs::shared;
  EXPECT_EQ(refusal_of_values(solver, to_device(bands)), "ribbon::LineSolver: shared bands with 4 matrices");
  EXPECT_EQ(refusal(set, random_system<double>(g, 1, 50, 3, 3, 1, false), options),
            "ribbon::LineSolver: refactors: one matrix per line or shifted ones");
  options.algorithm = "partition", bands.lhs = ribbon::Lhs::per_line;
  EXPECT_EQ(refusal(set, bands, options), "ribbon::LineSolver: algorithm partition has no factor_and_solve");
}

TEST(SolveShapes, FactorAndSolveTakesRingsThatAreNone)
{
  std::mt19937_64 g(5);
  const auto      set   = ribbon::LineSet::interleaved(20, 7);
  auto            bands = random_system<double>(g, 7, 20, 0, 0, 1, true); // no row couples with another
  assign(g, bands, ribbon::Lhs::per_line, 7);
  const auto                             given = to_device(bands);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, given, {"one_pass"});
  Kokkos::View<double *, Memory>         x("x", 140);
  Kokkos::deep_copy(x, 1.0);
  solver.factor_and_solve(Exec(), given, x.data(), x.data());
  Kokkos::fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  EXPECT_LE(backward_error(bands, set, std::vector<double>(host.data(), host.data() + 140),
                           std::vector<double>(140, 1.0)),
            1e-15);
}

TEST(SolveShapes, MatricesMayChangeAfterTheyWereFactored)
{
  for (const char *algorithm : {"one_pass", "thomas", "pivoted", "cyclic_reduction", "partition"})
    for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::per_line, ribbon::Lhs::shifted}) {
      std::mt19937_64 g(5);
      const auto      set   = ribbon::LineSet::interleaved(40, 12);
      auto            bands = random_bands<double>(g, matrices_for(lhs, 12), 40, 1, false, Kind::dominant);
      assign(g, bands, lhs, 12);
      auto given   = bands; // on a host the bands of the solver are the test's own
      given.values = decltype(given.values)("test::given", bands.values.extent(0), bands.values.extent(1),
                                            bands.values.extent(2));
      Kokkos::deep_copy(given.values, bands.values);
      const auto                             device = to_device(given);
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, device, {algorithm});
      Kokkos::deep_copy(device.values, 0.0);
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      EXPECT_LE(backward_error(expanded(bands), set, solve(solver, b), b), 1e-14)
        << algorithm << " " << ribbon::to_string(lhs);
    }
}

TEST(SolveShapes, ThomasThroughScratch)
{
  for (bool contiguous : {false, true})
    for (bool per_line : {false, true})
      for (bool periodic : {false, true})
        for (int h : {1, 2})
          for (std::int64_t n : {1, 5, 8, 31, 32, 33, 63, 64, 65, 130}) {
            if (periodic && n < 2 * h) continue;
            SCOPED_TRACE("n = " + std::to_string(n));
            std::mt19937_64 g(5);
            auto            bands = random_bands<double>(g, per_line ? 41 : 1, n, h, periodic, Kind::spd);
            if (per_line) bands.lhs = ribbon::Lhs::per_line;
            const auto set =
              contiguous ? ribbon::LineSet::contiguous(n, 41) : ribbon::LineSet::interleaved(n, 41);
            const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands),
                                                          {"thomas", 0, 0, 32});
            std::vector<double>                    b(static_cast<std::size_t>(set.unknowns()));
            for (auto &v : b) v = random_scalar<double>(g);
            const auto x = solve(solver, b);
            EXPECT_LE(backward_error(bands, set, x, b), 1e-13);
            EXPECT_TRUE(solve(solver, b, true) == x);
          }
}

// hosts store them past the caches, in whole cache lines where addresses allow that
TEST(SolveShapes, BatchesLargerThanACache)
{
  for (int h : {1, 2})
    for (std::int64_t lines : {70400, 70403})
      for (bool contiguous : {false, true}) {
        SCOPED_TRACE(std::to_string(lines) + " lines");
        const std::int64_t n = contiguous && lines % 2 ? 63 : 64;
        std::mt19937_64    g(1);
        const auto         bands = random_bands<double>(g, 1, n, h, h == 2, Kind::dominant);
        const auto         set =
          contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
        const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"thomas"});
        std::vector<double>                    b(static_cast<std::size_t>(set.unknowns()));
        for (std::size_t k = 0; k < b.size(); ++k) b[k] = static_cast<double>(k * 7919 % 1000) / 500 - 1;
        const auto x = solve(solver, b);
        EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
        EXPECT_TRUE(solve(solver, b, true) == x) << "in place differs from out of place";
      }
}

TEST(SolveShapes, EmptyBatchesAndEmptyLines)
{
  std::mt19937_64 g(1);
  for (auto set : {ribbon::LineSet::interleaved(8, 0), ribbon::LineSet::contiguous(0, 8),
                   ribbon::LineSet::contiguous(0, 0)}) {
    const auto bands = random_bands<double>(g, 1, set.rows, 1, false, Kind::dominant);
    const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands));
    EXPECT_TRUE(solver.report().ok());
    solver.solve(Exec(), nullptr, nullptr);
  }
}

/// Runs of lines that lie side by side end within tiles of a host, and are longer than a tile; in
/// place they are solved once.
TEST(SolveShapes, LinesOfABoxInEveryDirection)
{
  const std::int64_t sizes[][3] = {{6, 9, 5}, {37, 20, 5}, {70, 9, 3}, {65, 40, 60}};
  std::mt19937_64    g(3);
  for (const auto &size : sizes)
    for (int d = 0; d < 3; ++d)
      for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line}) {
        const auto set = ribbon::LineSet::box(size, d);
        auto       bands =
          random_bands<double>(g, matrices_for(lhs, set.lines()), set.rows, 1, d == 1, Kind::dominant);
        assign(g, bands, lhs, set.lines());
        const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands));
        std::vector<double>                    b(static_cast<std::size_t>(set.unknowns()));
        for (auto &v : b) v = random_scalar<double>(g);
        const auto x = solve(solver, b);
        EXPECT_LE(backward_error(expanded(bands), set, x, b), 1e-14)
          << size[0] << " " << d << " " << ribbon::to_string(lhs);
        EXPECT_TRUE(solve(solver, b, true) == x) << size[0] << " " << d << " " << ribbon::to_string(lhs);
      }
}

TEST(SolveShapes, SeveralRightHandSidesPerMatrix)
{
  std::mt19937_64 g(4);
  auto            bands                      = random_bands<double>(g, 3, 20, 2, false, Kind::dominant);
  bands.lhs                                  = ribbon::Lhs::per_line;
  const auto                             set = ribbon::LineSet::contiguous(20, 3);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands));
  const ribbon::LineSet                  many{20, 3, 4, 1, 20, 70, 0}; // four right-hand sides, 70 apart
  std::vector<double>                    host(280);
  for (auto &v : host) v = random_scalar<double>(g);
  Kokkos::View<double *, Memory> b("b", 280), x("x", 280);
  const auto                     mirror = Kokkos::create_mirror_view(b);
  for (std::size_t k = 0; k < 280; ++k) mirror(k) = host[k];
  Kokkos::deep_copy(b, mirror);
  solver.solve(Exec(), b.data(), many, x.data(), many);
  Kokkos::fence();
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
  for (std::int64_t l = 0; l < many.lines(); ++l) {
    const auto          A = ribbon::reference::dense(bands, l % 3);
    std::vector<double> mine, right;
    for (std::int64_t i = 0; i < 20; ++i)
      mine.push_back(result(static_cast<std::size_t>(many(l, i)))),
        right.push_back(host[static_cast<std::size_t>(many(l, i))]);
    EXPECT_LE(ribbon::reference::backward_error(A, mine, right), 1e-14);
  }
}

template <class Scalar>
void expect_rows_that_arrive_in_packs(int h, int block)
{
  for (std::int64_t lines : {32, 33, 64, 68, 70})
    for (std::int64_t n : {40, 64, 100, 130})
      for (std::int64_t offset : {0, 1, 2, 4})
        for (bool periodic : {false, true}) {
          SCOPED_TRACE(std::to_string(lines) + " lines of " + std::to_string(n) + " rows, offset " +
                       std::to_string(offset));
          std::mt19937_64 g(5);
          const auto      bands = random_system<Scalar>(g, 1, n, h, h, block, periodic);
          auto            set   = ribbon::LineSet::interleaved(n, lines).with_components(block);
          set.offset            = offset;
          const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {"one_pass"});
          std::vector<Scalar>                    b(static_cast<std::size_t>(offset + n * lines * block));
          for (auto &v : b) v = random_scalar<Scalar>(g);
          EXPECT_LE(backward_error(bands, set, solve(solver, b), b),
                    45 * static_cast<double>(ribbon::unit_roundoff<Scalar>()));
        }
}

/// Contiguous lines, which the copy engine moves where they begin at multiples of 16 bytes and end there.
template <class Scalar>
void expect_lines_that_arrive_whole(int h, int block)
{
  for (std::int64_t n : {2, 31, 34, 64, 65, 101, 200})
    for (std::int64_t offset : {0, 1, 4})
      for (std::int64_t gap : {0, 1, 4})
        for (const char *algorithm : {"one_pass", "pivoted"}) {
          if (n < 2 * h || (offset == 4 && gap == 1)) continue;
          SCOPED_TRACE(std::string(algorithm) + ", lines of " + std::to_string(n) + " rows, offset " +
                       std::to_string(offset) + ", gap " + std::to_string(gap));
          const std::int64_t lines = 37;
          std::mt19937_64    g(5);
          const auto         bands = random_system<Scalar>(g, 1, n, h, h, block, n > 64);
          auto               set   = ribbon::LineSet::contiguous(n, lines, n + gap).with_components(block);
          set.offset               = offset;
          const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
          std::vector<Scalar> b(static_cast<std::size_t>(offset + (n + gap) * lines * block));
          for (auto &v : b) v = random_scalar<Scalar>(g);
          const auto x = solve(solver, b);
          EXPECT_LE(backward_error(bands, set, x, b),
                    45 * static_cast<double>(ribbon::unit_roundoff<Scalar>()));
          const auto y = solve(solver, b, true);
          for (std::int64_t l = 0; l < lines; ++l)
            for (std::int64_t k = 0; k < n * block; ++k)
              ASSERT_EQ(y[static_cast<std::size_t>(set.begin(l) + k)],
                        x[static_cast<std::size_t>(set.begin(l) + k)])
                << "in place, line " << l;
        }
}

TEST(SolveShapes, ContiguousLinesArriveWholeWhereAddressesAllowThat)
{
  for (int h : {1, 2, 4}) expect_lines_that_arrive_whole<double>(h, 1);
  for (int block : {2, 4}) expect_lines_that_arrive_whole<double>(1, block);
  expect_lines_that_arrive_whole<float>(2, 1), expect_lines_that_arrive_whole<float>(1, 2),
    expect_lines_that_arrive_whole<Kokkos::complex<double>>(1, 1);
}

TEST(SolveShapes, RowsArriveInPacksWhereAddressesAllowThat)
{
  for (int h : {1, 2, 4}) expect_rows_that_arrive_in_packs<double>(h, 1);
  for (int block : {2, 4}) expect_rows_that_arrive_in_packs<double>(1, block);
  expect_rows_that_arrive_in_packs<float>(1, 1), expect_rows_that_arrive_in_packs<float>(1, 2),
    expect_rows_that_arrive_in_packs<float>(1, 4);
  expect_rows_that_arrive_in_packs<Kokkos::complex<double>>(2, 1),
    expect_rows_that_arrive_in_packs<Kokkos::complex<double>>(1, 2);
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Shapes of kernels and batches: tiles, boxes, empty and large batches, several right-hand sides.
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
  for (int count : {41, 48, 2}) // odd, a multiple of vector packs, less than a sector of the cache
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
              } catch (const std::invalid_argument &e) { // too many lines per team, on a device
                EXPECT_GT(lanes, 1) << e.what();
              }
            }
}

/// Stencils with exceptions: `outside` puts NaN outside the matrix, `ends` changes the two rows at either
/// end.
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
      bands.values(c, i, static_cast<std::size_t>(h)) += 4; // makes all rows dominant
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

// Hosts store these batches with streaming stores, in whole cache lines if addresses allow it.
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

/// Runs of adjacent lines end within tiles of a host, and are longer than a tile. In place they are solved
/// once.
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
  // four right-hand sides, at a distance of 70
  const ribbon::LineSet many{20, 3, 4, 1, 20, 70, 0};
  std::vector<double>   host(280);
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

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Lines of many chunks, whose reduced systems need more than a product: teams of several blocks,
// corrections, steps of cyclic reduction.
#include "batch.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

TEST(SolveShapes, LongInterleavedLines) // teams of several blocks where a device has them
{
  using Row     = std::vector<double>;
  int corrected = 0;
  for (const Row &row : {Row{-1, 2.001, -1}, Row{-1, 4, -1}, Row{1, -4, 6.001, -4, 1}, Row{1, -4, 11, -4, 1}})
    for (std::int64_t n : {700, 1025, 2113, 4096})
      for (bool periodic : {false, true})
        // A stencil; a general matrix; a ring with a small eigenvalue, whose reduced system is corrected.
        for (double at_the_end : {0.0, 1.0, 1e-6}) {
          SCOPED_TRACE(std::to_string(n) + " rows, half-bandwidth " + std::to_string(row.size() / 2) +
                       ", ring " + std::to_string(periodic) + ", end " + std::to_string(at_the_end));
          std::mt19937_64 g(5);
          auto            bands = toeplitz(n, row, periodic);
          bands.values(0, static_cast<std::size_t>(n - 1), row.size() / 2) += at_the_end;
          if (at_the_end == 1e-6)
            for (std::int64_t i = 0; i < n; ++i)
              bands.values(0, static_cast<std::size_t>(i), row.size() / 2) =
                row.size() == 3 ? 2 + 1e-10 : 6 + 1e-10;
          if (at_the_end == 1e-6 && !periodic) continue;
          if (at_the_end == 1.0) // a general matrix
            for (std::int64_t i = 0; i < n; ++i)
              bands.values(0, static_cast<std::size_t>(i), row.size() / 2) +=
                0.25 * random_scalar<double>(g) + 0.25;
          const auto                             set = ribbon::LineSet::interleaved(n, 66);
          const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"one_pass"});
          ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
          std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
          for (auto &v : b) v = random_scalar<double>(g);
          const auto x = solve(solver, b);
          EXPECT_LE(backward_error(bands, set, x, b), 1e-13) << solver.report().algorithm;
          EXPECT_TRUE(solve(solver, b, true) == x);
          corrected += solver.report().algorithm == "one_pass with correction";
        }
  EXPECT_GT(corrected, 0);
}

/// Contiguous lines in float. Threads have 64 rows if lines of more than 64 rows have one stencil and a
/// short last chunk, or if the test asks for it.
TEST(SolveShapes, LongChunksOfFloats)
{
  using Row = std::vector<double>;
  for (const Row &row : {Row{-1, 2.01, -1}, Row{1, -4, 11, -4, 1}})
    for (std::int64_t n : {63, 64, 130, 250, 257, 300, 500, 1000, 1021, 2050})
      for (bool periodic : {false, true})
        for (bool general : {false, true})
          for (std::int64_t gap : {0, 1, 2, 4}) {
            SCOPED_TRACE(std::to_string(n) + " rows, half-bandwidth " + std::to_string(row.size() / 2) +
                         (periodic ? ", ring" : "") + (general ? ", general" : "") + ", gap " +
                         std::to_string(gap));
            std::mt19937_64 g(5);
            const auto      stencil = toeplitz(n, row, periodic);
            auto            bands   = random_system<float>(g, 1, n, static_cast<int>(row.size() / 2),
                                              static_cast<int>(row.size() / 2), 1, periodic);
            for (std::size_t i = 0; i < bands.values.extent(1) && !general; ++i)
              for (std::size_t d = 0; d < row.size(); ++d)
                bands.values(0, i, d) = static_cast<float>(stencil.values(0, i, d));
            ribbon::LineSolverOptions options;
            options.algorithm = "one_pass", options.rows_per_thread = general || n == 64 || gap == 4 ? 64 : 0;
            const auto                            set = ribbon::LineSet::contiguous(n, 37, n + gap);
            const ribbon::LineSolver<float, Exec> solver(Exec(), set, to_device(bands), options);
            ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
            std::vector<float> b(static_cast<std::size_t>((n + gap) * 37));
            for (auto &v : b) v = random_scalar<float>(g);
            const auto x = solve(solver, b), y = solve(solver, b, true);
            EXPECT_LE(backward_error(bands, set, x, b),
                      45 * static_cast<double>(ribbon::unit_roundoff<float>()));
            for (std::int64_t l = 0; l < 37; ++l)
              for (std::int64_t i = 0; i < n; ++i)
                ASSERT_EQ(y[static_cast<std::size_t>(set(l, i))], x[static_cast<std::size_t>(set(l, i))])
                  << "in place, line " << l;
          }
}

/// A number of lines of n rows with more tiles than run at once.
std::int64_t lines_for_teams_that_stay(std::int64_t n)
{
  return (ribbon::is_device_space<Exec> ? 2500000 : 60000) / n + 3;
}

/// The number of entries that differ between two arrays, at the rows of lines.
std::int64_t differing(const ribbon::LineSet &set, const std::vector<double> &x, const std::vector<double> &y,
                       const ribbon::LineSet &of_y)
{
  std::int64_t count = 0;
  for (std::int64_t l = 0; l < set.lines(); ++l)
    for (std::int64_t i = 0; i < set.rows; ++i)
      count += !(x[static_cast<std::size_t>(set(l, i))] == y[static_cast<std::size_t>(of_y(l, i))]);
  return count;
}

TEST(SolveShapes, TeamsThatStay) // coefficients of a general matrix
{
  for (int K : {1, 2})
    for (std::int64_t n : {256, 384, 514, 802, 1024, 1202, 2048}) {
      const bool periodic = n % 4 == 0;
      SCOPED_TRACE(std::to_string(n) + " rows, half-bandwidth " + std::to_string(K));
      std::mt19937_64 g(11);
      const auto      bands = random_system<double>(g, 1, n, K, K, 1, periodic);
      const auto      set   = ribbon::LineSet::contiguous(n, lines_for_teams_that_stay(n));
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"one_pass"});
      ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      const auto x = solve(solver, b);
      EXPECT_LE(backward_error(bands, set, x, b), 1e-14);
      EXPECT_TRUE(solve(solver, b, true) == x);
      // Lines with gaps, whose strides are multiples of 16 bytes or not. The copy engine moves both input
      // and output, one of them or neither.
      for (std::int64_t in_gap : {0, 1, 2})
        for (std::int64_t out_gap : {0, 1, 2}) {
          SCOPED_TRACE(std::to_string(in_gap) + " numbers between lines, " + std::to_string(out_gap) +
                       " of the solution");
          auto in = set, out = set;
          in.stride0 += in_gap, out.stride0 += out_gap, in.offset = in_gap == 2, out.offset = 2 * out_gap;
          std::vector<double> apart(static_cast<std::size_t>(in.offset + in.stride0 * in.count0), 7);
          for (std::int64_t l = 0; l < set.lines(); ++l)
            for (std::int64_t i = 0; i < n; ++i)
              apart[static_cast<std::size_t>(in(l, i))] = b[static_cast<std::size_t>(set(l, i))];
          const Kokkos::View<double *, Memory> from("test::b", apart.size()),
            to("test::x", static_cast<std::size_t>(out.offset + out.stride0 * out.count0));
          Kokkos::deep_copy(
            from, Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                    apart.data(), apart.size()));
          solver.solve(Exec(), from.data(), in, to.data(), out);
          Kokkos::fence();
          const auto                found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
          const std::vector<double> y(found.data(), found.data() + found.size());
          EXPECT_EQ(differing(set, x, y, out), 0);
          EXPECT_EQ(std::count_if(y.begin(), y.end(), [](double v) { return v != 0; }),
                    std::count_if(x.begin(), x.end(), [](double v) { return v != 0; }))
            << "written between lines";
        }
    }
}

/// Contiguous lines with a slowly decaying reduced inverse. Steps of cyclic reduction apply where they are
/// accurate.
template <class Scalar>
void expect_long_contiguous_lines(const std::vector<std::int64_t> &lengths)
{
  using Row    = std::vector<double>;
  int accurate = 0, cases = 0;
  for (const Row &row : {Row{-1, 2.0002, -1}, Row{-1, 2.0002, -1.0001}, Row{1, -4, 6.0002, -4, 1},
                         Row{1, -4, 6.00000001, -4, 1}, Row{-0.2, -1, 2.4002, -1, -0.2}})
    for (std::int64_t n : lengths)
      for (bool periodic : {false, true})
        for (const char *kind : {"stencil", "general", "classes", "corrected"}) {
          SCOPED_TRACE(std::to_string(n) + " rows, diagonal " + std::to_string(row[row.size() / 2]) +
                       ", half-bandwidth " + std::to_string(row.size() / 2) + ", ring " +
                       std::to_string(periodic) + ", " + kind);
          if (sizeof(Scalar) < 8 && row[row.size() / 2] == 6.00000001) continue; // singular in float
          // The coefficients of all chunks do not fit in scratch.
          if (n == 4096 && kind[0] != 's' && ribbon::is_device_space<Exec>) continue;
          const bool                               classes = kind[1] == 'l';
          std::mt19937_64                          g(5);
          const auto                               stencil = toeplitz(n, row, periodic);
          ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
          bands.periodic = periodic;
          bands.values =
            decltype(bands.values)("test::bands", classes ? 3 : 1, static_cast<std::size_t>(n), row.size());
          for (std::size_t m = 0; m < bands.values.extent(0); ++m)
            for (std::size_t i = 0; i < bands.values.extent(1); ++i)
              for (std::size_t d = 0; d < row.size(); ++d) {
                bands.values(m, i, d) = static_cast<Scalar>(stencil.values(0, i, d));
                if (kind[0] != 's' && d == row.size() / 2)
                  bands.values(m, i, d) +=
                    static_cast<Scalar>(1e-5 * static_cast<double>((i * 7919 + 13 * m) % 101));
                if (kind[1] == 'o' && d == row.size() / 2 && i + 1 == bands.values.extent(1))
                  bands.values(m, i, d) += static_cast<Scalar>(1);
              }
          if (classes) assign(g, bands, ribbon::Lhs::classes, 11);
          const auto                             set = ribbon::LineSet::contiguous(n, 11);
          const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {"one_pass"});
          ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
          std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
          for (auto &v : b) v = random_scalar<Scalar>(g);
          const auto   x        = solve(solver, b);
          const double error    = backward_error(classes ? expanded(bands) : bands, set, x, b),
                       roundoff = static_cast<double>(ribbon::unit_roundoff<Scalar>());
          EXPECT_LE(error, 900 * roundoff) << solver.report().algorithm;
          accurate += error <= 20 * roundoff, ++cases;
          EXPECT_TRUE(solve(solver, b, true) == x);
          EXPECT_TRUE(solve(solver, b) == x);
        }
  EXPECT_GE(10 * accurate, 9 * cases);
}

TEST(SolveShapes, LongContiguousLines)
{
  expect_long_contiguous_lines<double>({288, 310, 333, 352, 511, 640, 700, 1000, 1025, 1056, 2113, 4096});
  expect_long_contiguous_lines<Kokkos::complex<double>>({288, 640, 1000});
  expect_long_contiguous_lines<float>({333, 1056});
}

/// Tiles of one and two contiguous lines keep these lines in blocks, at other places of scratch and with
/// other threads for chunks. Results must not change.
template <class Scalar>
void expect_pieces_to_change_nothing(int h)
{
  for (std::int64_t n : {64, 96, 128, 256, 320, 500, 512, 1024})
    for (std::int64_t gap : {0, 1, 4})
      for (bool general : {false, true})
        for (const char *algorithm : {"one_pass", "pivoted"}) {
          SCOPED_TRACE(std::string(algorithm) + ", half-bandwidth " + std::to_string(h) + ", " +
                       std::to_string(n) + " rows, gap " + std::to_string(gap) + ", general " +
                       std::to_string(general));
          std::mt19937_64 g(5);
          const auto      bands =
            random_bands<Scalar>(g, 1, n, h, n % 3 == 1, general || h > 2 ? Kind::dominant : Kind::poisson);
          const auto          set = ribbon::LineSet::contiguous(n, 9, n + gap);
          std::vector<Scalar> b(static_cast<std::size_t>((n + gap) * 9)), wide;
          for (auto &v : b) v = random_scalar<Scalar>(g);
          for (int lanes : {8, 2, 1}) {
            const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands),
                                                          {algorithm, 0, 0, lanes});
            const auto                             x = solve(solver, b);
            EXPECT_LE(backward_error(bands, set, x, b),
                      45 * static_cast<double>(ribbon::unit_roundoff<Scalar>()))
              << lanes << " lines";
            if (wide.empty()) wide = x;
            // A device stores the coefficients of a small tile elsewhere, and rounds other products with
            // them.
            for (std::int64_t l = 0; l < 9 && !ribbon::is_device_space<Exec>; ++l)
              for (std::int64_t k = 0; k < n; ++k)
                ASSERT_EQ(x[static_cast<std::size_t>(set.begin(l) + k)],
                          wide[static_cast<std::size_t>(set.begin(l) + k)])
                  << lanes << " lines, line " << l << ", row " << k;
          }
        }
}

TEST(SolveShapes, ContiguousLinesInPieces)
{
  for (int h : {1, 2, 4}) expect_pieces_to_change_nothing<double>(h);
  expect_pieces_to_change_nothing<float>(1), expect_pieces_to_change_nothing<Kokkos::complex<double>>(2);
}

} // namespace

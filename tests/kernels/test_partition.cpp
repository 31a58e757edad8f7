// SPDX-License-Identifier: BSD-2-Clause
// `partition` for lines at any places: two strides, gaps and offsets, separate b and x, several right-hand
// sides. Also its reports, and independent solvers.
#include "batch.hpp"

#include <ribbon/algorithm/name.hpp>

#include <gtest/gtest.h>

#include <limits>

using namespace test;
using ribbon::FactorStatus;
using ribbon::LineSet;

namespace {

/// `count` right-hand sides of twelve lines, interleaved or contiguous. Runs of `run` lines have one
/// stride, with gaps between runs.
LineSet lines_in_runs(std::int64_t n, std::int64_t run, bool contiguous, std::int64_t count = 1)
{
  const std::int64_t runs = 12 * count / run, pitch = n + n % 2;
  LineSet            s = contiguous ? LineSet{n, run, runs, 1, pitch, run * pitch + 6, 4}
                                    : LineSet{n, run, runs, run + 1, 1, n * (run + 1) + 5, 3};
  return runs == 1 ? s.merged() : s;
}
std::size_t memory_of(const LineSet &s)
{
  return static_cast<std::size_t>(s.begin(s.lines() - 1) + s.rows * s.row_stride +
                                  s.components * s.component_stride + 1);
}

template <class Scalar>
Kokkos::View<Scalar *, Memory> on_device(const std::vector<Scalar> &host)
{
  Kokkos::View<Scalar *, Memory> view("test::x", host.size());
  const auto                     mirror = Kokkos::create_mirror_view(view);
  std::copy(host.begin(), host.end(), mirror.data());
  Kokkos::deep_copy(view, mirror);
  return view;
}
template <class Scalar>
std::vector<Scalar> on_host(const Kokkos::View<Scalar *, Memory> &view)
{
  Kokkos::fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<Scalar>(host.data(), host.data() + host.extent(0));
}

/// Lines [first, first + 12) of an array, one after another.
template <class Scalar>
std::vector<Scalar> gathered(const LineSet &s, std::int64_t first, const std::vector<Scalar> &from)
{
  std::vector<Scalar> to;
  for (std::int64_t l = first; l < first + 12; ++l)
    for (std::int64_t i = 0; i < s.rows; ++i)
      for (int c = 0; c < s.components; ++c)
        to.push_back(from[static_cast<std::size_t>(s(l, i) + c * s.component_stride)]);
  return to;
}

/// Checks that solutions are accurate to rounding, and that only the lines of `out` are written.
template <class Scalar>
void expect_solved(const ribbon::LineSolver<Scalar, Exec>         &solver,
                   const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, const LineSet &in,
                   const LineSet &out)
{
  std::mt19937_64     g(7);
  const Scalar        untouched(123);
  std::vector<Scalar> b(memory_of(in)), x(memory_of(out), untouched);
  for (auto &v : b) v = random_scalar<Scalar>(g);
  const auto device_b = on_device(b), device_x = on_device(x);
  solver.solve(Exec(), device_b.data(), in, device_x.data(), out);
  x               = on_host(device_x);
  const auto each = LineSet::contiguous(in.rows, 12).with_components(in.components);
  for (std::int64_t first = 0; first < in.lines(); first += 12)
    EXPECT_LE(backward_error(bands, each, gathered(out, first, x), gathered(in, first, b)),
              45 * static_cast<double>(ribbon::unit_roundoff<Scalar>()))
      << "right-hand side " << first / 12;
  EXPECT_EQ(static_cast<std::int64_t>(x.size()) - std::count(x.begin(), x.end(), untouched), out.unknowns());
}

/// A variant of partition, and the settings that select it.
struct Way {
  const char  *what;
  bool         contiguous, per_line, periodic;
  int          h, block;
  std::int64_t n, piece;
  double       diagonal; ///< of the stencil -1, d, -1; 0: random bands
};
const Way ways[] = {{"known", false, false, false, 1, 1, 500, 64, 2.0001},
                    {"known, decay", false, false, true, 1, 1, 500, 64, 5},
                    {"several matrices", false, false, false, 2, 1, 330, 50, 0},
                    {"corrected, matrices of lines", false, true, true, 2, 1, 330, 50, 0},
                    {"looped, matrices of lines", false, true, false, 3, 1, 200, 40, 0},
                    {"blocks", true, true, false, 1, 2, 200, 40, 0},
                    {"contiguous", true, true, false, 1, 1, 330, 50, 0},
                    {"joined", true, false, false, 1, 1, 546 * 3 + 100, 544, 2.001},
                    {"near", true, false, false, 1, 1, 546 * 3 + 100, 544, 5}};

template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> bands_of(const Way &way)
{
  std::mt19937_64 g(3);
  auto bands = random_system<Scalar>(g, way.per_line ? 12 : 1, way.n, way.h, way.h, way.block, way.periodic);
  for (std::size_t i = 0; way.diagonal > 0 && i < bands.values.extent(1); ++i)
    for (std::size_t d = 0; d < 3; ++d)
      bands.values(0, i, d) = Scalar(static_cast<ribbon::real_t<Scalar>>(d == 1 ? way.diagonal : -1));
  if (way.per_line) bands.lhs = ribbon::Lhs::per_line;
  return bands;
}

template <class Scalar>
ribbon::LineSolver<Scalar, Exec>
partition(const LineSet &set, const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, std::int64_t piece)
{
  ribbon::LineSolverOptions options;
  options.algorithm = "partition", options.rows_per_piece = piece;
  return {Exec(), set, to_device(bands), options};
}

template <class Scalar>
void expect_any_layout(const Way &way)
{
  const auto bands = bands_of<Scalar>(way);
  for (const std::int64_t factored : {12, 4}) {
    const auto solver =
      partition(lines_in_runs(way.n, factored, way.contiguous).with_components(way.block), bands, way.piece);
    ASSERT_TRUE(solver.report().ok()) << way.what << ": " << solver.report().reason;
    EXPECT_EQ(solver.report().algorithm.find("partition of"), 0u) << solver.report().algorithm;
    for (const std::int64_t count : {1, 2})
      for (const std::int64_t in : {12, 4, 6})
        for (const std::int64_t out : {12, 4, 3}) {
          SCOPED_TRACE(testing::Message()
                       << way.what << ", " << sizeof(Scalar) << " bytes: factored in runs of " << factored
                       << ", " << count << " right-hand sides in runs of " << in << ", solutions of " << out);
          expect_solved(solver, bands,
                        lines_in_runs(way.n, in, way.contiguous, count).with_components(way.block),
                        lines_in_runs(way.n, out, way.contiguous, count).with_components(way.block));
        }
    const auto other = lines_in_runs(way.n, 6, !way.contiguous).with_components(way.block),
               like  = lines_in_runs(way.n, 12, way.contiguous).with_components(way.block);
    SCOPED_TRACE(testing::Message() << way.what << ": the other layout");
    expect_solved(solver, bands, other, like), expect_solved(solver, bands, like, other);
    expect_solved(solver, bands, like, like); // after launches for some of the lines
  }
}

TEST(Partition, LinesLieAnywhere)
{
  for (const Way &way : ways) expect_any_layout<double>(way);
  expect_any_layout<Kokkos::complex<double>>(ways[3]);
}

// Groups of lines that no LineSet describes are the only layout that is refused.
TEST(Partition, RefusesRightHandSidesThatBeginWithinARun)
{
  const auto solver = partition(LineSet::interleaved(330, 12), bands_of<double>(ways[2]), 50);
  const auto set    = lines_in_runs(330, 8, false, 2);
  Kokkos::View<double *, Memory> x("test::x", memory_of(set));
  try {
    solver.solve(Exec(), x.data(), set, x.data(), set);
    ADD_FAILURE() << "taken";
  } catch (const std::invalid_argument &e) {
    EXPECT_STREQ(e.what(),
                 "ribbon: algorithm partition: a right-hand side begins within a run of lines at one stride");
  }
}

TEST(Partition, AutoTakesItOnADeviceForFewRunsOfLines)
{
  for (const std::int64_t rows : {5000, 100000})
    for (const std::int64_t runs : {1, 2, 9})
      for (const bool whole : {false, true}) {
        const bool                device = ribbon::is_device_space<Exec>, fits = rows == 5000;
        ribbon::LineSolverOptions options;
        options.whole_lines = whole;
        const auto report =
          ribbon::LineSolver<double, Exec>(Exec(), LineSet{rows, 2, runs, 3, 1, rows * 3, 0},
                                           to_device(toeplitz(rows, {-1, 2.5, -1}, false)), options)
            .report();
        EXPECT_TRUE(report.ok());
        EXPECT_EQ(report.used == ribbon::Algorithm::partition, device && !fits && !whole && runs < 9)
          << report.algorithm << ", " << rows << " rows, " << runs << " runs";
        EXPECT_EQ(report.used == ribbon::Algorithm::one_pass, device && fits) << report.algorithm;
      }
}

TEST(Partition, AnIndependentSolverHasTheSameFactorsAndWorkspaceOfItsOwn)
{
  for (const Way &way : ways) {
    SCOPED_TRACE(way.what);
    const auto bands  = bands_of<double>(way);
    const auto set    = lines_in_runs(way.n, 12, way.contiguous).with_components(way.block);
    auto       solver = partition(set, bands, way.piece);
    const auto other  = solver.independent(Exec());
    EXPECT_EQ(other.report().algorithm, solver.report().algorithm);
    expect_solved(solver, bands, set, set), expect_solved(other, bands, set, set),
      expect_solved(solver, bands, set, set);
    solver = {}; // the independent solver does not need it
    expect_solved(other, bands, set, set);
  }
}

TEST(Partition, ReportsTheFirstBadLine)
{
  for (const bool contiguous : {false, true})
    for (const bool nan : {false, true}) {
      SCOPED_TRACE(testing::Message() << "contiguous " << contiguous << ", NaN " << nan);
      Way  way   = ways[3];
      auto bands = bands_of<double>(way);
      for (std::size_t d = 0; d < 5; ++d) {
        bands.values(9, 120, d) = std::numeric_limits<double>::quiet_NaN(); // worse, but later
        bands.values(5, 120, d) = nan ? bands.values(9, 120, d) : 0;
      }
      const auto report = partition(lines_in_runs(way.n, 4, contiguous), bands, way.piece).report();
      EXPECT_EQ(report.status, nan ? FactorStatus::not_finite : FactorStatus::zero_pivot);
      EXPECT_EQ(report.algorithm.find("partition"), 0U) << report.algorithm; // the other lines are solved
      EXPECT_EQ(report.line, 5);
      EXPECT_EQ(report.row, 120);
    }
  auto bands              = bands_of<double>(ways[2]);
  bands.values(0, 149, 2) = std::numeric_limits<double>::quiet_NaN(); // a separator
  const auto report       = partition(LineSet::interleaved(330, 12), bands, 50).report();
  EXPECT_EQ(report.status, FactorStatus::not_finite) << report.reason;
  EXPECT_EQ(report.line, 0);
  EXPECT_EQ(report.row / 50, 2) << report.row;
}

TEST(Partition, ReportsItsSmallestPivotAndNothingThatNobodyLookedAt)
{
  auto bands              = bands_of<double>(ways[3]);
  bands.values(7, 222, 2) = 1e-3, bands.values(7, 222, 0) = bands.values(7, 222, 1) =
                                    bands.values(7, 222, 3) = bands.values(7, 222, 4) = 1e-3;
  const auto report = partition(lines_in_runs(330, 4, false), bands, 50).report();
  EXPECT_TRUE(report.ok()) << report.reason;
  EXPECT_GT(report.smallest_pivot, 0);
  EXPECT_GE(report.line, 0);
  EXPECT_TRUE(report.row >= 0 && report.row < 330) << report.row;
  EXPECT_TRUE(std::isnan(report.growth) && std::isnan(report.log_abs_det));
  EXPECT_TRUE(report.rcond > 1e-5 && report.rcond < 1) << report.rcond;
  EXPECT_TRUE(report.probe_error > 0 && report.probe_error < 1e-14) << report.probe_error;
  EXPECT_GT(report.bytes, static_cast<std::size_t>(330 * 12) * 8);
}

} // namespace

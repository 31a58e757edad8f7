// SPDX-License-Identifier: BSD-2-Clause
// Reports of a factorization: pivots, NaN, matrices that elimination without pivoting cannot solve, invalid
// arguments.
#include "batch.hpp"

#include <ribbon/algorithm/segments.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <limits>

using namespace test;
using ribbon::FactorStatus;

namespace {

ribbon::FactorReport factor(const ribbon::Bands<double, Kokkos::HostSpace> &bands,
                            const std::string &algorithm, ribbon::Lhs lhs = ribbon::Lhs::shared,
                            std::int64_t lines = 40)
{
  auto device = to_device(bands);
  device.lhs  = lhs;
  if (lhs == ribbon::Lhs::per_line) lines = static_cast<std::int64_t>(bands.values.extent(0));
  return ribbon::LineSolver<double, Exec>(
           Exec(), ribbon::LineSet::interleaved(static_cast<std::int64_t>(bands.values.extent(1)), lines),
           device, {algorithm})
    .report();
}

TEST(Report, NamesTheZeroPivot)
{
  auto bands            = toeplitz(50, {-1, 4, -1}, false);
  bands.values(0, 0, 1) = 0;
  const auto report     = factor(bands, "thomas");
  EXPECT_EQ(report.status, FactorStatus::zero_pivot);
  EXPECT_EQ(report.row, 0);
  EXPECT_EQ(report.smallest_pivot, 0);
}

/// `many` equal matrices, one of them with a pivot of 1e-11.
TEST(Report, FindsTheUnsoundMatrixAmongMany)
{
  const auto one = toeplitz(50, {-1, 4, -1}, false);
  for (const int many : {3, 8, 37}) // one matrix at a time, and full and partial tiles
    for (const int bad : {-1, 0, many - 2}) {
      SCOPED_TRACE(std::to_string(many) + " matrices, " + std::to_string(bad));
      auto bands   = one;
      bands.lhs    = ribbon::Lhs::per_line;
      bands.values = decltype(bands.values)("values", static_cast<std::size_t>(many), 50, 3);
      for (int c = 0; c < many; ++c)
        for (int i = 0; i < 50; ++i)
          for (int d = 0; d < 3; ++d) bands.values(c, i, d) = one.values(0, i, d);
      if (bad >= 0) bands.values(bad, 10, 0) = 0, bands.values(bad, 10, 1) = 1e-11;
      for (const bool contiguous : {false, true}) {
        const auto set =
          contiguous ? ribbon::LineSet::contiguous(50, many) : ribbon::LineSet::interleaved(50, many);
        const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"thomas"});
        EXPECT_EQ(solver.report().status, bad < 0 ? FactorStatus::ok : FactorStatus::unsound);
        EXPECT_GT(solver.report().probe_error, bad < 0 ? 0 : 1e-9);
        EXPECT_LT(solver.report().probe_error, bad < 0 ? 1e-14 : 1.);
        if (bad < 0) {
          EXPECT_GT(solver.report().rcond, 0.1);
        } else {
          EXPECT_EQ(solver.report().line, bad);
        }
      }
    }
}

TEST(Report, ARoundingSizePivotIsZero)
{
  for (const char *algorithm : {"one_pass", "thomas"})
    for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::per_line}) {
      // Periodic Laplacian: the constants are its null space.
      const auto report = factor(toeplitz(60, {-1, 2, -1}, true), algorithm, lhs);
      EXPECT_EQ(report.status, FactorStatus::zero_pivot) << algorithm << " " << report.smallest_pivot;
      EXPECT_EQ(report.row, 59);
    }
  auto equal            = toeplitz(20, {0, 1, 0}, false); // rows 4 and 5 are equal up to rounding
  equal.values(0, 4, 1) = 0.1, equal.values(0, 4, 2) = 0.3;
  equal.values(0, 5, 0) = 0.1 * 3, equal.values(0, 5, 1) = 0.3 * 3 * (1 + 1e-16);
  EXPECT_EQ(factor(equal, "thomas").status, FactorStatus::zero_pivot);
  EXPECT_EQ(factor(equal, "thomas").row, 5);
}

TEST(Report, TheToleranceIsRelativeToTheRow)
{
  auto bands = toeplitz(20, {-1, 4, -1}, false);
  for (std::size_t d = 0; d < 3; ++d) bands.values(0, 7, d) *= 1e-30;
  EXPECT_EQ(factor(bands, "thomas").status, FactorStatus::ok);
}

TEST(Report, NamesTheLineThatIsNotFinite)
{
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::mt19937_64 g(2);
    auto            bands = random_bands<double>(g, 12, 30, 1, false, Kind::dominant);
    bands.values(7, 9, 1) = bad;
    const auto report     = factor(bands, "thomas", ribbon::Lhs::per_line);
    EXPECT_EQ(report.status, FactorStatus::not_finite);
    EXPECT_EQ(report.line, 7);
    EXPECT_EQ(factor(toeplitz(30, {-1, bad, -1}, false), "auto").status, FactorStatus::not_finite);
  }
}

TEST(Report, AFailedFactorSolvesNothing)
{
  auto bands                                 = toeplitz(30, {-1, 0, -1}, false);
  bands.values(0, 0, 2)                      = 0;
  const auto                             set = ribbon::LineSet::interleaved(30, 2);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands));
  ASSERT_FALSE(solver.report().ok());
  const std::vector<double> b(60, 1.0);
  for (double v : solve(solver, b)) EXPECT_TRUE(std::isnan(v));
}

TEST(Report, ABadLineLeavesTheOthersAlone)
{
  for (auto lhs : {ribbon::Lhs::per_line, ribbon::Lhs::classes})
    for (int h : {1, 2, 3})
      for (bool singular : {false, true})
        for (bool periodic : {false, true}) {
          SCOPED_TRACE(std::string(ribbon::to_string(lhs)) + " h " + std::to_string(h) +
                       (singular ? " singular" : " NaN"));
          std::mt19937_64 g(9);
          auto            bands = random_system<double>(g, 6, 40, h, h, 1, periodic);
          const auto      d     = static_cast<std::size_t>(h);
          if (singular)
            for (std::size_t e = 0; e < 2 * d + 1; ++e) bands.values(4, 17, e) = 0;
          else bands.values(4, 17, d) = std::numeric_limits<double>::quiet_NaN();
          const auto set = ribbon::LineSet::interleaved(40, 6);
          bands.lhs      = lhs;
          if (lhs == ribbon::Lhs::classes) {
            bands.class_of_line = decltype(bands.class_of_line)("test::classes", 6);
            for (int l = 0; l < 6; ++l) bands.class_of_line(static_cast<std::size_t>(l)) = l;
          }
          const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands));
          ASSERT_FALSE(solver.report().ok())
            << solver.report().algorithm << " " << solver.report().reason << " "
            << solver.report().smallest_pivot << " " << solver.report().probe_error << " rcond "
            << solver.report().rcond;
          EXPECT_EQ(solver.report().status, singular ? FactorStatus::zero_pivot : FactorStatus::not_finite);
          EXPECT_EQ(solver.report().line, 4);
          std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
          for (auto &v : b) v = random_scalar<double>(g);
          const auto x = solve(solver, b);
          for (std::int64_t l = 0; l < 6; ++l) {
            if (l == 4) continue;
            EXPECT_LE(line_error(bands, set, l, x, b), 1e-13) << "line " << l;
          }
        }
}

/// A row of zeros is a zero pivot at every place. Reflections of hundreds of rows after it may leave no
/// small pivot, and a solution of 1e20 has a small residual.
TEST(Report, ARowOfZerosIsFoundInLongLines)
{
  std::mt19937_64 g(10);
  for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::per_line})
    for (int h : {1, 2, 4})
      for (bool periodic : {false, true})
        for (const char *algorithm : {"auto", "pivoted", "thomas"})
          for (std::size_t row : {0, 39, 40, 150, 297, 299}) {
            SCOPED_TRACE(std::string(ribbon::to_string(lhs)) + ", half-bandwidth " + std::to_string(h) +
                         ", row " + std::to_string(row) + (periodic ? " of a ring, " : ", ") + algorithm);
            auto bands = random_system<double>(g, matrices_for(lhs, 3), 300, h, h, 1, periodic);
            for (std::size_t d = 0; d < bands.values.extent(2); ++d)
              bands.values(bands.values.extent(0) - 1, row, d) = 0;
            assign(g, bands, lhs, 3);
            const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(300, 3),
                                                          to_device(bands), {algorithm});
            EXPECT_EQ(solver.report().status, FactorStatus::zero_pivot)
              << solver.report().algorithm << ", smallest pivot " << solver.report().smallest_pivot
              << ", rcond " << solver.report().rcond;
            EXPECT_EQ(solver.report().row, static_cast<std::int64_t>(row));
          }
}

TEST(Refuses, BadArgumentsWithOneSentence)
{
  const auto bands = toeplitz(30, {-1, 4, -1}, false);
  EXPECT_EQ(
    refusal(ribbon::LineSet::interleaved(30, 4), bands, {"magic"}),
    "ribbon::LineSolver: unknown algorithm 'magic' (auto, one_pass, tile_products, thomas, pivoted, "
    "partition, cyclic_reduction, parallel_cyclic_reduction, cr_pcr, toeplitz_cr, factored_reduction)");
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), bands, {"one_pass", 0, 17, 0}),
            "ribbon: rows_per_thread 17 (interleaved lines take 16, 32, 64)");
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), bands, {"one_pass", 0, 0, 12}),
            "ribbon::LineSolver: lines_per_team 12 (a power of two, at most 32)");
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(31, 4), bands),
            "ribbon::LineSolver: bands of 30 rows for lines of 31");
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), toeplitz(30, std::vector<double>(19, 1.0), false)),
            "ribbon::LineSolver: half-bandwidth 9 (at most 8)");
  auto wrong = bands;
  wrong.lhs  = ribbon::Lhs::per_line;
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), wrong),
            "ribbon::LineSolver: 1 matrices for 4 lines");
  wrong.lhs = ribbon::Lhs::classes;
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), wrong),
            "ribbon::LineSolver: class_of_line does not have one entry per line");
  EXPECT_NE(refusal(ribbon::LineSet::interleaved(3, 4), toeplitz(3, {1, 1, 9, 1, 1}, false), {"one_pass"})
              .find("algorithm one_pass"),
            std::string::npos);
  wrong.lhs = ribbon::Lhs::shifted;
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), wrong),
            "ribbon::LineSolver: shifted bands with 1 matrices, not 2");
  wrong.lhs           = ribbon::Lhs::classes;
  wrong.class_of_line = decltype(wrong.class_of_line)("classes", 4);
  for (int bad : {-1, 1}) {
    wrong.class_of_line(2) = bad;
    EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), wrong),
              "ribbon::LineSolver: line 2 has class " + std::to_string(bad) + " of 1");
  }
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), bands, {"auto", -1}),
            "ribbon::LineSolver: zero_pivot -1.000000");
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), bands, {"auto", 0, -1}),
            "ribbon::LineSolver: rows_per_thread -1");
  std::mt19937_64 g(1);
  auto            two = random_bands<double>(g, 2, 30, 1, false, Kind::dominant);
  assign(g, two, ribbon::Lhs::shifted, 3);
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), two),
            "ribbon::LineSolver: alpha and beta do not have one entry per line");
  auto wide = random_system<double>(g, 4, 30, 5, 3, 1, false);
  wide.lhs  = ribbon::Lhs::per_line;
  EXPECT_EQ(refusal(ribbon::LineSet::interleaved(30, 4), wide, {"one_pass"}),
            "ribbon: algorithm one_pass: no kernel for half-bandwidth 5 with one matrix per line");
}

// Every call of a solver without factors, or of one that gets other lines, is an error with one message.
TEST(Refuses, SolversWithoutFactorsAndOtherLines)
{
  const auto                       set = ribbon::LineSet::interleaved(30, 4);
  ribbon::LineSolver<double, Exec> none, solver(Exec(), set, to_device(toeplitz(30, {-1, 4, -1}, false)));
  EXPECT_THROW(none.report(), std::logic_error);
  EXPECT_THROW(ribbon::Segments::joins(none), std::logic_error);
  EXPECT_THROW(none.inconsistency(Exec()), std::logic_error);
  EXPECT_THROW((ribbon::LineSolver<Kokkos::complex<float>, Exec>().report()), std::logic_error);
  auto wrong   = set;
  wrong.count0 = -4, wrong.count1 = -1;
  EXPECT_THROW(solver.solve(Exec(), nullptr, wrong, nullptr, wrong), std::invalid_argument);
  auto                                   fewer = ribbon::LineSet::interleaved(30, 0);
  const ribbon::LineSolver<double, Exec> empty(Exec(), fewer, to_device(toeplitz(30, {-1, 4, -1}, false)));
  EXPECT_THROW(empty.solve(Exec(), nullptr, set, nullptr, set), std::invalid_argument);
  none = std::move(solver);
  EXPECT_TRUE(none.report().ok());
  EXPECT_THROW(solver.report(), std::logic_error);
}

// The caller may change or free all its arrays after a factorization.
TEST(Report, FactorsKeepNothingOfTheInput)
{
  std::mt19937_64 g(1);
  auto            bands = random_bands<double>(g, 3, 30, 1, false, Kind::dominant);
  assign(g, bands, ribbon::Lhs::classes, 8);
  const auto set = ribbon::LineSet::interleaved(30, 8);
  for (const char *algorithm : {"auto", "thomas", "one_pass", "pivoted", "cyclic_reduction"}) {
    auto given          = ribbon::copy(Exec(), to_device(bands)); // no part of it is in host memory
    given.class_of_line = decltype(given.class_of_line)("classes", 8);
    Kokkos::deep_copy(given.class_of_line, to_device(bands).class_of_line);
    const ribbon::LineSolver<double, Exec> solver(Exec(), set, given, {algorithm});
    Kokkos::deep_copy(given.class_of_line, 0);
    Kokkos::deep_copy(given.values, 0.0);
    const std::vector<double> b(static_cast<std::size_t>(set.unknowns()), 1.0);
    const auto                x = solve(solver, b);
    for (std::int64_t l = 0; l < 8; ++l)
      EXPECT_LE(line_error(bands, set, l, x, b), 1e-14) << algorithm << ", line " << l;
  }
}

// A ring with a small diagonal and entries above it. The fill of the last row grows by 1 / d per row and
// overflows, while the condition number is 1. This is growth, not an entry that is not finite.
TEST(Report, RingsWhoseFillOverflows)
{
  for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::per_line})
    for (const auto &[n, diagonal] : {std::pair<std::int64_t, double>(40, 0.5), {3000, 0.01}, {5000, 0.1}}) {
      SCOPED_TRACE(testing::Message() << ribbon::to_string(lhs) << ", n " << n << ", diagonal " << diagonal);
      auto bands                                 = toeplitz(n, {0, diagonal, 1}, true);
      bands.lhs                                  = lhs;
      const auto                             set = ribbon::LineSet::interleaved(n, 1);
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands));
      ASSERT_TRUE(solver.report().ok()) << solver.report().algorithm << ": " << solver.report().reason;
      const std::vector<double> b(static_cast<std::size_t>(n), 1.0);
      EXPECT_LE(line_error(bands, set, 0, solve(solver, b), b), 1e-13);
      if (lhs == ribbon::Lhs::shared) {
        const auto thomas = factor(bands, "thomas", lhs, 1);
        EXPECT_GE(thomas.growth, 1e10);
        EXPECT_FALSE(thomas.ok());
      }
    }
}

// Reports count rows of blocks, not unknowns. Fields without a value are NaN.
TEST(Report, RowsOfBlocksAndFieldsOfAFailure)
{
  for (const char *algorithm : {"thomas", "one_pass", "pivoted", "partition"}) {
    ribbon::Bands<double, Kokkos::HostSpace> bands;
    bands.block  = 4;
    bands.values = decltype(bands.values)("values", 1, 40, 48);
    for (int i = 0; i < 40; ++i)
      for (int a = 0; a < 4; ++a) bands.values(0, i, 16 + 5 * a) = i == 7 ? 0 : 1;
    const auto r =
      ribbon::LineSolver<double, Exec>(Exec(), ribbon::LineSet::interleaved(40, 3).with_components(4),
                                       to_device(bands), {algorithm})
        .report();
    EXPECT_EQ(r.status, FactorStatus::zero_pivot) << algorithm;
    EXPECT_EQ(r.row, 7) << algorithm;
    EXPECT_TRUE(std::isnan(r.probe_error) && std::isnan(r.rcond)) << algorithm;
    EXPECT_TRUE(std::isnan(r.log_abs_det) || r.log_abs_det == -std::numeric_limits<double>::infinity())
      << algorithm;
  }
}

template <class Scalar>
void expect_determinant(const std::string &algorithm, std::int64_t n, int kl, int ku, int block,
                        bool periodic)
{
  SCOPED_TRACE(algorithm + ", n " + std::to_string(n) + ", kl " + std::to_string(kl) + ", ku " +
               std::to_string(ku) + ", block " + std::to_string(block) + (periodic ? ", ring" : ""));
  std::mt19937_64 g(static_cast<std::uint64_t>(n * 100 + kl * 10 + ku));
  auto            bands = random_system<Scalar>(g, 1, n, kl, ku, block, periodic);
  for (std::size_t i = 0; i < bands.values.extent(1); i += 2) // rows of both signs
    for (std::size_t e = 0; e < bands.values.extent(2); ++e) bands.values(0, i, e) = -bands.values(0, i, e);
  const ribbon::LineSolver<Scalar, Exec> solver(
    Exec(), ribbon::LineSet::interleaved(n, 3).with_components(block), to_device(bands), {algorithm});
  ASSERT_TRUE(solver.report().ok());
  const auto det = determinant(bands, 0);
  EXPECT_NEAR(solver.report().log_abs_det, std::log(std::abs(det)), 1e-9);
  EXPECT_LT(std::abs(solver.report().det_sign - det / std::abs(det)), 1e-9)
    << solver.report().det_sign << " instead of " << det / std::abs(det);
}

TEST(Report, DeterminantWithItsSign)
{
  for (const char *algorithm : {"one_pass", "thomas", "pivoted"})
    for (bool periodic : {false, true})
      for (std::int64_t n : {5, 6, 33, 34}) {
        expect_determinant<double>(algorithm, n, 1, 1, 1, periodic);
        expect_determinant<double>(algorithm, n, 2, 2, 1, periodic);
        expect_determinant<double>(algorithm, n, 2, 1, 1, periodic);
        expect_determinant<double>(algorithm, n, 1, 1, 2, periodic);
        expect_determinant<Kokkos::complex<double>>(algorithm, n, 1, 1, 1, periodic);
        if (std::string(algorithm) == "one_pass") continue;
        expect_determinant<double>(algorithm, n + 6, 5, 4, 1, periodic);
        expect_determinant<double>(algorithm, n, 1, 1, 3, periodic);
      }
}

TEST(Report, APerLineMatrixThatIsSingularIsReportedAndTheOthersAreSolved)
{
  for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted", "partition"})
    for (std::size_t row : {33, 34, 60}) {
      SCOPED_TRACE(std::string(algorithm) + ", row " + std::to_string(row));
      std::mt19937_64 g(3);
      const auto set = row == 60 ? ribbon::LineSet::contiguous(70, 40) : ribbon::LineSet::interleaved(70, 40);
      auto       bands = random_bands<double>(g, 40, 70, 1, false, Kind::dominant);
      bands.lhs        = ribbon::Lhs::per_line;
      for (std::size_t d = 0; d < 3; ++d) bands.values(17, row, d) = 0; // a row of zeros
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {algorithm});
      EXPECT_EQ(solver.report().status, FactorStatus::zero_pivot);
      EXPECT_EQ(solver.report().line, 17);
      EXPECT_EQ(solver.report().row, static_cast<std::int64_t>(row));
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      const auto x = solve(solver, b);
      for (std::int64_t l = 0; l < 40; ++l) {
        if (l == 17) continue;
        EXPECT_LE(line_error(bands, set, l, x, b), 1e-14) << "line " << l;
      }
    }
}

} // namespace

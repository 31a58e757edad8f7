// SPDX-License-Identifier: BSD-2-Clause
// singular = "zero_mean": least squares and zero mean for lines whose rows sum to zero, next to any other
// lines.
#include "batch.hpp"

#include <ribbon/reference/dense.hpp>

#include <gtest/gtest.h>

#include <limits>

using namespace test;
using ribbon::FactorStatus;

namespace {

/// Checks that x is a least squares solution of A x = b with zero mean. Returns ||b - A x||_2.
template <class Scalar>
double expect_zero_mean(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, std::int64_t matrix,
                        const std::vector<Scalar> &x, const std::vector<Scalar> &b)
{
  using Real               = ribbon::real_t<Scalar>;
  const double        ulps = static_cast<double>(ribbon::unit_roundoff<Scalar>()) / 1.1e-16;
  const auto          A    = ribbon::reference::dense(bands, matrix);
  const std::size_t   n    = x.size();
  std::vector<Scalar> r    = b;
  Scalar              mean(0);
  double              largest = 0, entry = 0, norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    mean += x[i] / static_cast<Real>(n),
      largest = std::max(largest, static_cast<double>(ribbon::magnitude(x[i])));
    for (std::size_t j = 0; j < n; ++j)
      r[i] -= A[i * n + j] * x[j],
        entry = std::max(entry, static_cast<double>(ribbon::magnitude(A[i * n + j])));
    norm = std::hypot(norm, static_cast<double>(ribbon::magnitude(r[i])));
  }
  EXPECT_LE(ribbon::magnitude(mean), 1e-13 * ulps * largest);
  for (std::size_t j = 0; j < n; ++j) { // the residual is orthogonal to the range of A
    Scalar dot(0);
    for (std::size_t i = 0; i < n; ++i) dot += ribbon::conjugate(A[i * n + j]) * r[i];
    EXPECT_LE(ribbon::magnitude(dot), 1e-12 * ulps * entry * (entry * largest + 1));
  }
  return norm;
}

/// The rows of every matrix but the last one (of two: the first) sum to zero.
template <class Scalar>
void check_zero_mean(int h, bool periodic, ribbon::Lhs lhs, const char *algorithm, bool contiguous,
                     std::int64_t n)
{
  using Real = ribbon::real_t<Scalar>;
  SCOPED_TRACE(std::string(algorithm) + ", " + ribbon::to_string(lhs) + (periodic ? ", ring" : ", open") +
               (contiguous ? ", contiguous" : ", interleaved") + ", h " + std::to_string(h) + ", n " +
               std::to_string(n) + ", " + std::to_string(sizeof(Scalar)) + " bytes");
  const std::int64_t lines = 12;
  const double       ulps  = static_cast<double>(ribbon::unit_roundoff<Scalar>()) / 1.1e-16;
  std::mt19937_64    g(7);
  auto bands = random_bands<Scalar>(g, matrices_for(lhs, lines), n, h, periodic, Kind::dominant);
  assign(g, bands, lhs, lines);
  for (std::size_t c = 0; c < bands.values.extent(0); ++c) {
    if (c + 1 == bands.values.extent(0) && lhs != ribbon::Lhs::shared) continue;
    for (std::int64_t i = 0; i < n; ++i) {
      Scalar sum(0);
      for (int d = -h; d <= h; ++d)
        if (d != 0 && (periodic || (i + d >= 0 && i + d < n)))
          sum += bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + h)) =
            -Scalar(static_cast<Real>(1 + i % 5));
      bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(h)) = -sum;
    }
  }
  if (lhs == ribbon::Lhs::shifted)
    for (std::size_t l = 0; l < 12; l += 3) bands.beta(l) = Scalar(0); // the modes of wave number zero
  const auto set =
    contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
  ribbon::LineSolverOptions options;
  options.algorithm = algorithm, options.singular = "zero_mean";
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  std::int64_t singular = lhs == ribbon::Lhs::shared     ? lines
                          : lhs == ribbon::Lhs::shifted  ? 4
                          : lhs == ribbon::Lhs::per_line ? lines - 1
                                                         : 8;
  EXPECT_EQ(solver.report().singular_lines, singular);
  EXPECT_EQ(solver.inconsistency(Exec()), 0);
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  const auto x   = solve(solver, b);
  const auto own = expanded(bands);
  EXPECT_TRUE(solve(solver, b, true) == x) << "in place differs from out of place";
  double left = 0, most = 0;
  for (std::int64_t l = 0; l < lines; ++l) {
    std::vector<Scalar> mine, right;
    for (std::int64_t i = 0; i < n; ++i)
      mine.push_back(x[static_cast<std::size_t>(set(l, i))]),
        right.push_back(b[static_cast<std::size_t>(set(l, i))]);
    for (const auto &v : mine) most = std::max(most, static_cast<double>(ribbon::magnitude(v)));
    const bool regular = lhs == ribbon::Lhs::shifted    ? l % 3 != 0
                         : lhs == ribbon::Lhs::per_line ? l + 1 == lines
                                                        : lhs == ribbon::Lhs::classes && (l * 5) % 3 == 2;
    if (regular) EXPECT_LE(line_error(own, set, l, x, b), 1e-14 * ulps);
    else left = std::max(left, expect_zero_mean(own, matrix_of(own, l), mine, right));
  }
  EXPECT_GT(left, 0.01); // these right-hand sides are not consistent
  EXPECT_NEAR(solver.inconsistency(Exec()), left, 1e-13 * ulps * (1 + most) * static_cast<double>(n));
  EXPECT_EQ(solver.inconsistency(Exec()), 0) << "asked for again";
  std::vector<Scalar> consistent(b.size(), Scalar(0)); // A b
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < n; ++i)
      for (int d = -h; d <= h; ++d)
        if (periodic || (i + d >= 0 && i + d < n))
          consistent[static_cast<std::size_t>(set(l, i))] +=
            own.values(static_cast<std::size_t>(matrix_of(own, l)), static_cast<std::size_t>(i),
                       static_cast<std::size_t>(d + h)) *
            b[static_cast<std::size_t>(set(l, (i + d + n) % n))];
  const auto y = solve(solver, consistent);
  for (const auto &v : y) most = std::max(most, static_cast<double>(ribbon::magnitude(v)));
  EXPECT_LE(solver.inconsistency(Exec()), 1e-13 * ulps * (1 + most) * static_cast<double>(n));
}

TEST(ZeroMean, SingularLines)
{
  for (int h : {1, 2, 3})
    for (bool periodic : {false, true})
      for (auto lhs :
           {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
        for (const char *algorithm : {"auto", "thomas", "pivoted", "one_pass"}) {
          if (algorithm == std::string("one_pass") && h == 3) continue;
          for (bool contiguous : {false, true})
            check_zero_mean<double>(h, periodic, lhs, algorithm, contiguous, 40);
          check_zero_mean<Kokkos::complex<double>>(h, periodic, lhs, algorithm, false, 40);
          check_zero_mean<float>(h, periodic, lhs, algorithm, false, 12);
        }
}

/// A row of zeros that couples with no other row is a separate part of the line. Its unknown is zero, and
/// its right-hand side is the inconsistency.
TEST(ZeroMean, RowsOfZeros)
{
  ribbon::Bands<double, Kokkos::HostSpace> bands;
  bands.values          = decltype(bands.values)("test::bands", 1, 3, 3);
  bands.values(0, 0, 1) = bands.values(0, 2, 1) = 2;
  ribbon::LineSolverOptions options;
  options.singular = "zero_mean";
  const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(3, 1), to_device(bands),
                                                options);
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  EXPECT_EQ(solver.report().singular_lines, 1);
  EXPECT_EQ(solve(solver, {2.0, 0.0, 6.0}), (std::vector<double>{1, 0, 3}));
  EXPECT_EQ(solver.inconsistency(Exec()), 0);
  EXPECT_EQ(solve(solver, {2.0, 5.0, 6.0}), (std::vector<double>{1, 0, 3}));
  EXPECT_EQ(solver.inconsistency(Exec()), 5);
}

TEST(ZeroMean, LinesThatAreCut)
{
  for (int h : {1, 2})
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true})
        for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::per_line})
          check_zero_mean<double>(h, periodic, lhs, "partition", contiguous, 150);
}

TEST(ZeroMean, SingularPiecesOfLines)
{
  const std::int64_t length[] = {3, 7, 5, 9}, n = 24, lines = 5; // the third part is regular
  for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line}) {
    std::mt19937_64 g(11);
    auto            bands = random_bands<double>(g, matrices_for(lhs, lines), n, 2, false, Kind::dominant);
    assign(g, bands, lhs, lines);
    for (std::size_t c = 0; c < bands.values.extent(0); ++c)
      for (std::int64_t p = 0, begin = 0; p < 4; begin += length[p++])
        for (std::int64_t i = begin; i < begin + length[p]; ++i) {
          double sum = 0;
          for (int d = -2; d <= 2; ++d) {
            double &a = bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + 2));
            if (d != 0)
              sum += a =
                i + d >= begin && i + d < begin + length[p] ? -1.0 - static_cast<double>((i + d) % 3) : 0;
          }
          bands.values(c, static_cast<std::size_t>(i), 2) = -sum + (p == 2 ? 1 : 0);
        }
    const auto                set = ribbon::LineSet::interleaved(n, lines);
    ribbon::LineSolverOptions options;
    options.singular = "zero_mean";
    const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
    ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
    EXPECT_EQ(solver.report().singular_lines, 3 * lines);
    std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
    for (auto &v : b) v = random_scalar<double>(g);
    const auto x   = solve(solver, b);
    const auto own = expanded(bands);
    for (std::int64_t l = 0; l < lines; ++l)
      for (std::int64_t p = 0, begin = 0; p < 4; begin += length[p++]) {
        ribbon::Bands<double, Kokkos::HostSpace> piece;
        std::vector<double>                      mine, right;
        piece.values = decltype(piece.values)("piece", 1, static_cast<std::size_t>(length[p]), 5);
        for (std::int64_t i = 0; i < length[p]; ++i) {
          const auto at = static_cast<std::size_t>(set(l, begin + i));
          mine.push_back(x[at]), right.push_back(b[at]);
          for (std::size_t d = 0; d < 5; ++d)
            piece.values(0, static_cast<std::size_t>(i), d) =
              own.values(static_cast<std::size_t>(matrix_of(own, l)), static_cast<std::size_t>(begin + i), d);
        }
        if (p != 2) expect_zero_mean(piece, 0, mine, right);
      }
  }
}

TEST(ZeroMean, ALineThatStaysSingularWhereOneUnknownIsFixedIsReportedAndTheOthersAreSolved)
{
  const std::int64_t n = 30, lines = 6, bad = 2;
  for (auto lhs : {ribbon::Lhs::per_line, ribbon::Lhs::classes}) {
    std::mt19937_64 g(13);
    auto            bands = random_bands<double>(g, matrices_for(lhs, lines), n, 2, false, Kind::dominant);
    assign(g, bands, lhs, lines);
    const int of_bad = static_cast<int>(matrix_of(bands, bad));
    // Rows sum to zero. In the bad matrix they couple only at distance 2, so that even and odd rows are
    // separate systems.
    for (std::size_t c = 0; c < bands.values.extent(0); ++c)
      for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int d = -2; d <= 2; ++d)
          if (d != 0) {
            double &a = bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + 2));
            a         = i + d < 0 || i + d >= n || (static_cast<int>(c) == of_bad && d % 2 != 0) ? 0 : -1;
            sum += a;
          }
        // The first matrix is regular.
        bands.values(c, static_cast<std::size_t>(i), 2) = -sum + (c == 0 && of_bad != 0 ? 1 : 0);
      }
    const auto                set = ribbon::LineSet::interleaved(n, lines);
    ribbon::LineSolverOptions options;
    options.singular = "zero_mean";
    const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
    EXPECT_EQ(solver.report().status, FactorStatus::zero_pivot) << ribbon::to_string(lhs);
    std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
    for (auto &v : b) v = random_scalar<double>(g);
    const auto   x        = solve(solver, b);
    std::int64_t singular = 0;
    double       left     = 0;
    for (std::int64_t l = 0; l < lines; ++l) {
      const auto c = matrix_of(bands, l);
      if (c == of_bad) continue;
      std::vector<double> mine, right;
      for (std::int64_t i = 0; i < n; ++i)
        mine.push_back(x[static_cast<std::size_t>(set(l, i))]),
          right.push_back(b[static_cast<std::size_t>(set(l, i))]);
      if (c == 0 && of_bad != 0) EXPECT_LE(line_error(bands, set, l, x, b), 1e-14) << "line " << l;
      else ++singular, left = std::max(left, expect_zero_mean(bands, c, mine, right));
    }
    EXPECT_EQ(solver.report().singular_lines, singular);
    EXPECT_NEAR(solver.inconsistency(Exec()), left, 1e-12);
  }
  // One matrix for all lines: no line remains to be solved.
  auto both = toeplitz(n, {-1, 0, 2, 0, -1}, false);
  for (std::size_t i : {0, 1, 28, 29}) both.values(0, i, 2) = 1;
  ribbon::LineSolverOptions options;
  options.singular = "zero_mean";
  const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(n, 4), to_device(both),
                                                options);
  EXPECT_EQ(solver.report().status, FactorStatus::zero_pivot);
  EXPECT_EQ(solver.inconsistency(Exec()), 0);
}

TEST(ZeroMean, RightHandSidesThatAreNotFiniteAreNotConsistent)
{
  ribbon::LineSolverOptions options;
  options.singular                           = "zero_mean";
  const auto                             set = ribbon::LineSet::interleaved(20, 3);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(toeplitz(20, {-1, 2, -1}, true)),
                                                options);
  std::vector<double>                    b(60, 0.0);
  b[31] = std::nan("");
  solve(solver, b);
  EXPECT_EQ(solver.inconsistency(Exec()), std::numeric_limits<double>::infinity());
  b[31] = 0;
  solve(solver, b);
  EXPECT_EQ(solver.inconsistency(Exec()), 0);
}

TEST(ZeroMean, ASingularClassThatNoLineHasIsOfNoLine)
{
  auto two   = toeplitz(4, {-1, 4, -1}, false);
  two.values = decltype(two.values)("values", 2, 4, 3);
  for (int c = 0; c < 2; ++c)
    for (int i = 0; i < 4; ++i)
      two.values(c, i, 0) = two.values(c, i, 2) = -1, two.values(c, i, 1) = c == 0             ? 4
                                                                            : i == 0 || i == 3 ? 1
                                                                                               : 2;
  two.lhs           = ribbon::Lhs::classes;
  two.class_of_line = decltype(two.class_of_line)("classes", 2);
  ribbon::LineSolverOptions options;
  options.singular                           = "zero_mean";
  const auto                             set = ribbon::LineSet::interleaved(4, 2);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(two), options);
  const std::vector<double>              b(8, 1.0);
  const auto                             x = solve(solver, b);
  EXPECT_EQ(solver.report().singular_lines, 0);
  for (std::int64_t l = 0; l < 2; ++l) EXPECT_LE(line_error(two, set, l, x, b), 1e-14);
}

} // namespace

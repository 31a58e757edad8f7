// SPDX-License-Identifier: BSD-2-Clause
// Lines whose matrix fails are named and set to NaN. All other lines are solved.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace test;
using ribbon::Lhs;

namespace {

enum class Fault { nan, zero_row, equal_rows };

/// Spoils row 7, or rows 7 and 8, of matrix c.
template <class Scalar>
void spoil(ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, std::size_t c, Fault fault)
{
  for (std::size_t d = 0; d < bands.values.extent(2); ++d) {
    Scalar &a = bands.values(c, 7, d);
    if (fault == Fault::nan) a = Scalar(std::numeric_limits<ribbon::real_t<Scalar>>::quiet_NaN());
    if (fault == Fault::zero_row) a = Scalar(0);
  }
  if (fault != Fault::equal_rows) return;
  bands.values(c, 7, 0) = bands.values(c, 8, 2) = Scalar(0);
  // The two rows are equal.
  bands.values(c, 7, 1) = bands.values(c, 8, 0), bands.values(c, 7, 2) = bands.values(c, 8, 1);
}

template <class Scalar>
void expect_others_solved(Lhs lhs, Fault fault, const std::string &algorithm, bool contiguous,
                          std::int64_t lines)
{
  constexpr std::int64_t n = 40;
  SCOPED_TRACE(testing::Message() << to_string(lhs) << ", fault " << static_cast<int>(fault) << ", "
                                  << algorithm << (contiguous ? ", contiguous, " : ", interleaved, ") << lines
                                  << " lines, " << sizeof(Scalar) << " bytes");
  std::mt19937_64 g(11);
  auto            bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, 1, 1, 1, false);
  assign(g, bands, lhs, lines);
  const std::size_t bad = lhs == Lhs::per_line ? 2 : lhs == Lhs::classes ? 1 : 0;
  spoil(bands, bad, fault);
  const auto set =
    contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
  const auto                            &report = solver.report();
  ASSERT_FALSE(report.ok());
  std::vector<std::int64_t> expected;
  if (lhs != Lhs::shared) expected.push_back(static_cast<std::int64_t>(bad));
  EXPECT_EQ(report.failed, expected);
  EXPECT_EQ(report.line, static_cast<std::int64_t>(bad));
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  const auto   x    = solve(solver, b);
  const double unit = static_cast<double>(ribbon::unit_roundoff<Scalar>());
  for (std::int64_t l = 0; l < lines; ++l) {
    if (matrix_of(bands, l) != static_cast<std::int64_t>(bad))
      EXPECT_LE(line_error(bands, set, l, x, b), 100 * unit) << "line " << l;
    else
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_TRUE(
          std::isnan(static_cast<double>(ribbon::magnitude(x[static_cast<std::size_t>(set(l, i))]))))
          << "line " << l << ", row " << i;
  }
}

TEST(FailedLines, OthersAreSolved)
{
  for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line})
    for (Fault fault : {Fault::nan, Fault::zero_row, Fault::equal_rows})
      for (const char *algorithm : {"auto", "thomas", "pivoted", "one_pass", "partition"})
        for (bool contiguous : {false, true})
          for (std::int64_t lines : {5, 40}) {
            // partition reports failures of its segments.
            if (algorithm == std::string("partition") && lhs == Lhs::shared) continue;
            expect_others_solved<double>(lhs, fault, algorithm, contiguous, lines);
            if (!contiguous)
              expect_others_solved<Kokkos::complex<double>>(lhs, fault, algorithm, contiguous, lines),
                expect_others_solved<float>(lhs, fault, algorithm, contiguous, lines);
          }
}

/// A batch with several right-hand sides per matrix, and lines at other places.
TEST(FailedLines, SeveralRightHandSides)
{
  constexpr std::int64_t n = 30, lines = 4;
  std::mt19937_64        g(3);
  auto                   bands = random_system<double>(g, lines, n, 1, 1, 1, false);
  bands.lhs                    = Lhs::per_line;
  spoil(bands, 1, Fault::zero_row);
  const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(n, lines),
                                                to_device(bands));
  const auto                             out = ribbon::LineSet::contiguous(n, 3 * lines, n + 2);
  std::vector<double>                    b(static_cast<std::size_t>(3 * lines * (n + 2)), 1);
  Kokkos::View<double *, Memory>         x("test::x", b.size());
  Kokkos::deep_copy(x, 1.0);
  solver.solve(Exec(), x.data(), out, x.data(), out);
  Kokkos::fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  for (std::int64_t l = 0; l < 3 * lines; ++l) {
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_EQ(std::isnan(host(static_cast<std::size_t>(out(l, i)))), l % lines == 1) << l << ", " << i;
    EXPECT_EQ(host(static_cast<std::size_t>(out(l, n - 1) + 1)), 1) << "between the lines";
  }
}

} // namespace

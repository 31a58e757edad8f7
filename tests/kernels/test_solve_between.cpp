// SPDX-License-Identifier: BSD-2-Clause
// Segments of longer lines (segments.hpp) between known rows of the solution.
#include "solve_limit.hpp"

#include <ribbon/algorithm/segments.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

// Rows in the middle of a longer line, with known rows of its solution next to them. Two right-hand sides
// per matrix.
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
  const std::int64_t stored = stencil ? 3 : n; // the middle row is repeated
  part.repeats              = n - stored + 1;
  part.values = decltype(part.values)("test::part", whole.values.extent(0), static_cast<std::size_t>(stored),
                                      whole.values.extent(2));
  Kokkos::deep_copy(part.values, Kokkos::subview(whole.values, Kokkos::ALL,
                                                 std::make_pair(before, before + stored), Kokkos::ALL));
  rows.rows = first.rows = n, rows.offset = first.offset = before * set.row_stride;
  ribbon::LineSolverOptions options;
  options.algorithm = "one_pass";
  const auto solver = ribbon::Segments::factor<Scalar>(Exec(), first, to_device(part), options);
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  // S unknowns before a line and S after it, one after another, interleaved over all lines.
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
  ribbon::Segments::solve(solver, Exec(), right.data(), rows, right.data(), rows, known_rows);
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
  const auto                refusal = [&](const ribbon::Bands<double, Kokkos::HostSpace> &bands) {
    try {
      ribbon::Segments::factor<double>(Exec(), set, to_device(bands), options);
    } catch (const std::invalid_argument &refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  const std::string what =
    "ribbon::LineSolver: continued lines: one_pass, shared bands or classes, not periodic";
  EXPECT_EQ(refusal(toeplitz(50, {-1, 3, -1}, false)), what);
  options.algorithm = "one_pass";
  EXPECT_EQ(refusal(toeplitz(50, {-1, 3, -1}, false)), "");
  EXPECT_EQ(refusal(toeplitz(50, {-1, 3, -1}, true)), what);
  EXPECT_EQ(refusal(toeplitz(50, {0, 0, -1, 3, -1, 0, 0}, false)),
            "ribbon: algorithm one_pass: no kernel for continued lines of this system");
}

} // namespace

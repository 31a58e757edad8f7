// SPDX-License-Identifier: BSD-2-Clause
// Lines with a few matrices. A device loads the coefficients of one matrix to scratch if all lines of a
// tile have it, and otherwise reads them from memory.
#include "batch.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

struct Pattern {
  const char *name;
  int (*class_of)(std::int64_t line);
};

constexpr Pattern patterns[] = {
  {"runs of 50 lines", [](std::int64_t l) { return static_cast<int>(l / 50 % 3); }},
  {"first and last of 64 lines", [](std::int64_t l) { return (l + 1) % 64 < 2 ? 2 : 0; }},
  {"the last matrix alone", [](std::int64_t) { return 2; }}};

template <class Scalar>
void expect_solved(int reach, int block, const std::vector<std::int64_t> &lengths)
{
  constexpr std::int64_t lines = 150;
  for (std::int64_t n : lengths)
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true})
        for (const char *algorithm : {"one_pass", "pivoted"})
          for (const Pattern &pattern : patterns) {
            SCOPED_TRACE(std::string(algorithm) + ", " + pattern.name + ", " + std::to_string(n) +
                         " rows, half-bandwidth " + std::to_string(reach) + ", blocks of " +
                         std::to_string(block) + (periodic ? ", ring" : "") +
                         (contiguous ? ", contiguous" : ""));
            std::mt19937_64 g(11);
            auto            bands = random_system<Scalar>(g, 3, n, reach, reach, block, periodic);
            assign(g, bands, ribbon::Lhs::classes, lines);
            for (std::int64_t l = 0; l < lines; ++l)
              bands.class_of_line(static_cast<std::size_t>(l)) = pattern.class_of(l);
            const auto set =
              (contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines))
                .with_components(block);
            const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
            ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
            std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
            for (auto &v : b) v = random_scalar<Scalar>(g);
            const auto x = solve(solver, b);
            EXPECT_LE(backward_error(bands, set, x, b),
                      45 * static_cast<double>(ribbon::unit_roundoff<Scalar>()));
            EXPECT_TRUE(solve(solver, b, true) == x) << "in place";
          }
}

} // namespace

TEST(Classes, OfNeighbouringLines)
{
  for (int K : {1, 2}) expect_solved<double>(K, 1, {21, 64, 101, 400});
  expect_solved<double>(4, 1, {64});
  expect_solved<double>(1, 2, {32});
  expect_solved<double>(1, 4, {32});
  expect_solved<float>(1, 1, {100});
  expect_solved<float>(2, 1, {100});
  expect_solved<Kokkos::complex<double>>(1, 1, {100});
  expect_solved<Kokkos::complex<double>>(2, 1, {100});
}

// SPDX-License-Identifier: BSD-2-Clause
// Rows of very different size, and sizes far from one. These sizes cause no zero pivots in dominant
// matrices.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace test;
using ribbon::FactorStatus;
using ribbon::Lhs;

namespace {

/// Dominant rows and right-hand sides, row i times size(i). The named algorithm solves them as accurately
/// as without sizes.
template <class Size>
void expect_solved(int rows, int K, bool periodic, Lhs lhs, const char *algorithm, const Size &size)
{
  SCOPED_TRACE((periodic ? "ring, K = " : "K = ") + std::to_string(K) + ", " + algorithm +
               (lhs == Lhs::shared ? ", shared" : ", per line"));
  std::mt19937_64 g(5);
  auto bands  = random_bands<double>(g, lhs == Lhs::shared ? 1 : 3, rows, K, periodic, Kind::dominant);
  bands.lhs   = lhs;
  auto scaled = bands;
  scaled.values =
    decltype(scaled.values)("scaled", bands.values.extent(0), bands.values.extent(1), bands.values.extent(2));
  for (std::size_t l = 0; l < bands.values.extent(0); ++l)
    for (std::size_t i = 0; i < bands.values.extent(1); ++i)
      for (std::size_t d = 0; d < bands.values.extent(2); ++d)
        scaled.values(l, i, d) = bands.values(l, i, d) * size(static_cast<int>(i));
  const auto                             set = ribbon::LineSet::interleaved(rows, 3);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(scaled), {algorithm});
  ASSERT_EQ(solver.report().status, FactorStatus::ok);
  std::vector<double> b(static_cast<std::size_t>(set.unknowns())), right;
  for (auto &v : b) v = random_scalar<double>(g);
  for (std::size_t k = 0; k < b.size(); ++k) right.push_back(b[k] * size(static_cast<int>(k) / 3));
  EXPECT_LE(backward_error(bands, set, solve(solver, right), b), 1e-13);
}

} // namespace

// Pivots are relative to their rows, including those of the reduced system and of rings.
TEST(RowSizes, DifferByThirtyOrders)
{
  for (bool periodic : {false, true})
    for (int K : {1, 2, 4})
      for (Lhs lhs : {Lhs::shared, Lhs::per_line})
        for (const char *algorithm : {"one_pass", "thomas", "pivoted", "auto"})
          expect_solved(96, K, periodic, lhs, algorithm,
                        [](int i) { return std::pow(10.0, i * 13 % 31 - 15); });
}

TEST(RowSizes, FarFromOne)
{
  for (double size : {1e-200, 1e-160, 1e160, 1e200})
    for (int K : {1, 2})
      for (Lhs lhs : {Lhs::shared, Lhs::per_line})
        for (const char *algorithm : {"one_pass", "thomas", "auto"})
          expect_solved(24, K, true, lhs, algorithm, [size](int) { return size; });
}

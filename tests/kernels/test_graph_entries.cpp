// SPDX-License-Identifier: BSD-2-Clause
// Lines along the largest couplings of matrices with few rows or special entries, and of random graphs; their
// thresholds and errors.
#include "graph_lines.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

using namespace test;

namespace {

TEST(LinesOfGraph, FewRowsAndNothingCoupled)
{
  Host<> none(0);
  auto   found = ribbon::lines_from_graph(none.csr());
  EXPECT_EQ(found.lines(), 0);
  EXPECT_EQ(found.begin, std::vector<Row>{0});
  Host<> one(1);
  EXPECT_EQ(as_set(ribbon::lines_from_graph(one.csr())), (Lines{{0}})); // a row without an entry
  one.entries[{0, 0}] = 3;
  EXPECT_EQ(as_set(ribbon::lines_from_graph(one.csr())), (Lines{{0}}));
  Host<> diagonal(6);
  for (Row i = 0; i < 6; ++i) diagonal.entries[{i, i}] = static_cast<double>(i); // includes a zero
  EXPECT_EQ(as_set(ribbon::lines_from_graph(diagonal.csr())), (Lines{{0}, {1}, {2}, {3}, {4}, {5}}));
}

TEST(LinesOfGraph, EntriesThatAreNoNumbersOrNoCouplings)
{
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Host<>       A(12);
  auto         pair = [&A](Row i, double diagonal, double a, double b) {
    A.entries[{i, i}] = A.entries[{i + 1, i + 1}] = diagonal;
    A.entries[{i, i + 1}]                         = a;
    A.entries[{i + 1, i}]                         = b;
  };
  pair(0, 2, nan, nan);
  pair(2, 2, inf, -inf);
  pair(4, 2, 0, 0);       // stored zeros
  pair(6, 1, 1e-9, 1e-9); // nearly zero
  pair(8, 0, 1, 1);       // zero diagonals
  pair(10, nan, 0, 1);    // one-sided
  EXPECT_EQ(as_set(ribbon::lines_from_graph(A.csr())),
            (Lines{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8, 9}, {10, 11}}));
  // Upwind: every row couples only to the row before it. The scales of rows have no effect.
  Host<> upwind(40);
  for (Row i = 0; i < 40; ++i) {
    const double scale     = std::pow(10., static_cast<double>(i * 7 % 13) - 6);
    upwind.entries[{i, i}] = scale;
    if (i > 0) upwind.entries[{i, i - 1}] = -scale;
  }
  EXPECT_EQ(ribbon::lines_from_graph(upwind.renumbered(shuffled(40, 9)).csr()).lines(), 1);
  // Columns outside the matrix.
  Host<> wide(2);
  wide.entries = {{{0, 0}, 1.}, {{0, 5}, -9.}, {{1, 0}, -1.}, {{1, 1}, 1.}};
  EXPECT_EQ(as_set(ribbon::lines_from_graph(wide.csr())), (Lines{{0, 1}}));
}

TEST(LinesOfGraph, Thresholds)
{
  // Two pairs with a coupling between them that is a tenth as strong.
  Host<> A = grid(4, 1, 1, [](int, Row x, Row, Row) { return x == 1 ? 0.1 : 1.; });
  EXPECT_EQ(as_set(ribbon::lines_from_graph(A.csr())), (Lines{{0, 1}, {2, 3}}));
  ribbon::LinesOfGraphOptions options;
  options.threshold = 0.05;
  EXPECT_EQ(as_set(ribbon::lines_from_graph(A.csr(), options)), (Lines{{0, 1, 2, 3}}));
  options.anisotropy = 4;
  Host<> B           = grid(6, 6, 1, constant(1, 1));
  EXPECT_EQ(ribbon::lines_from_graph(B.csr(), options).lines(), 36);
}

TEST(LinesOfGraph, Errors)
{
  Host<>                      A(7);
  ribbon::LinesOfGraphOptions options;
  options.block = 2;
  EXPECT_THROW(ribbon::lines_from_graph(A.csr(), options), std::invalid_argument);
  options.block     = 1;
  options.threshold = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(ribbon::lines_from_graph(A.csr(), options), std::invalid_argument);
}

template <class Scalar, class Index>
void random_graphs(unsigned seed)
{
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937                           random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Row                              n = 1 + static_cast<Row>(random() % 60);
  Host<Scalar, Index>                    A(n);
  const std::size_t                      entries = random() % static_cast<std::size_t>(6 * n + 1);
  for (std::size_t k = 0; k < entries; ++k) {
    const Row i = static_cast<Row>(random() % static_cast<unsigned>(n)),
              j = static_cast<Row>(random() % static_cast<unsigned>(n));
    A.entries[{i, j}] =
      random() % 8 == 0
        ? Scalar(0)
        : Scalar(static_cast<ribbon::real_t<Scalar>>(uniform(random) * std::pow(10, 2 * uniform(random))));
  }
  ribbon::LinesOfGraphOptions options;
  options.threshold  = random() % 2 == 0 ? 0.25 : 0;
  options.anisotropy = random() % 3 == 0 ? 2 : 0;
  const auto found   = ribbon::lines_from_graph(A.csr(), options);
  expect_sound(A, found);
  const auto again = ribbon::lines_from_graph(A.csr(), options);
  EXPECT_EQ(found.order, again.order);
  EXPECT_EQ(found.begin, again.begin);
}

/// Symmetric patterns with ascending columns are read in place, others are transposed.
TEST(LinesOfGraph, DoNotDependOnTheOrderOfEntries)
{
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const Row    n = 2 + static_cast<Row>(random() % 50);
    Host<>       A(n);
    for (Row i = 0; i < n; ++i) {
      A.entries[{i, i}] = random() % 4 == 0 ? 1e4 : 1;
      for (Row k = 0; k < 1 + static_cast<Row>(seed % 3); ++k) {
        const Row j = static_cast<Row>(random() % static_cast<unsigned>(n));
        if (i == j) continue;
        A.entries[{i, j}] = 0.1 * static_cast<double>(random() % 12);
        A.entries[{j, i}] = random() % 3 == 0 ? 0.35 : A.entries[{i, j}];
      }
    }
    const auto          sorted = A.csr();
    std::vector<int>    column = {};
    std::vector<double> value  = {};
    for (Row i = 0; i < n; ++i)
      for (int e = sorted.row_begin[i + 1] - 1; e >= sorted.row_begin[i]; --e)
        column.push_back(sorted.column[e]), value.push_back(sorted.value[e]);
    const auto found = ribbon::lines_from_graph(sorted);
    const auto other = ribbon::lines_from_graph(
      ribbon::CsrMatrix<double, int>{n, sorted.row_begin, column.data(), value.data()});
    expect_sound(A, found);
    EXPECT_EQ(found.order, other.order) << seed;
    EXPECT_EQ(found.begin, other.begin) << seed;
  }
}

TEST(LinesOfGraph, RandomGraphs)
{
  for (unsigned seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    random_graphs<double, std::int32_t>(seed);
    random_graphs<float, std::int64_t>(seed + 1000);
    random_graphs<Kokkos::complex<double>, std::int32_t>(seed + 2000);
    random_graphs<double, std::int64_t>(seed + 3000);
  }
}

} // namespace

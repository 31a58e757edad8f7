// SPDX-License-Identifier: BSD-2-Clause
// Measures of the strength of couplings.
#include "graph_lines.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

using namespace test;
using ribbon::CouplingStrength;

namespace {

template <class Scalar, class Index>
Lines lines_by(CouplingStrength strength, Host<Scalar, Index> &A, int block = 1)
{
  ribbon::LinesOfGraphOptions options;
  options.strength = strength;
  options.block    = block;
  const auto found = ribbon::lines_from_graph(A.csr(), options);
  expect_sound(A, found, block);
  return as_set(found);
}

std::vector<Row> same(Row n)
{
  std::vector<Row> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), Row(0));
  return numbers;
}

TEST(CouplingStrength, NegativeEntriesOnly)
{
  // Couplings along x have the sign of the diagonal, and are twice as large as those along y.
  for (double sign : {1., -1.}) {
    Host<> A = grid(6, 5, 1, constant(2, 1));
    for (auto &[at, a] : A.entries) {
      if (std::abs(at.first - at.second) == 1) a = 2;
      a *= sign;
    }
    EXPECT_EQ(lines_by(CouplingStrength::absolute, A), grid_lines(6, 5, 1, 0, same(30)));
    EXPECT_EQ(lines_by(CouplingStrength::negative, A), grid_lines(6, 5, 1, 1, same(30)));
  }
  Host<Kokkos::complex<double>> turned(30); // by the phase of the diagonal of each row
  Host<>                        A = grid(6, 5, 1, constant(2, 1));
  for (const auto &[at, a] : A.entries) {
    const double phase = static_cast<double>(at.first);
    turned.entries[at] = Kokkos::complex<double>(std::cos(phase), std::sin(phase)) *
                         (std::abs(at.first - at.second) == 1 ? 2. : a);
  }
  EXPECT_EQ(lines_by(CouplingStrength::negative, turned), grid_lines(6, 5, 1, 1, same(30)));
}

TEST(CouplingStrength, AggregationDoesNotDependOnUnits)
{
  // D A D with random D has the lines of A.
  std::mt19937                           random(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Host<>                                 A = grid(7, 8, 1, constant(1, 4));
  std::vector<double>                    unit;
  for (Row i = 0; i < A.rows; ++i) unit.push_back(std::pow(10, uniform(random)));
  Host<> scaled = A;
  for (auto &[at, a] : scaled.entries)
    a *= unit[static_cast<std::size_t>(at.first)] * unit[static_cast<std::size_t>(at.second)];
  const Lines expected = grid_lines(7, 8, 1, 1, same(56));
  // the diagonals of a Laplacian are smaller at the boundary: inner columns are exact
  EXPECT_EQ(lines_by(CouplingStrength::absolute, A), expected);
  EXPECT_EQ(lines_by(CouplingStrength::aggregation, A), expected);
  EXPECT_EQ(lines_by(CouplingStrength::aggregation, scaled), expected);
  EXPECT_NE(lines_by(CouplingStrength::absolute, scaled), expected);
}

TEST(CouplingStrength, BlocksByNormAndTrace)
{
  // Blocks along x have a positive trace, blocks along y a negative one and smaller norms.
  Host<> scalar = grid(4, 5, 1, constant(3, 1)), A(2 * scalar.rows);
  for (const auto &[at, a] : scalar.entries) {
    const bool x                                     = std::abs(at.first - at.second) == 1;
    A.entries[{2 * at.first, 2 * at.second}]         = x ? -a : a;
    A.entries[{2 * at.first + 1, 2 * at.second + 1}] = a / 2;
    A.entries[{2 * at.first, 2 * at.second + 1}]     = at.first == at.second ? 0.1 : 0.2;
  }
  EXPECT_EQ(lines_by(CouplingStrength::absolute, A, 2), grid_lines(4, 5, 1, 0, same(20)));
  EXPECT_EQ(lines_by(CouplingStrength::aggregation, A, 2), grid_lines(4, 5, 1, 0, same(20)));
  EXPECT_EQ(lines_by(CouplingStrength::negative, A, 2), grid_lines(4, 5, 1, 1, same(20)));
}

TEST(CouplingStrength, EntriesThatAreNoNumbersAndRowsWithoutDiagonal)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (CouplingStrength strength : {CouplingStrength::aggregation, CouplingStrength::negative}) {
    Host<> A(6);
    for (Row i = 0; i < 5; ++i) A.entries[{i, i + 1}] = A.entries[{i + 1, i}] = -1; // no diagonal
    EXPECT_EQ(lines_by(strength, A), (Lines{{0, 1, 2, 3, 4, 5}}));
    A.entries[{2, 3}] = A.entries[{3, 2}] = nan;
    EXPECT_EQ(lines_by(strength, A), (Lines{{0, 1, 2}, {3, 4, 5}}));
    A.entries[{4, 4}] = nan;
    A.entries[{0, 9}] = -5; // a column outside the matrix
    EXPECT_EQ(lines_by(strength, A), (Lines{{0, 1, 2}, {3, 4, 5}}));
    Host<> none(0);
    EXPECT_TRUE(lines_by(strength, A).size() == 2);
    EXPECT_EQ(ribbon::entries_by_strength(none.csr(), {}).size(), 0u);
    ribbon::LinesOfGraphOptions options;
    options.strength = strength;
    options.block    = 4;
    EXPECT_THROW(ribbon::lines_from_graph(A.csr(), options), std::invalid_argument);
  }
}

} // namespace

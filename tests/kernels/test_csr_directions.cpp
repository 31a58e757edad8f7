// SPDX-License-Identifier: BSD-2-Clause
// The direction with the strongest couplings, and the number of rows that prefer other lines.
#include "csr.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

TEST(Csr, TheStrongestDirectionHasTheLargestMedian)
{
  const std::int64_t n[3] = {8, 7, 6};
  for (std::size_t strong = 0; strong < 3; ++strong) {
    std::array<double, 3> s = {1, 1, 1};
    s[strong]               = 50;
    Sparse     A            = stencil(n, s);
    const auto csr          = A.csr();
    int        best = -1, best_bin = -1;
    const auto histograms = ribbon::strength_histograms<double, std::int32_t, Exec>(
      Exec(), csr,
      {{ribbon::LineSet::box(n, 0)}, {ribbon::LineSet::box(n, 1)}, {ribbon::LineSet::box(n, 2)}});
    for (int d = 0; d < 3; ++d) {
      const int bin = ribbon::median_bin(histograms[static_cast<std::size_t>(d)]);
      if (bin > best_bin) best = d, best_bin = bin;
    }
    EXPECT_EQ(best, static_cast<int>(strong));
    EXPECT_NEAR(ribbon::strength_of_bin(best_bin), 100.0 / 104, 0.05);
  }
}

TEST(Csr, RowsThatPreferOtherLinesAreCounted)
{
  const std::int64_t n[3] = {6, 5, 1};
  Sparse             A    = stencil(n, {1, 1, 0});
  for (int k : {8, 9, 14}) { // inner rows
    A.entries[{k, k - 6}] = -20;
    A.entries[{k, k + 6}] = -20;
  }
  A.entries[{29, 28}] = A.entries[{29, 23}] = 0; // a row without couplings
  const auto x = ribbon::LineSet::box(n, 0), y = ribbon::LineSet::box(n, 1);
  const auto csr = A.csr();
  const auto found =
    ribbon::line_preferences<double, std::int32_t, Exec>(Exec(), csr, {{x}, {y}}, {{1, {0}}, {0, {1}}}, 4);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].rows, 29);
  EXPECT_EQ(found[0].preferring, 3);
  EXPECT_EQ(found[1].rows, 29);
  EXPECT_EQ(found[1].preferring, 0);
}

TEST(Csr, RowsThatPreferAThirdSetOfLinesToEachOfTwoAreCounted)
{
  const std::int64_t n[3] = {5, 5, 5};
  Sparse             A    = stencil(n, {1, 1, 1});
  for (int k : {31, 62, 93}) A.entries[{k, k - 25}] = -20; // strong along z; the second one also along x
  A.entries[{62, 61}]     = -20;
  const ribbon::LineSet x = ribbon::LineSet::box(n, 0), y = ribbon::LineSet::box(n, 1),
                        z = ribbon::LineSet::box(n, 2);
  const auto csr          = A.csr();
  const auto preferences  = [&](const std::vector<ribbon::LinePlaces>     &lines,
                               const std::vector<ribbon::LineComparison> &comparisons) {
    return ribbon::line_preferences<double, std::int32_t, Exec>(Exec(), csr, lines, comparisons, 4);
  };
  const auto found = preferences({{x}, {y}, {z}}, {{2, {1}}, {2, {1, 0}}, {2, {0, 1}}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].preferring, 3);
  EXPECT_EQ(found[1].preferring, 2);
  EXPECT_EQ(found[2].preferring, 2);
  EXPECT_THROW(preferences({}, {{0, {}}}), std::invalid_argument);
  EXPECT_THROW(preferences({{x}, {y}, {z}, {x}}, {{0, {1}}}), std::invalid_argument);
  EXPECT_THROW(preferences({{x}, {y}}, {}), std::invalid_argument);
  EXPECT_THROW(preferences({{x}, {y}}, {{0, {2}}}), std::invalid_argument);
}

TEST(Csr, DiagonalRowsDoNotVote)
{
  Sparse A;
  A.rows = 10;
  for (int i = 0; i < 10; ++i) A.entries[{i, i}] = 1;
  A.entries[{4, 5}]     = 0; // stored, but zero
  const auto histograms = ribbon::strength_histograms<double, std::int32_t, Exec>(
    Exec(), A.csr(), {{ribbon::LineSet::contiguous(10, 1)}});
  EXPECT_EQ(ribbon::median_bin(histograms[0]), -1);
}

} // namespace

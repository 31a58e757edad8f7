// SPDX-License-Identifier: BSD-2-Clause
// Couplings of rows along lines: half-bandwidths, rings, components, runs of equal length, invalid rows.
#include "csr.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

TEST(Csr, ComponentsThatDoNotCouple)
{
  const std::int64_t n[3] = {6, 1, 1};
  const Sparse       line = stencil(n, {1, 0, 0});
  Sparse             A;
  A.rows = 2 * line.rows;
  for (const auto &[at, a] : line.entries)
    for (int c = 0; c < 2; ++c) A.entries[{2 * at.first + c, 2 * at.second + c}] = a;
  A.entries[{4, 5}] = 0; // stored, but zero
  const auto found  = ribbon::line_couplings<double, std::int32_t, Exec>(
    Exec(), A.csr(), {ribbon::LineSet::contiguous(6, 1), false, 2});
  EXPECT_EQ(found.half_bandwidth, 1);
  EXPECT_EQ(found.component_row, -1);
  EXPECT_FALSE(found.across);
}

/// Runs of equal length, rings or not. One more entry, one less, or another length is detected.
TEST(Csr, ConsecutiveElementsAreRunsOfOneLength)
{
  for (const int components : {1, 3})
    for (const int length : {1, 2, 5, 12})
      for (const bool ring : {false, true}) {
        if (ring && length < 5) continue;
        const int count = 4, n = length * count, far = 2;
        SCOPED_TRACE(testing::Message()
                     << components << " components, runs of " << length << (ring ? ", rings" : ""));
        Sparse     A;
        const auto couple = [&](int from, int to) {
          for (int a = 0; a < components; ++a)
            A.entries[{from * components + a, to * components + (a + 1) % components}] = 1;
        };
        A.rows = n * components;
        for (int e = 0; e < n; ++e) {
          couple(e, e);
          for (const int d : {-2, -1, 1, 2}) {
            const int i = e % length + d, wrapped = ring ? (i + length) % length : i;
            if (wrapped >= 0 && wrapped < length) couple(e, e - e % length + wrapped);
          }
        }
        const auto runs = [&](int of) { return ribbon::uniform_runs(Exec(), A.csr(), components, of, far); };
        EXPECT_TRUE(runs(length).holds);
        EXPECT_EQ(runs(length).wraps, ring);
        EXPECT_EQ(runs(length).closes_first >= 0 && runs(length).closes_first < length, ring);
        EXPECT_EQ(runs(length).closes_last >= n - length, ring);
        EXPECT_FALSE(runs(2 * length).holds) << "two runs are one";
        if (length > 1) {
          EXPECT_FALSE(runs(1).holds);
        }
        const auto whole = A.entries;
        couple(n / 2 - 1, n / 2); // length is a divisor of n / 2
        EXPECT_FALSE(runs(length).holds) << "a tie between two runs";
        A.entries = whole;
        couple(0, n - 1);
        EXPECT_FALSE(runs(length).holds) << "an entry that is on no run";
        A.entries = whole;
        if (length == 12) { // Rows 5 and 6 of the second run do not couple.
          for (auto e = A.entries.begin(); e != A.entries.end();) {
            const int r = e->first.first / components - length, c = e->first.second / components - length;
            e = r >= 0 && r < length && c >= 0 && c < length && (r < 6) != (c < 6) && std::abs(r - c) <= far
                  ? A.entries.erase(e)
                  : std::next(e);
          }
          EXPECT_FALSE(runs(length).holds) << "a run in two parts";
        }
      }
}

// On a host, rows that match the pattern of an earlier row are checked by value only. One zero, non-finite,
// missing or displaced entry is still found.
TEST(Csr, CouplingsOfRowsThatAreAlike)
{
  constexpr int   seed = 20261126;
  std::mt19937_64 random(seed);
  const auto      below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int k = 0; k < 2000; ++k) {
    const int          B = k % 3 == 2 ? 2 : 1, d = static_cast<int>(below(3));
    const std::int64_t n[3] = {1 + below(25), 1 + below(25), 1 + below(3)};
    const bool         ring = below(2) > 0;
    Sparse             A    = stencil(n, {1, 2, 0.5}, {ring, ring, false});
    if (B == 2) { // the same for two components, which couple or not
      Sparse both;
      both.rows = 2 * A.rows;
      for (const auto &[at, a] : A.entries)
        for (int c = 0; c < 2; ++c) both.entries[{2 * at.first + c, 2 * at.second + c}] = a;
      if (below(2) > 0)
        for (int i = 0; i < A.rows; ++i) both.entries[{2 * i, 2 * i + 1}] = 0.25;
      A = both;
    }
    if (below(2) > 0) // rows that sum to zero
      for (int i = 0; i < A.rows; ++i) {
        double sum = 0;
        for (auto e = A.entries.lower_bound({i, 0}); e != A.entries.end() && e->first.first == i; ++e)
          sum += e->first.second == i ? 0 : e->second;
        if (below(50) == 0) A.entries[{i, i}] = -sum;
      }
    for (std::int64_t changes = below(4); changes > 0; --changes) {
      const int  row = static_cast<int>(below(A.rows)), column = static_cast<int>(below(A.rows));
      const auto entry = std::next(A.entries.begin(), below(static_cast<std::int64_t>(A.entries.size())));
      switch (below(8)) {
      case 0:
        entry->second = 0;
        break;
      case 1:
        entry->second = below(2) > 0 ? std::nan("") : HUGE_VAL;
        break;
      case 2:
        A.entries.erase(entry);
        break;
      case 3:
        A.entries[{row, column}] = below(2) > 0 ? 1 : 0;
        break;
      case 4:
        A.entries[{row, std::min(A.rows - 1, row + static_cast<int>(below(20)))}] = 1;
        break;
      default: // another diagonal, with a random start and zeros at first
        const int distance = static_cast<int>(below(21)) - 10, zeros = static_cast<int>(below(A.rows));
        for (int i = row; i < A.rows; ++i)
          if (i + distance >= 0 && i + distance < A.rows) A.entries[{i, i + distance}] = i < zeros ? 0 : 1;
      }
    }
    const auto               csr = A.csr();
    const ribbon::LinePlaces places{ribbon::LineSet::box(n, d), below(2) > 0, B,
                                    1 + static_cast<int>(below(4))};
    const auto               found = ribbon::line_couplings<double, std::int32_t, Exec>(Exec(), csr, places);
    const auto               known =
      ribbon::line_couplings<double, std::int32_t, Exec>(Exec(), csr, through_tables(places));
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", matrix " << k << ", " << n[0] << " x " << n[1]
                                    << " x " << n[2] << ", direction " << d);
    EXPECT_EQ(found.half_bandwidth, known.half_bandwidth);
    EXPECT_EQ(found.stored_bandwidth, known.stored_bandwidth);
    EXPECT_EQ(found.periodic, known.periodic);
    EXPECT_EQ(found.stored_periodic, known.stored_periodic);
    EXPECT_EQ(found.entries, known.entries);
    EXPECT_EQ(found.too_far_row, known.too_far_row);
    EXPECT_EQ(found.no_diagonal, known.no_diagonal);
    EXPECT_EQ(found.not_finite, known.not_finite);
    EXPECT_EQ(found.across, known.across);
    EXPECT_EQ(found.component_row, known.component_row);
    EXPECT_EQ(found.zero_sums, known.zero_sums);
  }
}

TEST(Csr, FindsWhatIsWrongWithARow)
{
  const std::int64_t n[3] = {12, 2, 1};
  Sparse             A    = stencil(n, {1, 1, 0});
  A.entries[{1, 10}]      = 0.5; // nine rows away on its line
  A.entries.erase({14, 14});
  A.entries[{17, 16}] = std::nan("");
  const auto found =
    ribbon::line_couplings<double, std::int32_t, Exec>(Exec(), A.csr(), {ribbon::LineSet::box(n, 0)});
  EXPECT_EQ(found.too_far_row, 1);
  EXPECT_EQ(found.no_diagonal, 14);
  EXPECT_EQ(found.not_finite, 17);
  EXPECT_TRUE(found.across);
}

TEST(Csr, StoredZerosAreNotInUse)
{
  const std::int64_t n[3] = {9, 2, 1};
  Sparse             A    = stencil(n, {1, 0, 0});
  A.entries[{3, 5}] = A.entries[{0, 8}] = A.entries[{3, 12}] = 0;
  for (int l = 0; l < 9; ++l) A.entries[{l, l + 9}] = A.entries[{l + 9, l}] = 0;
  const auto found =
    ribbon::line_couplings<double, std::int32_t, Exec>(Exec(), A.csr(), {ribbon::LineSet::box(n, 0), true});
  EXPECT_EQ(found.half_bandwidth, 1);
  EXPECT_EQ(found.stored_bandwidth, 2);
  EXPECT_FALSE(found.periodic);
  EXPECT_TRUE(found.stored_periodic);
  EXPECT_FALSE(found.across);
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/line_set.hpp>

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace {

TEST(LineSet, FormulaOfTheTwoBatches)
{
  const auto interleaved = ribbon::LineSet::interleaved(10, 7),
             contiguous  = ribbon::LineSet::contiguous(10, 7, 12);
  EXPECT_EQ(interleaved(3, 4), 3 + 4 * 7);
  EXPECT_EQ(contiguous(3, 4), 3 * 12 + 4);
  EXPECT_EQ(interleaved.unknowns(), 70);
}

TEST(LineSet, BoxesAreCoveredOnceInEveryDirection)
{
  for (const auto &size : {std::array<std::int64_t, 3>{4, 5, 6},
                           {1, 5, 6},
                           {4, 1, 6},
                           {4, 5, 1},
                           {1, 1, 6},
                           {4, 1, 1},
                           {1, 1, 1},
                           {3, 0, 2}})
    for (int d = 0; d < 3; ++d) {
      const std::int64_t     s[3] = {size[0], size[1], size[2]};
      const auto             set  = ribbon::LineSet::box(s, d);
      std::set<std::int64_t> seen;
      EXPECT_EQ(set.rows, s[d]);
      for (std::int64_t l = 0; l < set.lines(); ++l)
        for (std::int64_t i = 0; i < set.rows; ++i) {
          const std::int64_t k = set(l, i), place[3] = {k % s[0], k / s[0] % s[1], k / s[0] / s[1]};
          EXPECT_EQ(place[d], i);
          seen.insert(k);
        }
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), s[0] * s[1] * s[2]);
      EXPECT_TRUE(seen.empty() || (*seen.begin() == 0 && *seen.rbegin() == s[0] * s[1] * s[2] - 1));
    }
}

TEST(LineSet, PlacesBeyondTwoToTheThirtyOne)
{
  const auto set = ribbon::LineSet::interleaved(50000, 50000);
  EXPECT_EQ(set(49999, 49999), 50000ll * 50000 - 1);
}

} // namespace

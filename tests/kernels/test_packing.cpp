// SPDX-License-Identifier: BSD-2-Clause
// Lines of different lengths packed into a batch.
#include <ribbon/lines_from_graph.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace {

using Row = std::int64_t;

/// Lines of given lengths through shuffled rows.
ribbon::LinesOfGraph of_lengths(const std::vector<Row> &lengths, unsigned seed)
{
  ribbon::LinesOfGraph lines;
  lines.begin = {0};
  for (Row length : lengths) lines.begin.push_back(lines.begin.back() + length);
  lines.order.resize(static_cast<std::size_t>(lines.begin.back()));
  std::iota(lines.order.begin(), lines.order.end(), Row(0));
  std::shuffle(lines.order.begin(), lines.order.end(), std::mt19937(seed));
  return lines;
}

double expect_packed(const ribbon::LinesOfGraph &lines, const ribbon::PackedLines &packed)
{
  const auto n = lines.order.size();
  EXPECT_EQ(static_cast<Row>(packed.row_at.size()), packed.rows * packed.pieces);
  EXPECT_EQ(packed.position_of.size(), n);
  std::size_t held = 0;
  for (std::size_t p = 0; p < packed.row_at.size(); ++p) {
    if (packed.row_at[p] < 0) continue;
    ++held;
    EXPECT_EQ(packed.position_of[static_cast<std::size_t>(packed.row_at[p])], static_cast<Row>(p));
  }
  EXPECT_EQ(held, n); // together with the inverse: each row once
  for (std::size_t l = 0; l + 1 < lines.begin.size(); ++l)
    for (auto k = static_cast<std::size_t>(lines.begin[l]) + 1;
         k < static_cast<std::size_t>(lines.begin[l + 1]); ++k)
      EXPECT_EQ(packed.position_of[static_cast<std::size_t>(lines.order[k])],
                packed.position_of[static_cast<std::size_t>(lines.order[k - 1])] + packed.pieces);
  for (Row s = 0; s < packed.pieces; ++s) // padding is at the end
    for (Row i = 1; i < packed.rows; ++i)
      EXPECT_FALSE(packed.row_at[static_cast<std::size_t>((i - 1) * packed.pieces + s)] < 0 &&
                   packed.row_at[static_cast<std::size_t>(i * packed.pieces + s)] >= 0);
  return n == 0 ? 0 : static_cast<double>(packed.row_at.size() - n) / static_cast<double>(n);
}

TEST(PackedLines, EqualLinesAsTheyAre)
{
  const auto lines  = of_lengths(std::vector<Row>(9, 17), 1);
  const auto packed = ribbon::pack(lines);
  EXPECT_EQ(expect_packed(lines, packed), 0);
  EXPECT_EQ(packed.rows, 17);
  // Packed line l is line l.
  for (Row l = 0; l < 9; ++l)
    EXPECT_EQ(packed.row_at[static_cast<std::size_t>(l)], lines.order[static_cast<std::size_t>(17 * l)]);
}

TEST(PackedLines, LittlePadding)
{
  std::mt19937 random(4);
  for (const auto &[shortest, longest] :
       {std::pair<Row, Row>{1, 100}, {33, 64}, {50, 60}, {1, 3}, {100, 250}, {1, 700}}) {
    std::vector<Row> lengths(1000);
    for (Row &length : lengths)
      length = shortest + static_cast<Row>(random() % static_cast<unsigned>(longest - shortest + 1));
    const auto lines = of_lengths(lengths, 2);
    SCOPED_TRACE(testing::Message() << shortest << " to " << longest);
    const auto packed = ribbon::pack(lines);
    // Two lines of more than 128 rows do not fit in 256.
    EXPECT_LT(expect_packed(lines, packed), longest == 250 ? 0.3 : 0.1);
    EXPECT_EQ(ribbon::pack(lines).row_at, packed.row_at);
    EXPECT_EQ(ribbon::pack(lines, 1024).rows, 1024);
    EXPECT_LT(expect_packed(lines, ribbon::pack(lines, 1024)), 0.1);
  }
  // One long line, and single rows.
  std::vector<Row> lengths(5001, 1);
  lengths[77]      = 1000;
  const auto lines = of_lengths(lengths, 3);
  EXPECT_EQ(ribbon::pack(lines).rows, 1000);
  EXPECT_EQ(ribbon::pack(lines).pieces, 6);
  expect_packed(lines, ribbon::pack(lines));
}

TEST(PackedLines, NothingAndOneRow)
{
  ribbon::LinesOfGraph none;
  none.begin = {0};
  EXPECT_EQ(expect_packed(none, ribbon::pack(none)), 0);
  EXPECT_EQ(ribbon::pack(none).pieces, 0);
  const auto one = of_lengths({1}, 1);
  EXPECT_EQ(ribbon::pack(one).row_at, std::vector<Row>{0});
  EXPECT_EQ(ribbon::pack(one, 4).row_at, (std::vector<Row>{0, -1, -1, -1}));
  EXPECT_THROW(ribbon::pack({{0, 1, 2}, {0, 3}}, 2), std::invalid_argument);
}

} // namespace

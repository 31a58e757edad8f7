// SPDX-License-Identifier: BSD-2-Clause
/// @file graph_lines.hpp  Checks of lines along the largest couplings of a sparse matrix.
#pragma once

#include "graph.hpp"

#include <ribbon/lines_from_graph.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace test {

using Line  = std::vector<Row>;
using Lines = std::set<Line>;

/// Lines in either direction are equal.
inline Line oriented(Line line)
{
  if (line.front() > line.back()) std::reverse(line.begin(), line.end());
  return line;
}
inline Lines as_set(const ribbon::LinesOfGraph &found)
{
  Lines lines;
  for (std::size_t l = 0; l + 1 < found.begin.size(); ++l)
    lines.insert(oriented({found.order.begin() + found.begin[l], found.order.begin() + found.begin[l + 1]}));
  return lines;
}
inline Lines grid_lines(Row nx, Row ny, Row nz, int d, const std::vector<Row> &to)
{
  const Row n[3] = {nx, ny, nz}, stride[3] = {1, nx, nx * ny};
  Lines     lines;
  for (Row i = 0; i < nx * ny * nz; ++i) {
    if (i / stride[d] % n[d] != 0) continue;
    Line line;
    for (Row k = 0; k < n[d]; ++k) line.push_back(to[static_cast<std::size_t>(i + k * stride[d])]);
    lines.insert(oriented(line));
  }
  return lines;
}

/// Every row is on one line, lines are not empty and in order, neighbours couple, and no lines remain that
/// could be joined.
template <class Scalar, class Index>
void expect_sound(Host<Scalar, Index> &A, const ribbon::LinesOfGraph &found, int block = 1)
{
  const Row n = A.rows / block;
  ASSERT_EQ(static_cast<Row>(found.order.size()), n);
  ASSERT_FALSE(found.begin.empty());
  EXPECT_EQ(found.begin.front(), 0);
  EXPECT_EQ(found.begin.back(), n);
  std::vector<int>              seen(static_cast<std::size_t>(n), 0);
  std::set<std::pair<Row, Row>> coupled;
  for (const auto &[at, a] : A.entries)
    if (ribbon::magnitude(a) > 0) coupled.insert({at.first / block, at.second / block});
  for (Row i : found.order) {
    ASSERT_TRUE(i >= 0 && i < n);
    ++seen[static_cast<std::size_t>(i)];
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
  Row before = -1;
  for (std::size_t l = 0; l + 1 < found.begin.size(); ++l) {
    ASSERT_LT(found.begin[l], found.begin[l + 1]);
    const Row first = found.order[static_cast<std::size_t>(found.begin[l])];
    EXPECT_LT(before, first);
    EXPECT_LE(first, found.order[static_cast<std::size_t>(found.begin[l + 1] - 1)]);
    before = first;
    for (auto k = static_cast<std::size_t>(found.begin[l]);
         k + 1 < static_cast<std::size_t>(found.begin[l + 1]); ++k)
      EXPECT_TRUE(coupled.count({found.order[k], found.order[k + 1]}) +
                    coupled.count({found.order[k + 1], found.order[k]}) >
                  0)
        << found.order[k] << " and " << found.order[k + 1];
  }
}

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
// Bands that are extracted from compressed sparse rows: boxes, every second line, blocks, tables of places.
#include "csr.hpp"

#include <ribbon/matrix/scale.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

TEST(Csr, BandsOfABoxInEveryDirection)
{
  const std::int64_t n[3] = {5, 4, 6};
  for (bool ring : {false, true}) {
    Sparse     A   = stencil(n, {1, 2, 3}, {ring, ring, ring});
    const auto csr = A.csr();
    for (int d = 0; d < 3; ++d) {
      const auto set   = ribbon::LineSet::box(n, d);
      const auto found = ribbon::line_couplings<double, std::int32_t, Exec>(Exec(), csr, {set, ring});
      EXPECT_EQ(found.half_bandwidth, 1);
      EXPECT_EQ(found.periodic, ring);
      EXPECT_EQ(found.too_far_row, -1);
      EXPECT_EQ(found.no_diagonal, -1);
      EXPECT_TRUE(found.across);
      const auto bands = ribbon::extract_bands<double, std::int32_t, Exec>(Exec(), csr, {set, ring}, 1);
      Kokkos::fence();
      const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands.values);
      for (std::int64_t l = 0; l < set.lines(); ++l)
        for (std::int64_t i = 0; i < set.rows; ++i)
          for (int e = -1; e <= 1; ++e) {
            std::int64_t j        = i + e;
            double       expected = 0;
            if (ring) j = (j + set.rows) % set.rows;
            if (j >= 0 && j < set.rows)
              expected = A.entries[{static_cast<int>(set(l, i)), static_cast<int>(set(l, j))}];
            EXPECT_EQ(values(static_cast<std::size_t>(l), static_cast<std::size_t>(i),
                             static_cast<std::size_t>(e + 1)),
                      expected);
          }
    }
  }
}

TEST(Csr, BandsOfEverySecondLineAndTheirMultiples)
{
  const std::int64_t n[3] = {5, 4, 6};
  Sparse             A    = stencil(n, {1, 2, 3});
  const auto         csr  = A.csr();
  for (int d = 0; d < 3; ++d) {
    ribbon::LineSet    set       = ribbon::LineSet::box(n, d);
    const std::int64_t stride[3] = {1, n[0], n[0] * n[1]};
    const int          d0 = d == 0 ? 1 : 0, d1 = d == 2 ? 1 : 2;
    set.count0 = n[d0] / 2, set.stride0 = 2 * stride[d0], set.offset = stride[d0] + stride[d1];
    set.count1 = n[d1] / 2, set.stride1 = 2 * stride[d1];
    const auto bands = ribbon::extract_bands<double, std::int32_t, Exec>(Exec(), csr, {set}, 1);
    ribbon::scale<double>(Exec(), bands, 3.0);
    Kokkos::fence();
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands.values);
    ASSERT_EQ(static_cast<std::int64_t>(values.extent(0)), set.lines());
    for (std::int64_t l = 0; l < set.lines(); ++l)
      for (std::int64_t i = 0; i < set.rows; ++i)
        for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j < std::min(set.rows, i + 2); ++j)
          EXPECT_EQ(values(static_cast<std::size_t>(l), static_cast<std::size_t>(i),
                           static_cast<std::size_t>(j - i + 1)),
                    3 * A.entries.at({static_cast<int>(set(l, i)), static_cast<int>(set(l, j))}));
  }
}

/// Elements of three rows along y, with couplings between all components.
TEST(Csr, BlocksOfElements)
{
  const std::int64_t n[3] = {4, 5, 1};
  const int          B    = 3;
  const Sparse       grid = stencil(n, {1, 2, 0});
  Sparse             A;
  A.rows       = B * grid.rows;
  double value = 0;
  for (const auto &entry : grid.entries)
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b)
        A.entries[{entry.first.first * B + a, entry.first.second * B + b}] = ++value;
  const auto               csr   = A.csr();
  const ribbon::LinePlaces lines = {ribbon::LineSet::box(n, 1), false, B};
  const auto               found = ribbon::line_couplings<double, std::int32_t, Exec>(Exec(), csr, lines);
  EXPECT_EQ(found.half_bandwidth, 1);
  EXPECT_EQ(found.component_row, 0);
  EXPECT_TRUE(found.across);
  const auto bands = ribbon::extract_bands<double, std::int32_t, Exec>(Exec(), csr, lines, 1);
  ASSERT_EQ(bands.block, B);
  ASSERT_EQ(bands.values.extent(2), 27u);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands.values);
  for (std::int64_t l = 0; l < 4; ++l)
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j < std::min<std::int64_t>(5, i + 2); ++j)
        for (int a = 0; a < B; ++a)
          for (int b = 0; b < B; ++b)
            EXPECT_EQ(values(static_cast<std::size_t>(l), static_cast<std::size_t>(i),
                             static_cast<std::size_t>((static_cast<int>(j - i + 1) * B + a) * B + b)),
                      A.entries.at({static_cast<int>(lines.lines(l, i)) * B + a,
                                    static_cast<int>(lines.lines(l, j)) * B + b}));
}

/// A line of six in shuffled numbering, in two packed lines of four places.
TEST(Csr, LinesThroughATableOfPlaces)
{
  const std::vector<std::int64_t> element = {3, 5, 0, 2, 4, 1, -1, -1}; // interleaved: 3 0 4 . and 5 2 1 .
  std::vector<std::int64_t>       place(6);
  for (std::size_t k = 0; k < element.size(); ++k)
    if (element[k] >= 0) place[static_cast<std::size_t>(element[k])] = static_cast<std::int64_t>(k);
  // Row 4 is another line after 3 0.
  const std::vector<std::int64_t> part      = {0, 1, 0, 1, 2, 1, -1, -1};
  const auto                      to_device = [](const std::vector<std::int64_t> &v) {
    const Kokkos::View<std::int64_t *, Memory> to("table", v.size());
    Kokkos::deep_copy(
                           to, Kokkos::View<const std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            v.data(), v.size()));
    return to;
  };
  const auto device_place = to_device(place), device_element = to_device(element),
             device_part = to_device(part);
  Sparse A;
  A.rows = 6;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) A.entries[{i, j}] = 10 * i + j + 1;
  const ribbon::LinePlaces lines = {ribbon::LineSet::interleaved(4, 2),
                                    false,
                                    1,
                                    2,
                                    device_place.data(),
                                    device_element.data(),
                                    device_part.data()};
  const auto               csr   = A.csr();
  EXPECT_EQ((ribbon::line_couplings<double, std::int32_t, Exec>(Exec(), csr, lines).half_bandwidth), 2);
  const auto values = Kokkos::create_mirror_view_and_copy(
    Kokkos::HostSpace{}, ribbon::extract_bands<double, std::int32_t, Exec>(Exec(), csr, lines, 1).values);
  const int rows[2][4] = {{3, 0, 4, -1}, {5, 2, 1, -1}};
  for (std::size_t l = 0; l < 2; ++l)
    for (int i = 0; i < 4; ++i)
      for (int d = -1; d <= 1; ++d) {
        const int    r = rows[l][i], c = i + d < 0 || i + d > 3 ? -1 : rows[l][i + d];
        const double expected = r < 0                                     ? (d == 0 ? 1 : 0)
                                : c < 0 || (r != c && (r == 4 || c == 4)) ? 0
                                                                          : 10 * r + c + 1;
        EXPECT_EQ(values(l, static_cast<std::size_t>(i), static_cast<std::size_t>(d + 1)), expected)
          << l << " " << i << " " << d;
      }
}

} // namespace

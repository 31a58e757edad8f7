// SPDX-License-Identifier: BSD-2-Clause
// Lines and bands read from compressed sparse rows.
#include "batch.hpp"

#include <ribbon/lines_from_csr.hpp>
#include <ribbon/matrix/refresh_bands.hpp>
#include <ribbon/matrix/scale.hpp>
#include <ribbon/matrix/transpose.hpp>

#include <gtest/gtest.h>

#include <array>
#include <map>

using namespace test;

namespace {

/// A sparse matrix built entry by entry and copied to the memory of the default execution space.
struct Sparse {
  std::map<std::pair<int, int>, double> entries;
  int                                   rows = 0;
  Kokkos::View<int *, Memory>           row_begin, column;
  Kokkos::View<double *, Memory>        value;

  ribbon::CsrMatrix<double, std::int32_t> csr()
  {
    row_begin    = decltype(row_begin)("row_begin", static_cast<std::size_t>(rows) + 1);
    column       = decltype(column)("column", entries.size());
    value        = decltype(value)("value", entries.size());
    const auto r = Kokkos::create_mirror_view(row_begin), c = Kokkos::create_mirror_view(column);
    const auto v = Kokkos::create_mirror_view(value);
    Kokkos::deep_copy(r, 0);
    std::size_t k = 0;
    for (const auto &[at, a] : entries) {
      r(static_cast<std::size_t>(at.first) + 1) = static_cast<int>(k + 1);
      c(k)                                      = at.second;
      v(k++)                                    = a;
    }
    for (std::size_t i = 1; i <= static_cast<std::size_t>(rows); ++i) r(i) = std::max(r(i), r(i - 1));
    Kokkos::deep_copy(row_begin, r);
    Kokkos::deep_copy(column, c);
    Kokkos::deep_copy(value, v);
    return {rows, row_begin.data(), column.data(), value.data()};
  }
};

/// 5- or 7-point operator on a box: strength s[d] in direction d, periodic where asked for.
Sparse stencil(const std::int64_t (&n)[3], const std::array<double, 3> &s,
               const std::array<bool, 3> &ring = {false, false, false})
{
  Sparse A;
  A.rows = static_cast<int>(n[0] * n[1] * n[2]);
  for (std::int64_t z = 0; z < n[2]; ++z)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t x = 0; x < n[0]; ++x) {
        const std::int64_t at[3] = {x, y, z};
        const int          row   = static_cast<int>(x + n[0] * (y + n[1] * z));
        A.entries[{row, row}] += 2 * (s[0] + s[1] + s[2]);
        for (std::size_t d = 0; d < 3; ++d)
          for (int step : {-1, 1}) {
            std::int64_t to[3] = {x, y, z};
            to[d] += step;
            if (to[d] < 0 || to[d] >= n[d]) {
              if (!ring[d]) continue;
              to[d] = (to[d] + n[d]) % n[d];
            }
            if (n[d] > 1)
              A.entries[{row, static_cast<int>(to[0] + n[0] * (to[1] + n[1] * to[2]))}] -=
                s[d] + 0.001 * static_cast<double>(at[0]);
          }
      }
  return A;
}

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

using Extracted = ribbon::Bands<double, Memory>;

/// Adds a `part` table of zeros: the lines stay the same, but the kernels for tables read them.
ribbon::LinePlaces through_tables(ribbon::LinePlaces places)
{
  static const auto *part = [] {
    auto *zeros = new Kokkos::View<std::int64_t *, Memory>("part", 1 << 16);
    Kokkos::push_finalize_hook([=] { delete zeros; });
    return zeros;
  }();
  EXPECT_LE(places.lines.unknowns(), static_cast<std::int64_t>(part->extent(0)));
  places.part = part->data();
  return places;
}
Extracted extracted(Sparse &A, const ribbon::LinePlaces &places, int h)
{
  const auto csr = A.csr();
  return ribbon::extract_bands<double, std::int32_t, Exec>(Exec(), csr, through_tables(places), h);
}
ribbon::RefreshResult refreshed(Sparse &A, const ribbon::LinePlaces &places, const Extracted &bands,
                                const std::vector<std::int64_t> &first = {}, int siblings = 1)
{
  ribbon::RefreshPlan<Memory> plan{ribbon::upload(Exec(), "test::first", first), {}};
  const auto                  csr = A.csr();
  return ribbon::refresh_bands<double, std::int32_t, Exec>(Exec(), csr, places, plan, bands, siblings);
}
std::vector<double> values_of(const Extracted &bands)
{
  Kokkos::fence();
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands.values);
  return std::vector<double>(values.data(), values.data() + values.size());
}

TEST(Csr, NewValuesInTheBandsOfOldOnes)
{
  std::mt19937_64 g(11);
  for (bool ring : {false, true})
    for (std::int64_t size : {2, 3, 5, 40, 300}) {
      const std::int64_t n[3] = {size, size > 40 ? 3 : 19, 2};
      Sparse             A    = stencil(n, {1, 2, 3}, {ring, ring, ring});
      for (int d = 0; d < 3; ++d)
        for (int h : {1, 2, 8}) {
          SCOPED_TRACE(testing::Message() << "size " << size << ", direction " << d << ", half-bandwidth "
                                          << h << (ring ? ", ring" : ""));
          const ribbon::LinePlaces places{ribbon::LineSet::box(n, d), ring};
          const auto               bands = extracted(A, places, h);
          for (auto &entry : A.entries) entry.second *= 1 + random_scalar<double>(g) / 2;
          const auto found = refreshed(A, places, bands);
          EXPECT_EQ(values_of(bands), values_of(extracted(A, places, h)));
          EXPECT_TRUE(found.across);
          EXPECT_FALSE(found.beyond || found.not_finite || found.differ);
          // else entries around the ends have another way
          const bool closes = !ring || places.lines.rows > 2 * h;
          EXPECT_TRUE(!closes || found.narrower == (h > 1));
        }
    }
}

/// Every entry of a matrix of elements becomes a block of B x B.
Sparse in_blocks(const Sparse &elements, int B, std::mt19937_64 &g)
{
  Sparse A;
  A.rows = elements.rows * B;
  for (const auto &[at, value] : elements.entries)
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b)
        A.entries[{at.first * B + a, at.second * B + b}] = value * (1 + random_scalar<double>(g) / 2);
  return A;
}
/// Entries of a plain band of lines that lie behind each other.
Sparse columns(std::int64_t rows, std::int64_t lines, int h)
{
  Sparse A;
  A.rows = static_cast<int>(rows * lines);
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < rows; ++i)
      for (int d = -h; d <= h; ++d)
        if (i + d >= 0 && i + d < rows)
          A.entries[{static_cast<int>(l * rows + i), static_cast<int>(l * rows + i + d)}] =
            d == 0 ? 3 * h : -1;
  return A;
}

TEST(Csr, NewValuesOfBlocks)
{
  std::mt19937_64    g(12);
  const std::int64_t n[3] = {7, 5, 3};
  for (bool ring : {false, true})
    for (int B : {2, 3, 5, 8}) {
      Sparse A = in_blocks(stencil(n, {1, 2, 3}, {ring, ring, ring}), B, g);
      for (int d = 0; d < 3; ++d) {
        SCOPED_TRACE(testing::Message()
                     << "blocks of " << B << ", direction " << d << (ring ? ", ring" : ""));
        const ribbon::LinePlaces places{ribbon::LineSet::box(n, d), ring, B};
        const auto               bands = extracted(A, places, 1);
        for (auto &entry : A.entries) entry.second *= 1 + random_scalar<double>(g) / 2;
        auto found = refreshed(A, places, bands);
        EXPECT_EQ(values_of(bands), values_of(extracted(A, places, 1)));
        EXPECT_TRUE(found.across);
        EXPECT_FALSE(found.beyond || found.not_finite || found.differ || found.narrower);
        if (ring) continue;
        const int far       = static_cast<int>(2 * places.lines.row_stride * B);
        A.entries[{0, far}] = 1e-300;
        EXPECT_TRUE(refreshed(A, places, bands).beyond);
        A.entries.erase({0, far});
      }
    }
}

/// Rows that hold a line and nothing else are read without their columns, from the second time
/// on without a look at them.
TEST(Csr, NewValuesOfColumns)
{
  std::mt19937_64 g(13);
  for (int B : {1, 2, 3, 5})
    for (int h : {1, 2, 3, 4})
      for (std::int64_t rows : {1, 2, 5, 9, 40})
        for (std::int64_t lines : {1, 3, 32, 67}) {
          if (B > 1 && h > 1) continue;
          SCOPED_TRACE(testing::Message() << "blocks of " << B << ", half-bandwidth " << h << ", " << lines
                                          << " lines of " << rows);
          Sparse                      A = columns(rows, lines, h);
          ribbon::LinePlaces          places{ribbon::LineSet::contiguous(rows, lines), false, B};
          ribbon::RefreshPlan<Memory> plan;
          if (B > 1) A = in_blocks(A, B, g);
          const auto bands = extracted(A, places, h);
          for (int again = 0; again < 3; ++again) {
            for (auto &entry : A.entries) entry.second *= 1 + random_scalar<double>(g) / 2;
            const auto found =
              ribbon::refresh_bands<double, std::int32_t, Exec>(Exec(), A.csr(), places, plan, bands);
            EXPECT_EQ(values_of(bands), values_of(extracted(A, places, h)));
            EXPECT_FALSE(found.across || found.beyond || found.not_finite || found.differ);
            EXPECT_EQ(found.narrower, h > 1 && rows <= h);
          }
          A.entries.rbegin()->second = std::numeric_limits<double>::infinity();
          EXPECT_TRUE((ribbon::refresh_bands<double, std::int32_t, Exec>(Exec(), A.csr(), places, plan, bands)
                         .not_finite));
          if (rows <= h) continue;
          for (auto &[at, value] : A.entries)
            value = at.first % B == at.second % B && at.first == at.second ? 1 : 0;
          EXPECT_EQ((ribbon::refresh_bands<double, std::int32_t, Exec>(Exec(), A.csr(), places, plan, bands)
                       .narrower),
                    h > 1);
        }
}

TEST(Csr, NewValuesOfColumnsThatShare)
{
  std::mt19937_64 g(14);
  for (int B : {1, 3}) {
    Sparse                      A = columns(11, 70, 1);
    const ribbon::LinePlaces    places{ribbon::LineSet::contiguous(11, 70), false, B};
    ribbon::RefreshPlan<Memory> plan;
    const int                   line = 11 * B;
    std::vector<std::int64_t>   first{0, 1};
    if (B > 1) A = in_blocks(A, B, g);
    const auto fill = [&] { // two matrices in turns
      std::vector<std::vector<double>> kinds(2);
      for (auto &kind : kinds)
        for (int k = 0; k < 3 * 11 * B * B; ++k) kind.push_back(random_scalar<double>(g));
      std::size_t k = 0;
      int         l = 0;
      for (auto &[at, value] : A.entries) {
        if (at.first / line != l) k = 0, l = at.first / line;
        value = kinds[static_cast<std::size_t>(l) % 2][k++];
      }
    };
    fill();
    auto bands = extracted(A, places, 1);
    ASSERT_EQ(ribbon::share<double>(Exec(), bands, 4).classes, 2);
    plan.first = ribbon::upload(Exec(), "test::first", first);
    for (int again = 0; again < 3; ++again) {
      fill();
      EXPECT_FALSE(
        (ribbon::refresh_bands<double, std::int32_t, Exec>(Exec(), A.csr(), places, plan, bands).differ));
      auto anew = extracted(A, places, 1);
      ribbon::share<double>(Exec(), anew, 4);
      EXPECT_EQ(values_of(bands), values_of(anew));
    }
    A.entries[{line * 37 + 5, line * 37 + 5}] += 1e-9;
    EXPECT_TRUE(
      (ribbon::refresh_bands<double, std::int32_t, Exec>(Exec(), A.csr(), places, plan, bands).differ));
  }
}

TEST(Csr, ComponentsThatJoin)
{
  std::mt19937_64    g(15);
  const std::int64_t n[3] = {6, 5, 1};
  Sparse             A    = in_blocks(stencil(n, {1, 2, 0}), 2, g);
  for (auto &[at, value] : A.entries)
    if ((at.first - at.second) % 2 != 0) value = 0;
  for (int d : {0, 1}) {
    ribbon::LineSet set = ribbon::LineSet::box(n, d); // of the first component
    set.row_stride *= 2, set.stride0 *= 2, set.stride1 *= 2;
    const ribbon::LinePlaces places{set, false};
    const auto               bands = extracted(A, places, 1);
    EXPECT_FALSE(refreshed(A, places, bands, {}, 2).components);
    A.entries[{14, 15}] = 1e-300;
    EXPECT_TRUE(refreshed(A, places, bands, {}, 2).components);
    A.entries[{14, 15}] = 0;
  }
}

TEST(Csr, WhatDoesNotFitTheBandsAnyMore)
{
  const std::int64_t n[3] = {6, 5, 1};
  for (int d : {0, 1}) {
    const auto         set = ribbon::LineSet::box(n, d);
    ribbon::LinePlaces places{set, false};
    Sparse             A = stencil(n, {d == 0 ? 2. : 0., d == 1 ? 2. : 0., 0});
    for (auto &[at, a] : A.entries) // lines that do not couple, stored zeros
      if (std::abs(at.first - at.second) == (d == 0 ? 6 : 1)) a = 0;
    const int far = static_cast<int>(2 * set.row_stride), end = static_cast<int>(4 * set.row_stride);
    A.entries[{0, far}] = A.entries[{0, end}] = 0;
    const auto bands                          = extracted(A, places, 1);
    auto       found                          = refreshed(A, places, bands);
    EXPECT_FALSE(found.across || found.beyond || found.not_finite || found.differ);
    const auto with = [&](int row, int column, double value) {
      Sparse B                 = A;
      B.entries[{row, column}] = value;
      return refreshed(B, places, bands);
    };
    EXPECT_TRUE(with(0, far, 1e-300).beyond);
    EXPECT_TRUE(with(0, end, 1).beyond) << "a ring would have it";
    const int beside = d == 0 ? 6 : 1;
    EXPECT_TRUE(with(0, beside, 1e-300).across);
    EXPECT_FALSE(with(0, beside, 1).beyond);
    EXPECT_TRUE(with(7, 7, std::nan("")).not_finite);
    EXPECT_TRUE(with(7, 7, std::numeric_limits<double>::infinity()).not_finite);
  }
}

TEST(Csr, NewValuesOfLinesThatShare)
{
  const std::int64_t n[3] = {30, 8, 1};
  Sparse             A;
  A.rows = 240;
  for (int l = 0; l < 30; ++l) // lines along y: two matrices in turns
    for (int i = 0; i < 8; ++i)
      for (int step : {-1, 0, 1})
        if (i + step >= 0 && i + step < 8)
          A.entries[{l + 30 * i, l + 30 * (i + step)}] = step == 0 ? 4. + l % 2 + i : step;
  const ribbon::LinePlaces places{ribbon::LineSet::box(n, 1), false};
  for (bool all : {false, true}) {
    if (all)
      for (int k = 0; k < 240; ++k) A.entries[{k, k}] = 5 + k / 30;
    auto       bands  = extracted(A, places, 1);
    const auto result = ribbon::share<double>(Exec(), bands, 4);
    ASSERT_EQ(result.classes, all ? 1 : 2);
    for (auto &entry : A.entries) entry.second *= 3;
    auto found = refreshed(A, places, bands, {0, 1});
    EXPECT_FALSE(found.differ || found.across);
    auto anew = extracted(A, places, 1);
    ribbon::share<double>(Exec(), anew, 4);
    EXPECT_EQ(values_of(bands), values_of(anew));
    A.entries[{17 + 30 * 3, 17 + 30 * 3}] += 1e-9;
    EXPECT_TRUE(refreshed(A, places, bands, {0, 1}).differ);
  }
}

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
  A.entries[{29, 28}] = A.entries[{29, 23}] = 0; // couples with nobody
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
  for (int k : {31, 62, 93}) A.entries[{k, k - 25}] = -20; // strong along z; the second one along x, too
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

/// Elements of three rows along y, every component coupled with every other one.
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

/// A line of six in shuffled numbering, in two pieces of four places.
TEST(Csr, LinesThroughATableOfPlaces)
{
  const std::vector<std::int64_t> element = {3, 5, 0, 2, 4, 1, -1, -1}; // interleaved: 3 0 4 . and 5 2 1 .
  std::vector<std::int64_t>       place(6);
  for (std::size_t k = 0; k < element.size(); ++k)
    if (element[k] >= 0) place[static_cast<std::size_t>(element[k])] = static_cast<std::int64_t>(k);
  // row 4 is a line of its own behind 3 0
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

/// Runs of one length, rings or not; one entry more, one less, or another length are told.
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
        if (length == 12) { // rows 5 and 6 of the second run do not know each other
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
      default: // another diagonal, which begins somewhere and is zero at first
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
  A.entries[{1, 10}]      = 0.5; // nine away on its line
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

TEST(Share, OneMatrixClassesAndTooMany)
{
  std::mt19937_64 g(9);
  const auto      three = random_bands<double>(g, 3, 12, 1, false, Kind::dominant);
  auto            batch = [&](const std::vector<int> &classes) {
    ribbon::Bands<double, Kokkos::HostSpace> bands;
    bands.lhs    = ribbon::Lhs::per_line;
    bands.values = decltype(bands.values)("bands", classes.size(), 12, 3);
    for (std::size_t l = 0; l < classes.size(); ++l)
      for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t d = 0; d < 3; ++d)
          bands.values(l, i, d) = three.values(static_cast<std::size_t>(classes[l]), i, d);
    return to_device(bands);
  };
  auto one = batch({1, 1, 1, 1});
  EXPECT_EQ(ribbon::share<double>(Exec(), one, 1).classes, 1);
  EXPECT_EQ(one.lhs, ribbon::Lhs::shared);
  auto       some   = batch({2, 0, 2, 1, 0, 2});
  const auto result = ribbon::share<double>(Exec(), some, 3);
  EXPECT_EQ(result.classes, 3);
  EXPECT_EQ(result.first, 0);
  EXPECT_EQ(result.different, 1);
  EXPECT_EQ(some.lhs, ribbon::Lhs::classes);
  const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, some.class_of_line);
  EXPECT_EQ(std::vector<int>(classes.data(), classes.data() + 6), (std::vector<int>{0, 1, 0, 2, 1, 0}));
  auto many = batch({2, 0, 2, 1, 0, 2});
  EXPECT_EQ(ribbon::share<double>(Exec(), many, 2).classes, 0);
  EXPECT_EQ(many.lhs, ribbon::Lhs::per_line);
}

TEST(Share, MatricesThatAgreeToATolerance)
{
  const auto check = [](auto scalar) {
    using Scalar            = decltype(scalar);
    const std::size_t lines = 60, n = 200;
    const double      unit = ribbon::unit_roundoff<Scalar>();
    std::mt19937_64   g(4);
    const auto two   = random_bands<Scalar>(g, 2, static_cast<std::int64_t>(n), 1, false, Kind::dominant);
    const auto batch = [&](double noise) { // of line l: matrix l % 2, times 1 or 1 + 1e-3
      ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
      bands.lhs    = ribbon::Lhs::per_line;
      bands.values = decltype(bands.values)("bands", lines, n, 3);
      std::uniform_real_distribution<double> uniform(-noise, noise);
      for (std::size_t l = 0; l < lines; ++l)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t d = 0; d < 3; ++d)
            bands.values(l, i, d) =
              two.values(l % 2, i, d) *
              static_cast<ribbon::real_t<Scalar>>((l % 3 == 0 ? 1.001 : 1.0) * (1 + uniform(g)));
      return to_device(bands);
    };
    for (double tolerance : {8.0, 1e3}) {
      auto       bands  = batch(3 * unit);
      const auto result = ribbon::share<Scalar>(Exec(), bands, 4, tolerance * unit);
      EXPECT_EQ(result.classes, 4) << tolerance;
      EXPECT_EQ(result.first, 0);
      EXPECT_EQ(result.different, 1);
      const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands.class_of_line);
      ASSERT_EQ(bands.lhs, ribbon::Lhs::classes);
      for (std::size_t l = 6; l < lines; ++l) EXPECT_EQ(classes(l), classes(l % 6)) << l;
      EXPECT_EQ(classes(0), 0);
    }
    auto all = batch(3 * unit), few = batch(3 * unit), exact = batch(3 * unit), coarse = batch(3 * unit);
    EXPECT_EQ(ribbon::share<Scalar>(Exec(), few, 3, 1e3 * unit).classes, 0) << "one too many";
    EXPECT_EQ(few.lhs, ribbon::Lhs::per_line);
    EXPECT_EQ(ribbon::share<Scalar>(Exec(), exact, 4).classes, 0);
    EXPECT_EQ(ribbon::share<Scalar>(Exec(), coarse, 4, 0.01).classes, 2) << "1.001 is near";
    Kokkos::deep_copy(all.values, Scalar(std::nan("")));
    EXPECT_EQ(ribbon::share<Scalar>(Exec(), all, 4, 0.01).classes, 0);
  };
  check(float()), check(double()), check(Kokkos::complex<double>());
}

TEST(Transpose, SolvesWithTheTransposedMatrices)
{
  for (int h : {1, 2})
    for (bool periodic : {false, true})
      for (std::int64_t n : {1, 2, 3, 5, 40}) {
        std::mt19937_64 g(static_cast<std::uint64_t>(n));
        const auto      bands = random_bands<double>(g, 1, n, h, periodic, Kind::dominant);
        const auto      t     = ribbon::transpose<double>(Exec(), to_device(bands));
        Kokkos::fence();
        ribbon::Bands<double, Kokkos::HostSpace> host = bands;
        host.values  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, t.values);
        const auto A = ribbon::reference::dense(bands, 0), B = ribbon::reference::dense(host, 0);
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            EXPECT_NEAR(A[static_cast<std::size_t>(i * n + j)], B[static_cast<std::size_t>(j * n + i)], 1e-15)
              << h << periodic << n;
      }
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// New values in bands that were extracted before, and matrices that no longer fit these bands.
#include "csr.hpp"

#include <ribbon/matrix/refresh_bands.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

using Extracted = ribbon::Bands<double, Memory>;

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
          // Otherwise entries around the ends have a second path.
          const bool closes = !ring || places.lines.rows > 2 * h;
          EXPECT_TRUE(!closes || found.narrower == (h > 1));
        }
    }
}

/// Replaces every entry of a matrix of elements by a B x B block.
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
/// Entries of a scalar band, for lines one after another.
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

/// Rows that contain only the entries of a line are read without their columns, from the second time on
/// without a check.
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
    const auto fill = [&] { // two alternating matrices
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
    for (auto &[at, a] : A.entries) // uncoupled lines, stored zeros
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
  for (int l = 0; l < 30; ++l) // lines along y: two alternating matrices
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

} // namespace

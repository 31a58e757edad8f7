// SPDX-License-Identifier: BSD-2-Clause
// Bands that leave out entries of their lines, and add them to the diagonals.
#include "csr.hpp"

#include <ribbon/matrix/lump_left_out.hpp>

#include <cmath>
#include <random>

namespace {

using namespace test;

/// Entries of symmetric rows that couple up to `reach` rows away, in lines of `rows` rows, and some entries
/// off the lines.
Sparse symmetric(int rows, int lines, int reach, unsigned seed)
{
  Sparse                                 A;
  std::mt19937                           random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  A.rows = rows * lines;
  for (int i = 0; i < A.rows; ++i)
    for (int j = i; j < A.rows; ++j) {
      if (i / rows == j / rows ? j - i > reach : number(random) < 0.9) continue;
      const double a    = i == j ? 3 + number(random) : number(random);
      A.entries[{i, j}] = a;
      A.entries[{j, i}] = a;
    }
  A.entries[{0, rows - 1}] = A.entries[{rows - 1, 0}] = 0; // a stored zero on a line
  return A;
}

TEST(LumpLeftOut, AddsToDiagonals)
{
  const Exec exec;
  for (int B : {1, 2})
    for (int h : {1, 2, 3}) {
      if (B > 1 && h > 1) continue;
      const int                rows = 8, lines = 5; // elements of a line
      Sparse                   A = symmetric(rows * B, lines, 5 * B, 7);
      const ribbon::LinePlaces places =
        through_tables({ribbon::LineSet::contiguous(rows, lines), false, B, ribbon::largest_half_bandwidth});
      const auto csr   = A.csr();
      const auto bands = ribbon::extract_bands(exec, csr, places, h);
      const auto plain = Kokkos::create_mirror(Kokkos::HostSpace(), bands.values); // another array
      Kokkos::deep_copy(plain, bands.values);
      const auto count = ribbon::lump_left_out(exec, csr, places, bands);
      const auto after = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands.values);

      std::int64_t        left_out = 0;
      std::vector<double> more(static_cast<std::size_t>(A.rows), 0);
      for (const auto &[at, a] : A.entries) {
        const int i = at.first / B, j = at.second / B;
        if (i / rows != j / rows || std::abs(i - j) <= h || a == 0) continue;
        ++left_out, more[static_cast<std::size_t>(at.first)] += std::abs(a);
      }
      EXPECT_GT(left_out, 0);
      EXPECT_EQ(count, left_out);
      for (std::size_t l = 0; l < static_cast<std::size_t>(lines); ++l)
        for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
          for (std::size_t d = 0; d < plain.extent(2); ++d) {
            const std::size_t b = static_cast<std::size_t>(B), k = d / (b * b), a = d / b % b, c = d % b;
            const bool        diagonal = k == static_cast<std::size_t>(h) && a == c;
            const double      added = diagonal ? more[(l * static_cast<std::size_t>(rows) + i) * b + a] : 0;
            EXPECT_NEAR(after(l, i, d), plain(l, i, d) + added, 1e-14)
              << B << " " << h << " " << l << " " << i;
          }
    }
}

TEST(LumpLeftOut, GrowsInTheDirectionOfTheDiagonal)
{
  const Exec exec;
  Sparse     A;
  A.rows    = 3;
  A.entries = {{{0, 0}, -2}, {{0, 2}, 5}, {{1, 1}, 1}, {{2, 0}, -4}, {{2, 2}, 0}};
  const ribbon::LinePlaces places{ribbon::LineSet::contiguous(3, 1), false, 1, 8};
  const auto               csr   = A.csr();
  const auto               bands = ribbon::extract_bands(exec, csr, places, 1);
  EXPECT_EQ(ribbon::lump_left_out(exec, csr, places, bands), 2);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands.values);
  EXPECT_EQ(values(0, 0, 1), -7);
  EXPECT_EQ(values(0, 1, 1), 1);
  EXPECT_EQ(values(0, 2, 1), 4) << "a diagonal of zero grows in the direction of 1";
}

} // namespace

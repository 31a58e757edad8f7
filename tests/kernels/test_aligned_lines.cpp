// SPDX-License-Identifier: BSD-2-Clause
// Rows that are loaded in packs, and contiguous lines that are loaded as a whole, where alignment allows
// it.
#include "batch.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

template <class Scalar>
void expect_rows_that_arrive_in_packs(int h, int block)
{
  for (std::int64_t lines : {32, 33, 64, 68, 70})
    for (std::int64_t n : {40, 64, 100, 130})
      for (std::int64_t offset : {0, 1, 2, 4})
        for (bool periodic : {false, true}) {
          SCOPED_TRACE(std::to_string(lines) + " lines of " + std::to_string(n) + " rows, offset " +
                       std::to_string(offset));
          std::mt19937_64 g(5);
          const auto      bands = random_system<Scalar>(g, 1, n, h, h, block, periodic);
          auto            set   = ribbon::LineSet::interleaved(n, lines).with_components(block);
          set.offset            = offset;
          const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {"one_pass"});
          std::vector<Scalar>                    b(static_cast<std::size_t>(offset + n * lines * block));
          for (auto &v : b) v = random_scalar<Scalar>(g);
          EXPECT_LE(backward_error(bands, set, solve(solver, b), b),
                    45 * static_cast<double>(ribbon::unit_roundoff<Scalar>()));
        }
}

/// Contiguous lines. The copy engine moves lines that begin and end at multiples of 16 bytes.
template <class Scalar>
void expect_lines_that_arrive_whole(int h, int block)
{
  for (std::int64_t n : {2, 31, 34, 64, 65, 101, 200})
    for (std::int64_t offset : {0, 1, 4})
      for (std::int64_t gap : {0, 1, 4})
        for (const char *algorithm : {"one_pass", "pivoted"}) {
          if (n < 2 * h || (offset == 4 && gap == 1)) continue;
          SCOPED_TRACE(std::string(algorithm) + ", lines of " + std::to_string(n) + " rows, offset " +
                       std::to_string(offset) + ", gap " + std::to_string(gap));
          const std::int64_t lines = 37;
          std::mt19937_64    g(5);
          const auto         bands = random_system<Scalar>(g, 1, n, h, h, block, n > 64);
          auto               set   = ribbon::LineSet::contiguous(n, lines, n + gap).with_components(block);
          set.offset               = offset;
          const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
          std::vector<Scalar> b(static_cast<std::size_t>(offset + (n + gap) * lines * block));
          for (auto &v : b) v = random_scalar<Scalar>(g);
          const auto x = solve(solver, b);
          EXPECT_LE(backward_error(bands, set, x, b),
                    45 * static_cast<double>(ribbon::unit_roundoff<Scalar>()));
          const auto y = solve(solver, b, true);
          for (std::int64_t l = 0; l < lines; ++l)
            for (std::int64_t k = 0; k < n * block; ++k)
              ASSERT_EQ(y[static_cast<std::size_t>(set.begin(l) + k)],
                        x[static_cast<std::size_t>(set.begin(l) + k)])
                << "in place, line " << l;
        }
}

TEST(SolveShapes, ContiguousLinesArriveWholeWhereAddressesAllowThat)
{
  for (int h : {1, 2, 4}) expect_lines_that_arrive_whole<double>(h, 1);
  for (int block : {2, 4}) expect_lines_that_arrive_whole<double>(1, block);
  expect_lines_that_arrive_whole<float>(2, 1), expect_lines_that_arrive_whole<float>(1, 2),
    expect_lines_that_arrive_whole<Kokkos::complex<double>>(1, 1);
}

TEST(SolveShapes, RowsArriveInPacksWhereAddressesAllowThat)
{
  for (int h : {1, 2, 4}) expect_rows_that_arrive_in_packs<double>(h, 1);
  for (int block : {2, 4}) expect_rows_that_arrive_in_packs<double>(1, block);
  expect_rows_that_arrive_in_packs<float>(1, 1), expect_rows_that_arrive_in_packs<float>(1, 2),
    expect_rows_that_arrive_in_packs<float>(1, 4);
  expect_rows_that_arrive_in_packs<Kokkos::complex<double>>(2, 1),
    expect_rows_that_arrive_in_packs<Kokkos::complex<double>>(1, 2);
}

} // namespace

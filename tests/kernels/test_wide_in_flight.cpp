// SPDX-License-Identifier: BSD-2-Clause
// one_pass with wide bands and blocks, one matrix per line: every length of line, strides, shapes of the
// kernel, and errors that only chunks can cause.
#include "batch.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

/// Lines with any strides. Gaps contain NaN and must not change. The unknowns of a block are adjacent or
/// separate.
template <class Scalar>
void expect_solved_in_place(ribbon::Lhs lhs, const LineSystem &system, const ribbon::LineSet &set, int rows,
                            int lanes)
{
  const auto &[n, kl, ku, block, periodic] = system;
  SCOPED_TRACE(testing::Message() << to_string(lhs) << ", band " << kl << "+" << ku << ", blocks of " << block
                                  << ", " << set.lines() << " lines of " << n << " rows, row stride "
                                  << set.row_stride << (periodic ? ", ring, " : ", ") << rows << " x "
                                  << lanes << ", " << sizeof(Scalar) << " bytes, seed 5");
  std::mt19937_64 g(5);
  auto bands = random_system<Scalar>(g, matrices_for(lhs, set.lines()), n, kl, ku, block, periodic);
  // Kernels must not read entries outside a matrix.
  for (std::size_t c = 0; c < bands.values.extent(0) && !periodic; ++c)
    for (int i = 0; i < std::max(kl, ku) && i < n; ++i)
      for (int d = 0; d <= kl + ku; ++d)
        for (int e = 0; e < block * block; ++e) {
          if (i + d < kl)
            bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d * block * block + e)) =
              Scalar(std::nanf(""));
          if (d - kl > i)
            bands.values(c, static_cast<std::size_t>(n - 1 - i),
                         static_cast<std::size_t>(d * block * block + e)) = Scalar(std::nanf(""));
        }
  assign(g, bands, lhs, set.lines());
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {"one_pass", 0, rows, lanes});
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason << ", probe " << solver.report().probe_error;
  EXPECT_EQ(solver.report().algorithm, "one_pass in flight");
  std::vector<Scalar> b(
    static_cast<std::size_t>(set(set.lines() - 1, n - 1) + (block - 1) * set.component_stride + 7),
    Scalar(std::nanf("")));
  for (std::int64_t l = 0; l < set.lines(); ++l)
    for (std::int64_t i = 0; i < n; ++i)
      for (int a = 0; a < block; ++a)
        b[static_cast<std::size_t>(set(l, i) + a * set.component_stride)] = random_scalar<Scalar>(g);
  auto        x     = solve(solver, b, true);
  const auto  other = solve(solver, b);
  std::size_t gaps = 0, same = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    const bool gap = ribbon::magnitude(b[k]) != ribbon::magnitude(b[k]);
    gaps += gap && ribbon::magnitude(x[k]) != ribbon::magnitude(x[k]), same += !gap && x[k] == other[k];
  }
  EXPECT_EQ(gaps + same, b.size()) << "gaps are written to, or in place differs";
  EXPECT_LE(backward_error(expanded(bands), set, x, b),
            1e-14 * static_cast<double>(ribbon::unit_roundoff<Scalar>()) / 2.2e-16);
}

TEST(WideInFlight, LinesOfAnyLengthAndStrides)
{
  for (const LineSystem &s : {LineSystem{0, 3, 3, 1, false},
                              {0, 4, 4, 1, false},
                              {0, 3, 1, 1, false},
                              {0, 0, 4, 1, false},
                              {0, 1, 1, 2, false},
                              {0, 1, 1, 4, false}}) {
    const int K = std::max(s.kl, s.ku), B = s.block;
    for (auto lhs : {ribbon::Lhs::per_line, ribbon::Lhs::shifted})
      for (bool periodic : {false, true})
        for (std::int64_t n : {K, 2 * K, 2 * K + 1, 13, 31, 32, 33, 67, 128})
          for (std::int64_t lines : {1, 5, 16}) {
            if (n < (periodic ? 2 * K : K)) continue;
            const LineSystem system{n, s.kl, s.ku, B, periodic};
            const int        rows = n == 67 ? 7 : 0, lanes = lines == 5 ? 4 : 0;
            auto             apart = ribbon::LineSet::interleaved(n, lines).with_components(B);
            apart.stride0 = apart.row_stride = 1, apart.row_stride = lines + 1,
            apart.component_stride = (lines + 1) * n, apart.offset = 3;
            expect_solved_in_place<double>(lhs, system, apart, rows, lanes);
            expect_solved_in_place<double>(
              lhs, system, ribbon::LineSet::contiguous(n, lines, n + 1).with_components(B), rows, lanes);
            if (n == 33)
              expect_solved_in_place<float>(lhs, system, apart, 0, 0),
                expect_solved_in_place<Kokkos::complex<double>>(lhs, system, apart, 0, 0);
            if (lines == 16 && n > 60) { // planes of a box
              const ribbon::LineSet planes{n, 4, 4, 8, 2, 8 * n + 5, 1};
              // A size that fits a device.
              expect_solved_in_place<double>(lhs, system, planes.with_components(B), 8, B == 4 ? 2 : 4);
            }
          }
  }
}

} // namespace

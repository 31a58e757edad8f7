// SPDX-License-Identifier: BSD-2-Clause
// Every algorithm with all scalars, bandwidths, kinds of matrices, rings, layouts and sizes.
#include "solve_limit.hpp"

#include <gtest/gtest.h>

#include <tuple>

using namespace test;

namespace {

// (half-bandwidth, periodic, contiguous, lhs, algorithm)
using Setting = std::tuple<int, bool, bool, ribbon::Lhs, std::string>;

std::string name(const testing::TestParamInfo<Setting> &info)
{
  const auto &[h, periodic, contiguous, lhs, algorithm] = info.param;
  return std::string(h == 1 ? "tri" : "penta") + (periodic ? "_ring" : "_open") +
         (contiguous ? "_contiguous_" : "_interleaved_") + ribbon::to_string(lhs) + "_" + algorithm;
}

class Solve : public testing::TestWithParam<Setting> {
protected:
  template <class Scalar>
  void check(std::int64_t n, std::int64_t lines, Kind kind)
  {
    const auto &[h, periodic, contiguous, lhs, algorithm] = GetParam();
    const std::uint64_t seed                              = static_cast<std::uint64_t>(n * 1000 + lines);
    SCOPED_TRACE("n = " + std::to_string(n) + ", lines = " + std::to_string(lines) + ", kind " +
                 std::to_string(static_cast<int>(kind)) + ", seed " + std::to_string(seed));
    std::mt19937_64 g(seed);
    auto            bands = random_bands<Scalar>(g, matrices_for(lhs, lines), n, h, periodic, kind);
    assign(g, bands, lhs, lines);
    const auto set =
      contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines);
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
    ASSERT_TRUE(solver.report().ok())
      << "status " << static_cast<int>(solver.report().status) << ", probe " << solver.report().probe_error;
    std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
    for (auto &v : b) v = random_scalar<Scalar>(g);
    const auto x = solve(solver, b);
    EXPECT_LE(backward_error(expanded(bands), set, x, b), limit<Scalar>(solver.report().algorithm))
      << solver.report().algorithm;
    EXPECT_TRUE(solve(solver, b, true) == x) << "in place differs from out of place";
    if (n <= 70) compare_with_reference(expanded(bands), set, x, b);
  }

  /// Errors are at most 100 times those of partial pivoting, if the latter are above roundoff.
  template <class Scalar>
  void compare_with_reference(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands,
                              const ribbon::LineSet &set, const std::vector<Scalar> &x,
                              const std::vector<Scalar> &b)
  {
    for (std::int64_t l = 0; l < std::min<std::int64_t>(set.lines(), 3); ++l) {
      const auto          A = ribbon::reference::dense(bands, matrix_of(bands, l));
      std::vector<Scalar> mine, right;
      for (std::int64_t i = 0; i < set.rows; ++i)
        mine.push_back(x[static_cast<std::size_t>(set(l, i))]),
          right.push_back(b[static_cast<std::size_t>(set(l, i))]);
      const double reference =
        ribbon::reference::backward_error(A, ribbon::reference::solve(A, right), right);
      EXPECT_LE(ribbon::reference::backward_error(A, mine, right),
                100 * std::max(reference, static_cast<double>(ribbon::unit_roundoff<Scalar>())));
    }
  }
};

TEST_P(Solve, Double)
{
  const auto &[h, periodic, contiguous, lhs, algorithm] = GetParam();
  for (std::int64_t n : {1,  2,  3,  4,   5,   7,   15,  16,  17,  31,  32,  33,  63,
                         64, 65, 67, 100, 127, 129, 241, 256, 300, 511, 512, 1000}) {
    if (algorithm == "one_pass" && n < 2 * h) continue; // refused, see Refuses
    for (Kind kind : {Kind::dominant, Kind::spd, Kind::poisson}) check<double>(n, n > 300 ? 5 : 37, kind);
  }
  check<double>(64, 1, Kind::dominant);
  check<double>(17, 260, Kind::dominant);
}

TEST_P(Solve, Float)
{
  for (std::int64_t n : {4, 33, 100, 300})
    for (Kind kind : {Kind::dominant, Kind::spd}) check<float>(n, 35, kind);
}

TEST_P(Solve, Complex)
{
  for (std::int64_t n : {4, 33, 100, 300})
    for (Kind kind : {Kind::dominant, Kind::spd}) check<Kokkos::complex<double>>(n, 35, kind);
}

std::vector<Setting> settings()
{
  std::vector<Setting> all;
  for (int h : {1, 2})
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true})
        for (auto lhs :
             {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
          for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted"})
            all.emplace_back(h, periodic, contiguous, lhs, algorithm);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Solve, testing::ValuesIn(settings()), name);

// (kl, ku, block, periodic, contiguous, lhs)
using WideSetting = std::tuple<int, int, int, bool, bool, ribbon::Lhs>;

std::string wide_name(const testing::TestParamInfo<WideSetting> &info)
{
  const auto &[kl, ku, block, periodic, contiguous, lhs] = info.param;
  const std::string system =
    block > 1 ? "block" + std::to_string(block) : "band" + std::to_string(kl) + "_" + std::to_string(ku);
  return system + (periodic ? "_ring" : "_open") + (contiguous ? "_contiguous_" : "_interleaved_") +
         ribbon::to_string(lhs);
}

class SolveSystems : public testing::TestWithParam<WideSetting> {
protected:
  template <class Scalar>
  void check(std::int64_t n, std::int64_t lines, const std::string &algorithm)
  {
    const auto &[kl, ku, block, periodic, contiguous, lhs] = GetParam();
    const std::uint64_t seed                               = static_cast<std::uint64_t>(n * 100 + lines);
    SCOPED_TRACE(algorithm + ", n = " + std::to_string(n) + ", lines = " + std::to_string(lines) + ", seed " +
                 std::to_string(seed));
    std::mt19937_64 g(seed);
    auto            bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, block, periodic);
    assign(g, bands, lhs, lines);
    const auto set =
      (contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines))
        .with_components(block);
    const int h = std::max({kl, ku, 1});
    if (algorithm == "partition" && n < 10 * h) return;
    // The half-bandwidth of the kernel.
    const int unrolled = h == 3 && lhs == ribbon::Lhs::classes ? 4 : h;
    // There is no kernel.
    if (algorithm == "one_pass" && (n < 2 * unrolled || h > 4 || block == 3 || block > 4)) return;
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
    ASSERT_TRUE(solver.report().ok())
      << "status " << static_cast<int>(solver.report().status) << ", probe " << solver.report().probe_error
      << ", pivot " << solver.report().smallest_pivot;
    std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
    for (auto &v : b) v = random_scalar<Scalar>(g);
    const auto x = solve(solver, b);
    EXPECT_LE(backward_error(expanded(bands), set, x, b), limit<Scalar>(solver.report().algorithm))
      << solver.report().algorithm;
    EXPECT_TRUE(solve(solver, b, true) == x) << "in place differs from out of place";
  }
};

TEST_P(SolveSystems, EveryAlgorithm)
{
  for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted", "partition"}) {
    for (std::int64_t n : {1, 2, 3, 5, 7, 8, 9, 11, 16, 17, 31, 33, 64, 100, 257})
      check<double>(n, n > 64 ? 3 : 11, algorithm);
    for (std::int64_t n : {4, 37})
      check<float>(n, 9, algorithm), check<Kokkos::complex<double>>(n, 9, algorithm);
  }
}

std::vector<WideSetting> wide_settings()
{
  std::vector<WideSetting> all;
  const int                systems[][3] = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {2, 1, 1}, {3, 3, 1}, {4, 4, 1},
                                           {1, 3, 1}, {4, 0, 1}, {5, 5, 1}, {8, 8, 1}, {8, 2, 1}, {0, 8, 1},
                                           {1, 1, 2}, {1, 1, 3}, {1, 1, 4}, {1, 1, 8}};
  for (const auto &s : systems)
    for (bool periodic : {false, true})
      for (bool contiguous : {false, true})
        for (auto lhs :
             {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
          all.emplace_back(s[0], s[1], s[2], periodic, contiguous, lhs);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, SolveSystems, testing::ValuesIn(wide_settings()), wide_name);

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Batches of more than 2^31 unknowns, on a device, or on a host if RIBBON_LARGE is set.
#include "large.hpp"

#include <ribbon/probe/probe.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

using namespace test;

namespace {

/// Values of a large batch, the same on the device and the host.
KOKKOS_FUNCTION float right_hand_side(std::int64_t line, std::int64_t row)
{
  return ribbon::noise<float>(static_cast<std::uint64_t>(line * 256 + row));
}
KOKKOS_FUNCTION float entry(std::int64_t matrix, std::int64_t row, int d, int h)
{
  return d == h ? 2.5f * static_cast<float>(h)
                : ribbon::noise<float>(static_cast<std::uint64_t>(matrix * 2048 + row * 8 + d) << 20);
}

/// More than 2^31 unknowns in float, solved in place. Lines from all parts of the batch are compared with
/// their equations.
void check_batch(bool contiguous, const char *algorithm, ribbon::Lhs lhs, int h)
{
  SCOPED_TRACE(std::string(contiguous ? "contiguous, " : "interleaved, ") + algorithm + ", " +
               ribbon::to_string(lhs) + ", h " + std::to_string(h));
  const std::int64_t n = 256, M = (std::int64_t(1) << 23) + 64, matrices = lhs == ribbon::Lhs::shared ? 1 : M;
  const auto set = contiguous ? ribbon::LineSet::contiguous(n, M) : ribbon::LineSet::interleaved(n, M);
  const auto at  = [](std::int64_t k) { return static_cast<std::size_t>(k); };
  ribbon::Bands<float, Memory>  bands;
  Kokkos::View<float *, Memory> x(Kokkos::view_alloc(std::string("test::x"), Kokkos::WithoutInitializing),
                                  at(set.unknowns()));
  bands.lhs = lhs;
  bands.values =
    decltype(bands.values)(Kokkos::view_alloc(std::string("test::bands"), Kokkos::WithoutInitializing),
                           at(matrices), at(n), at(2 * h + 1));
  const auto values = bands.values;
  using Policy      = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
    "test::bands", Policy(0, matrices * n), KOKKOS_LAMBDA(const std::int64_t k) {
      for (int d = 0; d <= 2 * h; ++d)
        values(k % matrices, k / matrices, d) = entry(k % matrices, k / matrices, d, h);
    });
  Kokkos::parallel_for(
    "test::right_hand_sides", Policy(0, set.unknowns()), KOKKOS_LAMBDA(const std::int64_t k) {
      const std::int64_t l = contiguous ? k / n : k % M, i = contiguous ? k % n : k / M;
      x(place(set, l, i, 0)) = right_hand_side(l, i);
    });
  const ribbon::LineSolver<float, Exec> solver(Exec(), set, bands, {algorithm});
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  solver.solve(Exec(), x.data(), x.data());

  const std::int64_t                      chosen[] = {0,         1,      31,     32,     M / 4 + 5, M / 2,
                                                      M / 2 + 1, M - 65, M - 64, M - 33, M - 2,     M - 1};
  const auto                              samples  = ribbon::LineSet::contiguous(n, std::size(chosen));
  std::vector<float>                      b, found;
  ribbon::Bands<float, Kokkos::HostSpace> own;
  const Kokkos::View<float *, Memory>     line("test::line", at(n));
  own.lhs    = ribbon::Lhs::per_line;
  own.values = decltype(own.values)("test::bands", std::size(chosen), at(n), at(2 * h + 1));
  for (std::size_t k = 0; k < std::size(chosen); ++k) {
    const std::int64_t l = chosen[k];
    Kokkos::parallel_for(
      "test::line", Policy(0, n), KOKKOS_LAMBDA(const std::int64_t i) { line(i) = x(place(set, l, i, 0)); });
    const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), line);
    for (std::int64_t i = 0; i < n; ++i) {
      b.push_back(right_hand_side(l, i)), found.push_back(on_host(at(i)));
      for (int d = 0; d <= 2 * h; ++d) own.values(k, at(i), at(d)) = entry(matrices == 1 ? 0 : l, i, d, h);
    }
  }
  EXPECT_LE(backward_error(own, samples, found, b), 1e-6);
}

TEST(Large, MoreThanTwoToTheThirtyOneUnknowns)
{
  constexpr bool device = ribbon::is_device_space<Exec>;
  if (!device && !std::getenv("RIBBON_LARGE")) GTEST_SKIP() << "on a host, where RIBBON_LARGE is set";
  if (free_memory() < std::size_t(12) << 30)
    GTEST_SKIP() << (free_memory() >> 30) << " GiB of memory are free";
  for (bool contiguous : {false, true})
    for (int h : {1, 2})
      for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted"})
        if (device || std::string(algorithm) == "auto")
          check_batch(contiguous, algorithm, ribbon::Lhs::shared, h);
}

TEST(Large, MoreThanTwoToTheThirtyOneUnknownsWithMatricesOfTheirOwn)
{
  if (!ribbon::is_device_space<Exec> && !std::getenv("RIBBON_LARGE"))
    GTEST_SKIP() << "on a host, where RIBBON_LARGE is set";
  if (free_memory() < std::size_t(84) << 30)
    GTEST_SKIP() << (free_memory() >> 30) << " GiB of memory are free";
  for (bool contiguous : {false, true})
    for (const char *algorithm : {"one_pass", "thomas", "cr_pcr"})
      check_batch(contiguous, algorithm, ribbon::Lhs::per_line, 1);
}

} // namespace

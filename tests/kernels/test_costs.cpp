// SPDX-License-Identifier: BSD-2-Clause
// What a solve costs: one kernel, labelled, and no allocation. Counted through the callbacks of Kokkos tools.
#include "chains.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

int                      kernels = 0, allocations = 0, views = 0; ///< views: allocations by Ribbon; Kokkos has its own for scratch on hosts
std::vector<std::string> labels;

void on_kernel(const char *label, std::uint32_t, std::uint64_t *)
{
  ++kernels;
  labels.emplace_back(label);
}
void on_allocation(const Kokkos::Tools::SpaceHandle, const char *label, const void *, std::uint64_t)
{
  ++allocations;
  if (std::string(label).rfind("ribbon::", 0) == 0) ++views;
}

class Costs : public testing::Test {
protected:
  void SetUp() override
  {
    kernels = allocations = 0;
    labels.clear();
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(on_kernel);
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(on_kernel);
    Kokkos::Tools::Experimental::set_allocate_data_callback(on_allocation);
  }
  void TearDown() override
  {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  }
};

/// A solve starts so many kernels, each with a label of Ribbon's, and allocates nothing.
void expect_kernels(int count, const ribbon::LineSolver<double, Exec> &solver, const std::string &what)
{
  ASSERT_TRUE(solver.report().ok()) << what;
  const auto                     unknowns = static_cast<std::size_t>(solver.lines().unknowns());
  Kokkos::View<double *, Memory> b("b", unknowns), x("x", unknowns);
  Kokkos::fence();
  kernels = allocations = 0;
  labels.clear();
  for (int k = 0; k < 3; ++k) solver.solve(Exec(), b.data(), x.data());
  Kokkos::fence();
  EXPECT_EQ(kernels, 3 * count) << what;
  EXPECT_EQ(allocations, 0) << what;
  for (const auto &label : labels) EXPECT_EQ(label.rfind("ribbon::", 0), 0u) << label;
}

TEST_F(Costs, ASolveIsOneKernelAndAllocatesNothing)
{
  std::mt19937_64 g(1);
  for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted"})
    for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
      for (bool periodic : {false, true}) {
        const auto set   = ribbon::LineSet::interleaved(120, 50);
        auto       bands = random_bands<double>(g, matrices_for(lhs, 50), 120, 2, periodic, Kind::dominant);
        assign(g, bands, lhs, 50);
        expect_kernels(1, {Exec(), set, to_device(bands), {algorithm}}, algorithm);
      }
}

TEST_F(Costs, ACyclicReductionIsOneKernelAndAllocatesNothing)
{
  std::mt19937_64 g(1);
  for (const char *algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr", "toeplitz_cr"})
    for (bool periodic : {false, true}) {
      expect_kernels(1, {Exec(), ribbon::LineSet::interleaved(120, 50), to_device(random_bands<double>(g, 1, 120, 1, periodic, Kind::poisson)), {algorithm}}, algorithm);
    }
}

TEST_F(Costs, ProductsOfTilesAreOneKernelAndAllocateNothing)
{
  std::mt19937_64 g(1);
  for (int h : {1, 4, 8})
    for (bool periodic : {false, true}) expect_kernels(1, {Exec(), ribbon::LineSet::interleaved(120, 50), to_device(random_system<double>(g, 1, 120, h, h, 1, periodic)), {"tile_products"}}, "tile_products");
}

TEST_F(Costs, ZeroMeanIsOneKernelMore)
{
  std::mt19937_64 g(1);
  auto            bands = random_bands<double>(g, 1, 120, 1, true, Kind::poisson);
  for (std::size_t i = 0; i < 120; ++i) bands.values(0, i, 1) = -bands.values(0, i, 0) - bands.values(0, i, 2);
  ribbon::LineSolverOptions options;
  options.singular = "zero_mean";
  expect_kernels(2, {Exec(), ribbon::LineSet::interleaved(120, 50), to_device(bands), options}, "zero_mean");
}

TEST_F(Costs, APartitionedSolveIsAStatedNumberOfKernels)
{
  std::mt19937_64           g(1);
  auto                      bands = random_bands<double>(g, 1, 1010, 1, false, Kind::dominant);
  ribbon::LineSolverOptions options;
  options.algorithm = "partition", options.rows_per_piece = 100;
  for (double diagonal : {5.0, 2.0001}) {
    for (std::size_t i = 0; i < 1010; ++i) bands.values(0, i, 0) = bands.values(0, i, 2) = -1, bands.values(0, i, 1) = diagonal;
    // separators, pieces, tails; where the inverse does not decay over a piece dot products, right-hand side of the reduced system and that system before
    expect_kernels(diagonal > 3 ? 3 : 5, {Exec(), ribbon::LineSet::interleaved(1010, 3), to_device(bands), options}, "partition");
  }
  // contiguous pieces of whole chunks form the separators beside them by themselves where the inverse decays within a few rows
  options.rows_per_piece = 544;
  for (const std::int64_t tail : {0, 100})
    expect_kernels(tail > 0 ? 2 : 1, {Exec(), ribbon::LineSet::contiguous(546 * 7 + tail, 3), to_device(toeplitz(546 * 7 + tail, {-1, 5, -1}, false)), options}, "partition, contiguous");
}

// Chains whose tiles of leaves run at the same time take one kernel to factor and one to solve for a column; neither allocates: room for the report and for columns is made before.
TEST_F(Costs, AShortChainIsOneKernelToFactorAndOneToSolve)
{
  for (const std::int64_t n : {1000, 10000, 1500000})
    for (int p : {1, 5}) {
      const bool is_short = n <= 10000;
      if (p > 1 && !is_short) continue;
      ChainSystem<double> s{{n, 1, p, p}};
      s.fill([&](std::int64_t, int d) { return d == 0 ? 2.0 * p + 1 : -1.0; });
      const ChainOnDevice<double>       A(s);
      ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {64, 0}); // with a leaf size hosts run the kernels of a device
      const std::int64_t                most = is_short ? 150 : 1;
      solver.reserve(Exec(), most);
      Kokkos::View<double *, Memory> b("test::b", static_cast<std::size_t>(n * most)), x("test::x", b.extent(0));
      Kokkos::deep_copy(b, 1.0);
      const auto expect = [&](int count, const std::string &what, const auto &run) {
        Kokkos::fence();
        kernels = views = allocations = 0;
        run();
        Kokkos::fence();
        EXPECT_EQ(kernels, count) << what << ", " << n << " rows, half-bandwidth " << p;
        EXPECT_EQ(ribbon::is_device_space<Exec> ? allocations : views, 0) << what << ", " << n << " rows, half-bandwidth " << p;
      };
      for (const char *what : {"factorization", "refactorization"}) expect(is_short ? 1 : 2, what, [&] { solver.factor(Exec(), A.matrix()); });
      ASSERT_TRUE(solver.report().ok());
      expect(is_short ? 1 : 2, "solve", [&] { solver.solve(Exec(), b.data(), n, x.data(), n, 1); });
      if (!is_short) continue;
      expect(4, "128 columns", [&] { solver.solve(Exec(), b.data(), n, x.data(), n, 128); });
      expect(8, "150 columns", [&] { solver.solve(Exec(), b.data(), n, x.data(), n, most); });
      expect(4, "33 columns, transposed", [&] { solver.solve(Exec(), b.data(), n, x.data(), n, 33, true); });
    }
}

TEST_F(Costs, EveryKernelOfAFactorizationIsLabelled)
{
  std::mt19937_64 g(1);
  auto            bands = random_bands<double>(g, 50, 120, 1, true, Kind::dominant);
  bands.lhs             = ribbon::Lhs::per_line;
  const auto device     = to_device(bands);
  labels.clear();
  const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(120, 50), device);
  EXPECT_GT(labels.size(), 0u);
  for (const auto &label : labels) EXPECT_EQ(label.rfind("ribbon::", 0), 0u) << label;
}

} // namespace

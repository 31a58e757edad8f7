// SPDX-License-Identifier: BSD-2-Clause
// Costs of a solve: one kernel with a label, and no allocation. Counted through the callbacks of Kokkos
// tools.
#include "chains.hpp"

#include <ribbon/line_stepper.hpp>
#include <ribbon/algorithm/segments.hpp>

#include <gtest/gtest.h>

#include <tuple>

using namespace test;

namespace {

/// views: allocations by Ribbon; Kokkos itself allocates scratch on hosts
int                      kernels = 0, allocations = 0, views = 0;
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

/// Expects `count` kernels of run(), each with a label of Ribbon, and no allocation.
template <class Run>
void expect_launches(int count, const std::string &what, const Run &run)
{
  run(); // Kokkos may allocate for a first reduction on a host
  Kokkos::fence();
  kernels = allocations = 0;
  labels.clear();
  for (int k = 0; k < 3; ++k) run();
  Kokkos::fence();
  EXPECT_EQ(kernels, 3 * count) << what;
  EXPECT_EQ(allocations, 0) << what;
  for (const auto &label : labels) EXPECT_EQ(label.rfind("ribbon::", 0), 0u) << label;
}

template <class Scalar = double>
void expect_kernels(int count, const ribbon::LineSolver<Scalar, Exec> &solver, const std::string &what,
                    bool in_place = false)
{
  ASSERT_TRUE(solver.report().ok()) << what;
  const auto &set      = solver.lines();
  const auto  unknowns = static_cast<std::size_t>(set.begin(set.lines() - 1) + set.rows * set.row_stride +
                                                 set.components * set.component_stride);
  Kokkos::View<Scalar *, Memory> b("b", unknowns), x("x", unknowns);
  expect_launches(count, what + (in_place ? ", in place" : ""),
                  [&] { solver.solve(Exec(), b.data(), in_place ? b.data() : x.data()); });
}

template <class Scalar>
void expect_one_kernel(const char *algorithm, ribbon::Lhs lhs, bool contiguous, bool periodic, int kl, int ku,
                       int block)
{
  std::mt19937_64 g(1);
  const auto set = (contiguous ? ribbon::LineSet::contiguous(120, 50) : ribbon::LineSet::interleaved(120, 50))
                     .with_components(block);
  auto bands = random_system<Scalar>(g, matrices_for(lhs, 50), 120, kl, ku, block, periodic);
  assign(g, bands, lhs, 50);
  expect_kernels<Scalar>(1, {Exec(), set, to_device(bands), {algorithm}},
                         std::string(algorithm) + ", " + ribbon::to_string(lhs) + ", band " +
                           std::to_string(kl) + "+" + std::to_string(ku) + ", blocks of " +
                           std::to_string(block));
}

TEST_F(Costs, AFusedOperatorIsOneKernelAndAllocatesNothing)
{
  for (bool contiguous : {false, true})
    for (bool periodic : {false, true}) {
      std::mt19937_64 g(1);
      const auto      set =
        contiguous ? ribbon::LineSet::contiguous(120, 50) : ribbon::LineSet::interleaved(120, 50);
      const auto A = to_device(random_system<double>(g, 1, 120, 1, 1, 1, periodic)),
                 B = to_device(random_system<double>(g, 1, 120, 2, 2, 1, periodic));
      Kokkos::View<double *, Memory> u("u", 6000), y("y", 6000);
      for (const char *algorithm : {"fused", "separate"}) {
        ribbon::LineOperatorOptions options;
        options.algorithm = algorithm;
        const ribbon::LineOperator<double, Exec> op(Exec(), set, A, B, options);
        const bool                               fused = op.is_fused();
        expect_launches(fused ? 1 : 2, algorithm, [&] { op.apply(Exec(), u.data(), y.data()); });
        ribbon::OperatorTerms<double> terms;
        terms.beta = 1, terms.v = y.data(), terms.lines = set;
        expect_launches(fused ? 1 : 3, std::string(algorithm) + ", with a sum",
                        [&] { op.apply(Exec(), u.data(), set, y.data(), set, terms); });
      }
    }
}

/// Steps on chip are one launch; others are one or two a step, and sums one more.
TEST_F(Costs, StepsOnChipAreOneKernel)
{
  std::mt19937_64 g(2);
  const auto      set = ribbon::LineSet::interleaved(120, 50);
  const auto      A   = to_device(random_system<double>(g, 1, 120, 2, 2, 1, false)),
             B        = to_device(random_system<double>(g, 1, 120, 1, 1, 1, false));
  Kokkos::View<double *, Memory> u("u", 6000), sums("sums", 5 * 3 * 50);
  ribbon::StepTerms<double>      terms;
  terms.g = u.data(), terms.sums = {sums.data(), 1};
  for (const char *algorithm : {"on_chip", "separate"}) {
    ribbon::LineStepperOptions options;
    options.algorithm = algorithm;
    const ribbon::LineStepper<double, Exec> linear(Exec(), set, A, B, {}, options),
      nonlinear(Exec(), set, A, B, B, options);
    const bool one = linear.is_on_chip();
    EXPECT_EQ(one, algorithm == std::string("on_chip"));
    expect_launches(one ? 1 : 5, algorithm, [&] { linear.step(Exec(), 5, u.data()); });
    expect_launches(one ? 1 : 15, std::string(algorithm) + ", with sums",
                    [&] { nonlinear.step(Exec(), 5, u.data(), set, u.data(), set, terms); });
  }
}

TEST_F(Costs, ASolveIsOneKernelAndAllocatesNothing)
{
  for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted"})
    for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
      for (bool contiguous : {false, true})
        for (bool periodic : {false, true}) {
          const bool any = algorithm != std::string("one_pass");
          for (int h : {1, 2, 3, 4}) expect_one_kernel<double>(algorithm, lhs, contiguous, periodic, h, h, 1);
          for (int block : {2, 4})
            expect_one_kernel<double>(algorithm, lhs, contiguous, periodic, 1, 1, block);
          if (any)
            expect_one_kernel<double>(algorithm, lhs, contiguous, periodic, 2, 8, 1),
              expect_one_kernel<double>(algorithm, lhs, contiguous, periodic, 1, 1, 3);
          expect_one_kernel<float>(algorithm, lhs, contiguous, periodic, 2, 1, 1),
            expect_one_kernel<Kokkos::complex<double>>(algorithm, lhs, contiguous, periodic, 1, 1, 1);
        }
}

// Enough contiguous lines with one general matrix for a persistent kernel on a device.
TEST_F(Costs, ManyContiguousLinesAreOneKernel)
{
  for (int h : {1, 2}) {
    std::mt19937_64 g(1);
    expect_kernels(1,
                   {Exec(),
                    ribbon::LineSet::contiguous(400, 1500),
                    to_device(random_system<double>(g, 1, 400, h, h, 1, false)),
                    {"one_pass"}},
                   "many lines, h " + std::to_string(h));
  }
}

TEST_F(Costs, FactorAndSolveIsOneKernelInFlightAndTwoByThomas)
{
  for (auto lhs : {ribbon::Lhs::per_line, ribbon::Lhs::shifted})
    for (const auto &[algorithm, h, block] : {std::tuple{"one_pass", 2, 1},
                                              {"one_pass", 3, 1},
                                              {"one_pass", 1, 4},
                                              {"cr_pcr", 1, 1},
                                              {"thomas", 1, 1},
                                              {"thomas", 2, 1},
                                              {"thomas", 4, 1},
                                              {"thomas", 1, 3}}) {
      std::mt19937_64 g(1);
      const auto      set   = ribbon::LineSet::interleaved(120, 50).with_components(block);
      auto            bands = random_system<double>(g, matrices_for(lhs, 50), 120, h, h, block, true);
      assign(g, bands, lhs, 50);
      ribbon::LineSolverOptions options;
      options.algorithm = algorithm, options.refactors = options.algorithm == "thomas";
      const auto                             given = to_device(bands);
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, given, options);
      Kokkos::View<double *, Memory>         b("b", static_cast<std::size_t>(set.unknowns()));
      expect_launches(options.refactors ? 2 : 1,
                      std::string(algorithm) + ", factor_and_solve, half-bandwidth " + std::to_string(h),
                      [&] { solver.factor_and_solve(Exec(), given, b.data(), b.data()); });
    }
}

TEST_F(Costs, ACyclicReductionIsOneKernelAndAllocatesNothing)
{
  std::mt19937_64 g(1);
  for (const char *algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr", "toeplitz_cr"})
    for (bool periodic : {false, true}) {
      expect_kernels(1,
                     {Exec(),
                      ribbon::LineSet::interleaved(120, 50),
                      to_device(random_bands<double>(g, 1, 120, 1, periodic, Kind::poisson)),
                      {algorithm}},
                     algorithm);
    }
}

TEST_F(Costs, ProductsOfTilesAreOneKernelAndAllocateNothing)
{
  std::mt19937_64 g(1);
  for (int h : {1, 4, 8})
    for (bool periodic : {false, true})
      expect_kernels(1,
                     {Exec(),
                      ribbon::LineSet::interleaved(120, 50),
                      to_device(random_system<double>(g, 1, 120, h, h, 1, periodic)),
                      {"tile_products"}},
                     "tile_products");
}

TEST_F(Costs, ZeroMeanIsOneKernelMore)
{
  std::mt19937_64 g(1);
  auto            bands = random_bands<double>(g, 1, 120, 1, true, Kind::poisson);
  for (std::size_t i = 0; i < 120; ++i)
    bands.values(0, i, 1) = -bands.values(0, i, 0) - bands.values(0, i, 2);
  ribbon::LineSolverOptions options;
  options.singular = "zero_mean";
  expect_kernels(2, {Exec(), ribbon::LineSet::interleaved(120, 50), to_device(bands), options}, "zero_mean");
}

// complex<float> is solved in complex<double>, with two more kernels per right-hand side. Known rows next
// to a sub-line and new matrices need more kernels. Copies share the workspace, independent() allocates
// another one.
TEST_F(Costs, SinglePrecisionComplexIsTwoKernelsMore)
{
  using Scalar = Kokkos::complex<float>;
  std::mt19937_64 g(1);
  const auto      set    = ribbon::LineSet::interleaved(120, 50);
  auto            values = random_system<Scalar>(g, 50, 120, 2, 2, 1, true);
  assign(g, values, ribbon::Lhs::per_line, 50);
  const auto bands = to_device(values);
  for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted"})
    for (bool in_place : {false, true})
      expect_kernels<Scalar>(3, {Exec(), set, bands, {algorithm}}, algorithm, in_place);
  for (const auto &[algorithm, kernels_in_double] : {std::tuple{"one_pass", 1}, {"thomas", 2}}) {
    ribbon::LineSolverOptions options;
    options.algorithm = algorithm, options.refactors = true;
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, bands, options);
    Kokkos::View<Scalar *, Memory>         b("b", static_cast<std::size_t>(3 * set.unknowns()));
    const auto                             three = ribbon::LineSet::interleaved(120, 150);
    expect_launches(kernels_in_double + 3, "factor_and_solve",
                    [&] { solver.factor_and_solve(Exec(), bands, b.data(), b.data()); });
    expect_launches(9, "three right-hand sides",
                    [&] { solver.solve(Exec(), b.data(), three, b.data(), three); });
    views           = 0;
    const auto copy = solver;
    EXPECT_EQ(views, 0) << "a copy shares the workspace";
    const auto other = solver.independent(Exec());
    EXPECT_GT(views, 0);
    EXPECT_EQ(other.report().bytes, copy.report().bytes);
    expect_launches(3, "independent", [&] { other.solve(Exec(), b.data(), b.data()); });
  }
  auto neumann = random_system<Scalar>(g, 1, 120, 1, 1, 1, true),
       pieces  = random_system<Scalar>(g, 1, 120, 1, 1, 1, false);
  for (std::size_t i = 0; i < 120; ++i)
    neumann.values(0, i, 1) = 2, neumann.values(0, i, 0) = neumann.values(0, i, 2) = -1;
  ribbon::LineSolverOptions zero_mean, one_pass;
  zero_mean.singular = "zero_mean", one_pass.algorithm = "one_pass";
  expect_kernels<Scalar>(4, {Exec(), set, to_device(neumann), zero_mean}, "zero_mean");
  const auto between = ribbon::Segments::factor<Scalar>(Exec(), set, to_device(pieces), one_pass);
  Kokkos::View<Scalar *, Memory> b("b", static_cast<std::size_t>(set.unknowns() + 50)), beside("beside", 100);
  for (int stored : {0, 1}) {
    ribbon::KnownRows<Scalar> known;
    known.values = beside.data() + 50, known.lines = ribbon::LineSet::interleaved(0, 50),
    known.stored = stored;
    expect_launches(4 + stored, "between known rows",
                    [&] { ribbon::Segments::solve(between, Exec(), b.data(), set, b.data(), set, known); });
  }
}

// The file comment of partition.hpp states these counts.
TEST_F(Costs, APartitionedSolveIsAStatedNumberOfKernels)
{
  using ribbon::LineSet;
  const int  joined        = ribbon::is_device_space<Exec> ? 1 : 2; // launches of the segments
  const auto in_three_runs = [](std::int64_t n, bool contiguous) {
    return contiguous ? LineSet{n, 2, 3, 1, n, 2 * n + 2, 0} : LineSet{n, 2, 3, 2, 1, 2 * n + 5, 0};
  };
  struct Case {
    const char *what;
    LineSet     set;
    int         h;
    double      sigma; // of I + sigma (difference of order 2 h)
    bool        periodic, per_line;
    int         piece, launches, in_place;
  };
  for (const Case &c :
       {Case{"known: dots, right-hand side, reduced system, pieces, tails", LineSet::interleaved(1010, 3), 1,
             1e4, false, false, 100, 5, 5},
        {"known, no tails", LineSet::interleaved(1000, 3), 1, 1e4, false, false, 100, 4, 4},
        {"known, decay: separators, pieces, tails", LineSet::interleaved(1010, 3), 1, 0.3, false, false, 100,
         3, 3},
        {"known, ring", LineSet::contiguous(546 * 7, 3), 1, 1e3, true, false, 544, 4, 4},
        {"near", LineSet::contiguous(546 * 7, 3), 1, 0.3, false, false, 544, 1, 2},
        {"near, tails", LineSet::contiguous(546 * 7 + 100, 3), 1, 0.3, false, false, 544, 2, 3},
        {"joined", LineSet::contiguous(546 * 7, 3), 1, 1e3, false, false, 544, joined, joined},
        {"joined, tails", LineSet::contiguous(546 * 7 + 100, 3), 1, 1e3, false, false, 544, joined + 2,
         joined + 2},
        {"corrected: pieces, tails, right-hand side, reduced system, correction",
         LineSet::interleaved(1010, 7), 2, 1e4, false, true, 100, 5, 5},
        {"corrected, decay: pieces, tails, boundaries", LineSet::interleaved(1010, 7), 2, 0.01, false, true,
         100, 3, 3},
        {"corrected, ring", LineSet::contiguous(1000, 7), 2, 1e4, true, true, 100, 4, 4},
        {"two strides: pieces and tails in three runs", in_three_runs(1010, false), 1, 1e4, false, false, 100,
         3 + 3 + 3, 3 + 3 + 3},
        {"two strides, matrices of lines", in_three_runs(1000, true), 2, 1e4, false, true, 100, 3 + 3, 3 + 3},
        {"two strides, joined: line by line", in_three_runs(546 * 7, true), 1, 1e3, false, false, 544,
         6 * joined, 6 * joined}}) {
    const double s     = c.sigma;
    auto         bands = toeplitz(c.set.rows,
                          c.h == 1 ? std::vector<double>{-s, 1 + 2 * s, -s}
                                           : std::vector<double>{s, -4 * s, 1 + 6 * s, -4 * s, s},
                                  c.periodic);
    if (c.per_line) {
      ribbon::Bands<double, Kokkos::HostSpace> all = bands;
      all.lhs                                      = ribbon::Lhs::per_line,
      all.values = decltype(all.values)("test::bands", static_cast<std::size_t>(c.set.lines()),
                                        bands.values.extent(1), bands.values.extent(2));
      for (std::size_t l = 0; l < all.values.extent(0); ++l)
        for (std::size_t i = 0; i < all.values.extent(1); ++i)
          for (std::size_t d = 0; d < all.values.extent(2); ++d)
            all.values(l, i, d) = bands.values(0, i, d) +
                                  // more segments than classes
                                  (d == 2 ? 1e-3 * static_cast<double>((i * 7 + l * 13) % 101) : 0.0);
      bands = all;
    }
    ribbon::LineSolverOptions options;
    options.algorithm = "partition", options.rows_per_piece = c.piece;
    const ribbon::LineSolver<double, Exec> solver(Exec(), c.set, to_device(bands), options);
    expect_kernels(c.launches, solver, c.what), expect_kernels(c.in_place, solver, c.what, true);
    expect_kernels(c.launches, solver.independent(Exec()), c.what);
  }
  // Lines that break the runs of the factored ones: segments of ten separate rows.
  std::mt19937_64           g(1);
  ribbon::LineSolverOptions options;
  options.algorithm = "partition", options.rows_per_piece = 100;
  const ribbon::LineSolver<double, Exec> solver(Exec(), LineSet::interleaved(1000, 6),
                                                to_device(toeplitz(1000, {-1, 2.0001, -1}, false)), options);
  const auto                             set = in_three_runs(1000, false);
  Kokkos::View<double *, Memory>         b("b", static_cast<std::size_t>(3 * (2 * 1000 + 5)));
  ASSERT_EQ(solver.report().algorithm, "partition of 10 x 100 rows");
  expect_launches(3 + 10 * 3, "broken runs", [&] { solver.solve(Exec(), b.data(), set, b.data(), set); });
}

// Chains whose tiles of leaves all run at the same time take one kernel to factor and one to solve for a
// column. Neither allocates, because memory for the report and for columns is allocated before.
TEST_F(Costs, AShortChainIsOneKernelToFactorAndOneToSolve)
{
  for (const std::int64_t n : {1000, 10000, 1500000})
    for (int p : {1, 5}) {
      const bool is_short = n <= 10000;
      if (p > 1 && !is_short) continue;
      ChainSystem<double> s{{n, 1, p, p}};
      s.fill([&](std::int64_t, int d) { return d == 0 ? 2.0 * p + 1 : -1.0; });
      const ChainOnDevice<double> A(s);
      // With a leaf size, hosts run the kernels of a device.
      ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {64, 0});
      const std::int64_t                most = is_short ? 150 : 1;
      solver.reserve(Exec(), most);
      Kokkos::View<double *, Memory> b("test::b", static_cast<std::size_t>(n * most)),
        x("test::x", b.extent(0));
      Kokkos::deep_copy(b, 1.0);
      const auto expect = [&](int count, const std::string &what, const auto &run) {
        Kokkos::fence();
        kernels = views = allocations = 0;
        run();
        Kokkos::fence();
        EXPECT_EQ(kernels, count) << what << ", " << n << " rows, half-bandwidth " << p;
        EXPECT_EQ(ribbon::is_device_space<Exec> ? allocations : views, 0)
          << what << ", " << n << " rows, half-bandwidth " << p;
      };
      for (const char *what : {"factorization", "refactorization"})
        expect(is_short ? 1 : 2, what, [&] { solver.factor(Exec(), A.matrix()); });
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

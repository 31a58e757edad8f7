// SPDX-License-Identifier: BSD-2-Clause
// Costs of a solve: one kernel with a label, and no allocation.
#include "costs.hpp"

#include <ribbon/line_stepper.hpp>
#include <ribbon/algorithm/segments.hpp>

#include <tuple>

using namespace test;

namespace {

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

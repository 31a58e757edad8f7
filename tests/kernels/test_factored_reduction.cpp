// SPDX-License-Identifier: BSD-2-Clause
// Cyclic reduction from stored factors: every number of equations, strides, wide bands and
// blocks; pivots; new values.
#include "batch.hpp"

#include <ribbon/algorithm/cyclic_reduction/factored_reduction.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

const std::vector<LineSystem> systems = {
  {0, 1, 1, 1, false}, {0, 2, 2, 1, false}, {0, 3, 1, 1, false}, {0, 0, 5, 1, false}, {0, 8, 8, 1, false},
  {0, 1, 1, 2, false}, {0, 1, 1, 3, false}, {0, 1, 1, 4, false}, {0, 1, 1, 5, false}, {0, 1, 1, 8, false}};

/// Lines with any strides. Their gaps hold NaN, and are not written.
template <class Scalar>
void expect_solved(ribbon::Lhs lhs, const LineSystem &system, const ribbon::LineSet &set)
{
  const auto &[n, kl, ku, block, periodic] = system;
  SCOPED_TRACE(testing::Message() << to_string(lhs) << ", band " << kl << "+" << ku << ", blocks of " << block
                                  << ", " << set.lines() << " lines of " << n << " rows, row stride "
                                  << set.row_stride << ", " << sizeof(Scalar) << " bytes, seed 11");
  std::mt19937_64 g(11);
  auto bands = random_system<Scalar>(g, matrices_for(lhs, set.lines()), n, kl, ku, block, periodic);
  assign(g, bands, lhs, set.lines());
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {"factored_reduction"});
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason << ", probe " << solver.report().probe_error;
  EXPECT_EQ(solver.report().algorithm, "factored_reduction");
  EXPECT_GT(solver.report().smallest_pivot, 0.01);
  const auto size =
    static_cast<std::size_t>(set(set.lines() - 1, n - 1) + (block - 1) * set.component_stride + 7);
  std::vector<Scalar> b(size, Scalar(std::nanf("")));
  for (std::int64_t l = 0; l < set.lines(); ++l)
    for (std::int64_t i = 0; i < n; ++i)
      for (int a = 0; a < block; ++a)
        b[static_cast<std::size_t>(set(l, i) + a * set.component_stride)] = random_scalar<Scalar>(g);
  const auto  x = solve(solver, b, true), other = solve(solver, b);
  std::size_t gaps = 0, same = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    const bool gap = ribbon::magnitude(b[k]) != ribbon::magnitude(b[k]);
    gaps += gap && ribbon::magnitude(x[k]) != ribbon::magnitude(x[k]), same += !gap && x[k] == other[k];
  }
  EXPECT_EQ(gaps + same, b.size()) << "gaps are written to, or in place differs";
  const double limit = 1e-14 * static_cast<double>(ribbon::unit_roundoff<Scalar>()) / 2.2e-16;
  EXPECT_LE(backward_error(expanded(bands), set, x, b), limit);
}

TEST(FactoredReduction, LinesOfAnyLengthAndStrides)
{
  for (const LineSystem &s : systems)
    for (auto lhs : {ribbon::Lhs::per_line, ribbon::Lhs::shifted})
      for (std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 100})
        for (std::int64_t lines : {1, 5, 16}) {
          const LineSystem system{n, s.kl, s.ku, s.block, false};
          auto             apart = ribbon::LineSet::interleaved(n, lines).with_components(s.block);
          apart.stride0 = 1, apart.row_stride = lines + 1, apart.component_stride = (lines + 1) * n,
          apart.offset = 3;
          expect_solved<double>(lhs, system, apart);
          expect_solved<double>(lhs, system,
                                ribbon::LineSet::contiguous(n, lines, n + 1).with_components(s.block));
          if (n == 9)
            expect_solved<float>(lhs, system, apart),
              expect_solved<Kokkos::complex<double>>(lhs, system, apart);
          if (lines == 16 && n > 30) // planes of a box
            expect_solved<double>(lhs, system,
                                  ribbon::LineSet{n, 4, 4, 8, 2, 8 * n + 5, 1}.with_components(s.block));
        }
}

/// Several right-hand sides, and some of the lines alone.
TEST(FactoredReduction, ColumnsAndRangesOfLines)
{
  std::mt19937_64    g(3);
  const std::int64_t n = 37, lines = 6, columns = 3, count = n * lines * 4;
  auto               bands                       = random_system<double>(g, lines, n, 1, 1, 4, false);
  bands.lhs                                      = ribbon::Lhs::per_line;
  const auto                              device = to_device(bands);
  ribbon::FactoredReduction<double, Exec> plan(Exec(), device);
  ASSERT_GT(plan.factor(Exec(), device, 1e-14).val, 0.01);
  using View = Kokkos::View<double *, Memory>;
  View       x("x", static_cast<std::size_t>(count * columns)), y("y", x.size());
  const auto host = Kokkos::create_mirror_view(x);
  for (std::size_t k = 0; k < host.size(); ++k) host(k) = random_scalar<double>(g);
  Kokkos::deep_copy(x, host), Kokkos::deep_copy(y, host);
  const auto all = ribbon::LineSet::contiguous(n, lines * columns).with_components(4);
  plan.solve(Exec(), 0, x.data(), all, x.data(), all);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t first : {0, 1, 4}) {
      const std::int64_t until = first == 0 ? 1 : first == 1 ? 4 : lines;
      auto               some  = ribbon::LineSet::contiguous(n, until - first).with_components(4);
      some.offset              = c * n * lines * 4 + first * n * 4;
      plan.solve(Exec(), first, y.data(), some, y.data(), some);
    }
  Kokkos::fence();
  const auto whole = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x),
             parts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (std::size_t k = 0; k < whole.size(); ++k) ASSERT_EQ(whole(k), parts(k)) << k;
}

/// The first line with a pivot of zero, or an entry that is not finite, is named.
TEST(FactoredReduction, PivotsAreReported)
{
  for (const double bad : {0., std::nan("")}) {
    std::mt19937_64    g(7);
    const std::int64_t n = 21, lines = 5;
    auto               bands = random_system<double>(g, lines, n, 1, 1, 3, false);
    bands.lhs                = ribbon::Lhs::per_line;
    for (std::size_t d = 0; d < 27; ++d) bands.values(3, 8, d) = bad, bands.values(4, 2, d) = bad;
    const auto                             set = ribbon::LineSet::contiguous(n, lines).with_components(3);
    const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"factored_reduction"});
    const ribbon::FactorReport            &r = solver.report();
    EXPECT_EQ(r.status, bad == 0 ? ribbon::FactorStatus::zero_pivot : ribbon::FactorStatus::not_finite);
    EXPECT_EQ(r.line, 3);
    EXPECT_EQ(r.row, 8);
    EXPECT_EQ(r.failed, (std::vector<std::int64_t>{3, 4}));
  }
}

/// Factors of other values in the memory of the old factors equal those of a new solver.
TEST(FactoredReduction, FactorsAgain)
{
  std::mt19937_64    g(9);
  const std::int64_t n = 50, lines = 7;
  for (const LineSystem &s : systems) {
    auto first  = random_system<double>(g, lines, n, s.kl, s.ku, s.block, false),
         second = random_system<double>(g, lines, n, s.kl, s.ku, s.block, false);
    first.lhs = second.lhs = ribbon::Lhs::per_line;
    using Plan             = ribbon::FactoredReduction<double, Exec>;
    const auto set         = ribbon::LineSet::contiguous(n, lines).with_components(s.block);
    const auto device      = to_device(second);
    const auto other       = to_device(first);
    Plan       again(Exec(), other), anew(Exec(), device);
    again.factor(Exec(), other, 1e-14);
    ASSERT_TRUE(again.takes_again(device));
    EXPECT_EQ(again.factor(Exec(), device, 1e-14).val, anew.factor(Exec(), device, 1e-14).val);
    Kokkos::View<double *, Memory> x("x", static_cast<std::size_t>(set.unknowns())), y("y", x.size());
    Kokkos::deep_copy(x, 1.), Kokkos::deep_copy(y, 1.);
    again.solve(Exec(), 0, x.data(), set, x.data(), set), anew.solve(Exec(), 0, y.data(), set, y.data(), set);
    Kokkos::fence();
    const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x),
               b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    for (std::size_t k = 0; k < a.size(); ++k) ASSERT_EQ(a(k), b(k)) << k;
  }
}

int  factor_allocations = 0;
void on_allocation(const Kokkos::Tools::SpaceHandle, const char *label, const void *, std::uint64_t)
{
  factor_allocations += std::string(label) == "ribbon::factored_reduction";
}

/// Solver::refactor() next to a solver that is made anew.
/// @return allocations of factors in refactor()
int refactor_and_compare(const LineSystem &system, const ribbon::LineSolverOptions &options)
{
  const auto &[n, kl, ku, block, periodic] = system;
  std::mt19937_64    g(7);
  const std::int64_t lines = 6;
  const auto         set   = ribbon::LineSet::interleaved(n, lines).with_components(block);
  const auto         batch = [&] {
    auto bands = random_system<double>(g, lines, n, kl, ku, block, periodic);
    bands.lhs  = ribbon::Lhs::per_line;
    return bands;
  };
  const auto                       first = batch(), second = batch();
  ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(first), options);
  const auto                       copy  = solver;
  const auto                       bands = to_device(second);
  Kokkos::Tools::Experimental::set_allocate_data_callback(on_allocation);
  factor_allocations = 0;
  EXPECT_TRUE(solver.refactor(Exec(), bands));
  const int allocated = factor_allocations;
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  const ribbon::LineSolver<double, Exec> anew(Exec(), set, bands, options);
  std::vector<double>                    b(static_cast<std::size_t>(set.unknowns()));
  for (double &value : b) value = random_scalar<double>(g);
  EXPECT_EQ(solve(solver, b), solve(anew, b));
  EXPECT_EQ(solve(copy, b), solve(anew, b));
  EXPECT_EQ(solver.report().algorithm, anew.report().algorithm);
  EXPECT_EQ(solver.report().probe_error, anew.report().probe_error);
  EXPECT_EQ(solver.report().rcond, anew.report().rcond);
  EXPECT_EQ(solver.report().smallest_pivot, anew.report().smallest_pivot);
  EXPECT_EQ(solver.report().bytes, anew.report().bytes);

  auto singular = second;
  for (std::size_t k = 0; k < singular.values.extent(2); ++k) singular.values(2, 1, k) = 0;
  EXPECT_FALSE(solver.refactor(Exec(), to_device(singular)));
  EXPECT_FALSE(solver.report().ok());
  EXPECT_EQ(solver.report().line, 2);
  EXPECT_FALSE(solver.refactor(Exec(), bands)) << "a solver that failed is to be made anew";
  return allocated;
}

TEST(FactoredReduction, NewValuesInTheMemoryOfTheOldFactors)
{
  for (const LineSystem &s : systems) {
    if (s.kl + s.ku == 0) continue;
    SCOPED_TRACE(testing::Message() << "band " << s.kl << "+" << s.ku << ", blocks of " << s.block);
    EXPECT_EQ(refactor_and_compare({33, s.kl, s.ku, s.block, false}, {"factored_reduction"}), 0);
  }
}

TEST(FactoredReduction, OtherAlgorithmsAreMadeAnewByRefactor)
{
  EXPECT_EQ(refactor_and_compare({33, 1, 1, 1, false}, {"pivoted"}), 0);
  EXPECT_EQ(refactor_and_compare({33, 2, 2, 1, true}, {"pivoted"}), 0);
  EXPECT_EQ(refactor_and_compare({33, 1, 1, 3, false}, {"thomas"}), 0);
}

TEST(FactoredReduction, WhatItDoesNotTakeIsNamed)
{
  std::mt19937_64 g(1);
  const auto      refusal = [&](const ribbon::Bands<double, Kokkos::HostSpace> &bands, std::int64_t lines,
                           bool refactors = false) {
    ribbon::LineSolverOptions options;
    options.algorithm = "factored_reduction", options.refactors = refactors;
    try {
      ribbon::LineSolver<double, Exec>(
        Exec(), ribbon::LineSet::contiguous(bands.rows(), lines).with_components(bands.block),
        to_device(bands), options);
    } catch (const std::invalid_argument &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string takes =
    "ribbon: algorithm factored_reduction: it takes one matrix per line, not periodic, with "
    "at most 8 unknowns coupled to either side";
  auto ring = random_system<double>(g, 4, 20, 1, 1, 4, true);
  ring.lhs  = ribbon::Lhs::per_line;
  EXPECT_EQ(refusal(ring, 4), takes);
  EXPECT_EQ(refusal(random_system<double>(g, 1, 20, 2, 2, 1, false), 4), takes) << "one matrix for all lines";
  auto own = random_system<double>(g, 4, 20, 1, 1, 2, false);
  own.lhs  = ribbon::Lhs::per_line;
  EXPECT_EQ(refusal(own, 4, true),
            "ribbon::LineSolver: algorithm factored_reduction has no factor_and_solve");
  EXPECT_EQ(refusal(own, 4), "");
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Solves with other matrices than the factored ones, which are kept, and matrices that change later.
#include "batch.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

/// The error of factor_and_solve(); empty if it accepts the matrices.
template <class Scalar>
std::string refusal_of_values(const ribbon::LineSolver<Scalar, Exec> &solver,
                              const ribbon::Bands<Scalar, Memory>    &bands)
{
  Kokkos::View<Scalar *, Memory> x("test::x", static_cast<std::size_t>(solver.lines().unknowns()));
  try {
    solver.factor_and_solve(Exec(), bands, x.data(), x.data());
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "";
}

/// factor_and_solve() solves with other values, in place. The solver and an independent solver keep the
/// factored values.
template <class Scalar>
void expect_other_values(const std::string &algorithm, ribbon::Lhs lhs, const LineSystem &system,
                         bool contiguous)
{
  const auto &[n, kl, ku, block, periodic] = system;
  SCOPED_TRACE(algorithm + ", " + ribbon::to_string(lhs) + ", band " + std::to_string(kl) + "+" +
               std::to_string(ku) + ", blocks of " + std::to_string(block) + ", " + std::to_string(n) +
               " rows");
  const std::int64_t lines = n > 1000 ? 2 : 33;
  std::mt19937_64    g(5);
  const auto         set =
    (contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines))
      .with_components(block);
  auto bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, block, periodic),
       other = random_system<Scalar>(g, matrices_for(lhs, lines), n, kl, ku, block, periodic);
  assign(g, bands, lhs, lines), assign(g, other, lhs, lines);
  ribbon::LineSolverOptions options;
  options.algorithm = algorithm, options.refactors = algorithm == "thomas" || algorithm == "auto";
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
  ASSERT_TRUE(solver.report().ok());
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  Kokkos::View<Scalar *, Memory> at("b", b.size());
  const auto                     host  = Kokkos::create_mirror_view(at);
  const double                   limit = 45 * static_cast<double>(ribbon::unit_roundoff<Scalar>());
  for (const auto &each : {solver, solver.independent(Exec())}) {
    std::copy(b.begin(), b.end(), host.data());
    Kokkos::deep_copy(at, host);
    each.factor_and_solve(Exec(), to_device(other), at.data(), at.data());
    Kokkos::fence();
    Kokkos::deep_copy(host, at);
    EXPECT_LE(
      backward_error(expanded(other), set, std::vector<Scalar>(host.data(), host.data() + b.size()), b),
      limit);
    EXPECT_LE(backward_error(expanded(bands), set, solve(each, b), b), limit)
      << "the factored matrices are kept";
  }
  other.periodic = !periodic;
  EXPECT_NE(refusal_of_values(solver, to_device(other)), "");
}

TEST(SolveShapes, FactorAndSolveTakesOtherValues)
{
  for (auto lhs : {ribbon::Lhs::per_line, ribbon::Lhs::shifted})
    for (bool contiguous : {false, true})
      for (bool periodic : {false, true}) {
        for (int h : {1, 2, 3, 4})
          expect_other_values<double>("one_pass", lhs, {50, h, h, 1, periodic}, contiguous);
        for (int block : {2, 4})
          expect_other_values<double>("one_pass", lhs, {30, 1, 1, block, periodic}, contiguous);
        expect_other_values<float>("one_pass", lhs, {50, 1, 3, 1, periodic}, contiguous),
          expect_other_values<Kokkos::complex<double>>("one_pass", lhs, {40, 1, 1, 2, periodic}, contiguous);
        for (const char *algorithm : {"cyclic_reduction", "cr_pcr"})
          expect_other_values<double>(algorithm, lhs, {50, 1, 1, 1, periodic}, contiguous);
        for (const LineSystem &s : {LineSystem{50, 1, 1, 1, periodic},
                                    {50, 2, 1, 1, periodic},
                                    {50, 3, 3, 1, periodic},
                                    {50, 2, 8, 1, periodic},
                                    {30, 1, 1, 2, periodic},
                                    {30, 1, 1, 5, periodic},
                                    {20000, 2, 2, 1, periodic}})
          if (s.n < 1000 || contiguous) expect_other_values<double>("thomas", lhs, s, contiguous);
        expect_other_values<float>("thomas", lhs, {50, 3, 3, 1, periodic}, contiguous),
          expect_other_values<Kokkos::complex<double>>("thomas", lhs, {40, 1, 1, 3, periodic}, contiguous);
        expect_other_values<double>("auto", lhs, {50, 4, 4, 1, periodic}, contiguous);
      }
}

TEST(SolveShapes, FactorAndSolveSaysWhatItWants)
{
  std::mt19937_64 g(5);
  const auto      set   = ribbon::LineSet::interleaved(50, 4);
  auto            bands = random_system<double>(g, 4, 50, 3, 3, 1, false);
  bands.lhs             = ribbon::Lhs::per_line;
  const std::string none =
    "ribbon::LineSolver: factor_and_solve: thomas keeps factors, has other widths or solves singular lines "
    "for zero mean; ask for algorithm one_pass, or thomas with refactors";
  // This solver has no room for other matrices.
  EXPECT_EQ(refusal_of_values<double>({Exec(), set, to_device(bands), {"thomas"}}, to_device(bands)), none);
  ribbon::LineSolverOptions options;
  options.algorithm = "thomas", options.refactors = true;
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), options);
  auto                                   wide = random_system<double>(g, 4, 50, 4, 0, 1, false);
  wide.lhs                                    = ribbon::Lhs::per_line;
  EXPECT_EQ(refusal_of_values(solver, to_device(wide)), none);
  bands.lhs = ribbon::Lhs::shared;
  EXPECT_EQ(refusal_of_values(solver, to_device(bands)), "ribbon::LineSolver: shared bands with 4 matrices");
  EXPECT_EQ(refusal(set, random_system<double>(g, 1, 50, 3, 3, 1, false), options),
            "ribbon::LineSolver: refactors: one matrix per line or shifted ones");
  options.algorithm = "partition", bands.lhs = ribbon::Lhs::per_line;
  EXPECT_EQ(refusal(set, bands, options), "ribbon::LineSolver: algorithm partition has no factor_and_solve");
}

TEST(SolveShapes, FactorAndSolveTakesRingsThatAreNone)
{
  std::mt19937_64 g(5);
  const auto      set   = ribbon::LineSet::interleaved(20, 7);
  auto            bands = random_system<double>(g, 7, 20, 0, 0, 1, true); // a diagonal matrix
  assign(g, bands, ribbon::Lhs::per_line, 7);
  const auto                             given = to_device(bands);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, given, {"one_pass"});
  Kokkos::View<double *, Memory>         x("x", 140);
  Kokkos::deep_copy(x, 1.0);
  solver.factor_and_solve(Exec(), given, x.data(), x.data());
  Kokkos::fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  EXPECT_LE(backward_error(bands, set, std::vector<double>(host.data(), host.data() + 140),
                           std::vector<double>(140, 1.0)),
            1e-15);
}

TEST(SolveShapes, MatricesMayChangeAfterTheyWereFactored)
{
  for (const char *algorithm : {"one_pass", "thomas", "pivoted", "cyclic_reduction", "partition"})
    for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::per_line, ribbon::Lhs::shifted}) {
      std::mt19937_64 g(5);
      const auto      set   = ribbon::LineSet::interleaved(40, 12);
      auto            bands = random_bands<double>(g, matrices_for(lhs, 12), 40, 1, false, Kind::dominant);
      assign(g, bands, lhs, 12);
      auto given   = bands; // on a host the bands of the solver are those of the test
      given.values = decltype(given.values)("test::given", bands.values.extent(0), bands.values.extent(1),
                                            bands.values.extent(2));
      Kokkos::deep_copy(given.values, bands.values);
      const auto                             device = to_device(given);
      const ribbon::LineSolver<double, Exec> solver(Exec(), set, device, {algorithm});
      Kokkos::deep_copy(device.values, 0.0);
      std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<double>(g);
      EXPECT_LE(backward_error(expanded(bands), set, solve(solver, b), b), 1e-14)
        << algorithm << " " << ribbon::to_string(lhs);
    }
}

} // namespace

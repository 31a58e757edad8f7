// SPDX-License-Identifier: BSD-2-Clause
// step_with(): steps with functions p and energies of the application, against steps with dense matrices on
// the host.
#include "line_steps.hpp"

#include <memory>

using namespace test;
using namespace test::line_steps;

namespace {

struct Cubic {
  KOKKOS_FUNCTION double operator()(const double &u, std::int64_t row) const
  {
    return u * u * u - (row % 2 == 0 ? u : 0.5 * u);
  }
};
struct Gradient {
  KOKKOS_FUNCTION double operator()(const double &u, const double &next, std::int64_t row) const
  {
    return (next - u) * (next - u) + static_cast<double>(row) * u;
  }
};

/// A step with p = Cubic, by the reference with a matrix D whose columns are scaled row by row.
TEST(StepWith, CallsTheFunctionsOfTheApplication)
{
  for (const Case &c : {cases[1], cases[3], cases[7]})
    for (std::int64_t n : {6, 40, 100})
      for (const char *algorithm : {"on_chip", "auto", "separate"}) {
        SCOPED_TRACE(testing::Message() << c << ", n " << n << ", " << algorithm);
        Problem<double> P(c, n, 22, n % 3 == 0 ? 1 : 0, 5);
        const auto      stepper = stepper_of(P, algorithm);
        Setting         run;
        run.steps = 3, run.every = 1;
        const auto found = computed(stepper, P, run, Cubic(), Gradient());
        // D (u^3 - u) + D S u with S = 1/2 in odd rows and 0 in even ones
        P.terms.p    = {0, -1, 0, 1, 0, 0};
        auto      &D = P.D, &B = P.B;
        const auto at = [](const HostBands<double> &bands, std::size_t m, std::int64_t i,
                           std::int64_t d) -> double & {
          return bands.values(m, static_cast<std::size_t>(i), static_cast<std::size_t>(d + bands.kl()));
        };
        auto wide =
          random_batch<double>(*std::make_unique<std::mt19937_64>(1), n, 22, 3, 3, c.periodic, c.lhs, false);
        for (std::size_t m = 0; m < wide.values.extent(0); ++m)
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t d = -3; d <= 3; ++d) {
              const std::int64_t column = ((i + d) % n + n) % n;
              double             entry  = std::abs(d) <= B.kl() ? at(B, m, i, d) : 0;
              if (std::abs(d) <= D.kl() && column % 2 == 1) entry += 0.5 * at(D, m, i, d);
              at(wide, m, i, d) = entry;
            }
        wide.class_of_line  = B.class_of_line;
        B                   = wide;
        const auto expected = reference<double>(
          P, run, [](double u, double next, std::int64_t row) { return Gradient()(u, next, row); });
        expect_near(found.u, expected.u, "u");
        expect_near(found.sums, expected.sums, "sums");
      }
}

TEST(StepWith, RefusesAFunctionWithoutD)
{
  const Problem<double> linear(cases[0], 20, 22, 0, 1), nonlinear(cases[1], 20, 22, 0, 1);
  EXPECT_THROW(computed(stepper_of(linear, "auto"), linear, {}, Cubic(), Gradient()), std::invalid_argument);
  EXPECT_THROW(computed(stepper_of(nonlinear, "auto"), nonlinear, {}, ribbon::NoFunction(), Gradient()),
               std::invalid_argument);
  const Setting run{"auto", 0, 2, true, false, 1};
  const auto found = computed(stepper_of(linear, "on_chip"), linear, run, ribbon::NoFunction(), Gradient());
  const auto expected = reference<double>(
    linear, run, [](double u, double next, std::int64_t row) { return Gradient()(u, next, row); });
  expect_near(found.sums, expected.sums, "sums");
}

struct Inverse {
  KOKKOS_FUNCTION double operator()(const double &u, std::int64_t) const { return 1 / u; }
};

/// p is infinite at zero, where chunks have empty slots.
TEST(StepWith, DoesNotReadPWhereThereAreNoRows)
{
  Problem<double> P({1, 1, 1, true, true}, 40, 22, 0, 9);
  for (auto &u : P.u) u = 2 + std::abs(u);
  Setting run;
  run.steps        = 3;
  const auto chip  = computed(stepper_of(P, "on_chip"), P, run, Inverse(), Gradient()),
             other = computed(stepper_of(P, "separate"), P, run, Inverse(), Gradient());
  expect_near(chip.u, other.u, "u");
}

} // namespace

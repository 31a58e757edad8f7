// SPDX-License-Identifier: BSD-2-Clause
// LineStepper: u <- A^-1 (B u + D p(u) + g), against steps with dense matrices on the host.
#include "line_steps.hpp"

#include <limits>

using namespace test;
using namespace test::line_steps;

namespace {

template <class Scalar>
void check(const Case &c, std::int64_t n, const Setting &run, std::int64_t lines = 22)
{
  SCOPED_TRACE(testing::Message() << c << ", n " << n << ", layout " << run.layout << ", " << run.steps
                                  << " steps, " << run.algorithm << (run.in_place ? ", in place" : "")
                                  << (run.with_g ? ", g" : "") << ", sums every " << run.every << ", "
                                  << sizeof(Scalar) << " bytes");
  const Problem<Scalar> P(c, n, lines, run.layout, static_cast<std::uint64_t>(n * 100 + c.a * 10 + c.b));
  const auto            stepper = stepper_of(P, run.algorithm);
  ASSERT_TRUE(stepper.report().ok()) << stepper.report().reason;
  EXPECT_EQ(stepper.is_on_chip(), stepper.reason().empty()) << stepper.reason();
  const auto expected = reference(P, run), found = computed(stepper, P, run);
  expect_near(found.u, expected.u, "u");
  expect_near(found.sums, expected.sums, "sums");
}

TEST(LineStepper, StepsOnChip)
{
  for (const Case &c : cases)
    for (std::int64_t n : {6, 31, 33, 64, 130})
      for (int layout : {0, 1, 2}) {
        check<double>(c, n, {"on_chip", layout});
        check<double>(c, n, {"on_chip", layout, 2, false, true, 1});
      }
  for (const Case &c : {cases[0], cases[3], cases[7]}) {
    check<double>(c, 70, {"on_chip", 0}, 150);
    if (ribbon::is_device_space<Exec>) check<float>(c, 70, {"on_chip", 0}, 150);
  }
}

/// Lines of many chunks, as long as a team takes.
TEST(LineStepper, LongLinesAreRight)
{
  for (std::int64_t n : {256, 300})
    for (const Case &c : {cases[1], cases[3]})
      for (int layout : {0, 1}) check<double>(c, n, {"on_chip", layout, 2});
}

constexpr Case others[] = {{1, 1, 1, false, false, Lhs::per_line},
                           {4, 2, 2, false, true},
                           {3, 5, -1, true, true},
                           {0, 2, 2, true, true},
                           {2, 3, -1, true, false, Lhs::per_line}};

TEST(LineStepper, StepsThatAreNotOnChip)
{
  for (const char *algorithm : {"auto", "separate"})
    for (const Case &c :
         {cases[0], cases[3], cases[5], cases[7], others[0], others[1], others[2], others[3], others[4]})
      for (std::int64_t n : {7, 40})
        for (int layout : {0, 1, 2}) {
          check<double>(c, n, {algorithm, layout});
          check<double>(c, n, {algorithm, layout, 2, false, true, 2});
        }
  check<float>(cases[1], 40, {});
  check<Kokkos::complex<double>>(cases[1], 40, {});
  check<Kokkos::complex<float>>(cases[3], 40, {});
}

/// 0 steps copy; 1 step; sums only after some of the steps.
TEST(LineStepper, AnyNumberOfSteps)
{
  for (const char *algorithm : {"on_chip", "separate"})
    for (int steps : {0, 1, 5})
      for (bool in_place : {false, true})
        check<double>(cases[1], 40, {algorithm, 1, steps, in_place, true, 2});
}

/// A factor of g for each line, also for lines that step in batches.
TEST(LineStepper, ScalesTheTermOfEachLine)
{
  for (const char *algorithm : {"on_chip", "separate"})
    for (int layout : {0, 1, 2}) {
      Setting run{algorithm, layout, 3, true, true, 2};
      run.scaled = true;
      check<double>(cases[1], 40, run);
      check<double>(cases[0], 40, run, 308); // without D
      check<double>(cases[7], 33, run);
    }
  Setting run;
  run.with_g = run.scaled = true;
  check<double>(cases[3], 130, run, 200);
  check<Kokkos::complex<double>>(cases[1], 40, run);
}

/// Batches of lines in the cache of a host, and more lines than those that were factored.
TEST(LineStepper, ManyLines)
{
  for (const char *algorithm : {"on_chip", "auto"})
    for (std::int64_t n : {40, 600}) {
      SCOPED_TRACE(testing::Message() << algorithm << ", n " << n);
      const Problem<double> few(cases[7], n, 22, 0, 4);
      Problem<double>       P(n == 40 ? cases[7] : cases[3], n, 308, 2, 4);
      if (n == 40) P.A = few.A, P.B = few.B, P.D = few.D;
      const auto &factored = n == 40 ? few : P;
      const auto  stepper  = stepper_of(factored, algorithm);
      Setting     run;
      run.steps = 3, run.every = 1, run.with_g = true;
      const auto all = computed(stepper, P, run);
      for (std::int64_t l : {0, 21, 22, 150, 307}) { // as a batch of one line
        auto one = P;
        one.set  = LineSet::interleaved(n, 1);
        for (std::int64_t i = 0; i < n; ++i)
          one.u[static_cast<std::size_t>(i)] = P.u[static_cast<std::size_t>(P.set(l, i))];
        if (n == 40) {
          one.A.class_of_line    = decltype(one.A.class_of_line)("test::class", 1);
          one.A.class_of_line(0) = few.A.class_of_line(static_cast<std::size_t>(l % 22));
        }
        const auto expected = reference(one, run);
        for (std::int64_t i = 0; i < n; ++i)
          EXPECT_NEAR(all.u[static_cast<std::size_t>(P.set(l, i))], expected.u[static_cast<std::size_t>(i)],
                      1e-11)
            << "line " << l;
        for (int q = 0; q < 6; ++q)
          EXPECT_NEAR(all.sums[static_cast<std::size_t>(q * 308 + l)],
                      expected.sums[static_cast<std::size_t>(q)], 1e-9)
            << "line " << l;
      }
    }
}

/// A NaN stays on its line.
TEST(LineStepper, LinesAreIndependent)
{
  for (const char *algorithm : {"on_chip", "auto"}) {
    Problem<double> P(cases[3], 40, 22, 0, 3);
    P.u[static_cast<std::size_t>(P.set(5, 17))] = std::numeric_limits<double>::quiet_NaN();
    const auto found                            = computed(stepper_of(P, algorithm), P, {});
    for (std::int64_t l = 0; l < 22; ++l)
      for (std::int64_t i = 0; i < 40; ++i)
        EXPECT_EQ(std::isnan(found.u[static_cast<std::size_t>(P.set(l, i))]), l == 5) << l << ", " << i;
  }
}

TEST(LineStepper, SaysWhyStepsAreNotOnChip)
{
  const auto reason = [](const Case &c, std::int64_t n) {
    const Problem<double> P(c, n, 22, 0, 1);
    try {
      stepper_of(P, "on_chip");
    } catch (const std::invalid_argument &refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  EXPECT_EQ(reason(cases[0], 40), "");
  EXPECT_NE(reason(others[0], 40).find("A is per_line (shared, classes)"), std::string::npos);
  EXPECT_NE(reason(others[1], 40).find("A has half-bandwidth 4 (1, 2)"), std::string::npos);
  EXPECT_NE(reason({1, 4, -1, false, true}, 40).find("B or D has half-bandwidth 4 (at most 3)"),
            std::string::npos);
  EXPECT_NE(reason({1, 3, -1, false, true}, 2).find("lines of 2 rows are too short"), std::string::npos);
}

/// Bad arguments are one exception that names them, and nothing is half-set.
TEST(LineStepper, RefusesArgumentsThatDoNotFit)
{
  const Problem<double> P(cases[1], 20, 22, 0, 1), longer(cases[1], 21, 22, 0, 1);
  const auto            A = to_device(P.A), B = to_device(P.B), other = to_device(longer.B);
  using Stepper      = ribbon::LineStepper<double, Exec>;
  const auto refused = [](const auto &call, const std::string &what) {
    try {
      call();
    } catch (const std::exception &e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
      return;
    }
    ADD_FAILURE() << what;
  };
  refused([&] { Stepper(Exec(), P.set, A, other); }, "B has 21 rows, the lines 20");
  refused([&] { Stepper(Exec(), P.set, A, B, other); }, "D has 21 rows, the lines 20");
  ribbon::LineStepperOptions options;
  options.algorithm = "fast";
  refused([&] { Stepper(Exec(), P.set, A, B, {}, options); }, "unknown algorithm 'fast'");
  refused([&] { Stepper().step(Exec(), 1, nullptr); }, "nothing has been factored");
  const Stepper stepper(Exec(), P.set, A, B);
  const auto    u = upload(P.u);
  refused([&] { stepper.step(Exec(), -1, u.data()); }, "-1 steps");
  refused([&] { stepper.step(Exec(), 1, u.data(), longer.set, u.data(), longer.set); }, "lines do not fit");
  ribbon::StepTerms<double> terms;
  terms.g = u.data(), terms.g_steps = 0;
  refused([&] { stepper.step(Exec(), 1, u.data(), P.set, u.data(), P.set, terms); }, "g for 0 steps");
  terms.g = nullptr, terms.sums = {u.data(), 0};
  refused([&] { stepper.step(Exec(), 1, u.data(), P.set, u.data(), P.set, terms); }, "sums every 0 steps");
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// LineStepper and step_with(): u <- A^-1 (B u + D p(u) + g), against steps with dense matrices on the host.
#include "line_products.hpp"

#include <ribbon/templates/step_with.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

using namespace test;
using ribbon::Lhs;
using ribbon::LineSet;

namespace {

/// Half-bandwidths of A, B and D (-1: no D), and how many matrices a batch has.
struct Case {
  int  a, b, d;
  bool periodic, stencil;
  Lhs  lhs = Lhs::shared;
};

std::ostream &operator<<(std::ostream &out, const Case &c)
{
  return out << "A " << c.a << ", B " << c.b << ", D " << c.d << " " << to_string(c.lhs)
             << (c.periodic ? ", ring" : ", open") << (c.stencil ? ", stencil" : "");
}

struct Setting {
  std::string algorithm = "auto";
  int         layout = 0, steps = 3;
  bool        in_place = true, with_g = false;
  int         every = 0; ///< sums; 0: none
};

template <class Scalar>
struct Problem {
  using Real = ribbon::real_t<Scalar>;
  HostBands<Scalar>         A, B, D;
  LineSet                   set;
  std::vector<Scalar>       u, g; ///< g: of two steps
  ribbon::StepTerms<Scalar> terms;

  Problem(const Case &c, std::int64_t n, std::int64_t lines, int layout, std::uint64_t seed)
      : set(places(layout, n, lines))
  {
    std::mt19937_64 random(seed);
    const auto      batch = [&](int reach, double factor) {
      auto bands = random_batch<Scalar>(random, n, lines, reach, reach, c.periodic, c.lhs, c.stencil);
      for (std::size_t k = 0; k < bands.values.size(); ++k)
        bands.values.data()[k] *= static_cast<Scalar>(static_cast<Real>(factor));
      return bands;
    };
    A = batch(c.a, 1), B = batch(c.b, 0.3);
    if (c.d >= 0) D = batch(c.d, 0.3);
    B.class_of_line = D.class_of_line = A.class_of_line;
    std::size_t all                   = 0;
    for (std::int64_t l = 0; l < lines; ++l) all = std::max(all, static_cast<std::size_t>(set(l, n - 1)) + 1);
    u                = random_values<Scalar>(random, all);
    g                = random_values<Scalar>(random, static_cast<std::size_t>(2 * n));
    const double p[] = {0.1, 0.2, -0.1, 0.05, 0.02, -0.01};
    for (std::size_t k = 0; k < 6; ++k) terms.p[k] = Scalar(static_cast<Real>(p[k]));
  }
};

/// A state of all lines, and the sums after every step.
template <class Scalar>
struct Result {
  std::vector<Scalar> u, sums;
};

template <class Scalar>
using Energy = std::function<Scalar(Scalar, Scalar, std::int64_t)>;

/// A step of all lines on the host, with dense matrices.
template <class Scalar>
void reference_step(const Problem<Scalar> &P, const Scalar *g, std::vector<Scalar> &u)
{
  auto mapped = u;
  for (std::size_t k = 0; k < u.size(); ++k) {
    Scalar sum(0);
    for (int e = 5; e >= 0; --e) sum = sum * u[k] + P.terms.p[static_cast<std::size_t>(e)];
    mapped[k] = sum;
  }
  const auto own = expanded(P.A);
  auto       to  = u;
  for (std::int64_t l = 0; l < P.set.lines(); ++l) {
    const std::int64_t  m = matrix_of(own, l);
    std::vector<Scalar> f(static_cast<std::size_t>(P.set.rows));
    for (std::int64_t i = 0; i < P.set.rows; ++i) {
      auto &sum = f[static_cast<std::size_t>(i)];
      sum       = product(P.B, m, P.set, u, l, i).first;
      if (P.D.values.size()) sum += product(P.D, m, P.set, mapped, l, i).first;
      if (g) sum += g[i];
    }
    const auto x = ribbon::reference::solve(ribbon::reference::dense(own, m), f);
    for (std::int64_t i = 0; i < P.set.rows; ++i)
      to[static_cast<std::size_t>(P.set(l, i))] = x[static_cast<std::size_t>(i)];
  }
  u = to;
}

template <class Scalar>
Result<Scalar> reference(const Problem<Scalar> &P, const Setting &run, const Energy<Scalar> &energy = nullptr)
{
  Result<Scalar> result{P.u, {}};
  for (int s = 0; s < run.steps; ++s) {
    reference_step(P, run.with_g ? P.g.data() + s % 2 * P.set.rows : nullptr, result.u);
    if (run.every == 0 || (s + 1) % run.every != 0) continue;
    std::vector<Scalar> sums(static_cast<std::size_t>(3 * P.set.lines()), Scalar(0));
    for (std::int64_t l = 0; l < P.set.lines(); ++l)
      for (std::int64_t i = 0; i < P.set.rows; ++i) {
        const auto value = result.u[static_cast<std::size_t>(P.set(l, i))];
        const auto next  = i + 1 < P.set.rows ? i + 1 : P.A.periodic ? 0 : i;
        sums[static_cast<std::size_t>(l)] += value;
        sums[static_cast<std::size_t>(P.set.lines() + l)] += value * value;
        if (energy)
          sums[static_cast<std::size_t>(2 * P.set.lines() + l)] +=
            energy(value, result.u[static_cast<std::size_t>(P.set(l, next))], i);
      }
    result.sums.insert(result.sums.end(), sums.begin(), sums.end());
  }
  return result;
}

template <class Scalar>
ribbon::LineStepper<Scalar, Exec> stepper_of(const Problem<Scalar> &P, const std::string &algorithm)
{
  ribbon::LineStepperOptions options;
  options.algorithm = algorithm;
  return {Exec(),
          P.set,
          to_device(P.A),
          to_device(P.B),
          P.D.values.size() ? to_device(P.D) : ribbon::Bands<Scalar, Memory>(),
          options};
}

struct BuiltIn { };

/// Steps with the polynomial of the problem, or with functions.
template <class Scalar, class Function = BuiltIn, class E = ribbon::NoEnergy>
Result<Scalar> computed(const ribbon::LineStepper<Scalar, Exec> &stepper, const Problem<Scalar> &P,
                        const Setting &run, const Function &function = {}, const E &energy = {})
{
  const auto from = upload(P.u), to = run.in_place ? from : upload(P.u), g = upload(P.g);
  const auto sums  = upload(std::vector<Scalar>(
    static_cast<std::size_t>(run.every ? run.steps / run.every * 3 * P.set.lines() : 0), Scalar(7)));
  auto       terms = P.terms;
  if (run.with_g) terms.g = g.data(), terms.g_steps = 2;
  if (run.every) terms.sums = {sums.data(), run.every};
  if constexpr (std::is_same_v<Function, BuiltIn>)
    stepper.step(Exec(), run.steps, from.data(), P.set, to.data(), P.set, terms);
  else
    ribbon::step_with(Exec(), stepper, run.steps, from.data(), P.set, to.data(), P.set, terms, function,
                      energy);
  Kokkos::fence();
  const auto host = [](const auto &view) {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    return std::vector<Scalar>(mirror.data(), mirror.data() + mirror.size());
  };
  return {host(to), host(sums)};
}

template <class Scalar>
void expect_near(const std::vector<Scalar> &a, const std::vector<Scalar> &b, const char *what)
{
  ASSERT_EQ(a.size(), b.size());
  double error = 0, size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double e = static_cast<double>(ribbon::magnitude(a[k] - b[k]));
    if (!(e <= error)) error = e;
    size = std::max(size, static_cast<double>(ribbon::magnitude(b[k])));
  }
  EXPECT_LE(error, 1000 * static_cast<double>(ribbon::unit_roundoff<Scalar>()) * size) << what;
}

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

constexpr Case cases[] = {{1, 1, -1, false, true},
                          {1, 1, 1, true, true},
                          {2, 2, -1, true, true},
                          {2, 2, 1, false, true},
                          {1, 3, 2, true, true},
                          {2, 3, 3, false, false},
                          {1, 2, -1, false, false},
                          {2, 1, 1, true, false, Lhs::classes},
                          {1, 3, -1, false, false, Lhs::classes}};

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

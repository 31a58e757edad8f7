// SPDX-License-Identifier: BSD-2-Clause
// Compact schemes: observed orders, exactness on polynomials, modified wavenumbers and transfer functions,
// all through LineOperator.
#include <ribbon/compact_scheme.hpp>
#include <ribbon/line_operator.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <functional>

using ribbon::CompactChoice;
using ribbon::LineSet;
using ribbon::Staggered;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using View = Kokkos::View<double *, Exec::memory_space>;
using Line = std::vector<double>;

const double pi = std::acos(-1.0);

CompactChoice choice_of(int derivative, int order, Staggered staggered = Staggered::none)
{
  CompactChoice c;
  c.derivative = derivative, c.order = order, c.staggered = staggered;
  return c;
}

/// All schemes of periodic lines.
std::vector<CompactChoice> all_schemes()
{
  std::vector<CompactChoice> all;
  for (int derivative : {1, 2})
    for (int order : {4, 6, 8, 10}) all.push_back(choice_of(derivative, order));
  for (int derivative : {0, 1})
    for (auto side : {Staggered::forward, Staggered::backward}) all.push_back(choice_of(derivative, 6, side));
  all.push_back(choice_of(0, 6));
  return all;
}

std::string name_of(const CompactChoice &c)
{
  return "derivative " + std::to_string(c.derivative) + ", order " + std::to_string(c.order) +
         (c.staggered == Staggered::forward    ? ", forward"
          : c.staggered == Staggered::backward ? ", backward"
                                               : "") +
         (c.periodic ? ", periodic" : ", ends " + std::to_string(c.ends));
}

/// A^-1 B u on five lines that are multiples of u, interleaved or contiguous, divided by their factors. All
/// lines agree to rounding.
Line apply(const CompactChoice &choice, const Line &u, bool interleaved)
{
  const auto         n     = static_cast<std::int64_t>(u.size());
  const std::int64_t M     = 5;
  const LineSet      set   = interleaved ? LineSet::interleaved(n, M) : LineSet::contiguous(n, M);
  const auto         bands = ribbon::compact_bands(Exec(), ribbon::compact_scheme<double>(choice), n);
  const ribbon::LineOperatorOptions        options;
  const ribbon::LineOperator<double, Exec> op(Exec(), set, bands.A, bands.B, options);
  EXPECT_TRUE(op.report().ok()) << op.report().reason;
  View       at_u("test::u", u.size() * static_cast<std::size_t>(M)), at_y("test::y", at_u.size());
  const auto host = Kokkos::create_mirror_view(at_u);
  for (std::int64_t l = 0; l < M; ++l)
    for (std::int64_t i = 0; i < n; ++i)
      host(static_cast<std::size_t>(set(l, i))) =
        static_cast<double>(1 << l) * u[static_cast<std::size_t>(i)];
  Kokkos::deep_copy(at_u, host);
  op.apply(Exec(), at_u.data(), at_y.data());
  Kokkos::fence();
  const auto y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), at_y);
  Line       result(u.size());
  double     size = 0, apart = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = result[static_cast<std::size_t>(i)] = y(static_cast<std::size_t>(set(0, i)));
    size                                                     = std::max(size, std::abs(value));
    for (std::int64_t l = 1; l < M; ++l)
      apart = std::max(apart, std::abs(y(static_cast<std::size_t>(set(l, i))) / (1 << l) - value));
  }
  EXPECT_LE(apart, 1e-11 * size);
  return result;
}

double largest_difference(const Line &a, const Line &b)
{
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

using Function = std::function<double(double)>;

/// The largest error on n points x = first + h i; half points lie h / 2 further.
double error(CompactChoice choice, std::int64_t n, double first, double h, const Function &f,
             const Function &exact, bool interleaved = true)
{
  Line u, wanted;
  choice.spacing = h;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = first + h * static_cast<double>(i);
    u.push_back(f(choice.staggered == Staggered::backward ? x + h / 2 : x));
    wanted.push_back(exact(choice.staggered == Staggered::forward ? x + h / 2 : x));
  }
  return largest_difference(apply(choice, u, interleaved), wanted);
}

/// exp(sin(k x)) and its derivatives.
double wave(double k, int derivative, double x)
{
  const double f = std::exp(std::sin(k * x)), s = std::sin(k * x), c = std::cos(k * x);
  return derivative == 0 ? f : derivative == 1 ? k * f * c : k * k * f * (c * c - s);
}

/// log2 of errors with h and h / 2.
double observed_order(const CompactChoice &choice, std::int64_t n)
{
  const double k  = choice.periodic ? 1 : 3;
  const auto   at = [&](std::int64_t points) {
    const double h =
      choice.periodic ? 2 * pi / static_cast<double>(points) : 1 / static_cast<double>(points - 1);
    return error(
        choice, points, 0, h, [k](double x) { return wave(k, 0, x); },
        [&](double x) { return wave(k, choice.derivative, x); });
  };
  return std::log2(at(n) / at(choice.periodic ? 2 * n : 2 * n - 1));
}

TEST(CompactScheme, ObservedOrderIsTheOrderOnRings)
{
  for (const auto &choice : all_schemes()) {
    // more points: the smallest errors of order 10 come near to rounding
    const std::int64_t n = choice.derivative == 2 && choice.order == 10 ? 34 : 48;
    EXPECT_NEAR(observed_order(choice, n), choice.order, 0.1) << name_of(choice);
  }
}

TEST(CompactScheme, ObservedOrderOfOpenLinesIsThatOfTheEnds)
{
  for (auto choice : all_schemes()) {
    if (choice.staggered != Staggered::none || choice.derivative == 0) continue;
    choice.periodic = false;
    for (int ends : {3, 4}) {
      choice.ends           = ends;
      const double observed = observed_order(choice, 129);
      EXPECT_GE(observed, ends - 0.1) << name_of(choice);
      EXPECT_LE(observed, ends + 0.35) << name_of(choice);
    }
  }
}

TEST(CompactScheme, IsExactForPolynomialsOnOpenLines)
{
  for (auto choice : all_schemes()) {
    if (choice.staggered != Staggered::none || choice.derivative == 0) continue;
    choice.periodic = false;
    for (int ends : {3, 4})
      for (int degree = 0; degree <= ends + choice.derivative - 1; ++degree)
        for (bool interleaved : {false, true})
          for (std::int64_t n : {7, 8, 23}) {
            choice.ends       = ends;
            const int  d      = choice.derivative;
            const auto power  = [](double x, int p) { return p < 0 ? 0 : std::pow(x, p); };
            const auto factor = d == 1 ? degree : degree * (degree - 1);
            EXPECT_LE(error(
                        choice, n, -1, 2 / static_cast<double>(n - 1),
                        [&](double x) { return power(x, degree); },
                        [&](double x) { return factor * power(x, degree - d); }, interleaved),
                      d == 1 ? 1e-12 : 1e-10)
              << name_of(choice) << ", x^" << degree << ", " << n << " rows";
          }
  }
}

/// Coefficients of the table in docs/methods/line_operators.md.
struct Coefficients {
  double a1, a2, c1, c2, c3;
};
Coefficients coefficients_of(const CompactChoice &c)
{
  if (c.staggered != Staggered::none)
    return c.derivative == 1 ? Coefficients{9. / 62, 0, 63. / 62, 17. / 186, 0}
                             : Coefficients{3. / 10, 0, 3. / 4, 1. / 20, 0};
  if (c.derivative == 0)
    return {c.filter, 0, 15. / 64 + 17 * c.filter / 32, -3. / 32 + 3 * c.filter / 16,
            1. / 64 - c.filter / 32};
  static const Coefficients first[]  = {{1. / 4, 0, 3. / 4, 0, 0},
                                        {1. / 3, 0, 7. / 9, 1. / 36, 0},
                                        {3. / 8, 0, 25. / 32, 1. / 20, -1. / 480},
                                        {1. / 2, 1. / 20, 17. / 24, 101. / 600, 1. / 600}},
                            second[] = {{1. / 10, 0, 6. / 5, 0, 0},
                                        {2. / 11, 0, 12. / 11, 3. / 44, 0},
                                        {9. / 38, 0, 147. / 152, 51. / 380, -23. / 6840},
                                        {334. / 899, 43. / 1798, 1065. / 1798, 519. / 1798, 79. / 16182}};
  return (c.derivative == 1 ? first : second)[c.order / 2 - 2];
}

/// The factor by which a scheme multiplies exp(i t x) with h = 1, results and values at the same points.
std::complex<double> factor_of(const CompactChoice &choice, double t)
{
  const Coefficients c     = coefficients_of(choice);
  const double       below = 1 + 2 * c.a1 * std::cos(t) + 2 * c.a2 * std::cos(2 * t),
               half        = choice.staggered == Staggered::none ? 0 : 0.5;
  const double cs[]        = {c.c1, c.c2, c.c3};
  double       sine = 0, cosine = 0, twice = 0;
  for (int k = 1; k <= 3; ++k) {
    sine += 2 * cs[k - 1] * std::sin((k - half) * t), cosine += 2 * cs[k - 1] * std::cos((k - half) * t);
    twice += 2 * cs[k - 1] * (std::cos(k * t) - 1);
  }
  if (choice.derivative == 1) return {0, sine / below};
  if (choice.derivative == 2) return twice / below;
  return (half > 0 ? cosine : 11. / 16 + 5 * choice.filter / 8 + cosine) / below;
}

TEST(CompactScheme, ModifiedWavenumberIsThatOfTheFormula)
{
  const std::int64_t n = 40;
  for (const auto &choice : all_schemes())
    for (std::int64_t m = 0; m <= n / 2; ++m) {
      const double t     = 2 * pi * static_cast<double>(m) / static_cast<double>(n);
      const double shift = choice.staggered == Staggered::forward    ? 0.5
                           : choice.staggered == Staggered::backward ? -0.5
                                                                     : 0;
      for (double phase : {0.0, pi / 2}) { // cosine and sine
        Line u, wanted;
        for (std::int64_t i = 0; i < n; ++i) {
          const double x = static_cast<double>(i);
          u.push_back(std::cos(t * x - phase));
          wanted.push_back(std::real(factor_of(choice, t) * std::polar(1.0, t * (x + shift) - phase)));
        }
        EXPECT_LE(largest_difference(apply(choice, u, m % 2 == 0), wanted), 1e-12)
          << name_of(choice) << ", mode " << m;
      }
    }
}

TEST(CompactScheme, FilterKeepsConstantsAndRemovesTheGridFrequency)
{
  for (double a : {0.0, 0.3, 0.49}) {
    CompactChoice choice = choice_of(0, 6);
    choice.filter        = a;
    const Line ones(12, 1), zeros(12, 0);
    Line       alternating;
    for (int i = 0; i < 12; ++i) alternating.push_back(i % 2 == 0 ? 1 : -1);
    EXPECT_LE(largest_difference(apply(choice, ones, true), ones), 1e-14);
    EXPECT_LE(largest_difference(apply(choice, alternating, true), zeros), 1e-14);
    choice.periodic = false;
    EXPECT_LE(largest_difference(apply(choice, ones, true), ones), 1e-14);
    const Line open = apply(choice, alternating, false);
    for (std::size_t i = 0; i < 3; ++i) { // values at the ends are copied
      EXPECT_EQ(open[i], alternating[i]);
      EXPECT_EQ(open[11 - i], alternating[11 - i]);
    }
  }
}

TEST(CompactScheme, HalfPointIsAheadOfItsIndex)
{
  for (Staggered side : {Staggered::forward, Staggered::backward}) {
    const auto scheme = ribbon::compact_scheme<double>(choice_of(1, 6, side));
    EXPECT_EQ(scheme.B.lower, side == Staggered::forward ? 1 : 2);
    EXPECT_EQ(scheme.B.upper, side == Staggered::forward ? 2 : 1);
    EXPECT_EQ(scheme.B.interior, (Line{-17. / 186, -63. / 62, 63. / 62, 17. / 186}));
  }
}

std::string refusal(const CompactChoice &choice, std::int64_t rows = 100)
{
  try {
    ribbon::compact_bands(Exec(), ribbon::compact_scheme<float>(choice), rows);
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "";
}

TEST(CompactScheme, RefusalsNameTheChoice)
{
  const std::string begin = "ribbon::compact_scheme: ";
  CompactChoice     c;
  c.derivative = 3;
  EXPECT_EQ(refusal(c), begin + "derivative 3 (0, 1, 2)");
  EXPECT_EQ(refusal(choice_of(1, 5)), begin + "order 5 of a derivative (4, 6, 8, 10)");
  EXPECT_EQ(refusal(choice_of(0, 8)), begin + "order 8 of a filter (6)");
  EXPECT_EQ(refusal(choice_of(1, 8, Staggered::forward)), begin + "order 8 of a staggered scheme (6)");
  EXPECT_EQ(refusal(choice_of(2, 6, Staggered::forward)),
            begin + "no staggered scheme of derivative 2 (0, 1)");
  c = choice_of(1, 6, Staggered::backward), c.periodic = false;
  EXPECT_EQ(refusal(c), begin + "staggered schemes have no end rows for open lines (periodic lines)");
  c = choice_of(0, 6), c.filter = 0.5;
  EXPECT_EQ(refusal(c), begin + "filter 0.5 is not in [0, 1/2)");
  c = CompactChoice(), c.spacing = 0;
  EXPECT_EQ(refusal(c), begin + "spacing 0 is not positive");
  c.spacing = 1e-300;
  EXPECT_EQ(refusal(c), begin + "spacing 1e-300: 1/h^1 is 1e+300 (9.86e-32 to 4.06e+31)");
  c.derivative = 2;
  EXPECT_EQ(refusal(c), begin + "spacing 1e-300: 1/h^2 is inf (9.86e-32 to 4.06e+31)");
  c.spacing = 1e200;
  EXPECT_EQ(refusal(c), begin + "spacing 1e+200: 1/h^2 is 0 (9.86e-32 to 4.06e+31)");
  c.spacing = 1e-15;
  EXPECT_EQ(refusal(c), "");
  c = CompactChoice(), c.ends = 5;
  EXPECT_EQ(refusal(c), begin + "ends of order 5 (3, 4)");
}

TEST(CompactScheme, ShortLinesAreRefusedWithTheLeastNumberOfRows)
{
  for (auto choice : all_schemes())
    for (bool periodic : {true, false}) {
      if (!periodic && choice.staggered != Staggered::none) continue;
      choice.periodic  = periodic;
      const auto least = ribbon::compact_scheme<float>(choice).least_rows;
      EXPECT_EQ(refusal(choice, least), "") << name_of(choice);
      EXPECT_EQ(refusal(choice, least - 1), "ribbon::compact_bands: lines of " + std::to_string(least - 1) +
                                              " rows: the scheme needs at least " + std::to_string(least));
    }
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
#include <bspline.hpp>
#include <model.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace iga;
using Knots = std::vector<double>;

/// Derivative of order m of function i of degree p, by the recursions of Cox and de Boor with 0 / 0 = 0. At
/// a knot it is the limit from the right.
static double reference(const Knots &t, int p, std::size_t i, double x, int m)
{
  if (p == 0) return m == 0 && t[i] <= x && x < t[i + 1] ? 1 : 0;
  const auto   q = static_cast<std::size_t>(p);
  const double l = t[i + q] - t[i], r = t[i + q + 1] - t[i + 1];
  if (m > 0)
    return p * ((l > 0 ? reference(t, p - 1, i, x, m - 1) / l : 0) -
                (r > 0 ? reference(t, p - 1, i + 1, x, m - 1) / r : 0));
  return (l > 0 ? (x - t[i]) / l * reference(t, p - 1, i, x, 0) : 0) +
         (r > 0 ? (t[i + q + 1] - x) / r * reference(t, p - 1, i + 1, x, 0) : 0);
}

/// Compares values with the p + 1 functions from i on. Errors are relative to the largest of them.
static void expect_reference(const Knots &t, int p, std::size_t i, double x, int m, const double *values)
{
  double largest = 0, sum = 0;
  Knots  expected;
  for (int r = 0; r <= p; ++r) {
    expected.push_back(reference(t, p, i + static_cast<std::size_t>(r), x, m));
    largest = std::max(largest, std::abs(expected.back()));
    sum += values[r];
  }
  const double tolerance = 1e-13 * std::max(largest, 1e-300) * p;
  for (int r = 0; r <= p; ++r)
    EXPECT_NEAR(values[r], expected[static_cast<std::size_t>(r)], tolerance)
      << "degree " << p << ", derivative " << m << ", function " << r;
  EXPECT_NEAR(sum, m == 0 ? 1 : 0, (p + 1) * tolerance) << "degree " << p << ", derivative " << m;
}

TEST(BSpline, RandomKnotsAgreeWithTheRecursion)
{
  std::mt19937                           random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int p = 1; p <= max_degree; ++p)
    for (int n = 0; n < 30; ++n) {
      // 2 p + 2 knots, about half of them repeated, around one element
      Knots t{0};
      for (int k = 1; k < 2 * p + 2; ++k)
        t.push_back(t.back() + (k == p + 1 ? 0.1 + uniform(random) : std::max(0.0, uniform(random) - 0.5)));
      LocalKnots<double> local;
      for (int k = 0; k < p; ++k) {
        local.left[k]  = t[static_cast<std::size_t>(p - k)];
        local.right[k] = t[static_cast<std::size_t>(p + 1 + k)];
      }
      // The functions are 0, ..., p. The last one ends at a knot after those of the element.
      t.push_back(t.back() + uniform(random));
      const double x = local.left[0] + uniform(random) * (local.right[0] - local.left[0]);
      const auto   N = evaluate(p, local, x);
      expect_reference(t, p, 0, x, 0, N.value);
      expect_reference(t, p, 0, x, 1, N.first);
      if (p > 1) expect_reference(t, p, 0, x, 2, N.second);
      EXPECT_GE(*std::min_element(N.value, N.value + p + 1), -1e-16);
    }
}

/// The knots of a space as a list, for a periodic space including those of the periods before and after.
/// first: place of the first knot of function 0.
static Knots list_knots(const SplineSpace<double> &space, std::size_t *first)
{
  Knots       t;
  const auto  p = static_cast<std::size_t>(space.degree);
  const Index N = space.elements;
  for (Index e = space.periodic ? -(space.degree + 2) * N : 0;
       e <= (space.periodic ? (space.degree + 2) * N : N); ++e) {
    const bool end = !space.periodic && (e == 0 || e == N);
    for (int k = 0; k < (end ? space.degree + 1 : space.multiplicity_of(e)); ++k)
      t.push_back(space.breakpoint(e));
  }
  // function 0 is the first of element 0: p knots before the last copy of x_0
  *first =
    static_cast<std::size_t>(std::upper_bound(t.begin(), t.end(), space.breakpoint(0)) - t.begin()) - 1 - p;
  return t;
}

static void check_space(const SplineSpace<double> &space)
{
  SCOPED_TRACE(testing::Message() << "degree " << space.degree << ", multiplicity " << space.multiplicity
                                  << ", " << space.elements << " elements, separators " << space.separators
                                  << ", periodic " << space.periodic);
  std::size_t first = 0;
  const Knots t     = list_knots(space, &first);
  const auto  p     = static_cast<std::size_t>(space.degree);
  if (!space.periodic) EXPECT_EQ(space.size(), static_cast<Index>(t.size() - p - 1));
  else EXPECT_EQ(space.size(), std::count_if(t.begin(), t.end(), [](double x) { return x >= 0 && x < 1; }));
  for (Index e = 0; e < space.elements; ++e) {
    const auto   local = space.local_knots(e);
    const auto   i     = first + static_cast<std::size_t>(space.first_function(e));
    const double x     = 0.3 * local.left[0] + 0.7 * local.right[0];
    EXPECT_EQ(local.left[0], space.breakpoint(e));
    EXPECT_EQ(local.right[0], space.breakpoint(e + 1));
    for (std::size_t k = 0; k < 2 * p; ++k)
      EXPECT_EQ(k < p ? local.left[p - 1 - k] : local.right[k - p], t[i + 1 + k]);
    expect_reference(t, space.degree, i, x, 0, evaluate(space.degree, local, x).value);
  }
  for (Index k = 0; k < space.size(); ++k) {
    Index        e    = -1;
    const auto   i    = first + static_cast<std::size_t>(k);
    const double mean = std::accumulate(t.begin() + static_cast<std::ptrdiff_t>(i + 1),
                                        t.begin() + static_cast<std::ptrdiff_t>(i + 1 + p), 0.0) /
                        static_cast<double>(p);
    const double x = space.greville(k, &e);
    EXPECT_NEAR(space.periodic ? std::remainder(x - mean, 1) : x - mean, 0, 1e-14);
    ASSERT_TRUE(e >= 0 && e < space.elements);
    EXPECT_GE(x, space.breakpoint(e) - 1e-14);
    EXPECT_LE(x, space.breakpoint(e + 1) + 1e-14);
    // The function is nonzero there.
    const Index r = ((k - space.first_function(e)) % space.size() + space.size()) % space.size();
    EXPECT_LE(r, space.degree);
  }
}

TEST(SplineSpace, FunctionsKnotsAndAbscissaeAreThoseOfTheKnotVector)
{
  for (const Index elements : {1, 2, 3, 12})
    for (int p : {1, 2, 3, 6})
      for (int multiplicity = 1; multiplicity <= p; ++multiplicity)
        for (const Index separators : {0, 1, 4})
          for (const bool periodic : {false, true}) {
            SplineSpace<double> space;
            space.degree       = p;
            space.multiplicity = multiplicity;
            space.elements     = elements;
            space.separators   = separators;
            space.periodic     = periodic;
            space.breakpoints  = Breakpoints::random;
            if (!periodic || separators == 0 || elements % separators == 0) check_space(space);
          }
}

TEST(SplineSpace, GradedBreakpointsGrowByTheirRatio)
{
  SplineSpace<double> space;
  space.elements    = 50;
  space.breakpoints = Breakpoints::graded;
  space.grading     = 1000;
  for (Index e = 1; e < 50; ++e)
    EXPECT_NEAR((space.breakpoint(e + 1) - space.breakpoint(e)) /
                  (space.breakpoint(e) - space.breakpoint(e - 1)),
                std::pow(1000., 1. / 50), 1e-9);
}

// The coordinates of a circle are splines with the control points as coefficients. Their derivatives along
// the length are known.
TEST(Curve, ArcIsACircleInEverySpace)
{
  const Curve<double> arc{true};
  const double        radius = arc.radius;
  for (int p = 2; p <= max_degree; ++p)
    for (int multiplicity = 1; multiplicity <= p; multiplicity += p - 1) {
      SplineSpace<double> space;
      space.degree       = p;
      space.multiplicity = multiplicity;
      space.elements     = 7;
      space.breakpoints  = Breakpoints::random;
      for (Index e = 0; e < 7; ++e)
        for (double s : {0.0, 0.1, 0.5, 0.8, 1.0}) {
          SCOPED_TRACE(testing::Message() << "degree " << p << ", multiplicity " << multiplicity
                                          << ", element " << e << ", " << s);
          const auto   knots = space.local_knots(e);
          const double t = (1 - s) * knots.left[0] + s * knots.right[0], h = 1e-4;
          const auto   point  = arc.at(p, knots, t);
          double       sum[3] = {0, 0, 0}, x[3] = {0, 0, 0};
          for (int r = 0; r <= p; ++r) {
            double w, wx, wy;
            arc.control(p, knots, r, &w, &wx, &wy);
            const double N[3] = {point.basis.value[r], point.basis.first[r], point.basis.second[r]};
            for (int m = 0; m < 3; ++m) {
              sum[m] += N[m];
              x[m] += wx / w * N[m];
            }
          }
          EXPECT_NEAR(std::hypot(point.x, point.y), radius, 1e-13);
          EXPECT_NEAR(point.length, radius * std::asin(point.y / radius), 1e-7); // asin is inaccurate at 1
          EXPECT_NEAR((arc.at(p, knots, t + h).length - arc.at(p, knots, t - h).length) / (2 * h),
                      point.speed, 1e-7);
          const double partition[3] = {1, 0, 0},
                       circle[3]    = {point.x, -point.y / radius, -point.x / (radius * radius)},
                       tolerance[3] = {1e-13, 1e-11, 1e-9};
          for (int m = 0; m < 3; ++m) {
            EXPECT_NEAR(sum[m], partition[m], tolerance[m]) << "derivative " << m;
            EXPECT_NEAR(x[m], circle[m], tolerance[m]) << "derivative " << m;
          }
        }
    }
}

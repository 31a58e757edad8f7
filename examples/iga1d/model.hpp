// SPDX-License-Identifier: BSD-2-Clause
/// @file model.hpp  The problem: -(a u')' + b u' + c u = f on a curve of length 1, with known solutions;
///   and the curve, a NURBS. No PETSc. Real is float or double.
#pragma once

#include "bspline.hpp"

#include <cmath>

namespace iga {

/// Value and two derivatives of a function at a point.
template <class Real>
struct Jet {
  Real value, first, second;
};

/// Coefficients at a point; da = a'.
template <class Real>
struct Coefficients {
  Real a, da, b, c;
};

enum class Equation { thesis, constant };

/// Boundary conditions u(0) = 0 and a u' + beta u = gamma at 1, or period 1. The exact solution is u = x
/// sin(15 x) cos(24 x + phase) for `thesis`, whose coefficients are sin x, x, -x, and sin(6 pi x) cos(2 pi
/// x + phase) for constant coefficients. It determines f and gamma. Right-hand sides differ in their phase.
template <class Real>
struct Problem {
  Equation equation = Equation::thesis;
  Real     a = 1, b = 0, c = 1; ///< of `constant`
  Real     beta = 0;

  KOKKOS_INLINE_FUNCTION Coefficients<Real> coefficients(Real x) const
  {
    if (equation == Equation::thesis) return {std::sin(x), std::cos(x), x, -x};
    return {a, 0, b, c};
  }

  KOKKOS_INLINE_FUNCTION Jet<Real> exact(Real x, Real phase) const
  {
    const bool thesis = equation == Equation::thesis;
    const Real pi = Real(3.14159265358979323846), k = thesis ? Real(15) : 6 * pi,
               l = thesis ? Real(24) : 2 * pi;
    const Real s = std::sin(k * x), ds = k * std::cos(k * x), t = std::cos(l * x + phase),
               dt = -l * std::sin(l * x + phase);
    const Real g = s * t, dg = ds * t + s * dt, ddg = 2 * ds * dt - (k * k + l * l) * g;
    if (!thesis) return {g, dg, ddg};
    return {x * g, g + x * dg, 2 * dg + x * ddg};
  }

  /// f
  KOKKOS_INLINE_FUNCTION Real source(Real x, Real phase) const
  {
    const Coefficients<Real> k = coefficients(x);
    const Jet<Real>          u = exact(x, phase);
    return -k.a * u.second - k.da * u.first + k.b * u.first + k.c * u.value;
  }

  /// gamma
  KOKKOS_INLINE_FUNCTION Real flux(Real phase) const
  {
    const Jet<Real> u = exact(1, phase);
    return coefficients(1).a * u.first + beta * u.value;
  }
};

/// A line, or a quarter of a circle. The arc is a rational quadratic with weights 1, sqrt(1/2), 1, so that
/// every spline space of degree p >= 2 contains it exactly. Both have length 1. The basis on an arc is R_i
/// = w_i N_i / W with W = sum w_i N_i. Derivatives are along its length.
template <class Real>
struct Curve {
  bool arc = false;

  static constexpr Real radius = Real(0.63661977236758134308); ///< 2 / pi

  struct Point {
    Real              length;       ///< from the beginning of the curve, 0 to 1
    Real              speed;        ///< d length / d parameter
    Real              x = 0, y = 0; ///< coordinates (arc)
    BasisValues<Real> basis;        ///< derivatives with respect to length
  };

  /// The point at parameter t of an element with local knots k.
  KOKKOS_INLINE_FUNCTION Point at(int p, const LocalKnots<Real> &k, Real t) const
  {
    Point point;
    point.basis = evaluate(p, k, t);
    if (arc) rational(p, k, point);
    else {
      point.length = t;
      point.speed  = 1;
    }
    return point;
  }

  /// Weight w, and w times the control point, of function r of the element. Coefficients of a quadratic in
  /// a space of degree p are means of its polar form q over pairs of the function's inner knots: with m1 =
  /// mean t_j and m2 = mean of t_j t_k over pairs, q = Q0 (1 - 2 m1 + m2) + Q1 (2 m1 - 2 m2) + Q2 m2.
  KOKKOS_INLINE_FUNCTION void control(int p, const LocalKnots<Real> &k, int r, Real *w, Real *x,
                                      Real *y) const
  {
    Real sum = 0, pairs = 0;
    for (int j = 0; j < p; ++j) {
      const Real t = k.of_function(p, r, j);
      pairs += sum * t;
      sum += t;
    }
    const Real m1 = sum / Real(p), m2 = 2 * pairs / Real(p * (p - 1)), q0 = 1 - 2 * m1 + m2,
               q1 = Real(0.70710678118654752440) * 2 * (m1 - m2), q2 = m2;
    *w = q0 + q1 + q2;
    *x = radius * (q0 + q1); // the corner of the control polygon is (radius, radius)
    *y = radius * (q1 + q2);
  }

private:
  KOKKOS_INLINE_FUNCTION void rational(int p, const LocalKnots<Real> &k, Point &point) const
  {
    BasisValues<Real> &N = point.basis;
    Jet<Real>          W{0, 0, 0}, X = W, Y = W; // W, W x, W y
    Real               w[max_degree + 1];
    for (int r = 0; r <= p; ++r) {
      Real x, y;
      control(p, k, r, w + r, &x, &y);
      add(W, w[r], N, r);
      add(X, x, N, r);
      add(Y, y, N, r);
    }
    X                       = quotient(X, W);
    Y                       = quotient(Y, W);
    const Real speed        = std::sqrt(X.first * X.first + Y.first * Y.first),
               acceleration = (X.first * X.second + Y.first * Y.second) / speed;
    for (int r = 0; r <= p; ++r) {
      const Jet<Real> R = quotient(Jet<Real>{w[r] * N.value[r], w[r] * N.first[r], w[r] * N.second[r]}, W);
      N.value[r]        = R.value;
      N.first[r]        = R.first / speed;
      N.second[r]       = (R.second - N.first[r] * acceleration) / (speed * speed);
    }
    point.x      = X.value;
    point.y      = Y.value;
    point.length = radius * std::atan2(Y.value, X.value);
    point.speed  = speed;
  }

  static KOKKOS_INLINE_FUNCTION void add(Jet<Real> &sum, Real factor, const BasisValues<Real> &N, int r)
  {
    sum.value += factor * N.value[r];
    sum.first += factor * N.first[r];
    sum.second += factor * N.second[r];
  }

  static KOKKOS_INLINE_FUNCTION Jet<Real> quotient(const Jet<Real> &a, const Jet<Real> &b)
  {
    const Real value = a.value / b.value, first = (a.first - value * b.first) / b.value;
    return {value, first, (a.second - 2 * first * b.first - value * b.second) / b.value};
  }
};

} // namespace iga

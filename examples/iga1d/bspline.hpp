// SPDX-License-Identifier: BSD-2-Clause
/// @file bspline.hpp  B-splines on [0, 1]: the functions with support on an element and their derivatives,
///   and spaces of any continuity. No PETSc. Real is float or double.
///
/// A space of degree p over the breakpoints 0 = x_0 < ... < x_N = 1 has knots t_0 <= t_1 <= ...: breakpoint
/// x_e is repeated m_e times, 1 <= m_e <= p, which leaves continuity C^(p - m_e) there. The support of
/// function i is [t_i, t_(i+p+1)]. If t_s is the last copy of x_e, functions s - p, ..., s have support on
/// element e = [x_e, x_(e+1)].
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace iga {

using Index = std::int64_t;

inline constexpr int max_degree = 10;

/// The 2 p knots on which the functions of one element depend: left[k] = t_(s-k) and right[k] = t_(s+1+k),
/// k < p. left[0] < right[0] are the ends of the element.
template <class Real>
struct LocalKnots {
  Real left[max_degree], right[max_degree];

  /// The k-th, k < p, of the knots t_(i+1), ..., t_(i+p) of function i = s - p + r.
  KOKKOS_INLINE_FUNCTION Real of_function(int p, int r, int k) const
  {
    return k < p - r ? left[p - r - 1 - k] : right[k - p + r];
  }

  /// Greville abscissa of function s - p + r: the mean of its inner knots.
  KOKKOS_INLINE_FUNCTION Real greville(int p, int r) const
  {
    Real sum = 0;
    for (int k = 0; k < p; ++k) sum += of_function(p, r, k);
    return sum / Real(p);
  }
};

/// The p + 1 functions of an element at a point, with two derivatives.
template <class Real>
struct BasisValues {
  Real value[max_degree + 1], first[max_degree + 1], second[max_degree + 1];
};

/// All functions of an element at x, degree by degree in place (the triangular table of de Boor, A
/// Practical Guide to Splines, ch. X):
///   N_(i,d) = (x - t_i) w_i N_(i,d-1) + (t_(i+d+1) - x) w_(i+1) N_(i+1,d-1),
///   its derivative = d (w_i N_(i,d-1) - w_(i+1) N_(i+1,d-1)),   w_i = 1 / (t_(i+d) - t_i).
/// Every knot span in these formulas contains the element, so that no w is infinite. The cost is p^2 / 2
/// divisions, without recursion.
template <class Real>
KOKKOS_INLINE_FUNCTION BasisValues<Real> evaluate(int p, const LocalKnots<Real> &t, Real x)
{
  BasisValues<Real> N;
  N.value[0] = 1;
  N.first[0] = N.second[0] = 0;
  for (int d = 1; d <= p; ++d) {
    Real value = 0, slope = 0, bend = 0; // contributions of the left neighbour
    for (int r = 0; r < d; ++r) {
      const Real w = 1 / (t.right[r] - t.left[d - 1 - r]), a = w * N.value[r], b = Real(d) * w * N.value[r],
                 c = Real(d) * w * N.first[r];
      N.value[r]   = value + (t.right[r] - x) * a;
      N.first[r]   = slope - b;
      N.second[r]  = bend - c;
      value        = (x - t.left[d - 1 - r]) * a;
      slope        = b;
      bend         = c;
    }
    N.value[d]  = value;
    N.first[d]  = slope;
    N.second[d] = bend;
  }
  return N;
}

enum class Breakpoints { uniform, graded, random };

/// A spline space. All its properties are formulas in the index of an element. Kernels receive it by value,
/// and it needs no memory. It is periodic with period 1, or open: the end knots occur p + 1 times, only the
/// first function is nonzero at 0, and only the last one at 1.
template <class Real>
struct SplineSpace {
  int   degree       = 1; ///< p, 1 to max_degree
  int   multiplicity = 1; ///< of breakpoints: C^(p - multiplicity)
  Index elements     = 1; ///< N
  /// a breakpoint is repeated p times (C^0) after every `separators` elements; 0: no such breakpoints. It
  /// divides N if the space is periodic
  Index       separators  = 0;
  bool        periodic    = false;
  Breakpoints breakpoints = Breakpoints::uniform;
  /// for `graded`: length of the last element over that of the first, exponential in between
  Real grading = 100;

  /// x_e. In a periodic space e is any integer. Otherwise breakpoints end at 0 and N.
  KOKKOS_INLINE_FUNCTION Real breakpoint(Index e) const
  {
    if (!periodic) return e <= 0 ? Real(0) : e >= elements ? Real(1) : inner_breakpoint(e);
    const Index turn = (e >= 0 ? e : e - elements + 1) / elements, rest = e - turn * elements;
    return Real(turn) + (rest == 0 ? Real(0) : inner_breakpoint(rest));
  }

  /// m_e
  KOKKOS_INLINE_FUNCTION int multiplicity_of(Index e) const
  {
    return separators > 0 && e % separators == 0 ? degree : multiplicity;
  }

  /// Index of the first function with support on element e, 0 <= e < N. In a periodic space function i is
  /// function i mod size().
  KOKKOS_INLINE_FUNCTION Index first_function(Index e) const
  {
    return e * multiplicity + (separators > 0 ? e / separators * (degree - multiplicity) : 0);
  }

  /// Dimension of the space.
  KOKKOS_INLINE_FUNCTION Index size() const
  {
    return periodic ? first_function(elements) : first_function(elements - 1) + degree + 1;
  }

  KOKKOS_INLINE_FUNCTION LocalKnots<Real> local_knots(Index e) const
  {
    LocalKnots<Real> t;
    Index            l = e, r = e + 1;
    for (int k = 0, copies = 0; k < degree; ++k) {
      t.left[k] = breakpoint(l);
      if (++copies == multiplicity_of(l)) --l, copies = 0;
    }
    for (int k = 0, copies = 0; k < degree; ++k) {
      t.right[k] = breakpoint(r);
      if (++copies == multiplicity_of(r)) ++r, copies = 0;
    }
    return t;
  }

  /// Greville abscissa of function i < size(), and its element. At a breakpoint, up to rounding, this is
  /// the right one of two elements, so that host and device agree.
  KOKKOS_INLINE_FUNCTION Real greville(Index i, Index *element) const
  {
    Index low = 0, high = elements - 1; // searches the last element whose first function is at most i
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (first_function(middle) <= i) low = middle;
      else high = middle - 1;
    }
    Real x      = local_knots(low).greville(degree, static_cast<int>(i - first_function(low))),
         nearly = Real(16) * (sizeof(Real) == 4 ? Real(1.2e-7) : Real(2.3e-16));
    while (breakpoint(low) > x + nearly) --low;
    for (; low < 0; low += elements) x += 1; // in a periodic space
    *element = low;
    return x;
  }

private:
  KOKKOS_INLINE_FUNCTION Real inner_breakpoint(Index e) const
  {
    const Real s = Real(e) / Real(elements);
    switch (breakpoints) {
    case Breakpoints::uniform:
      return s;
    case Breakpoints::graded:
      return grading == 1 ? s : (std::pow(grading, s) - 1) / (grading - 1);
    case Breakpoints::random:
      break; // moved by up to 0.4 of the uniform spacing, by a hash of e
    }
    std::uint64_t h = static_cast<std::uint64_t>(e) * 0x9e3779b97f4a7c15u; // splitmix64
    h               = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h               = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return s + (Real((h >> 40) & 0xffffff) / Real(1 << 24) - Real(0.5)) * Real(0.8) / Real(elements);
  }
};

} // namespace iga

// SPDX-License-Identifier: BSD-2-Clause
/// @file assembly.hpp  Kernels without PETSc that compute matrices and right-hand sides in place, in the
///   order of a list of coordinates, and errors.
#pragma once

#include "model.hpp"

namespace iga {

/// Gauss-Legendre quadrature on [0, 1].
template <class Real>
struct Quadrature {
  int  points = 0;
  Real x[max_degree + 2], w[max_degree + 2];
};

/// A problem in a spline space on a curve. Galerkin: items are elements with p + 1 rows each. Collocation:
/// items are functions, each with the row of its Greville abscissa.
template <class Real>
struct Discretization {
  SplineSpace<Real> space;
  Curve<Real>       curve;
  Problem<Real>     problem;
  Quadrature<Real>  gauss; ///< p + 1 points
  bool              collocation = false;

  /// Matrix entries of an item, row by row; entries of a right-hand side.
  int matrix_entries() const
  {
    return collocation ? space.degree + 1 : (space.degree + 1) * (space.degree + 1);
  }
  int vector_entries() const { return collocation ? 1 : space.degree + 1; }
};

/// One kernel computes matrices and right-hand sides of items begin, ..., begin + count - 1. values(k *
/// entries + m) is entry m of the k-th item.
template <class Exec, class Real, class Scalar>
struct GalerkinKernel {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Table  = Kokkos::View<Real **, Kokkos::LayoutRight, typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Discretization<Real>                                d;
  Index                                               begin, count;
  bool                                                matrix; // otherwise the right-hand side with this phase
  Real                                                phase;
  Kokkos::View<Scalar *, typename Exec::memory_space> values;
  int                                                 batch; // elements of a team

  // A row of the table belongs to one (element, point). It has the values and derivatives of the p + 1
  // functions, then the factors of N_i' N_j', N_i N_j', N_i N_j and N_i.
  KOKKOS_FUNCTION int columns() const { return 2 * (d.space.degree + 1) + 4; }

  KOKKOS_FUNCTION void operator()(const Member &team) const
  {
    const int   p = d.space.degree, n = p + 1, points = d.gauss.points;
    const Index first = static_cast<Index>(team.league_rank()) * batch;
    const int   mine  = static_cast<int>(count - first < batch ? count - first : batch);
    const Table table(team.team_scratch(0), batch * points, columns());
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, mine * points),
                         [&](int k) { tabulate(table, k, begin + first + k / points, k % points); });
    team.team_barrier();
    const int entries = matrix ? n * n : n;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, mine * entries), [&](int k) {
      const int   m = k % entries, i = matrix ? m / n : m, j = m % n, row = k / entries * points;
      const Index e   = begin + first + k / entries;
      Real        sum = 0;
      for (int q = row; q < row + points; ++q) {
        if (matrix)
          sum += table(q, n + j) * (table(q, 2 * n) * table(q, n + i) + table(q, 2 * n + 1) * table(q, i)) +
                 table(q, 2 * n + 2) * table(q, i) * table(q, j);
        else sum += table(q, 2 * n + 3) * table(q, i);
      }
      if (!d.space.periodic && e == d.space.elements - 1 && i == p && j == p)
        sum += matrix ? d.problem.beta : d.problem.flux(phase);
      values(first * entries + k) = Scalar(sum);
    });
  }

  // One thread per element and point.
  KOKKOS_FUNCTION void tabulate(const Table &table, int row, Index e, int q) const
  {
    const int                p = d.space.degree, n = p + 1;
    const LocalKnots<Real>   t      = d.space.local_knots(e);
    const Real               length = t.right[0] - t.left[0];
    const auto               point  = d.curve.at(p, t, t.left[0] + d.gauss.x[q] * length);
    const Coefficients<Real> k      = d.problem.coefficients(point.length);
    const Real               w      = d.gauss.w[q] * length * point.speed;
    for (int r = 0; r < n; ++r) {
      table(row, r)     = point.basis.value[r];
      table(row, n + r) = point.basis.first[r];
    }
    table(row, 2 * n)     = w * k.a;
    table(row, 2 * n + 1) = w * k.b;
    table(row, 2 * n + 2) = w * k.c;
    table(row, 2 * n + 3) = matrix ? Real(0) : w * d.problem.source(point.length, phase);
  }
};

/// The same for collocation: one thread per row. The last row of an open space is the condition at 1.
template <class Exec, class Real, class Scalar>
struct CollocationKernel {
  Discretization<Real>                                d;
  Index                                               begin;
  bool                                                matrix;
  Real                                                phase;
  Kokkos::View<Scalar *, typename Exec::memory_space> values;

  KOKKOS_FUNCTION void operator()(Index k) const
  {
    const int                p = d.space.degree;
    Index                    e;
    const Real               t    = d.space.greville(begin + k, &e);
    const bool               last = !d.space.periodic && begin + k == d.space.size() - 1;
    const auto               at   = d.curve.at(p, d.space.local_knots(e), t);
    const BasisValues<Real> &N    = at.basis;
    const Coefficients<Real> c    = d.problem.coefficients(at.length);
    if (!matrix) {
      values(k) = Scalar(last ? d.problem.flux(phase) : d.problem.source(at.length, phase));
      return;
    }
    for (int j = 0; j <= p; ++j)
      values(k * (p + 1) + j) =
        Scalar(last ? c.a * N.first[j] + d.problem.beta * N.value[j]
                    : -c.a * N.second[j] + (c.b - c.da) * N.first[j] + c.c * N.value[j]);
  }
};

/// Computes entries of the matrix, or of the right-hand side with this phase, for `count` items from
/// `begin` on.
template <class Exec, class Real, class Scalar>
void assemble(const Exec &exec, const Discretization<Real> &d, Index begin, Index count, bool matrix,
              Real phase, const Kokkos::View<Scalar *, typename Exec::memory_space> &values)
{
  if (count == 0) return;
  if (d.collocation) {
    Kokkos::parallel_for("iga1d::collocation",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, count),
                         CollocationKernel<Exec, Real, Scalar>{d, begin, matrix, phase, values});
  } else {
    // 128 points or slightly more, at most 27 KB of scratch
    const int                                batch = (128 + d.space.degree) / (d.space.degree + 1);
    const GalerkinKernel<Exec, Real, Scalar> kernel{d, begin, count, matrix, phase, values, batch};
    Kokkos::TeamPolicy<Exec> policy(exec, static_cast<int>((count + batch - 1) / batch), Kokkos::AUTO);
    const auto               bytes = GalerkinKernel<Exec, Real, Scalar>::Table::shmem_size(
                    static_cast<std::size_t>(batch * d.gauss.points), static_cast<std::size_t>(kernel.columns()));
    Kokkos::parallel_for("iga1d::galerkin",
                         policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes))), kernel);
  }
}

/// Integrals along the curve of |u_h - u|^2, |u_h' - u'|^2, u^2 and u'^2.
template <class Real>
struct Squares {
  Real error = 0, slope_error = 0, u = 0, slope = 0;
};

/// Integrals over `count` elements from `begin` on, with this quadrature. coefficients[i] belongs to
/// function first_function(begin) + i and is on the host.
template <class Real, class Scalar>
Squares<Real> squares(const Discretization<Real> &d, const Quadrature<Real> &gauss, Index begin, Index count,
                      Real phase, const Scalar *coefficients)
{
  Squares<Real> s;
  const auto    element = [&](Index k, Real &error, Real &slope_error, Real &u, Real &slope) {
    const LocalKnots<Real> t = d.space.local_knots(begin + k);
    const Scalar *c = coefficients + (d.space.first_function(begin + k) - d.space.first_function(begin));
    const Real    length = t.right[0] - t.left[0];
    using std::abs; // std::abs, or abs of PETSc's complex numbers
    for (int q = 0; q < gauss.points; ++q) {
      const auto      point = d.curve.at(d.space.degree, t, t.left[0] + gauss.x[q] * length);
      const Jet<Real> exact = d.problem.exact(point.length, phase);
      const Real      w     = gauss.w[q] * length * point.speed;
      Scalar          value = -exact.value, first = -exact.first;
      for (int r = 0; r <= d.space.degree; ++r) {
        value += c[r] * point.basis.value[r];
        first += c[r] * point.basis.first[r];
      }
      error += w * abs(value) * abs(value);
      slope_error += w * abs(first) * abs(first);
      u += w * exact.value * exact.value;
      slope += w * exact.first * exact.first;
    }
  };
  using Host = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_reduce("iga1d::squares", Kokkos::RangePolicy<Host, Kokkos::IndexType<Index>>(0, count),
                          element, s.error, s.slope_error, s.u, s.slope);
  return s;
}

} // namespace iga

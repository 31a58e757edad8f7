// SPDX-License-Identifier: BSD-2-Clause
/// @file kernels.hpp  Kernels without PETSc: products of velocities, their advection, and modes of the
///   pressure.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace ns {

using Index = std::int64_t;

/// Arrays with the points of a rank, one for each component, direction or product.
template <class Scalar, int N>
struct Fields {
  Scalar                 *at[N] = {};
  KOKKOS_FUNCTION Scalar *operator[](int k) const { return at[k]; }
};

template <class Exec>
using Points = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>;

/// flux = -u_c u_d / 2 for (c, d) = xx, xy, xz, yy, yz, zz. Moves 9 values per point.
template <class Exec, class Real>
void products(const Exec &exec, Index points, const Fields<const Real, 3> &u, const Fields<Real, 6> &flux)
{
  Kokkos::parallel_for(
    "navier_stokes::products", Points<Exec>(exec, 0, points), KOKKOS_LAMBDA(Index i) {
      const Real x = u[0][i], y = u[1][i], z = u[2][i], half = Real(-0.5);
      flux[0][i] = half * x * x;
      flux[1][i] = half * x * y;
      flux[2][i] = half * x * z;
      flux[3][i] = half * y * y;
      flux[4][i] = half * y * z;
      flux[5][i] = half * z * z;
    });
}

/// f = -(u . gradient) / 2. Moves 7 values per point.
template <class Exec, class Real>
void advect(const Exec &exec, Index points, const Fields<const Real, 3> &u,
            const Fields<const Real, 3> &gradient, Real *f)
{
  Kokkos::parallel_for(
    "navier_stokes::advect", Points<Exec>(exec, 0, points), KOKKOS_LAMBDA(Index i) {
      f[i] = Real(-0.5) * (u[0][i] * gradient[0][i] + u[1][i] * gradient[1][i] + u[2][i] * gradient[2][i]);
    });
}

/// Copies rows between arrays whose rows have different distances.
template <class Exec, class From, class To>
void copy_rows(const Exec &exec, Index rows, Index length, const From *from, Index from_stride, To *to,
               Index to_stride)
{
  Kokkos::parallel_for(
    "navier_stokes::copy_rows", Points<Exec>(exec, 0, rows), KOKKOS_LAMBDA(Index row) {
      const From *a = from + row * from_stride;
      To         *b = to + row * to_stride;
      for (Index i = 0; i < length; ++i) b[i] = static_cast<To>(a[i]);
    });
}

/// Squares of the absolute values of two symbols, of the staggered derivative and of the interpolation, for
/// the modes along an axis.
template <class Real>
struct Axis {
  const Real *derivative = nullptr, *interpolation = nullptr;
  Index       modes = 0;
};

/// Multiplies modes by `factor` and divides them by the symbol of -div grad, the sum of |d_x i_y i_z|^2 over
/// the directions. Modes with a symbol of zero become zero. The complex mode (i, j, k) is at place i + n_0 (j
/// + n_1 k) of the array.
template <class Exec, class Real>
void divide_modes(const Exec &exec, const Axis<Real> (&axes)[3], Real factor, Real *modes)
{
  using Rows                 = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<Index>>;
  constexpr int    team_size = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace> ? 1 : 128;
  const Axis<Real> x = axes[0], y = axes[1], z = axes[2];
  Kokkos::parallel_for(
    "navier_stokes::divide_modes", Rows(exec, static_cast<int>(y.modes * z.modes), team_size),
    KOKKOS_LAMBDA(const typename Rows::member_type &team) {
      const Index j = team.league_rank() % y.modes, k = team.league_rank() / y.modes;
      const Real  both  = y.interpolation[j] * z.interpolation[k],
                 either = y.derivative[j] * z.interpolation[k] + y.interpolation[j] * z.derivative[k];
      Real *const row   = modes + 2 * x.modes * team.league_rank();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, Index(0), x.modes), [=](Index i) {
        const Real symbol = x.derivative[i] * both + x.interpolation[i] * either,
                   scale  = symbol > 0 ? factor / symbol : Real(0);
        row[2 * i] *= scale;
        row[2 * i + 1] *= scale;
      });
    });
}

} // namespace ns

// SPDX-License-Identifier: BSD-2-Clause
/// @file kernels.hpp  Kernels without PETSc: the explicit part of a time step, and integrals of a state.
///
/// Layout of a state on every rank: element (i, j), 0 <= i < nx, 0 <= j < ny, has index i + nx * j. Planes:
/// points of the plane, periodic in i. Rows j = -2, -1 and ny, ny + 1 belong to the neighbouring ranks, or
/// to the other end of the ring. Batches: point j of problem i.
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace ch {

using Index = std::int64_t;

/// A state with two rows before and two rows after those of this rank.
template <class Real>
struct Field {
  const Real                 *rows = nullptr, *before = nullptr, *after = nullptr;
  KOKKOS_FUNCTION const Real *row(Index j, Index nx, Index ny) const
  {
    return j < 0 ? before + (j + 2) * nx : j < ny ? rows + j * nx : after + (j - ny) * nx;
  }
};

/// (1 + A_x) (1 + A_y) C_next = right-hand side, A_d = alpha d^4 - beta d^2 with d^2 the second difference
/// along direction d (with x alone or y alone: one factor). Two-step form: c = 2/3 dt D, E = 2 C_now -
/// C_last. One-step form: c = dt D, last = now, so that E = C_now.
template <class Real>
struct Scheme {
  Index nx = 0, ny = 0;
  Real  gamma = 1, stabilization = 0;
  Real  c  = 0;         ///< time step times mobility times the coefficient of the method
  Real  hx = 1, hy = 1; ///< spacings
  Real  alpha(Real h) const { return c * gamma / (h * h * h * h); }
  Real  beta(Real h) const { return c * stabilization / (h * h); }
};

constexpr int chunk = 32; ///< rows of a thread, which reads four more

/// Plane: right = (4 C_now - C_last) / 3 + c [lap(E^3 - (1 + S) E) - 2 gamma d_x^2 d_y^2 E / (hx hy)^2] +
/// A_x A_y E. This is the explicit rest of BDF2 for C_t = D lap(C^3 - C - gamma lap C) when
/// A_x + A_y + A_x A_y, applied to C_next - E, is implicit. A thread runs up a column with the last five rows
/// in registers and moves 24 bytes per point.
template <class Exec, class Real>
struct PlaneKernel {
  Index       nx, ny;
  Field<Real> now, last;
  Real       *right;
  Real        ax, bx, ay, by;       ///< alpha and beta of both directions
  Real        gx, gy, mixed, shift; ///< c / hx^2, c / hy^2, 2 c gamma / (hx hy)^2, 1 + S

  PlaneKernel(const Scheme<Real> &s, const Field<Real> &now_, const Field<Real> &last_, Real *right_)
      : nx(s.nx), ny(s.ny), now(now_), last(last_), right(right_), ax(s.alpha(s.hx)), bx(s.beta(s.hx)),
        ay(s.alpha(s.hy)), by(s.beta(s.hy)), gx(s.c / (s.hx * s.hx)), gy(s.c / (s.hy * s.hy)),
        mixed(2 * s.c * s.gamma / (s.hx * s.hx * s.hy * s.hy)), shift(1 + s.stabilization)
  {
  }

  /// Contributions of row k of a column: E^3 - (1 + S) E and its second difference along x; the second
  /// difference of E along x; A_x E; (4 C_now - C_last) / 3.
  struct Row {
    Real g, g_xx, e_xx, a, history;
  };
  KOKKOS_FUNCTION Real nonlinear(Real e) const { return e * (e * e - shift); }
  KOKKOS_FUNCTION Row  row(Index j, const Index (&i)[5]) const
  {
    const Real *u = now.row(j, nx, ny), *v = last.row(j, nx, ny);
    Real        e[5];
    for (int k = 0; k < 5; ++k) e[k] = 2 * u[i[k]] - v[i[k]];
    const Real near = e[1] + e[3], e_xx = near - 2 * e[2];
    Row        r;
    r.g       = nonlinear(e[2]);
    r.g_xx    = nonlinear(e[1]) + nonlinear(e[3]) - 2 * r.g;
    r.e_xx    = e_xx;
    r.a       = ax * (e[0] + e[4] + 6 * e[2] - 4 * near) - bx * e_xx;
    r.history = (4 * u[i[2]] - v[i[2]]) / 3;
    return r;
  }

  KOKKOS_FUNCTION void operator()(Index k) const
  {
    const Index i = k % nx, begin = k / nx * chunk, end = begin + chunk < ny ? begin + chunk : ny;
    const Index at[5] = {i < 2 ? i - 2 + nx : i - 2, i < 1 ? nx - 1 : i - 1, i, i + 1 < nx ? i + 1 : 0,
                         i + 2 < nx ? i + 2 : i + 2 - nx};
    Row r0 = row(begin - 2, at), r1 = row(begin - 1, at), r2 = row(begin, at), r3 = row(begin + 1, at);
    for (Index j = begin; j < end; ++j) {
      const Row  r4   = row(j + 2, at);
      const Real a_yy = r1.a + r3.a - 2 * r2.a, a_4y = r0.a + r4.a + 6 * r2.a - 4 * (r1.a + r3.a);
      right[i + nx * j] = r2.history + gx * r2.g_xx + gy * (r1.g + r3.g - 2 * r2.g) -
                          mixed * (r1.e_xx + r3.e_xx - 2 * r2.e_xx) + ay * a_4y - by * a_yy;
      r0 = r1, r1 = r2, r2 = r3, r3 = r4;
    }
  }
};

template <class Exec, class Real>
void plane_right_hand_side(const Exec &exec, const Scheme<Real> &scheme, const Field<Real> &now,
                           const Field<Real> &last, Real *right)
{
  const Index chunks = (scheme.ny + chunk - 1) / chunk;
  Kokkos::parallel_for("cahn_hilliard::plane",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, scheme.nx * chunks),
                       PlaneKernel<Exec, Real>(scheme, now, last, right));
}

/// Batch of problems with lines along y: right = (4 C_now - C_last) / 3 + c d_y^2 (E^3 - (1 + S) E) / hy^2
/// + c / D f_i w_j, f: forcing of the problem, w: its profile at the new time. There is no error of an
/// approximate factorization.
template <class Exec, class Real>
void batch_right_hand_side(const Exec &exec, const Scheme<Real> &scheme, const Field<Real> &now,
                           const Field<Real> &last, const Real *forcing, const Real *profile, Real *right)
{
  const Index nx = scheme.nx, ny = scheme.ny, chunks = (ny + chunk - 1) / chunk;
  const Real  gy = scheme.c / (scheme.hy * scheme.hy), shift = 1 + scheme.stabilization;
  Kokkos::parallel_for(
    "cahn_hilliard::batch", Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, nx * chunks),
    KOKKOS_LAMBDA(Index k) {
      const Index i = k % nx, begin = k / nx * chunk, end = begin + chunk < ny ? begin + chunk : ny;
      Real        history[2] = {}, g[3] = {};
      for (Index j = begin - 1; j <= end; ++j) {
        const Real u = now.row(j, nx, ny)[i], v = last.row(j, nx, ny)[i], e = 2 * u - v;
        g[0] = g[1], g[1] = g[2], g[2] = e * (e * e - shift);
        history[0] = history[1], history[1] = (4 * u - v) / 3;
        if (j <= begin) continue;
        Real value = history[0] + gy * (g[0] + g[2] - 2 * g[1]);
        if (forcing) value += forcing[i] * profile[j - 1];
        right[i + nx * (j - 1)] = value;
      }
    });
}

/// Sums over the points of a rank: C - mean, (C - mean)^2, and (C^2 - 1)^2 / 4 + gamma / 2 |grad C|^2. The
/// gradient uses forward differences, so that its variation is the second difference.
template <class Real>
struct Sums {
  Real mass = 0, square = 0, energy = 0;
};

template <class Exec, class Real>
Sums<Real> plane_sums(const Exec &exec, const Scheme<Real> &scheme, const Field<Real> &field, Real mean)
{
  const Index nx = scheme.nx, ny = scheme.ny;
  const Real px = scheme.gamma / (2 * scheme.hx * scheme.hx), py = scheme.gamma / (2 * scheme.hy * scheme.hy);
  Sums<Real> sums;
  Kokkos::parallel_reduce(
    "cahn_hilliard::plane_sums", Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, nx * ny),
    KOKKOS_LAMBDA(Index k, Real & mass, Real & square, Real & energy) {
      const Index i = k % nx, j = k / nx;
      const Real *row = field.row(j, nx, ny);
      const Real  u = row[i], ux = row[i + 1 < nx ? i + 1 : 0] - u, uy = field.row(j + 1, nx, ny)[i] - u;
      mass += u - mean;
      square += (u - mean) * (u - mean);
      energy += (u * u - 1) * (u * u - 1) / 4 + px * ux * ux + py * uy * uy;
    },
    sums.mass, sums.square, sums.energy);
  return sums;
}

/// The same for each problem of a batch, with the mean of the problem: out(i, 0) = mass, out(i, 1) =
/// square, out(i, 2) = energy.
template <class Exec, class Real, class In, class Out>
void batch_sums(const Exec &exec, const Scheme<Real> &scheme, const Field<Real> &field, const In &mean,
                const Out &out)
{
  const Index nx = scheme.nx, ny = scheme.ny;
  const Real  py = scheme.gamma / (2 * scheme.hy * scheme.hy);
  Kokkos::parallel_for(
    "cahn_hilliard::batch_sums", Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, nx),
    KOKKOS_LAMBDA(Index i) {
      Real mass = 0, square = 0, energy = 0;
      for (Index j = 0; j < ny; ++j) {
        const Real u = field.row(j, nx, ny)[i], uy = field.row(j + 1, nx, ny)[i] - u;
        mass += u - mean(i);
        square += (u - mean(i)) * (u - mean(i));
        energy += (u * u - 1) * (u * u - 1) / 4 + py * uy * uy;
      }
      out(i, 0) = mass, out(i, 1) = square, out(i, 2) = energy;
    });
}

/// profile_j = factor cos(2 pi (waves j / n - phase)): the forcing of a batch at a given time.
template <class Exec, class Real, class Profile>
void fill_profile(const Exec &exec, Index first, Index n, int waves, Real phase, Real factor,
                  const Profile &profile)
{
  Kokkos::parallel_for(
    "cahn_hilliard::profile",
    Kokkos::RangePolicy<Exec, Kokkos::IndexType<Index>>(exec, 0, static_cast<Index>(profile.extent(0))),
    KOKKOS_LAMBDA(Index j) {
      const Real turns = static_cast<Real>(waves * (first + j) % n) / static_cast<Real>(n) - phase;
      profile(j)       = factor * std::cos(2 * Real(3.14159265358979323846264338327950288L) * turns);
    });
}

} // namespace ch

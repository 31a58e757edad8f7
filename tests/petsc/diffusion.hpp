// SPDX-License-Identifier: BSD-2-Clause
/// @file diffusion.hpp  Time-dependent problems with known solutions. Their differences in space are exact,
///   so that all errors of a TS are errors in time.
#pragma once

#include "fixture.hpp"

#include <ribbon_petsc/tsadi.h>

#include <petscts.h>

#include <cmath>

namespace test {

/// u_t = a lap u + mixed u_xy - v sum_d u_d + growth u - cubic u^3 + s(x, t) on [0, 1]^dim. The solution is
/// u = g(t) (1 + sum_d x_d^2 + sum_{d<e} x_d x_e), for which differences of second order are exact.
struct Diffusion {
  /// Boundary conditions, in this order: u = g; u - u_inside given; u_t = g'; boundary points eliminated;
  /// periodic, with u = g(t).
  enum Boundary { dirichlet, neumann, rates, eliminated, periodic };
  /// imex: diffusion in the IFunction, all other terms in the RHSFunction
  enum Form { ifunction, rhsfunction, imex };
  PetscInt  dim = 2, n = 17, components = 1;
  Boundary  boundary = dirichlet;
  Form      form     = ifunction;
  PetscReal a = 0.1, mixed = 0, v = 0, growth = 0, cubic = 0, mass = 1;
  bool      steady = false;
  PetscInt  along  = 3; ///< number of directions with couplings; the others form a batch

  PetscInt  directions() const { return PetscMin(dim, along); }
  PetscReal step() const
  {
    return 1 / static_cast<PetscReal>(boundary == eliminated ? n + 1 : boundary == periodic ? n : n - 1);
  }
  PetscReal place(PetscInt i) const
  {
    return static_cast<PetscReal>(boundary == eliminated ? i + 1 : i) * step();
  }
  PetscReal g(PetscReal t) const { return steady ? 1 : 1 + 0.5 * std::sin(4 * t); }
  PetscReal g_t(PetscReal t) const { return steady ? 0 : 2 * std::cos(4 * t); }
  PetscReal shape(const PetscReal *x) const
  {
    PetscReal sum = 1;
    if (boundary == periodic) return sum;
    for (PetscInt d = 0; d < dim; ++d)
      for (PetscInt e = d; e < dim; ++e) sum += x[d] * x[e];
    return sum;
  }
  /// The source term s for the exact solution.
  PetscReal source(PetscReal t, const PetscReal *x) const
  {
    PetscReal slopes = 0;
    for (PetscInt d = 0; d < directions(); ++d)
      for (PetscInt e = 0; e < dim; ++e) slopes += x[e] * (d == e ? 2 : 1);
    const PetscReal u = g(t) * shape(x), flat = boundary == periodic ? 0 : 1;
    return g_t(t) * shape(x) -
           flat * g(t) * (a * 2 * static_cast<PetscReal>(directions()) + mixed - v * slopes) - growth * u +
           cubic * u * u * u;
  }
};

/// The grid of a problem, and its functions.
struct DiffusionTS {
  Diffusion p;
  DM        da = nullptr;
  TS        ts = nullptr;
  Vec       u = nullptr, exact = nullptr, local = nullptr;
  PetscReal poisoned_after = PETSC_MAX_REAL; ///< functions at later times are NaN
  PetscInt  evaluations    = 0;

  explicit DiffusionTS(const Diffusion &problem, const char *method = "hundsdorfer_verwer",
                       std::vector<PetscInt> processes = {})
      : p(problem)
  {
    const DMBoundaryType b = p.boundary == Diffusion::periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    DMDACreate(PETSC_COMM_WORLD, &da);
    DMSetDimension(da, p.dim);
    DMDASetSizes(da, p.n, p.dim > 1 ? p.n : 1, p.dim > 2 ? p.n : 1);
    DMDASetBoundaryType(da, b, p.dim > 1 ? b : DM_BOUNDARY_NONE, p.dim > 2 ? b : DM_BOUNDARY_NONE);
    DMDASetStencilType(da, p.mixed != 0 ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR);
    DMDASetStencilWidth(da, 1);
    DMDASetDof(da, p.components);
    if (!processes.empty()) {
      processes.resize(3, 1);
      DMDASetNumProcs(da, processes[0], processes[1], processes[2]);
    }
    DMSetFromOptions(da);
    DMSetUp(da);
    DMCreateGlobalVector(da, &u);
    VecDuplicate(u, &exact);
    TSCreate(PETSC_COMM_WORLD, &ts);
    TSSetDM(ts, da);
    TSSetType(ts, TSADI);
    PetscEnum type;
    PetscBool found;
    PetscEnumFind(TSADITypes, method, &type, &found);
    TSADISetType(ts, (TSADIType)type);
    if (p.form != Diffusion::rhsfunction) TSSetIFunction(ts, nullptr, i_function, this);
    if (p.form != Diffusion::ifunction) TSSetRHSFunction(ts, nullptr, rhs_function, this);
    fill(0, u);
    TSSetSolution(ts, u);
    TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP);
    TSSetFromOptions(ts);
  }
  DiffusionTS(const DiffusionTS &)            = delete;
  DiffusionTS &operator=(const DiffusionTS &) = delete;
  ~DiffusionTS()
  {
    TSDestroy(&ts);
    VecDestroy(&u), VecDestroy(&exact), VecDestroy(&local);
    DMDestroy(&da);
  }

  void fixed(PetscReal dt, PetscReal end)
  {
    TSAdapt adapt;
    TSGetAdapt(ts, &adapt);
    TSAdaptSetType(adapt, TSADAPTNONE);
    TSSetTimeStep(ts, dt);
    TSSetMaxTime(ts, end);
    TSSetMaxSteps(ts, 100000);
  }
  /// Error at the end of a run with this step: the largest one, or the root of the mean square.
  PetscReal error(NormType type = NORM_INFINITY)
  {
    PetscReal t, norm, nodes;
    PetscInt  size;
    TSGetSolveTime(ts, &t);
    fill(t, exact);
    VecAXPY(exact, -1, u);
    VecNorm(exact, type, &norm);
    VecGetSize(u, &size);
    nodes = type == NORM_2 ? std::sqrt(static_cast<PetscReal>(size)) : 1;
    return norm / nodes;
  }

  /// The exact solution.
  void fill(PetscReal t, Vec to) const
  {
    walk([&](const PetscInt *at, const PetscReal *x,
             PetscScalar *value) { value[0] = p.g(t) * p.shape(x), (void)at; },
         to);
  }

  /// Calls f with the indices, the coordinates and the entry of every unknown of `to`.
  template <class F>
  void walk(const F &f, Vec to) const
  {
    PetscInt     begin[3], size[3];
    PetscScalar *v;
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    VecGetArray(to, &v);
    PetscScalar *entry = v;
    for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
      for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
        for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i)
          for (PetscInt c = 0; c < p.components; ++c, ++entry) {
            const PetscInt  at[4] = {i, j, k, c};
            const PetscReal x[3]  = {p.place(i), p.place(j), p.place(k)};
            f(at, x, entry);
          }
    VecRestoreArray(to, &v);
  }

private:
  /// Reads u by indices. Outside of an eliminated boundary it returns the boundary value.
  struct Reader {
    const DiffusionTS &of;
    PetscReal          t;
    PetscInt           begin[3], size[3];
    const PetscScalar *v;
    PetscScalar        operator()(const PetscInt *at, PetscInt dx, PetscInt dy, PetscInt dz) const
    {
      const PetscInt to[3] = {at[0] + dx, at[1] + dy, at[2] + dz};
      bool           in    = true;
      for (PetscInt d = 0; d < of.p.dim; ++d) in = in && to[d] >= 0 && to[d] < of.p.n;
      if (of.p.boundary == Diffusion::eliminated && !in) {
        const PetscReal x[3] = {of.p.place(to[0]), of.p.place(to[1]), of.p.place(to[2])};
        return of.p.g(t) * of.p.shape(x);
      }
      return v[(((to[2] - begin[2]) * size[1] + to[1] - begin[1]) * size[0] + to[0] - begin[0]) *
                 of.p.components +
               at[3]];
    }
  };

  /// F (without M U') or G. `implicit` selects diffusion and boundary equations, `rest` all other terms.
  PetscErrorCode evaluate(PetscReal t, Vec U, Vec Udot, bool implicit, bool rest, Vec to)
  {
    const PetscScalar *v, *udot = nullptr;
    Reader             read{*this, t, {0, 0, 0}, {1, 1, 1}, nullptr};
    PetscFunctionBegin;
    ++evaluations;
    // Kept, because a local vector from the DM costs an allocation each time.
    if (!local) PetscCall(DMCreateLocalVector(da, &local));
    PetscCall(DMGlobalToLocalBegin(da, U, INSERT_VALUES, local));
    PetscCall(DMGlobalToLocalEnd(da, U, INSERT_VALUES, local));
    PetscCall(DMDAGetGhostCorners(da, &read.begin[0], &read.begin[1], &read.begin[2], &read.size[0],
                                  &read.size[1], &read.size[2]));
    PetscCall(VecGetArrayRead(local, &v));
    if (Udot) PetscCall(VecGetArrayRead(Udot, &udot));
    read.v            = v;
    std::size_t entry = 0;
    walk(
      [&](const PetscInt *at, const PetscReal *x, PetscScalar *value) {
        const PetscScalar rate = udot ? udot[entry++] : PetscScalar(0), here = read(at, 0, 0, 0);
        PetscInt          inside[3] = {0, 0, 0};
        bool              on_edge   = false;
        // Corners belong to an edge.
        for (PetscInt d = 0; d < p.directions() && !on_edge; ++d)
          inside[d] = at[d] == 0 ? 1 : at[d] == p.n - 1 ? -1 : 0, on_edge = inside[d] != 0;
        if (on_edge && p.boundary <= Diffusion::rates) {
          PetscReal beside[3];
          for (int d = 0; d < 3; ++d) beside[d] = x[d] + static_cast<PetscReal>(inside[d]) * p.step();
          PetscScalar equation = here - p.g(t) * p.shape(x);
          if (p.boundary == Diffusion::neumann)
            equation -= read(at, inside[0], inside[1], inside[2]) - p.g(t) * p.shape(beside);
          if (p.boundary == Diffusion::rates) equation = rate - p.g_t(t) * p.shape(x);
          if (implicit) value[0] = udot ? equation : -equation;
          else value[0] = 0;
          return;
        }
        PetscScalar     G = 0;
        const PetscReal h = p.step();
        for (PetscInt d = 0; d < p.directions(); ++d) {
          const PetscScalar right = read(at, d == 0, d == 1, d == 2),
                            left  = read(at, -(d == 0), -(d == 1), -(d == 2));
          if (implicit) G += p.a * (right - 2. * here + left) / (h * h);
          if (rest) G -= p.v * (right - left) / (2 * h);
        }
        if (rest && p.mixed != 0)
          G += p.mixed * (read(at, 1, 1, 0) - read(at, 1, -1, 0) - read(at, -1, 1, 0) + read(at, -1, -1, 0)) /
               (4 * h * h);
        if (rest) G += p.growth * here - p.cubic * here * here * here + p.source(t, x);
        if (t > poisoned_after) G = std::nan("");
        value[0] = udot ? p.mass * (rate - G) : G;
      },
      to);
    if (Udot) PetscCall(VecRestoreArrayRead(Udot, &udot));
    PetscCall(VecRestoreArrayRead(local, &v));
    PetscFunctionReturn(PetscErrorCode(0));
  }

public:
  static PetscErrorCode i_function(TS, PetscReal t, Vec U, Vec Udot, Vec F, void *ctx)
  {
    auto *self = static_cast<DiffusionTS *>(ctx);
    return self->evaluate(t, U, Udot, true, self->p.form == Diffusion::ifunction, F);
  }
  static PetscErrorCode rhs_function(TS, PetscReal t, Vec U, Vec G, void *ctx)
  {
    auto *self = static_cast<DiffusionTS *>(ctx);
    return self->evaluate(t, U, nullptr, self->p.form == Diffusion::rhsfunction, true, G);
  }
};

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
#include "measure.hpp"

#include <Kokkos_Core.hpp>
#include <petsctime.h>

// Waits for devices. *fastest becomes the minimum of itself and the seconds since *since. *since becomes
// the current time.
static PetscErrorCode Lap(PetscLogDouble *since, PetscLogDouble *fastest)
{
  PetscLogDouble now;

  PetscFunctionBeginUser;
  PetscCallCXX(Kokkos::fence());
  PetscCall(PetscTime(&now));
  if (fastest) *fastest = PetscMin(*fastest, now - *since);
  *since = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The exact solution of the heat equation is g(t) r.
static PetscReal G(PetscReal t)
{
  return PetscCosReal(2 * PETSC_PI * t);
}
static PetscReal DerivativeOfG(PetscReal t)
{
  return -2 * PETSC_PI * PetscSinReal(2 * PETSC_PI * t);
}

// One solve with the load b.
static PetscErrorCode Stationary(const Run &run, const Grid &grid, Vec b, Vec u, Result *result)
{
  System         system;
  Solver         solver;
  PetscLogDouble time;

  PetscFunctionBeginUser;
  system.assembled = run.assembled || run.problem == ELLIPTIC;
  if (run.problem == ELLIPTIC) system.stiffness = 1, system.variation = run.variation;
  PetscCall(Lap(&time, NULL));
  PetscCall(SolverCreate(grid, system, true, &solver));
  PetscCall(Lap(&time, &result->setup));
  PetscCall(VecSet(u, 0));
  PetscCall(SolverApply(solver, b, u));
  PetscCall(Lap(&time, &result->solve));
  result->iterations = static_cast<PetscReal>(solver.iterations);
  PetscCall(SolverDestroy(&solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Crank-Nicolson steps from the projection of r at t = 0. A_- and A_+ are the mass plus tau/2 times the
// (negative) stiffness, or their factored forms:
//   A_+ u_(n+1) = A_- u_n + tau l(t_n + tau/2),   l = g' (r, .) + g (grad r, grad .)
static PetscErrorCode Heat(const Run &run, const Grid &grid, PetscInt steps, Vec b, Vec u, Result *result)
{
  const PetscReal tau = run.time / static_cast<PetscReal>(steps);
  Vec             b_stiffness, rhs;
  System          mass, next, last;
  Solver          projection, forward, backward;
  PetscLogDouble  time;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &b_stiffness));
  PetscCall(VecDuplicate(b, &rhs));
  PetscCall(Load(grid, 0, 1, 0, b_stiffness));
  PetscCall(SolverCreate(grid, mass, true, &projection));
  PetscCall(SolverApply(projection, b, u));
  PetscCall(SolverDestroy(&projection));
  next.assembled = last.assembled = run.assembled;
  next.stiffness                  = tau / 2;
  last.stiffness                  = -tau / 2;
  PetscCall(Lap(&time, NULL));
  PetscCall(SolverCreate(grid, next, true, &forward));
  PetscCall(SolverCreate(grid, last, false, &backward));
  PetscCall(Lap(&time, &result->setup));
  for (PetscInt n = 0; n < steps; n++) {
    const PetscReal middle = (static_cast<PetscReal>(n) + PetscReal(0.5)) * tau;
    PetscCall(SolverApply(backward, u, rhs));
    PetscCall(VecAXPBYPCZ(rhs, tau * DerivativeOfG(middle), tau * G(middle), 1, b, b_stiffness));
    PetscCall(SolverApply(forward, rhs, u));
  }
  PetscCall(Lap(&time, &result->solve));
  result->iterations = static_cast<PetscReal>(forward.iterations) / static_cast<PetscReal>(steps);
  PetscCall(SolverDestroy(&forward));
  PetscCall(SolverDestroy(&backward));
  PetscCall(VecDestroy(&b_stiffness));
  PetscCall(VecDestroy(&rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Measure(const Run &run, PetscInt degree, PetscInt elements, PetscInt steps, Result *result)
{
  PetscInt each[3];
  Grid     grid;
  Vec      b, u;

  PetscFunctionBeginUser;
  for (int d = 0; d < run.dim; d++) each[d] = run.aspect[d] * elements;
  PetscCall(GridCreate(static_cast<int>(run.dim), degree, each, &grid));
  PetscCall(GridVector(grid, grid.unknowns, &b));
  PetscCall(VecDuplicate(b, &u));
  PetscCall(Load(grid, 1, run.problem == ELLIPTIC ? 1 : 0, run.variation, b));
  *result          = {};
  result->unknowns = grid.unknowns;
  for (PetscInt n = 0; n < run.repeat; n++) {
    if (run.problem == HEAT) PetscCall(Heat(run, grid, steps, b, u, result));
    else PetscCall(Stationary(run, grid, b, u, result));
  }
  PetscCall(Errors(grid, u, run.problem == HEAT ? G(run.time) : 1, run.field, &result->l2, &result->h1));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

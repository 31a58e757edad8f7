// SPDX-License-Identifier: BSD-2-Clause
/// @file linear_problem.hpp  M U' = J U along one direction of a grid, for TS adi.
#pragma once

#include "fixture.hpp"

#include <ribbon_petsc/tsadi.h>

#include <petscts.h>

#include <cmath>

namespace test {

/// Diffusion (width 1) or hyperdiffusion (width 2) along one direction; the other one is a batch.
struct LinearProblem {
  std::vector<PetscInt> n        = {40, 12};
  int                   along    = 0;
  PetscInt              width    = 1;
  bool                  periodic = false;
  PetscReal             strength = 3; ///< of the smallest couplings
  /// of the IFunction M U' - J U; 0: an RHSFunction J U and M = I
  enum Mass { none, diagonal, banded } mass = none;
  bool own_function                         = false; ///< the RHSFunction is one of the application
};

/// A TS with fixed steps.
struct LinearTS {
  LinearProblem p;
  Grid          grid;
  Mat           J = nullptr, M = nullptr;
  Vec           u           = nullptr;
  TS            ts          = nullptr;
  PetscInt      evaluations = 0;
  PetscScalar   added       = 0; ///< to the functions of the application: an equation with another term

  LinearTS(const LinearProblem &problem, TSADIType type, PetscInt fuse, std::vector<PetscInt> processes = {})
      : p(problem), grid(p.n, strengths(p), 0, p.periodic, std::move(processes), false, p.width)
  {
    TSAdapt adapt;
    MatDuplicate(grid.A, MAT_COPY_VALUES, &J);
    MatScale(J, -1);
    if (p.mass != LinearProblem::none) make_mass();
    DMCreateGlobalVector(grid.da, &u);
    start();
    TSCreate(PETSC_COMM_WORLD, &ts);
    TSSetDM(ts, grid.da);
    TSSetType(ts, TSADI);
    TSADISetType(ts, type);
    TSADISetFuseSteps(ts, fuse);
    TSSetProblemType(ts, TS_LINEAR);
    if (p.mass != LinearProblem::none) {
      Mat shifted;
      MatDuplicate(J, MAT_COPY_VALUES, &shifted);
      TSSetIFunction(ts, nullptr, i_function, this);
      TSSetIJacobian(ts, shifted, shifted, i_jacobian, this);
      MatDestroy(&shifted);
      TSADISetConstantLinear(ts, PETSC_TRUE);
    } else {
      if (p.own_function) TSSetRHSFunction(ts, nullptr, rhs_function, this);
      else TSSetRHSFunction(ts, nullptr, TSComputeRHSFunctionLinear, nullptr);
      TSSetRHSJacobian(ts, J, J, TSComputeRHSJacobianConstant, nullptr);
    }
    TSGetAdapt(ts, &adapt);
    TSAdaptSetType(adapt, TSADAPTNONE);
    TSSetSolution(ts, u);
    TSSetTimeStep(ts, 0.125);
    TSSetMaxTime(ts, 1.25);
    TSSetMaxSteps(ts, 1000);
    TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP);
    TSSetFromOptions(ts);
  }
  LinearTS(const LinearTS &)            = delete;
  LinearTS &operator=(const LinearTS &) = delete;
  ~LinearTS()
  {
    TSDestroy(&ts);
    VecDestroy(&u);
    MatDestroy(&J);
    MatDestroy(&M);
  }

  /// Initial values that differ from row to row.
  void start() const
  {
    PetscInt     begin, end;
    PetscScalar *v;
    VecGetOwnershipRange(u, &begin, &end);
    VecGetArray(u, &v);
    for (PetscInt r = begin; r < end; ++r) v[r - begin] = 1 + std::sin(static_cast<PetscReal>(7 * r % 101));
    VecRestoreArray(u, &v);
  }
  PetscInt steps() const
  {
    PetscInt k;
    TSGetStepNumber(ts, &k);
    return k;
  }
  PetscReal time() const
  {
    PetscReal t;
    TSGetTime(ts, &t);
    return t;
  }
  std::string view() const
  {
    return printed([this](PetscViewer viewer) { TSView(ts, viewer); });
  }

private:
  static std::vector<PetscReal> strengths(const LinearProblem &p)
  {
    std::vector<PetscReal> s(p.n.size(), 0);
    s[static_cast<std::size_t>(p.along)] = p.strength;
    return s;
  }
  /// The identity times row numbers, or 2/3 I - J / 18 / strength: finite elements.
  void make_mass()
  {
    if (p.mass == LinearProblem::banded) {
      MatDuplicate(grid.A, MAT_COPY_VALUES, &M);
      MatScale(M, -1 / (6 * p.strength));
      MatShift(M, 1);
      return;
    }
    Vec          d;
    PetscInt     begin, end;
    PetscScalar *v;
    MatDuplicate(grid.A, MAT_COPY_VALUES, &M);
    MatZeroEntries(M);
    DMCreateGlobalVector(grid.da, &d);
    VecGetOwnershipRange(d, &begin, &end);
    VecGetArray(d, &v);
    for (PetscInt r = begin; r < end; ++r) v[r - begin] = 1 + static_cast<PetscReal>(r % p.n[0] % 5) / 4;
    VecRestoreArray(d, &v);
    MatDiagonalSet(M, d, INSERT_VALUES);
    VecDestroy(&d);
  }
  static PetscErrorCode rhs_function(TS, PetscReal, Vec U, Vec G, void *ctx)
  {
    auto *self = static_cast<LinearTS *>(ctx);
    PetscFunctionBeginUser;
    ++self->evaluations;
    PetscCall(MatMult(self->J, U, G));
    PetscCall(VecShift(G, self->added));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  static PetscErrorCode i_function(TS, PetscReal, Vec U, Vec Udot, Vec F, void *ctx)
  {
    auto *self = static_cast<LinearTS *>(ctx);
    PetscFunctionBeginUser;
    ++self->evaluations;
    PetscCall(MatMult(self->J, U, F));
    PetscCall(VecScale(F, -1));
    PetscCall(MatMultAdd(self->M, Udot, F, F));
    PetscCall(VecShift(F, self->added));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  static PetscErrorCode i_jacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat A, Mat, void *ctx)
  {
    auto *self = static_cast<LinearTS *>(ctx);
    PetscFunctionBeginUser;
    PetscCall(MatCopy(self->J, A, SAME_NONZERO_PATTERN));
    PetscCall(MatScale(A, -1));
    PetscCall(MatAXPY(A, shift, self->M, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PetscErrorCode(0));
  }
};

/// max |a - b| / max |b|.
inline PetscReal distance(Vec a, Vec b)
{
  Vec       d;
  PetscReal norm = -1, size = 1;
  VecDuplicate(b, &d);
  VecWAXPY(d, -1, b, a);
  VecNorm(d, NORM_INFINITY, &norm);
  VecNorm(b, NORM_INFINITY, &size);
  VecDestroy(&d);
  return norm / size;
}

} // namespace test

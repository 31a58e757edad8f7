// SPDX-License-Identifier: BSD-2-Clause
// TS adi: orders on problems with known solutions, boundedness, what its steps do when they fail.
#include "diffusion.hpp"

using namespace test;

namespace {

class TSADIOrder : public Petsc { };
class TSADISteps : public Petsc { };

PetscReal error_with(const Diffusion &problem, const char *method, PetscReal dt)
{
  DiffusionTS run(problem, method);
  run.fixed(dt, 0.5);
  EXPECT_EQ(static_cast<int>(TSSolve(run.ts, run.u)), 0) << last_error();
  return run.error();
}

/// The order in the maximum norm between two step sizes is at least `order`, less a little.
void expect_order(const Diffusion &problem, const char *method, PetscReal order)
{
  const PetscReal coarse = error_with(problem, method, 0.025), fine = error_with(problem, method, 0.0125);
  EXPECT_GT(std::log2(coarse / fine), order - 0.2) << method << ": " << coarse << " " << fine;
}

TEST_F(TSADIOrder, TimeDependentDirichletRows) // one rank
{
  const Diffusion plane;
  for (const char *method : {"hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas", "peaceman_rachford"}) expect_order(plane, method, 2);
  expect_order(plane, "ra34pw2", 3);
}

TEST_F(TSADIOrder, ThreeDirectionsAndOne) // one rank
{
  Diffusion cube, line;
  cube.dim = 3, cube.n = 7;
  line.dim = 1, line.n = 33;
  for (const char *method : {"hundsdorfer_verwer", "douglas"}) {
    expect_order(cube, method, 2);
    expect_order(line, method, 2);
  }
}

TEST_F(TSADIOrder, BoundaryRowsThatAreRates) // one rank
{
  Diffusion plane;
  plane.boundary = Diffusion::rates, plane.form = Diffusion::rhsfunction;
  for (const char *method : {"hundsdorfer_verwer", "modified_craig_sneyd", "douglas"}) expect_order(plane, method, 2);
}

TEST_F(TSADIOrder, MixedDerivative) // one rank
{
  Diffusion plane;
  plane.mixed = 0.1;
  for (const char *method : {"hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd"}) expect_order(plane, method, 2);
}

TEST_F(TSADIOrder, ExplicitAdvectionAndReaction) // one rank
{
  Diffusion plane;
  plane.form = Diffusion::imex, plane.v = 0.2, plane.cubic = 1, plane.growth = 1;
  expect_order(plane, "hundsdorfer_verwer", 2);
  expect_order(plane, "ra34pw2", 3);
  expect_order(plane, "douglas", 1);
}

TEST_F(TSADISteps, BoundedFarBeyondTheExplicitStep) // one rank
{
  Diffusion plane;
  plane.steady = true, plane.n = 33;
  for (const char *method : {"hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas", "peaceman_rachford", "ra34pw2"}) {
    DiffusionTS     run(plane, method);
    const PetscReal h = plane.step(), dt = 1e4 * h * h / (4 * plane.a);
    run.walk([](const PetscInt *at, const PetscReal *, PetscScalar *v) { v[0] += (at[0] * 7 + at[1] * 13) % 5 - 2; }, run.u);
    run.fixed(dt, 50 * dt);
    OK(TSSolve(run.ts, run.u));
    EXPECT_LT(run.error(), 50) << method;
  }
}

TEST_F(TSADISteps, AdaptsToTolerance) // one rank
{
  PetscReal errors[2];
  for (int k = 0; k < 2; ++k) {
    DiffusionTS run(Diffusion{}, "hundsdorfer_verwer");
    TSSetTimeStep(run.ts, 1e-3);
    TSSetMaxTime(run.ts, 0.5);
    TSSetMaxSteps(run.ts, 100000);
    TSSetTolerances(run.ts, k ? 1e-6 : 1e-4, nullptr, k ? 1e-6 : 1e-4, nullptr);
    OK(TSSolve(run.ts, run.u));
    errors[k] = run.error();
  }
  EXPECT_LT(errors[0], 1e-2);
  EXPECT_LT(errors[1], errors[0] / 10);
}

TEST_F(TSADISteps, RollsBackInterpolatesAndIsUsedAgain) // one rank
{
  DiffusionTS run(Diffusion{}, "hundsdorfer_verwer");
  Vec         middle;
  PetscReal   before, after;
  OK(VecDuplicate(run.u, &middle));
  run.fixed(0.0125, 1);
  OK(TSStep(run.ts));
  OK(TSStep(run.ts));
  OK(TSInterpolate(run.ts, 0.01875, middle));
  OK(VecNorm(run.u, NORM_2, &before));
  run.fill(0.01875, run.exact);
  OK(VecAXPY(middle, -1, run.exact));
  OK(VecNorm(middle, NORM_INFINITY, &after));
  EXPECT_LT(after, 1e-2);
  OK(TSRollBack(run.ts));
  OK(TSStep(run.ts));
  OK(VecNorm(run.u, NORM_2, &after));
  EXPECT_NEAR(before, after, 1e-12 * before);
  OK(TSReset(run.ts));
  run.fill(0, run.u);
  OK(TSSetSolution(run.ts, run.u));
  OK(TSSetTime(run.ts, 0));
  OK(TSSetStepNumber(run.ts, 0));
  run.fixed(0.0125, 0.1);
  OK(TSSolve(run.ts, run.u));
  EXPECT_LT(run.error(), 1e-2);
  OK(VecDestroy(&middle));
}

PetscErrorCode never(TS, PetscReal t, Vec, PetscBool *accept)
{
  *accept = t > 0 ? PETSC_FALSE : PETSC_TRUE;
  return PetscErrorCode(0);
}

TEST_F(TSADISteps, DomainErrorsRejectSteps) // one rank
{
  DiffusionTS       run(Diffusion{}, "hundsdorfer_verwer");
  TSConvergedReason reason;
  PetscInt          rejected;
  run.fixed(0.0125, 0.1);
  OK(TSSetFunctionDomainError(run.ts, never));
  OK(TSSetErrorIfStepFails(run.ts, PETSC_FALSE));
  OK(TSSolve(run.ts, run.u));
  OK(TSGetConvergedReason(run.ts, &reason));
  OK(TSGetStepRejections(run.ts, &rejected));
  EXPECT_EQ(reason, TS_DIVERGED_STEP_REJECTED);
  EXPECT_GT(rejected, 0);
}

} // namespace

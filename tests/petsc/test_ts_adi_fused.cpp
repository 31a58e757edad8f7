// SPDX-License-Identifier: BSD-2-Clause
// TS adi: the results of fused steps equal those of ordinary steps.
#include "allocations.hpp"
#include "fused_steps.hpp"

using namespace test;

/// Ten steps are one call, and give the values of ten ordinary steps.
TEST_F(TSADIFused, ARunIsOneCall)
{
  for (PetscInt width : {1, 2})
    for (bool periodic : {false, true})
      for (int along : {0, 1}) {
        LinearProblem p;
        p.width = width, p.periodic = periodic, p.along = along;
        p.n = along ? std::vector<PetscInt>{12, 40} : std::vector<PetscInt>{40, 12};
        for (TSADIType type : {TS_ADI_DOUGLAS, TS_ADI_CRAIG_SNEYD}) expect_same(p, type, ranks, -1, 1, solve);
        expect_same(p, TS_ADI_DOUGLAS, ranks, -1, 1, [](LinearTS &run) {
          TSADISetTheta(run.ts, 1);
          return solve(run);
        });
      }
}

/// Masses of an IFunction, and components of a grid point.
TEST_F(TSADIFused, MassesAndFunctionsOfTheApplication)
{
  LinearProblem p;
  for (auto mass : {LinearProblem::diagonal, LinearProblem::banded}) {
    p.mass = mass;
    expect_same(p, TS_ADI_DOUGLAS, ranks, -1, 1, solve);
  }
  p.mass = LinearProblem::none, p.own_function = true;
  for (PetscInt width : {1, 2}) {
    p.width = width;
    LinearTS own(p, TS_ADI_DOUGLAS, -1, whole(p, ranks));
    OK(solve(own));
    EXPECT_TRUE(contains(own.view(), "steps are not fused: the problem is not known to be linear"));
    EXPECT_EQ(own.evaluations, 10);
    expect_same(p, TS_ADI_DOUGLAS, ranks, -1, 1, [](LinearTS &run) {
      TSADISetConstantLinear(run.ts, PETSC_TRUE);
      return solve(run);
    });
    LinearTS said(p, TS_ADI_DOUGLAS, 5, whole(p, ranks));
    OK(TSADISetConstantLinear(said.ts, PETSC_TRUE));
    OK(solve(said));
    EXPECT_EQ(said.evaluations, 1); // of the comparison with the Jacobian
  }
}

namespace {

/// Ten steps of U' = J U, where J has a DMDA or none.
void ten_steps(Mat J, DM da, PetscInt fuse, Vec u, std::string *view)
{
  TS      ts;
  TSAdapt adapt;
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  if (da) {
    OK(TSSetDM(ts, da));
  }
  OK(TSSetType(ts, TSADI));
  OK(TSADISetType(ts, TS_ADI_DOUGLAS));
  OK(TSADISetFuseSteps(ts, fuse));
  OK(TSSetRHSFunction(ts, nullptr, TSComputeRHSFunctionLinear, nullptr));
  OK(TSSetRHSJacobian(ts, J, J, TSComputeRHSJacobianConstant, nullptr));
  OK(TSGetAdapt(ts, &adapt));
  OK(TSAdaptSetType(adapt, TSADAPTNONE));
  OK(TSSetTimeStep(ts, 0.125));
  OK(TSSetMaxSteps(ts, 10));
  OK(TSSetFromOptions(ts));
  OK(TSSolve(ts, u));
  *view = printed([ts](PetscViewer viewer) { TSView(ts, viewer); });
  OK(TSDestroy(&ts));
}

/// Expects the values of ordinary steps from fused ones.
void expect_same_steps(Mat J, DM da)
{
  Vec         u[2];
  std::string view;
  for (int k = 0; k < 2; ++k) {
    PetscInt     begin, end;
    PetscScalar *v;
    OK(MatCreateVecs(J, &u[k], nullptr));
    OK(VecGetOwnershipRange(u[k], &begin, &end));
    OK(VecGetArray(u[k], &v));
    for (PetscInt r = begin; r < end; ++r) v[r - begin] = std::cos(static_cast<PetscReal>(5 * r % 89));
    OK(VecRestoreArray(u[k], &v));
    ten_steps(J, da, k ? -1 : 0, u[k], &view);
  }
  EXPECT_TRUE(contains(view, "steps are fused: up to 10 in a call")) << view;
  EXPECT_LT(distance(u[1], u[0]), 2000 * PETSC_MACHINE_EPSILON);
  for (Vec &v : u) OK(VecDestroy(&v));
}

} // namespace

/// Lines of a matrix without a DM, of a grid in one dimension, of two components, and lines that differ.
TEST_F(TSADIFused, OtherLines) // one rank
{
  for (PetscInt rows : {15, 60}) { // four lines, one line
    const auto together = [rows](PetscInt r, PetscInt c) {
      return std::abs(r - c) <= 1 && r / rows == c / rows;
    };
    for (bool differ : {false, true}) {
      Mat J = matrix(
        60,
        [&](PetscInt r, PetscInt c) {
          return (r == c ? -2. : 1.) * (differ ? 1 + static_cast<PetscReal>(r / 15) : 1);
        },
        together);
      expect_same_steps(J, nullptr);
      OK(MatDestroy(&J));
    }
  }
  const Grid line({50}, {-3}, 0);
  expect_same_steps(line.A, line.da);
  DM  da;
  Mat J;
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 20, 6, 1, 1, 2, 1,
                  nullptr, nullptr, &da));
  OK(DMSetFromOptions(da));
  OK(DMSetUp(da));
  OK(DMCreateMatrix(da, &J));
  for (PetscInt k = 0; k < 20 * 6 * 2; ++k) {
    const MatStencil row = {0, k / 40, k / 2 % 20, k % 2};
    for (PetscInt step = -1; step <= 1; ++step) {
      MatStencil        column = row;
      const PetscScalar v      = (step == 0 ? -2. : 1.) * static_cast<PetscReal>(1 + k % 2);
      column.i += step;
      if (column.i < 0 || column.i >= 20) continue;
      OK(MatSetValuesStencil(J, 1, &row, 1, &column, &v, INSERT_VALUES));
    }
  }
  OK(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  expect_same_steps(J, da);
  OK(MatDestroy(&J));
  OK(DMDestroy(&da));
}

namespace {

/// Four runs: the Jacobian, the step and theta change between them.
PetscErrorCode solve_again(LinearTS &run)
{
  PetscFunctionBeginUser;
  PetscCall(TSSolve(run.ts, run.u));
  PetscCall(MatScale(run.J, PetscReal(0.5)));
  for (int k = 2; k < 5; ++k) {
    PetscCall(TSSetMaxTime(run.ts, PetscReal(1.25) * k));
    if (k == 3) PetscCall(TSSetTimeStep(run.ts, PetscReal(0.25)));
    if (k == 4) PetscCall(TSADISetTheta(run.ts, PetscReal(0.75)));
    PetscCall(TSSolve(run.ts, run.u));
  }
  PetscFunctionReturn(PetscErrorCode(0));
}

} // namespace

TEST_F(TSADIFused, RunsThatContinue)
{
  expect_same({}, TS_ADI_DOUGLAS, ranks, -1, 4, solve_again);
  // an application changes its Jacobian between two runs
  LinearProblem own;
  own.own_function = true;
  expect_same(own, TS_ADI_DOUGLAS, ranks, -1, 4, [](LinearTS &run) {
    TSADISetConstantLinear(run.ts, PETSC_TRUE);
    return solve_again(run);
  });
}

TEST_F(TSADIFused, StartsOfRannacherAreOrdinarySteps) // one rank
{
  expect_same({}, TS_ADI_DOUGLAS, ranks, -1, 1, [](LinearTS &run) {
    TSADISetRannacher(run.ts, 2);
    return solve(run);
  });
}

/// TSStep() of an application is one step. Solutions between two steps, and rolled back steps, are those of
/// ordinary steps.
TEST_F(TSADIFused, InterpolatesAndRollsBack)
{
  for (TSADIType type : {TS_ADI_DOUGLAS, TS_ADI_CRAIG_SNEYD})
    for (int calls : {0, 1, 2}) { // of TSStep(), after a run
      Vec       found[2][4];
      LinearTS *runs[2];
      LinearTS  ordinary({}, type, 0, {1, ranks}), fused({}, type, -1, {1, ranks});
      runs[0] = &ordinary, runs[1] = &fused;
      for (int k = 0; k < 2; ++k) {
        LinearTS &run = *runs[k];
        Vec      *stages;
        PetscInt  count, steps;
        for (Vec &v : found[k]) OK(VecDuplicate(run.u, &v));
        OK(solve(run));
        OK(TSSetMaxTime(run.ts, 2));
        for (int c = 0; c < calls; ++c) OK(TSStep(run.ts));
        steps                = run.steps();
        const PetscReal time = run.time();
        EXPECT_EQ(steps, 10 + calls);
        OK(TSInterpolate(run.ts, time - PetscReal(0.03125), found[k][0]));
        OK(TSGetStages(run.ts, &count, &stages));
        OK(VecCopy(stages[0], found[k][1]));
        OK(VecCopy(stages[count - 1], found[k][2]));
        OK(TSRollBack(run.ts));
        OK(VecCopy(run.u, found[k][3]));
        EXPECT_EQ(run.steps(), steps - 1);
        EXPECT_EQ(run.time(), time - PetscReal(0.125));
      }
      for (int v = 0; v < 4; ++v) {
        EXPECT_LT(distance(found[1][v], found[0][v]), 2000 * PETSC_MACHINE_EPSILON) << v << " " << calls;
        for (int k = 0; k < 2; ++k) OK(VecDestroy(&found[k][v]));
      }
    }
}

/// Values that are not finite end a run as step by step: with the same reason, time and number of steps.
TEST_F(TSADIFused, ValuesThatAreNotFinite)
{
  const auto run = [](LinearTS &of, bool grows) {
    PetscFunctionBeginUser;
    PetscCall(TSSetErrorIfStepFails(of.ts, PETSC_FALSE));
    if (grows) { // by a factor of 2000 in every step
      PetscCall(MatZeroEntries(of.J));
      PetscCall(MatShift(of.J, 16 * (1 - PetscReal(1e-3))));
      PetscCall(VecScale(of.u, PETSC_MAX_REAL / PetscReal(1e14)));
    } else PetscCall(VecSetValue(of.u, 7, PETSC_INFINITY, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(of.u));
    PetscCall(VecAssemblyEnd(of.u));
    PetscCall(TSSolve(of.ts, of.u));
    PetscFunctionReturn(PetscErrorCode(0));
  };
  for (bool grows : {false, true}) {
    LinearTS          ordinary({}, TS_ADI_DOUGLAS, 0, {1, ranks}), fused({}, TS_ADI_DOUGLAS, -1, {1, ranks});
    TSConvergedReason reasons[2];
    PetscReal         before[2];
    OK(run(ordinary, grows));
    OK(run(fused, grows));
    OK(TSGetConvergedReason(ordinary.ts, &reasons[0]));
    OK(TSGetConvergedReason(fused.ts, &reasons[1]));
    OK(TSGetPrevTime(ordinary.ts, &before[0]));
    OK(TSGetPrevTime(fused.ts, &before[1]));
    EXPECT_EQ(reasons[0], TS_DIVERGED_NONLINEAR_SOLVE);
    EXPECT_EQ(reasons[1], reasons[0]);
    EXPECT_EQ(fused.time(), ordinary.time());
    EXPECT_EQ(fused.steps(), ordinary.steps());
    EXPECT_EQ(before[1], before[0]);
    if (grows) {
      EXPECT_GT(fused.steps(), 2);
      EXPECT_EQ(distance(fused.u, ordinary.u), 0);
    }
  }
}

/// A step whose A cannot be factored fails like an ordinary step.
TEST_F(TSADIFused, FactorsThatFail)
{
  LinearTS          ordinary({}, TS_ADI_DOUGLAS, 0, {1, ranks}), fused({}, TS_ADI_DOUGLAS, -1, {1, ranks});
  TSConvergedReason reasons[2];
  LinearTS         *runs[2] = {&ordinary, &fused};
  for (int k = 0; k < 2; ++k) { // I - h J / 2 = 0
    OK(MatZeroEntries(runs[k]->J));
    OK(MatShift(runs[k]->J, 16));
    OK(TSSetErrorIfStepFails(runs[k]->ts, PETSC_FALSE));
    OK(solve(*runs[k]));
    OK(TSGetConvergedReason(runs[k]->ts, &reasons[k]));
  }
  EXPECT_EQ(reasons[0], TS_DIVERGED_NONLINEAR_SOLVE);
  EXPECT_EQ(reasons[1], reasons[0]);
}

/// After the first run a step allocates nothing.
TEST_F(TSADIFused, ACallAllocatesNothing)
{
  for (PetscInt fuse : {1, 5}) {
    LinearTS run({}, TS_ADI_DOUGLAS, fuse, {1, ranks});
    OK(TSSetExactFinalTime(run.ts, TS_EXACTFINALTIME_STEPOVER));
    OK(solve(run));
    OK(TSSetMaxTime(run.ts, 10));
    for (int k = 0; k < 2; ++k) OK(TSStep(run.ts));
    EXPECT_EQ(allocations_of([&] {
                for (int k = 0; k < 3; ++k) OK(TSStep(run.ts));
              }),
              0)
      << allocations();
    OK(TSSetMaxTime(run.ts, 4));
    EXPECT_EQ(allocations_of([&] { OK(TSSolve(run.ts, run.u)); }), 0) << allocations();
  }
}

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
/// A run on a device copies nothing between host and device after its first step.
TEST_F(TSADIFused, ADeviceCallCrossesTheBusZeroTimes) // one rank
{
  LinearTS run({}, TS_ADI_DOUGLAS, -1);
  OK(solve(run));
  if (!is_on_device(run.u)) GTEST_SKIP() << "host vectors";
  const PetscLogDouble up = petsc_ctog_ct, down = petsc_gtoc_ct;
  OK(TSSetMaxTime(run.ts, 5));
  OK(solve(run));
  EXPECT_EQ(run.steps(), 40);
  EXPECT_EQ(petsc_ctog_ct, up);
  EXPECT_EQ(petsc_gtoc_ct, down);
}
#endif

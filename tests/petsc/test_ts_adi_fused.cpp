// SPDX-License-Identifier: BSD-2-Clause
// TS adi: fused steps of linear problems with a constant Jacobian.
#include "allocations.hpp"
#include "linear_problem.hpp"

using namespace test;

namespace {

class TSADIFused : public Petsc {
  const WithoutPhases real;
};

/// Counts calls of LineStepper while it lives: each ends with a test of the values.
class Launches {
public:
  Launches()
  {
    count() = 0;
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(
      [](const char *label, std::uint32_t, std::uint64_t *) {
        if (std::string(label) == "ribbon::steps::finite") ++count();
      });
  }
  ~Launches() { Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr); }
  Launches(const Launches &)              = delete;
  Launches   &operator=(const Launches &) = delete;
  static int &count()
  {
    static int calls = 0;
    return calls;
  }
};

/// Lines of one rank.
std::vector<PetscInt> whole(const LinearProblem &p, PetscMPIInt ranks)
{
  return p.along == 0 ? std::vector<PetscInt>{1, ranks} : std::vector<PetscInt>{ranks, 1};
}

/// Runs a problem with ordinary steps and with fused ones, and expects the same results.
void expect_same(const LinearProblem &p, TSADIType type, PetscMPIInt ranks, PetscInt fuse, int launches,
                 const std::function<PetscErrorCode(LinearTS &)> &run)
{
  const PetscReal   tolerance = 2000 * PETSC_MACHINE_EPSILON;
  LinearTS          ordinary(p, type, 0, whole(p, ranks)), fused(p, type, fuse, whole(p, ranks));
  TSConvergedReason reasons[2];
  PetscReal         before[2], size[2];
  PetscInt          solves[2];
  OK(run(ordinary));
  EXPECT_TRUE(contains(ordinary.view(), "steps are not fused: -ts_adi_fuse_steps is 0"));
  {
    const Launches counted;
    OK(run(fused));
    EXPECT_EQ(Launches::count(), launches) << fused.view();
  }
  EXPECT_TRUE(contains(fused.view(), "steps are fused: up to ")) << fused.view();
  EXPECT_LT(distance(fused.u, ordinary.u), tolerance) << TSADITypes[type];
  EXPECT_EQ(fused.steps(), ordinary.steps());
  EXPECT_EQ(fused.time(), ordinary.time()); // exactly
  const LinearTS *both[2] = {&ordinary, &fused};
  for (int k = 0; k < 2; ++k) {
    OK(TSGetConvergedReason(both[k]->ts, &reasons[k]));
    OK(TSGetPrevTime(both[k]->ts, &before[k]));
    OK(TSGetTimeStep(both[k]->ts, &size[k]));
    OK(TSGetKSPIterations(both[k]->ts, &solves[k]));
  }
  EXPECT_EQ(reasons[0], reasons[1]);
  EXPECT_EQ(before[0], before[1]);
  EXPECT_EQ(size[0], size[1]);
  EXPECT_EQ(solves[0], (type == TS_ADI_DOUGLAS ? 1 : 2) * solves[1]); // of an ordinary step: 1, or 2
}

PetscErrorCode solve(LinearTS &run)
{
  return TSSolve(run.ts, run.u);
}

} // namespace

/// Ten steps are one launch, and give the values of ten ordinary steps.
TEST_F(TSADIFused, ARunIsOneLaunch)
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

/// -ts_adi_fuse_steps is the largest number of steps of a launch.
TEST_F(TSADIFused, LaunchesOfSomeSteps) // one rank
{
  expect_same({}, TS_ADI_DOUGLAS, ranks, 1, 10, solve);
  expect_same({}, TS_ADI_DOUGLAS, ranks, 4, 3, solve);
  expect_same({}, TS_ADI_DOUGLAS, ranks, 100, 1, [](LinearTS &run) {
    TSSetMaxSteps(run.ts, 7);
    return solve(run);
  });
}

/// Runs whose last step has another size, ends after the final time, or is interpolated.
TEST_F(TSADIFused, RunsEndAsStepByStep) // one rank
{
  const auto ends = [](TSExactFinalTimeOption option) {
    return [option](LinearTS &run) {
      TSSetMaxTime(run.ts, PetscReal(1.3));
      TSSetExactFinalTime(run.ts, option);
      return solve(run);
    };
  };
  expect_same({}, TS_ADI_DOUGLAS, ranks, -1, 1, ends(TS_EXACTFINALTIME_MATCHSTEP)); // two ordinary steps
  expect_same({}, TS_ADI_DOUGLAS, ranks, -1, 1, ends(TS_EXACTFINALTIME_STEPOVER));
  expect_same({}, TS_ADI_DOUGLAS, ranks, -1, 3, ends(TS_EXACTFINALTIME_INTERPOLATE));
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

namespace {

PetscErrorCode watch(TS, PetscInt, PetscReal, Vec, void *seen)
{
  ++*static_cast<int *>(seen);
  return PetscErrorCode(0);
}
PetscErrorCode nothing(TS)
{
  return PetscErrorCode(0);
}
PetscErrorCode nothing_at(TS, PetscReal)
{
  return PetscErrorCode(0);
}
PetscErrorCode nothing_after(TS, PetscReal, PetscInt, Vec *)
{
  return PetscErrorCode(0);
}
PetscErrorCode distance_to_event(TS, PetscReal t, Vec, PetscScalar *value, void *)
{
  value[0] = t - PetscReal(0.7);
  return PetscErrorCode(0);
}

} // namespace

/// With someone who looks between the steps, every step is a launch.
TEST_F(TSADIFused, WhoLooksGetsEveryStep) // one rank
{
  int        seen  = 0;
  const auto check = [&](const char *who, int launches, const std::function<PetscErrorCode(TS)> &set) {
    LinearTS run({}, TS_ADI_DOUGLAS, -1, {1, ranks}), strict({}, TS_ADI_DOUGLAS, 10, {1, ranks});
    OK(set(run.ts));
    {
      const Launches counted;
      OK(solve(run));
      EXPECT_EQ(Launches::count(), launches) << who;
    }
    EXPECT_TRUE(contains(run.view(), std::string("one step in a call: there ") + who)) << run.view();
    OK(set(strict.ts));
    EXPECT_NE(static_cast<int>(solve(strict)), 0) << who;
    EXPECT_EQ(last_error(),
              std::string("TS adi: -ts_adi_fuse_steps 10: a call takes one step only: there ") + who);
  };
  check("is a monitor", 10, [&](TS ts) { return TSMonitorSet(ts, watch, &seen, nullptr); });
  EXPECT_EQ(seen, 12); // the other run ends with its first step
  check("is a function of TSSetPreStep()", 10, [](TS ts) { return TSSetPreStep(ts, nothing); });
  check("is a function of TSSetPostStep()", 10, [](TS ts) { return TSSetPostStep(ts, nothing); });
  check("is a function of TSSetPostEvaluate()", 10, [](TS ts) { return TSSetPostEvaluate(ts, nothing); });
  check("is a trajectory", 10, [](TS ts) {
    TSTrajectory trajectory;
    PetscFunctionBeginUser;
    PetscCall(TSSetSaveTrajectory(ts));
    PetscCall(TSGetTrajectory(ts, &trajectory));
    PetscCall(TSTrajectorySetType(trajectory, ts, TSTRAJECTORYMEMORY));
    PetscFunctionReturn(PetscErrorCode(0));
  });
}

/// Functions of stages see every stage, so that steps are ordinary.
TEST_F(TSADIFused, FunctionsOfStagesGetOrdinarySteps) // one rank
{
  for (int k = 0; k < 2; ++k) {
    LinearTS   run({}, TS_ADI_DOUGLAS, -1, {1, ranks});
    const auto set = [k](TS ts) {
      return k ? TSSetPostStage(ts, nothing_after) : TSSetPreStage(ts, nothing_at);
    };
    OK(set(run.ts));
    OK(solve(run));
    EXPECT_TRUE(
      contains(run.view(), "not fused: there is a function of TSSetPreStage() or TSSetPostStage()"));
    OK(TSADISetFuseSteps(run.ts, 1));
    OK(TSSetMaxTime(run.ts, 2));
    EXPECT_NE(static_cast<int>(solve(run)), 0);
    EXPECT_EQ(last_error(), "TS adi: -ts_adi_fuse_steps 1: steps cannot be fused: there is a function of "
                            "TSSetPreStage() or TSSetPostStage()");
  }
}

/// An event is found at its time, by steps that are rolled back.
TEST_F(TSADIFused, Events) // one rank
{
  const auto run = [](LinearTS &of) {
    PetscInt  direction = 0;
    PetscBool terminate = PETSC_TRUE;
    PetscFunctionBeginUser;
    PetscCall(TSSetEventHandler(of.ts, 1, &direction, &terminate, distance_to_event, nullptr, nullptr));
    PetscCall(TSSolve(of.ts, of.u));
    PetscFunctionReturn(PetscErrorCode(0));
  };
  LinearTS ordinary({}, TS_ADI_DOUGLAS, 0, {1, ranks}), fused({}, TS_ADI_DOUGLAS, -1, {1, ranks});
  OK(run(ordinary));
  OK(run(fused));
  EXPECT_LT(distance(fused.u, ordinary.u), 2000 * PETSC_MACHINE_EPSILON);
  EXPECT_EQ(fused.time(), ordinary.time());
  EXPECT_EQ(fused.steps(), ordinary.steps());
  EXPECT_NEAR(static_cast<double>(fused.time()), 0.7, 1e-5);
  EXPECT_TRUE(contains(fused.view(), "one step in a call: there are events")) << fused.view();
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

/// TSSolve() stores the solution at chosen times, and launches end there.
TEST_F(TSADIFused, EvaluationTimes) // one rank
{
  PetscReal times[] = {0, PetscReal(0.25), PetscReal(0.6), PetscReal(1.25)};
  Vec       stored[2][4];
  LinearTS  ordinary({}, TS_ADI_DOUGLAS, 0, {1, ranks}), fused({}, TS_ADI_DOUGLAS, -1, {1, ranks});
  LinearTS *runs[2] = {&ordinary, &fused};
  for (int k = 0; k < 2; ++k) {
    Vec     *at;
    PetscInt count;
#if PETSC_VERSION_LT(3, 23, 0)
    OK(TSSetTimeSpan(runs[k]->ts, 4, times));
    OK(solve(*runs[k]));
    OK(TSGetTimeSpanSolutions(runs[k]->ts, &count, &at));
#else
    const PetscReal *reached;
    OK(TSSetEvaluationTimes(runs[k]->ts, 4, times));
    OK(solve(*runs[k]));
    OK(TSGetEvaluationSolutions(runs[k]->ts, &count, &reached, &at));
#endif
    ASSERT_EQ(count, 4);
    for (int v = 0; v < 4; ++v) stored[k][v] = at[v];
  }
  for (int v = 0; v < 4; ++v)
    EXPECT_LT(distance(stored[1][v], stored[0][v]), 2000 * PETSC_MACHINE_EPSILON) << v;
  EXPECT_EQ(fused.steps(), ordinary.steps());
  EXPECT_EQ(fused.time(), ordinary.time());
  EXPECT_TRUE(contains(fused.view(), "steps are fused: up to ")) << fused.view();
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

/// A problem with another term is an error, not a wrong solution.
TEST_F(TSADIFused, ComparesTheFunctionWithTheJacobian) // one rank
{
  for (int k = 0; k < 3; ++k) {
    LinearProblem p;
    p.own_function = true, p.mass = k == 1 ? LinearProblem::diagonal : LinearProblem::none;
    LinearTS run(p, TS_ADI_DOUGLAS, -1, {1, ranks});
    OK(TSADISetConstantLinear(run.ts, PETSC_TRUE));
    run.added = 1;
    if (k == 2) {
      OK(VecZeroEntries(run.u));
    }
    EXPECT_NE(static_cast<int>(solve(run)), 0);
    EXPECT_TRUE(contains(last_error(),
                         "TSADISetConstantLinear: at time 0. the function differs by 1. from the "
                         "Jacobian times the solution"))
      << last_error();
  }
}

/// The reasons why a problem has no fused steps.
TEST_F(TSADIFused, Reasons)
{
  const auto check = [&](const char *reason, TSADIType type, const LinearProblem &p,
                         std::vector<PetscInt> processes, const char *options,
                         const std::function<PetscErrorCode(LinearTS &)> &set = nullptr) {
    for (PetscInt fuse : {-1, 3}) {
      reset_options(options);
      LinearTS run(p, type, fuse, processes);
      if (set) {
        OK(set(run));
      }
      if (fuse < 0) {
        OK(solve(run)) << reason;
        EXPECT_TRUE(contains(run.view(), std::string("  steps are not fused: ") + reason)) << run.view();
      } else {
        EXPECT_NE(static_cast<int>(solve(run)), 0) << reason;
        EXPECT_TRUE(contains(last_error(),
                             std::string("TS adi: -ts_adi_fuse_steps 3: steps cannot be fused: ") + reason))
          << last_error();
      }
    }
    reset_options();
  };
  const std::vector<PetscInt> whole = {1, ranks};
  LinearProblem               p, both, small;
  check("-ts_adi_type ra34pw2 has more than one solve in a step", TS_ADI_RA34PW2, p, whole, "");
  check("-ts_adi_type craig_sneyd has more", TS_ADI_CRAIG_SNEYD, p, whole, "-ts_adi_theta 0.4");
  check("-ts_adapt_type is not none", TS_ADI_DOUGLAS, p, whole, "-ts_adapt_type basic");
  check("-adi_x_pc_line_algorithm chooses the kernels", TS_ADI_DOUGLAS, p, whole,
        "-adi_x_pc_line_algorithm thomas");
  check("-adi_x_pc_line_lhs chooses the kernels", TS_ADI_DOUGLAS, p, whole, "-adi_x_pc_line_lhs per_line");
  check("the Jacobian couples along 2 directions", TS_ADI_DOUGLAS, p, whole, "", [&](LinearTS &run) {
    const Grid grid({40, 12}, {1, 1}, 0, false, {1, ranks});
    PetscFunctionBeginUser;
    PetscCall(MatScale(grid.A, -1));
    PetscCall(TSSetRHSJacobian(run.ts, grid.A, grid.A, TSComputeRHSJacobianConstant, nullptr));
    PetscFunctionReturn(PetscErrorCode(0));
  });
  if (ranks > 1) check("lines span ranks", TS_ADI_DOUGLAS, p, {ranks, 1}, "");
}

/// After the first run a step allocates nothing.
TEST_F(TSADIFused, ALaunchAllocatesNothing)
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

/// Another type of TS gets no function of TSSetPreStep().
TEST_F(TSADIFused, LeavesNothingToOtherTypes) // one rank
{
  LinearTS run({}, TS_ADI_DOUGLAS, -1);
  int      seen = 0;
  OK(solve(run));
  OK(TSSetType(run.ts, TSBEULER));
  OK(TSSetMaxTime(run.ts, 2));
  OK(TSMonitorSet(run.ts, watch, &seen, nullptr));
  OK(TSSolve(run.ts, run.u));
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(run.steps(), 16);
}

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
/// A run on a device copies nothing between host and device after its first step.
TEST_F(TSADIFused, ADeviceLaunchCrossesTheBusZeroTimes) // one rank
{
  LinearTS           run({}, TS_ADI_DOUGLAS, -1);
  const PetscScalar *a;
  PetscMemType       where;
  OK(solve(run));
  OK(VecGetArrayReadAndMemType(run.u, &a, &where));
  OK(VecRestoreArrayReadAndMemType(run.u, &a));
  if (PetscMemTypeHost(where)) GTEST_SKIP() << "host vectors";
  const PetscLogDouble up = petsc_ctog_ct, down = petsc_gtoc_ct;
  OK(TSSetMaxTime(run.ts, 5));
  OK(solve(run));
  EXPECT_EQ(run.steps(), 40);
  EXPECT_EQ(petsc_ctog_ct, up);
  EXPECT_EQ(petsc_gtoc_ct, down);
}
#endif

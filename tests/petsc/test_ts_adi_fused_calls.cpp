// SPDX-License-Identifier: BSD-2-Clause
// TS adi: what ends a call of fused steps, or prevents it.
#include "fused_steps.hpp"

#include <stdexcept>

using namespace test;

namespace {

class TSADIFusedCalls : public TSADIFused { };

/// Calls of LineStepper end with an error while it lives, after their steps.
class Failures {
public:
  Failures()
  {
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(
      [](const char *label, std::uint32_t, std::uint64_t *) {
        if (std::string(label) == "ribbon::steps::finite") throw std::runtime_error("a failure");
      });
  }
  ~Failures() { Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr); }
  Failures(const Failures &)            = delete;
  Failures &operator=(const Failures &) = delete;
};

} // namespace

/// -ts_adi_fuse_steps is the largest number of steps of a call.
TEST_F(TSADIFusedCalls, CallsOfSomeSteps) // one rank
{
  expect_same({}, TS_ADI_DOUGLAS, ranks, 1, 10, solve);
  expect_same({}, TS_ADI_DOUGLAS, ranks, 4, 3, solve);
  expect_same({}, TS_ADI_DOUGLAS, ranks, 100, 1, [](LinearTS &run) {
    TSSetMaxSteps(run.ts, 7);
    return solve(run);
  });
}

/// Runs whose last step has another size, ends after the final time, or is interpolated.
TEST_F(TSADIFusedCalls, RunsEndAsStepByStep) // one rank
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

/// With someone who looks between the steps, every step is a call.
TEST_F(TSADIFusedCalls, WhoLooksGetsEveryStep) // one rank
{
  int        seen  = 0;
  const auto check = [&](const char *who, int calls, const std::function<PetscErrorCode(TS)> &set) {
    LinearTS run({}, TS_ADI_DOUGLAS, -1, {1, ranks}), strict({}, TS_ADI_DOUGLAS, 10, {1, ranks});
    OK(set(run.ts));
    {
      const Calls counted;
      OK(solve(run));
      EXPECT_EQ(Calls::count(), calls) << who;
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
TEST_F(TSADIFusedCalls, FunctionsOfStagesGetOrdinarySteps) // one rank
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
TEST_F(TSADIFusedCalls, Events) // one rank
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

/// TSSolve() stores the solution at chosen times, and calls end there.
TEST_F(TSADIFusedCalls, EvaluationTimes) // one rank
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

/// A problem with another term is an error, not a wrong solution.
TEST_F(TSADIFusedCalls, ComparesTheFunctionWithTheJacobian) // one rank
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
TEST_F(TSADIFusedCalls, Reasons)
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

namespace {

/// TSSolve() with an error in its first call, which must leave these steps, this time and the solution.
void fail(const LinearTS &run, PetscInt steps, PetscReal time)
{
  Vec       start;
  PetscReal before, after;
  OK(VecDuplicate(run.u, &start));
  OK(VecCopy(run.u, start));
  OK(TSGetPrevTime(run.ts, &before));
  {
    const Failures failing;
    EXPECT_NE(static_cast<int>(TSSolve(run.ts, run.u)), 0);
  }
  EXPECT_TRUE(contains(last_error(), "a failure")) << last_error();
  OK(TSGetPrevTime(run.ts, &after));
  EXPECT_EQ(run.steps(), steps);
  EXPECT_EQ(run.time(), time);
  EXPECT_EQ(after, before);
  EXPECT_EQ(distance(run.u, start), 0);
  OK(VecDestroy(&start));
}

} // namespace

/// An error in a call leaves the time and the solution before it. An application that goes on, with TSSolve()
/// or TSStep(), gets the results of a run without an error.
TEST_F(TSADIFusedCalls, AnErrorDropsTheStepsOfACall)
{
  for (PetscInt before : {0, 4})
    for (bool one_step : {false, true}) {
      const PetscReal time    = static_cast<PetscReal>(before) / 8;
      LinearTS        runs[2] = {{{}, TS_ADI_DOUGLAS, -1, {1, ranks}}, {{}, TS_ADI_DOUGLAS, -1, {1, ranks}}};
      Vec             between[2];
      for (int k = 0; k < 2; ++k) {
        const LinearTS &run = runs[k];
        if (before > 0) {
          OK(TSSetMaxTime(run.ts, time));
          OK(TSSolve(run.ts, run.u));
          OK(TSSetMaxTime(run.ts, PetscReal(1.25)));
        }
        if (k == 1) fail(run, before, time);
        OK(one_step ? TSStep(run.ts) : TSSolve(run.ts, run.u));
        OK(VecDuplicate(run.u, &between[k]));
        OK(TSInterpolate(run.ts, run.time() - PetscReal(0.03125), between[k]));
      }
      EXPECT_EQ(runs[0].steps(), one_step ? before + 1 : 10);
      EXPECT_EQ(runs[1].steps(), runs[0].steps());
      EXPECT_EQ(runs[1].time(), runs[0].time());
      EXPECT_EQ(distance(runs[1].u, runs[0].u), 0);
      EXPECT_EQ(distance(between[1], between[0]), 0);
      for (Vec &v : between) OK(VecDestroy(&v));
    }
}

/// Another type of TS gets no function of TSSetPreStep().
TEST_F(TSADIFusedCalls, LeavesNothingToOtherTypes) // one rank
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

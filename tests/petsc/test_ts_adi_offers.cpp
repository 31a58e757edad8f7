// SPDX-License-Identifier: BSD-2-Clause
// What PETSc offers to types of TS: adaptors, evaluation times, restarts, monitors; one error for the rest.
#include "ts_adi_problems.hpp"

#include <cmath>

using namespace test;

namespace {

class TSADIOffers : public Petsc {
protected:
  void TearDown() override
  {
    reset_options();
    Petsc::TearDown();
  }
};

PetscInt steps_of(TS ts)
{
  PetscInt steps = -1;
  TSGetStepNumber(ts, &steps);
  return steps;
}

void adapt_with(TS ts, TSAdaptType type)
{
  TSAdapt adapt;
  OK(TSGetAdapt(ts, &adapt));
  OK(TSAdaptSetType(adapt, type));
}

PetscErrorCode record(TS, PetscInt, PetscReal t, Vec, void *ctx)
{
  static_cast<std::vector<PetscReal> *>(ctx)->push_back(t);
  return PetscErrorCode(0);
}

} // namespace

TEST_F(TSADIOffers, AdaptorsThatEstimateErrors) // one rank
{
  for (const char *method : {"hundsdorfer_verwer", "auto", "douglas"}) {
    for (TSAdaptType type : {TSADAPTBASIC, TSADAPTDSP, TSADAPTGLEE}) {
      if (method == std::string("douglas") && type == std::string(TSADAPTGLEE))
        continue; // no embedded method
      PetscReal error[2];
      for (int k = 0; k < 2; ++k) {
        const PetscReal tolerance = k ? 1e-6 : 1e-4;
        DiffusionTS     run(heat, method);
        run.fixed(0.01, 0.5);
        adapt_with(run.ts, type);
        OK(TSSetTolerances(run.ts, tolerance, nullptr, tolerance, nullptr));
        OK(TSSolve(run.ts, run.u));
        error[k] = run.error();
        EXPECT_LT(error[k], 100 * tolerance) << method << ", " << type;
      }
      EXPECT_LT(error[1], error[0] / 5) << method << ", " << type;
    }
  }
}

/// -ts_adapt_type cfl takes the step that the application allows, history the steps of another run.
TEST_F(TSADIOffers, AdaptorsWithoutEstimates)
{
  std::vector<PetscReal> times, again;
  DiffusionTS run(heat, "auto", {1, ranks}), cfl(heat, "auto", {1, ranks}), replay(heat, "auto", {1, ranks});
  TSAdapt     adapt;
  PetscReal   norm;
  run.fixed(0.01, 0.5);
  adapt_with(run.ts, TSADAPTBASIC);
  OK(TSMonitorSet(run.ts, record, &times, nullptr));
  OK(TSSolve(run.ts, run.u));
  ASSERT_GT(times.size(), 3U);
  replay.fixed(0.01, 0.5);
  adapt_with(replay.ts, TSADAPTHISTORY);
  OK(TSGetAdapt(replay.ts, &adapt));
  OK(TSAdaptHistorySetHistory(adapt, static_cast<PetscInt>(times.size()), times.data(), PETSC_FALSE));
  OK(TSSetTimeStep(replay.ts, times[1] - times[0]));
  OK(TSMonitorSet(replay.ts, record, &again, nullptr));
  OK(TSSolve(replay.ts, replay.u));
  ASSERT_EQ(again.size(), times.size());
  OK(VecAXPY(replay.u, -1, run.u));
  OK(VecNorm(replay.u, NORM_INFINITY, &norm));
  EXPECT_LT(norm, 1e-6);
  cfl.fixed(0.01, 0.5);
  adapt_with(cfl.ts, TSADAPTCFL);
  OK(TSGetAdapt(cfl.ts, &adapt));
  OK(TSAdaptSetAlwaysAccept(adapt, PETSC_TRUE)); // PETSc cannot reject with this type
  OK(TSAdaptSetSafety(adapt, 0.8, 0.5));
  OK(TSSetCFLTimeLocal(cfl.ts, rank == 0 ? 0.025 : 0.04)); // the smallest one counts
  OK(TSSolve(cfl.ts, cfl.u));
  EXPECT_EQ(steps_of(cfl.ts), 26); // one of 0.01, then steps of 0.02
  EXPECT_LT(cfl.error(), 1e-3);
}

/// The solution at chosen times, of fixed and of adaptive steps.
TEST_F(TSADIOffers, EvaluationTimes)
{
  PetscReal times[] = {0, PetscReal(0.11), PetscReal(0.3), PetscReal(0.5)};
  for (const char *method : {"auto", "craig_sneyd"}) {
    DiffusionTS run(heat, method, {ranks, 1});
    Vec        *at;
    PetscInt    count;
    run.fixed(0.01, 0.5);
    if (method == std::string("auto")) adapt_with(run.ts, TSADAPTBASIC);
#if PETSC_VERSION_LT(3, 23, 0)
    OK(TSSetTimeSpan(run.ts, 4, times));
    OK(TSSolve(run.ts, run.u));
    OK(TSGetTimeSpanSolutions(run.ts, &count, &at));
#else
    const PetscReal *reached;
    OK(TSSetEvaluationTimes(run.ts, 4, times));
    OK(TSSolve(run.ts, run.u));
    OK(TSGetEvaluationSolutions(run.ts, &count, &reached, &at));
#endif
    ASSERT_EQ(count, 4);
    for (int k = 0; k < 4; ++k) {
      PetscReal norm;
      run.fill(times[k], run.exact);
      OK(VecAXPY(run.exact, -1, at[k]));
      OK(VecNorm(run.exact, NORM_INFINITY, &norm));
      EXPECT_LT(norm, 1e-3) << method << " at " << times[k];
    }
  }
}

/// A run that goes on, another TS that starts where it ended, and a step that forgets the earlier ones.
TEST_F(TSADIOffers, Restarts) // one rank
{
  for (const char *method : {"auto", "douglas"}) {
    DiffusionTS whole(heat, method, {1, ranks}), parts(heat, method, {1, ranks}),
      other(heat, method, {1, ranks});
    PetscReal norm;
    for (DiffusionTS *run : {&whole, &parts, &other}) run->fixed(0.02, run == &parts ? 0.2 : 0.4);
    OK(TSSolve(whole.ts, whole.u));
    OK(TSSolve(parts.ts, parts.u));
    OK(VecCopy(parts.u, other.u));
    OK(TSSetTime(other.ts, 0.2));
    OK(TSSetStepNumber(other.ts, 10));
    OK(TSSolve(other.ts, other.u));
    EXPECT_EQ(steps_of(other.ts), 20);
    OK(TSSetMaxTime(parts.ts, 0.4));
    OK(TSRestartStep(parts.ts));
    OK(TSSolve(parts.ts, parts.u));
    EXPECT_EQ(steps_of(parts.ts), 20);
    for (DiffusionTS *run : {&parts, &other}) {
      OK(VecAXPY(run->u, -1, whole.u));
      OK(VecNorm(run->u, NORM_INFINITY, &norm));
      EXPECT_LT(norm, 1e-8) << method; // Jacobians by differences
    }
    // estimates by differences start again
    DiffusionTS adaptive(heat, method, {1, ranks});
    adaptive.fixed(0.01, 0.25);
    adapt_with(adaptive.ts, TSADAPTBASIC);
    OK(TSSolve(adaptive.ts, adaptive.u));
    OK(TSRestartStep(adaptive.ts));
    OK(TSSetMaxTime(adaptive.ts, 0.5));
    OK(TSSolve(adaptive.ts, adaptive.u));
    EXPECT_LT(adaptive.error(), 1e-2) << method;
  }
}

TEST_F(TSADIOffers, Monitors) // one rank
{
  for (const char *options :
       {"-ts_monitor ascii:/dev/null -ts_monitor_frequency 3", "-ts_monitor_solution ascii:/dev/null",
        "-ts_adapt_monitor ascii:/dev/null", "-ts_monitor_draw_solution -draw_type null",
        "-ts_monitor_lg_timestep -draw_type null", "-ts_monitor_lg_solution -draw_type null",
        "-ts_monitor_lg_ksp_iterations -draw_type null", "-ts_monitor_dmda_ray j=0 -draw_type null"}) {
    reset_options(options);
    DiffusionTS run(heat, "auto", {1, ranks});
    run.fixed(0.05, 0.25);
    OK(TSSolve(run.ts, run.u)) << options;
    EXPECT_EQ(steps_of(run.ts), 5) << options;
  }
}

TEST_F(TSADIOffers, OneErrorForIntegrals)
{
  DiffusionTS run(heat, "auto", {1, ranks});
  TS          integral;
  run.fixed(0.05, 0.25);
  OK(TSCreateQuadratureTS(run.ts, PETSC_TRUE, &integral));
  EXPECT_EQ(static_cast<int>(TSSolve(run.ts, run.u)), static_cast<int>(PETSC_ERR_SUP));
  EXPECT_TRUE(contains(last_error(), "TS adi does not integrate costs over time (TSCreateQuadratureTS())"))
    << last_error();
}

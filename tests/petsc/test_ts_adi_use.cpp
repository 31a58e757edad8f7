// SPDX-License-Identifier: BSD-2-Clause
// TS adi: step control, the interface of a TS type, and errors for unsupported requests.
#include "ts_adi_problems.hpp"

using namespace test;

namespace {

class TSADIUse : public Petsc { };

} // namespace

/// Every method rejects a first step that is far too large. Errors follow the tolerance, and runs end at
/// their time.
TEST_F(TSADIUse, StepsFollowTheTolerance) // one rank
{
  for (const char *method : methods) {
    PetscReal error[2];
    for (int k = 0; k < 2; ++k) {
      const PetscReal tolerance = k ? 1e-6 : 1e-4;
      DiffusionTS     run(reaction, method);
      TSAdapt         adapt;
      PetscReal       end;
      PetscInt        rejections, steps;
      run.fixed(0.3, 0.5);
      OK(TSGetAdapt(run.ts, &adapt));
      OK(TSAdaptSetType(adapt, TSADAPTBASIC));
      OK(TSSetTolerances(run.ts, tolerance, nullptr, tolerance, nullptr));
      OK(TSSolve(run.ts, run.u));
      OK(TSGetStepRejections(run.ts, &rejections));
      OK(TSGetStepNumber(run.ts, &steps));
      OK(TSGetTime(run.ts, &end));
      error[k] = run.error();
      EXPECT_EQ(end, 0.5) << method;
      EXPECT_GT(rejections, 0) << method;
      EXPECT_LT(error[k], 100 * tolerance) << method << " in " << steps << " steps";
    }
    EXPECT_LT(error[1], error[0] / 10) << method;
  }
}

namespace {

PetscErrorCode time_of_event(TS, PetscReal t, Vec, PetscScalar *value, void *)
{
  value[0] = t - 0.3137;
  return PetscErrorCode(0);
}
PetscErrorCode count_event(TS, PetscInt, PetscInt *, PetscReal t, Vec, PetscBool, void *ctx)
{
  static_cast<std::vector<PetscReal> *>(ctx)->push_back(t);
  return PetscErrorCode(0);
}

} // namespace

TEST_F(TSADIUse, Events) // one rank
{
  for (const char *method : methods) {
    std::vector<PetscReal> times;
    DiffusionTS            run(heat, method);
    PetscInt               direction = 0;
    PetscBool              terminate = PETSC_FALSE;
    run.fixed(0.02, 0.5);
    OK(TSSetEventHandler(run.ts, 1, &direction, &terminate, time_of_event, count_event, &times));
    OK(TSSolve(run.ts, run.u));
    ASSERT_EQ(times.size(), 1U) << method;
    EXPECT_NEAR(times[0], 0.3137, 1e-4) << method;
    EXPECT_LT(run.error(), 2e-3) << method;
  }
}

TEST_F(TSADIUse, InterpolatesAndRollsBack) // one rank
{
  for (const char *method : methods) {
    DiffusionTS run(heat, method);
    PetscInt    stages;
    Vec        *Y, start;
    run.fixed(0.01, 0.255);
    OK(VecDuplicate(run.u, &start));
    OK(TSSetExactFinalTime(run.ts, TS_EXACTFINALTIME_INTERPOLATE));
    OK(TSSolve(run.ts, run.u));
    EXPECT_LT(run.error(), 1e-3) << method;
    OK(TSGetStages(run.ts, &stages, &Y));
    EXPECT_EQ(stages, method == std::string("ra34pw2") ? 4 : method == std::string("douglas") ? 1 : 2);
    for (PetscInt i = 0; i < stages; ++i) EXPECT_NE(Y[i], nullptr) << method;
    OK(TSSetMaxTime(run.ts, 1));
    OK(VecCopy(run.u, start));
    OK(TSStep(run.ts));
    OK(TSRollBack(run.ts));
    OK(VecAXPY(start, -1, run.u));
    PetscReal moved;
    OK(VecNorm(start, NORM_INFINITY, &moved));
    EXPECT_EQ(moved, 0) << method;
    OK(VecDestroy(&start));
  }
}

TEST_F(TSADIUse, WhatIsNoNumberStopsTheRun)
{
  for (const char *method : methods) {
    if (ranks > 1 && method == std::string("peaceman_rachford")) continue;
    DiffusionTS run(problem_with([&](Diffusion &p) { p.along = ranks > 1 ? 1 : 2; }), method, {1, ranks});
    TSConvergedReason reason;
    PetscReal         end;
    run.poisoned_after = 0.2;
    run.fixed(0.02, 0.5);
    OK(TSSetErrorIfStepFails(run.ts, PETSC_FALSE));
    OK(TSSolve(run.ts, run.u));
    OK(TSGetConvergedReason(run.ts, &reason));
    OK(TSGetTime(run.ts, &end));
    EXPECT_LT(reason, 0) << method;
    EXPECT_LE(end, 0.2 + 1e-12) << method;
  }
}

namespace {

PetscErrorCode short_steps_alone(TS ts, PetscReal, Vec, PetscBool *accept)
{
  PetscReal h;
  PetscFunctionBegin;
  PetscCall(TSGetTimeStep(ts, &h));
  *accept = h <= 0.011 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PetscErrorCode(0));
}

} // namespace

TEST_F(TSADIUse, StepsOutOfTheDomainAreTakenAgain) // one rank
{
  for (const char *method : methods) {
    DiffusionTS run(heat, method);
    PetscInt    rejections;
    run.fixed(0.04, 0.2);
    OK(TSSetFunctionDomainError(run.ts, short_steps_alone));
    OK(TSSetMaxSNESFailures(run.ts, -1));
    OK(TSSolve(run.ts, run.u));
    OK(TSGetStepRejections(run.ts, &rejections));
    EXPECT_GT(rejections, 0) << method;
    EXPECT_LT(run.error(), 1e-3) << method;
  }
}

/// Late in steps that are too long, the function reports a domain error, and its values are finite. Only one rank
/// reports it.
TEST_F(TSADIUse, FunctionsOutOfTheirDomainAreTakenAgain)
{
  const auto function = [](TS ts, PetscReal t, Vec u, Vec udot, Vec F, void *context) -> PetscErrorCode {
    SNES        snes;
    PetscReal   start;
    PetscMPIInt mine;
    PetscFunctionBegin;
    PetscCall(DiffusionTS::i_function(ts, t, u, udot, F, context));
    PetscCall(TSGetTime(ts, &start));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &mine));
    PetscCall(TSGetSNES(ts, &snes));
    if (t - start > 0.011 && mine == 0) PetscCall(SNESSetFunctionDomainError(snes));
    PetscFunctionReturn(PetscErrorCode(0));
  };
  for (const char *adapt : {TSADAPTNONE, TSADAPTBASIC})
    for (const char *method : methods) {
      if (ranks > 1 && method == std::string("peaceman_rachford")) continue;
      SCOPED_TRACE(std::string(method) + ", " + adapt);
      DiffusionTS run(problem_with([](Diffusion &p) { p.form = Diffusion::ifunction; }), method, {1, ranks});
      TSAdapt     control;
      PetscInt    rejections;
      run.fixed(0.04, 0.2);
      OK(TSGetAdapt(run.ts, &control));
      OK(TSAdaptSetType(control, adapt));
      OK(TSSetIFunction(run.ts, nullptr, function, &run));
      OK(TSSetMaxSNESFailures(run.ts, -1));
      OK(TSSolve(run.ts, run.u));
      OK(TSGetStepRejections(run.ts, &rejections));
      EXPECT_GT(rejections, 0);
      EXPECT_LT(run.error(), 1e-3);
    }
}

/// The Jacobian of steps that are too long is outside its domain. Only one rank reports it.
TEST_F(TSADIUse, JacobiansOutOfTheDomainAreTakenAgain)
{
  const auto jacobian = [](SNES snes, Vec u, Mat A, Mat B, void *context) -> PetscErrorCode {
    auto       *run = static_cast<DiffusionTS *>(context);
    PetscReal   h;
    PetscMPIInt mine;
    PetscFunctionBegin;
    PetscCall(SNESComputeJacobianDefaultColor(snes, u, A, B, nullptr));
    PetscCall(TSGetTimeStep(run->ts, &h));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &mine));
    if (h > 0.011 && mine == 0) PetscCall(SNESSetJacobianDomainError(snes));
    PetscFunctionReturn(PetscErrorCode(0));
  };
  DiffusionTS run(heat, "hundsdorfer_verwer", {1, ranks});
  SNES        snes;
  Mat         J;
  PetscInt    rejections;
  run.fixed(0.04, 0.2);
  OK(TSGetSNES(run.ts, &snes));
  OK(DMCreateMatrix(run.da, &J));
  OK(SNESSetJacobian(snes, J, J, jacobian, &run));
  OK(TSSetMaxSNESFailures(run.ts, -1));
  OK(TSSolve(run.ts, run.u));
  OK(TSGetStepRejections(run.ts, &rejections));
  EXPECT_GT(rejections, 0);
  EXPECT_LT(run.error(), 1e-3);
  OK(MatDestroy(&J));
}

TEST_F(TSADIUse, RunsAgain) // one rank
{
  DiffusionTS run(heat);
  PetscReal   error[3];
  PetscInt    evaluations[3];
  for (int k = 0; k < 3; ++k) {
    run.fixed(0.0125, 0.5);
    run.evaluations = 0;
    OK(TSSetTime(run.ts, 0));
    OK(TSSetStepNumber(run.ts, 0));
    run.fill(0, run.u);
    OK(TSSolve(run.ts, run.u));
    error[k] = run.error(), evaluations[k] = run.evaluations;
    if (k == 0) {
      OK(TSReset(run.ts));
    }
    if (k == 1) {
      OK(TSADISetLagJacobian(run.ts, -1));
    }
  }
  EXPECT_EQ(error[0], error[1]);
  EXPECT_NEAR(error[2], error[0], 1e-6 * error[0]); // a constant Jacobian
  EXPECT_LT(2 * evaluations[2], evaluations[1]);
  // Another method, and another type of TS, on the same object. With cuda vectors PETSc's own types get
  // wrong coloured differences.
  OK(TSADISetType(run.ts, TS_ADI_RA34PW2));
  for (int k = 0; k < (is_of_type(run.u, "cuda") ? 1 : 2); ++k) {
    if (k == 1) {
      OK(TSSetType(run.ts, TSBDF));
    }
    run.fixed(0.0125, 0.5);
    OK(TSSetTime(run.ts, 0));
    OK(TSSetStepNumber(run.ts, 0));
    run.fill(0, run.u);
    OK(TSSolve(run.ts, run.u));
    EXPECT_LT(run.error(), k == 0 ? error[0] / 10 : 1e-2);
  }
}

TEST_F(TSADIUse, OneErrorForWhatCannotBe)
{
  DiffusionTS run(heat_3d, "peaceman_rachford", {1, 1, ranks});
  const auto  refuses = [](PetscErrorCode code, const char *words) {
    EXPECT_NE(static_cast<int>(code), 0);
    EXPECT_NE(last_error().find(words), std::string::npos) << last_error();
  };
  run.fixed(0.01, 0.1);
  refuses(TSSolve(run.ts, run.u), "-ts_adi_type peaceman_rachford takes two directions, here are 3");
  refuses(TSADISetTheta(run.ts, -1), "-ts_adi_theta");
  refuses(TSADISetLagJacobian(run.ts, 0), "-ts_adi_lag_jacobian");
  refuses(TSADISetRannacher(run.ts, -1), "-ts_adi_rannacher");
  refuses(TSADISetDirectionJacobian(run.ts, 3, nullptr, nullptr, nullptr), "direction 3");
}

/// These options would change the step.
TEST_F(TSADIUse, OptionsOfTheDirectionsThatContradictItAreErrors)
{
  for (const char *option : {"-adi_x_pc_line_omega 0.5", "-adi_x_pc_line_direction y",
                             "-adi_x_pc_line_lhs_tol 0.9", "-adi_x_pc_line_cut local"}) {
    const std::string text = option, name = text.substr(0, text.find(' '));
    DiffusionTS       run(heat, "hundsdorfer_verwer", {1, ranks});
    run.fixed(0.01, 0.1);
    reset_options(option);
    EXPECT_NE(static_cast<int>(TSSolve(run.ts, run.u)), 0) << option;
    EXPECT_EQ(last_error().find(name + " contradicts ADI along x: "), 0u) << last_error();
  }
  reset_options();
}

namespace {

PetscErrorCode no_update(SNES, PetscInt)
{
  return PetscErrorCode(0);
}

PetscErrorCode no_check(SNESLineSearch, Vec, Vec, PetscBool *changed, void *)
{
  *changed = PETSC_FALSE;
  return PetscErrorCode(0);
}

PetscErrorCode same_variable(TS, Vec u, Vec c, void *)
{
  return VecCopy(u, c);
}

} // namespace

/// Settings of the application on the TS or its SNES that TS adi would ignore are errors.
TEST_F(TSADIUse, WhatWouldBeIgnoredIsAnError)
{
  const auto refused = [&](const char *words, const std::function<void(DiffusionTS &, SNES)> &set) {
    DiffusionTS run(heat, "hundsdorfer_verwer", {1, ranks});
    SNES        snes;
    run.fixed(0.01, 0.1);
    OK(TSGetSNES(run.ts, &snes));
    set(run, snes);
    EXPECT_NE(static_cast<int>(TSSolve(run.ts, run.u)), 0) << words;
    EXPECT_NE(last_error().find(words), std::string::npos) << last_error();
  };
  refused("does not support bounds", [](DiffusionTS &run, SNES) {
    Vec bound[2];
    OK(VecDuplicate(run.u, &bound[0]));
    OK(VecDuplicate(run.u, &bound[1]));
    OK(VecSet(bound[0], PETSC_NINFINITY));
    OK(VecSet(bound[1], 1.2));
    OK(TSVISetVariableBounds(run.ts, bound[0], bound[1]));
    for (Vec &b : bound) OK(VecDestroy(&b));
  });
  refused("does not support bounds", [](DiffusionTS &, SNES snes) {
    OK(SNESVISetComputeVariableBounds(snes,
                                      [](SNES, Vec, Vec) -> PetscErrorCode { return PetscErrorCode(0); }));
  });
  refused("does not support bounds",
          [](DiffusionTS &, SNES snes) { OK(SNESSetType(snes, SNESVINEWTONRSLS)); });
  refused("SNESSetUpdate()", [](DiffusionTS &, SNES snes) { OK(SNESSetUpdate(snes, no_update)); });
  refused("SNESLineSearchSetPreCheck()", [](DiffusionTS &, SNES snes) {
    SNESLineSearch search;
    OK(SNESGetLineSearch(snes, &search));
    OK(SNESLineSearchSetPreCheck(search, no_check, nullptr));
  });
  refused("TSSetTransientVariable()",
          [](DiffusionTS &run, SNES) { OK(TSSetTransientVariable(run.ts, same_variable, nullptr)); });
}

/// Capacitors between nodes: rows of M sum to zero, and are combinations of others.
TEST_F(TSADIUse, EquationsWithoutATimeDerivativeAreRowsOfZeros)
{
  const auto tridiagonal = [this](PetscScalar diagonal, PetscScalar beside) {
    return matrix(
      8 * ranks, [=](PetscInt r, PetscInt c) { return r == c ? diagonal : beside; },
      [](PetscInt r, PetscInt c) { return r == c || (r / 2 == c / 2); });
  };
  for (bool singular : {true, false}) {
    // M, and the Jacobian of u in M u' + u = 0
    Mat        mats[2] = {tridiagonal(singular ? 1 : 2, -1), tridiagonal(1, 0)};
    Vec        u;
    TS         ts;
    Mat        J;
    const auto function = [](TS, PetscReal, Vec at, Vec rate, Vec f, void *context) -> PetscErrorCode {
      const Mat *m = static_cast<Mat *>(context);
      PetscFunctionBegin;
      PetscCall(MatMult(m[0], rate, f));
      PetscCall(MatMultAdd(m[1], at, f, f));
      PetscFunctionReturn(PetscErrorCode(0));
    };
    const auto jacobian = [](TS, PetscReal, Vec, Vec, PetscReal shift, Mat, Mat P,
                             void *context) -> PetscErrorCode {
      const Mat *m = static_cast<Mat *>(context);
      PetscFunctionBegin;
      PetscCall(MatCopy(m[1], P, SAME_NONZERO_PATTERN));
      PetscCall(MatAXPY(P, shift, m[0], SAME_NONZERO_PATTERN));
      PetscFunctionReturn(PetscErrorCode(0));
    };
    OK(MatDuplicate(mats[0], MAT_COPY_VALUES, &J));
    OK(MatCreateVecs(J, &u, nullptr));
    OK(VecSet(u, 1));
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetType(ts, TSADI));
    OK(TSSetIFunction(ts, nullptr, function, mats));
    OK(TSSetIJacobian(ts, J, J, jacobian, mats));
    OK(TSSetTimeStep(ts, 1e-3));
    OK(TSSetMaxTime(ts, 0.1));
    OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    const int error = static_cast<int>(TSSolve(ts, u));
    if (singular) {
      EXPECT_EQ(error, static_cast<int>(PETSC_ERR_SUP));
      EXPECT_NE(last_error().find("the entries of row 0 of the mass matrix dF/dU' sum to zero"),
                std::string::npos)
        << last_error();
    } else { // M 1 = 1
      PetscReal norm;
      EXPECT_EQ(error, 0) << last_error();
      OK(VecShift(u, -std::exp(PetscReal(-0.1))));
      OK(VecNorm(u, NORM_INFINITY, &norm));
      EXPECT_LT(norm, 1e-4);
    }
    OK(TSDestroy(&ts));
    OK(VecDestroy(&u));
    OK(MatDestroy(&J));
    for (Mat &m : mats) OK(MatDestroy(&m));
  }
}

// SPDX-License-Identifier: BSD-2-Clause
// Stages whose equations GMRES solves, with the factors as preconditioner (docs/methods/adi.md#stages-with-gmres).
#include "ts.hpp"

namespace ribbon::petsc {

namespace {

/// Preconditioned residual at which GMRES ends, as a fraction of the tolerances of the TS.
constexpr PetscReal fraction_of_tolerance = PetscReal(0.01);
/// Beyond this limit the step is computed without GMRES.
constexpr PetscInt most_iterations = 200;

/// y := (M - a A) x / (sign a), with a and sign of Factor(): SolveP() without its splitting.
PetscErrorCode MultStage(Mat W, Vec x, Vec y)
{
  TS ts;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(W, (void *)&ts));
  const TS_ADI *adi = adi_of(ts);
  PetscCall(adi->splitting.multiply(1 / adi->factor_scale, sign_of(adi), x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApplyFactors(PC pc, Vec r, Vec z)
{
  TS ts;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, (void *)&ts));
  PetscCall(SolveP(ts, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(TS ts)
{
  Iterated      &iterated = adi_of(ts)->iterated;
  const MPI_Comm comm     = PetscObjectComm((PetscObject)ts);
  const char    *prefix;
  PetscInt       n, N;
  Mat            W;
  PC             pc;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ts->vec_sol, &n));
  PetscCall(VecGetSize(ts->vec_sol, &N));
  PetscCall(MatCreateShell(comm, n, n, N, N, ts, &W));
  PetscCall(MatShellSetOperation(W, MATOP_MULT, (void (*)(void))MultStage));
  PetscCall(KSPCreate(comm, &iterated.ksp));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)iterated.ksp, (PetscObject)ts, 1));
  PetscCall(TSGetOptionsPrefix(ts, &prefix));
  PetscCall(KSPSetOptionsPrefix(iterated.ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(iterated.ksp, "adi_"));
  PetscCall(KSPSetOperators(iterated.ksp, W, W));
  PetscCall(MatDestroy(&W));
  PetscCall(KSPSetType(iterated.ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(iterated.ksp, PetscReal(1e-10), PETSC_SMALL, PETSC_MAX_REAL, most_iterations));
  PetscCall(KSPGetPC(iterated.ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, "factors of the directions"));
  PetscCall(PCShellSetContext(pc, ts));
  PetscCall(PCShellSetApply(pc, ApplyFactors));
  PetscCall(KSPSetFromOptions(iterated.ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The 2-norm of the tolerances atol + rtol |U| of all rows.
PetscErrorCode NormOfTolerances(const Step &step, PetscReal *norm)
{
  const TS  ts = step.ts;
  const Vec w  = step.adi->work;
  PetscFunctionBegin;
  PetscCall(VecCopy(step.U, w));
  PetscCall(VecAbs(w));
  if (ts->vrtol) PetscCall(VecPointwiseMult(w, w, ts->vrtol));
  else PetscCall(VecScale(w, ts->rtol));
  if (ts->vatol) PetscCall(VecAXPY(w, 1, ts->vatol));
  else PetscCall(VecShift(w, ts->atol));
  PetscCall(VecNorm(w, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LongestIterated(TS ts, PetscReal *longest)
{
  const TS_ADI *adi = adi_of(ts);
  PetscBool     equal_steps;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts->adapt, TSADAPTNONE, &equal_steps));
  const bool may = adi->iterate && adi->choice.known && !equal_steps && !ts->trajectory && !ts->forward_solve;
  *longest       = may ? adi->iterated.longest : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrepareIterated(const Step &step)
{
  Iterated &iterated = step.adi->iterated;
  PetscReal norm, rtol, dtol;
  PetscInt  most;
  PetscFunctionBegin;
  if (!iterated.ksp) PetscCall(Create(step.ts));
  PetscCall(NormOfTolerances(step, &norm));
  PetscCall(KSPGetTolerances(iterated.ksp, &rtol, nullptr, &dtol, &most));
  PetscCall(
    KSPSetTolerances(iterated.ksp, rtol, PetscMax(fraction_of_tolerance * norm, PETSC_SMALL), dtol, most));
  iterated.used = true, iterated.failed = false, iterated.iterations = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveIterated(const Step &step, Vec R, Vec x, bool *ok)
{
  Iterated          &iterated = step.adi->iterated;
  const PetscInt     stages   = step.ts->snes_its;
  KSPConvergedReason reason;
  PetscInt           iterations;
  PetscFunctionBegin;
  PetscCall(KSPSolve(iterated.ksp, R, x));
  PetscCall(KSPGetConvergedReason(iterated.ksp, &reason));
  PetscCall(KSPGetIterationNumber(iterated.ksp, &iterations));
  step.ts->snes_its = stages + 1; // SolveP() has counted every iteration
  iterated.iterations += iterations;
  *ok = reason > 0;
  if (reason == KSP_DIVERGED_NANORINF) PetscCall(ReportNotFinite(step.ts));
  else if (!*ok) {
    // shorter steps do not help with equations that couple along several directions
    iterated.failed = true, iterated.longest = step.h <= step.adi->choice.largest ? 0 : step.h / 2;
    PetscCall(PetscInfo(step.ts, "Stage of a step of %g: %s after %" PetscInt_FMT " iterations\n",
                        (double)step.h, KSPConvergedReasons[reason], iterations));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

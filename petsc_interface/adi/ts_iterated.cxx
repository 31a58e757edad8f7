// SPDX-License-Identifier: BSD-2-Clause
// Stages whose equations GMRES solves, with the factors as preconditioner (docs/methods/adi.md#stages-with-gmres).
#include "ts.hpp"

namespace ribbon::petsc {

namespace {

/// Preconditioned residual at which GMRES ends, as a fraction of the tolerances of the TS.
constexpr PetscReal fraction_of_tolerance = PetscReal(0.01);
/// Beyond this limit the step is computed without GMRES.
constexpr PetscInt most_iterations = 200;
/// After so many failures no step uses GMRES until a restart.
constexpr int most_failures = 3;

/// y := (M - a A) D x / (sign a), with a and sign of Factor() and D of SetScale(): SolveP() without its splitting.
PetscErrorCode MultStage(Mat W, Vec x, Vec y)
{
  TS ts;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(W, (void *)&ts));
  const TS_ADI *adi = adi_of(ts);
  PetscCall(VecPointwiseMult(adi->iterated.work, adi->iterated.scale, x));
  PetscCall(adi->splitting.multiply(1 / adi->factor_scale, sign_of(adi), adi->iterated.work, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApplyFactors(PC pc, Vec r, Vec z)
{
  TS ts;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, (void *)&ts));
  PetscCall(SolveP(ts, r, z));
  PetscCall(VecPointwiseDivide(z, z, adi_of(ts)->iterated.scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets what a new KSP needs.
PetscErrorCode Configure(TS ts, KSP ksp)
{
  const MPI_Comm      comm = PetscObjectComm((PetscObject)ts);
  constexpr PetscReal rtol = PetscMax(PetscReal(1e-10), 100 * PETSC_MACHINE_EPSILON),
                      dtol =
                        sizeof(PetscReal) < 8 ? PetscReal(1e10) : PetscReal(1e30); // no overflow of products
  const char *prefix;
  PetscInt    n, N;
  Mat         W;
  PC          pc;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ts->vec_sol, &n));
  PetscCall(VecGetSize(ts->vec_sol, &N));
  PetscCall(MatCreateShell(comm, n, n, N, N, ts, &W));
  PetscCall(MatShellSetOperation(W, MATOP_MULT, (void (*)(void))MultStage));
  PetscCall(KSPSetOperators(ksp, W, W));
  PetscCall(MatDestroy(&W));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)ksp, (PetscObject)ts, 1));
  PetscCall(TSGetOptionsPrefix(ts, &prefix));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(ksp, "adi_"));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  // SetScale() makes all tolerances of the TS 1
  PetscCall(KSPSetTolerances(ksp, rtol, fraction_of_tolerance * PetscSqrtReal(static_cast<PetscReal>(N)),
                             dtol, most_iterations));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetName(pc, "factors of the directions"));
  PetscCall(PCShellSetContext(pc, ts));
  PetscCall(PCShellSetApply(pc, ApplyFactors));
  PetscCall(KSPSetFromOptions(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(TS ts)
{
  Iterated &iterated = adi_of(ts)->iterated;
  KSP       ksp;
  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)ts), &ksp));
  const PetscErrorCode error = Configure(ts, ksp);
  if (error) (void)KSPDestroy(&ksp);
  PetscCall(error);
  iterated.ksp = ksp;
  for (Vec *v : {&iterated.scale, &iterated.work}) PetscCall(VecDuplicate(ts->vec_sol, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The diagonal of D: the tolerances atol + rtol |U|, at most a hundredth of the largest |U|. Rows that the TS leaves
/// out of its norm, by negative or huge tolerances, are solved to this accuracy, too.
PetscErrorCode SetScale(const Step &step)
{
  const TS  ts = step.ts;
  const Vec D = step.adi->iterated.scale, bound = step.adi->iterated.work;
  PetscReal largest;
  PetscFunctionBegin;
  PetscCall(VecNorm(step.U, NORM_INFINITY, &largest));
  if (!(largest > 0)) largest = 1;
  PetscCall(VecCopy(step.U, D));
  PetscCall(VecAbs(D));
  if (ts->vrtol) PetscCall(VecPointwiseMult(D, D, ts->vrtol));
  else PetscCall(VecScale(D, ts->rtol));
  if (ts->vatol) PetscCall(VecAXPY(D, 1, ts->vatol));
  else PetscCall(VecShift(D, ts->atol));
  PetscCall(VecAbs(D));
  PetscCall(VecSet(bound, largest / 100));
  PetscCall(VecPointwiseMin(D, D, bound));
  PetscCall(VecSet(bound, largest * PETSC_MACHINE_EPSILON)); // no tolerance is 0
  PetscCall(VecPointwiseMax(D, D, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the functions of the application overwrite the matrix that was split.
PetscErrorCode OverwritesJacobian(TS ts, bool *does)
{
  DM                  dm;
  RibbonTSRHSFunction function;
  RibbonTSRHSJacobian jacobian;
  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetRHSFunction(dm, &function, nullptr));
  PetscCall(DMTSGetRHSJacobian(dm, &jacobian, nullptr));
  *does = function == TSComputeRHSFunctionLinear && jacobian != TSComputeRHSJacobianConstant;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LongestIterated(TS ts, PetscReal *longest)
{
  const TS_ADI *adi = adi_of(ts);
  PetscBool     equal_steps;
  bool          overwrites = false;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts->adapt, TSADAPTNONE, &equal_steps));
  PetscCall(OverwritesJacobian(ts, &overwrites));
  const bool may =
    adi->iterate && adi->choice.known && !equal_steps && !overwrites && !ts->trajectory && !ts->forward_solve;
  *longest = may ? adi->iterated.longest : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrepareIterated(const Step &step)
{
  Iterated &iterated = step.adi->iterated;
  PetscFunctionBegin;
  if (!iterated.ksp) PetscCall(Create(step.ts));
  PetscCall(SetScale(step));
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
    iterated.failed  = true;
    iterated.longest = ++iterated.failures < most_failures ? PetscAbsReal(step.h) / 2 : 0;
    PetscCall(PetscInfo(step.ts, "Stage of a step of %g: %s after %" PetscInt_FMT " iterations\n",
                        (double)step.h, KSPConvergedReasons[reason], iterations));
  } else PetscCall(VecPointwiseMult(x, iterated.scale, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

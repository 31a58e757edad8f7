// SPDX-License-Identifier: BSD-2-Clause
// Derivatives of the application's functions, for sensitivities of TS adi.
#include "ts_sensitivities.hpp"

#include "../support/session.hpp"

namespace ribbon::petsc {

/// The matrices of the RHSJacobian, or of the SNES with shift 0, at (t, Y). `factor`: R' is this times A.
static PetscErrorCode ComputeMatrices(TS ts, PetscReal t, Vec Y, Mat *A, Mat *B, PetscScalar *factor)
{
  TS_ADI *adi = adi_of(ts);
  SNES    snes;
  Vec     F;
  bool    ok;
  PetscFunctionBegin;
  PetscCall(LookAtProblem(ts));
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(GetRHSMatrices(ts, A, B));
  if (*B) {
    PetscCall(TSComputeRHSJacobian(ts, t, Y, *A, *B));
    *factor = 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GiveMatrices(ts, true));
  PetscCall(ClearRate(adi));
  adi->base = Y, adi->stage_time = t, adi->read = 0;
  PetscCall(SNESSetSolution(snes, Y));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESGetJacobian(snes, A, B, nullptr, nullptr));
  PetscCall(SNESGetFunction(snes, &F, nullptr, nullptr)); // differences read it
  PetscCall(AwaitCopies(F));
  PetscCall(TSComputeIFunction(ts, t, Y, adi->udot, F, adi->imex ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(ComputeJacobian(ts, 0, Y, *A, *B, &ok));
  PetscCheck(ok, PetscObjectComm((PetscObject)ts), PETSC_ERR_NOT_CONVERGED,
             "TS adi: the Jacobian at time %g is out of its domain", (double)t);
  *factor = -sign_of(adi);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComputeDerivative(TS ts, PetscReal t, Vec Y, Derivative *R)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)ts);
  Mat            B;
  PetscFunctionBegin;
  *R = {};
  PetscCall(ComputeMatrices(ts, t, Y, &R->A[0], &B, &R->factor[0]));
  if (adi_of(ts)->imex) {
    DM                  dm;
    RibbonTSRHSJacobian rhsjacobian;
    PetscCall(TSGetDM(ts, &dm));
    PetscCall(DMTSGetRHSJacobian(dm, &rhsjacobian, nullptr));
    PetscCheck(rhsjacobian && ts->Arhs, comm, PETSC_ERR_SUP,
               "TS adi: sensitivities need the Jacobian of the RHSFunction next to that of the IFunction: "
               "call TSSetRHSJacobian() with a matrix");
    PetscCall(TSComputeRHSJacobian(ts, t, Y, ts->Arhs, ts->Brhs));
    R->A[1] = ts->Arhs, R->factor[1] = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComputeParameterDerivative(TS ts, PetscReal t, Vec Y, Derivative *R)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  *R = {};
  if (ts->Jacp && ts->ijacobianp) {
    PetscCall(ClearRate(adi));
    PetscCall(TSComputeIJacobianP(ts, t, Y, adi->udot, 0, ts->Jacp, PETSC_TRUE));
    R->A[0] = ts->Jacp, R->factor[0] = adi->has_ifunction ? 1 : -1;
  }
  if (ts->Jacprhs && ts->rhsjacobianp) {
    PetscCall(TSComputeRHSJacobianP(ts, t, Y, ts->Jacprhs));
    R->A[1] = ts->Jacprhs, R->factor[1] = adi->has_ifunction ? -1 : 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComputeSplitJacobian(TS ts, PetscReal t, Vec Y, Mat *J)
{
  Mat         A;
  PetscScalar factor;
  PetscFunctionBegin;
  PetscCall(ComputeMatrices(ts, t, Y, &A, J, &factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AccuracyOfJacobian(TS ts, PetscReal *accuracy)
{
  Mat               A, B;
  DM                dm;
  RibbonTSIJacobian ijacobian;
  PetscErrorCode (*function)(SNES, Vec, Mat, Mat, void *);
  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIJacobian(dm, &ijacobian, nullptr));
  PetscCall(GetRHSMatrices(ts, &A, &B));
  PetscCall(SNESGetJacobian(ts->snes, nullptr, nullptr, &function, nullptr));
  const bool differences = function != SNESTSFormJacobian || ijacobian == TSComputeIJacobianDefaultColor;
  *accuracy              = 1000 * (B || !differences ? PETSC_MACHINE_EPSILON : PETSC_SQRT_MACHINE_EPSILON);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

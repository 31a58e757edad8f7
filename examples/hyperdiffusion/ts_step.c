/* SPDX-License-Identifier: BSD-2-Clause */
/* The batch as a TS: u' = J u with a constant J. The type of the TS and its options are those of the command
   line; by default it is PETSc's Crank-Nicolson method. */
#include "hyperdiffusion.h"

PetscErrorCode CreateStepper(const Problem *p, DM da, Mat J, TS *ts)
{
  TSAdapt adapt;

  PetscFunctionBeginUser;
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  PetscCall(TSSetDM(*ts, da));
  PetscCall(TSSetProblemType(*ts, TS_LINEAR));
  PetscCall(TSSetType(*ts, TSCN));
  PetscCall(TSSetRHSFunction(*ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(*ts, J, J, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetTimeStep(*ts, p->T / (PetscReal)p->steps));
  PetscCall(TSSetExactFinalTime(*ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSGetAdapt(*ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
  PetscCall(TSSetFromOptions(*ts));
  PetscFunctionReturn(0);
}

PetscErrorCode PrepareStepper(const Problem *p, TS ts, Vec u, Vec copy)
{
  PetscFunctionBeginUser;
  PetscCall(VecCopy(u, copy));
  PetscCall(TSSetMaxSteps(ts, 1));
  PetscCall(TSSolve(ts, copy));
  PetscCall(TSSetTime(ts, 0));
  PetscCall(TSSetStepNumber(ts, 0));
  PetscCall(TSSetMaxSteps(ts, p->steps));
  PetscCall(TSSetSolution(ts, u));
  PetscFunctionReturn(0);
}

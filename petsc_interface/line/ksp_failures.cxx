// SPDX-License-Identifier: BSD-2-Clause
#include "ksp_failures.hpp"

namespace ribbon::petsc::ksp_line {

PetscErrorCode AgreedFailure(KSP ksp, PCFailedReason *failed)
{
  PCFailedReason of_rank;
  int            reason;
  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(ksp->pc, &of_rank));
  reason = static_cast<int>(of_rank);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &reason, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp)));
  *failed = static_cast<PCFailedReason>(reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetUpAgain(KSP ksp)
{
  const PC         pc   = ksp->pc;
  auto            *line = static_cast<KSP_Line *>(ksp->data);
  PCFailedReason   reason;
  PetscObjectState state;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  PetscCall(PCGetFailedReason(pc, &reason));
  if (reason == PC_SUBPC_ERROR && line->failed_with != state) PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUpOnBlocks(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Reports a failure of the PC on all ranks. Collective.
static PetscErrorCode PassFailure(KSP ksp, PCFailedReason reason)
{
  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(ksp->pc, reason));
  PetscCall(
    PetscObjectStateGet((PetscObject)ksp->pc->pmat, &static_cast<KSP_Line *>(ksp->data)->failed_with));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EndNotFinite(KSP ksp, Block &k)
{
  PCFailedReason reason;
  PetscFunctionBegin;
  static_cast<KSP_Line *>(ksp->data)->judged = false;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "KSPSolve has not converged due to infinity or NaN norm");
  PetscCall(AgreedFailure(ksp, &reason));
  ksp->reason = reason ? KSP_DIVERGED_PC_FAILED : KSP_DIVERGED_NANORINF;
  if (!reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PassFailure(ksp, reason));
  for (PetscInt c = 0; c < k.columns; ++c)
    PetscCall(WithWrite(k.x, k.X, c, RibbonVecSetInfinity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EndFailed(KSP ksp, Mat A, Block &k, bool *failed)
{
  PCFailedReason reason = PC_NOERROR;
  PetscBool      is_line;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCLINE, &is_line));
  if (is_line) PetscCall(PCGetFailedReason(ksp->pc, &reason)); // the same on all ranks
  else if (ksp->normtype != KSP_NORM_NONE) PetscCall(AgreedFailure(ksp, &reason));
  *failed = reason != PC_NOERROR;
  if (!*failed) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_line) PetscCall(Precondition(ksp, A, k.b, k.B, k.x, k.X, k.columns));
  for (PetscInt c = 0; c < k.columns && !is_line; ++c)
    PetscCall(WithWrite(k.x, k.X, c, RibbonVecSetInfinity));
  PetscCall(PassFailure(ksp, reason));
  ksp->its = 0, ksp->reason = KSP_DIVERGED_PC_FAILED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc::ksp_line

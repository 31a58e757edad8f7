// SPDX-License-Identifier: BSD-2-Clause
// Residuals after a sweep: zero for the colour that was relaxed last, so that only the other rows are read.
#include "pc.hpp"

namespace ribbon::petsc {

namespace {

constexpr const char *key = "PCMulticolor_residual";

PC_Multicolor *context(PC pc)
{
  return static_cast<PC_Multicolor *>(pc->data);
}

PetscErrorCode State(Vec v, PetscObjectId *id, PetscObjectState *state)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)v, id));
  PetscCall(PetscObjectStateGet((PetscObject)v, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether neither the vectors nor A have changed since the last application.
PetscErrorCode IsLastSweep(PC pc, Mat A, Vec b, Vec x, bool *is)
{
  const auto      &swept = context(pc)->swept;
  PetscObjectId    id_b, id_x;
  PetscObjectState state_b, state_x, values;
  PetscFunctionBegin;
  PetscCall(State(b, &id_b, &state_b));
  PetscCall(State(x, &id_x, &state_x));
  PetscCall(PetscObjectStateGet((PetscObject)A, &values));
  *is = A == pc->pmat && id_b == swept.b && id_x == swept.x && state_b == swept.b_state &&
        state_x == swept.x_state && values == swept.values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The PC whose sweeps know residuals of A; null: none.
PetscErrorCode Attached(Mat A, PC *pc)
{
  PetscContainer container = nullptr;
  void          *pointer   = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, key, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, &pointer));
  *pc = static_cast<PC>(pointer);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatResidual() of a matrix with such a PC.
PetscErrorCode Residual(Mat A, Vec b, Vec x, Vec r)
{
  PC   pc   = nullptr; // a copy of the matrix has the operation, but no PC
  bool last = false, done = false;
  PetscFunctionBegin;
  PetscCall(Attached(A, &pc));
  if (pc) PetscCall(IsLastSweep(pc, A, b, x, &last));
  if (last) PetscCall(context(pc)->sweeps->residual(b, x, r, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *WhyNoResidual(const PC_Multicolor &mc, bool one_matrix, PetscMPIInt ranks)
{
  return ranks > 1             ? "there are several ranks"
         : !one_matrix         ? "Amat is not Pmat"
         : mc.rows.block() > 1 ? "unknowns are blocks"
         : mc.omega != 1       ? "omega is not 1"
         : mc.shift != 0       ? "there is a diagonal shift"
                               : "";
}

} // namespace

PetscErrorCode AttachResidual(PC pc)
{
  PC_Multicolor *mc = context(pc);
  PetscContainer container;
  PetscMPIInt    ranks;
  PetscFunctionBegin;
  PetscCall(DetachResidual(pc));
  if (!mc->residual || !mc->sweeps || !mc->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  mc->no_residual = WhyNoResidual(*mc, pc->mat == pc->pmat, ranks);
  if (!mc->no_residual.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)pc), &container));
  PetscCall(PetscContainerSetPointer(container, pc));
  PetscCall(PetscObjectCompose((PetscObject)pc->mat, key, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(MatSetOperation(pc->mat, MATOP_RESIDUAL, (void (*)(void))Residual));
  PetscCall(PetscObjectReference((PetscObject)pc->mat));
  mc->residual_of = pc->mat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DetachResidual(PC pc)
{
  PC_Multicolor *mc    = context(pc);
  PC             owner = nullptr;
  PetscFunctionBegin;
  mc->swept = {}, mc->no_residual.clear();
  if (!mc->residual_of) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Attached(mc->residual_of, &owner));
  if (owner == pc) { // another PC may have taken over
    PetscCall(MatSetOperation(mc->residual_of, MATOP_RESIDUAL, nullptr));
    PetscCall(PetscObjectCompose((PetscObject)mc->residual_of, key, nullptr));
  }
  PetscCall(MatDestroy(&mc->residual_of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RememberSweep(PC pc, Vec b, Vec x)
{
  PC_Multicolor *mc = context(pc);
  PetscFunctionBegin;
  if (!mc->residual_of) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(State(b, &mc->swept.b, &mc->swept.b_state));
  PetscCall(State(x, &mc->swept.x, &mc->swept.x_state));
  mc->swept.values = mc->values; // with a PC that is reused, A may have other entries
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

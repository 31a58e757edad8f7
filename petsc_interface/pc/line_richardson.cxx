// SPDX-License-Identifier: BSD-2-Clause
// Richardson's iteration with PC line as its preconditioner: PETSc hands over the whole of it where it needs no norms.
#include "line.hpp"

#include "../native_vectors.hpp"
#include "../session.hpp"

#include <petsc/private/kspimpl.h>

#include <cstring>

namespace ribbon::petsc {

PetscErrorCode IsCurrent(PC pc, bool *current)
{
  const auto      *line = static_cast<PC_Line *>(pc->data);
  PetscObjectState state, watched = line->watched_state;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  if (line->watched) PetscCall(PetscObjectStateGet((PetscObject)line->watched, &watched));
  *current = state == line->state && watched == line->watched_state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IsDirectNow(PC pc, bool *direct)
{
  PetscFunctionBegin;
  PetscCall(IsCurrent(pc, direct));
  *direct = *direct && static_cast<PC_Line *>(pc->data)->direct;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// `its` times x += M (b - A x). Tolerances are not looked at: no norm is known. In place of KSPSolve() of KSPRICHARDSON.
PetscErrorCode ApplyRichardson(PC pc, Vec b, Vec x, Vec work, PetscReal, PetscReal, PetscReal, PetscInt its, PetscBool x_is_zero, PetscInt *done, PCRichardsonConvergedReason *reason)
{
  auto         *line = static_cast<PC_Line *>(pc->data);
  const Events *events;
  bool          current = false;
  PetscFunctionBegin;
  PetscCall(CheckIsSetUp(pc));
  PetscCall(GetEvents(&events));
  PetscCall(IsCurrent(pc, &current));
  const bool exact = current && line->direct && line->precision == PC_LINE_PRECISION_SAME;
  PetscCall(PetscLogEventBegin(events->solve, pc, b, x, 0));
  if (line->failure.empty()) {
    PetscCall(line->sweep.richardson(pc->pmat, b, x, work, x_is_zero == PETSC_TRUE, its, exact, current && line->plain));
    *reason = PCRICHARDSON_CONVERGED_ITS;
  } else {
    const KSPConvergedReason failed = KSP_DIVERGED_PC_FAILED; // what PETSc makes of the reason is a KSPConvergedReason
    static_assert(sizeof failed == sizeof *reason);
    std::memcpy(reason, &failed, sizeof failed);
    PetscCall(VecSet(x, PETSC_INFINITY));
  }
  *done = its;
  PetscCall(PetscLogEventEnd(events->solve, pc, b, x, 0));
  PetscCall(PrintComparison(pc, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether nobody asks a KSP for norms of residuals, and its iteration is x += M (b - A x) with the A and M of this PC. What is left (scale, monitors, null spaces, transposes) PETSc sees to.
PetscErrorCode TakesNoNorms(PC pc, KSP ksp, bool *takes_none)
{
  PetscBool richardson;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  const bool unasked     = ksp->normtype == KSP_NORM_NONE || ksp->converged == KSPConvergedSkip;
  const bool self_scaled = ksp->nwork > 2; // the flag itself is hidden; PETSc looks at the scale alone, which is 1
  *takes_none            = richardson && unasked && !ksp->res_hist && !self_scaled && pc->mat == pc->pmat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PreSolveLine(PC pc, KSP ksp, Vec b, Vec)
{
  auto     *line       = static_cast<PC_Line *>(pc->data);
  bool      takes_none = false;
  PetscBool preonly;
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc)); // not every KSP has done so, and what follows is of this matrix
  PetscCall(RibbonCallPreSolve(pc, ksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &preonly));
  if (!preonly) PetscCall(CheckIsMultiplied(pc->mat, b, "PC line"));
  PetscCall(TakesNoNorms(pc, ksp, &takes_none));
  pc->ops->applyrichardson = takes_none ? ApplyRichardson : nullptr;
  if (preonly && line->some) {
    PetscCall(PCGetFailedReason(pc, &line->hidden));
    PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PostSolveLine(PC pc, KSP ksp, Vec, Vec)
{
  auto *line = static_cast<PC_Line *>(pc->data);
  PetscFunctionBegin;
  pc->ops->applyrichardson = nullptr;
  if (line->hidden == PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetFailedReason(pc, line->hidden));
  line->hidden = PC_NOERROR;
  ksp->reason  = KSP_DIVERGED_PC_FAILED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

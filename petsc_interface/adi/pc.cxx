// SPDX-License-Identifier: BSD-2-Clause
#include "pc.hpp"

#include "../support/native_vectors.hpp"

#include <petsc/private/kspimpl.h>

#include <utility>

using namespace ribbon::petsc;

static PC_ADI *context(PC pc)
{
  return static_cast<PC_ADI *>(pc->data);
}

/// Solves along the directions of the sequence, in reverse order if transposed: x = P_D^-1 M ... M P_1^-1
/// b. b is not overwritten. `b` may be between[0].
static PetscErrorCode PassDirections(PC_ADI *adi, bool transposed, Vec b, Vec x)
{
  const std::size_t n    = adi->sequence.size();
  Vec               from = b, other = adi->between[b == adi->between[0]];
  PetscFunctionBegin;
  for (std::size_t k = 0; k < n; ++k) {
    const int d  = adi->sequence[transposed ? n - 1 - k : k];
    const Vec to = k + 1 == n ? x : other;
    PetscCall(transposed ? adi->factors.solve_transposed(d, from, to) : adi->factors.solve(d, from, to));
    if (k + 1 == n) break;
    if (!adi->splitting.mass_is_identity()) PetscCall(adi->splitting.multiply_mass(to, to));
    from = to, other = adi->between[to == adi->between[0]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_ADI(PC pc, Vec b, Vec x)
{
  PC_ADI *adi = context(pc);
  PetscFunctionBegin;
  if (adi->failed) {
    PetscCall(RibbonVecSetInfinity(x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (adi->right) PetscCall(VecPointwiseMult(adi->between[0], adi->right, b));
  PetscCall(PassDirections(adi, false, adi->right ? adi->between[0] : b, x));
  if (adi->splitting.algebraic_couple()) {
    PetscCall(VecPointwiseMult(adi->between[0], adi->right, b));
    PetscCall(adi->splitting.solve_algebraic(adi->between[0], x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_ADI(PC pc, Vec b, Vec x)
{
  PC_ADI *adi = context(pc);
  PetscFunctionBegin;
  if (adi->failed) {
    PetscCall(RibbonVecSetInfinity(x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!adi->splitting.algebraic_couple()) {
    PetscCall(PassDirections(adi, true, b, x));
    if (adi->right) PetscCall(VecPointwiseMult(x, x, adi->right));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!adi->algebraic_part) PetscCall(VecDuplicate(adi->right, &adi->algebraic_part));
  PetscCall(VecCopy(b, adi->between[0]));
  PetscCall(adi->splitting.solve_algebraic_transposed(adi->between[0], adi->algebraic_part));
  PetscCall(PassDirections(adi, true, adi->between[0], x));
  PetscCall(VecAXPY(x, 1, adi->algebraic_part));
  PetscCall(VecPointwiseMult(x, x, adi->right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether one application is the inverse of the matrix.
static bool is_inverse(const PC_ADI *adi)
{
  return adi->sequence.size() == 1 && adi->splitting.remainder().mixed == 0;
}

/// Outside time steps and nested solvers, one application of a PC that is not the inverse would be a wrong
/// solution without a message.
static PetscErrorCode PCPreSolve_ADI(PC pc, KSP ksp, Vec b, Vec)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const PC_ADI  *adi  = context(pc);
  PetscBool      preonly;
  PetscFunctionBegin;
  PetscCall(RibbonCallPreSolve(pc, ksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &preonly));
  if (!preonly) PetscCall(CheckIsMultiplied(pc->mat, b, "PC adi"));
  if (preonly && ((PetscObject)ksp)->tablevel > 0 && !is_inverse(adi))
    PetscCall(PetscInfo(pc, "PC adi: one application is no inverse of the matrix; a Krylov method has to "
                            "stand around KSP preonly, which this PC cannot see, or a W-method\n"));
  if (!preonly || ((PetscObject)ksp)->tablevel > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(adi->sequence.size() == 1, comm, PETSC_ERR_ARG_WRONGSTATE,
             "PC adi solves no system in one application: use a Krylov method in place of -ksp_type preonly");
  PetscCheck(adi->splitting.remainder().mixed == 0, comm, PETSC_ERR_ARG_WRONGSTATE,
             "PC adi found %s alone and leaves out %" PetscInt_FMT
             " couplings along no direction, so one application "
             "solves no system: use a Krylov method in place of -ksp_type preonly",
             adi->splitting.name(0), adi->splitting.remainder().mixed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_ADI(PC pc)
{
  PC_ADI *adi = context(pc);
  PetscFunctionBegin;
  PetscCall(adi->factors.reset());
  PetscCall(adi->splitting.reset());
  for (Vec *v : {&adi->mass, &adi->right, &adi->between[0], &adi->between[1], &adi->algebraic_part})
    PetscCall(VecDestroy(v));
  adi->sequence.clear();
  adi->failed = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_ADI(PC pc)
{
  PetscFunctionBegin;
  const PetscErrorCode error = SetUpADI(pc, context(pc));
  if (error) { // PETSc assumes that the set-up succeeded: make the next call start again
    PetscCall(PCReset_ADI(pc));
    pc->setupcalled = decltype(pc->setupcalled)(0);
  }
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_ADI(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_ADI(pc));
  PetscCall(ComposeADIOptions(pc, false));
  delete context(pc);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_ADI(PC pc, PetscViewer viewer)
{
  PC_ADI   *adi = context(pc);
  PetscBool ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (adi->sequence.empty()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  directions %s, shift %g%s (not set up)\n",
                                     adi->directions.empty() ? "auto" : names_of(adi->directions).c_str(),
                                     (double)adi->shift, adi->symmetric ? ", symmetric" : ""));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::string order;
  for (int d : adi->sequence) order += (order.empty() ? "" : ",") + std::string(adi->splitting.name(d));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  directions: %s, from the %s\n", order.c_str(),
                                   adi->splitting.source()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  shift: %g, %s\n", (double)adi->used, adi->source));
  const DirectionSplitting::Remainder &left = adi->splitting.remainder();
  PetscCall(PetscViewerASCIIPrintf(
    viewer, "  left out: %" PetscInt_FMT " couplings along no direction, growth in %" PetscInt_FMT " rows\n",
    left.mixed, left.growth));
  if (left.mixed > 0 || left.growth > 0)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "    a Krylov method solves for them; under -ksp_type preonly, W-methods "
              "keep their order without\n"));
  if (!is_inverse(adi))
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  one application is no inverse of the matrix: under -ksp_type preonly "
                                     "a Krylov method has to stand around that, or a W-method\n"));
  if (left.torn > 0)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  algebraic rows that couple along several directions: %" PetscInt_FMT "\n", left.torn));
  if (adi->failed)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", adi->factors.failure_sentence().c_str()));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(adi->factors.view(viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_ADI(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(SetADIFromOptions(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_ADI(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new PC_ADI);
  context(pc)->factors.set_owner((PetscObject)pc);
  pc->ops->setup          = PCSetUp_ADI;
  pc->ops->apply          = PCApply_ADI;
  pc->ops->applytranspose = PCApplyTranspose_ADI;
  pc->ops->presolve       = PCPreSolve_ADI;
  pc->ops->setfromoptions = PCSetFromOptions_ADI;
  pc->ops->view           = PCView_ADI;
  pc->ops->reset          = PCReset_ADI;
  pc->ops->destroy        = PCDestroy_ADI;
  PetscCall(ComposeADIOptions(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

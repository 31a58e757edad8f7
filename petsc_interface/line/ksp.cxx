// SPDX-License-Identifier: BSD-2-Clause
#include "ksp.hpp"

using namespace ribbon::petsc;

static PetscErrorCode KSPSetUp_Line(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(ChoosePC(ksp, false)); // a PC that was set after the type of the KSP
  if (ksp->setfromoptionscalled) PetscCall(ReadPCOptions(ksp));
  PetscCall(PassPrecision(ksp));
  PetscCall(KSPSetWorkVecs(ksp, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_Line(KSP ksp)
{
  auto *line = static_cast<KSP_Line *>(ksp->data);
  PetscFunctionBegin;
  line->lines.reset();
  line->accurate.reset();
  line->solved = line->judged = false, line->set_up = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_Line(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(ComposeKSPLineOptions(ksp, false));
  PetscCall(PetscViewerDestroy(&static_cast<KSP_Line *>(ksp->data)->viewer));
  delete static_cast<KSP_Line *>(ksp->data);
  ksp->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_Line(KSP ksp, PetscViewer viewer)
{
  auto      *line = static_cast<KSP_Line *>(ksp->data);
  LineCounts counts;
  PetscBool  ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !line->judged) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CountLines(ksp, &counts));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  last solve: %" PetscInt64_FMT " lines, %" PetscInt64_FMT
                                   " refined, %" PetscInt64_FMT
                                   " not at the tolerance, largest residual %.1e of its right-hand side\n",
                                   counts.lines, counts.refined, counts.open, (double)counts.worst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_Line(KSP ksp, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(SetKSPLineFromOptions(ksp, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPCreate_Line(KSP ksp)
{
  PetscFunctionBegin;
  PetscCallCXX(ksp->data = new KSP_Line);
  ksp->ops->setup          = KSPSetUp_Line;
  ksp->ops->solve          = KSPSolve_Line;
  ksp->ops->matsolve       = KSPMatSolve_Line;
  ksp->ops->setfromoptions = KSPSetFromOptions_Line;
  ksp->ops->view           = KSPView_Line;
  ksp->ops->reset          = KSPReset_Line;
  ksp->ops->destroy        = KSPDestroy_Line;
  ksp->ops->buildsolution  = KSPBuildSolutionDefault;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;
  for (PCSide side : {PC_LEFT, PC_RIGHT}) { // M is applied on neither side
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, side, side == PC_LEFT ? 3 : 2));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, side, 1));
  }
  PetscCall(ComposeKSPLineOptions(ksp, true));
  PetscCall(ChoosePC(ksp, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

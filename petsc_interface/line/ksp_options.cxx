// SPDX-License-Identifier: BSD-2-Clause
#include "../support/options.hpp"
#include "ksp.hpp"

#include <cstring>

namespace ribbon::petsc {

namespace {

/// The precision that KSP line passes on: the PC does not refine, because KSP line does.
const char *const precisions[] = {"same", "single", "PCLinePrecision", "PC_LINE_PRECISION_", nullptr};

KSP_Line *context(KSP ksp)
{
  return static_cast<KSP_Line *>(ksp->data);
}

PetscErrorCode SetPrecision(KSP ksp, PCLinePrecision precision)
{
  PetscBool is_line;
  PC        pc;
  PetscFunctionBegin;
  context(ksp)->precision = precision, context(ksp)->precision_set = true;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLINE, &is_line));
  if (is_line) PetscCall(PassPrecision(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetPrecision(KSP ksp, PCLinePrecision *precision)
{
  PetscBool is_line;
  PC        pc;
  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLINE, &is_line));
  *precision = context(ksp)->precision;
  if (is_line && !context(ksp)->precision_set) PetscCall(PCLineGetPrecision(pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetInfo(KSP ksp, PetscInt *lines, PetscInt *refined, PetscInt *open, PetscReal *worst)
{
  LineCounts counts;
  PetscFunctionBegin;
  PetscCheck(context(ksp)->solved, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE,
             "KSPLineGetInfo: call KSPSolve() first");
  PetscCall(CountLines(ksp, &counts));
  if (lines) *lines = static_cast<PetscInt>(counts.lines);
  if (refined) *refined = static_cast<PetscInt>(counts.refined);
  if (open) *open = static_cast<PetscInt>(counts.open);
  if (worst) *worst = counts.worst;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetLines(KSP ksp, PetscInt *n, PetscInt rows[], PetscInt columns[], PetscInt solves[],
                        PetscReal residuals[])
{
  PetscFunctionBegin;
  PetscCheck(context(ksp)->solved, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE,
             "KSPLineGetLines: call KSPSolve() first");
  PetscCall(CopyLines(ksp, n, rows, columns, solves, residuals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetBackwardError(KSP ksp, PetscReal *worst, PetscInt *row)
{
  Vec       errors;
  PetscReal largest;
  PetscInt  of_largest;
  PetscFunctionBegin;
  PetscCall(BackwardErrors(ksp, &errors));
  PetscCall(VecMax(errors, &of_largest, &largest));
  PetscCall(VecDestroy(&errors));
  if (worst) *worst = PetscMax(largest, 0);
  if (row) *row = of_largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadView(KSP ksp, RibbonOptionItems PetscOptionsObject)
{
  KSP_Line *line = context(ksp);
  PetscFunctionBegin;
  PetscCall(PetscViewerDestroy(&line->viewer));
  PetscCall(PetscOptionsViewer("-ksp_line_view",
                               "Every solve prints how many lines were refined, and the worst lines",
                               "KSPLineView", &line->viewer, &line->format, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr auto ksp_line_options = std::make_tuple(
  Option("-ksp_line_precision", "What PC line factors and solves lines in: PETSc's precision, or single",
         "KSPLineSetPrecision", OptionMethods<KSP, PCLinePrecision>{SetPrecision, GetPrecision}, precisions,
         "is neither PC_LINE_PRECISION_SAME nor PC_LINE_PRECISION_SINGLE"),
  SpecialOption<KSP>{ReadView});

/// Whether PETSc chose the type of a PC by default, in PCSetFromOptions() or PCSetUp().
PetscErrorCode IsDefault(PC pc, PetscBool *is_default)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, is_default, PCILU, PCICC, PCBJACOBI, ""));
  if (!pc->setfromoptionscalled && !pc->setupcalled) *is_default = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ChoosePC(KSP ksp, bool at_creation)
{
  KSP_Line *line = context(ksp);
  PetscBool by_option, by_default = PETSC_FALSE, asked = PETSC_FALSE;
  char      type[256];
  PC        pc;
  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  bool choose = !((PetscObject)pc)->type_name;
  if (at_creation) {
    PetscCall(
      PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_type", &by_option));
    if (by_option) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscOptionsGetString(((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, "-ksp_type",
                                    type, sizeof type, &asked));
    if (!choose) PetscCall(IsDefault(pc, &by_default));
    choose = choose || by_default || (asked && std::strcmp(type, KSPLINE) == 0);
  }
  if (choose) {
    PetscCall(PCSetType(pc, PCLINE));
    line->chose_pc = true;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadPCOptions(KSP ksp)
{
  PetscFunctionBegin;
  if (context(ksp)->chose_pc && !ksp->skippcsetfromoptions) PetscCall(PCSetFromOptions(ksp->pc));
  context(ksp)->chose_pc = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PassPrecision(KSP ksp)
{
  const KSP_Line *line = context(ksp);
  PetscBool       is_line;
  PetscFunctionBegin;
  if (!line->precision_set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCLINE, &is_line));
  PetscCheck(is_line || line->precision == PC_LINE_PRECISION_SAME, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_INCOMP,
             "KSP line: -ksp_line_precision %s is for PC line, but the PC is of type %s",
             PCLinePrecisions[line->precision], ((PetscObject)ksp->pc)->type_name);
  PetscCall(PCLineSetPrecision(ksp->pc, line->precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComposeKSPLineOptions(KSP ksp, bool attach)
{
  PetscFunctionBegin;
  PetscCall(ComposeOptions(ksp, ksp_line_options, attach));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPLineView_C", attach ? ViewLines : nullptr));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPLineGetInfo_C", attach ? GetInfo : nullptr));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPLineGetLines_C", attach ? GetLines : nullptr));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPLineGetBackwardError_C",
                                       attach ? GetBackwardError : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetKSPLineFromOptions(KSP ksp, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(ReadPCOptions(ksp));
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP line options");
  PetscCall(ReadOptions(ksp, ksp_line_options, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

using namespace ribbon::petsc;

RIBBON_OPTION(ksp_line_options, KSP, KSPLine, Precision, PCLinePrecision)

PetscErrorCode KSPLineView(KSP ksp, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPLineView_C", (KSP, PetscViewer), (ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPLineGetInfo(KSP ksp, PetscInt *lines, PetscInt *refined, PetscInt *open, PetscReal *worst)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPLineGetInfo_C", (KSP, PetscInt *, PetscInt *, PetscInt *, PetscReal *),
                 (ksp, lines, refined, open, worst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPLineGetLines(KSP ksp, PetscInt *n, PetscInt rows[], PetscInt columns[], PetscInt solves[],
                               PetscReal residuals[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPLineGetLines_C", (KSP, PetscInt *, PetscInt[], PetscInt[], PetscInt[], PetscReal[]),
                 (ksp, n, rows, columns, solves, residuals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPLineGetBackwardError(KSP ksp, PetscReal *worst, PetscInt *row)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPLineGetBackwardError_C", (KSP, PetscReal *, PetscInt *), (ksp, worst, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

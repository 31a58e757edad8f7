// SPDX-License-Identifier: BSD-2-Clause
#include "pc.hpp"

#include "../support/session.hpp"

using namespace ribbon::petsc;

PetscErrorCode ribbon::petsc::CheckIsSetUp(PC pc)
{
  auto            *line = static_cast<PC_Line *>(pc->data);
  PetscObjectState state;
  PetscFunctionBegin;
  if (line->watched && !pc->reusepreconditioner) {
    PetscCall(PetscObjectStateGet((PetscObject)line->watched, &state));
    if (state != line->watched_state) PetscUseTypeMethod(pc, setup);
  }
  PetscCheck(!static_cast<PC_Line *>(pc->data)->sweep.sequences.empty(), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_WRONGSTATE, "PC line: not set up, or the set-up raised an error");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void set_refined(PC_Line *line, bool on)
{
  for (LineGroup &group : line->sweep.groups)
    for (LineBatch &batch : group.batches)
      if (batch.op) batch.op->set_refined(on);
}

RefinedOutside::RefinedOutside(PC_Line *line, bool instead) : line_(line)
{
  if (!line_) return;
  line_->refined_outside = true;
  set_refined(line_, !instead);
}

RefinedOutside::~RefinedOutside()
{
  if (!line_) return;
  line_->refined_outside = false;
  set_refined(line_, true);
}

PetscErrorCode ribbon::petsc::WarnOfUnrefined(PC pc)
{
  const auto *line    = static_cast<const PC_Line *>(pc->data);
  bool        rounded = false; // false for lines that span ranks
  PetscFunctionBegin;
  if (line->precision != PC_LINE_PRECISION_SINGLE_UNREFINED || line->refined_outside)
    PetscFunctionReturn(PETSC_SUCCESS);
  for (const LineGroup &group : line->sweep.groups)
    for (const LineBatch &batch : group.batches) rounded = rounded || batch.facts.rounded;
  if (!rounded) PetscFunctionReturn(PETSC_SUCCESS);
  const std::string option = option_of(pc, "pc_line_precision");
  PetscCall(WarnOnce(
    PetscObjectComm((PetscObject)pc), option,
    "PC line: " + option +
      " single_unrefined: applications have relative errors of 1e-7 and more, so that a Krylov method "
      "may report a residual that its solution does not have; use " +
      option + " single, or a KSP that docs/reference/PCLINE.md calls safe"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(PC pc, Vec b, Vec x, bool transposed)
{
  auto         *line = static_cast<PC_Line *>(pc->data);
  const Events *events;
  bool          current = false;
  PetscFunctionBegin;
  PetscCall(CheckIsSetUp(pc));
  PetscCall(WarnOfUnrefined(pc));
  PetscCall(GetEvents(&events));
  PetscCall(IsCurrent(pc, &current));
  PetscCall(PetscLogEventBegin(events->solve, pc, b, x, 0));
  const bool solves = line->failure.empty() || (line->some && !transposed);
  if (transposed && solves) PetscCall(line->sweep.transpose(PetscObjectComm((PetscObject)pc)));
  if (solves) PetscCall(line->sweep.apply(pc->pmat, b, x, transposed, current && line->plain));
  else PetscCall(RibbonVecSetInfinity(x));
  PetscCall(PetscLogEventEnd(events->solve, pc, b, x, 0));
  PetscCall(PrintComparison(pc, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Line(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(pc, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_Line(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(pc, b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For a PC that is one solve. PETSc applies every other PC column by column.
static PetscErrorCode MatSolve(PC pc, Mat B, Mat X, bool transposed)
{
  auto         *line = static_cast<PC_Line *>(pc->data);
  const Events *events;
  bool          current = false;
  PetscFunctionBegin;
  PetscCall(CheckIsSetUp(pc));
  PetscCall(WarnOfUnrefined(pc));
  PetscCall(GetEvents(&events));
  PetscCall(IsCurrent(pc, &current));
  PetscCall(PetscLogEventBegin(events->solve, pc, B, X, 0));
  const bool solves = line->failure.empty() || (line->some && !transposed);
  if (solves && transposed) PetscCall(line->sweep.transpose(PetscObjectComm((PetscObject)pc)));
  if (solves && line->sweep.is_one_solve()) {
    for (LineBatch &batch : line->sweep.groups[0].batches) PetscCall(batch.op->solve(B, X, transposed));
    PetscCall(CompareColumns(line, B, X, transposed));
  } else { // failed, or just set up as more than one solve
    PetscInt columns;
    PetscCall(MatGetSize(X, nullptr, &columns));
    for (PetscInt c = 0; c < columns; ++c) {
      Vec b, x;
      PetscCall(MatDenseGetColumnVecRead(B, c, &b));
      PetscCall(MatDenseGetColumnVecWrite(X, c, &x));
      if (solves) PetscCall(line->sweep.apply(pc->pmat, b, x, transposed, current && line->plain));
      else PetscCall(RibbonVecSetInfinity(x));
      PetscCall(MatDenseRestoreColumnVecWrite(X, c, &x));
      PetscCall(MatDenseRestoreColumnVecRead(B, c, &b));
    }
  }
  PetscCall(PetscLogEventEnd(events->solve, pc, B, X, 0));
  PetscCall(PrintComparison(pc, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_Line(PC pc, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(MatSolve(pc, B, X, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

[[maybe_unused]] static PetscErrorCode PCMatApplyTranspose_Line(PC pc, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(MatSolve(pc, B, X, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PCMatApply() solves all columns at once if M is one solve.
static void SetMatApply(PC pc, bool one_solve)
{
  pc->ops->matapply = one_solve ? PCMatApply_Line : nullptr;
#if defined(RIBBON_PETSC_HAS_MATAPPLYTRANSPOSE)
  pc->ops->matapplytranspose = one_solve ? PCMatApplyTranspose_Line : nullptr;
#endif
}

static PetscErrorCode PCReset_Line(PC pc)
{
  auto *line = static_cast<PC_Line *>(pc->data);
  PetscFunctionBegin;
  SetMatApply(pc, false);
  PetscCall(line->sweep.reset());
  PetscCall(MatDestroy(&line->watched));
  line->candidates.reset();
  line->requests.clear(), line->names.clear(), line->source.clear(), line->why.clear(), line->failure.clear(),
    line->pinned.clear(), line->one_way.clear();
  line->refreshes = 0, line->status = ribbon::FactorStatus::ok, line->ordered = PC_LINE_ORDERING_JACOBI;
  line->some = line->direct = line->plain = line->left_out = line->swapped = line->solved_one_way =
    line->equal = line->not_finite = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Line(PC pc)
{
  auto *line      = static_cast<PC_Line *>(pc->data);
  bool  refreshed = false;
  PetscFunctionBegin;
  PetscCheck(pc->pmat->assembled, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PC line: Pmat is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscErrorCode error = RefreshLine(pc, line, &refreshed);
  if (!error && !refreshed) {
    PetscCall(PCReset_Line(pc)); // after an error below no data of the last matrix remain
    error = SetUpLine(pc, line);
  }
  if (error) { // PETSc assumes that the set-up succeeded: make the next call start again
    PetscCall(PCReset_Line(pc));
    pc->setupcalled = decltype(pc->setupcalled)(0);
  }
  PetscCall(error);
  SetMatApply(pc, line->sweep.is_one_solve());
  if (line->viewer) {
    PetscCall(PetscViewerPushFormat(line->viewer, line->format));
    PetscCall(PetscObjectPrintClassNamePrefixType((PetscObject)pc, line->viewer));
    PetscCall(ViewLine(pc, line, line->viewer));
    PetscCall(PetscViewerPopFormat(line->viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_Line(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Line(pc));
  PetscCall(ComposeLineOptions(pc, false));
  PetscCall(PetscViewerDestroy(&static_cast<PC_Line *>(pc->data)->viewer));
  delete static_cast<PC_Line *>(pc->data);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_Line(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(ViewLine(pc, static_cast<PC_Line *>(pc->data), viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_Line(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(SetLineFromOptions(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_Line(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new PC_Line);
  pc->ops->setup          = PCSetUp_Line;
  pc->ops->apply          = PCApply_Line;
  pc->ops->applytranspose = PCApplyTranspose_Line;
  pc->ops->presolve       = PreSolveLine;
  pc->ops->postsolve      = PostSolveLine;
  pc->ops->setfromoptions = PCSetFromOptions_Line;
  pc->ops->view           = PCView_Line;
  pc->ops->reset          = PCReset_Line;
  pc->ops->destroy        = PCDestroy_Line;
  PetscCall(ComposeLineOptions(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

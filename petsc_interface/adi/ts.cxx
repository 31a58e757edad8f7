// SPDX-License-Identifier: BSD-2-Clause
#include "ts.hpp"

#include "../support/session.hpp"

using namespace ribbon::petsc;

static PetscErrorCode TSRollBack_ADI(TS ts)
{
  TS_ADI *adi   = adi_of(ts);
  Vec    *start = RibbonStartOfStep(ts);
  PetscFunctionBegin;
  PetscCall(BringUp(adi));
  PetscCall(TSForwardRollBack_ADI(ts));
  PetscCall(VecCopy(adi->start, ts->vec_sol));
  if (start) PetscCall(VecCopy(adi->start, *start)); // TSRollBack() takes it from there
  adi->status = TS_STEP_INCOMPLETE;
  adi->since_restart--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Stores the solution at the start of this step, and the one before it, unless the step is repeated.
/// @param copied  TSStep() has just copied the solution (RibbonStartOfStep())
static PetscErrorCode BeginStep(TS ts, bool copied)
{
  TS_ADI *adi  = adi_of(ts);
  Vec    *copy = copied ? RibbonStartOfStep(ts) : nullptr;
  PetscFunctionBegin;
  if (ts->steprestart) {
    adi->before_is_there = adi->in_time.depends = false;
    adi->since_restart = 0, adi->in_time.looked = -1;
    adi->iterated.failures = 0, adi->iterated.longest = PETSC_MAX_REAL;
  } else if (!ts->steprollback && adi->status == TS_STEP_COMPLETE) { // otherwise the step is repeated
    std::swap(adi->before, adi->start);
    adi->before_delay = adi->start_delay;
    adi->before_time = adi->start_time, adi->before_is_there = adi->since_restart > 0;
  }
  adi->start_time = ts->ptime, adi->start_delay = {};
  if (copy) std::swap(*copy, adi->start);
  else PetscCall(VecCopy(ts->vec_sol, adi->start));
  adi->stages[0] = adi->start;
  adi->starting  = adi->since_restart < adi->rannacher;
  adi->status    = TS_STEP_INCOMPLETE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ribbon::petsc::ChooseStep(TS ts, PetscReal *next, PetscBool *accept)
{
  const TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(TSAdaptCandidatesClear(ts->adapt));
  PetscCall(TSAdaptCandidateAdd(ts->adapt, TSADITypes[adi->type], adi->method.order, 1, 1,
                                static_cast<PetscReal>(adi->method.stages), PETSC_TRUE));
  PetscCall(TSAdaptChoose(ts->adapt, ts, ts->time_step, nullptr, next, accept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The step is computed: TSAdapt accepts it, or it is repeated with the size that ts->time_step gets.
static PetscErrorCode Judge(TS ts)
{
  TS_ADI   *adi    = adi_of(ts);
  PetscReal next   = ts->time_step;
  PetscBool accept = PETSC_TRUE;
  PetscFunctionBegin;
  adi->status = TS_STEP_PENDING;
  PetscCall(ChooseStep(ts, &next, &accept));
  if (accept) {
    PetscCall(BoundStep(ts, &next));
    adi->status = TS_STEP_COMPLETE;
    if (ts->trajectory && adi->type == TS_ADI_AUTO) { // for the adjoint
      const auto at = static_cast<std::size_t>(ts->steps);
      if (adi->taken.size() <= at) PetscCallCXX(adi->taken.resize(at + 1));
      adi->taken[at] = adi->choice.type;
    }
    ts->ptime += ts->time_step;
    adi->since_restart++, adi->age++;
  }
  ts->time_step = next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One step from adi->start, with repetitions.
static PetscErrorCode TakeStep(TS ts)
{
  TS_ADI  *adi        = adi_of(ts);
  PetscInt rejections = 0;
  PetscFunctionBegin;
  adi->status = TS_STEP_INCOMPLETE, adi->repeats = false;
  while (!ts->reason && adi->status != TS_STEP_COMPLETE) {
    bool ok;
    PetscCall(SNESSetConvergedReason(ts->snes, SNES_CONVERGED_ITERATING)); // of the rejected step
    PetscCall(Advance(ts, &ok));
    if (ok) PetscCall(Judge(ts));
    if (adi->status == TS_STEP_COMPLETE) break;
    // repeat the step
    adi->status = TS_STEP_INCOMPLETE, adi->repeats = true;
    PetscCall(VecCopy(adi->start, ts->vec_sol));
    // the Jacobian may be the cause, or belong to another time
    if (!ok || adi->method.c[0] != 0) adi->age = -1;
    ts->reject++;
    if (!ts->reason && ++rejections > ts->max_reject && ts->max_reject >= 0) {
      ts->reason = TS_DIVERGED_STEP_REJECTED;
      PetscCall(PetscInfo(ts,
                          "Step=%" PetscInt_FMT ", step rejections %" PetscInt_FMT
                          " greater than current TS allowed, stopping solve\n",
                          ts->steps, rejections));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The postponed steps and this one as ordinary steps.
static PetscErrorCode TakePostponed(TS ts)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  for (PetscInt steps = UndoPostponed(ts); steps > 0; --steps) {
    adi->start_time = ts->ptime;
    PetscCall(TakeStep(ts));
    if (ts->reason) PetscFunctionReturn(PETSC_SUCCESS);
    ts->steps++, ts->ptime_prev = adi->start_time, ts->steprestart = PETSC_FALSE;
    PetscCall(BeginStep(ts, false));
  }
  PetscCall(TakeStep(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The postponed steps and this one. `begun`: adi->start is the solution at their start.
static PetscErrorCode TakeSteps(TS ts, bool *begun)
{
  bool fused, ok = false;
  PetscFunctionBegin;
  PetscCall(RefuseWhatIsIgnored(ts));
  PetscCall(PrepareFused(ts, &fused));
  PetscCall(BeginStep(ts, true));
  *begun = true;
  if (fused) PetscCall(AdvanceFused(ts, &ok));
  if (ok) PetscCall(Judge(ts));
  else PetscCall(TakePostponed(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSStep_ADI(TS ts)
{
  bool begun = false;
  PetscFunctionBegin;
  const PetscErrorCode error = TakeSteps(ts, &begun);
  if (error) PetscCall(DropSteps(ts, begun));
  else EndFused(ts);
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSGetStages_ADI(TS ts, PetscInt *n, Vec **Y)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(BringUp(adi));
  if (adi->stage_count == 2) adi->stages[1] = adi->fused.last ? ts->vec_sol : adi->value[1]; // at t + h
  if (n) *n = adi->stage_count;
  if (Y) *Y = adi->stages.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSReset_ADI(TS ts)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(adi->factors.reset());
  PetscCall(adi->splitting.reset());
  for (Vec *v : {&adi->before, &adi->start, &adi->udot, &adi->rhs, &adi->work, &adi->residual,
                 &adi->boundary[0], &adi->boundary[1], &adi->mass})
    PetscCall(VecDestroy(v));
  for (Vec &v : adi->value) PetscCall(VecDestroy(&v));
  for (Vec &v : adi->increment) PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&adi->mass_matrix));
  PetscCall(TSAdjointReset_ADI(ts));
  PetscCall(TSForwardReset_ADI(ts));
  PetscCall(ResetInTime(adi));
  PetscCall(KSPDestroy(&adi->iterated.ksp));
  for (Vec *v : {&adi->iterated.scale, &adi->iterated.work}) PetscCall(VecDestroy(v));
  adi->iterated = {};
  adi->taken.clear();
  adi->stages.fill(nullptr);
  adi->choice = {};
  adi->fused = {}, adi->before_delay = adi->start_delay = {}, adi->read = 0, adi->base = nullptr;
  adi->stage_count = 0, adi->age = -1, adi->since_restart = 0, adi->factor_scale = 0;
  adi->has_function = adi->mass_known = adi->before_is_there = adi->udot_is_zero = adi->resumes = false,
  adi->mass_is_diagonal                                                                         = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(RIBBON_PETSC_HAS_RESIZE)
/// When the grid changes, passes the last two solutions to the application and receives them on the new
/// grid. Everything else is created again.
static PetscErrorCode TSResizeRegister_ADI(TS ts, PetscBool hand_over)
{
  TS_ADI     *adi       = adi_of(ts);
  const char *name[2]   = {"ts:adi:before", "ts:adi:start"};
  Vec        *vector[2] = {&adi->before, &adi->start};
  PetscFunctionBegin;
  if (hand_over) PetscCall(BringUp(adi));
  if (hand_over) adi->kept = {adi->before_time, adi->start_time, adi->before_is_there, adi->since_restart};
  for (int k = 0; k < 2; ++k) {
    if (hand_over) PetscCall(TSResizeRegisterVec(ts, name[k], *vector[k]));
    else {
      PetscCall(TSResizeRetrieveVec(ts, name[k], vector[k]));
      PetscCall(PetscObjectReference((PetscObject)*vector[k]));
    }
  }
  // otherwise the application has transferred only the solution: a new start
  if (!hand_over && adi->start) {
    adi->resumes     = true;
    adi->before_time = adi->kept.before_time, adi->start_time = adi->kept.start_time,
    adi->since_restart   = adi->kept.since_restart;
    adi->before_is_there = adi->kept.before_is_there && adi->before;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode TSSetUp_ADI(TS ts)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  if (!adi->resumes) PetscCall(TSReset_ADI(ts));
  adi->resumes = false;
  PetscCall(EnsureKokkos());
  adi->stage_count     = method_of(adi->type).stages;
  const int increments = PetscMax(adi->stage_count, 2); // a step of Rannacher's method has two
  for (Vec *v : {&adi->before, &adi->start, &adi->udot, &adi->rhs, &adi->work})
    if (!*v) PetscCall(VecDuplicate(ts->vec_sol, v));
  if (method_of(adi->type).multiplies) PetscCall(VecDuplicate(ts->vec_sol, &adi->residual));
  for (int i = 0; i < increments; ++i) {
    PetscCall(VecDuplicate(ts->vec_sol, &adi->increment[static_cast<std::size_t>(i)]));
    if (i > 0) PetscCall(VecDuplicate(ts->vec_sol, &adi->value[static_cast<std::size_t>(i)]));
  }
  adi->stages    = adi->value;
  adi->stages[0] = adi->start;
  PetscCall(ClearRate(adi));
  PetscCall(PrepareSNES(ts));
  adi->factors.set_owner((PetscObject)ts);
  PetscCall(WatchSolve(ts, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSDestroy_ADI(TS ts)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(TSReset_ADI(ts));
  PetscCall(WatchSolve(ts, false));
  PetscCall(GiveMatrices(ts, false));
  if (ts->snes) ts->snes->usesksp = PETSC_TRUE; // for the next type
  for (TS_ADI::DirectionJacobian &direction : adi->given) PetscCall(MatDestroy(&direction.A));
  PetscCall(ComposeADIOptions(ts, false));
  delete adi;
  ts->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSView_ADI(TS ts, PetscViewer viewer)
{
  TS_ADI   *adi = adi_of(ts);
  PetscBool ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (adi->type == TS_ADI_AUTO) PetscCall(ViewChoice(ts, viewer));
  else if (!method_of(adi->type).theta)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  method: %s\n", TSADITypes[adi->type]));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  method: %s, theta = %g\n", TSADITypes[adi->type],
                                     (double)theta_of(adi)));
  if (adi->rannacher > 0)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  starts with %" PetscInt_FMT " steps of two half steps of backward Euler\n", adi->rannacher));
  if (adi->lag_jacobian < 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  the Jacobian is computed once\n"));
  else if (adi->lag_jacobian > 1)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  a Jacobian serves %" PetscInt_FMT " steps\n", adi->lag_jacobian));
  PetscCall(ViewFused(ts, viewer));
  if (adi->in_time.used)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  functions depend on time: each step evaluates them at two more times\n"));
  if (adi->splitting.remainder().torn > 0)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  %" PetscInt_FMT " algebraic rows couple along several directions%s\n",
      adi->splitting.remainder().torn, adi->iterated.used ? "" : ": they hold to first order in the step"));
  if (adi->splitting.has_tensor_mass())
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  the mass matrix is a Kronecker product of one matrix for each direction\n"));
  if (adi->splitting.directions() > 0) PetscCall(adi->factors.view(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSSetFromOptions_ADI(TS ts, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(SetADIFromOptions(ts, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSCreate_ADI(TS ts)
{
  PetscFunctionBegin;
  PetscCallCXX(ts->data = new TS_ADI);
  ts->ops->setup            = TSSetUp_ADI;
  ts->ops->step             = TSStep_ADI;
  ts->ops->interpolate      = TSInterpolate_ADI;
  ts->ops->evaluatewlte     = TSEvaluateWLTE_ADI;
  ts->ops->evaluatestep     = TSEvaluateStep_ADI;
  ts->ops->rollback         = TSRollBack_ADI;
  ts->ops->getstages        = TSGetStages_ADI;
  ts->ops->reset            = TSReset_ADI;
  ts->ops->destroy          = TSDestroy_ADI;
  ts->ops->view             = TSView_ADI;
  ts->ops->setfromoptions   = TSSetFromOptions_ADI;
  ts->ops->adjointsetup     = TSAdjointSetUp_ADI;
  ts->ops->adjointstep      = TSAdjointStep_ADI;
  ts->ops->adjointreset     = TSAdjointReset_ADI;
  ts->ops->forwardsetup     = TSForwardSetUp_ADI;
  ts->ops->forwardreset     = TSForwardReset_ADI;
  ts->ops->forwardstep      = TSForwardStep_ADI;
  ts->ops->forwardgetstages = TSForwardGetStages_ADI;
  ts->ops->forwardintegral  = TSForwardIntegral_ADI;
#if defined(RIBBON_PETSC_HAS_RESIZE)
  ts->ops->resizeregister = TSResizeRegister_ADI;
#endif
  ts->ops->snesfunction  = FormFunctionADI;
  ts->ops->snesjacobian  = FormJacobianADI;
  ts->usessnes           = PETSC_TRUE;
  ts->default_adapt_type = TSADAPTBASIC;
  PetscCall(ComposeADIOptions(ts, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

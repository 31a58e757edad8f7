// SPDX-License-Identifier: BSD-2-Clause
// Fused steps of TS adi (docs/methods/fused_steps.md).
#include "ts_fused.hpp"

#include "../support/open_arrays.hpp"
#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

/// Whether the lines are those of a step of this size.
bool HasStep(TS ts, PetscReal theta)
{
  const FusedSteps &f = adi_of(ts)->fused;
  return f.lines && f.theta == theta &&
         (f.h == ts->time_step || IsRounded(ts, theta * ts->time_step, theta * f.h));
}

/// Factors for the step of the TS. `reason_of_step` says why there are no such steps.
PetscErrorCode MakeLines(TS ts, PetscReal theta, bool *ok)
{
  TS_ADI         *adi = adi_of(ts);
  FusedSteps     &f   = adi->fused;
  const PetscReal h   = ts->time_step;
  bool            device;
  PetscInt        n;
  PetscFunctionBegin;
  f.lines.reset(), f.reason_of_step.clear();
  PetscCall(Factor(ts, theta * h, false, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    adi->factors.make_steps(adi->splitting, 0, theta * h, (1 - theta) * h, &f.lines, &f.reason_of_step));
  if (f.lines) {
    int number = 0;
    PetscCall(VecGetLocalSize(ts->vec_sol, &n));
    PetscCall(VecIsOnDevice(ts->vec_sol, &device));
    if (n > 0 && device != f.lines->on_device())
      f.reason_of_step = device ? "the Jacobian is on the host, and the solution on the device"
                                : "the Jacobian is on the device, and the solution on the host";
    PetscCall(AgreeOnSentence(PetscObjectComm((PetscObject)ts), &f.reason_of_step, &number));
    if (!f.reason_of_step.empty()) f.lines.reset();
  }
  f.h = h, f.theta = theta;
  *ok = f.reason_of_step.empty();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Provides the lines for the step of the TS. `ok`: false if this step is an ordinary one.
PetscErrorCode Renew(TS ts, PetscReal theta, bool *ok)
{
  TS_ADI     *adi   = adi_of(ts);
  FusedSteps &f     = adi->fused;
  bool        known = false;
  PetscFunctionBegin;
  *ok = false;
  PetscCall(JacobianIsKnown(ts, &known));
  if (!known) {
    const PetscInt64 before  = f.generation;
    bool             is_read = false;
    PetscCall(Linearise(ts, ts->ptime, ts->vec_sol, ts->time_step, adi->rhs, ok));
    if (!*ok) PetscFunctionReturn(PETSC_SUCCESS); // the ordinary step reports it
    *ok          = false;
    f.run_ended  = false;
    f.generation = adi->splitting.generation();
    if (f.generation != before) f.lines.reset(), f.reason_of_step.clear();
    PetscCall(MatrixIsRead(ts, &is_read));
    if (adi->read == 0 || is_read) PetscCall(FindRefusal(ts, &f.reason));
    else f.reason = "-ts_adi_lag_jacobian keeps an earlier Jacobian";
  }
  if (!f.reason.empty() || (!f.reason_of_step.empty() && f.theta == theta && f.h == ts->time_step))
    PetscFunctionReturn(PETSC_SUCCESS);
  *ok = HasStep(ts, theta);
  if (*ok || (f.lines && f.theta == theta && IsMatched(ts))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MakeLines(ts, theta, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a step from the time of the TS ends the run, or comes close to a time at which TSSolve() stores
/// the solution, or needs the solutions before it for an interpolation.
bool IsSeen(TS ts)
{
  const PetscReal t = ts->ptime, h = ts->time_step;
  const bool      interpolates = ts->exact_final_time == TS_EXACTFINALTIME_INTERPOLATE;
  return ts->steps + 1 >= RibbonLastStep(ts) || t + h >= ts->max_time ||
         (interpolates && t + 3 * h >= ts->max_time) ||
         PetscAbsReal(RibbonNextEvaluationTime(ts) - (t + h)) <= h / 2;
}

/// Advances number and time of the TS over steps that the next TSStep() computes with its own.
PetscErrorCode Postpone(TS ts)
{
  TS_ADI        *adi  = adi_of(ts);
  FusedSteps    &f    = adi->fused;
  const PetscInt most = adi->fuse_steps > 0 ? PetscMin(adi->fuse_steps, 1 << 20) : 1 << 20;
  PetscFunctionBegin;
  f.time = ts->ptime, f.time_before = ts->ptime_prev, f.step = ts->time_step;
  adi->method = theta_method(f.theta);
  while (f.postponed + 1 < most && !IsSeen(ts)) {
    const PetscReal t = ts->ptime, h = ts->time_step, cached = RibbonCachedStep(ts->adapt);
    PetscReal       next;
    PetscBool       accept;
    RibbonResetEvaluationTolerance(ts);
    PetscCall(ChooseStep(ts, &next, &accept));
    RibbonResetEvaluationTolerance(ts);
    ts->ptime += h, ts->time_step = next;
    if (!accept || !HasStep(ts, f.theta)) { // TSStep() computes this step, and asks TSAdapt again
      ts->ptime = t, ts->time_step = h, RibbonCachedStep(ts->adapt) = cached;
      break;
    }
    ts->ptime_prev = t, ts->steps++, f.postponed++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Postpones the steps before the last one of the next call.
PetscErrorCode PostponeCall(TS ts)
{
  FusedSteps &f = adi_of(ts)->fused;
  bool        fused;
  PetscFunctionBegin;
  f.in_solve = true, f.postponed = 0;
  FindWhyOne(ts, &f.why_one);
  if (!f.why_one.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RefuseWhatIsIgnored(ts)); // before the times of the TS change
  PetscCall(PrepareFused(ts, &fused));
  f.prepared = true;
  if (fused) PetscCall(Postpone(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The function of TSSetPreStep(), which TSSolve() calls before TSStep().
PetscErrorCode PreStep(TS ts)
{
  PetscFunctionBegin;
  const PetscErrorCode error = PostponeCall(ts);
  if (error) PetscCall(DropSteps(ts, false));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PrepareFused(TS ts, bool *fused)
{
  TS_ADI     *adi  = adi_of(ts);
  FusedSteps &f    = adi->fused;
  const auto  comm = PetscObjectComm((PetscObject)ts);
  PetscFunctionBegin;
  *fused = false;
  PetscCall(WhyNoProduct(ts, &f.why_not));
  const bool starting = (ts->steprestart ? 0 : adi->since_restart) < adi->rannacher;
  if (f.why_not.empty() && !starting) {
    PetscCall(Renew(ts, theta_of(adi), fused));
    f.why_not = f.reason.empty() && !*fused ? f.reason_of_step : f.reason;
  }
  PetscCheck(f.why_not.empty() || adi->fuse_steps <= 0, comm, PETSC_ERR_SUP,
             "TS adi: -ts_adi_fuse_steps %" PetscInt_FMT ": steps cannot be fused: %s", adi->fuse_steps,
             f.why_not.c_str());
  if (!f.in_solve) {
    const bool hooked = ts->prestep && ts->prestep != PreStep;
    FindWhyOne(ts, &f.why_one);
    if (f.why_one.empty() && hooked) f.why_one = "there is a function of TSSetPreStep()";
    if (f.why_one.empty()) {
      f.why_one = "the application calls TSStep()";
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCheck(!*fused || f.why_one.empty() || adi->fuse_steps <= 1, comm, PETSC_ERR_SUP,
             "TS adi: -ts_adi_fuse_steps %" PetscInt_FMT ": a call takes one step only: %s", adi->fuse_steps,
             f.why_one.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AdvanceFused(TS ts, bool *ok)
{
  TS_ADI        *adi   = adi_of(ts);
  FusedSteps    &f     = adi->fused;
  const PetscInt count = f.postponed + 1;
  PetscFunctionBegin;
  PetscCall(f.lines->advance(static_cast<int>(count), ts->vec_sol, ok));
  int finite = *ok;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &finite, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)ts)));
  *ok = finite != 0;
  if (!*ok) {
    PetscCall(PetscInfo(ts,
                        "Step=%" PetscInt_FMT ": values are not finite after %" PetscInt_FMT
                        " fused steps, which are repeated as ordinary steps\n",
                        ts->steps, count));
    PetscCall(VecCopy(adi->start, ts->vec_sol));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ts->ksp_its += count, ts->snes_its += count;
  adi->method = theta_method(f.theta);
  adi->since_restart += f.postponed, adi->age += f.postponed;
  if (f.postponed > 0) {
    adi->start_delay = {f.postponed, f.lines};
    adi->before_time = ts->ptime_prev, adi->before_is_there = true;
  }
  f.longest = std::max(f.longest, count);
  f.last    = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void EndFused(TS ts)
{
  FusedSteps &f    = adi_of(ts)->fused;
  adi_of(ts)->base = nullptr;
  f.in_solve = f.prepared = false;
  f.postponed             = 0;
  f.run_ended             = ts->steps + 1 >= RibbonLastStep(ts) || ts->ptime >= ts->max_time;
  if (!ts->prestep) ts->prestep = PreStep; // the application has removed its own function
}

PetscInt UndoPostponed(TS ts)
{
  FusedSteps    &f     = adi_of(ts)->fused;
  const PetscInt steps = f.postponed;
  f.last               = false;
  if (steps > 0)
    ts->steps -= steps, ts->ptime = f.time, ts->ptime_prev = f.time_before, ts->time_step = f.step;
  f.postponed = 0;
  return steps;
}

PetscErrorCode DropSteps(TS ts, bool begun)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  UndoPostponed(ts);
  EndFused(ts);
  if (!begun) PetscFunctionReturn(PETSC_SUCCESS);
  adi->start_time = ts->ptime;
  // AdvanceFused() has replaced the solution before these steps
  if (adi->start_delay.steps > 0) adi->start_delay = {}, adi->before_is_there = false;
  PetscCall(VecCopy(adi->start, ts->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BringUp(TS_ADI *adi)
{
  Delay &start = adi->start_delay, &before = adi->before_delay;
  PetscFunctionBegin;
  if (start.steps > 0) {
    PetscCall(VecCopy(adi->start, adi->before));
    PetscCall(start.lines->advance(static_cast<int>(start.steps) - 1, adi->before, nullptr));
    PetscCall(VecCopy(adi->before, adi->start));
    PetscCall(start.lines->advance(1, adi->start, nullptr));
  } else if (before.steps > 0)
    PetscCall(before.lines->advance(static_cast<int>(before.steps), adi->before, nullptr));
  start = before = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WatchSolve(TS ts, bool on)
{
  PetscFunctionBegin;
  if (on && !ts->prestep) PetscCall(TSSetPreStep(ts, PreStep));
  if (!on && ts->prestep == PreStep) PetscCall(TSSetPreStep(ts, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewFused(TS ts, PetscViewer viewer)
{
  const FusedSteps &f = adi_of(ts)->fused;
  PetscFunctionBegin;
  if (!f.why_not.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  steps are not fused: %s\n", f.why_not.c_str()));
  else if (f.lines) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  steps are fused: up to %" PetscInt_FMT " in a call (%s)\n",
                                     f.longest, f.lines->facts().c_str()));
    if (!f.why_one.empty())
      PetscCall(PetscViewerASCIIPrintf(viewer, "    one step in a call: %s\n", f.why_one.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

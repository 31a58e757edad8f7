// SPDX-License-Identifier: BSD-2-Clause
// The method of -ts_adi_type auto (docs/methods/adi.md): ra34pw2, which has order 3; beyond the step up to which it is
// stable with GMRES, or hundsdorfer_verwer.
#include "ts.hpp"

#include "../support/format.hpp"

namespace ribbon::petsc {

namespace {

PetscReal amplification_of(const Choice &choice, const WMethod &m, PetscReal h)
{
  PetscReal transport[3], damping[3], mass[3];
  for (int d = 0; d < choice.directions; ++d) {
    transport[d] = h * choice.along[d].transport;
    damping[d]   = h * choice.along[d].damping;
    mass[d]      = choice.along[d].mass;
  }
  return amplification(m, choice.directions, transport, damping, mass);
}

/// The largest step up to which ra34pw2 is stable. PETSC_MAX_REAL: it is stable for every step.
PetscReal LargestStep(const Choice &choice)
{
  const WMethod   m       = ra34pw2();
  const PetscReal ratio   = PETSC_SQRT2 / PetscReal(1.2); // neighbouring sizes that are examined
  PetscReal       fastest = 0;
  for (const Choice::Transport &one : choice.along) fastest = PetscMax(fastest, one.transport);
  if (fastest == 0 || choice.directions < 2) return PETSC_MAX_REAL;
  for (PetscReal courant = 0.5; courant < 1e5; courant *= ratio)
    if (amplification_of(choice, m, courant / fastest) > Choice::tolerance) return courant / ratio / fastest;
  return PETSC_MAX_REAL;
}

/// Smallest ratio of a step and the bound of ra34pw2 for which GMRES pays.
constexpr PetscReal longer_with_iterations = PetscReal(1.5);

bool is_near(PetscReal a, PetscReal b)
{
  return PetscAbsReal(a - b) <= PetscReal(0.05) * PetscMax(a, b);
}

/// Updates the choice if the Jacobian has changed. Collective.
PetscErrorCode LookAtJacobian(TS ts)
{
  TS_ADI                   *adi       = adi_of(ts);
  Choice                   &choice    = adi->choice;
  const DirectionSplitting &splitting = adi->splitting;
  Choice::Transport         along[3];
  PetscFunctionBegin;
  if (choice.generation == splitting.generation()) PetscFunctionReturn(PETSC_SUCCESS);
  bool same         = choice.generation >= 0 && choice.directions == splitting.directions();
  choice.generation = splitting.generation(), choice.directions = splitting.directions();
  if (choice.directions < 2) {
    choice.known = true, choice.largest = PETSC_MAX_REAL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(splitting.transport(along, &choice.known));
  for (int d = 0; d < 3; ++d)
    same = same && is_near(along[d].transport, choice.along[d].transport) &&
           is_near(along[d].damping, choice.along[d].damping) && is_near(along[d].mass, choice.along[d].mass);
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < 3; ++d) choice.along[d] = along[d];
  choice.largest = choice.known ? LargestStep(choice) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A step with the Jacobian of LookAtJacobian().
PetscErrorCode TryChoice(const Step &step, PetscReal theta, bool *ok)
{
  TS_ADI    *adi    = step.adi;
  const bool stable = step.h <= adi->choice.largest;
  PetscReal  longest;
  PetscFunctionBegin;
  PetscCall(LongestIterated(step.ts, &longest));
  const bool iterates =
    theta == 0 && PetscAbsReal(step.h) <= longest && (!stable || adi->splitting.remainder().torn > 0);
  if (iterates) PetscCall(PrepareIterated(step));
  adi->choice.type        = theta == 0 && (stable || iterates) ? TS_ADI_RA34PW2 : TS_ADI_HUNDSDORFER_VERWER;
  const ADIMethod &method = method_of(adi->choice.type);
  // a trajectory stores equally many stages of all steps
  adi->stage_count = method_of(step.ts->trajectory ? TS_ADI_AUTO : adi->choice.type).stages;
  PetscCall(method.step(step, theta == 0 && method.theta ? method.theta(adi->choice.directions) : theta, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode StepOfChoice(const Step &step, PetscReal theta, bool *ok)
{
  TS_ADI *adi = step.adi;
  PetscFunctionBegin;
  // all methods have their first stage at the start of the step, with this Jacobian
  PetscCall(Linearise(step.ts, step.t, step.U, step.h, adi->rhs, ok));
  if (!*ok) {
    PetscCall(Refuse(step, step.t, step.U));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LookAtJacobian(step.ts));
  adi->has_function = true;
  PetscCall(TryChoice(step, theta, ok));
  if (adi->iterated.failed) { // the next choice does not use GMRES
    *ok               = true;
    adi->in_time.used = adi->iterated.used = adi->iterated.failed = false;
    for (bool &is : adi->in_time.evaluated) is = false;
    PetscCall(TryChoice(step, theta, ok));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BoundStep(TS ts, PetscReal *next)
{
  const TS_ADI   *adi   = adi_of(ts);
  const PetscReal bound = adi->choice.largest;
  PetscReal       longest;
  PetscBool       none;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts->adapt, TSADAPTNONE, &none));
  if (adi->type != TS_ADI_AUTO || adi->choice.type != TS_ADI_RA34PW2 || adi->starting || none ||
      *next <= bound)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LongestIterated(ts, &longest));
  // at equal errors steps of hundsdorfer_verwer are about a quarter of those of ra34pw2
  if (*next > longest) *next = PetscMax(PetscMax(bound, longest), *next / 4);
  if (*next <= longest && *next < longer_with_iterations * bound && adi->splitting.remainder().torn == 0)
    *next = bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewChoice(TS ts, PetscViewer viewer)
{
  const TS_ADI *adi    = adi_of(ts);
  const Choice &choice = adi->choice;
  std::string   method = TSADITypes[choice.type], why;
  PetscFunctionBegin;
  if (choice.generation < 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  method: auto, which the first step chooses\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (method_of(choice.type).theta)
    method += format(", theta = %g",
                     (double)(adi->theta > 0 ? adi->theta : method_of(choice.type).theta(choice.directions)));
  if (adi->theta > 0) why = "-ts_adi_theta sets its weight";
  else if (!choice.known) why = "the transport along the directions is not known";
  else if (choice.directions < 2) why = "ra34pw2 is stable for every step: there is one direction";
  else if (choice.largest == PETSC_MAX_REAL) why = "ra34pw2 is stable for every step: diffusion dominates";
  else why = format("ra34pw2 is stable for steps up to %g, because of transport", (double)choice.largest);
  if (adi->iterated.used)
    why +=
      format("\n    GMRES solved its stages, in %d iterations", static_cast<int>(adi->iterated.iterations));
  if (adi->iterated.failures > 0)
    why += format("\n    GMRES did not converge in %d steps, and is used for steps up to %g",
                  adi->iterated.failures, (double)adi->iterated.longest);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  method: auto, in the last step %s\n    %s\n", method.c_str(),
                                   why.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

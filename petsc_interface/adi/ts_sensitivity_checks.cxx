// SPDX-License-Identifier: BSD-2-Clause
// Conditions under which the factors of TS adi are constants, so that its sensitivities are exact.
#include "ts_sensitivities.hpp"

#include "mass.hpp"

namespace ribbon::petsc {

PetscErrorCode Depends(Vec U, Vec V, PetscReal tolerance,
                       const std::function<PetscErrorCode(Vec, Mat (&)[3])> &compute, bool *depends)
{
  Mat       matrices[3] = {nullptr, nullptr, nullptr}, before[3] = {nullptr, nullptr, nullptr};
  PetscReal size, difference;
  PetscFunctionBegin;
  *depends = false;
  PetscCall(compute(U, matrices));
  for (int k = 0; k < 3; ++k)
    if (matrices[k]) PetscCall(MatDuplicate(matrices[k], MAT_COPY_VALUES, &before[k]));
  PetscCall(compute(V, matrices));
  for (int k = 0; k < 3; ++k) {
    if (!before[k]) continue;
    PetscCall(MatNorm(before[k], NORM_FROBENIUS, &size));
    PetscCall(MatAXPY(before[k], -1, matrices[k], SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(before[k], NORM_FROBENIUS, &difference));
    *depends = *depends || !(difference <= tolerance * size); // not a number: it does
    PetscCall(MatDestroy(&before[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Whether the matrices of the factors at this time differ at U and V.
PetscErrorCode FactorsDepend(const Step &step, PetscReal time, Vec V, bool *depends)
{
  TS        ts  = step.ts;
  TS_ADI   *adi = step.adi;
  PetscReal tolerance;
  PetscFunctionBegin;
  PetscCall(AccuracyOfJacobian(ts, &tolerance));
  if (adi->given[0].A)
    PetscCall(Depends(
      step.U, V, 1000 * PETSC_MACHINE_EPSILON,
      [&](Vec U, Mat(&A)[3]) {
        PetscFunctionBegin;
        for (std::size_t d = 0; d < 3 && adi->given[d].A; ++d) {
          const TS_ADI::DirectionJacobian &given = adi->given[d];
          PetscCall((*given.function)(ts, time, U, given.A, given.ctx));
          A[d] = given.A;
        }
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      depends));
  else
    PetscCall(Depends(
      step.U, V, tolerance,
      [&](Vec U, Mat(&A)[3]) {
        PetscFunctionBegin;
        PetscCall(ComputeSplitJacobian(ts, time, U, &A[0]));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      depends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the Jacobian of the factors depends on the parameters: then dR/dp depends on the solution.
PetscErrorCode ParametersCount(const Step &step, PetscReal time, bool *depends)
{
  PetscFunctionBegin;
  PetscCall(Depends(
    step.U, step.ts->vec_sol, 1000 * PETSC_MACHINE_EPSILON,
    [&](Vec U, Mat(&A)[3]) {
      Derivative R;
      PetscFunctionBegin;
      PetscCall(ComputeParameterDerivative(step.ts, time, U, &R));
      A[0] = R.A[0];
      if (!step.adi->imex) A[1] = R.A[1]; // otherwise that of the explicit part
      PetscFunctionReturn(PETSC_SUCCESS);
    },
    depends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode CheckMass(const Step &step)
{
  TS        ts      = step.ts;
  TS_ADI   *adi     = step.adi;
  bool      changed = false;
  PetscBool imex    = adi->imex ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionBegin;
  if (!adi->has_ifunction) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ClearRate(adi));
  PetscCall(TSComputeIFunction(ts, step.t + step.h, ts->vec_sol, adi->udot, adi->rhs, imex));
  PetscCall(
    UpdateMass(ts, step.t + step.h, ts->vec_sol, adi->rhs, imex, adi->udot, adi->work, &adi->mass, &changed));
  PetscCheck(!changed, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
             "TS adi: the mass matrix dF/dU' changes, and sensitivities support a constant one only: take "
             "-ts_type cn");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckFactors(const Step &step, PetscReal time, Vec V)
{
  bool depends;
  PetscFunctionBegin;
  PetscCall(FactorsDepend(step, time, V, &depends));
  PetscCheck(!depends, PetscObjectComm((PetscObject)step.ts), PETSC_ERR_SUP,
             "TS adi: the Jacobian depends on the solution, so that sensitivities would need derivatives of "
             "its factors: take -ts_adi_lag_jacobian -1, whose steps share one Jacobian, or -ts_type cn");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrepareJacobian(const Step &step, PetscReal time, bool *anew, bool *ok)
{
  TS             ts     = step.ts;
  TS_ADI        *adi    = step.adi;
  const MPI_Comm comm   = PetscObjectComm((PetscObject)ts);
  const bool     frozen = adi->lag_jacobian < 0;
  bool           changed;
  PetscFunctionBegin;
  *ok = true;
  PetscCheck(
    !frozen || (adi->splitting.directions() > 0 && adi->age >= 0), comm, PETSC_ERR_ARG_WRONGSTATE,
    "TS adi: TSAdjointSolve() with -ts_adi_lag_jacobian -1 takes the Jacobian of the TSSolve() before "
    "it, which is gone");
  const PetscInt64 before = adi->splitting.generation();
  if (!frozen) {
    adi->age = -1;
    PetscCall(Linearise(ts, time, step.U, step.h, adi->rhs, ok));
    if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  }
  changed = adi->splitting.generation() != before;
  PetscCheck(!changed || adi->lag_jacobian <= 1, comm, PETSC_ERR_SUP,
             "TS adi: the Jacobian changes, so that TSAdjointSolve() does not know that of earlier steps of "
             "-ts_adi_lag_jacobian %" PetscInt_FMT ": take 1 or -1",
             adi->lag_jacobian);
  *anew = !frozen && (changed || ts->adjoint_steps == 0);
  if (frozen || adi->given[0].A || *anew) PetscCall(CheckMass(step));
  if (*anew) PetscCall(CheckFactors(step, time, ts->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckParameters(const Step &step, PetscReal time)
{
  TS   ts = step.ts;
  bool depends;
  PetscFunctionBegin;
  if (step.adi->lag_jacobian < 0 || step.adi->given[0].A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ParametersCount(step, time, &depends));
  PetscCheck(
    !depends, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
    "TS adi: the Jacobian depends on the parameters of TSSetIJacobianP() or TSSetRHSJacobianP(), so that "
    "sensitivities would need derivatives of its factors: take -ts_adi_lag_jacobian -1, whose steps share "
    "one "
    "Jacobian, or -ts_type cn");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetTypeOfStep(TS ts, PetscInt number, TSADIType *type)
{
  const TS_ADI *adi = adi_of(ts);
  const auto    at  = static_cast<std::size_t>(number);
  PetscFunctionBegin;
  PetscCheck(adi->type != TS_ADI_AUTO || at < adi->taken.size(), PetscObjectComm((PetscObject)ts),
             PETSC_ERR_ARG_WRONGSTATE,
             "TS adi: step %" PetscInt_FMT
             " was not computed by this TS: -ts_adi_type auto does not know its "
             "method; take ra34pw2 or hundsdorfer_verwer in both runs",
             number);
  *type = adi->type == TS_ADI_AUTO ? adi->taken[at] : adi->type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal theta_of_type(const TS_ADI *adi, TSADIType type)
{
  const ADIMethod &method = method_of(type);
  return adi->theta > 0 || !method.theta ? adi->theta : method.theta(adi->splitting.directions());
}

WMethod method_of_type(TSADIType type, PetscReal theta)
{
  WMethod m;
  m.stages = 2;
  if (type == TS_ADI_RA34PW2) return ra34pw2();
  if (type == TS_ADI_HUNDSDORFER_VERWER) return hundsdorfer_verwer(theta);
  if (type == TS_ADI_DOUGLAS) return theta_method(theta);
  if (type == TS_ADI_PEACEMAN_RACHFORD) m.gamma = 0.5, m.b[0] = m.b[1] = 1;
  else m.gamma = theta, m.b[1] = 1;
  return m;
}

PetscReal time_of_jacobian(const Step &step, TSADIType type)
{
  if (type == TS_ADI_PEACEMAN_RACHFORD) return step.t + step.h / 2;
  return step.t + (type == TS_ADI_DOUGLAS ? theta_of_type(step.adi, type) * step.h : 0);
}

/// The size of the factors of an earlier step, if that of this one differs only by rounding of its times.
static PetscReal RoundedFactor(const Step &step, PetscReal a)
{
  const PetscReal kept = sign_of(step.adi) * step.adi->factor_scale;
  const PetscReal unit =
    PETSC_MACHINE_EPSILON * PetscMax(PetscAbsReal(step.t), PetscAbsReal(step.t + step.h));
  return PetscAbsReal(a - kept) <= PetscMin(1000 * unit, PETSC_SQRT_MACHINE_EPSILON * a) ? kept : a;
}

PetscErrorCode FactorOfStep(const Step &step, TSADIType type, bool *ok)
{
  const PetscReal a = method_of_type(type, theta_of_type(step.adi, type)).gamma * step.h;
  PetscFunctionBegin;
  PetscCall(Factor(step.ts, RoundedFactor(step, a), type == TS_ADI_PEACEMAN_RACHFORD, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
// The solution within a step of TS adi, and its error (docs/methods/adi.md).
#include "ts.hpp"

namespace ribbon::petsc {

/// Weights of the values at t - h_before, t and t + h in the parabola at t + x h.
static void parabola(PetscReal h_before, PetscReal h, PetscReal x, PetscScalar weight[3])
{
  const PetscReal r = h_before / h; // the values are at -r, 0 and 1
  weight[0]         = x * (x - 1) / (r * (r + 1));
  weight[1]         = (x + r) * (1 - x) / r;
  weight[2]         = x * (x + r) / (1 + r);
}

PetscErrorCode TSInterpolate_ADI(TS ts, PetscReal time, Vec U)
{
  TS_ADI         *adi      = adi_of(ts);
  const bool      complete = adi->status == TS_STEP_COMPLETE;
  const PetscReal h        = complete ? ts->ptime - ts->ptime_prev : ts->time_step;
  const PetscReal x        = (time - (complete ? ts->ptime_prev : ts->ptime)) / h;
  const WMethod  &m        = adi->method;
  PetscScalar     w[max_stages];
  PetscFunctionBegin;
  PetscCall(BringUp(adi));
  if (m.has_dense) {
    for (int i = 0; i < m.stages; ++i) w[i] = x * (m.dense[i][0] + x * (m.dense[i][1] + x * m.dense[i][2]));
    PetscCall(SumVectors(adi->start, m.stages, w, adi->increment.data(), U, nullptr));
  } else if (adi->before_is_there) {
    const Vec values[3] = {adi->before, adi->start, ts->vec_sol};
    parabola(adi->start_time - adi->before_time, h, x, w);
    PetscCall(VecZeroEntries(U));
    PetscCall(VecMAXPY(U, 3, w, const_cast<Vec *>(values)));
  } else {
    PetscCall(VecCopy(adi->start, U));
    PetscCall(VecAXPBY(U, x, 1 - x, ts->vec_sol));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// d := h/2 M^-1 (G(t + h, U+) - G(t, U)) = h^2 u'' / 2, if there is no earlier solution. With several
/// directions it does not apply P^-1, which would hide the error of a step that is far too large.
static PetscErrorCode DifferenceOfSlopes(TS ts, Vec d)
{
  TS_ADI                   *adi       = adi_of(ts);
  const DirectionSplitting &splitting = adi->splitting;
  PetscFunctionBegin;
  const PetscReal half = sign_of(adi) * ts->time_step / 2;
  PetscCall(ClearRate(adi));
  PetscCall(Evaluate(ts, adi->start_time, adi->start, d));
  PetscCall(Evaluate(ts, adi->start_time + ts->time_step, ts->vec_sol, adi->rhs));
  PetscCall(VecAXPBY(adi->rhs, -half, half, d));
  if (splitting.has_tensor_mass()) {
    PetscCall(SolveTensorMass(ts, adi->rhs, adi->udot)); // d may be the work vector
    PetscCall(VecCopy(adi->udot, d));
    adi->udot_is_zero = false;
  } else if (splitting.mass_matrix()) { // one direction: P^-1 hides nothing
    PetscCall(VecScale(adi->rhs, 1 / adi->factor_scale));
    PetscCall(SolveP(ts, adi->rhs, d));
  } else if (splitting.mass_is_identity()) PetscCall(VecCopy(adi->rhs, d));
  else {
    PetscCall(VecCopy(splitting.mass(), adi->udot));
    if (splitting.algebraic()) PetscCall(VecAXPY(adi->udot, 1, splitting.is_algebraic()));
    PetscCall(VecPointwiseDivide(d, adi->rhs, adi->udot));
    adi->udot_is_zero = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Factor of the estimate of ra34pw2 in several directions: with it no error of the suite exceeds twice that of rosw
/// with LU at the same tolerance (docs/performance/time_steppers.md), except where rosw rejects many steps.
constexpr PetscReal error_of_splitting = PetscReal(1.25);

PetscErrorCode TSEvaluateWLTE_ADI(TS ts, NormType norm, PetscInt *order, PetscReal *wlte)
{
  TS_ADI         *adi = adi_of(ts);
  const WMethod  &m   = adi->method;
  const PetscReal h = ts->time_step, h_before = adi->start_time - adi->before_time;
  PetscScalar     w[max_stages];
  PetscReal       absolute, relative;
  PetscFunctionBegin;
  PetscCall(BringUp(adi));
  if (order) *order = PetscMax(m.order, 2);
  if (m.embeds) {
    for (int i = 0; i < m.stages; ++i) w[i] = m.e[i] - m.b[i];
    PetscCall(SumVectors(ts->vec_sol, m.stages, w, adi->increment.data(), adi->work, nullptr));
  } else if (adi->before_is_there) {
    const Vec       values[3] = {adi->before, adi->start, ts->vec_sol};
    const PetscReal r         = h_before / h;
    w[0] = -1 / (r * (1 + r)), w[1] = 1 / r, w[2] = -1 / (1 + r);
    PetscCall(SumVectors(ts->vec_sol, 3, w, values, adi->work, nullptr));
  } else {
    PetscCall(DifferenceOfSlopes(ts, adi->work));
    PetscCall(VecAYPX(adi->work, -1, ts->vec_sol));
  }
  // Rows of algebraic equations count if the method treats them as the others. They do not count in the first
  // step and in repeated steps, because a shorter step does not reduce what makes them consistent.
  const bool counts = m.order >= 3 && !adi->imex && adi->since_restart > 0 && !adi->repeats;
  if (adi->splitting.algebraic() && !counts) {
    PetscCall(VecWAXPY(adi->rhs, -1, ts->vec_sol, adi->work));
    PetscCall(VecPointwiseMult(adi->rhs, adi->rhs, adi->splitting.is_algebraic()));
    PetscCall(VecAXPY(adi->work, -1, adi->rhs));
  }
  PetscCall(TSErrorWeightedNorm(ts, ts->vec_sol, adi->work, norm, wlte, &absolute, &relative));
  if (m.order >= 3 && adi->splitting.directions() > 1 && !adi->iterated.used) *wlte *= error_of_splitting;
  if (PetscIsInfOrNanReal(*wlte)) *wlte = PETSC_MAX_REAL; // TSAdapt would treat NaN as a small error
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSEvaluateStep_ADI(TS ts, PetscInt order, Vec U, PetscBool *done)
{
  TS_ADI        *adi = adi_of(ts);
  const WMethod &m   = adi->method;
  PetscScalar    w[max_stages];
  PetscFunctionBegin;
  const bool embedded = order == m.order - 1 && m.embeds;
  if (done) *done = order == m.order || embedded ? PETSC_TRUE : PETSC_FALSE;
  else
    PetscCheck(order == m.order || embedded, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
               "TS adi: -ts_adi_type %s cannot evaluate a step at order %" PetscInt_FMT,
               TSADITypes[adi->type], order);
  for (int i = 0; i < m.stages; ++i) w[i] = m.e[i] - m.b[i];
  if (embedded) PetscCall(SumVectors(ts->vec_sol, m.stages, w, adi->increment.data(), U, nullptr));
  else PetscCall(VecCopy(ts->vec_sol, U));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

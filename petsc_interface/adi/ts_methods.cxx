// SPDX-License-Identifier: BSD-2-Clause
// The methods of TS adi: increments from functions and P^-1 only (docs/methods/adi.md).
#include "ts.hpp"

#include "../support/session.hpp"

#include <cmath>
#include <iterator>

const char *const TSADITypes[] = {"auto",
                                  "hundsdorfer_verwer",
                                  "modified_craig_sneyd",
                                  "craig_sneyd",
                                  "douglas",
                                  "peaceman_rachford",
                                  "ra34pw2",
                                  "TSADIType",
                                  "TS_ADI_",
                                  nullptr};

namespace ribbon::petsc {

namespace {

/// Y := U + sum_j weight_j increment_j. `finite`: see SumVectors().
PetscErrorCode Combine(TS_ADI *adi, Vec U, int n, const PetscReal weight[], Vec Y, bool *finite)
{
  PetscScalar w[max_stages];
  PetscFunctionBegin;
  for (int j = 0; j < n; ++j) w[j] = weight[j];
  PetscCall(SumVectors(U, n, w, adi->increment.data(), Y, finite));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether TS accepts stage i of `stages`, after its increment is computed. Values that are not finite are
/// a failure on all ranks. Those of the last stage are detected in the solution.
PetscErrorCode Accept(const Step &step, PetscReal time, int i, int stages, Vec Y, bool *ok)
{
  PetscBool accept;
  PetscFunctionBegin;
  if (i + 1 < stages) PetscCall(CheckFinite(step.ts, step.adi->increment[static_cast<std::size_t>(i)], ok));
  PetscCall(TSPostStage(step.ts, time, i, step.adi->stages.data()));
  PetscCall(TSAdaptCheckStage(step.ts->adapt, step.ts, time, Y, &accept));
  *ok = accept == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y += sum_j w_j k_j. PETSc copies the factors of VecMAXPY() to a device as an array; the factor of
/// VecAXPY() is an argument of the kernel.
PetscErrorCode Add(Vec y, PetscInt terms, const PetscScalar w[], Vec k[])
{
  PetscFunctionBegin;
  if (terms == 1) PetscCall(VecAXPY(y, w[0], k[0]));
  else PetscCall(VecMAXPY(y, terms, w, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// rhs := sign [G(t_i, Y) - M sum_j z_ij y_j / h] of a stage after the first. V = (Y - U) / (alpha_i h) is
/// passed to the application as U'. If M depends on U, the remaining part of M V is then of second order.
PetscErrorCode StageFunction(const Step &step, const WMethod &m, int i, Vec Y, Vec rhs)
{
  TS_ADI         *adi   = step.adi;
  const PetscReal time  = step.t + m.c[i] * step.h;
  const bool      taken = adi->has_ifunction && m.alpha[i] != 0;
  PetscScalar     w[max_stages];
  PetscFunctionBegin;
  if (taken) PetscCall(SetRate(adi, step.U, Y, m.alpha[i] * step.h));
  else PetscCall(ClearRate(adi));
  PetscCall(Evaluate(step.ts, time, Y, rhs));
  PetscCall(KeepBoundaryRows(step, m, i, rhs));
  for (int j = 0; j < i; ++j)
    w[j] = -sign_of(adi) * (m.z[i][j] - (taken ? m.a[i][j] / m.alpha[i] : 0)) / step.h;
  if (adi->splitting.mass_is_identity()) PetscCall(Add(rhs, i, w, adi->increment.data()));
  else {
    PetscCall(VecZeroEntries(adi->udot)); // the application has used it
    PetscCall(Add(adi->udot, i, w, adi->increment.data()));
    adi->udot_is_zero = false;
    PetscCall(adi->splitting.multiply_mass(adi->udot, adi->work));
    PetscCall(VecAXPY(rhs, 1, adi->work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves stage i of a W-method, whose right-hand side is adi->rhs. `ok`: whether the increment is computed.
PetscErrorCode SolveStage(const Step &step, int i, PetscReal time, Vec Y, Vec increment, bool *ok)
{
  TS_ADI *adi = step.adi;
  PetscFunctionBegin;
  PetscCall(AddInTime(step, i, adi->rhs));
  if (!adi->iterated.used) {
    PetscCall(SolveP(step.ts, adi->rhs, increment, adi->in_time.used ? adi->in_time.weight[i] : nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SolveIterated(step, adi->rhs, increment, ok));
  if (!*ok && !adi->iterated.failed) PetscCall(Refuse(step, time, Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first stage of every method: Jacobian, factors and y_1 = P^-1 gamma h G(t + c_1 h, U), which is
/// increment i of `stages`. `in_time`: with terms of functions that depend on time.
PetscErrorCode FirstStage(const Step &step, const WMethod &m, int i, int stages, bool in_time, bool *ok)
{
  TS_ADI         *adi  = step.adi;
  const PetscReal time = step.t + m.c[0] * step.h;
  PetscFunctionBegin;
  PetscCall(TSPreStage(step.ts, time));
  if (!adi->has_function) PetscCall(Linearise(step.ts, time, step.U, step.h, adi->rhs, ok));
  adi->has_function = false;
  if (*ok) {
    PetscCall(ComputeBoundary(step, m, adi->rhs));
    PetscCall(Factor(step.ts, m.gamma * step.h, false, ok));
  }
  if (!*ok) {
    PetscCall(Refuse(step, time, step.U));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (in_time) PetscCall(ComputeInTime(step, m, adi->rhs));
  PetscCall(KeepBoundaryRows(step, m, 0, adi->rhs));
  PetscCall(StageBoundary(step, m, 0, adi->rhs));
  PetscCall(SolveStage(step, 0, time, step.U, adi->increment[static_cast<std::size_t>(i)], ok));
  if (*ok) PetscCall(Accept(step, time, i, stages, step.U, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StepW(const Step &step, bool *ok)
{
  TS_ADI        *adi = step.adi;
  const WMethod &m   = adi->method;
  PetscFunctionBegin;
  PetscCall(FirstStage(step, m, 0, m.stages, true, ok));
  for (int i = 1; i < m.stages && *ok; ++i) {
    const PetscReal time = step.t + m.c[i] * step.h;
    const Vec       Y    = adi->value[static_cast<std::size_t>(i)];
    PetscCall(Combine(adi, step.U, i, m.a[i], Y, nullptr));
    PetscCall(TSPreStage(step.ts, time));
    PetscCall(StageFunction(step, m, i, Y, adi->rhs));
    PetscCall(StageBoundary(step, m, i, adi->rhs));
    PetscCall(SolveStage(step, i, time, Y, adi->increment[static_cast<std::size_t>(i)], ok));
    if (*ok) PetscCall(Accept(step, time, i, m.stages, Y, ok));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Weights of two increments in U+ and in its error estimate.
WMethod two_increments(int order, bool embeds, PetscReal b0, PetscReal b1, PetscReal e0)
{
  WMethod m;
  m.stages = 2, m.order = order, m.embeds = embeds;
  m.b[0] = b0, m.b[1] = b1, m.e[0] = e0;
  return m;
}

/// P K_1 = h G(t, U), P K_2 = h (G(t, U) + G(t + h, U + K_1)) / 2 - theta h sum_d A_d K_1, U+ = U + K_2.
PetscErrorCode StepOfTwo(const Step &step, PetscReal theta, bool *ok)
{
  TS_ADI         *adi  = step.adi;
  const PetscReal time = step.t + step.h;
  const Vec       y = adi->increment[0], Y = adi->value[1];
  WMethod         m = hundsdorfer_verwer(theta); // in its first stage y = theta K_1
  PetscFunctionBegin;
  const PetscReal weight = 1 / theta;
  PetscCall(FirstStage(step, m, 0, 2, false, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscReal sign = sign_of(adi); // known from here on
  PetscCall(Combine(adi, step.U, 1, &weight, Y, nullptr));
  PetscCall(TSPreStage(step.ts, time));
  if (adi->has_ifunction) PetscCall(SetRate(adi, step.U, Y, step.h));
  PetscCall(Evaluate(step.ts, time, Y, adi->residual));
  // all terms are divided by sign theta h
  PetscCall(VecAXPBY(adi->rhs, 1 / (2 * theta), 1 / (2 * theta), adi->residual));
  if (adi->has_ifunction) {
    PetscCall(adi->splitting.multiply_mass(y, adi->work));
    PetscCall(VecAXPY(adi->rhs, sign / (2 * theta * theta * step.h), adi->work));
  }
  for (int d = 0; d < adi->splitting.directions(); ++d) {
    PetscCall(MatMult(adi->splitting.A(d), y, adi->work));
    PetscCall(VecAXPY(adi->rhs, -sign / theta, adi->work));
  }
  if (adi->splitting.algebraic()) {
    const PetscScalar one = 1;
    PetscCall(SetBoundaryRows(step.ts, 1, &one, adi->rhs));
  }
  PetscCall(SolveP(step.ts, adi->rhs, adi->increment[1]));
  PetscCall(Accept(step, time, 1, 2, Y, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// craig_sneyd is this method with theta = 1/2, where the difference of the increments does not estimate the
/// error.
PetscErrorCode StepModifiedCraigSneyd(const Step &step, PetscReal theta, bool *ok)
{
  PetscFunctionBegin;
  step.adi->method = two_increments(2, theta != 0.5, 0, 1, 1 / theta);
  PetscCall(StepOfTwo(step, theta, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// P_1 d_1 = h G(t + h/2, U) / 2, P_2 d_2 = h G(t + h/2, U + d_1) / 2 with P_d = M - h A_d / 2.
PetscErrorCode StepPeacemanRachford(const Step &step, PetscReal, bool *ok)
{
  TS_ADI           *adi  = step.adi;
  const PetscReal   time = step.t + step.h / 2;
  const PetscScalar half = 0.5;
  const PetscReal   one  = 1;
  const WMethod     m    = theta_method(0.5);
  Vec               Y    = step.U;
  PetscFunctionBegin;
  adi->method = two_increments(2, false, 1, 1, 0);
  for (int d = 0; d < 2 && *ok; ++d) {
    const Vec increment = adi->increment[static_cast<std::size_t>(d)];
    PetscCall(TSPreStage(step.ts, time));
    if (d == 0) {
      PetscCall(Linearise(step.ts, time, Y, step.h, adi->rhs, ok));
      PetscCheck(!*ok || adi->splitting.directions() == 2, PetscObjectComm((PetscObject)step.ts),
                 PETSC_ERR_SUP,
                 "TS adi: -ts_adi_type peaceman_rachford takes two directions, here are %d; take douglas",
                 adi->splitting.directions());
      if (*ok) {
        PetscCall(ComputeBoundary(step, m, adi->rhs));
        PetscCall(Factor(step.ts, step.h / 2, true, ok));
      }
      if (!*ok) {
        PetscCall(Refuse(step, time, Y));
        break;
      }
    } else {
      Y = adi->value[1];
      PetscCall(Combine(adi, step.U, 1, &one, Y, nullptr));
      PetscCall(ClearRate(adi));
      PetscCall(Evaluate(step.ts, time, Y, adi->rhs));
    }
    if (adi->splitting.algebraic()) PetscCall(SetBoundaryRows(step.ts, 1, &half, adi->rhs));
    PetscCall(adi->factors.solve(d, adi->rhs, increment));
    if (adi->splitting.algebraic_couple()) PetscCall(adi->splitting.solve_algebraic(adi->rhs, increment));
    step.ts->ksp_its++, step.ts->snes_its++;
    PetscCall(Accept(step, time, d, 2, Y, ok));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two half steps of backward Euler.
PetscErrorCode StepRannacher(const Step &step, bool *ok)
{
  const WMethod euler = theta_method(1);
  Step          half  = step;
  PetscFunctionBegin;
  half.h = step.h / 2;
  for (int i = 0; i < 2 && *ok; ++i) {
    PetscCall(FirstStage(half, euler, i, 2, false, ok));
    half.U = step.adi->value[1], half.t = step.t + half.h;
    if (i == 0 && *ok) PetscCall(Combine(step.adi, step.U, 1, euler.b, half.U, nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A step of a W-method with a theta.
template <WMethod (*method)(PetscReal theta)>
PetscErrorCode StepOf(const Step &step, PetscReal theta, bool *ok)
{
  PetscFunctionBegin;
  step.adi->method = method(theta);
  PetscCall(StepW(step, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StepRA34PW2(const Step &step, PetscReal, bool *ok)
{
  PetscFunctionBegin;
  step.adi->method = ra34pw2();
  PetscCall(StepW(step, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal one_half(int)
{
  return 0.5;
}
PetscReal one_third(int)
{
  return PetscReal(1) / 3;
}
bool always(PetscReal)
{
  return true;
}
/// Both solves of StepOfTwo() are then equal.
bool with_one_half(PetscReal theta)
{
  return theta == PetscReal(0.5);
}
/// With one direction the method is L-stable.
PetscReal of_hundsdorfer_verwer(int directions)
{
  return directions == 1 ? 1 - 1 / PetscSqrtReal(2) : 0.5 + PetscSqrtReal(3) / 6;
}

} // namespace

/// A row for each TSADIType, in its order.
// clang-format off
static constexpr ADIMethod methods[] = {
  // type                        stages estimates products theta                  one product    step
  {TS_ADI_AUTO,                  4,     true,     false,   nullptr,               nullptr,       StepOfChoice},
  {TS_ADI_HUNDSDORFER_VERWER,    2,     true,     false,   of_hundsdorfer_verwer, nullptr,       StepOf<hundsdorfer_verwer>},
  {TS_ADI_MODIFIED_CRAIG_SNEYD,  2,     true,     true,    one_third,             with_one_half, StepModifiedCraigSneyd},
  {TS_ADI_CRAIG_SNEYD,           2,     false,    true,    one_half,              with_one_half, StepModifiedCraigSneyd},
  {TS_ADI_DOUGLAS,               1,     false,    false,   one_half,              always,        StepOf<theta_method>},
  {TS_ADI_PEACEMAN_RACHFORD,     2,     false,    false,   nullptr,               nullptr,       StepPeacemanRachford},
  {TS_ADI_RA34PW2,               4,     true,     false,   nullptr,               nullptr,       StepRA34PW2},
};
// clang-format on

constexpr bool in_order()
{
  for (int k = 0; k < static_cast<int>(std::size(methods)); ++k)
    if (methods[k].type != k) return false;
  return true;
}
static_assert(in_order() && std::size(TSADITypes) == std::size(methods) + 3,
              "TSADITypes and methods differ: add a name and a row, in the order of TSADIType");

PetscErrorCode Refuse(const Step &step, PetscReal time, Vec Y)
{
  PetscBool accept;
  PetscFunctionBegin;
  PetscCall(TSAdaptCheckStage(step.ts->adapt, step.ts, time, Y, &accept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ADIMethod &method_of(TSADIType type)
{
  return methods[type];
}

PetscReal theta_of(const TS_ADI *adi)
{
  const auto theta = method_of(adi->type).theta;
  return adi->theta > 0 || !theta ? adi->theta : theta(adi->splitting.directions());
}

PetscErrorCode Advance(TS ts, bool *ok)
{
  TS_ADI    *adi = adi_of(ts);
  const Step step{ts, adi, adi->start, ts->ptime, ts->time_step};
  PetscFunctionBegin;
  *ok               = true;
  adi->in_time.used = adi->iterated.used = false;
  for (bool &is : adi->in_time.evaluated) is = false;
  const ADIMethod &method = method_of(adi->type);
  if (adi->splitting.directions() == 0 && method.theta && method.theta(1) != method.theta(2) &&
      !adi->starting) {
    // theta depends on the number of directions, which the first step determines
    PetscCall(Linearise(ts, step.t, step.U, step.h, adi->rhs, ok));
    if (!*ok) {
      PetscCall(Refuse(step, step.t, step.U));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (adi->starting) {
    // the difference of the halves is h^2 u'' / 4: the error of both
    adi->method = two_increments(1, true, 1, 1, 2);
    PetscCall(StepRannacher(step, ok));
  } else PetscCall(method.step(step, theta_of(adi), ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscBool accept;
  PetscCall(Combine(adi, adi->start, adi->method.stages, adi->method.b, ts->vec_sol, ok));
  if (!*ok) PetscCall(ReportNotFinite(ts));
  PetscCall(TSAdaptCheckStage(ts->adapt, ts, step.t + step.h, ts->vec_sol, &accept));
  *ok = accept == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

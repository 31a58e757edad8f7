// SPDX-License-Identifier: BSD-2-Clause
// Functions that depend on time in TS adi (docs/methods/adi.md#functions-of-time).
#include "ts.hpp"

namespace ribbon::petsc {

namespace {

/// Steps from one comparison of the functions at t and t + h to the next, while they are equal.
constexpr PetscInt steps_between = 16;

/// Whether the step may use terms of time. Sensitivities do not include them.
bool may_use(const Step &step, const WMethod &m)
{
  const TS_ADI *adi = step.adi;
  return adi->time_derivative && !adi->constant_linear && m.stages > 1 && adi->splitting.directions() > 1 &&
         !adi->splitting.has_tensor_mass() && !step.ts->trajectory && !step.ts->forward_solve;
}

/// v := 0 in rows of algebraic equations.
PetscErrorCode ClearAlgebraic(TS_ADI *adi, Vec v)
{
  PetscFunctionBegin;
  if (!adi->splitting.algebraic()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecPointwiseMult(adi->work, adi->splitting.is_algebraic(), v));
  PetscCall(VecAXPY(v, -1, adi->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Compares the functions at t and t + h, in the first step and every few steps.
PetscErrorCode LookAtTime(const Step &step, Vec R)
{
  InTime        &t     = step.adi->in_time;
  const PetscInt since = step.ts->steps - t.looked;
  const Vec      later = step.adi->increment[1]; // of no use before the second stage
  PetscReal      change, size; // sums, which are the same on all ranks also if they are not a number
  PetscFunctionBegin;
  if (t.looked >= 0 && since >= 0 && since < steps_between) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Evaluate(step.ts, step.t + step.h, step.U, later));
  PetscCall(VecAXPY(later, -1, R));
  PetscCall(ClearAlgebraic(step.adi, later));
  PetscCall(VecNorm(later, NORM_1, &change));
  PetscCall(VecNorm(R, NORM_1, &size));
  // products on a device may have other errors of rounding in each call
  t.depends = !(change <= 100 * PETSC_MACHINE_EPSILON * size), t.looked = step.ts->steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Creates the vectors, and the matrices of the line ends unless they are those of this splitting.
PetscErrorCode Prepare(const Step &step)
{
  TS_ADI *adi = step.adi;
  InTime &t   = adi->in_time;
  PetscFunctionBegin;
  for (Vec *v : {&t.first, &t.second})
    if (!*v) PetscCall(VecDuplicate(step.U, v));
  if (t.structure == adi->splitting.structure()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 1; d < adi->splitting.directions(); ++d) {
    Mat &E = t.ends[d - 1];
    PetscCall(MatDestroy(&E));
    PetscCall(adi->splitting.line_ends(d, step.U, &E));
    for (Vec &v : t.at_ends[d - 1])
      if (E && !v) PetscCall(VecDuplicate(step.U, &v));
  }
  t.structure = adi->splitting.structure();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ComputeInTime(const Step &step, const WMethod &m, Vec R)
{
  TS_ADI *adi = step.adi;
  InTime &t   = adi->in_time;
  PetscFunctionBegin;
  if (!may_use(step, m)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ClearRate(adi));
  if (!t.depends) PetscCall(LookAtTime(step, R));
  if (!t.depends) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Prepare(step));
  if (!t.evaluated[0]) PetscCall(Evaluate(step.ts, step.t + step.h, step.U, t.first));
  if (!t.evaluated[1]) PetscCall(Evaluate(step.ts, step.t + step.h / 2, step.U, t.second));
  PetscCall(VecAXPBYPCZ(t.first, -3, 4, -1, R, t.second));
  PetscCall(VecAXPBYPCZ(t.second, -4, -2, 4, R, t.first));
  for (Vec v : {t.first, t.second}) PetscCall(ClearAlgebraic(adi, v));
  for (int d = 1; d < adi->splitting.directions(); ++d) {
    if (!t.ends[d - 1]) continue;
    PetscCall(MatMult(t.ends[d - 1], t.first, t.at_ends[d - 1][0]));
    PetscCall(MatMult(t.ends[d - 1], t.second, t.at_ends[d - 1][1]));
  }
  for (int i = 0; i < m.stages; ++i) {
    PetscReal gamma = 0, p = m.c[i], q = m.c[i] * m.c[i];
    for (int j = 0; j <= i; ++j) gamma += m.gamma_ij[i][j];
    for (int j = 0; j < i; ++j) p -= m.a[i][j] * t.weight[j][0], q -= m.a[i][j] * t.weight[j][1];
    t.gamma[i] = gamma, t.weight[i][0] = p + gamma, t.weight[i][1] = q;
  }
  t.used = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddInTime(const Step &step, int i, Vec rhs)
{
  InTime &t = step.adi->in_time;
  PetscFunctionBegin;
  if (!t.used) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAXPY(rhs, t.gamma[i], t.first));
  if (step.adi->iterated.used) PetscFunctionReturn(PETSC_SUCCESS); // the others are for solves with P
  for (int d = 1; d < step.adi->splitting.directions(); ++d)
    PetscCall(AddAtEnds(step.adi, d, -t.weight[i][0], -t.weight[i][1], rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddAtEnds(TS_ADI *adi, int d, PetscReal first, PetscReal second, Vec v)
{
  const PetscScalar weights[2] = {first, second};
  PetscFunctionBegin;
  if (adi->in_time.ends[d - 1]) PetscCall(VecMAXPY(v, 2, weights, adi->in_time.at_ends[d - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ResetInTime(TS_ADI *adi)
{
  InTime &t = adi->in_time;
  PetscFunctionBegin;
  for (Vec *v : {&t.first, &t.second, &t.at_ends[0][0], &t.at_ends[0][1], &t.at_ends[1][0], &t.at_ends[1][1]})
    PetscCall(VecDestroy(v));
  for (Mat &E : t.ends) PetscCall(MatDestroy(&E));
  t = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

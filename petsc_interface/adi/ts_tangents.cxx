// SPDX-License-Identifier: BSD-2-Clause
// The tangent linear model of a step of TS adi: the derivative of each stage, with the factors of the step. The
// factors count as constants (docs/methods/adi.md#forward-sensitivities).
#include "ts_sensitivities.hpp"

namespace ribbon::petsc {

namespace {

/// The derivatives of R by the solution and by the parameters.
struct Derivatives {
  Derivative solution, parameters;
};

PetscErrorCode Compute(const TangentStep &step, PetscReal time, Vec Y, Derivatives *R)
{
  PetscFunctionBegin;
  PetscCall(ComputeDerivative(step.ts, time, Y, &R->solution));
  R->parameters = {};
  if (step.parameters) PetscCall(ComputeParameterDerivative(step.ts, time, Y, &R->parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// rhs := the derivative of R in the direction of a column, where the value of the stage has this tangent.
PetscErrorCode Apply(const TangentStep &step, const Derivatives &R, std::size_t column, Vec tangent, Vec rhs)
{
  TS        ts   = step.ts;
  const Vec work = step.adi->work;
  PetscFunctionBegin;
  PetscCall(VecSet(rhs, 0));
  for (int k = 0; k < 2; ++k) {
    if (!R.solution.A[k]) continue;
    PetscCall(MatMult(R.solution.A[k], tangent, work));
    PetscCall(VecAXPY(rhs, R.solution.factor[k], work));
  }
  for (int k = 0; k < 2; ++k) {
    const Mat A = R.parameters.A[k];
    if (!A) continue;
    if (ts->vecs_sensi2) PetscCall(MatMult(A, ts->vec_dir, work));
    else PetscCall(MatGetColumnVector(A, work, static_cast<PetscInt>(column)));
    PetscCall(VecAXPY(rhs, R.parameters.factor[k], work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The functions at (t, U), (t + h / 2, U) and (t + h, U) of the rows of algebraic equations, if they are used.
PetscErrorCode ComputeBoundary(const TangentStep &step, const bool (&used)[3])
{
  TS_ADI     *adi = step.adi;
  Derivatives R;
  PetscFunctionBegin;
  if (!adi->splitting.algebraic()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3; ++k) {
    if (!used[k]) continue;
    PetscCall(Compute(step, step.t + PetscReal(k) / 2 * step.h, step.U, &R));
    for (std::size_t c = 0; c < step.columns.size(); ++c) {
      TangentVectors &v = step.columns[c];
      if (!v.boundary[k]) PetscCall(VecDuplicate(step.U, &v.boundary[k]));
      PetscCall(Apply(step, R, c, v.stage[0], adi->tangent.rhs));
      PetscCall(VecPointwiseMult(v.boundary[k], adi->splitting.algebraic(), adi->tangent.rhs));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Moves the rows of algebraic equations of rhs, times s_b, to tangent.algebraic.
PetscErrorCode TakeAlgebraic(TS_ADI *adi, Vec rhs)
{
  const DirectionSplitting &splitting = adi->splitting;
  PetscFunctionBegin;
  PetscCall(VecPointwiseMult(adi->tangent.algebraic, splitting.algebraic(), rhs));
  PetscCall(VecPointwiseMult(adi->work, splitting.is_algebraic(), rhs));
  PetscCall(VecAXPY(rhs, -1, adi->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The derivative of stage i of StepW(), for one column.
PetscErrorCode SolveStage(const TangentStep &step, const WMethod &m, int i, TangentVectors &v)
{
  TS_ADI                   *adi       = step.adi;
  const DirectionSplitting &splitting = adi->splitting;
  const PetscReal           sign      = sign_of(adi);
  const Vec                 rhs       = adi->tangent.rhs;
  PetscScalar               w[max_stages];
  PetscFunctionBegin;
  if (splitting.algebraic()) PetscCall(TakeAlgebraic(adi, rhs));
  if (i > 0) {
    for (int j = 0; j < i; ++j) w[j] = -sign * m.z[i][j] / step.h;
    PetscCall(VecSet(adi->rhs, 0));
    PetscCall(VecMAXPY(adi->rhs, i, w, v.increment));
    PetscCall(splitting.multiply_mass(adi->rhs, adi->work));
    if (splitting.algebraic()) { // there y = x if M is diagonal
      PetscCall(VecPointwiseMult(adi->rhs, splitting.is_algebraic(), adi->work));
      PetscCall(VecAXPY(adi->work, -1, adi->rhs));
    }
    PetscCall(VecAXPY(rhs, 1, adi->work));
  }
  if (splitting.algebraic()) {
    const BoundaryWeights weights = boundary_weights(adi, m, i);
    PetscCall(VecAXPY(rhs, sign * weights.stage, adi->tangent.algebraic));
    for (int k = 0; k < 3; ++k)
      if (weights.at[k] != 0) PetscCall(VecAXPY(rhs, sign * weights.at[k], v.boundary[k]));
  }
  PetscCall(SolveP(step.ts, rhs, v.increment[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The derivative of StepW().
PetscErrorCode TangentOfW(const TangentStep &step, const WMethod &m)
{
  TS_ADI     *adi = step.adi;
  Derivatives R;
  PetscScalar w[max_stages];
  bool        used[3] = {false, false, false};
  PetscFunctionBegin;
  for (int i = 0; i < m.stages && adi->splitting.algebraic(); ++i)
    for (int k = 0; k < 3; ++k) used[k] = used[k] || boundary_weights(adi, m, i).at[k] != 0;
  PetscCall(ComputeBoundary(step, used));
  for (int i = 0; i < m.stages; ++i) {
    for (int j = 0; j < i; ++j) w[j] = m.a[i][j];
    PetscCall(Compute(step, step.t + m.c[i] * step.h, step.values[i], &R));
    for (std::size_t c = 0; c < step.columns.size(); ++c) {
      TangentVectors &v = step.columns[c];
      if (i > 0) PetscCall(SumVectors(v.stage[0], i, w, v.increment, v.stage[i], nullptr));
      PetscCall(Apply(step, R, c, v.stage[i], adi->tangent.rhs));
      PetscCall(SolveStage(step, m, i, v));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The derivative of StepOfTwo().
PetscErrorCode TangentOfTwo(const TangentStep &step, PetscReal theta)
{
  TS_ADI                   *adi       = step.adi;
  const DirectionSplitting &splitting = adi->splitting;
  const PetscReal           sign      = sign_of(adi);
  const Vec                 rhs       = adi->tangent.rhs;
  const PetscScalar         weight    = 1 / theta;
  Derivatives               R;
  PetscFunctionBegin;
  PetscCall(ComputeBoundary(step, {false, false, true}));
  PetscCall(Compute(step, step.t, step.U, &R));
  for (std::size_t c = 0; c < step.columns.size(); ++c) {
    TangentVectors &v = step.columns[c];
    PetscCall(Apply(step, R, c, v.stage[0], rhs));
    PetscCall(VecCopy(rhs, v.increment[1])); // the second stage has this term too
    if (splitting.algebraic()) {
      PetscCall(TakeAlgebraic(adi, rhs));
      PetscCall(VecAXPY(rhs, sign * theta, v.boundary[2]));
    }
    PetscCall(SolveP(step.ts, rhs, v.increment[0]));
    PetscCall(SumVectors(v.stage[0], 1, &weight, v.increment, v.stage[1], nullptr));
  }
  PetscCall(Compute(step, step.t + step.h, step.values[1], &R));
  for (std::size_t c = 0; c < step.columns.size(); ++c) {
    TangentVectors &v = step.columns[c];
    PetscCall(Apply(step, R, c, v.stage[1], rhs));
    PetscCall(VecAXPBY(rhs, 1 / (2 * theta), 1 / (2 * theta), v.increment[1]));
    for (int d = 0; d < splitting.directions(); ++d) {
      PetscCall(MatMult(splitting.A(d), v.increment[0], adi->work));
      PetscCall(VecAXPY(rhs, -sign / theta, adi->work));
    }
    if (splitting.algebraic()) {
      PetscCall(TakeAlgebraic(adi, rhs));
      PetscCall(VecAXPY(rhs, sign, v.boundary[2]));
    }
    PetscCall(SolveP(step.ts, rhs, v.increment[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The derivative of StepPeacemanRachford().
PetscErrorCode TangentOfPeacemanRachford(const TangentStep &step)
{
  TS_ADI           *adi  = step.adi;
  const Vec         rhs  = adi->tangent.rhs;
  const PetscReal   sign = sign_of(adi);
  const PetscScalar one  = 1;
  Derivatives       R;
  PetscFunctionBegin;
  PetscCall(ComputeBoundary(step, {false, false, true}));
  for (int d = 0; d < 2; ++d) {
    PetscCall(Compute(step, step.t + step.h / 2, step.values[d], &R));
    for (std::size_t c = 0; c < step.columns.size(); ++c) {
      TangentVectors &v = step.columns[c];
      if (d > 0) PetscCall(SumVectors(v.stage[0], 1, &one, v.increment, v.stage[1], nullptr));
      PetscCall(Apply(step, R, c, v.stage[d], rhs));
      if (adi->splitting.algebraic()) {
        PetscCall(TakeAlgebraic(adi, rhs));
        PetscCall(VecAXPY(rhs, sign / 2, v.boundary[2]));
      }
      PetscCall(adi->factors.solve(d, rhs, v.increment[d]));
      if (adi->splitting.algebraic_couple()) PetscCall(adi->splitting.solve_algebraic(rhs, v.increment[d]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ComputeTangents(const TangentStep &step, TSADIType type, PetscReal theta)
{
  PetscFunctionBegin;
  if (type == TS_ADI_PEACEMAN_RACHFORD) PetscCall(TangentOfPeacemanRachford(step));
  else if (is_of_two(type)) PetscCall(TangentOfTwo(step, theta));
  else PetscCall(TangentOfW(step, method_of_type(type, theta)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

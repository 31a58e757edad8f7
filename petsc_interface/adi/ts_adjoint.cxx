// SPDX-License-Identifier: BSD-2-Clause
// Adjoint of the steps of TS adi (docs/methods/adi.md#adjoint): the transpose of the derivative of each stage,
// with transposed line solves. The factors count as constants.
#include "ts_sensitivities.hpp"

namespace ribbon::petsc {

namespace {

/// The adjoint of a step. Gradients and parts by parameters are those at t + h before, at t afterwards. The costs
/// of TSSetCostHessianProducts(), whose adjoints are derivatives of the others, follow all others.
struct AdjointStep : Step {
  std::vector<Vec> gradient, by_parameters; ///< null: not requested
  int              costs = 0, first_order = 0;

  AdjointVectors &of(int cost) const { return adi->adjoint[static_cast<std::size_t>(cost)]; }
  Vec             gradient_of(int cost) const { return gradient[static_cast<std::size_t>(cost)]; }
};

/// rhs := the transpose of SolveP() times x, for one direction if `only` is not negative. Overwrites x.
PetscErrorCode SolveTransposed(TS_ADI *adi, int only, Vec x, Vec rhs)
{
  const DirectionSplitting &splitting = adi->splitting;
  const int                 first = only < 0 ? splitting.directions() - 1 : only, last = only < 0 ? 0 : only;
  Vec                       from = x;
  PetscFunctionBegin;
  if (splitting.algebraic_couple()) PetscCall(splitting.solve_algebraic_transposed(x, adi->boundary[0]));
  for (int d = first; d >= last; --d) {
    const Vec to = (d - last) % 2 ? adi->work : rhs; // the last result is rhs
    PetscCall(adi->factors.solve_transposed(d, from, to));
    if (d > last && !splitting.mass_is_identity()) PetscCall(splitting.multiply_mass(to, to));
    from = to;
  }
  if (splitting.algebraic_couple()) PetscCall(VecAXPY(rhs, 1, adi->boundary[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Moves s_b rhs_b of the rows of algebraic equations to `algebraic`, so that rhs keeps the other rows.
PetscErrorCode TakeAlgebraic(TS_ADI *adi, Vec rhs, Vec algebraic)
{
  const DirectionSplitting &splitting = adi->splitting;
  PetscFunctionBegin;
  PetscCall(VecPointwiseMult(adi->work, splitting.is_algebraic(), rhs));
  PetscCall(VecAXPY(rhs, -1, adi->work));
  PetscCall(VecPointwiseMult(algebraic, splitting.algebraic(), adi->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// sum += factor M^T x, for x without rows of algebraic equations.
PetscErrorCode AddMassTransposed(TS_ADI *adi, PetscScalar factor, Vec x, Vec sum)
{
  const DirectionSplitting &splitting = adi->splitting;
  PetscFunctionBegin;
  if (splitting.mass_is_identity() && !splitting.mass_matrix()) {
    PetscCall(VecAXPY(sum, factor, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (splitting.mass_matrix()) PetscCall(MatMultTranspose(splitting.mass_matrix(), x, adi->work));
  else PetscCall(splitting.multiply_mass(x, adi->work));
  PetscCall(VecAXPY(sum, factor, adi->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y := R'^T x
PetscErrorCode MultiplyTransposed(const Derivative &R, Vec x, Vec work, Vec y)
{
  PetscFunctionBegin;
  PetscCall(VecSet(y, 0));
  for (int k = 0; k < 2; ++k) {
    if (!R.A[k]) continue;
    PetscCall(MatMultTranspose(R.A[k], x, work));
    PetscCall(VecAXPY(y, R.factor[k], work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Second derivatives of R, times the adjoints `bar` and the tangent of a stage.
PetscErrorCode PassSecondDerivatives(const AdjointStep &step, PetscReal time, int stage, Vec Y,
                                     Vec AdjointVectors::*bar)
{
  std::vector<Vec> left;
  PetscFunctionBegin;
  if (step.costs == step.first_order) PetscFunctionReturn(PETSC_SUCCESS);
  for (int n = 0; n < step.first_order; ++n) PetscCallCXX(left.push_back(step.of(n).*bar));
  PetscCall(ComputeHessianProducts(step.ts, time, Y,
                                   step.adi->second.tangents[static_cast<std::size_t>(stage)], left.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The function R at the time and the value of a stage gets the adjoints `bar`: gradients += R'^T bar, and so
/// for the parameters. `also`: sees the product of each cost.
template <class Also>
PetscErrorCode PassFunction(const AdjointStep &step, PetscReal time, int stage, Vec AdjointVectors::*bar,
                            const Also &also)
{
  TS_ADI            *adi    = step.adi;
  const Vec          Y      = stage == 0 ? step.U : adi->stages[static_cast<std::size_t>(stage)];
  const SecondOrder &second = adi->second;
  Derivative         R;
  const auto         cost_of = [&](int n) { return static_cast<std::size_t>(n - step.first_order); };
  PetscFunctionBegin;
  PetscCall(PassSecondDerivatives(step, time, stage, Y, bar));
  PetscCall(ComputeDerivative(step.ts, time, Y, &R));
  PetscCall(CheckTransposes(step.ts, R));
  for (int n = 0; n < step.costs; ++n) {
    PetscCall(MultiplyTransposed(R, step.of(n).*bar, adi->work, adi->rhs));
    if (n >= step.first_order) PetscCall(VecAXPY(adi->rhs, 1, second.by_solution[cost_of(n)]));
    PetscCall(VecAXPY(step.gradient_of(n), 1, adi->rhs));
    PetscCall(also(n, adi->rhs));
  }
  if (!step.ts->vecs_sensip && !step.ts->vecs_sensi2p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ComputeParameterDerivative(step.ts, time, Y, &R));
  for (int n = 0; n < step.costs; ++n) {
    AdjointVectors &v   = step.of(n);
    const Vec       sum = step.by_parameters[static_cast<std::size_t>(n)];
    if (!sum) continue;
    PetscCall(MultiplyTransposed(R, v.*bar, v.parameters[0], v.parameters[1]));
    if (n >= step.first_order) PetscCall(VecAXPY(sum, 1, second.by_parameters[cost_of(n)]));
    PetscCall(VecAXPY(sum, 1, v.parameters[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode nothing(int, Vec)
{
  return PETSC_SUCCESS;
}

/// The functions at (t, U), (t + h / 2, U) and (t + h, U) of the rows of algebraic equations.
PetscErrorCode PassBoundary(const AdjointStep &step)
{
  PetscFunctionBegin;
  if (!step.adi->splitting.algebraic()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3; ++k) {
    PetscReal norm = 0;
    for (int n = 0; n < step.costs && norm == 0; ++n)
      PetscCall(VecNorm(step.of(n).boundary[k], NORM_INFINITY, &norm));
    if (norm == 0) continue;
    for (int n = 0; n < step.costs; ++n) PetscCall(VecCopy(step.of(n).boundary[k], step.of(n).rhs));
    PetscCall(PassFunction(step, step.t + PetscReal(k) / 2 * step.h, 0, &AdjointVectors::rhs, nothing));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ClearBoundary(const AdjointStep &step)
{
  PetscFunctionBegin;
  if (!step.adi->splitting.algebraic()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int n = 0; n < step.costs; ++n)
    for (Vec v : step.of(n).boundary) PetscCall(VecSet(v, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The adjoint of the right-hand side of stage i of a W-method, which is in `rhs` of the vectors of a cost.
PetscErrorCode PassStageRHS(const AdjointStep &step, const WMethod &m, int i, AdjointVectors &v)
{
  TS_ADI         *adi  = step.adi;
  const PetscReal sign = sign_of(adi);
  PetscFunctionBegin;
  if (adi->splitting.algebraic()) {
    const BoundaryWeights w = boundary_weights(adi, m, i);
    PetscCall(TakeAlgebraic(adi, v.rhs, v.algebraic));
    for (int k = 0; k < 3; ++k) PetscCall(VecAXPY(v.boundary[k], sign * w.at[k], v.algebraic));
  }
  for (int j = 0; j < i; ++j)
    PetscCall(AddMassTransposed(adi, -sign * m.z[i][j] / step.h, v.rhs, v.increment[j]));
  if (adi->splitting.algebraic())
    PetscCall(VecAXPY(v.rhs, sign * boundary_weights(adi, m, i).stage, v.algebraic));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The adjoint of StepW().
PetscErrorCode PassW(const AdjointStep &step, const WMethod &m)
{
  TS_ADI *adi = step.adi;
  PetscFunctionBegin;
  for (int n = 0; n < step.costs; ++n) {
    for (int i = 0; i < m.stages; ++i) {
      PetscCall(VecCopy(step.gradient_of(n), step.of(n).increment[i]));
      PetscCall(VecScale(step.of(n).increment[i], m.b[i]));
    }
  }
  for (int i = m.stages - 1; i >= 0; --i) {
    for (int n = 0; n < step.costs; ++n) {
      AdjointVectors &v = step.of(n);
      PetscCall(SolveTransposed(adi, -1, v.increment[i], v.rhs));
      PetscCall(PassStageRHS(step, m, i, v));
    }
    PetscCall(PassFunction(step, step.t + m.c[i] * step.h, i, &AdjointVectors::rhs, [&](int n, Vec Y) {
      PetscFunctionBegin;
      for (int j = 0; j < i; ++j) PetscCall(VecAXPY(step.of(n).increment[j], m.a[i][j], Y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The adjoint of StepOfTwo().
PetscErrorCode PassTwo(const AdjointStep &step, PetscReal theta)
{
  TS_ADI                   *adi       = step.adi;
  const DirectionSplitting &splitting = adi->splitting;
  const PetscReal           sign      = sign_of(adi);
  const bool                algebraic = splitting.algebraic() != nullptr;
  PetscFunctionBegin;
  for (int n = 0; n < step.costs; ++n) {
    AdjointVectors &v = step.of(n);
    PetscCall(VecCopy(step.gradient_of(n), v.increment[1]));
    PetscCall(SolveTransposed(adi, -1, v.increment[1], v.rhs));
    if (algebraic) {
      PetscCall(TakeAlgebraic(adi, v.rhs, v.algebraic));
      PetscCall(VecAXPY(v.boundary[2], sign, v.algebraic));
    }
    PetscCall(VecSet(v.increment[0], 0));
    for (int d = 0; d < splitting.directions(); ++d) {
      PetscCall(MatMultTranspose(splitting.A(d), v.rhs, adi->work));
      PetscCall(VecAXPY(v.increment[0], -sign / theta, adi->work));
    }
    PetscCall(VecScale(v.rhs, 1 / (2 * theta)));
  }
  PetscCall(PassFunction(step, step.t + step.h, 1, &AdjointVectors::rhs,
                         [&](int n, Vec Y) { return VecAXPY(step.of(n).increment[0], 1 / theta, Y); }));
  for (int n = 0; n < step.costs; ++n) {
    AdjointVectors &v = step.of(n);
    PetscCall(SolveTransposed(adi, -1, v.increment[0], v.increment[1]));
    if (algebraic) {
      PetscCall(TakeAlgebraic(adi, v.increment[1], v.algebraic));
      PetscCall(VecAXPY(v.boundary[2], sign * theta, v.algebraic));
    }
    PetscCall(VecAXPY(v.rhs, 1, v.increment[1]));
  }
  PetscCall(PassFunction(step, step.t, 0, &AdjointVectors::rhs, nothing));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The adjoint of StepPeacemanRachford().
PetscErrorCode PassPeacemanRachford(const AdjointStep &step)
{
  TS_ADI         *adi  = step.adi;
  const PetscReal sign = sign_of(adi);
  PetscFunctionBegin;
  for (int d = 1; d >= 0; --d) {
    // every increment is a term of U+, and the first one of the value of the second stage as well
    for (int n = 0; n < step.costs; ++n) {
      AdjointVectors &v = step.of(n);
      PetscCall(VecCopy(step.gradient_of(n), v.increment[0]));
      PetscCall(SolveTransposed(adi, d, v.increment[0], v.rhs));
      if (adi->splitting.algebraic()) {
        PetscCall(TakeAlgebraic(adi, v.rhs, v.algebraic));
        PetscCall(VecAXPY(v.boundary[2], sign / 2, v.algebraic));
      }
    }
    PetscCall(PassFunction(step, step.t + step.h / 2, d, &AdjointVectors::rhs, nothing));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PassStep(const AdjointStep &step, bool *ok)
{
  TS_ADI   *adi = step.adi;
  TSADIType type;
  bool      anew;
  PetscFunctionBegin;
  PetscCall(GetTypeOfStep(step.ts, step.ts->steps, &type));
  const PetscReal time = time_of_jacobian(step, type);
  PetscCall(PrepareJacobian(step, time, &anew, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(
    !adi->splitting.has_tensor_mass(), PetscObjectComm((PetscObject)step.ts), PETSC_ERR_SUP,
    "TS adi: TSAdjointSolve() with several directions needs a diagonal mass matrix: take -ts_type cn");
  if (step.ts->vecs_sensip || step.ts->vecs_sensi2p) PetscCall(CheckParameters(step, time));
  PetscCall(FactorOfStep(step, type, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  if (adi->splitting.algebraic_couple() && !adi->boundary[0])
    PetscCall(VecDuplicate(step.U, &adi->boundary[0]));
  PetscCall(ClearBoundary(step));
  const PetscReal theta = theta_of_type(adi, type);
  if (step.costs > step.first_order) {
    const int stages = method_of_type(type, theta).stages;
    PetscCall(LoadTangents(step.ts, stages));
    PetscCall(CheckSecondDerivatives(step, time, stages, anew));
  }
  if (type == TS_ADI_PEACEMAN_RACHFORD) PetscCall(PassPeacemanRachford(step));
  else if (is_of_two(type)) PetscCall(PassTwo(step, theta));
  else PetscCall(PassW(step, method_of_type(type, theta)));
  PetscCall(PassBoundary(step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode CheckTransposes(TS ts, const Derivative &R)
{
  PetscFunctionBegin;
  for (Mat A : R.A) {
    PetscBool has = PETSC_TRUE;
    if (A) PetscCall(MatHasOperation(A, MATOP_MULT_TRANSPOSE, &has));
    PetscCheck(
      has, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
      "TS adi: TSAdjointSolve() multiplies by transposed Jacobians, which the matrix of the Jacobian "
      "does not support: set an assembled one (no -snes_mf_operator)");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSAdjointSetUp_ADI(TS ts)
{
  TS_ADI        *adi  = adi_of(ts);
  const MPI_Comm comm = PetscObjectComm((PetscObject)ts);
  PetscFunctionBegin;
  PetscCheck(adi->rannacher == 0, comm, PETSC_ERR_SUP,
             "TS adi: TSAdjointSolve() does not support -ts_adi_rannacher %" PetscInt_FMT ": take 0",
             adi->rannacher);
  if (ts->quadraturets) PetscCall(TSForwardIntegral_ADI(ts));
  PetscCall(TSAdjointReset_ADI(ts));
  PetscCall(HessianSetUp(ts));
  const Vec parameters = ts->vecs_sensip    ? ts->vecs_sensip[0]
                         : ts->vecs_sensi2p ? ts->vecs_sensi2p[0]
                                            : nullptr;
  PetscCallCXX(adi->adjoint.resize(static_cast<std::size_t>(ts->numcost * (ts->vecs_sensi2 ? 2 : 1))));
  for (AdjointVectors &v : adi->adjoint) {
    for (Vec *one : v.of_the_solution()) PetscCall(VecDuplicate(ts->vec_sol, one));
    for (Vec &one : v.parameters)
      if (parameters) PetscCall(VecDuplicate(parameters, &one));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSAdjointReset_ADI(TS ts)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  for (AdjointVectors &v : adi->adjoint) {
    for (Vec *one : v.of_the_solution()) PetscCall(VecDestroy(one));
    for (Vec &one : v.parameters) PetscCall(VecDestroy(&one));
  }
  adi->adjoint.clear();
  PetscCall(HessianReset(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSAdjointStep_ADI(TS ts)
{
  TS_ADI         *adi    = adi_of(ts);
  const PetscReal h      = PetscAbsReal(ts->time_step); // negative in an adjoint run
  const bool      frozen = adi->lag_jacobian < 0;
  bool            ok;
  PetscFunctionBegin;
  adi->start_delay = adi->before_delay = {};
  adi->before_is_there                 = false;
  // the application may have called functions after the set-up
  if (adi->adjoint.size() != static_cast<std::size_t>(ts->numcost * (ts->vecs_sensi2 ? 2 : 1)) ||
      ((ts->vecs_sensip || ts->vecs_sensi2p) && !adi->adjoint[0].parameters[0]) ||
      (ts->vecs_sensi2p && adi->second.by_parameters.empty()))
    PetscCall(TSAdjointSetUp_ADI(ts));
  AdjointStep step{{ts, adi, adi->stages[0], ts->ptime - h, h}, {}, {}, 0, static_cast<int>(ts->numcost)};
  step.costs = ts->vecs_sensi2 ? 2 * step.first_order : step.first_order;
  for (int n = 0; n < step.costs; ++n) {
    const bool second        = n >= step.first_order;
    const int  k             = second ? n - step.first_order : n;
    Vec       *by_solution   = second ? ts->vecs_sensi2 : ts->vecs_sensi;
    Vec       *by_parameters = second ? ts->vecs_sensi2p : ts->vecs_sensip;
    PetscCallCXX(step.gradient.push_back(by_solution[k]));
    PetscCallCXX(step.by_parameters.push_back(by_parameters ? by_parameters[k] : nullptr));
  }
  PetscCall(PassStep(step, &ok));
  if (!ok) ts->reason = TSADJOINT_DIVERGED_LINEAR_SOLVE;
  if (!frozen) adi->age = -1; // the next step has another solution
  adi->base = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

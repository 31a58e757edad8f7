// SPDX-License-Identifier: BSD-2-Clause
// The methods of TS adi: increments from functions and P^-1 alone (docs/adi.md).
#include "adi.hpp"

#include "../session.hpp"

#include <cmath>

namespace ribbon::petsc {

namespace {

struct Step {
  TS        ts;
  TS_ADI   *adi;
  Vec       U; ///< it starts from
  PetscReal t, h;
};

/// Value U + sum_j weight_j increment_j.
PetscErrorCode Combine(TS_ADI *adi, Vec U, int n, const PetscReal weight[], Vec Y)
{
  PetscScalar w[max_stages];
  PetscFunctionBegin;
  for (int j = 0; j < n; ++j) w[j] = weight[j];
  PetscCall(VecCopy(U, Y));
  PetscCall(VecMAXPY(Y, n, w, adi->increment.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether TS takes stage i, whose increment is there. Values that are not finite are a failure, on all ranks.
PetscErrorCode Accept(const Step &step, PetscReal time, int i, Vec Y, bool *ok)
{
  PetscReal norm;
  PetscBool accept;
  PetscFunctionBegin;
  PetscCall(VecNorm(step.adi->increment[static_cast<std::size_t>(i)], NORM_2, &norm));
  if (PetscIsInfOrNanReal(norm)) {
    PetscInt  outside;
    PetscBool mine;
    PetscCall(SNESGetFunctionDomainError(step.ts->snes, &mine));
    outside = mine;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &outside, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)step.ts)));
    PetscCall(SNESSetConvergedReason(step.ts->snes, outside ? SNES_DIVERGED_FUNCTION_DOMAIN : SNES_DIVERGED_FNORM_NAN));
  }
  PetscCall(TSPostStage(step.ts, time, i, step.adi->stages.data()));
  PetscCall(TSAdaptCheckStage(step.ts->adapt, step.ts, time, Y, &accept));
  *ok = accept == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A stage that could not be solved at all.
PetscErrorCode Refuse(const Step &step, PetscReal time, Vec Y)
{
  PetscBool accept;
  PetscFunctionBegin;
  PetscCall(TSAdaptCheckStage(step.ts->adapt, step.ts, time, Y, &accept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Marks the rows of differential equations, anew where the algebraic ones are others.
PetscErrorCode MarkDifferentialRows(TS_ADI *adi)
{
  const PetscScalar *s;
  PetscScalar       *m;
  PetscInt           n;
  PetscFunctionBegin;
  if (adi->differential_generation == adi->splitting.generation()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!adi->differential) {
    PetscCall(VecDuplicate(adi->start, &adi->differential));
    for (Vec &c : adi->boundary) PetscCall(VecDuplicate(adi->start, &c));
  }
  PetscCall(VecGetLocalSize(adi->differential, &n));
  PetscCall(VecGetArrayRead(adi->splitting.algebraic(), &s));
  PetscCall(VecGetArrayWrite(adi->differential, &m));
  for (PetscInt i = 0; i < n; ++i) m[i] = s[i] == PetscScalar(0);
  PetscCall(VecRestoreArrayWrite(adi->differential, &m));
  PetscCall(VecRestoreArrayRead(adi->splitting.algebraic(), &s));
  adi->differential_generation = adi->splitting.generation();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Increments of the algebraic equations at t + h / 2 (for methods of order 3) and t + h. `G`: where it is G(t + h, U), it serves.
PetscErrorCode ComputeBoundary(const Step &step, const WMethod &m, Vec G)
{
  TS_ADI *adi = step.adi;
  PetscFunctionBegin;
  if (!adi->splitting.has_algebraic()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MarkDifferentialRows(adi));
  if (m.c[0] == 1) PetscCall(VecPointwiseMult(adi->boundary[0], adi->splitting.algebraic(), G));
  else PetscCall(BoundaryIncrement(step.ts, step.t + step.h, step.U, adi->boundary[0]));
  if (m.order == 3) PetscCall(BoundaryIncrement(step.ts, step.t + step.h / 2, step.U, adi->boundary[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of algebraic equations of stage i: y_i = sum_j gamma_ij k_j with k_j = h q'(t + alpha_j h), q through the values at t, t + h (and t + h / 2).
PetscErrorCode StageBoundary(const Step &step, const WMethod &m, int i, Vec rhs)
{
  PetscScalar weight[2] = {0, 0};
  PetscFunctionBegin;
  if (!step.adi->splitting.has_algebraic()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int j = 0; j <= i; ++j) {
    if (m.order == 3) {
      weight[0] += m.gamma_ij[i][j] * (4 * m.alpha[j] - 1);
      weight[1] += m.gamma_ij[i][j] * (4 - 8 * m.alpha[j]);
    } else weight[0] += m.gamma_ij[i][j];
  }
  PetscCall(SetBoundaryRows(step.ts, m.order == 3 ? 2 : 1, weight, rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// rhs := gamma h [G(t_i, Y) - M sum_j z_ij y_j / h] of a stage after the first. V = (Y - U) / (alpha_i h) is handed to the application as U': where M depends on U, what is left of M V is then of
/// second order.
PetscErrorCode StageFunction(const Step &step, const WMethod &m, int i, Vec Y, Vec rhs)
{
  TS_ADI         *adi   = step.adi;
  const PetscReal time  = step.t + m.c[i] * step.h;
  const bool      taken = adi->has_ifunction && m.alpha[i] != 0;
  PetscScalar     w[max_stages];
  PetscFunctionBegin;
  if (adi->has_ifunction && !taken) PetscCall(VecZeroEntries(adi->udot));
  if (taken) {
    PetscCall(VecWAXPY(adi->udot, -1, step.U, Y));
    PetscCall(VecScale(adi->udot, 1 / (m.alpha[i] * step.h)));
  }
  PetscCall(EvaluateG(step.ts, time, Y, adi->udot, rhs));
  PetscCall(VecScale(rhs, m.gamma * step.h));
  for (int j = 0; j < i; ++j) w[j] = -m.gamma * (m.z[i][j] - (taken ? m.a[i][j] / m.alpha[i] : 0));
  if (adi->splitting.mass_is_identity()) PetscCall(VecMAXPY(rhs, i, w, adi->increment.data()));
  else {
    PetscCall(VecZeroEntries(adi->work));
    PetscCall(VecMAXPY(adi->work, i, w, adi->increment.data()));
    PetscCall(adi->splitting.multiply_mass(adi->work, adi->work));
    PetscCall(VecAXPY(rhs, 1, adi->work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first stage of every method: Jacobian, factors and y_1 = P^-1 gamma h G(t + c_1 h, U).
PetscErrorCode FirstStage(const Step &step, const WMethod &m, int i, bool *ok)
{
  TS_ADI         *adi  = step.adi;
  const PetscReal time = step.t + m.c[0] * step.h;
  PetscFunctionBegin;
  PetscCall(TSPreStage(step.ts, time));
  PetscCall(Linearise(step.ts, time, step.U, step.h, adi->rhs));
  PetscCall(ComputeBoundary(step, m, adi->rhs));
  PetscCall(Factor(step.ts, m.gamma * step.h, ok));
  if (!*ok) {
    PetscCall(Refuse(step, time, step.U));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecScale(adi->rhs, m.gamma * step.h));
  PetscCall(StageBoundary(step, m, 0, adi->rhs));
  PetscCall(SolveP(step.ts, adi->rhs, adi->increment[static_cast<std::size_t>(i)]));
  PetscCall(Accept(step, time, i, step.U, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StepW(const Step &step, bool *ok)
{
  TS_ADI        *adi = step.adi;
  const WMethod &m   = adi->method;
  PetscFunctionBegin;
  PetscCall(FirstStage(step, m, 0, ok));
  for (int i = 1; i < m.stages && *ok; ++i) {
    const PetscReal time = step.t + m.c[i] * step.h;
    const Vec       Y    = adi->value[static_cast<std::size_t>(i)];
    PetscCall(Combine(adi, step.U, i, m.a[i], Y));
    PetscCall(TSPreStage(step.ts, time));
    PetscCall(StageFunction(step, m, i, Y, adi->rhs));
    PetscCall(StageBoundary(step, m, i, adi->rhs));
    PetscCall(SolveP(step.ts, adi->rhs, adi->increment[static_cast<std::size_t>(i)]));
    PetscCall(Accept(step, time, i, Y, ok));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
// Factors and solves of a step of TS adi, and its rows of algebraic equations.
#include "ts.hpp"

namespace ribbon::petsc {

/// The next time at which PETSc ends a step.
static PetscReal NextTarget(TS ts)
{
  return PetscMin(ts->max_time, RibbonNextEvaluationTime(ts));
}

bool IsMatched(TS ts)
{
  return ts->exact_final_time == TS_EXACTFINALTIME_MATCHSTEP &&
         PetscAbsReal(NextTarget(ts) - ts->ptime) <= PetscReal(2.5) * PetscAbsReal(ts->time_step);
}

bool IsRounded(TS ts, PetscReal a, PetscReal kept)
{
  const PetscReal unit =
    PETSC_MACHINE_EPSILON * PetscMax(PetscAbsReal(ts->ptime), PetscAbsReal(NextTarget(ts)));
  return IsMatched(ts) && PetscAbsReal(a - kept) <= PetscMin(1000 * unit, PETSC_SQRT_MACHINE_EPSILON * a);
}

PetscErrorCode Factor(TS ts, PetscReal a, bool all_scaled, bool *ok)
{
  TS_ADI         *adi  = adi_of(ts);
  const PetscReal sign = sign_of(adi), kept = sign * adi->factor_scale;
  PetscFunctionBegin;
  if (IsRounded(ts, a, kept)) a = kept;
  for (int d = 0; d < adi->splitting.directions(); ++d) {
    const bool scaled = d == 0 || all_scaled;
    PetscCall(adi->factors.factor(adi->splitting, d, 0, scaled ? sign / a : 1, scaled ? sign : a, nullptr));
  }
  adi->factor_scale = sign * a;
  *ok               = adi->factors.failure() == PC_NOERROR;
  if (!*ok) {
    PetscCall(PetscInfo(ts, "%s\n", adi->factors.failure_sentence().c_str()));
    PetscCall(SNESSetConvergedReason(ts->snes, SNES_DIVERGED_LINEAR_SOLVE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveP(TS ts, Vec R, Vec x)
{
  TS_ADI   *adi        = adi_of(ts);
  const int directions = adi->splitting.directions();
  Vec       from       = R;
  PetscFunctionBegin;
  for (int d = 0; d < directions; ++d) {
    const Vec to = (directions - d) % 2 ? x : adi->work; // the last result is x
    PetscCall(adi->factors.solve(d, from, to));
    if (d + 1 < directions && !adi->splitting.mass_is_identity())
      PetscCall(adi->splitting.multiply_mass(to, to));
    from = to;
  }
  if (adi->splitting.algebraic_couple()) PetscCall(adi->splitting.solve_algebraic(R, x));
  ts->ksp_its++, ts->snes_its++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BoundaryIncrement(TS ts, PetscReal t, Vec U, Vec c)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(ClearRate(adi));
  PetscCall(Evaluate(ts, t, U, adi->work));
  PetscCall(VecPointwiseMult(c, adi->splitting.algebraic(), adi->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetBoundaryRows(TS ts, PetscInt n, const PetscScalar weight[], Vec rhs)
{
  TS_ADI     *adi = adi_of(ts);
  PetscScalar w[2];
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) w[k] = sign_of(adi) * weight[k];
  PetscCall(VecPointwiseMult(adi->work, adi->splitting.is_algebraic(), rhs));
  PetscCall(VecAXPY(rhs, -1, adi->work));
  PetscCall(VecMAXPY(rhs, n, w, adi->boundary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

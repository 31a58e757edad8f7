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
  PetscReal of_mass[3] = {1, 1, 1}, of_A[3] = {a, a, a};
  bool      refactored = false;
  for (int d = 0; d < adi->splitting.directions(); ++d) {
    if (d == 0 || all_scaled) of_mass[d] = sign / a, of_A[d] = sign;
    PetscCall(adi->factors.factor(adi->splitting, d, 0, of_mass[d], of_A[d], &refactored));
  }
  if (refactored && adi->splitting.has_tensor_mass())
    PetscCall(adi->splitting.set_tensor_factors(of_mass, of_A));
  adi->factor_scale = sign * a;
  *ok               = adi->factors.failure() == PC_NOERROR;
  if (!*ok) {
    PetscCall(PetscInfo(ts, "%s\n", adi->factors.failure_sentence().c_str()));
    PetscCall(SNESSetConvergedReason(ts->snes, SNES_DIVERGED_LINEAR_SOLVE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x := the product of P_d^-1 of a set of factors, and of M between them, times `from`. `moves`: see SolveP().
static PetscErrorCode SolveAlong(TS_ADI *adi, int slot, Vec from, Vec x, const PetscReal moves[2])
{
  const int directions = adi->splitting.directions();
  PetscFunctionBegin;
  for (int d = 0; d < directions; ++d) {
    const Vec to = (directions - d) % 2 ? x : adi->work; // the last result is x
    PetscCall(adi->factors.solve(d, from, to, slot));
    if (d + 1 < directions && adi->splitting.mass_between_solves())
      PetscCall(adi->splitting.multiply_mass(to, to));
    if (d + 1 < directions && moves)
      PetscCall(AddAtEnds(adi, d + 1, adi->factor_scale * moves[0], adi->factor_scale * moves[1], to));
    from = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveP(TS ts, Vec R, Vec x, const PetscReal moves[2])
{
  TS_ADI *adi  = adi_of(ts);
  Vec     from = R;
  PetscFunctionBegin;
  if (adi->splitting.has_tensor_mass()) PetscCall(adi->splitting.scale_rhs(R, &from));
  PetscCall(SolveAlong(adi, 0, from, x, moves));
  if (adi->splitting.algebraic_couple()) PetscCall(adi->splitting.solve_algebraic(R, x));
  ts->ksp_its++, ts->snes_its++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveTensorMass(TS ts, Vec R, Vec x)
{
  TS_ADI *adi = adi_of(ts);
  Vec     from;
  PetscFunctionBegin;
  for (int d = 0; d < adi->splitting.directions(); ++d)
    PetscCall(adi->factors.factor(adi->splitting, d, 1, 1, 0, nullptr));
  if (adi->splitting.algebraic()) {
    PetscCall(VecPointwiseMult(adi->work, adi->splitting.is_algebraic(), R));
    PetscCall(VecAXPY(R, -1, adi->work));
  }
  PetscCall(adi->splitting.scale_rhs_of_mass(R, &from));
  PetscCall(SolveAlong(adi, 1, from, x, nullptr));
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

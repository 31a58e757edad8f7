// SPDX-License-Identifier: BSD-2-Clause
// What a step of TS adi asks of the application: functions, Jacobian, mass, algebraic equations.
#include "adi.hpp"

#include "../session.hpp"

#include <petscsnes.h>

#include <cmath>

namespace ribbon::petsc {

namespace {

/// SNES is never asked to solve: the domain errors of the application's functions are asked for here.
PetscErrorCode CheckDomain(TS ts, Vec F)
{
  SNES      snes;
  PetscBool outside;
  PetscFunctionBegin;
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESGetFunctionDomainError(snes, &outside));
  if (outside) PetscCall(VecSet(F, PETSC_INFINITY)); // known to this rank alone: the next norm tells all
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y := dF/dU' v = [F(t, U, c v) - F(t, U, 0)] / c, with F(t, U, 0) = implicit. v is scaled; c gets smaller until the function is finite, for applications that look at U - h U'.
PetscErrorCode ApplyMass(TS ts, PetscReal t, Vec U, Vec v, Vec implicit, Vec y)
{
  PetscReal c = 1, norm;
  PetscFunctionBegin;
  do {
    PetscCall(TSComputeIFunction(ts, t, U, v, y, adi_of(ts)->imex ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(VecAXPY(y, -1, implicit));
    PetscCall(VecNorm(y, NORM_2, &norm));
    if (!PetscIsInfOrNanReal(norm)) break;
    c /= 1024;
    PetscCall(VecScale(v, PetscReal(1) / 1024));
  } while (c > PETSC_SQRT_MACHINE_EPSILON);
  PetscCall(VecScale(y, 1 / c));
  PetscCall(VecScale(v, 1 / c));
  PetscCall(RibbonClearDomainError(ts->snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Differences of functions are right to rounding errors of the functions: numbers that agree to 1e-9 are taken for one, so that lines can share a matrix.
PetscErrorCode RoundMass(Vec mass, PetscInt components)
{
  const PetscReal near = 1e-9;
  PetscScalar    *m;
  PetscInt        n;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(mass, &n));
  PetscCall(VecGetArray(mass, &m));
  for (PetscInt i = 0; i < n; ++i) {
    int             exponent;
    const PetscReal fraction = std::frexp(PetscRealPart(m[i]), &exponent), few_digits = std::ldexp(std::rint(std::ldexp(fraction, 20)), exponent - 20);
    if (PetscAbsScalar(m[i] - few_digits) <= near * PetscAbsScalar(m[i])) m[i] = few_digits;
    else if (i >= components && PetscAbsScalar(m[i] - m[i - components]) <= near * PetscAbsScalar(m[i])) m[i] = m[i - components];
  }
  PetscCall(VecRestoreArray(mass, &m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether M couples unknowns: M v is then not what row sums make of v. Collective.
PetscErrorCode MassIsDiagonal(TS ts, PetscReal t, Vec U, Vec implicit, Vec row_sums, bool *is)
{
  TS_ADI     *adi = adi_of(ts);
  Vec         random, y, expected;
  PetscRandom generator;
  PetscReal   size, rounding, difference;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(U, &random));
  PetscCall(VecDuplicate(U, &y));
  PetscCall(VecDuplicate(U, &expected));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)ts), &generator));
  PetscCall(PetscRandomSetInterval(generator, 0.5, 1.5));
  PetscCall(VecSetRandom(random, generator));
  PetscCall(ApplyMass(ts, t, U, random, implicit, y));
  PetscCall(VecPointwiseMult(expected, row_sums, random));
  PetscCall(VecNorm(expected, NORM_INFINITY, &size));
  PetscCall(VecNorm(implicit, NORM_INFINITY, &rounding));
  PetscCall(VecAXPY(y, -1, expected));
  PetscCall(VecNorm(y, NORM_INFINITY, &difference));
  *is = !(difference > 1e-6 * size + 256 * PETSC_MACHINE_EPSILON * rounding); // NaN: what follows says so
  PetscCall(PetscRandomDestroy(&generator));
  PetscCall(VecDestroy(&expected));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&random));
  adi->mass_known = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Computes the diagonal (or the row sums) of M anew. `changed`: whether it is another one.
PetscErrorCode ComputeMass(TS ts, PetscReal t, Vec U, Vec implicit, bool *changed)
{
  TS_ADI   *adi  = adi_of(ts);
  Vec       y    = adi->work;
  PetscReal size = 0, difference = 1;
  PetscInt  components = 1;
  PetscFunctionBegin;
  *changed = false;
  if (!adi->has_ifunction) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(adi->udot, 1));
  PetscCall(ApplyMass(ts, t, U, adi->udot, implicit, y));
  PetscCall(VecZeroEntries(adi->udot));
  if (adi->mass) {
    PetscCall(VecAXPBY(adi->mass, 1, -1, y)); // the difference, for now
    PetscCall(VecNorm(adi->mass, NORM_INFINITY, &difference));
    PetscCall(VecNorm(y, NORM_INFINITY, &size));
    PetscCall(VecAXPBY(adi->mass, 1, -1, y));
    if (difference <= 1e-9 * size) PetscFunctionReturn(PETSC_SUCCESS);
  } else PetscCall(VecDuplicate(U, &adi->mass));
  *changed = true;
  PetscCall(VecGetBlockSize(U, &components));
  PetscCall(VecCopy(y, adi->mass));
  if (!adi->mass_known) PetscCall(MassIsDiagonal(ts, t, U, implicit, adi->mass, &adi->mass_is_diagonal));
  PetscCall(RoundMass(adi->mass, components));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComputeJacobian(TS ts, PetscReal shift, Vec U, Mat A, Mat B)
{
  TS_ADI  *adi = adi_of(ts);
  SNES     snes;
  PetscInt lag;
  PetscFunctionBegin;
  adi->shift = shift;
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESGetLagJacobian(snes, &lag)); // of nonlinear iterations: there are none here
  PetscCall(SNESSetLagJacobian(snes, 1));
  PetscCall(SNESComputeJacobian(snes, U, A, B));
  PetscCall(SNESSetLagJacobian(snes, lag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// M of J = shift M - A, from the Jacobians of two shifts; the one of `shift` is in A and B afterwards.
PetscErrorCode ComputeMassMatrix(TS ts, PetscReal shift, Vec U, Mat A, Mat B)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(MatDestroy(&adi->mass_matrix));
  PetscCall(ComputeJacobian(ts, 2 * shift, U, A, B));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &adi->mass_matrix));
  PetscCall(ComputeJacobian(ts, shift, U, A, B));
  PetscCall(MatAXPY(adi->mass_matrix, -1, B, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(adi->mass_matrix, 1 / shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Split(TS ts, PetscReal t, Vec U, Mat B, PetscReal shift, bool *changed)
{
  TS_ADI          *adi = adi_of(ts);
  SplitJacobian    jacobian;
  std::vector<Mat> given;
  PetscFunctionBegin;
  jacobian.J = B, jacobian.shift = shift, jacobian.mass = adi->mass, jacobian.mass_matrix = adi->mass_matrix;
  PetscCall(TSGetDM(ts, &jacobian.dm));
  for (const TS_ADI::DirectionJacobian &direction : adi->given) {
    if (!direction.A) break;
    PetscCall((*direction.function)(ts, t, U, direction.A, direction.ctx));
    PetscCallCXX(given.push_back(direction.A));
  }
  if (given.empty()) PetscCall(adi->splitting.update(jacobian, changed));
  else PetscCall(adi->splitting.update(given, jacobian, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the application gave, as it is at the start of a run.
PetscErrorCode LookAtProblem(TS ts)
{
  TS_ADI       *adi = adi_of(ts);
  DM            dm;
  TSIFunction   ifunction;
  TSRHSFunction rhsfunction;
  TSIJacobian   ijacobian;
  TSRHSJacobian rhsjacobian;
  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIFunction(dm, &ifunction, nullptr));
  PetscCall(DMTSGetRHSFunction(dm, &rhsfunction, nullptr));
  PetscCall(DMTSGetIJacobian(dm, &ijacobian, nullptr));
  PetscCall(DMTSGetRHSJacobian(dm, &rhsjacobian, nullptr));
  adi->has_ifunction = ifunction != nullptr;
  adi->imex          = ifunction && rhsfunction && (ijacobian || !rhsjacobian);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode EvaluateG(TS ts, PetscReal t, Vec Y, Vec V, Vec G)
{
  PetscFunctionBegin;
  PetscCall(RibbonClearDomainError(ts->snes));
  if (adi_of(ts)->has_ifunction) {
    PetscCall(TSComputeIFunction(ts, t, Y, V, G, PETSC_FALSE));
    PetscCall(VecScale(G, -1));
  } else PetscCall(TSComputeRHSFunction(ts, t, Y, G));
  PetscCall(CheckDomain(ts, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckFinite(TS ts, Vec v, bool *ok)
{
  PetscReal norm;
  PetscInt  outside;
  PetscBool mine;
  PetscFunctionBegin;
  PetscCall(VecNorm(v, NORM_2, &norm));
  *ok = !PetscIsInfOrNanReal(norm);
  if (*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SNESGetFunctionDomainError(ts->snes, &mine));
  outside = mine;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &outside, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)ts)));
  PetscCall(SNESSetConvergedReason(ts->snes, outside ? SNES_DIVERGED_FUNCTION_DOMAIN : SNES_DIVERGED_FNORM_NAN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Linearise(TS ts, PetscReal t, Vec U, PetscReal h, Vec G, bool *ok)
{
  TS_ADI *adi = adi_of(ts);
  SNES    snes;
  Mat     A, B;
  Vec     F;
  bool    changed, another_mass;
  PetscFunctionBegin;
  *ok = true;
  PetscCall(LookAtProblem(ts));
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(VecZeroEntries(adi->udot));
  if (adi->age >= 0 && (adi->lag_jacobian < 0 || adi->age < adi->lag_jacobian)) {
    PetscCall(EvaluateG(ts, t, U, adi->udot, G));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SNESSetSolution(snes, U));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESGetJacobian(snes, &A, &B, nullptr, nullptr));
  PetscCall(SNESGetFunction(snes, &F, nullptr, nullptr));
  PetscCheck(B, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE, "TS adi: there is no Jacobian matrix; set one, or a DM that makes it (with -snes_mf_operator in place of -snes_mf)");
  // finite differences take F, at the solution of SNES, for the function that they differentiate
  adi->stage_time = t;
  PetscCall(RibbonClearDomainError(snes));
  PetscCall(TSComputeIFunction(ts, t, U, adi->udot, F, adi->imex ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(CheckDomain(ts, F));
  if (adi->imex) {
    PetscCall(RibbonClearDomainError(snes));
    PetscCall(TSComputeRHSFunction(ts, t, U, G));
    PetscCall(CheckDomain(ts, G));
    PetscCall(VecAXPY(G, -1, F));
  } else PetscCall(VecAXPBY(G, -1, 0, F));
  PetscCall(CheckFinite(ts, G, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS); // differences would make couplings of it
  const PetscReal shift = 1 / h;
  if (!adi->mass_known) PetscCall(ComputeMass(ts, t, U, F, &another_mass));
  if (adi->mass_is_diagonal) PetscCall(ComputeJacobian(ts, shift, U, A, B));
  else PetscCall(ComputeMassMatrix(ts, shift, U, A, B));
  PetscCall(Split(ts, t, U, B, shift, &changed));
  if (changed && adi->age >= 0) { // a Jacobian that stayed the same has the same mass in it
    PetscCall(ComputeMass(ts, t, U, F, &another_mass));
    if (another_mass) PetscCall(Split(ts, t, U, B, shift, &changed));
  }
  adi->age = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Factor(TS ts, PetscReal a, bool *ok)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(adi->factors.factor(adi->splitting, a, nullptr));
  *ok = adi->factors.failure() == PC_NOERROR;
  if (!*ok) {
    PetscCall(PetscInfo(ts, "%s\n", adi->factors.failure_sentence().c_str()));
    PetscCall(SNESSetConvergedReason(ts->snes, SNES_DIVERGED_LINEAR_SOLVE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveP(TS ts, Vec rhs, Vec x)
{
  TS_ADI   *adi        = adi_of(ts);
  const int directions = adi->splitting.directions();
  Vec       from       = rhs;
  PetscFunctionBegin;
  for (int d = 0; d < directions; ++d) {
    const Vec to = (directions - d) % 2 ? x : adi->work; // the last one is x
    PetscCall(adi->factors.solve(d, from, to));
    if (d + 1 < directions && !adi->splitting.mass_is_identity()) PetscCall(adi->splitting.multiply_mass(to, to));
    from = to;
  }
  if (adi->splitting.algebraic_couple()) PetscCall(adi->splitting.solve_algebraic(rhs, x));
  ts->ksp_its++, ts->snes_its++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BoundaryIncrement(TS ts, PetscReal t, Vec U, Vec c)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(VecZeroEntries(adi->udot));
  PetscCall(EvaluateG(ts, t, U, adi->udot, adi->work));
  PetscCall(VecPointwiseMult(c, adi->splitting.algebraic(), adi->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetBoundaryRows(TS ts, PetscInt n, const PetscScalar weight[], Vec rhs)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(VecPointwiseMult(adi->work, adi->splitting.is_algebraic(), rhs));
  PetscCall(VecAXPY(rhs, -1, adi->work));
  PetscCall(VecMAXPY(rhs, n, weight, adi->boundary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormFunctionADI(SNES, Vec U, Vec F, TS ts)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(VecWAXPY(adi->work, -1, adi->start, U));
  PetscCall(VecScale(adi->work, adi->shift));
  PetscCall(TSComputeIFunction(ts, adi->stage_time, U, adi->work, F, adi->imex ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormJacobianADI(SNES, Vec U, Mat A, Mat B, TS ts)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(TSComputeIJacobian(ts, adi->stage_time, U, adi->udot, adi->shift, A, B, adi->imex ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

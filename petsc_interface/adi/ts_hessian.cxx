// SPDX-License-Identifier: BSD-2-Clause
// Second derivatives of the application's functions, for the adjoint of second order of TS adi
// (docs/methods/adi.md#adjoint-of-second-order).
#include "ts_sensitivities.hpp"

namespace ribbon::petsc {

namespace {

using HessianProduct = PetscErrorCode (*)(TS, PetscReal, Vec, Vec *, Vec, Vec *, void *);

/// sums += the second derivative of R, times `left` of each cost and `right`.
PetscErrorCode AddProducts(TS ts, HessianProduct of_F, HessianProduct of_RHS, PetscReal t, Vec Y, Vec left[],
                           Vec right, std::vector<Vec> *products, const std::vector<Vec> &sums)
{
  const PetscReal sign = adi_of(ts)->has_ifunction ? 1 : -1; // R is F - RHS, or RHS
  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k) {
    const HessianProduct function = k == 0 ? of_F : of_RHS;
    if (!function) continue;
    for (const Vec v : *products) PetscCall(VecSet(v, 0));
    void *ctx = k == 0 ? ts->ihessianproductctx : ts->rhshessianproductctx;
    PetscCall((*function)(ts, t, Y, left, right, products->data(), ctx));
    for (std::size_t n = 0; n < sums.size(); ++n)
      PetscCall(VecAXPY(sums[n], k == 0 ? sign : -sign, (*products)[n]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateVectors(std::vector<Vec> *all, PetscInt n, Vec like)
{
  PetscFunctionBegin;
  PetscCallCXX(all->resize(static_cast<std::size_t>(n), nullptr));
  for (Vec &v : *all) PetscCall(VecDuplicate(like, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// V := U + a tenth of the size of U in the direction of the tangent of the last stage. If dR/dU is the same
/// there, second derivatives in this direction are 0.
PetscErrorCode Move(const Step &step, Vec tangent, Vec V)
{
  PetscReal size, length;
  PetscFunctionBegin;
  PetscCall(VecNorm(step.U, NORM_INFINITY, &size));
  PetscCall(VecNorm(tangent, NORM_INFINITY, &length));
  PetscCall(VecCopy(step.U, V));
  if (length > 0) PetscCall(VecAXPY(V, PetscReal(0.1) * (size > 0 ? size : 1) / length, tangent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a function is missing: with an explicit RHSFunction, both parts have one.
bool is_missing(const TS_ADI *adi, HessianProduct of_F, HessianProduct of_RHS, int part)
{
  if (adi->imex) return part == 0 ? !of_F : !of_RHS;
  return !of_F && !of_RHS;
}

/// Raises an error if dR/dU depends on the solution, and the application provides no second derivatives.
PetscErrorCode CheckSolution(const Step &step, PetscReal time, Vec V)
{
  TS        ts  = step.ts;
  TS_ADI   *adi = step.adi;
  bool      depends, missing[2];
  PetscReal tolerance;
  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k)
    missing[k] = is_missing(adi, ts->ihessianproduct_fuu, ts->rhshessianproduct_guu, k);
  if (!missing[0] && !missing[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AccuracyOfJacobian(ts, &tolerance));
  PetscCall(Depends(
    step.U, V, tolerance,
    [&](Vec U, Mat(&A)[3]) {
      Derivative R;
      PetscFunctionBegin;
      PetscCall(ComputeDerivative(ts, time, U, &R));
      PetscCall(CheckTransposes(ts, R));
      for (int k = 0; k < 2; ++k)
        if (missing[k]) A[k] = R.A[k];
      PetscFunctionReturn(PETSC_SUCCESS);
    },
    &depends));
  PetscCheck(
    !depends, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
    "TS adi: the function is not linear in the solution, so that TSSetCostHessianProducts() needs its "
    "second derivatives: pass the first function, of F_UU, to TSSetIHessianProduct() or "
    "TSSetRHSHessianProduct()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same for dR/dp, and for its derivative by the parameters, which no difference shows.
PetscErrorCode CheckParameterProducts(const Step &step, PetscReal time, Vec V)
{
  TS             ts   = step.ts;
  TS_ADI        *adi  = step.adi;
  const MPI_Comm comm = PetscObjectComm((PetscObject)ts);
  bool           depends, missing[2];
  PetscFunctionBegin;
  PetscCheck(
    ts->ihessianproduct_fpp || ts->rhshessianproduct_gpp, comm, PETSC_ERR_SUP,
    "TS adi: TSSetCostHessianProducts() with parameters needs second derivatives by the parameters: pass "
    "the fourth function, of F_PP, to TSSetIHessianProduct() or TSSetRHSHessianProduct(), also if they are "
    "zero");
  for (int k = 0; k < 2; ++k)
    missing[k] = is_missing(adi, ts->ihessianproduct_fup, ts->rhshessianproduct_gup, k) ||
                 is_missing(adi, ts->ihessianproduct_fpu, ts->rhshessianproduct_gpu, k);
  if (!missing[0] && !missing[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Depends(
    step.U, V, 1000 * PETSC_MACHINE_EPSILON,
    [&](Vec U, Mat(&A)[3]) {
      Derivative R;
      PetscFunctionBegin;
      PetscCall(ComputeParameterDerivative(ts, time, U, &R));
      for (int k = 0; k < 2; ++k)
        if (missing[k]) A[k] = R.A[k];
      PetscFunctionReturn(PETSC_SUCCESS);
    },
    &depends));
  PetscCheck(
    !depends, comm, PETSC_ERR_SUP,
    "TS adi: the derivative by the parameters depends on the solution, so that TSSetCostHessianProducts() "
    "needs mixed second derivatives: pass the second and third function, of F_UP and F_PU, to "
    "TSSetIHessianProduct() or TSSetRHSHessianProduct()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode HessianSetUp(TS ts)
{
  SecondOrder &second = adi_of(ts)->second;
  PetscFunctionBegin;
  PetscCall(HessianReset(ts));
  if (!ts->vecs_sensi2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!ts->vecs_sensi2p || ts->ijacobianp || ts->rhsjacobianp, PetscObjectComm((PetscObject)ts),
             PETSC_ERR_ARG_WRONGSTATE,
             "TS adi: TSSetCostHessianProducts() with parameters needs the derivative by them: call "
             "TSSetRHSJacobianP() or TSSetIJacobianP()");
  for (Vec &v : second.tangents) PetscCall(VecDuplicate(ts->vec_sol, &v));
  PetscCall(VecDuplicate(ts->vec_sol, &second.moved));
  PetscCall(CreateVectors(&second.by_solution, ts->numcost, ts->vec_sol));
  PetscCall(CreateVectors(&second.products, ts->numcost, ts->vec_sol));
  if (!ts->vecs_sensi2p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateVectors(&second.by_parameters, ts->numcost, ts->vecs_sensi2p[0]));
  PetscCall(CreateVectors(&second.parameter_products, ts->numcost, ts->vecs_sensi2p[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HessianReset(TS ts)
{
  SecondOrder &second = adi_of(ts)->second;
  PetscFunctionBegin;
  for (Vec &v : second.tangents) PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&second.moved));
  for (std::vector<Vec> *all :
       {&second.by_solution, &second.products, &second.by_parameters, &second.parameter_products})
    for (Vec &v : *all) PetscCall(VecDestroy(&v));
  second = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadTangents(TS ts, int stages)
{
  TS_ADI        *adi  = adi_of(ts);
  const Tangent &all  = adi->tangent;
  const auto     at   = static_cast<std::size_t>(ts->steps);
  const MPI_Comm comm = PetscObjectComm((PetscObject)ts);
  PetscBool      basic;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts->trajectory, TSTRAJECTORYBASIC, &basic));
  const bool has =
    ts->forward_solve && (basic ? all.matrices[0] != nullptr : at < all.kept.size() && all.kept[at][0]);
  PetscCheck(has, comm, PETSC_ERR_ARG_WRONGSTATE,
             "TS adi: TSSetCostHessianProducts() needs the tangent linear solution of step %" PetscInt_FMT
             ": call it and TSAdjointSetForward() before TSSolve()",
             ts->steps);
  for (int i = 0; i < stages; ++i) {
    const auto k = static_cast<std::size_t>(i);
    Vec        column;
    if (basic) {
      PetscCall(MatDenseGetColumnVecRead(all.matrices[k], 0, &column));
      PetscCall(VecCopy(column, adi->second.tangents[k]));
      PetscCall(MatDenseRestoreColumnVecRead(all.matrices[k], 0, &column));
    } else PetscCall(VecCopy(all.kept[at][k], adi->second.tangents[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckSecondDerivatives(const Step &step, PetscReal time, int stages, bool anew)
{
  SecondOrder &second = step.adi->second;
  PetscFunctionBegin;
  PetscCall(Move(step, second.tangents[static_cast<std::size_t>(stages - 1)], second.moved));
  if (anew) PetscCall(CheckFactors(step, time, second.moved));
  PetscCall(CheckSolution(step, time, second.moved));
  if (step.ts->vecs_sensi2p) PetscCall(CheckParameterProducts(step, time, second.moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComputeHessianProducts(TS ts, PetscReal t, Vec Y, Vec tangent, Vec left[])
{
  SecondOrder &second = adi_of(ts)->second;
  PetscFunctionBegin;
  for (const Vec v : second.by_solution) PetscCall(VecSet(v, 0));
  PetscCall(AddProducts(ts, ts->ihessianproduct_fuu, ts->rhshessianproduct_guu, t, Y, left, tangent,
                        &second.products, second.by_solution));
  if (!ts->vecs_sensi2p) PetscFunctionReturn(PETSC_SUCCESS);
  for (const Vec v : second.by_parameters) PetscCall(VecSet(v, 0));
  PetscCall(AddProducts(ts, ts->ihessianproduct_fup, ts->rhshessianproduct_gup, t, Y, left, ts->vec_dir,
                        &second.products, second.by_solution));
  PetscCall(AddProducts(ts, ts->ihessianproduct_fpu, ts->rhshessianproduct_gpu, t, Y, left, tangent,
                        &second.parameter_products, second.by_parameters));
  PetscCall(AddProducts(ts, ts->ihessianproduct_fpp, ts->rhshessianproduct_gpp, t, Y, left, ts->vec_dir,
                        &second.parameter_products, second.by_parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

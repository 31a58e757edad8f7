// SPDX-License-Identifier: BSD-2-Clause
/// @file ts_sensitivities.hpp  Parts of the sensitivities of TS adi: derivatives of functions, and conditions.
#pragma once

#include "ts.hpp"

#include <functional>

namespace ribbon::petsc {

// derivatives of the application's functions (adi/ts_derivatives.cxx)

/// The derivative of R, factor[0] A[0] + factor[1] A[1]; a matrix may be null.
struct Derivative {
  Mat         A[2]      = {nullptr, nullptr};
  PetscScalar factor[2] = {1, 1};
};
/// dR/dU at (t, Y) for U' = 0. Errors: PETSC_ERR_SUP in one sentence if the application does not provide it.
PetscErrorCode ComputeDerivative(TS ts, PetscReal t, Vec Y, Derivative *R);
/// dR/dp at (t, Y): A[0] that of the IFunction, A[1] that of the RHSFunction.
PetscErrorCode ComputeParameterDerivative(TS ts, PetscReal t, Vec Y, Derivative *R);
/// The matrix that Linearise() splits, with shift 0, up to its sign.
PetscErrorCode ComputeSplitJacobian(TS ts, PetscReal t, Vec Y, Mat *J);
/// The relative accuracy of this matrix: rounding, or the errors of finite differences.
PetscErrorCode AccuracyOfJacobian(TS ts, PetscReal *accuracy);

// conditions (adi/ts_sensitivity_checks.cxx)

/// Whether matrices that `compute` computes differ at U and V by more than this, relative to their norms.
PetscErrorCode Depends(Vec U, Vec V, PetscReal tolerance,
                       const std::function<PetscErrorCode(Vec, Mat (&)[3])> &compute, bool *depends);
/// Raises an error if M differs at the end of the step.
PetscErrorCode CheckMass(const Step &step);
/// Raises an error if the matrices of the factors differ at U and V. `time`: of the Jacobian.
PetscErrorCode CheckFactors(const Step &step, PetscReal time, Vec V);
/// Raises an error if the matrices of the factors depend on the parameters of sensitivities.
PetscErrorCode CheckParameters(const Step &step, PetscReal time);
/// For an adjoint step: splits the Jacobian of the step again, unless all steps share one, and checks mass and
/// factors. `anew`: whether the factors were compared, because they are not those of the step before.
PetscErrorCode PrepareJacobian(const Step &step, PetscReal time, bool *anew, bool *ok);

// the method of a step of this type (adi/ts_sensitivity_checks.cxx)

/// The type of the step with this number.
PetscErrorCode GetTypeOfStep(TS ts, PetscInt number, TSADIType *type);
/// Whether StepOfTwo() computes it.
inline bool is_of_two(TSADIType type)
{
  return type == TS_ADI_MODIFIED_CRAIG_SNEYD || type == TS_ADI_CRAIG_SNEYD;
}
PetscReal theta_of_type(const TS_ADI *adi, TSADIType type);
/// A method for StepW(); for the others, the weights of their increments.
WMethod   method_of_type(TSADIType type, PetscReal theta);
PetscReal time_of_jacobian(const Step &step, TSADIType type);
/// The factors of the step. See Factor().
PetscErrorCode FactorOfStep(const Step &step, TSADIType type, bool *ok);

// the tangent linear model (adi/ts_tangents.cxx)

/// The tangent linear model of a step, for each column of ts->mat_sensip.
struct TangentStep : Step {
  std::vector<TangentVectors> &columns;
  Vec                         *values;     ///< of the stages
  bool                         parameters; ///< R depends on those of the columns
};

/// Computes stages and increments of all columns from the first stages.
PetscErrorCode ComputeTangents(const TangentStep &step, TSADIType type, PetscReal theta);

// the adjoint of second order (adi/ts_hessian.cxx)

/// Raises an error if a matrix has no MatMultTranspose() (adi/ts_adjoint.cxx).
PetscErrorCode CheckTransposes(TS ts, const Derivative &R);
/// Creates vectors for TSSetCostHessianProducts(), if it was called.
PetscErrorCode HessianSetUp(TS ts);
PetscErrorCode HessianReset(TS ts);
/// Loads the tangents of the stages of a step, which forward sensitivities computed.
PetscErrorCode LoadTangents(TS ts, int stages);
/// Raises an error if second derivatives that are not zero have no function of TSSetIHessianProduct() or
/// TSSetRHSHessianProduct(). `anew`: of PrepareJacobian().
PetscErrorCode CheckSecondDerivatives(const Step &step, PetscReal time, int stages, bool anew);
/// Sets SecondOrder::by_solution and by_parameters for R at (t, Y), where the value Y has this tangent. `left`: the
/// adjoint of R of each cost.
PetscErrorCode ComputeHessianProducts(TS ts, PetscReal t, Vec Y, Vec tangent, Vec left[]);

} // namespace ribbon::petsc

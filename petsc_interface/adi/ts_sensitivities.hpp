// SPDX-License-Identifier: BSD-2-Clause
/// @file ts_sensitivities.hpp  Parts of the sensitivities of TS adi: derivatives of functions, and conditions.
#pragma once

#include "ts.hpp"

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

// conditions, and the method of a step (adi/ts_sensitivity_checks.cxx)

/// Splits the Jacobian of the step again, unless all steps share one. Raises an error if the factors depend
/// on the solution, or are unknown.
PetscErrorCode PrepareJacobian(const Step &step, PetscReal time, bool *ok);
/// Raises an error if the factors depend on the parameters of TSSetCostGradients().
PetscErrorCode CheckParameters(const Step &step, PetscReal time);
/// The method of the step with this number.
PetscErrorCode GetTypeOfStep(TS ts, PetscInt number, TSADIType *type);

} // namespace ribbon::petsc

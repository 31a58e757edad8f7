// SPDX-License-Identifier: BSD-2-Clause
/// @file probe.hpp  Solves that judge the factors: backward error, condition, an inverse of finite numbers.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// The largest backward error of a few solves, with a lower bound of ||A|| that takes one product. A is the
/// matrix as it was factored, scaled or not.
/// - b = A v with a known v that is smooth along the chain. If A is close to singular, the solution for a
///   random b is so large that no residual counts compared with it.
/// - A random b. If a pivot is small, the entries of v, which are representable, may be free of errors that
///   others have.
/// - If a pivot is below 1e-5: five random b. Also five random solutions, and one of the transposed matrix,
///   whose errors count above 1e6 units of roundoff.
PetscErrorCode QuickProbe(Mat F, PetscReal *backward_error);
/// Backward error ||b - A x|| / (||A|| ||x|| + ||b||) of a random right-hand side in maximum norms, and 1 /
/// (||A|| ||A^-1||) in the 1-norm by Hager's estimate. Both are those of the equilibrated matrix:
/// FindScales() scales rows, and columns if necessary. Collective.
PetscErrorCode Probe(Mat F, PetscReal *backward_error, PetscReal *rcond);
/// Whether the solution for a right-hand side of 1 and -1 is finite. Collective.
PetscErrorCode InverseIsFinite(Mat F, bool *is_finite);

} // namespace ribbon::petsc

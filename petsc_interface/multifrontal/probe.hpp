// SPDX-License-Identifier: BSD-2-Clause
/// @file probe.hpp  Solves that judge the factors: backward error, condition, an inverse of finite numbers.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// The largest backward error, with a lower bound of ||A|| that takes one product, of a solution that is
/// known, v of b = A v, which is smooth along the chain (where A is close to singular a random b has a
/// solution so large that no residual counts next to it), and of a random b (where a pivot is small the
/// numbers of v, which are representable, may come without the errors that others have). Where a pivot is
/// below 1e-5: of five random b and, if they are above 1e6 units of roundoff, of five random solutions and
/// one of the transposed matrix. A is the matrix as it was factored, scaled or not.
PetscErrorCode QuickProbe(Mat F, PetscReal *backward_error);
/// Backward error ||b - A x|| / (||A|| ||x|| + ||b||) of a random right-hand side in maximum norms, and
/// 1 / (||A|| ||A^-1||) in the 1-norm by Hager's estimate, both of the equilibrated matrix: rows, and columns
/// if they need it, scaled by FindScales(). Collective.
PetscErrorCode Probe(Mat F, PetscReal *backward_error, PetscReal *rcond);
/// Whether solutions of right-hand sides of 1 and -1 are all finite. Collective.
PetscErrorCode InverseIsFinite(Mat F, bool *is_finite);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file solve.hpp  Solves with the factors for one right-hand side.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// Solves once and refines, with the matrix as it was factored.
PetscErrorCode SolveAndRefine(Mat F, Vec b, Vec x, bool transposed);
/// The same with the unscaled matrix, and vectors of any type. The result is infinite if there are no
/// factors.
PetscErrorCode Solve(Mat F, Vec b, Vec x, bool transposed);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file solve.hpp  Solves with the factors of one right-hand side.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// One solve, and steps of refinement, with the matrix as it was factored.
PetscErrorCode SolveAndRefine(Mat F, Vec b, Vec x, bool transposed);
/// The same with the matrix as it is, and vectors of any type; infinite where there are no factors.
PetscErrorCode Solve(Mat F, Vec b, Vec x, bool transposed);

} // namespace ribbon::petsc

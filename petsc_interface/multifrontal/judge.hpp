// SPDX-License-Identifier: BSD-2-Clause
/// @file judge.hpp  Whether factors are good ones: by their pivots, by probes and by the condition.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// Whether pivots that PETSc's own tolerance calls zero are those of a matrix whose condition is that of one
/// that is not singular: || A || || A^-1 || < 1 / (n eps), equilibrated. Another tolerance counts as it is.
PetscErrorCode PivotsAreSmallAlone(Mat F, bool *they_are);
/// Whether factors that elimination found no fault with are good ones: those without pivots solve, small
/// pivots are not those of a singular matrix, and the inverse is a matrix of numbers.
PetscErrorCode JudgeFactors(Mat F, Mat A);

} // namespace ribbon::petsc

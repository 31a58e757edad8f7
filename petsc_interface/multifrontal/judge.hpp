// SPDX-License-Identifier: BSD-2-Clause
/// @file judge.hpp  Judges factors by their pivots, by probes and by the condition.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// Whether a matrix with zero pivots by the default tolerance of PETSc has the condition of a regular
/// matrix: || A || || A^-1 || < 1 / (n eps), equilibrated. With another tolerance the condition is not
/// examined.
PetscErrorCode PivotsAreSmallAlone(Mat F, bool *they_are);
/// Judges factors in which elimination found no failure. Factors without pivoting must solve accurately,
/// small pivots must not be those of a singular matrix, and the inverse must be finite.
PetscErrorCode JudgeFactors(Mat F, Mat A);

} // namespace ribbon::petsc

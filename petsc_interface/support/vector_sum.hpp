// SPDX-License-Identifier: BSD-2-Clause
/// @file vector_sum.hpp  Sums of vectors in one pass, and whether values are finite.
#pragma once

#include "compat.h"

namespace ribbon::petsc {

/// y = x + sum_j w_j k_j with 1 to 4 terms, in one pass in the memory of the vectors. All vectors have the
/// same type, and y differs from the others. `finite`: whether every value of y is finite, on all ranks;
/// null: not computed. Collective unless `finite` is null.
PetscErrorCode SumVectors(Vec x, PetscInt terms, const PetscScalar w[], const Vec k[], Vec y, bool *finite);

/// Whether every value of v is finite, on all ranks, in the memory of v. Collective.
PetscErrorCode IsFinite(Vec v, bool *finite);

} // namespace ribbon::petsc

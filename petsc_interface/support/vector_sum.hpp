// SPDX-License-Identifier: BSD-2-Clause
/// @file vector_sum.hpp  Sums of vectors in one pass.
#pragma once

#include "compat.h"

namespace ribbon::petsc {

/// y = x + sum_j w_j k_j with 1 to 4 terms, y being none of the others: one pass in the memory where the
/// vectors are, whose types are all the same. `finite`: whether every number of y is, on all ranks; null:
/// nobody asks. Collective where somebody does.
PetscErrorCode SumVectors(Vec x, PetscInt terms, const PetscScalar w[], const Vec k[], Vec y, bool *finite);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file analysis.hpp  Which chain a matrix is, and the tree for it.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// Finds the chain and makes its tree; an error leaves nothing of what was there before.
PetscErrorCode Analyse(Mat F, Mat A);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file analysis.hpp  Finds the chain of a matrix, and creates its tree.
#pragma once

#include "multifrontal.hpp"

namespace ribbon::petsc {

/// Finds the chain and creates its tree. After an error the data of an earlier analysis are lost.
PetscErrorCode Analyse(Mat F, Mat A);

} // namespace ribbon::petsc

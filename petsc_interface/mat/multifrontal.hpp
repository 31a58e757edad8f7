// SPDX-License-Identifier: BSD-2-Clause
/// @file multifrontal.hpp  What a matrix factored by the solver type multifrontal holds.
#pragma once

#include "chain_factor.hpp"

#include <ribbon_petsc/ribbon.h>

namespace ribbon::petsc {

struct MultifrontalFactor {
  PetscInt                     leaf_size = 0, refine = 0;
  PetscViewer                  viewer = nullptr;
  PetscViewerFormat            format = PETSC_VIEWER_DEFAULT;
  ChainPattern                 pattern;
  std::unique_ptr<ChainFactor> factor; ///< null on ranks without rows of it
  ChainReport                  report;
  MPI_Comm                     active   = MPI_COMM_NULL; ///< ranks that have rows, in their order
  Mat                          aij      = nullptr;       ///< a converted matrix
  Mat                          gathered = nullptr;       ///< all rows, on rank 0
  VecScatter                   to_first = nullptr;       ///< vectors to rank 0
  Vec                          all_b = nullptr, all_x = nullptr;
  Mat                          original = nullptr; ///< the matrix itself, where solutions are refined
  Vec                          residual = nullptr, correction = nullptr;
  bool                         is_factored = false;
};

/// Registers the solver type for all matrix types.
PetscErrorCode RegisterMultifrontal();

} // namespace ribbon::petsc

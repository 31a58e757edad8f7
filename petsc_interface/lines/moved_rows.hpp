// SPDX-License-Identifier: BSD-2-Clause
/// @file moved_rows.hpp  Rows on the ranks that solve their lines.
#pragma once

#include "../support/compat.h"

#include <petscmat.h>

#include <memory>
#include <vector>

namespace ribbon::petsc {

/// The rows of the lines that this rank solves, wherever they are. Every row of the matrix is in one such
/// set.
struct MovedRows {
  std::vector<PetscInt> rows;            ///< global, ascending
  PetscInt              from_others = 0; ///< how many of them other ranks own
  /// one: rows and columns of this set, sequential AIJ; null after the set-up
  mutable Mat *blocks  = nullptr;
  VecScatter   scatter = nullptr; ///< from a vector of the matrix to b or x
  Vec          b = nullptr, x = nullptr;

  MovedRows()                             = default;
  MovedRows(const MovedRows &)            = delete;
  MovedRows &operator=(const MovedRows &) = delete;
  ~MovedRows()
  {
    (void)VecScatterDestroy(&scatter);
    (void)VecDestroy(&b);
    (void)VecDestroy(&x);
    if (blocks) (void)MatDestroySubMatrices(1, &blocks);
  }
  Mat block() const { return blocks[0]; }
  /// Frees the block, which only a set-up needs.
  PetscErrorCode ForgetBlock() const
  {
    PetscFunctionBegin;
    if (blocks) PetscCall(MatDestroySubMatrices(1, &blocks));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace ribbon::petsc

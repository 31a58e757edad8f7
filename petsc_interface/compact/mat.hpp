// SPDX-License-Identifier: BSD-2-Clause
/// @file mat.hpp  Mat `compact`: y = A^-1 B u along one direction of a grid.
#pragma once

#include "lines.hpp"

#include <ribbon_petsc/matcompact.h>

PETSC_INTERN PetscErrorCode MatCreate_Compact(Mat A);

namespace ribbon::petsc {

/// Rows of A or B from the application, one after another.
struct GivenRows {
  int                 width = 0; ///< on either side of the diagonal
  std::vector<Scalar> interior, first, last;

  PetscInt ends() const { return static_cast<PetscInt>(first.size()) / (2 * width + 1); }
};

/// Context of Mat compact.
struct Mat_Compact {
  // options
  MatCompactDirection    direction  = MAT_COMPACT_X;
  PetscInt               derivative = 1, order = 6, ends = 4;
  PetscReal              filter = static_cast<PetscReal>(0.45), spacing = 0;
  MatCompactStaggered    staggered = MAT_COMPACT_STAGGERED_NONE;
  PetscBool              periodic  = PETSC_FALSE;
  PetscInt               grid[4]   = {0, 0, 0, 0}; ///< nx, ny, nz, dof; zeros: none
  std::vector<PetscReal> metric;
  GivenRows              given_A, given_B; ///< without entries: the scheme of the options
  Scalar                 factor = 1;       ///< of MatScale()

  // results of the last set-up
  bool           ready = false;
  DM             dm    = nullptr; ///< that was read; borrowed
  CompactRequest request;
  PetscReal      used = 1; ///< spacing
  /// on the host, on the device; null: not used yet
  std::unique_ptr<CompactLines> lines[2];

  bool has_stencil() const { return !given_A.interior.empty(); }
};

inline Mat_Compact *CompactOf(Mat A)
{
  return static_cast<Mat_Compact *>(A->data);
}

/// Attaches the Set and Get functions of the options to a matrix.
PetscErrorCode ComposeCompactOptions(Mat A, bool attach);
PetscErrorCode SetCompactFromOptions(Mat A, RibbonOptionItems PetscOptionsObject);
/// Reads the grid and makes the request, unless nothing changed since the last call. Collective.
PetscErrorCode SetUpCompact(Mat A);
/// The extents of the grid, and its components: of the DMDA, or of MatCompactSetGrid(). Zeros: there is none.
PetscErrorCode GetCompactSizes(Mat A, PetscInt (*local)[3], PetscInt (*all)[3], PetscInt *dof);

} // namespace ribbon::petsc

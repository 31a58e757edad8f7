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

/// Values of functions without an option. The operator is factor A^-1 B + shift I.
struct CompactValues {
  PetscInt               grid[4] = {0, 0, 0, 0}; ///< nx, ny, nz, dof; zeros: none
  std::vector<PetscReal> metric;
  GivenRows              A, B; ///< without entries: the scheme of the options
  Scalar                 factor = 1, shift = 0;

  bool has_stencil() const { return !A.interior.empty(); }
};

/// A version of an object of PETSc; zeros: there is no object.
struct ObjectVersion {
  PetscObjectId    id    = 0;
  PetscObjectState state = 0;

  bool operator!=(const ObjectVersion &o) const { return id != o.id || state != o.state; }
};

/// Context of Mat compact.
struct Mat_Compact {
  // options
  MatCompactDirection direction  = MAT_COMPACT_X;
  PetscInt            derivative = 1, order = 6, ends = 4;
  PetscReal           filter = static_cast<PetscReal>(0.45), spacing = 0;
  MatCompactStaggered staggered = MAT_COMPACT_STAGGERED_NONE;
  PetscBool           periodic  = PETSC_FALSE;
  RibbonTransport     transport = RIBBON_TRANSPORT_AUTO;
  CompactValues       given;

  // results of the last set-up
  bool           ready = false;
  DM             dm    = nullptr; ///< of that set-up; borrowed
  PetscObjectId  dm_id = 0;       ///< another DM may get the address of a destroyed one
  ObjectVersion  coordinates;     ///< from which the spacing was computed
  CompactRequest request;
  PetscReal      used = 1; ///< spacing
  /// on the host, on the device; null: not used yet
  std::unique_ptr<CompactLines> lines[2];

  /// Whether the spacing is that of the coordinates of the DMDA.
  bool follows_coordinates() const
  {
    return dm && spacing == 0 && given.metric.empty() && !given.has_stencil() && derivative > 0;
  }
};

inline Mat_Compact *CompactOf(Mat A)
{
  return static_cast<Mat_Compact *>(A->data);
}

/// For a change on which the set-up depends.
inline void PrepareAgain(Mat A)
{
  CompactOf(A)->ready = false;
  (void)PetscObjectStateIncrease((PetscObject)A);
}

/// Attaches the Set and Get functions to a matrix: of options and values.
PetscErrorCode ComposeCompactOptions(Mat A, bool attach);
PetscErrorCode ComposeCompactValues(Mat A, bool attach);
PetscErrorCode SetCompactFromOptions(Mat A, RibbonOptionItems PetscOptionsObject);
/// Copies options and values of Set functions, and the factor and the shift.
PetscErrorCode CopyCompactOptions(Mat from, Mat to);
/// Sets the operations that are no products: copies, conversions, and those that need entries.
void           SetCompactOperations(Mat A);
PetscErrorCode ViewCompact(Mat A, PetscViewer viewer);
/// Reads the grid and makes the request, unless nothing changed since the last call. Collective.
PetscErrorCode SetUpCompact(Mat A);
/// The extents of the grid, and its components: of the DMDA, or of MatCompactSetGrid(). dof 0: there is none.
PetscErrorCode GetCompactSizes(Mat A, PetscInt (*local)[3], PetscInt (*all)[3], PetscInt *dof);

} // namespace ribbon::petsc

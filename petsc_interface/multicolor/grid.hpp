// SPDX-License-Identifier: BSD-2-Clause
/// @file grid.hpp  The grid of the unknowns of a matrix.
#pragma once

#include "rows.hpp"

#include <string>

namespace ribbon::petsc {

/// The grid of the unknowns.
struct UnknownGrid {
  GridColoring points;                 ///< size, begin and shift
  std::int64_t all[3]     = {1, 1, 1}; ///< points of all ranks
  int          dimensions = 0;
  std::string  source; ///< "DMDA of the PC", ...; empty: there is none
  std::string  why_not;
};

/// The grid of the DMDA of the PC, otherwise of the matrix, if the unknowns are its points. Collective.
PetscErrorCode GridOfDM(PC pc, const UnknownRows &rows, UnknownGrid *grid);
/// Natural numbering of a grid over all ranks, seen in the pattern; otherwise all unknowns are one chain, and
/// why_not says that this is a guess. Collective.
PetscErrorCode GridOfPattern(const UnknownRows &rows, UnknownGrid *grid);

} // namespace ribbon::petsc

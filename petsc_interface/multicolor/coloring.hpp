// SPDX-License-Identifier: BSD-2-Clause
/// @file coloring.hpp  The colours of the unknowns of a matrix: from a grid, or from its graph.
#pragma once

#include "rows.hpp"

#include <ribbon/coloring.hpp>
#include <ribbon_petsc/pcmulticolor.h>

#include <string>

namespace ribbon::petsc {

/// How the unknowns got their colours.
struct ColorsFound {
  PetscInt     count = 0;       ///< of this rank for a local cut, otherwise of all ranks
  PetscInt     most  = 0;       ///< largest count of all ranks
  std::string  how;             ///< for the view
  bool         on_grid = false; ///< by the coordinates of a grid
  GridColoring grid;            ///< if on_grid
};

/// Colours own unknowns, and for an exact cut the ghosts. Ghosts of a local cut have the colour -1. The rows
/// are open. Collective. Errors: PETSC_ERR_SUP if the colouring that an option asks for does not fit, with
/// the reason.
template <class Exec>
PetscErrorCode ColorUnknowns(PC pc, UnknownRows &rows, PCMulticolorColoring wanted, PCMulticolorCut cut,
                             ColorArray<Exec> *colors, ColorsFound *found);

/// The colours of ColorUnknowns() on a grid, which need no memory between two set-ups. Collective.
template <class Exec>
PetscErrorCode ColorGrid(const UnknownRows &rows, const GridColoring &grid, PCMulticolorCut cut,
                         ColorArray<Exec> *colors);

/// Copies the colours of own unknowns to the ghosts of other ranks. Collective.
template <class Exec>
PetscErrorCode ShareColors(const UnknownRows &rows, const ColorArray<Exec> &colors);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file line_map.hpp  Which lines a matrix has: from its DMDA, or from its sparsity pattern.
#pragma once

#include "../compat.h"

#include <ribbon/line_set.hpp>

#include <string>
#include <vector>

namespace ribbon::petsc {

/// One way to cut the local rows of a matrix into lines.
struct LineDirection {
  std::string name; ///< "x", "y", "z" or "rows"
  LineSet     lines;
  bool        wrap        = false; ///< entries may join the ends of a line
  PetscMPIInt processes   = 1;     ///< the partition cuts the lines of this direction among so many ranks
  PetscInt    lines_cut   = 0;     ///< lines (all ranks) that the partition cuts
  PetscInt    lines_all   = 0;     ///< lines (all ranks), cut ones counted once
  bool        partial     = false; ///< other couplings of these rows are left out, even where they lie on the line
  bool        two_colours = false; ///< each of the colours has lines on some rank

  std::vector<LineSet> colours[2]; ///< the even and the odd lines, by global numbers; each colour is the union of at most two sets that hold a line
};

/// What was found, and where. An empty list comes with the reason.
struct LineMap {
  std::vector<LineDirection> directions;
  std::string                source; ///< "DMDA of the PC", "DMDA of the matrix" or "matrix pattern"
  std::string                why_not;
};

/// Directions of the DMDA of the PC, else of the matrix, whose sizes, dof and ownership fit `pmat` on every rank. Collective.
PetscErrorCode LinesFromDM(PC pc, Mat pmat, LineMap *map);

/// Consecutive rows of the local block as lines, from its stored pattern. With `strict` every entry must lie along the lines (on all ranks);
/// otherwise other entries are left out. Collective.
PetscErrorCode LinesFromPattern(Mat pmat, Mat local_block, bool strict, LineMap *map);

} // namespace ribbon::petsc

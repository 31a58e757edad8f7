// SPDX-License-Identifier: BSD-2-Clause
/// @file runs_of_pattern.hpp  Runs of consecutive elements that the entries of a rank's block tie together.
#pragma once

#include "line_map.hpp"
#include "pattern.hpp"

namespace ribbon::petsc {

/// Runs of elements that entries near the diagonal tie together, and what does not fit them.
struct RunsOfPattern {
  Runs     runs;
  PetscInt far; ///< entries up to there tie
  /// entries up to there, further than far, are solved where they lie on a run
  PetscInt widest;
  PetscInt stray_row = -1, stray_column = -1;   ///< first entry off the runs that closes no ring, in elements
  bool     wraps        = false;                ///< some entry joins the ends of a run
  PetscInt closes_first = -1, closes_last = -1; ///< element with such an entry in the first, in the last run
  Borders  tied;                                ///< to the runs of other ranks
  /// some entry joins the first rows of the matrix to the last ones, of another rank
  bool around = false;
  /// with the runs of other ranks they make one line, or one ring: no entry closes a ring
  /// that is a part of the matrix
  bool whole = true;
  /// A run that goes on on another rank is no ring, though some entry joins the ends of the
  /// piece: the band is wider.
  bool closes_piece() const { return (tied.before && closes_first >= 0) || (tied.after && closes_last >= 0); }
};

/// The runs that entries up to `far` from the diagonal tie.
RunsOfPattern find_runs(const Pattern &pattern, PetscInt far);
/// The runs where all are as long as the first one and hold every entry, which is looked at where the matrix
/// is. False: they may be others.
PetscErrorCode FindUniformRuns(Mat block, const Pattern &pattern, PetscInt far, RunsOfPattern *found,
                               bool *holds);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file runs_of_pattern.hpp  Runs of consecutive elements that the entries of the block of a rank tie.
#pragma once

#include "line_map.hpp"
#include "pattern.hpp"

namespace ribbon::petsc {

/// Runs of elements that entries near the diagonal tie, and the entries that do not fit them.
struct RunsOfPattern {
  Runs     runs;
  PetscInt far; ///< entries up to this distance tie
  /// entries between far and this distance are solved if they are on a run
  PetscInt widest;
  PetscInt stray_row = -1, stray_column = -1;   ///< first entry off the runs that closes no ring, in elements
  bool     wraps        = false;                ///< some entry joins the ends of a run
  PetscInt closes_first = -1, closes_last = -1; ///< element with such an entry in the first, in the last run
  Borders  tied;                                ///< to the runs of other ranks
  /// some entry joins the first rows of the matrix to the last ones, on another rank
  bool around = false;
  /// with the runs of other ranks they form one line, or one ring: no entry closes a ring that is a part of
  /// the matrix
  bool whole = true;
  /// A run that continues on another rank is not a ring, even if some entry joins the ends of its sub-line:
  /// the band is wider.
  bool closes_piece() const { return (tied.before && closes_first >= 0) || (tied.after && closes_last >= 0); }
};

/// Whether one of the first 16384 elements has an entry that no runs and no rings hold. Sets the stray entry then.
bool has_stray_entry(const Pattern &pattern, PetscInt far, RunsOfPattern *found);
/// The runs that entries up to `far` from the diagonal tie.
RunsOfPattern find_runs(const Pattern &pattern, PetscInt far);
/// The runs if all are as long as the first one and hold every entry, which are examined in the memory of
/// the matrix. `holds`: false if there may be other runs.
PetscErrorCode FindUniformRuns(Mat block, const Pattern &pattern, PetscInt far, RunsOfPattern *found,
                               bool *holds);

} // namespace ribbon::petsc

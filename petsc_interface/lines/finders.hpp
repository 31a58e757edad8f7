// SPDX-License-Identifier: BSD-2-Clause
/// @file finders.hpp  The table of sources of lines, in the order in which -pc_line_direction auto tries
///   them.
#pragma once

#include "line_map.hpp"

#include <petscpc.h>

#include <vector>

namespace ribbon::petsc {

/// Elements of a matrix, read on first use.
class ElementsOfSource {
public:
  explicit ElementsOfSource(const LineSource &source) : source_(source) { }
  /// Collective.
  PetscErrorCode get(Elements *elements);

private:
  const LineSource &source_;
  Elements          elements_;
  bool              known_ = false;
};

/// A row of the table.
struct LineFinder {
  /// Whether lines come from a grid, so that zebra ordering can colour them.
  bool grid;
  /// Finds the directions of all lines. Without directions, map->why_not is the reason. Collective.
  PetscErrorCode (*find)(PC pc, const LineSource &source, ElementsOfSource &elements, LineMap *map);
};

/// Sources are tried in order until one finds lines that can be solved. The last source accepts every
/// matrix.
const std::vector<LineFinder> &line_finders();

} // namespace ribbon::petsc

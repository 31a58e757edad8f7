// SPDX-License-Identifier: BSD-2-Clause
/// @file by_rounds.hpp  Lines in the memory of the matrix: found there along the largest couplings, or given.
#pragma once

#include "line_map.hpp"

#include <ribbon/lines_from_graph.hpp>

namespace ribbon::petsc {

/// Adds the direction of the lines along the largest couplings that lines_by_rounds() finds among the elements of each
/// rank. Reads values in the memory of the matrix; for colours of lines it copies them to the host. Collective.
/// @param found  false: some rank has a matrix that lines_by_rounds() does not accept
PetscErrorCode AddLinesByRounds(const LineSource &source, const LinesOfGraphOptions &options, bool *found,
                                LineMap *map);

/// Copies rows in host memory to the device if `on_device`, and searches lines in them with lines_by_rounds().
/// @param found  false: lines_by_rounds() does not accept the rows
PetscErrorCode FindLinesByRounds(const HostRows &rows, bool on_device, const LinesOfGraphOptions &options,
                                 bool *found, LinesOfGraph *lines);

/// AddLines() for lines of elements of this rank. Reads values as AddLinesByRounds(). Collective.
/// @param components  rows of an element
PetscErrorCode AddLinesThere(const LineSource &source, const char *name, const LinesOfGraph &given,
                             int components, LineMap *map);

} // namespace ribbon::petsc

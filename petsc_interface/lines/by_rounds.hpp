// SPDX-License-Identifier: BSD-2-Clause
/// @file by_rounds.hpp  Lines along the largest couplings that are found in the memory of the matrix.
#pragma once

#include "line_map.hpp"

#include <ribbon/lines_from_graph.hpp>

namespace ribbon::petsc {

/// Adds the direction of the lines along the largest couplings that lines_by_rounds() finds among the rows of each
/// rank. The values of the matrix are read where they are, unless the map is to have colours. Collective.
/// @param found  false: some rank has a matrix that lines_by_rounds() does not accept
PetscErrorCode AddLinesByRounds(const LineSource &source, const LinesOfGraphOptions &options, bool *found,
                                LineMap *map);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file choose_among.hpp  The directions that auto selects among those of a source of lines, and the
///   ordering.
#pragma once

#include "pc.hpp"

#include <string>
#include <vector>

namespace ribbon::petsc::directions {

/// Replaces the ordering auto, once the directions are known. Auto is zebra on multigrid levels under two
/// conditions. Every direction has tridiagonal lines of two colours that lie in the block itself. Some
/// entry couples across lines. Collective.
PetscErrorCode DecideOrdering(MPI_Comm comm, bool may_colour, PC_Line *line,
                              std::vector<ChosenDirection> *chosen);
/// The strongest directions of a map whose lines can be solved, and others that many rows prefer.
/// `refusals` says why the remaining directions cannot be solved. Collective.
PetscErrorCode ChooseAmong(MPI_Comm comm, bool for_level, PC_Line *line, LineOperator &op,
                           const LineSource &source, LineMap *map, std::vector<ChosenDirection> *chosen,
                           std::vector<std::string> *refusals);

} // namespace ribbon::petsc::directions

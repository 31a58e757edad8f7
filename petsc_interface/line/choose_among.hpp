// SPDX-License-Identifier: BSD-2-Clause
/// @file choose_among.hpp  The directions that auto takes among those of a source of lines, and the ordering.
#pragma once

#include "pc.hpp"

#include <string>
#include <vector>

namespace ribbon::petsc::directions {

/// What auto stands for as an ordering, now that the directions are known: zebra on multigrid levels where
/// every direction has tridiagonal lines that lie in the block itself, of two colours, and something
/// couples across. Collective.
PetscErrorCode DecideOrdering(MPI_Comm comm, bool may_colour, PC_Line *line,
                              std::vector<ChosenDirection> *chosen);
/// The strongest directions of a map that can be solved along, and others that many rows prefer; `refusals`
/// says why those are left out that cannot. Collective.
PetscErrorCode ChooseAmong(MPI_Comm comm, bool for_level, PC_Line *line, LineOperator &op,
                           const LineSource &source, LineMap *map, std::vector<ChosenDirection> *chosen,
                           std::vector<std::string> *refusals);

} // namespace ribbon::petsc::directions

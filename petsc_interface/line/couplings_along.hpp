// SPDX-License-Identifier: BSD-2-Clause
/// @file couplings_along.hpp  Rows, couplings, and entries of other ranks along the lines of one direction.
#pragma once

#include "pc.hpp"

#include <string>

namespace ribbon::petsc::directions {

/// Whether every line of a direction, over all ranks, is one element.
bool IsOneRow(const LineSource &source, const LineDirection &direction);
/// Directions whose lines have more than one row, with commas.
PetscErrorCode NameLongLines(const LineSource &source, const LineMap &map, std::string *names);
/// Examines the entries along a direction. If its lines cannot be solved, `refusal` says why in one
/// sentence for all ranks; otherwise it is empty. Collective.
PetscErrorCode LookAlong(LineOperator &op, const LineSource &source, ChosenDirection *chosen,
                         std::string *refusal);
/// Stores in a direction the sums of couplings of its rows with rows of other ranks, unless each rank
/// solves its sub-lines alone. Collective.
PetscErrorCode SumOutside(const LineSource &source, LineDirection *direction);

} // namespace ribbon::petsc::directions

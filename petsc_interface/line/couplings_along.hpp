// SPDX-License-Identifier: BSD-2-Clause
/// @file couplings_along.hpp  What the lines of one direction have: rows, couplings, entries of other ranks.
#pragma once

#include "pc.hpp"

#include <string>

namespace ribbon::petsc::directions {

/// Whether every line of a direction, over all ranks, is one element.
bool IsOneRow(const LineSource &source, const LineDirection &direction);
/// Directions whose lines have more than one row, with commas.
PetscErrorCode NameLongLines(const LineSource &source, const LineMap &map, std::string *names);
/// What the entries along a direction say, and why lines along it cannot be solved: a sentence of all ranks,
/// empty where they can. Collective.
PetscErrorCode LookAlong(LineOperator &op, const LineSource &source, ChosenDirection *chosen,
                         std::string *refusal);
/// Has a direction know what its rows couple by with rows of other ranks, unless pieces of its lines are
/// solved each for itself. Collective.
PetscErrorCode SumOutside(const LineSource &source, LineDirection *direction);

} // namespace ribbon::petsc::directions

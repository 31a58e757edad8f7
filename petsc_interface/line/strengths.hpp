// SPDX-License-Identifier: BSD-2-Clause
/// @file strengths.hpp  Strengths of coupling along directions, compared over all rows and ranks.
#pragma once

#include "pc.hpp"

#include <string>
#include <vector>

namespace ribbon::petsc::directions {

/// The directions with the largest median strength of coupling over all ranks, and those that are equally
/// strong; empty if no row couples. The result does not depend on the order of the directions.
PetscErrorCode Strongest(MPI_Comm comm, LineOperator &op, const LineSource &source, LineMap *map,
                         std::vector<LineDirection> *strongest, std::string *why);
/// Counts of each comparison, summed over all ranks. Collective.
PetscErrorCode Compare(MPI_Comm comm, LineOperator &op, const LineSource &source,
                       const std::vector<LineDirection>  &directions,
                       const std::vector<LineComparison> &comparisons, double factor,
                       std::vector<LinePreference> *found);
/// The fraction of the rows that prefer the direction.
double share_of(const LinePreference &found);

} // namespace ribbon::petsc::directions

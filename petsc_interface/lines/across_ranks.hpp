// SPDX-License-Identifier: BSD-2-Clause
/// @file across_ranks.hpp  Lines along the largest couplings that continue on other ranks.
#pragma once

#include "line_map.hpp"

#include <ribbon/lines_from_graph.hpp>

#include <functional>

namespace ribbon::petsc {

/// Finds lines in rows in host memory whose values are strengths. Collective.
using FindLines = std::function<PetscErrorCode(const HostRows &, LinesOfGraph *)>;

/// Lines along the largest couplings of a parallel AIJ matrix. Each rank finds lines in its rows and two
/// layers of rows of other ranks, with their largest couplings. A coupling of two ranks is on a line if both
/// ranks find it. A line that spans ranks is solved by one of them. Collective.
/// @param find   the search on each rank
/// @param moved  the rows whose lines this rank solves; null: no line spans ranks
/// @param lines  of elements, numbered as in moved->rows, or as the rows of this rank
/// @param cut    how many lines span ranks
PetscErrorCode LinesAcrossRanks(const LineSource &source, const LinesOfGraphOptions &options,
                                const FindLines &find, std::shared_ptr<const MovedRows> *moved,
                                LinesOfGraph *lines, PetscInt *cut);

} // namespace ribbon::petsc

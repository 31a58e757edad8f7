// SPDX-License-Identifier: BSD-2-Clause
/// @file graph_check.hpp  The arguments of lines_from_graph() and lines_by_rounds().
#pragma once

#include <ribbon/lines_from_graph.hpp>

#include <stdexcept>
#include <string>

namespace ribbon::graph {

inline void check(std::int64_t rows, const LinesOfGraphOptions &options)
{
  if (options.block < 1 || rows % options.block != 0)
    throw std::invalid_argument("ribbon::lines_from_graph: " + std::to_string(rows) +
                                " rows do not divide into blocks of " + std::to_string(options.block));
  if (!(options.threshold >= 0) || !(options.anisotropy >= 0) || !(options.least >= 0))
    throw std::invalid_argument(
      "ribbon::lines_from_graph: threshold, anisotropy and least have to be nonnegative");
}

} // namespace ribbon::graph

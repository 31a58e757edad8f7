// SPDX-License-Identifier: BSD-2-Clause
/// @file packed.hpp  Directions whose lines lie anywhere in the block.
#pragma once

#include "line_map.hpp"

#include <ribbon/lines_from_graph.hpp>

namespace ribbon::petsc {

/// Lines of local elements, of any lengths, as a direction: packed into lines of one length, opened where they were rings.
inline LineDirection packed(const LinesOfGraph &lines)
{
  LineDirection direction;
  PackedLines   p = pack(lines);
  direction.lines = LineSet::interleaved(p.rows, p.pieces);
  std::vector<std::int64_t> part(p.row_at.size(), -1);
  for (std::int64_t l = 0; l < lines.lines(); ++l)
    for (std::int64_t k = lines.begin[static_cast<std::size_t>(l)]; k < lines.begin[static_cast<std::size_t>(l) + 1]; ++k)
      part[static_cast<std::size_t>(p.position_of[static_cast<std::size_t>(lines.order[static_cast<std::size_t>(k)])])] = l;
  direction.part      = std::make_shared<const std::vector<std::int64_t>>(std::move(part));
  direction.element   = std::make_shared<const std::vector<std::int64_t>>(std::move(p.row_at));
  direction.partial   = true;
  direction.lines_all = static_cast<PetscInt>(lines.lines());
  return direction;
}

} // namespace ribbon::petsc

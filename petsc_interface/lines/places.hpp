// SPDX-License-Identifier: BSD-2-Clause
/// @file places.hpp  The lines of the rows of a local block, on the host.
#pragma once

#include "line_map.hpp"

namespace ribbon::petsc {

/// The place of a row of the block: its line, the position of its element along it, its number among the
/// rows of the line.
struct Place {
  std::int64_t line = -1, along = 0, number = 0;
};

/// Stores the places of the rows on these lines, which are numbered from lengths->size() on, and the rows
/// of each line. If one line of a LineSet holds several lines, each of them counts.
inline void enter_places(const LineDirection &direction, std::vector<Place> *places,
                         std::vector<std::int64_t> *lengths)
{
  const LineSet     &lines = direction.lines;
  const std::int64_t size  = direction.components;
  const std::size_t  first = lengths->size();
  for (std::int64_t l = 0; l < lines.lines(); ++l) {
    std::int64_t part = -1;
    for (std::int64_t i = 0; i < lines.rows; ++i) {
      const std::int64_t place = lines(l, i),
                         element =
                           direction.element ? (*direction.element)[static_cast<std::size_t>(place)] : place;
      if (element < 0) continue;
      const std::int64_t own = direction.part ? (*direction.part)[static_cast<std::size_t>(place)] : 0;
      if (lengths->size() == first || own != part || i == 0) lengths->push_back(0);
      part = own;
      for (std::int64_t c = 0; c < size; ++c)
        (*places)[static_cast<std::size_t>(element * size + c)] = {
          static_cast<std::int64_t>(lengths->size()) - 1, i, lengths->back()++};
    }
  }
}

/// Places of all rows of a block, with the rows of each line. Rows on no line keep -1.
inline std::vector<Place> places_of(const LineDirection &direction, std::int64_t rows,
                                    std::vector<std::int64_t> *lengths)
{
  std::vector<Place> places(static_cast<std::size_t>(rows));
  enter_places(direction, &places, lengths);
  return places;
}

/// Whether a solve along lines includes the coupling to a column: it is on the same line, at most
/// `half_bandwidth` elements away.
inline bool on_line(const Place &row, const Place &column, const LineDirection &direction, int half_bandwidth,
                    bool periodic)
{
  const std::int64_t straight = std::abs(row.along - column.along),
                     distance = periodic ? std::min(straight, direction.lines.rows - straight) : straight;
  return column.line == row.line && distance <= half_bandwidth;
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file layout.hpp  Where lines lie in the local block: by an index formula, or packed by a table.
#pragma once

#include "../support/csr.hpp"

#include <ribbon/lines_from_graph.hpp>

#include <memory>
#include <vector>

namespace ribbon::petsc {

using Table = std::shared_ptr<const std::vector<std::int64_t>>;

/// Lines that are solved in one call; they need not hold every element.
struct LineLayout {
  LineSet lines; ///< of elements
  /// the local element at every place of `lines`, -1 where there is none; null: lines lie in the block itself
  Table element;
  /// then: number of the line that has the place, several being behind each other in one of `lines`
  Table part;
};

/// Lines of a box along direction d whose other two global indices have a sum of the parity `colour`; the box
/// begins at `begin`. A few sets that hold a line, or none.
std::vector<LineLayout> every_second_line(const std::int64_t (&box)[3], const PetscInt (&begin)[3], int d,
                                          int colour);

/// Lines of local elements, of any lengths, packed into lines of one length, opened where they were rings.
LineLayout packed(const LinesOfGraph &lines);
/// Those of each colour by themselves, packed into lines of `rows` rows; nothing where a colour has no line.
/// @param colour_of  of every line, below `colours`
std::vector<std::vector<LineLayout>> packed_by_colour(const LinesOfGraph     &lines,
                                                      const std::vector<int> &colour_of, int colours,
                                                      std::int64_t rows);

/// A colour for each line, at most four: the first one that no line has that it couples with, by entries that
/// are not zero in either of the two; the last one where all are taken.
/// @param A  rows of the lines; an element is `components` of them
std::vector<int> colour_lines(const HostRows &A, const LinesOfGraph &lines, PetscInt components);

/// Every component of an element as a line of its own: lines l components + c, where one set can say it,
/// else a set per component.
std::vector<LineSet> split_components(const LineSet &elements, int components);
/// The same of lines wherever they lie.
std::vector<LineLayout> split_components(const LineLayout &elements, int components);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file layout.hpp  Places of lines in the local block: an index formula, or a table of packed lines.
#pragma once

#include "../support/csr.hpp"

#include <ribbon/lines_from_graph.hpp>
#include <ribbon/matrix/packing.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ribbon::petsc {

/// A table with an entry for every place of lines. The copy on the host may be made on first use.
class TableOfPlaces {
public:
  explicit TableOfPlaces(std::vector<std::int64_t> entries) : entries_(std::move(entries)) { }
  /// @param copy  reads the entries from another memory, on first use
  explicit TableOfPlaces(std::function<std::vector<std::int64_t>()> copy) : copy_(std::move(copy)) { }

  const std::vector<std::int64_t> &entries() const
  {
    if (copy_) entries_ = std::exchange(copy_, nullptr)();
    return entries_;
  }
  std::int64_t operator[](std::size_t place) const { return entries()[place]; }
  std::size_t  size() const { return entries().size(); }
  bool         empty() const { return entries().empty(); }
  auto         begin() const { return entries().begin(); }
  auto         end() const { return entries().end(); }

private:
  mutable std::vector<std::int64_t>                  entries_;
  mutable std::function<std::vector<std::int64_t>()> copy_;
};
using Table = std::shared_ptr<const TableOfPlaces>;

/// The tables of packed lines in the memory of the matrix.
struct TablesThere {
  virtual ~TablesThere() = default;

  std::int64_t lines = 0, elements = 0;
};
template <class Memory>
struct TablesIn : TablesThere {
  Packing<Memory>                      packing;
  Kokkos::View<std::int64_t *, Memory> part;
};

/// Lines that are solved in one call. They need not hold every element.
struct LineLayout {
  LineSet lines; ///< of elements
  /// the local element at every place of `lines`, -1: no element; null: lines are in the block itself
  Table element;
  /// with a table: number of the line at each place, because one line of `lines` may hold several
  Table part;
  /// the same tables in the memory of the matrix; null: there are only `element` and `part`
  std::shared_ptr<const TablesThere> tables = nullptr;

  /// The elements of packed lines.
  std::int64_t elements() const;
};

/// Lines of a box along direction d whose other two global indices have a sum of the parity `colour`. The
/// box begins at `begin`. Returns a few sets of lines, or none if no line has the colour.
std::vector<LineLayout> every_second_line(const std::int64_t (&box)[3], const PetscInt (&begin)[3], int d,
                                          int colour);

/// Lines of local elements of any lengths, packed into lines of one length. Rings are opened.
LineLayout packed(const LinesOfGraph &lines);
/// Packs the lines of each colour into lines of `rows` rows. A colour without lines has no set, or with
/// `empty` an empty one.
/// @param colour_of  of every line, below `colours`
std::vector<std::vector<LineLayout>> packed_by_colour(const LinesOfGraph     &lines,
                                                      const std::vector<int> &colour_of, int colours,
                                                      std::int64_t rows, bool empty = false);

/// Chooses one of at most four colours for each line: the first colour that no line has with which it
/// couples, by nonzero entries of either line. If all colours are taken, it is the last one.
/// @param A  rows of the lines; an element consists of `components` rows
std::vector<int> colour_lines(const HostRows &A, const LinesOfGraph &lines, PetscInt components);

/// Every component of an element as a line: lines l components + c if one set can represent them, otherwise
/// one set per component.
std::vector<LineSet> split_components(const LineSet &elements, int components);
/// The same for lines with or without a table.
std::vector<LineLayout> split_components(const LineLayout &elements, int components);

} // namespace ribbon::petsc

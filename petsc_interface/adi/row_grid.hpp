// SPDX-License-Identifier: BSD-2-Clause
/// @file row_grid.hpp  The structured grid of the rows of a matrix: the direction of each coupling, also to
///   columns of other ranks.
#pragma once

#include "../lines/line_map.hpp"

#include <ribbon/splitting/direction_split.hpp>
#include <ribbon/splitting/grid_box.hpp>

#include <array>

namespace ribbon::petsc {

inline constexpr const char *axis_names[] = {"x", "y", "z"};

/// Coordinates of every row. Row r belongs to element r / components(). Its coordinates are those of a
/// DMDA, or of the natural numbering that the pattern shows.
class RowGrid {
public:
  RowGrid()                           = default;
  RowGrid(const RowGrid &)            = delete;
  RowGrid &operator=(const RowGrid &) = delete;
  ~RowGrid() { (void)reset(); }
  PetscErrorCode reset();

  /// Finds the grid. It comes from the DM (may be null) if its sizes fit, otherwise from the DMDA of the
  /// matrix. Otherwise it comes from the pattern of the matrix: consecutive rows without other couplings,
  /// or a grid. Collective. Errors: PETSC_ERR_SUP in one sentence if there are no lines.
  /// @param J  AIJ
  PetscErrorCode find(Mat J, DM dm);

  int                dimensions() const { return dimensions_; }
  const std::string &source() const { return source_; } ///< "DMDA of the PC", ...
  /// a DMDA for these rows; null if the rows are consecutive lines
  DM dm() const { return dm_; }

  /// The direction in which two rows couple: 0, 1, 2; Way::same for rows of one element, Way::mixed if
  /// several coordinates differ.
  /// @param offset  elements from the row to the column along that direction, the shorter way around a ring
  int direction(PetscInt row, PetscInt column, PetscInt *offset) const;
  using Index = std::array<PetscInt, 3>;
  /// Elements from the row to the column along each axis, the shorter way around a ring. For rows in a box.
  Index offsets(PetscInt row, PetscInt column) const;
  /// The row of a component of the element at these coordinates, which may belong to another rank.
  PetscInt row(const Index &at, int component) const;
  /// The row of the same component n elements further along an axis, not around a ring. -1: there is none, or no
  /// grid.
  PetscInt along(PetscInt row, int axis, PetscInt n) const;
  int      components() const { return components_; }
  /// The elements of this rank; null if they are not a box of a grid.
  const GridBox *box() const { return dm_ ? &box_ : nullptr; }

private:
  struct Box { ///< elements of a rank
    PetscInt first = 0;
    Index    begin{}, size{};
  };
  PetscErrorCode find(PC pc, Mat J, const LineSource &source);
  PetscErrorCode from_dmda(DM dm);
  PetscErrorCode from_natural_numbering(Mat J, const LineMap &map);
  void           find_box(PetscMPIInt rank);
  Index          coordinates(PetscInt element) const;

  int                 dimensions_ = 1, components_ = 1;
  std::string         source_;
  Index               size_{1, 1, 1};
  std::array<bool, 3> ring_{};
  std::vector<Box>    boxes_; ///< of the ranks, by their first elements
  GridBox             box_;   ///< of this one
  DM                  dm_ = nullptr;
};

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file row_grid.hpp  The structured grid that the rows of a matrix are on: along which direction a coupling lies, other ranks' columns included.
#pragma once

#include "../lines/line_map.hpp"

#include <array>

namespace ribbon::petsc {

/// Coordinates of every row. Row r belongs to element r / components, whose coordinates are those of a DMDA, or of the natural numbering that the pattern shows.
class RowGrid {
public:
  /// Of the DM (may be null) where its sizes fit, else of the pattern; where both have no grid, one direction of consecutive rows that nothing else couples to. Collective.
  /// Errors: PETSC_ERR_SUP in one sentence where there are no lines.
  static PetscErrorCode find(Mat J, DM dm, RowGrid *grid);

  int                dimensions() const { return dimensions_; }
  int                components() const { return components_; }
  const std::string &source() const { return source_; } ///< "DMDA of the PC", ...
  bool               from_dm() const { return from_dm_; }

  /// Along which direction two rows couple: 0, 1, 2; `same` for rows of one element, `mixed` where several coordinates differ or the column's are not known.
  static constexpr int same = -1, mixed = -2;
  /// @param after  whether the column comes after the row along the direction, the short way round where that is periodic
  int direction(PetscInt row, PetscInt column, bool *after) const;

private:
  struct Box {
    PetscInt                first = 0; ///< element
    std::array<PetscInt, 3> begin{}, size{};
  };
  bool coordinates(PetscInt element, std::array<PetscInt, 3> *at) const;

  int                     dimensions_ = 1, components_ = 1;
  bool                    from_dm_ = false, known_everywhere_ = true;
  std::string             source_;
  std::array<PetscInt, 3> size_{1, 1, 1};
  std::vector<Box>        boxes_; ///< of the ranks, by their first elements
};

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "grid.hpp"

#include "../lines/line_map.hpp"
#include "../support/format.hpp"

namespace ribbon::petsc {

/// A DMDA whose points are the unknowns, in its numbering.
static PetscErrorCode FromDMDA(DM dm, const UnknownRows &rows, UnknownGrid *grid, bool *fits)
{
  PetscInt dim, size[3], dof, begin[3], local[3];
  int      same;
  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, &dim, &size[0], &size[1], &size[2], nullptr, nullptr, nullptr, &dof, nullptr,
                        nullptr, nullptr, nullptr, nullptr));
  PetscCall(DMDAGetCorners(dm, &begin[0], &begin[1], &begin[2], &local[0], &local[1], &local[2]));
  same = dof == rows.block() && local[0] * local[1] * local[2] == rows.unknowns();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)dm)));
  *fits            = same != 0;
  grid->dimensions = static_cast<int>(dim);
  if (dof > largest_point_block)
    grid->why_not = format("its DMDA has %lld unknowns a point, and blocks have at most 8", (long long)dof);
  for (int d = 0; d < 3; ++d) // a rank without points has no coordinates
    grid->points.size[d] = PetscMax(local[d], 1), grid->points.begin[d] = begin[d], grid->all[d] = size[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridOfDM(PC pc, const UnknownRows &rows, UnknownGrid *grid)
{
  PetscFunctionBegin;
  for (int from = 0; from < 2; ++from) {
    DM        dm   = nullptr;
    bool      fits = false;
    PetscBool is_da;
    PetscCall(from == 0 ? PCGetDM(pc, &dm) : MatGetDM(pc->pmat, &dm));
    if (!dm) continue;
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
    if (is_da) PetscCall(FromDMDA(dm, rows, grid, &fits));
    if (!fits) continue;
    grid->source = from == 0 ? "DMDA of the PC" : "DMDA of the matrix";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridOfPattern(const UnknownRows &rows, UnknownGrid *grid)
{
  LineSource source;
  LineMap    map;
  PetscInt   all;
  PetscFunctionBegin;
  source.rows = rows.aij(), source.block = rows.own_block();
  PetscCall(MatGetSize(rows.aij(), &all, nullptr));
  grid->source = "pattern of the matrix";
  if (all == 0) PetscFunctionReturn(PETSC_SUCCESS); // a grid of one point colours nothing
  if (all == rows.block()) {                        // one unknown is no grid
    grid->source  = "";
    grid->why_not = "the matrix has one unknown";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LinesFromGrid(source, Elements{rows.block(), rows.block() > 1}, &map));
  if (map.natural[0] == 0) { // a chain or a ring has no second dimension that the pattern shows
    map.natural[0] = all / rows.block(), map.natural[1] = map.natural[2] = 1;
    grid->why_not =
      map.why_not.empty() ? "its numbering shows a grid on each rank, but not over all ranks" : map.why_not;
  }
  // colours count the dimensions with several points, which come first
  grid->dimensions = 0;
  for (std::int64_t points : map.natural)
    if (points > 1)
      grid->points.size[grid->dimensions] = grid->all[grid->dimensions] = points, ++grid->dimensions;
  grid->dimensions   = PetscMax(grid->dimensions, 1);
  grid->points.shift = rows.first();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

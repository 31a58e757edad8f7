// SPDX-License-Identifier: BSD-2-Clause
#include "line_map.hpp"

namespace ribbon::petsc {

static PetscErrorCode FromDMDA(DM dm, const LineSource &source, LineMap *map, std::string *why_not)
{
  PetscInt       dim, size[3], processes[3], dof, begin[3], local[3], rows, all;
  DMBoundaryType boundary[3];
  int            fits, fits_everywhere;
  PetscMPIInt    rank;
  MPI_Comm       comm;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)source.rows, &comm));
  PetscCall(DMDAGetInfo(dm, &dim, &size[0], &size[1], &size[2], &processes[0], &processes[1], &processes[2],
                        &dof, nullptr, &boundary[0], &boundary[1], &boundary[2], nullptr));
  PetscCall(DMDAGetCorners(dm, &begin[0], &begin[1], &begin[2], &local[0], &local[1], &local[2]));
  PetscCall(MatGetLocalSize(source.rows, &rows, nullptr));
  PetscCall(MatGetSize(source.rows, &all, nullptr));
  // the grid of A: each of its rows represents dof unknowns
  if (source.kronecker && dof == source.factors.p) dof = 1;
  // equal local sizes on every rank mean equal ownership
  fits = size[0] * size[1] * size[2] * dof == all && local[0] * local[1] * local[2] * dof == rows;
  PetscCallMPI(MPI_Allreduce(&fits, &fits_everywhere, 1, MPI_INT, MPI_LAND, comm));
  if (!fits_everywhere) {
    *why_not = "its DMDA has other sizes or another ownership";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::int64_t box[3] = {local[0], local[1], local[2]};
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &rank));
  for (PetscInt d = 0; d < dim; ++d) {
    LineDirection direction;
    direction.name       = std::string(1, "xyz"[d]);
    direction.lines      = LineSet::box(box, (int)d);
    direction.components = (int)dof;
    direction.processes  = (PetscMPIInt)processes[d];
    direction.wrap       = processes[d] == 1 && boundary[d] == DM_BOUNDARY_PERIODIC;
    direction.lines_all  = size[d] > 0 ? all / dof / size[d] : 0;
    direction.lines_cut  = processes[d] > 1 ? direction.lines_all : 0;
    if (map->joined && processes[d] > 1) { // ranks are numbered as grid points, x first
      const PetscInt apart = d == 0   ? 1
                             : d == 1 ? processes[0]
                                      : processes[0] * processes[1],
                     along = rank / apart % processes[d];
      direction.place      = {true, boundary[d] == DM_BOUNDARY_PERIODIC, (PetscMPIInt)(rank - along * apart),
                              (PetscMPIInt)along};
    }
    for (int colour = 0; colour < 2 && map->coloured && direction.lines_all > 1; ++colour)
      direction.colours.push_back(every_second_line(box, begin, (int)d, colour));
    map->directions.push_back(direction);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LinesFromDM(PC pc, const LineSource &source, LineMap *map)
{
  PetscFunctionBegin;
  for (int from = 0; from < 2 && map->directions.empty(); ++from) {
    DM        dm = nullptr;
    PetscBool is_da;
    if (from == 0) PetscCall(PCGetDM(pc, &dm));
    if (from == 1) PetscCall(MatGetDM(pc->pmat, &dm));
    if (!dm && from == 1 && source.kronecker) PetscCall(MatGetDM(source.rows, &dm));
    if (!dm) continue;
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
    if (!is_da) {
      DMType type;
      PetscCall(DMGetType(dm, &type));
      map->why_not = std::string("its DM of type ") + type + " is no DMDA";
      continue;
    }
    map->source = from == 0 ? "DMDA of the PC" : "DMDA of the matrix";
    PetscCall(FromDMDA(dm, source, map, &map->why_not));
    if (!map->directions.empty()) map->dm = dm;
  }
  if (map->directions.empty() && map->why_not.empty()) map->why_not = "there is no DMDA";
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "row_grid.hpp"

#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

PetscErrorCode RowGrid::reset()
{
  PetscFunctionBegin;
  PetscCall(DMDestroy(&dm_));
  boxes_.clear(), source_.clear();
  dimensions_ = components_ = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowGrid::from_dmda(DM dm)
{
  PetscInt        dim, dof, processes[3];
  DMBoundaryType  boundary[3];
  const PetscInt *owned[3];
  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, &dim, &size_[0], &size_[1], &size_[2], &processes[0], &processes[1],
                        &processes[2], &dof, nullptr, &boundary[0], &boundary[1], &boundary[2], nullptr));
  PetscCall(DMDAGetOwnershipRanges(dm, &owned[0], &owned[1], &owned[2]));
  dimensions_ = static_cast<int>(dim), components_ = static_cast<int>(dof);
  for (std::size_t d = 0; d < 3; ++d) ring_[d] = boundary[d] == DM_BOUNDARY_PERIODIC;
  Box      box;
  PetscInt first = 0;
  for (PetscInt z = 0; z < processes[2]; box.begin[2] += box.size[2], ++z) {
    box.size[2] = dim > 2 ? owned[2][z] : 1, box.begin[1] = 0;
    for (PetscInt y = 0; y < processes[1]; box.begin[1] += box.size[1], ++y) {
      box.size[1] = dim > 1 ? owned[1][y] : 1, box.begin[0] = 0;
      for (PetscInt x = 0; x < processes[0]; box.begin[0] += box.size[0], ++x) {
        box.size[0] = owned[0][x], box.first = first;
        first += box.size[0] * box.size[1] * box.size[2];
        boxes_.push_back(box);
      }
    }
  }
  PetscCall(PetscObjectReference((PetscObject)dm));
  dm_ = dm;
  PetscMPIInt rank;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &rank));
  find_box(rank);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void RowGrid::find_box(PetscMPIInt rank)
{
  const Box &mine = boxes_[static_cast<std::size_t>(rank)];
  for (std::size_t d = 0; d < 3; ++d)
    box_.size[d] = mine.size[d], box_.begin[d] = mine.begin[d], box_.all[d] = size_[d],
    box_.ring[d] = ring_[d];
  box_.components = components_;
}

/// Creates a DMDA with the numbering of the rows: whole planes on every rank. Its directions may be rings,
/// even if the pattern has none.
PetscErrorCode RowGrid::from_natural_numbering(Mat J, const LineMap &map)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)J);
  PetscMPIInt    ranks;
  PetscInt       rows;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(MatGetLocalSize(J, &rows, nullptr));
  const int      dim = static_cast<int>(map.directions.size()), last = dim - 1;
  const PetscInt plane =
    static_cast<PetscInt>(map.natural[0] * (dim > 2 ? map.natural[1] : 1)) * map.directions[0].components;
  int aligned = plane > 0 && rows > 0 && rows % plane == 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &aligned, 1, MPI_INT, MPI_LAND, comm));
  PetscCheck(aligned, comm, PETSC_ERR_SUP,
             "ADI: ranks own parts of the %s of a grid that has no DMDA; give the matrix a DMDA, or each "
             "rank whole %s",
             dim > 2 ? "planes" : "lines", dim > 2 ? "planes" : "lines");
  std::vector<PetscInt> planes(static_cast<std::size_t>(ranks));
  const PetscInt        mine = rows / plane;
  DM                    dm;
  PetscCallMPI(MPI_Allgather(&mine, 1, MPIU_INT, planes.data(), 1, MPIU_INT, comm));
  PetscCall(DMDACreate(comm, &dm));
  PetscCall(DMSetDimension(dm, dim));
  PetscCall(DMDASetSizes(dm, static_cast<PetscInt>(map.natural[0]), static_cast<PetscInt>(map.natural[1]),
                         static_cast<PetscInt>(map.natural[2])));
  PetscCall(DMDASetNumProcs(dm, 1, last == 1 ? ranks : 1, last == 2 ? ranks : 1));
  PetscCall(DMDASetOwnershipRanges(dm, nullptr, last == 1 ? planes.data() : nullptr,
                                   last == 2 ? planes.data() : nullptr));
  PetscCall(DMDASetBoundaryType(dm, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                                dim > 2 ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE));
  PetscCall(DMDASetStencilWidth(dm, 0));
  PetscCall(DMDASetDof(dm, map.directions[0].components));
  PetscCall(DMSetUp(dm));
  PetscCall(from_dmda(dm));
  PetscCall(DMDestroy(&dm));
  PetscMPIInt rank;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  // periodic directions are unknown: far couplings are treated as those of a ring
  for (std::size_t d = 0; d < 3; ++d) ring_[d] = size_[d] > 4;
  find_box(rank);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As find(), with a PC for the search of lines.
PetscErrorCode RowGrid::find(PC pc, Mat J, const LineSource &source)
{
  LineMap     map;
  Elements    elements;
  std::string why_not;
  PetscFunctionBegin;
  PetscCall(LinesFromDM(pc, source, &map));
  source_ = map.source;
  if (!map.directions.empty()) {
    PetscCall(from_dmda(map.dm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  why_not = map.why_not, map.why_not.clear();
  PetscCall(GetElements(source, &elements));
  PetscCall(LinesFromPattern(source, elements, true, &map));
  components_ = static_cast<int>(elements.components); // of consecutive lines
  if (map.directions.empty()) {
    why_not += ", " + map.why_not, map.why_not.clear();
    PetscCall(LinesFromGrid(source, elements, &map));
    PetscCheck(!map.directions.empty(), PetscObjectComm((PetscObject)J), PETSC_ERR_SUP,
               "ADI needs the lines of a grid, but %s, and %s", why_not.c_str(), map.why_not.c_str());
    PetscCall(from_natural_numbering(J, map));
  }
  source_ = map.source;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowGrid::find(Mat J, DM dm)
{
  LineSource source;
  PC         pc;
  PetscFunctionBegin;
  PetscCall(reset());
  PetscCall(PCCreate(PetscObjectComm((PetscObject)J), &pc));
  PetscCall(PCSetOperators(pc, J, J));
  if (dm) PetscCall(PCSetDM(pc, dm));
  PetscCall(GetLineSource(J, &source));
  const PetscErrorCode error = find(pc, J, source);
  PetscCall(RestoreLineSource(&source));
  PetscCall(PCDestroy(&pc));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

RowGrid::Index RowGrid::coordinates(PetscInt element) const
{
  const Box     &box = *(std::upper_bound(boxes_.begin(), boxes_.end(), element,
                                          [](PetscInt e, const Box &b) { return e < b.first; }) -
                     1);
  const PetscInt k   = element - box.first;
  return {box.begin[0] + k % box.size[0], box.begin[1] + k / box.size[0] % box.size[1],
          box.begin[2] + k / (box.size[0] * box.size[1])};
}

int RowGrid::direction(PetscInt row, PetscInt column, PetscInt *offset) const
{
  const PetscInt e = row / components_, f = column / components_;
  *offset = f - e;
  if (e == f) return Way::same;
  if (!dm_) return 0;
  const Index from = coordinates(e), to = coordinates(f);
  int         found = Way::same;
  for (std::size_t d = 0; d < 3; ++d) {
    if (from[d] == to[d]) continue;
    if (found != Way::same) return Way::mixed;
    found   = static_cast<int>(d);
    *offset = to[d] - from[d];
    if (ring_[d] && 2 * std::abs(*offset) > size_[d]) *offset -= *offset > 0 ? size_[d] : -size_[d];
  }
  return found;
}

RowGrid::Index RowGrid::offsets(PetscInt row, PetscInt column) const
{
  const Index from = coordinates(row / components_), to = coordinates(column / components_);
  Index       apart;
  for (std::size_t d = 0; d < 3; ++d) {
    apart[d] = to[d] - from[d];
    if (ring_[d] && 2 * std::abs(apart[d]) > size_[d]) apart[d] -= apart[d] > 0 ? size_[d] : -size_[d];
  }
  return apart;
}

PetscInt RowGrid::along(PetscInt row, int axis, PetscInt n) const
{
  const auto d = static_cast<std::size_t>(axis);
  if (!dm_) return -1;
  Index at = coordinates(row / components_);
  at[d] += n;
  return at[d] < 0 || at[d] >= size_[d] ? -1 : this->row(at, static_cast<int>(row % components_));
}

PetscInt RowGrid::row(const Index &at, int component) const
{
  const auto holds = [&](const Box &box) {
    bool is = true;
    for (std::size_t d = 0; d < 3; ++d)
      is = is && at[d] >= box.begin[d] && at[d] < box.begin[d] + box.size[d];
    return is;
  };
  const Box     &box     = *std::find_if(boxes_.begin(), boxes_.end(), holds);
  const PetscInt element = box.first + at[0] - box.begin[0] +
                           box.size[0] * (at[1] - box.begin[1] + box.size[1] * (at[2] - box.begin[2]));
  return element * components_ + component;
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
// Lines of consecutive rows with a length that the application attaches to the matrix. (copied to lines/)
#include "line_map.hpp"

namespace ribbon::petsc {

PetscErrorCode LinesFromLength(PC, const LineSource &source, ElementsOfSource &, LineMap *map)
{
  LineDirection  direction;
  PetscContainer attached;
  PetscInt      *length, rows;
  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)source.rows, "line_length", (PetscObject *)&attached));
  map->why_not = "the matrix has no attached line_length";
  if (!attached) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerGetPointer(attached, (void **)&length));
  PetscCall(MatGetLocalSize(source.rows, &rows, nullptr));
  direction.name      = "attached";
  direction.lines     = LineSet::contiguous(*length, rows / *length);
  direction.partial   = true; // couplings between lines are left out
  direction.lines_all = rows / *length;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &direction.lines_all, 1, MPIU_INT, MPI_SUM,
                             PetscObjectComm((PetscObject)source.rows)));
  map->source = "attached line_length";
  map->why_not.clear();
  map->directions.push_back(direction);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

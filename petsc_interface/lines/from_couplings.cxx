// SPDX-License-Identifier: BSD-2-Clause
#include "host_rows.hpp"
#include "line_map.hpp"

#include "packed.hpp"

namespace ribbon::petsc {

PetscErrorCode LinesFromCouplings(const LineSource &source, const Elements &elements, LineMap *map)
{
  HostRows            rows;
  LineDirection       direction;
  LinesOfGraphOptions options;
  PetscFunctionBegin;
  options.block = static_cast<int>(elements.components);
  PetscCall(GetHostRows(source.block, true, &rows));
  PetscCallCXX(direction = packed(lines_from_graph(rows, options)));
  PetscCall(RestoreHostRows(source.block, &rows));
  direction.name       = "matrix";
  direction.components = options.block;
  direction.widest     = 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &direction.lines_all, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)source.rows)));
  map->source = "largest couplings of the matrix";
  map->directions.push_back(direction);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

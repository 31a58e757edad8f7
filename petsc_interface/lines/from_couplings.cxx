// SPDX-License-Identifier: BSD-2-Clause
#include "line_map.hpp"

#include <algorithm>

namespace ribbon::petsc {

PetscErrorCode LinesFromCouplings(const LineSource &source, const Elements &elements, LineMap *map)
{
  const MPI_Comm      comm = PetscObjectComm((PetscObject)source.rows);
  HostRows            rows;
  LinesOfGraph        lines;
  LinesOfGraphOptions options;
  LineDirection       direction;
  std::vector<int>    colour_of;
  int                 colours = 0;
  PetscFunctionBegin;
  // larger blocks cannot be solved, but their rows can
  const PetscInt components = elements.coupled && elements.components > 8 ? 1 : elements.components;
  options.block             = static_cast<int>(components);
  PetscCall(GetHostRows(source.block, true, &rows));
  PetscCallCXX(lines = lines_from_graph(rows, options));
  if (map->coloured) PetscCallCXX(colour_of = colour_lines(rows, lines, components));
  PetscCall(RestoreHostRows(source.block, &rows));
  PetscCallCXX(static_cast<LineLayout &>(direction) = packed(lines));
  for (int colour : colour_of) colours = std::max(colours, colour + 1);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &colours, 1, MPI_INT, MPI_MAX, comm));
  if (colours > 1)
    PetscCallCXX(direction.colours = packed_by_colour(lines, colour_of, colours, direction.lines.rows));
  direction.name       = "matrix";
  direction.components = options.block;
  direction.widest     = 1;
  direction.partial    = true;
  direction.lines_all  = static_cast<PetscInt>(lines.lines());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &direction.lines_all, 1, MPIU_INT, MPI_SUM, comm));
  map->source = "largest couplings of the matrix";
  map->directions.push_back(direction);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

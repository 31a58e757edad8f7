// SPDX-License-Identifier: BSD-2-Clause
#include "across_ranks.hpp"
#include "line_map.hpp"

#include "../support/format.hpp"

#include <algorithm>
#include <utility>

namespace ribbon::petsc {

namespace {

constexpr PetscInt largest_block = 8; ///< of block tridiagonal lines

/// The rows of an element if groups of consecutive rows, all of one size up to 64, store the same columns,
/// as the unknowns of a cell do in discontinuous Galerkin methods. 1: there are no such groups.
PetscInt rows_of_equal_columns(const HostRows &A)
{
  const auto rows  = static_cast<PetscInt>(A.rows);
  const auto equal = [&A](PetscInt r, PetscInt s) {
    return std::equal(A.column + A.row_begin[r], A.column + A.row_begin[r + 1], A.column + A.row_begin[s],
                      A.column + A.row_begin[s + 1]);
  };
  constexpr PetscInt most  = 64;
  PetscInt           group = 1;
  while (group < rows && group <= most && equal(0, group)) ++group;
  if (group == rows || group > most || rows % group != 0) return 1;
  for (PetscInt r = 0; r < rows; ++r)
    if (r % group != 0 && !equal(r - r % group, r)) return 1;
  return group;
}

/// Rows of an element on all ranks: those that ranks with rows agree on, else 1. Collective.
PetscErrorCode AgreeOnElements(MPI_Comm comm, const HostRows &A, PetscInt *components)
{
  const PetscInt own     = A.rows > 0 ? rows_of_equal_columns(A) : 0;
  PetscInt       ends[2] = {own, A.rows > 0 ? -own : -PETSC_MAX_INT};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_INT, MPI_MAX, comm));
  *components = ends[0] == -ends[1] ? ends[0] : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether lines may continue on other ranks: on several ranks, for AIJ matrices in host memory. Collective.
PetscErrorCode CanMove(const LineSource &source, const LineMap &map, int *can)
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)source.rows);
  PetscMPIInt     ranks;
  Mat             off;
  const PetscInt *columns;
  bool            on_device;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(GetOffProcessBlock(source.rows, &off, &columns));
  PetscCall(BlockIsOnDevice(source.block, &on_device));
  *can = map.across_ranks && ranks > 1 && off && !source.kronecker && !on_device;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, can, 1, MPI_INT, MPI_LAND, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromCouplings(const LineSource &source, const Elements &elements, LineMap *map)
{
  HostRows                         rows;
  LinesOfGraph                     lines;
  LinesOfGraphOptions              options;
  int                              can_move = 0;
  PetscInt                         cut      = 0;
  std::shared_ptr<const MovedRows> moved;
  PetscInt components = elements.components, larger = 0; // larger blocks cannot be solved, but their rows can
  PetscFunctionBegin;
  PetscCall(GetHostRows(source.block, true, &rows));
  if (components == 1 && !source.kronecker)
    PetscCall(AgreeOnElements(PetscObjectComm((PetscObject)source.rows), rows, &components));
  if (components > largest_block && (elements.coupled || elements.components == 1))
    larger = std::exchange(components, 1);
  options.block    = static_cast<int>(components);
  options.strength = map->strength;
  PetscCall(CanMove(source, *map, &can_move));
  if (!can_move) PetscCallCXX(lines = lines_from_graph(rows, options));
  PetscCall(RestoreHostRows(source.block, &rows));
  if (can_move) PetscCall(LinesAcrossRanks(source.rows, options, &moved, &lines, &cut));
  PetscCall(AddLines(source, "matrix", std::move(lines), components, map, moved));
  map->directions.back().lines_cut = cut;
  map->source                      = "largest couplings of the matrix";
  if (larger > 0)
    map->source += format(", row by row: elements have %d unknowns, blocks reach up to %d",
                          static_cast<int>(larger), static_cast<int>(largest_block));
  if (map->strength == CouplingStrength::aggregation) map->source += " by strength sa";
  if (map->strength == CouplingStrength::negative) map->source += " by strength negative";
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

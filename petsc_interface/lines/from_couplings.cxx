// SPDX-License-Identifier: BSD-2-Clause
#include "across_ranks.hpp"
#include "add_lines.hpp"
#include "by_rounds.hpp"

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
  if (group == 1 || group == rows || group > most || rows % group != 0) return 1;
  for (PetscInt first = 0; first < rows; first += group)
    for (PetscInt r = first + 1; r < first + group; ++r)
      if (!equal(first, r)) return 1;
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

/// Whether lines may continue on other ranks: on several ranks, for AIJ matrices. Collective.
PetscErrorCode CanMove(const LineSource &source, const LineMap &map, int *can)
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)source.rows);
  PetscMPIInt     ranks;
  Mat             off;
  const PetscInt *columns;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(GetOffProcessBlock(source.rows, &off, &columns));
  *can = map.across_ranks && ranks > 1 && off && !source.kronecker;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, can, 1, MPI_INT, MPI_LAND, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds lines that may continue on other ranks. Collective.
/// @param rounds  in: search by rounds; out: false if lines_by_rounds() rejects the rows of some rank. All ranks then
///   take the lines of lines_from_graph(), unless -pc_line_search rounds asks for rounds
PetscErrorCode AddMovedLines(const LineSource &source, const LinesOfGraphOptions &options, bool on_device,
                             bool *rounds, LineMap *map)
{
  LinesOfGraph                     lines;
  LinesOfGraphOptions              of_strengths = options;
  PetscInt                         cut          = 0;
  std::shared_ptr<const MovedRows> moved;
  PetscFunctionBegin;
  of_strengths.strength = CouplingStrength::absolute;
  const auto find       = [&](const HostRows &rows, LinesOfGraph *to) {
    bool found = false;
    PetscFunctionBegin;
    if (*rounds) {
      PetscCall(FindLinesByRounds(rows, on_device, of_strengths, &found, to));
      int all = found;
      PetscCallMPI(
              MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)source.rows)));
      *rounds = all != 0;
    }
    if (!*rounds) PetscCallCXX(*to = lines_from_graph(rows, of_strengths));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(LinesAcrossRanks(source, options, find, &moved, &lines, &cut));
  PetscCall(AddLines(source, "matrix", std::move(lines), options.block, map, moved));
  map->directions.back().lines_cut = cut;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds the lines that lines_from_graph() finds in the rows of each rank. Collective.
PetscErrorCode AddLinesOfHost(const LineSource &source, const LinesOfGraphOptions &options, LineMap *map)
{
  LinesOfGraph lines;
  PetscFunctionBegin;
  PetscCall(WithCsrOnHost(source.block, [&](const HostRows &A) { lines = lines_from_graph(A, options); }));
  PetscCall(AddLines(source, "matrix", std::move(lines), options.block, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromCouplings(const LineSource &source, const Elements &elements, LineMap *map)
{
  const MPI_Comm      comm = PetscObjectComm((PetscObject)source.rows);
  HostRows            rows;
  LinesOfGraphOptions options;
  bool                on_device = false, rounds = false;
  int                 can_move = 0;
  PetscInt components = elements.components, larger = 0; // larger blocks cannot be solved, but their rows can
  PetscFunctionBegin;
  PetscCall(GetHostRows(source.block, false, &rows));
  if (components == 1 && !source.kronecker) PetscCall(AgreeOnElements(comm, rows, &components));
  PetscCall(RestoreHostRows(source.block, &rows));
  if (components > largest_block && (elements.coupled || elements.components == 1))
    larger = std::exchange(components, 1);
  options.block    = static_cast<int>(components);
  options.strength = map->strength;
  PetscCall(SomeIsOnDevice(source, &on_device));
  PetscCheck(components <= largest_block || map->search != LineSearch::rounds, comm, PETSC_ERR_SUP,
             "PC line: -pc_line_search rounds: elements have %d unknowns, but rounds accept at most %d; use "
             "auto or host",
             static_cast<int>(components), static_cast<int>(largest_block));
  rounds = components <= largest_block &&
           (map->search == LineSearch::rounds || (map->search == LineSearch::automatic && on_device));
  PetscCall(CanMove(source, *map, &can_move));
  if (can_move) PetscCall(AddMovedLines(source, options, on_device, &rounds, map));
  else if (rounds) PetscCall(AddLinesByRounds(source, options, &rounds, map));
  PetscCheck(rounds || map->search != LineSearch::rounds, comm, PETSC_ERR_SUP,
             "PC line: -pc_line_search rounds: the columns of some row do not ascend, or a rank has 2^30 "
             "elements or more; use "
             "auto or host");
  if (!rounds && !can_move) PetscCall(AddLinesOfHost(source, options, map));
  map->source = "largest couplings of the matrix";
  if (larger > 0)
    map->source += format(", row by row: elements have %d unknowns, blocks reach up to %d",
                          static_cast<int>(larger), static_cast<int>(largest_block));
  if (map->strength == CouplingStrength::aggregation) map->source += " by strength sa";
  if (map->strength == CouplingStrength::negative) map->source += " by strength negative";
  if (rounds)
    map->source += format(", found by rounds on %s", on_device ? DeviceExec::name() : HostExec::name());
  else if (on_device) map->source += ", found on the host";
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

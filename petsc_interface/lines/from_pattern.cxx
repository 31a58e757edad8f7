// SPDX-License-Identifier: BSD-2-Clause
#include "line_map.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

constexpr PetscInt far = 2; ///< entries further from the diagonal are not along consecutive rows

/// Runs of rows that entries near the diagonal tie together, and what does not fit them.
struct Runs {
  std::vector<PetscInt> begin;                             ///< first row of each run
  PetscInt              stray_row = -1, stray_column = -1; ///< first entry off the runs that closes no ring
  bool                  wraps = false;                     ///< some entry joins the ends of a run
};

Runs find_runs(PetscInt n, const PetscInt *ia, const PetscInt *ja)
{
  Runs              runs;
  std::vector<char> tied(static_cast<std::size_t>(n) + 1, 0); // row r hangs together with row r + 1
  for (PetscInt r = 0; r < n; ++r)
    for (PetscInt e = ia[r]; e < ia[r + 1]; ++e) {
      const PetscInt c = ja[e];
      if (std::abs(c - r) > far) continue;
      for (PetscInt k = std::min(r, c); k < std::max(r, c); ++k) tied[static_cast<std::size_t>(k)] = 1;
    }
  std::vector<PetscInt> run_of(static_cast<std::size_t>(n));
  for (PetscInt r = 0; r < n; ++r) {
    if (r == 0 || !tied[static_cast<std::size_t>(r - 1)]) runs.begin.push_back(r);
    run_of[static_cast<std::size_t>(r)] = static_cast<PetscInt>(runs.begin.size()) - 1;
  }
  runs.begin.push_back(n);
  for (PetscInt r = 0; r < n; ++r)
    for (PetscInt e = ia[r]; e < ia[r + 1]; ++e) {
      const PetscInt c = ja[e], run = run_of[static_cast<std::size_t>(r)];
      if (std::abs(c - r) <= far) continue;
      const PetscInt length = runs.begin[static_cast<std::size_t>(run) + 1] - runs.begin[static_cast<std::size_t>(run)];
      if (run_of[static_cast<std::size_t>(c)] == run && length - std::abs(c - r) <= far) runs.wraps = true;
      else if (runs.stray_row < 0) runs.stray_row = r, runs.stray_column = c;
    }
  return runs;
}

/// First entry of the off-process block that is not along consecutive rows of the whole matrix; whether any entry couples to the next rank.
/// An entry far off the diagonal may close a ring that the partition cuts: it joins the far end of the first or last local run to another rank.
PetscErrorCode InspectCouplingsToOtherRanks(Mat pmat, const Runs &runs, PetscInt *stray_row, PetscInt *stray_column, bool *cut)
{
  PetscBool       is_mpiaij;
  Mat             off;
  const PetscInt *columns, *ia, *ja;
  PetscInt        rbegin, rend, all, n;
  PetscBool       done;
  PetscFunctionBegin;
  *cut = false;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pmat, &is_mpiaij, MATMPIAIJ, MATMPIAIJCUSPARSE, MATMPIAIJKOKKOS, ""));
  if (!is_mpiaij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(pmat, nullptr, &off, &columns));
  PetscCall(MatGetOwnershipRange(pmat, &rbegin, &rend));
  PetscCall(MatGetSize(pmat, &all, nullptr));
  PetscCall(MatGetRowIJ(off, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "PC line: cannot read the pattern of a matrix of type %s", ((PetscObject)off)->type_name);
  for (PetscInt r = 0; r < n; ++r)
    for (PetscInt e = ia[r]; e < ia[r + 1]; ++e) {
      const PetscInt c = columns[ja[e]], d = std::abs(c - (rbegin + r));
      const bool     closes_last  = c >= rend && r >= runs.begin[runs.begin.size() - 2] && r < runs.begin[runs.begin.size() - 2] + far;
      const bool     closes_first = c < rbegin && r < runs.begin[1] && r >= runs.begin[1] - far;
      if (d <= far || all - d <= far || closes_last || closes_first) *cut = *cut || c >= rend;
      else if (*stray_row < 0) *stray_row = r, *stray_column = c - rbegin;
    }
  PetscCall(MatRestoreRowIJ(off, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Every second line, counted over all ranks as they solve them: each piece of a cut line is one.
PetscErrorCode ColourRows(MPI_Comm comm, LineDirection *rows)
{
  const LineSet &s    = rows->lines;
  const PetscInt mine = static_cast<PetscInt>(s.lines());
  PetscInt       upto = 0, all = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(&mine, &upto, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPIU_INT, MPI_SUM, comm));
  rows->two_colours = all > 1;
  for (int colour = 0; colour < 2; ++colour) {
    const std::int64_t first = (colour + upto - mine) % 2;
    const LineSet      every_second{s.rows, (s.count0 + 1 - first) / 2, 1, 1, 2 * s.stride0, 0, first * s.stride0};
    if (every_second.unknowns() > 0) rows->colours[colour].push_back(every_second);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromPattern(Mat pmat, Mat block, bool strict, LineMap *map)
{
  const PetscInt *ia, *ja;
  PetscInt        n, rbegin, stray[2], counts[2], sums[2];
  PetscBool       done;
  bool            cut;
  MPI_Comm        comm;
  PetscMPIInt     size;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)pmat, &comm));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatGetOwnershipRange(pmat, &rbegin, nullptr));
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "PC line: cannot read the pattern of a matrix of type %s", ((PetscObject)block)->type_name);
  Runs           runs;
  const PetscInt local = n; // MatRestoreRowIJ() resets n
  PetscCallCXX(runs = find_runs(n, ia, ja));
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));

  LineDirection rows;
  rows.name             = "rows";
  rows.processes        = size;
  const PetscInt lines  = static_cast<PetscInt>(runs.begin.size()) - 1;
  PetscInt       length = lines > 0 ? runs.begin[1] : 0;
  for (PetscInt l = 0; l < lines; ++l)
    if (runs.begin[static_cast<std::size_t>(l) + 1] - runs.begin[static_cast<std::size_t>(l)] != length) length = 0;
  const bool one_length = lines == 0 || length > 0;
  // runs of different lengths are one long line: the couplings between them are zero
  rows.lines = one_length ? LineSet::contiguous(length, lines) : LineSet::contiguous(local, 1);
  rows.wrap  = runs.wraps && one_length;
  PetscCall(ColourRows(comm, &rows));
  // a rank that holds whole rings beside the piece of a cut one opens them all: lines of one set have one length
  const bool     opened  = runs.wraps && !one_length;
  const PetscInt unequal = opened && size == 1 ? 1 : 0;
  rows.partial           = !strict || opened;
  PetscCall(InspectCouplingsToOtherRanks(pmat, runs, &runs.stray_row, &runs.stray_column, &cut));
  counts[0] = lines, counts[1] = opened ? lines : cut ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(counts, sums, 2, MPIU_INT, MPI_SUM, comm));
  rows.lines_cut         = sums[1];
  rows.lines_all         = PetscMax(sums[0] - sums[1], sums[1]);
  const PetscInt mine[2] = {runs.stray_row < 0 ? PETSC_MAX_INT : rbegin + runs.stray_row, runs.stray_row < 0 ? 0 : rbegin + runs.stray_column};
  PetscCallMPI(MPI_Allreduce(&mine[0], &stray[0], 1, MPIU_INT, MPI_MIN, comm));
  stray[1] = mine[0] == stray[0] ? mine[1] : -1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &stray[1], 1, MPIU_INT, MPI_MAX, comm));
  if (strict && stray[0] != PETSC_MAX_INT) {
    map->why_not = "row " + std::to_string(stray[0]) + " couples to column " + std::to_string(stray[1]) + ", so consecutive rows are not tridiagonal or pentadiagonal lines";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (strict && unequal) {
    map->why_not = "its periodic lines have different lengths";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  map->source = "matrix pattern";
  map->directions.push_back(rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

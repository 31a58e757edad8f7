// SPDX-License-Identifier: BSD-2-Clause
#include "line_map.hpp"
#include "pattern.hpp"

#include <algorithm>

namespace ribbon::petsc {

PetscInt Runs::common_length() const
{
  PetscInt common = count() > 0 ? length(0) : 0;
  for (std::size_t r = 0; r < count(); ++r)
    if (length(r) != common) common = 0;
  return common;
}

Runs runs_of(const std::vector<char> &tied, PetscInt elements)
{
  Runs runs;
  for (PetscInt e = 0; e < elements; ++e)
    if (e == 0 || !tied[static_cast<std::size_t>(e - 1)]) runs.begin.push_back(e);
  runs.begin.push_back(elements);
  return runs;
}

namespace {

/// Runs of elements that entries near the diagonal tie together, and what does not fit them.
struct RunsOfPattern {
  Runs     runs;
  PetscInt far;
  PetscInt stray_row = -1, stray_column = -1; ///< first entry off the runs that closes no ring, in elements
  bool     wraps = false;                     ///< some entry joins the ends of a run
  Borders  tied;                              ///< to the runs of other ranks
  bool     around = false;                    ///< some entry joins the first rows of the matrix to the last ones, of another rank
  bool     whole  = true;                     ///< with the runs of other ranks they make one line, or one ring: no entry closes a ring that is a part of the matrix
};

RunsOfPattern find_runs(const Pattern &pattern, PetscInt far)
{
  RunsOfPattern     found;
  const PetscInt    n = pattern.elements();
  std::vector<char> tied(static_cast<std::size_t>(n) + 1, 0);
  found.far = far;
  pattern.each([&](PetscInt r, PetscInt c) {
    for (PetscInt k = std::min(r, c); std::abs(c - r) <= far && k < std::max(r, c); ++k) tied[static_cast<std::size_t>(k)] = 1;
    return false;
  });
  found.runs = runs_of(tied, n);
  std::vector<PetscInt> run_of(static_cast<std::size_t>(n));
  for (std::size_t r = 0; r < found.runs.count(); ++r)
    for (PetscInt e = found.runs.begin[r]; e < found.runs.begin[r + 1]; ++e) run_of[static_cast<std::size_t>(e)] = static_cast<PetscInt>(r);
  pattern.each([&](PetscInt r, PetscInt c) {
    if (std::abs(c - r) <= far) return false;
    const PetscInt run = run_of[static_cast<std::size_t>(r)];
    if (run_of[static_cast<std::size_t>(c)] == run && found.runs.length(static_cast<std::size_t>(run)) - std::abs(c - r) <= far) found.wraps = true;
    else if (found.stray_row < 0) found.stray_row = r, found.stray_column = c;
    return false;
  });
  return found;
}

/// First entry of the off-process block that is not along consecutive elements of the whole matrix; whether any entry, of either rank, couples across the borders. Collective.
/// @param closings  an entry far off the diagonal may close a ring that the partition cuts: it joins the far end of the first or last local run to another rank
PetscErrorCode InspectCouplingsToOtherRanks(Mat rows, PetscInt components, bool closings, RunsOfPattern *local)
{
  Mat             off;
  const PetscInt *columns;
  PetscInt        rbegin, rend, all;
  Pattern         pattern;
  PetscFunctionBegin;
  local->whole = !local->wraps;
  PetscCall(MatGetOwnershipRange(rows, &rbegin, &rend));
  PetscCall(MatGetSize(rows, &all, nullptr));
  PetscCall(GetOffProcessBlock(rows, &off, &columns));
  if (off) {
    PetscCall(GetHostRows(off, false, &pattern.A));
    const PetscInt first = rbegin / components, last = rend / components, far = local->far;
    const Runs    &runs = local->runs;
    pattern.each([&](PetscInt row, PetscInt column) {
      const PetscInt r = row / components, c = columns[column] / components, d = std::abs(c - (first + r));
      const bool     closes_last  = closings && c >= last && r >= runs.begin[runs.count() - 1] && r < runs.begin[runs.count() - 1] + far;
      const bool     closes_first = closings && c < first && r < runs.begin[1] && r >= runs.begin[1] - far;
      const bool     around       = d > far && all / components - d <= far;
      local->tied.before          = local->tied.before || (c < first && (d <= far || closes_first));
      local->tied.after           = local->tied.after || (c >= last && (d <= far || closes_last));
      local->around               = local->around || around;
      if (d <= far || around || closes_last || closes_first) local->whole = local->whole && (d <= far || around);
      else if (local->stray_row < 0) local->stray_row = r, local->stray_column = c - first;
      return false;
    });
    PetscCall(RestoreHostRows(off, &pattern.A));
  }
  PetscCall(AgreeOnBorders(PetscObjectComm((PetscObject)rows), rend > rbegin, &local->tied));
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
  for (int colour = 0; colour < 2 && all > 1; ++colour) {
    const std::int64_t first = (colour + upto - mine) % 2;
    const LineSet      every_second{s.rows, (s.count0 + 1 - first) / 2, 1, 1, 2 * s.stride0, 0, first * s.stride0};
    rows->colours.emplace_back();
    if (every_second.unknowns() > 0) rows->colours.back().push_back({every_second, nullptr, nullptr});
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs of the local block with this reach. Where they do not hold every entry, of any rank, *stray is the first of these entries (global row and column of its
/// element's first components), else {-1, -1}. Collective.
PetscErrorCode TryRuns(const LineSource &source, const Pattern &pattern, PetscInt far, bool closings, RunsOfPattern *found, PetscInt (&stray)[2])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)source.rows);
  PetscInt       rbegin;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCallCXX(*found = find_runs(pattern, far));
  PetscCall(InspectCouplingsToOtherRanks(source.rows, pattern.components, closings, found));
  const bool     none    = found->stray_row < 0;
  const PetscInt mine[2] = {none ? PETSC_MAX_INT : rbegin + found->stray_row * pattern.components, none ? 0 : rbegin + found->stray_column * pattern.components};
  PetscCallMPI(MPI_Allreduce(&mine[0], &stray[0], 1, MPIU_INT, MPI_MIN, comm));
  stray[1] = mine[0] == stray[0] ? mine[1] : -1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &stray[1], 1, MPIU_INT, MPI_MAX, comm));
  if (stray[0] == PETSC_MAX_INT) stray[0] = stray[1] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Runs as one direction. Collective.
/// @param complete  they hold every entry
PetscErrorCode FromRuns(const LineSource &source, const Pattern &pattern, const RunsOfPattern &found, bool strict, bool complete, LineMap *map)
{
  const MPI_Comm comm  = PetscObjectComm((PetscObject)source.rows);
  const Runs    &runs  = found.runs;
  const PetscInt lines = static_cast<PetscInt>(runs.count()), length = runs.common_length();
  const bool     one       = lines == 0 || length > 0;
  const bool     opened    = found.wraps && !one; // a rank that holds whole rings beside the piece of a cut one opens them all: lines of one set have one length
  const PetscInt uncut     = opened ? 0 : lines - found.tied.before - found.tied.after + (lines == 1 && found.tied.before && found.tied.after);
  PetscInt       counts[6] = {lines, found.tied.before, lines > 0, complete ? !found.whole : found.wraps, found.around, uncut}, sums[6];
  PetscMPIInt    rank;
  LineDirection  rows;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &rows.processes));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Allreduce(counts, sums, 6, MPIU_INT, MPI_SUM, comm));
  const PetscInt joins = PetscMin(sums[1] + (sums[4] > 0), PetscMax(sums[2] - 1, 0)); // of pieces of lines; those of a ring meet once more
  if (strict && opened && rows.processes == 1) {
    map->why_not = "its periodic lines have different lengths";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  rows.name       = "rows";
  rows.components = static_cast<int>(pattern.components);
  rows.widest     = static_cast<int>(found.far);
  rows.partial    = !complete || opened;
  rows.wrap       = found.wraps && one;
  // runs of different lengths are one long line: the couplings between them are zero
  rows.lines = one ? LineSet::contiguous(length, lines) : LineSet::contiguous(pattern.elements(), 1);
  if (map->joined && (complete || !map->coloured) && joins > 0 && sums[3] == 0) { // all rows of all ranks are, and have one colour
    rows.place = {true, true, lines > 0 ? 0 : MPI_UNDEFINED, rank};
    rows.lines = LineSet::contiguous(pattern.elements(), 1);
  }
  if (map->coloured && !rows.place.joinable) PetscCall(ColourRows(comm, &rows));
  rows.lines_all = sums[0] - joins;
  rows.lines_cut = PetscMax(rows.lines_all - sums[5], sums[4] > 0);
  map->source    = "matrix pattern";
  map->directions.push_back(rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromPattern(const LineSource &source, const Elements &elements, bool strict, LineMap *map)
{
  const PetscInt components = elements.components;
  PetscInt       stray[2]   = {-1, -1};
  Pattern        pattern;
  PetscFunctionBegin;
  // blocks reach the next element only; as rows without blocks they may still be a band
  struct Attempt {
    PetscInt components, far;
  };
  std::vector<Attempt> attempts;
  if (elements.coupled && components <= 8) attempts.push_back({components, 1});
  if (!elements.coupled || components > 8 || strict)
    for (PetscInt far : {2, 4, largest_half_bandwidth}) attempts.push_back({elements.coupled ? 1 : components, far});
  PetscCall(GetHostRows(source.block, false, &pattern.A));
  // what closes a ring in the eyes of a narrow band may be one of a wider band: all bands are tried before rings that ranks cut
  for (bool closings : {!strict, true}) {
    for (const Attempt &attempt : attempts) {
      RunsOfPattern found;
      PetscInt      strays[2];
      pattern.components = attempt.components;
      PetscCall(TryRuns(source, pattern, attempt.far, closings, &found, strays));
      if (stray[0] < 0) stray[0] = strays[0], stray[1] = strays[1];
      if (strict && strays[0] >= 0) continue;
      PetscCall(FromRuns(source, pattern, found, strict, strays[0] < 0, map));
      break;
    }
    if (!map->directions.empty() || !map->why_not.empty()) break;
  }
  PetscCall(RestoreHostRows(source.block, &pattern.A));
  if (map->directions.empty() && map->why_not.empty()) map->why_not = "row " + std::to_string(stray[0]) + " couples to column " + std::to_string(stray[1]) + ", so consecutive rows are not lines";
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

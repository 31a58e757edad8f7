// SPDX-License-Identifier: BSD-2-Clause
// Lines of consecutive rows, from the runs of the stored pattern on all ranks.
#include "runs_of_pattern.hpp"

#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

/// Finds the first entry of the off-process block that is not along consecutive elements of the whole
/// matrix. Also finds whether any entry of either rank couples across the borders. Collective.
/// @param closings  an entry far off the diagonal may close a ring that spans ranks: it joins the far end
///   of the first or last local run to another rank
PetscErrorCode InspectCouplingsToOtherRanks(Mat rows, PetscInt components, bool closings,
                                            RunsOfPattern *local)
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
      const bool     closes_last =
        closings && c >= last && r >= runs.begin[runs.count() - 1] && r < runs.begin[runs.count() - 1] + far;
      const bool closes_first = closings && c < first && r < runs.begin[1] && r >= runs.begin[1] - far;
      const bool around       = d > far && all / components - d <= far;
      local->tied.before      = local->tied.before || (c < first && (d <= far || closes_first));
      local->tied.after       = local->tied.after || (c >= last && (d <= far || closes_last));
      local->around           = local->around || around;
      if (d <= far || around || closes_last || closes_first)
        local->whole = local->whole && (d <= far || around);
      else if (local->stray_row < 0) local->stray_row = r, local->stray_column = c - first;
      return false;
    });
    PetscCall(RestoreHostRows(off, &pattern.A));
  }
  PetscCall(AgreeOnBorders(PetscObjectComm((PetscObject)rows), rend > rbegin, &local->tied));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Colours every second line, counted over all ranks as they solve the lines: each sub-line of a line that
/// spans ranks counts. Collective.
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
    const LineSet every_second{s.rows, (s.count0 + 1 - first) / 2, 1, 1, 2 * s.stride0, 0, first * s.stride0};
    rows->colours.emplace_back();
    if (every_second.unknowns() > 0) rows->colours.back().push_back({every_second, nullptr, nullptr});
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An entry off the runs of some rank.
struct Stray {
  PetscInt row = -1, column = -1; ///< first components of its elements, of all ranks; -1: there is none
  bool     own = false;           ///< it is in the block of a rank, so that no ring across ranks has it
};

/// Finds runs of the local block with this reach, and an entry of any rank that is off the runs. Collective.
/// @param strict  if there is such an entry, `found` may have other runs
PetscErrorCode TryRuns(const LineSource &source, const Pattern &pattern, PetscInt far, bool strict,
                       bool closings, RunsOfPattern *found, Stray *stray)
{
  const MPI_Comm comm    = PetscObjectComm((PetscObject)source.rows);
  bool           uniform = false;
  PetscInt       rbegin;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  if (!strict || !has_stray_entry(pattern, far, found)) {
    PetscCall(FindUniformRuns(source.block, pattern, far, found, &uniform));
    if (!uniform) PetscCallCXX(*found = find_runs(pattern, far));
  }
  const bool own = found->stray_row >= 0;
  PetscCall(InspectCouplingsToOtherRanks(source.rows, pattern.components, closings, found));
  if (!closings && found->closes_piece() && found->stray_row < 0)
    found->stray_row = found->stray_column =
      found->tied.before && found->closes_first >= 0 ? found->closes_first : found->closes_last;
  const bool     none    = found->stray_row < 0;
  const PetscInt mine[2] = {none ? PETSC_MAX_INT : rbegin + found->stray_row * pattern.components,
                            none ? 0 : rbegin + found->stray_column * pattern.components};
  PetscInt row, of_row[2]; // column, and whether it is in a block
  PetscCallMPI(MPI_Allreduce(&mine[0], &row, 1, MPIU_INT, MPI_MIN, comm));
  of_row[0] = mine[0] == row ? mine[1] : -1, of_row[1] = own;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, of_row, 2, MPIU_INT, MPI_MAX, comm));
  *stray = {};
  if (row < PETSC_MAX_INT) *stray = {row, of_row[0], of_row[1] != 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Stores runs as one direction. Collective.
/// @param complete  the runs hold every entry
PetscErrorCode FromRuns(const LineSource &source, const Pattern &pattern, const RunsOfPattern &found,
                        bool strict, bool complete, LineMap *map)
{
  const MPI_Comm comm  = PetscObjectComm((PetscObject)source.rows);
  const Runs    &runs  = found.runs;
  const PetscInt lines = static_cast<PetscInt>(runs.count()), length = runs.common_length();
  const bool     one = lines == 0 || length > 0;
  // a rank with whole rings and with the sub-line of another ring opens all of them: lines of one set have
  // one length
  const bool     opened    = found.wraps && !one;
  const PetscInt uncut     = opened ? 0
                                    : lines - found.tied.before - found.tied.after +
                                    (lines == 1 && found.tied.before && found.tied.after);
  PetscInt       counts[6] = {lines,        found.tied.before,
                              lines > 0,    complete ? !found.whole : found.wraps,
                              found.around, uncut},
           sums[6];
  PetscMPIInt   rank;
  LineDirection rows;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &rows.processes));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Allreduce(counts, sums, 6, MPIU_INT, MPI_SUM, comm));
  // joints between sub-lines; a ring has one more
  const PetscInt joins = PetscMin(sums[1] + (sums[4] > 0), PetscMax(sums[2] - 1, 0));
  if (strict && opened && rows.processes == 1) {
    map->why_not = "its periodic lines have different lengths";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  rows.name = "rows", rows.consecutive = true;
  rows.components = static_cast<int>(pattern.components);
  rows.widest     = static_cast<int>(found.widest);
  rows.partial    = !complete || opened;
  rows.wrap       = found.wraps && one;
  // runs of different lengths are one long line with zero couplings between them
  rows.lines = one ? LineSet::contiguous(length, lines) : LineSet::contiguous(pattern.elements(), 1);
  // all rows of all ranks are one line, which has one colour
  if (map->joined && (complete || !map->coloured) && joins > 0 && sums[3] == 0) {
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

/// Elements of consecutive rows with entries up to `far` from the diagonal.
struct Attempt {
  PetscInt components, far;
};

/// The reach of entries along the runs of all ranks, in elements.
struct Reach {
  PetscInt along  = 0;     ///< the furthest entry up to 8
  bool     beyond = false; ///< further entries exist, or some seem to close a sub-line
  bool     ties   = false; ///< a run has more than one element
  /// several runs with the same number of elements, which is above one: lines of a grid
  bool alike = false;
};

/// First element, and the one after the last, of the runs to which the first and the last local run belong,
/// in elements of all ranks. Collective.
PetscErrorCode RunsAcrossRanks(MPI_Comm comm, PetscInt first, PetscInt elements, const RunsOfPattern &found,
                               PetscInt *begin, PetscInt *end)
{
  struct Piece {
    PetscInt begin, end, first_end, last_begin, tied_before;
  };
  const Runs        &runs = found.runs;
  Piece              mine = {first, first + elements, 0, 0, found.tied.before};
  PetscMPIInt        size, rank;
  std::vector<Piece> all;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (elements > 0)
    mine.first_end = first + runs.begin[1], mine.last_begin = first + runs.begin[runs.count() - 1];
  PetscCallCXX(all.resize(static_cast<std::size_t>(size)));
  PetscCallMPI(MPI_Allgather(&mine, 5, MPIU_INT, all.data(), 5, MPIU_INT, comm));
  *begin = mine.begin, *end = mine.end;
  bool tied = mine.tied_before != 0;
  for (auto r = static_cast<std::size_t>(rank); tied && r-- > 0;) {
    const Piece &p = all[r];
    if (p.begin == p.end) continue; // no rows
    *begin = p.last_begin, tied = p.last_begin == p.begin && p.tied_before;
  }
  tied = true;
  for (auto r = static_cast<std::size_t>(rank) + 1; tied && r < all.size(); ++r) {
    const Piece &p = all[r];
    if (p.begin == p.end) continue;
    tied = p.tied_before != 0;
    if (tied) *end = p.first_end, tied = p.first_end == p.end;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds the reach of entries that join elements of one run, including those of other ranks, and of entries
/// that close a ring. Collective.
PetscErrorCode FindReach(const LineSource &source, const Pattern &pattern, const RunsOfPattern &found,
                         Reach *reach)
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)source.rows);
  const Runs     &runs = found.runs;
  Mat             off;
  const PetscInt *columns;
  PetscInt        rbegin, all, begin = 0, end = 0;
  Pattern         outside;
  PetscFunctionBegin;
  PetscCall(MatGetSize(source.rows, &all, nullptr));
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCall(GetOffProcessBlock(source.rows, &off, &columns));
  const PetscInt n = pattern.elements(), first = rbegin / pattern.components;
  PetscCall(RunsAcrossRanks(comm, first, n, found, &begin, &end));
  const auto look = [&](PetscInt d) {
    if (d > largest_half_bandwidth) reach->beyond = true;
    else reach->along = PetscMax(reach->along, d);
  };
  std::vector<std::size_t> run_of(static_cast<std::size_t>(n));
  for (std::size_t run = 0; run < runs.count(); ++run)
    for (PetscInt e = runs.begin[run]; e < runs.begin[run + 1]; ++e)
      run_of[static_cast<std::size_t>(e)] = run;
  pattern.each([&](PetscInt r, PetscInt c) {
    const std::size_t run = run_of[static_cast<std::size_t>(r)];
    const PetscInt    d   = std::abs(c - r);
    if (run != run_of[static_cast<std::size_t>(c)]) return false;
    look(found.wraps ? PetscMin(d, runs.length(run) - d) : d);
    return false;
  });
  if (off) {
    PetscCall(GetHostRows(off, false, &outside.A));
    outside.each([&](PetscInt row, PetscInt column) {
      const PetscInt r = row / pattern.components, c = columns[column] / pattern.components;
      const bool     after = c >= first + n && c < end && r >= runs.begin[runs.count() - 1],
                 before    = c < first && c >= begin && r < runs.begin[1];
      if (after || before) look(std::abs(c - (first + r)));
      return false;
    });
    PetscCall(RestoreHostRows(off, &outside.A));
  }
  // the last two: longest run, and minus the shortest one
  PetscInt most[4] = {reach->along, reach->beyond || found.closes_piece(), 0, PETSC_MIN_INT};
  for (std::size_t run = 0; run < runs.count(); ++run) {
    const PetscInt from = run == 0 ? begin : first + runs.begin[run],
                   to   = run + 1 == runs.count() ? end : first + runs.begin[run + 1];
    most[2] = PetscMax(most[2], to - from), most[3] = PetscMax(most[3], from - to);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPIU_INT, MPI_MAX, comm));
  *reach = {most[0], most[1] != 0, most[2] > 1,
            most[2] > 1 && most[2] < all / pattern.components && most[2] == -most[3]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Stores runs as lines if all entries of every rank are on them. Finds no lines if no band up to 8 has
/// such runs. Collective.
PetscErrorCode WholeRuns(const LineSource &source, Pattern *pattern, const std::vector<Attempt> &attempts,
                         LineMap *map)
{
  std::vector<Stray> strays(attempts.size());
  PetscFunctionBegin;
  // an entry that seems to close a ring of a narrow band may belong to a wider band: all bands are tried
  // before rings that span ranks
  for (bool closings : {false, true}) {
    for (std::size_t a = 0; a < attempts.size(); ++a) {
      RunsOfPattern found;
      if (strays[a].own) continue;
      pattern->components = attempts[a].components;
      PetscCall(TryRuns(source, *pattern, attempts[a].far, true, closings, &found, &strays[a]));
      if (strays[a].row >= 0) continue;
      PetscCall(FromRuns(source, *pattern, found, true, true, map));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  map->why_not = "row " + std::to_string(strays[0].row) + " couples to column " +
                 std::to_string(strays[0].column) + ", so consecutive rows are not lines";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Stores runs as lines, and leaves out entries off the lines. It selects the first runs that tie some rows
/// and hold every entry along them, otherwise the first that tie some rows, otherwise the first of all.
/// Rows that are not a grid, and whose entries are all in one band, are solved as a whole. Collective.
PetscErrorCode LooseRuns(const LineSource &source, Pattern *pattern, const std::vector<Attempt> &attempts,
                         LineMap *map)
{
  RunsOfPattern best;
  PetscInt      components = 0;
  bool          complete = false, ties = false, alike = false;
  PetscFunctionBegin;
  for (const Attempt &attempt : attempts) {
    const bool    blocks = attempt.far == 1; // blocks reach the next element only
    RunsOfPattern found;
    Stray         stray;
    Reach         reach;
    pattern->components = attempt.components;
    PetscCall(TryRuns(source, *pattern, attempt.far, false, false, &found, &stray));
    PetscCall(FindReach(source, *pattern, found, &reach));
    if (!blocks) found.widest = PetscMax(found.far, reach.along);
    const bool tied = reach.ties || blocks, holds = tied && !reach.beyond && reach.along <= found.widest;
    if (components == 0 || holds || (tied && !ties))
      best = found, components = attempt.components, complete = stray.row < 0, ties = tied,
      alike = reach.alike;
    if (holds) break;
  }
  const Attempt last = {components, best.far}; // lines of a grid may be rings that span ranks
  if (!complete) PetscCall(WholeRuns(source, pattern, alike ? std::vector<Attempt>{last} : attempts, map));
  if (!map->directions.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  map->why_not.clear();
  pattern->components = components;
  PetscCall(FromRuns(source, *pattern, best, false, complete, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromPattern(const LineSource &source, const Elements &elements, bool strict, LineMap *map)
{
  const PetscInt       components = elements.components;
  std::vector<Attempt> attempts;
  Pattern              pattern;
  PetscFunctionBegin;
  // blocks reach only the next element. Without blocks the rows may still be a band
  if (elements.coupled && components <= 8) attempts.push_back({components, 1});
  for (PetscInt far : {2, 4, largest_half_bandwidth})
    attempts.push_back({elements.coupled ? 1 : components, far});
  PetscCall(GetHostRows(source.block, false, &pattern.A));
  PetscCall(strict ? WholeRuns(source, &pattern, attempts, map) : LooseRuns(source, &pattern, attempts, map));
  PetscCall(RestoreHostRows(source.block, &pattern.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "format.hpp"
#include "line.hpp"

#include <algorithm>
#include <utility>

namespace ribbon::petsc {

namespace {

constexpr double preferred_by_factor = 4;   ///< rows that couple so much more strongly along another direction prefer it
constexpr double preferred_by_share  = 0.1; ///< a direction that so many of the rows prefer is swept too

/// The first of the places that has lines: the DM, consecutive rows that nothing else couples to, a grid, the largest couplings. Whatever matrix it is has the last.
PetscErrorCode FindAnyLines(PC pc, const LineSource &source, LineMap *map)
{
  Elements    elements;
  std::string why_not;
  PetscFunctionBegin;
  PetscCall(LinesFromDM(pc, source, map));
  if (!map->directions.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  why_not = std::exchange(map->why_not, "");
  PetscCall(GetElements(source, &elements));
  PetscCall(LinesFromPattern(source, elements, true, map));
  if (map->directions.empty()) why_not += ", " + std::exchange(map->why_not, "");
  if (map->directions.empty()) PetscCall(LinesFromGrid(source, elements, map));
  if (map->directions.empty()) why_not += ", " + std::exchange(map->why_not, "");
  if (map->directions.empty()) PetscCall(LinesFromCouplings(source, elements, map));
  map->why_not = why_not;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All directions there are, or those that were asked for in their order, or one error that says why there are none.
PetscErrorCode FindLines(PC pc, const PC_Line *line, const LineSource &source, LineMap *map)
{
  const MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  const std::string name = names_of(line->directions);
  Elements          elements;
  PetscFunctionBegin;
  if (line->directions[0] == PC_LINE_DIRECTION_AUTO) {
    PetscCall(FindAnyLines(pc, source, map));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (line->directions[0] == PC_LINE_DIRECTION_ROWS || line->directions[0] == PC_LINE_DIRECTION_MATRIX) {
    PetscCall(GetElements(source, &elements));
    if (line->directions[0] == PC_LINE_DIRECTION_ROWS) PetscCall(LinesFromPattern(source, elements, false, map));
    else PetscCall(LinesFromCouplings(source, elements, map));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LinesFromDM(pc, source, map));
  if (map->directions.empty()) {
    const std::string no_dm = std::exchange(map->why_not, "");
    PetscCall(GetElements(source, &elements));
    PetscCall(LinesFromGrid(source, elements, map));
    map->why_not = no_dm + ", and " + map->why_not;
  }
  PetscCheck(!map->directions.empty(), comm, PETSC_ERR_SUP, "PC line: -pc_line_direction %s needs a grid, but %s; use auto, rows or matrix", name.c_str(), map->why_not.c_str());
  std::vector<LineDirection> wanted;
  for (PCLineDirection direction : line->directions) {
    const auto d = static_cast<std::size_t>(direction - PC_LINE_DIRECTION_X);
    PetscCheck(d < map->directions.size(), comm, PETSC_ERR_ARG_OUTOFRANGE, "PC line: -pc_line_direction %s: the grid has %d dimension%s", name.c_str(), (int)map->directions.size(),
               map->directions.size() == 1 ? "" : "s");
    wanted.push_back(map->directions[d]);
  }
  map->directions = wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The direction with the largest median strength of coupling over all ranks, ties to the smallest stride; -1 where no row couples.
PetscErrorCode Strongest(MPI_Comm comm, LineOperator &op, Mat block, const LineMap &map, int *strongest, std::string *why)
{
  int best_bin = -1;
  PetscFunctionBegin;
  *strongest = -1;
  *why       = "largest median of sum |a_ij|/|a_ii|:";
  for (std::size_t d = 0; d < map.directions.size(); ++d) {
    std::vector<PetscInt> votes, all(strength_bins, 0);
    PetscCall(op.histogram(block, map.directions[d], &votes));
    PetscCallMPI(MPI_Allreduce(votes.data(), all.data(), strength_bins, MPIU_INT, MPI_SUM, comm));
    const int bin = median_bin(std::vector<std::int64_t>(all.begin(), all.end()));
    *why += format(" %s %.2g", map.directions[d].name.c_str(), bin <= 0 ? 0.0 : strength_of_bin(bin));
    if (bin > best_bin) best_bin = bin, *strongest = static_cast<int>(d);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The direction that most rows prefer to each of those that were chosen, -1 where too few do. Directions that could not be solved along do not stand.
PetscErrorCode Preferred(MPI_Comm comm, PCLineCut cut, LineOperator &op, Mat block, const LineMap &map, const std::vector<LineDirection> &chosen, int *preferred, std::string *why)
{
  PetscInt most = 0, rows = 1;
  PetscFunctionBegin;
  *preferred = -1;
  for (std::size_t d = 0; d < map.directions.size(); ++d) {
    const LineDirection &other = map.directions[d];
    LinePreference       found;
    LineCouplings        couplings;
    const bool           is_chosen = std::any_of(chosen.begin(), chosen.end(), [&](const LineDirection &c) { return c.name == other.name; });
    if (is_chosen || (cut == PC_LINE_CUT_ERROR && other.lines_cut > 0)) continue;
    PetscCall(op.preference(block, chosen, other, preferred_by_factor, &found));
    PetscInt counts[2] = {static_cast<PetscInt>(found.rows), static_cast<PetscInt>(found.preferring)}, too_far;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPIU_INT, MPI_SUM, comm));
    if (counts[1] <= most || static_cast<double>(counts[1]) < preferred_by_share * static_cast<double>(counts[0])) continue;
    PetscCall(op.couplings(block, other, &couplings));
    too_far = couplings.too_far_row >= 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &too_far, 1, MPIU_INT, MPI_MAX, comm));
    if (!too_far) most = counts[1], rows = counts[0], *preferred = static_cast<int>(d);
  }
  if (*preferred >= 0)
    *why += format("; %.0f%% of the rows couple along %s at least %g times as strongly", 100. * static_cast<double>(most) / static_cast<double>(rows), map.directions[static_cast<std::size_t>(*preferred)].name.c_str(),
                   preferred_by_factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ChooseDirections(PC pc, PC_Line *line, LineOperator &op, const LineSource &source, std::vector<LineDirection> *chosen)
{
  const Mat      block = source.block;
  const MPI_Comm comm  = PetscObjectComm((PetscObject)pc);
  LineMap        map;
  int            best;
  PetscFunctionBegin;
  map.coloured = line->ordering == PC_LINE_ORDERING_ZEBRA;
  map.joined   = JoinsPieces(line);
  PetscCall(FindLines(pc, line, source, &map));
  line->source = map.source;
  if (line->directions[0] != PC_LINE_DIRECTION_AUTO || map.directions.size() == 1) {
    line->why = line->directions[0] == PC_LINE_DIRECTION_AUTO ? "the only one" : "asked for";
    if (!map.why_not.empty()) line->why += ": " + map.why_not;
    *chosen = map.directions;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Strongest(comm, op, block, map, &best, &line->why));
  chosen->assign(1, map.directions[static_cast<std::size_t>(PetscMax(best, 0))]);
  while (best >= 0 && chosen->size() < map.directions.size()) {
    PetscCall(Preferred(comm, line->cut, op, block, map, *chosen, &best, &line->why));
    if (best >= 0) chosen->push_back(map.directions[static_cast<std::size_t>(best)]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

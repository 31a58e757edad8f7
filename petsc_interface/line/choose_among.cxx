// SPDX-License-Identifier: BSD-2-Clause
#include "choose_among.hpp"

#include "../support/format.hpp"
#include "couplings_along.hpp"
#include "strengths.hpp"

#include <algorithm>

namespace ribbon::petsc::directions {

namespace {

/// rows prefer another direction if they couple along it by this factor more strongly
constexpr double preferred_by_factor = 4;
constexpr double preferred_by_share  = 0.1; // directions that this fraction of the rows prefers are swept
/// on multigrid levels: rows that couple along one direction by this factor more strongly than along each
/// other direction. At boundaries this factor of isotropic rows is 2
constexpr double dominates_by_factor = 3;
/// a direction is swept on a multigrid level if this fraction of the rows couples so along it
constexpr double dominates_by_share = 0.05;

/// Removes the directions whose lines have one row each from a map, unless all do. `why` names them.
PetscErrorCode LeaveOutOneRow(const LineSource &source, LineMap *map, std::string *why)
{
  std::string more, left;
  PetscFunctionBegin;
  why->clear();
  PetscCall(NameLongLines(source, *map, &more));
  if (more.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  for (const LineDirection &direction : map->directions)
    if (IsOneRow(source, direction)) left += (left.empty() ? "" : ",") + direction.name;
  if (!left.empty()) *why = "; lines along " + left + " have one row each";
  map->directions.erase(std::remove_if(map->directions.begin(), map->directions.end(),
                                       [&](const LineDirection &d) { return IsOneRow(source, d); }),
                        map->directions.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds the direction that most rows prefer to each chosen direction, if enough rows do. Directions whose
/// lines cannot be solved are not candidates.
PetscErrorCode TakePreferred(MPI_Comm comm, PCLineCut cut, LineOperator &op, const LineSource &source,
                             const LineMap &map, std::vector<ChosenDirection> *chosen, bool *taken,
                             std::string *why)
{
  std::int64_t                most = 0, rows = 1;
  ChosenDirection             preferred;
  std::vector<LineDirection>  directions;
  std::vector<LineComparison> comparisons;
  std::vector<LinePreference> found;
  std::vector<std::size_t>    chosen_ones;
  PetscFunctionBegin;
  *taken = false;
  for (const ChosenDirection &c : *chosen)
    chosen_ones.push_back(directions.size()), directions.push_back(c.direction);
  for (const LineDirection &other : map.directions) {
    const bool is_chosen = std::any_of(chosen->begin(), chosen->end(), [&](const ChosenDirection &c) {
      return c.direction.number == other.number;
    });
    if (is_chosen || (cut == PC_LINE_CUT_ERROR && other.lines_cut > 0)) continue;
    comparisons.push_back({directions.size(), chosen_ones});
    directions.push_back(other);
  }
  PetscCall(Compare(comm, op, source, directions, comparisons, preferred_by_factor, &found));
  for (std::size_t c = 0; c < found.size(); ++c) {
    ChosenDirection candidate;
    std::string     refusal;
    if (found[c].preferring <= most || share_of(found[c]) < preferred_by_share) continue;
    candidate.direction = directions[comparisons[c].set];
    PetscCall(LookAlong(op, source, &candidate, &refusal));
    if (refusal.empty())
      most = found[c].preferring, rows = found[c].rows, *taken = true, preferred = candidate;
  }
  if (!*taken) PetscFunctionReturn(PETSC_SUCCESS);
  chosen->push_back(preferred);
  *why += format("; %.0f%% of the rows couple along %s at least %g times as strongly",
                 100. * static_cast<double>(most) / static_cast<double>(rows),
                 preferred.direction.name.c_str(), preferred_by_factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Removes directions with lines that span ranks from equally strong ones, if such lines are an error and
/// other directions remain.
void leave_out_cut(PCLineCut cut, std::vector<LineDirection> *equal)
{
  const auto is_cut = [](const LineDirection &d) { return d.lines_cut > 0; };
  if (cut == PC_LINE_CUT_ERROR && !std::all_of(equal->begin(), equal->end(), is_cut))
    equal->erase(std::remove_if(equal->begin(), equal->end(), is_cut), equal->end());
}

} // namespace

PetscErrorCode DecideOrdering(MPI_Comm comm, bool may_colour, PC_Line *line,
                              std::vector<ChosenDirection> *chosen)
{
  int found[2] = {0, 0}; // unfit, coupled
  PetscFunctionBegin;
  line->ordered = line->ordering == PC_LINE_ORDERING_ZEBRA ? PC_LINE_ORDERING_ZEBRA : PC_LINE_ORDERING_JACOBI;
  if (!may_colour) PetscFunctionReturn(PETSC_SUCCESS);
  for (const ChosenDirection &c : *chosen) {
    found[0] =
      found[0] || c.found.half_bandwidth > 1 || c.direction.colours.size() != 2 || c.direction.element;
    found[1] = found[1] || c.found.across;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_MAX, comm));
  if (found[0] == 0 && found[1] != 0) line->ordered = PC_LINE_ORDERING_ZEBRA;
  else
    for (ChosenDirection &c : *chosen) c.direction.colours.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Directions for zebra ordering on a multigrid level: each direction that couples enough of the rows much
/// more strongly than each other one. Rows that couple equally along several directions are smoothed by
/// lines along any of them, at least as well as by point relaxation. If no direction qualifies, the
/// strongest is chosen, the first of those within 10%. `chosen` is empty if zebra ordering does not suit
/// the directions. Collective.
PetscErrorCode ChooseForLevel(MPI_Comm comm, PC_Line *line, LineOperator &op, const LineSource &source,
                              LineMap *map, std::vector<ChosenDirection> *chosen)
{
  std::vector<LineDirection>  taken, equal;
  std::vector<LineComparison> comparisons;
  std::vector<LinePreference> found;
  std::string                 shares;
  PetscFunctionBegin;
  for (LineDirection &direction : map->directions) PetscCall(SumOutside(source, &direction));
  for (std::size_t d = 0; d < map->directions.size(); ++d) {
    comparisons.push_back({d, {}});
    for (std::size_t other = 0; other < map->directions.size(); ++other)
      if (other != d) comparisons[d].others.push_back(other);
  }
  PetscCall(Compare(comm, op, source, map->directions, comparisons, dominates_by_factor, &found));
  for (std::size_t d = 0; d < map->directions.size(); ++d) {
    const LineDirection &direction = map->directions[d];
    const double         share     = share_of(found[d]);
    shares += format("%s %s %.0f%%", shares.empty() ? "" : ",", direction.name.c_str(), 100 * share);
    if (share >= dominates_by_share) taken.push_back(direction);
  }
  line->why = format("rows that couple along it at least %g times as strongly as along each other direction:",
                     dominates_by_factor) +
              shares;
  if (taken.empty()) {
    std::string medians;
    PetscCall(Strongest(comm, op, source, map, &equal, &medians));
    leave_out_cut(line->cut, &equal);
    if (equal.empty()) PetscFunctionReturn(PETSC_SUCCESS); // no row couples
    taken.push_back(equal[0]);
    line->why +=
      "; " + medians + (equal.size() > 1 ? "; within 10% of the strongest: the first of them" : "");
  } else leave_out_cut(line->cut, &taken);
  for (const LineDirection &direction : taken) {
    ChosenDirection candidate;
    std::string     refusal;
    candidate.direction = direction;
    PetscCall(LookAlong(op, source, &candidate, &refusal));
    if (refusal.empty()) chosen->push_back(candidate);
    else line->why += "; " + refusal;
  }
  PetscCall(DecideOrdering(comm, true, line, chosen));
  if (line->ordered != PC_LINE_ORDERING_ZEBRA) chosen->clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Keeps of equally strong directions those along which rows couple, if there are any. Rows without a
/// diagonal have no strength of coupling to compare. Collective.
PetscErrorCode LeaveOutUncoupled(MPI_Comm comm, std::vector<ChosenDirection> *able)
{
  std::vector<ChosenDirection> coupled;
  PetscFunctionBegin;
  for (const ChosenDirection &c : *able) {
    int reach = PetscMax(c.found.half_bandwidth, static_cast<int>(c.found.component_row >= 0));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &reach, 1, MPI_INT, MPI_MAX, comm));
    if (reach > 0) coupled.push_back(c);
  }
  if (!coupled.empty()) *able = coupled;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ChooseAmong(MPI_Comm comm, bool for_level, PC_Line *line, LineOperator &op,
                           const LineSource &source, LineMap *map, std::vector<ChosenDirection> *chosen,
                           std::vector<std::string> *refusals)
{
  bool                         more = false;
  std::vector<ChosenDirection> able;
  std::string                  one_row;
  PetscFunctionBegin;
  PetscCall(LeaveOutOneRow(source, map, &one_row));
  if (for_level && map->directions.size() > 1) PetscCall(ChooseForLevel(comm, line, op, source, map, chosen));
  if (!chosen->empty()) {
    line->why += one_row;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  while (chosen->empty() && !map->directions.empty()) {
    std::vector<LineDirection> equal = {map->directions[0]};
    line->why                        = "the only one";
    more                             = map->directions.size() > 1;
    if (more) PetscCall(Strongest(comm, op, source, map, &equal, &line->why));
    if (equal.empty()) equal = {map->directions[0]}, more = false; // no row couples
    leave_out_cut(line->cut, &equal);
    for (const LineDirection &direction : equal) {
      ChosenDirection candidate;
      std::string     refusal;
      candidate.direction = direction;
      PetscCall(LookAlong(op, source, &candidate, &refusal));
      if (refusal.empty()) {
        able.push_back(candidate);
        continue;
      }
      refusals->push_back(refusal);
      map->directions.erase(
        std::find_if(map->directions.begin(), map->directions.end(),
                     [&](const LineDirection &d) { return d.number == direction.number; }));
    }
    if (able.size() > 1) PetscCall(LeaveOutUncoupled(comm, &able));
    if (!able.empty()) chosen->push_back(able[0]);
  }
  while (more && chosen->size() < map->directions.size())
    PetscCall(TakePreferred(comm, line->cut, op, source, *map, chosen, &more, &line->why));
  line->equal = chosen->size() == 1 && able.size() > 1; // no direction is preferred by the rows
  if (line->equal) *chosen = able, line->why += "; within 10% of the strongest: all of them are swept";
  if (!chosen->empty()) line->why += one_row;
  PetscCall(DecideOrdering(comm, for_level, line, chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc::directions

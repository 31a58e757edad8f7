// SPDX-License-Identifier: BSD-2-Clause
// The directions that a PC line sweeps: requested directions, or those of auto.
#include "choose_among.hpp"
#include "couplings_along.hpp"
#include "pc.hpp"

#include "../lines/finders.hpp"

#include <utility>

namespace ribbon::petsc {

using namespace directions;

namespace {

/// The requested directions in their order, or one error that says why there are none.
PetscErrorCode FindLines(PC pc, const PC_Line *line, const LineSource &source, LineMap *map)
{
  const MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  const std::string name = names_of(line->directions);
  Elements          elements;
  std::string       more; // directions whose lines have more than one row
  PetscFunctionBegin;
  if (line->directions[0] == PC_LINE_DIRECTION_ROWS || line->directions[0] == PC_LINE_DIRECTION_MATRIX) {
    PetscCall(GetElements(source, &elements));
    if (line->directions[0] == PC_LINE_DIRECTION_ROWS)
      PetscCall(LinesFromPattern(source, elements, false, map));
    else PetscCall(LinesFromCouplings(source, elements, map));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LinesFromDM(pc, source, map));
  if (map->directions.empty()) {
    const std::string no_dm = std::exchange(map->why_not, "");
    PetscCall(GetElements(source, &elements));
    PetscCall(LinesFromGrid(source, elements, map));
    map->why_not = map->why_not.empty() ? no_dm : no_dm + ", and " + map->why_not;
  }
  PetscCheck(!map->directions.empty(), comm, PETSC_ERR_SUP,
             "PC line: -pc_line_direction %s needs a grid, but %s; use auto, rows or matrix", name.c_str(),
             map->why_not.c_str());
  PetscCall(NameLongLines(source, *map, &more));
  std::vector<LineDirection> wanted;
  for (PCLineDirection direction : line->directions) {
    const auto d = static_cast<std::size_t>(direction - PC_LINE_DIRECTION_X);
    PetscCheck(d < map->directions.size(), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "PC line: -pc_line_direction %s: the grid has %d dimension%s", name.c_str(),
               (int)map->directions.size(), map->directions.size() == 1 ? "" : "s");
    PetscCheck(
      !IsOneRow(source, map->directions[d]) || more.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE,
      "PC line: -pc_line_direction %s: lines along %s have one row each; the grid has lines of more along %s",
      name.c_str(), map->directions[d].name.c_str(), more.c_str());
    wanted.push_back(map->directions[d]);
  }
  map->directions = wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Directions of the first source (finders.hpp) whose lines can be solved.
PetscErrorCode ChooseAny(PC pc, PC_Line *line, LineOperator &op, const LineSource &source,
                         std::vector<ChosenDirection> *chosen)
{
  const MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  ElementsOfSource elements(source);
  std::string      before; // why earlier sources found no lines
  PetscBool        keeps;
  PetscFunctionBegin;
  PetscCall(LineRest::takes(pc->pmat, &keeps));
  for (const LineFinder &finder : line_finders()) {
    LineMap                  map;
    std::vector<std::string> refusals;
    const bool               may_colour = keeps && MayColour(pc, line) && finder.grid;
    map.coloured                        = line->ordering == PC_LINE_ORDERING_ZEBRA || may_colour;
    map.joined                          = JoinsPieces(line);
    map.across_ranks                    = map.joined && !line->compare;
    map.strength                        = static_cast<CouplingStrength>(line->strength);
    map.search                          = static_cast<LineSearch>(line->search);
    map.label                           = line->label;
    PetscCall(finder.find(pc, source, elements, &map));
    for (std::size_t d = 0; d < map.directions.size(); ++d) map.directions[d].number = d;
    line->source  = map.source;
    line->settled = map.directions.size() == 1, line->may_colour = may_colour;
    line->candidates.reset();
    if (!line->settled) PetscCallCXX(line->candidates = std::make_shared<const LineMap>(map));
    PetscCall(ChooseAmong(comm, may_colour, line, op, source, &map, chosen, &refusals));
    PetscCheck(!chosen->empty() || (!map.required && &finder != &line_finders().back()), comm, PETSC_ERR_SUP,
               "PC line: %s", refusals[0].c_str());
    if (!chosen->empty() && map.directions.size() == 1 && !before.empty()) line->why += ": " + before;
    if (chosen->empty() && refusals.empty()) refusals.push_back(map.why_not);
    for (const std::string &refusal : refusals) {
      std::string &to = chosen->empty() ? before : line->why;
      to += (to.empty() ? "" : ", ") + refusal;
    }
    if (!chosen->empty()) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int ChosenDirection::block(const LineSource &source) const
{
  return source.factors.coupled ? source.factors.p : blocks ? direction.components : 1;
}

PetscErrorCode ChooseBySample(PC pc, const PC_Line *line, LineOperator &op, const LineSource &source,
                              SampledChoice *choice)
{
  PC_Line                      other; // receives the choice
  LineMap                      map = *line->candidates;
  std::vector<ChosenDirection> chosen;
  std::vector<std::string>     refusals;
  PetscFunctionBegin;
  other.cut = line->cut, other.ordering = line->ordering, other.composition = line->composition;
  op.look_at(2048);
  PetscCall(ChooseAmong(PetscObjectComm((PetscObject)pc), line->may_colour, &other, op, source, &map, &chosen,
                        &refusals));
  op.look_at(0);
  choice->equal = other.equal, choice->ordered = other.ordered;
  for (const ChosenDirection &c : chosen) choice->directions.push_back(c.direction.number);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChooseDirections(PC pc, PC_Line *line, LineOperator &op, const LineSource &source,
                                std::vector<ChosenDirection> *chosen)
{
  LineMap     map;
  std::string refusal;
  PetscBool   keeps;
  PetscFunctionBegin;
  PetscCall(LineRest::takes(pc->pmat, &keeps));
  if (line->directions[0] == PC_LINE_DIRECTION_AUTO) {
    PetscCall(ChooseAny(pc, line, op, source, chosen));
    // sums for every row, which only the choice needs
    for (ChosenDirection &c : *chosen) c.direction.outside.reset();
    line->sample = {};
    if (line->candidates) PetscCall(ChooseBySample(pc, line, op, source, &line->sample));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(line->label.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "PC line: -pc_line_label %s and -pc_line_direction %s: lines of a label need direction auto",
             line->label.c_str(), names_of(line->directions).c_str());
  line->settled         = true, line->candidates.reset();
  const bool may_colour = keeps && MayColour(pc, line) && line->directions[0] >= PC_LINE_DIRECTION_X &&
                          line->directions[0] <= PC_LINE_DIRECTION_Z;
  map.coloured     = line->ordering == PC_LINE_ORDERING_ZEBRA || may_colour;
  map.joined       = JoinsPieces(line);
  map.across_ranks = map.joined && !line->compare;
  map.strength     = static_cast<CouplingStrength>(line->strength);
  map.search       = static_cast<LineSearch>(line->search);
  PetscCall(FindLines(pc, line, source, &map));
  line->source = map.source;
  line->why    = "asked for" + (map.why_not.empty() ? "" : ": " + map.why_not);
  for (const LineDirection &direction : map.directions) {
    chosen->emplace_back();
    chosen->back().direction = direction;
    PetscCall(LookAlong(op, source, &chosen->back(), &refusal));
    PetscCheck(refusal.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "PC line: %s",
               refusal.c_str());
    if (IsOneRow(source, direction)) line->why += "; lines along " + direction.name + " have one row each";
  }
  PetscCall(DecideOrdering(PetscObjectComm((PetscObject)pc), may_colour, line, chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

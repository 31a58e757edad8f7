// SPDX-License-Identifier: BSD-2-Clause
#include "../support/format.hpp"
#include "pc.hpp"

#include "../lines/finders.hpp"
#include "../lines/given_bands.hpp"
#include "../support/session.hpp"

#include <algorithm>
#include <utility>

namespace ribbon::petsc {

namespace {

/// rows that couple so much more strongly along another direction prefer it
constexpr double preferred_by_factor = 4;
constexpr double preferred_by_share  = 0.1; ///< a direction that so many of the rows prefer is swept too
/// on multigrid levels: rows that couple so much more strongly along one direction than along each other one;
/// at boundaries isotropic rows have 2
constexpr double dominates_by_factor = 3;
/// a direction along which so many of the rows do is swept there
constexpr double dominates_by_share = 0.05;
/// directions whose strength is at least this times the largest are equally strong: all of them are swept
constexpr double as_strong_as = 0.9;

/// Whether every line of a direction, over all ranks, is one element.
bool IsOneRow(const LineSource &source, const LineDirection &direction)
{
  const PetscInt rows = source.rows->rmap->N;
  return rows > 0 && direction.lines_all == rows / direction.components;
}

/// Directions whose lines have more than one row, with commas.
PetscErrorCode NameLongLines(const LineSource &source, const LineMap &map, std::string *names)
{
  PetscFunctionBegin;
  names->clear();
  for (const LineDirection &direction : map.directions)
    if (!IsOneRow(source, direction)) *names += (names->empty() ? "" : ",") + direction.name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the directions out of a map whose lines have one row each, unless all have; `why` says which.
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

/// The directions that were asked for in their order, or one error that says why there are none.
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

/// Finds the chain of the ranks that hold pieces of its lines, and the entries in columns of
/// other ranks, once. Collective.
PetscErrorCode LookOutside(const LineSource &source, LineDirection *direction)
{
  OutsideCouplings found;
  PetscInt         rbegin;
  PetscFunctionBegin;
  if (direction->couplings) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCall(MakeChain(PetscObjectComm((PetscObject)source.rows), direction->place,
                      static_cast<PetscInt>(direction->lines.rows), rbegin, &direction->chain));
  if (!source.given) PetscCall(ReadOutside(source, *direction, &found));
  PetscCallCXX(direction->couplings = std::make_shared<const OutsideCouplings>(std::move(found)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What the entries along a direction say, and why lines along it cannot be solved: a sentence of all ranks,
/// empty where they can. Collective.
PetscErrorCode LookAlong(LineOperator &op, const LineSource &source, ChosenDirection *chosen,
                         std::string *refusal)
{
  LineDirection &direction = chosen->direction;
  LineCouplings &found     = chosen->found;
  const char    *along     = direction.name.c_str();
  PetscInt       rbegin;
  int            unused = 0;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCall(LookOutside(source, &direction));
  const OutsideCouplings &outside = *direction.couplings;
  if (source.given) {
    found          = source.given->couplings();
    found.periodic = found.periodic && (direction.wrap || direction.place.joinable);
    found.across   = direction.lines_cut > 0 && !direction.place.joinable;
  } else PetscCall(op.couplings(source.block, direction, &found));
  for (auto [row, other] : {std::pair{&found.component_row, outside.component_row},
                            {&found.too_far_row, outside.too_far_row},
                            {&found.not_finite, outside.not_finite}})
    if (*row < 0) *row = other;
  int most[3] = {std::max(found.half_bandwidth, outside.half_bandwidth), found.periodic || outside.periodic,
                 found.component_row >= 0};
  // one matrix, of pieces
  if (direction.place.joinable)
    PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)source.rows)));
  found.half_bandwidth = most[0], found.periodic = most[1] != 0,
  found.across   = found.across || outside.across;
  chosen->blocks = most[2] != 0;
  if (direction.chain) chosen->outside = {direction.couplings, &outside.entries};
  const auto global = [rbegin](std::int64_t row) { return static_cast<long long>(rbegin + row); };
  const int  block  = chosen->block(source);
  refusal->clear();
  if (found.no_diagonal >= 0 && !source.kronecker)
    *refusal = format("row %lld stores no diagonal entry", global(found.no_diagonal));
  else if (found.too_far_row >= 0 && !direction.partial)
    *refusal = format(
      "row %lld couples to a row more than %d away on its line along %s; wider bands are not supported",
      global(found.too_far_row), largest_half_bandwidth, along);
  else if (block > 8 && (found.component_row >= 0 || source.factors.coupled))
    *refusal = format("row %lld couples to another of the %d components of its line along %s; blocks reach "
                      "up to 8 components",
                      global(found.component_row), block, along);
  else if (block > 1 && found.half_bandwidth > 1)
    *refusal = format("%d components couple with each other, and elements with others %d away on their line "
                      "along %s; block lines reach the next element only",
                      block, found.half_bandwidth, along);
  PetscCall(AgreeOnSentence(PetscObjectComm((PetscObject)source.rows), refusal, &unused));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Has a direction know what its rows couple by with rows of other ranks, unless pieces of its lines are
/// solved each for itself. Collective.
PetscErrorCode SumOutside(const LineSource &source, LineDirection *direction)
{
  PetscInt rows;
  PetscFunctionBegin;
  if (!direction->place.joinable) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LookOutside(source, direction));
  if (direction->couplings->entries.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(source.rows, &rows, nullptr));
  std::vector<double> sums(static_cast<std::size_t>(rows), 0);
  for (const OutsideEntry &entry : direction->couplings->entries)
    sums[static_cast<std::size_t>(entry.row)] += static_cast<double>(magnitude(entry.value));
  PetscCallCXX(direction->outside = std::make_shared<const std::vector<double>>(std::move(sums)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The directions with the largest median strength of coupling over all ranks, and those that are as strong;
/// none where no row couples. Which ones does not depend on their order.
PetscErrorCode Strongest(MPI_Comm comm, LineOperator &op, const LineSource &source, LineMap *map,
                         std::vector<LineDirection> *strongest, std::string *why)
{
  std::vector<int>                       bins;
  std::vector<std::vector<std::int64_t>> votes;
  std::vector<std::int64_t>              all;
  PetscFunctionBegin;
  strongest->clear();
  for (LineDirection &direction : map->directions) PetscCall(SumOutside(source, &direction));
  PetscCall(op.histograms(source.block, map->directions, &votes));
  for (const auto &v : votes) all.insert(all.end(), v.begin(), v.end());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<PetscMPIInt>(all.size()), MPI_INT64_T,
                             MPI_SUM, comm));
  *why = "largest median of sum |a_ij|/|a_ii|:";
  for (std::size_t d = 0; d < map->directions.size(); ++d) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(d) * strength_bins;
    const int  bin   = median_bin({begin, begin + strength_bins});
    *why += format(" %s %.2g", map->directions[d].name.c_str(), bin <= 0 ? 0.0 : strength_of_bin(bin));
    bins.push_back(bin);
  }
  const int best = *std::max_element(bins.begin(), bins.end());
  for (std::size_t d = 0; d < bins.size(); ++d)
    if (best >= 0 && (bins[d] == best ||
                      (bins[d] > 0 && strength_of_bin(bins[d]) >= as_strong_as * strength_of_bin(best))))
      strongest->push_back(map->directions[d]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Counts of each comparison, summed over all ranks. Collective.
PetscErrorCode Compare(MPI_Comm comm, LineOperator &op, const LineSource &source,
                       const std::vector<LineDirection>  &directions,
                       const std::vector<LineComparison> &comparisons, double factor,
                       std::vector<LinePreference> *found)
{
  std::vector<std::int64_t> counts;
  PetscFunctionBegin;
  found->clear();
  if (comparisons.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(op.preferences(source.block, directions, comparisons, factor, found));
  for (const LinePreference &f : *found) counts.insert(counts.end(), {f.rows, f.preferring});
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<PetscMPIInt>(counts.size()),
                             MPI_INT64_T, MPI_SUM, comm));
  for (std::size_t c = 0; c < found->size(); ++c) (*found)[c] = {counts[2 * c], counts[2 * c + 1]};
  PetscFunctionReturn(PETSC_SUCCESS);
}
double share_of(const LinePreference &found)
{
  return found.rows > 0 ? static_cast<double>(found.preferring) / static_cast<double>(found.rows) : 0;
}

/// Takes the direction, too, that most rows prefer to each of those that were chosen, where enough of them
/// do. Directions that cannot be solved along do not stand.
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
      return c.direction.name == other.name;
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

/// Of directions that are equally strong those without lines that the partition cuts, where these are
/// an error and others remain.
void leave_out_cut(PCLineCut cut, std::vector<LineDirection> *equal)
{
  const auto is_cut = [](const LineDirection &d) { return d.lines_cut > 0; };
  if (cut == PC_LINE_CUT_ERROR && !std::all_of(equal->begin(), equal->end(), is_cut))
    equal->erase(std::remove_if(equal->begin(), equal->end(), is_cut), equal->end());
}

/// What auto stands for as an ordering, now that the directions are known: zebra on multigrid levels where
/// every direction has tridiagonal lines that lie in the block itself, of two colours, and something
/// couples across. Collective.
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

/// Directions for zebra ordering on a multigrid level: each one that couples enough of the rows much more
/// strongly than each other one. Rows that couple alike along several of them are smoothed by lines along any
/// as well as by point relaxation (or better). So where there is none: the strongest, the first of those
/// within 10%. None where zebra ordering does not suit them. Collective.
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

/// Of directions that are equally strong those along which rows couple, where there are any: rows without a
/// diagonal have no strength of coupling that could tell. Collective.
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

/// The strongest directions of a map that can be solved along, and others that many rows prefer; `refusals`
/// says why those are left out that cannot. Collective.
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
      map->directions.erase(std::find_if(map->directions.begin(), map->directions.end(),
                                         [&](const LineDirection &d) { return d.name == direction.name; }));
    }
    if (able.size() > 1) PetscCall(LeaveOutUncoupled(comm, &able));
    if (!able.empty()) chosen->push_back(able[0]);
  }
  while (more && chosen->size() < map->directions.size())
    PetscCall(TakePreferred(comm, line->cut, op, source, *map, chosen, &more, &line->why));
  line->equal = chosen->size() == 1 && able.size() > 1; // the rows themselves prefer none
  if (line->equal) *chosen = able, line->why += "; within 10% of the strongest: all of them are swept";
  if (!chosen->empty()) line->why += one_row;
  PetscCall(DecideOrdering(comm, for_level, line, chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Directions of the first source (finders.hpp) whose lines can be solved.
PetscErrorCode ChooseAny(PC pc, PC_Line *line, LineOperator &op, const LineSource &source,
                         std::vector<ChosenDirection> *chosen)
{
  const MPI_Comm   comm = PetscObjectComm((PetscObject)pc);
  ElementsOfSource elements(source);
  std::string      before; // why earlier sources had none
  PetscBool        keeps;
  PetscFunctionBegin;
  PetscCall(LineRest::takes(pc->pmat, &keeps));
  for (const LineFinder &finder : line_finders()) {
    LineMap                  map;
    std::vector<std::string> refusals;
    const bool               may_colour = keeps && MayColour(pc, line) && finder.grid;
    map.coloured                        = line->ordering == PC_LINE_ORDERING_ZEBRA || may_colour;
    map.joined                          = JoinsPieces(line);
    PetscCall(finder.find(pc, source, elements, &map));
    line->source  = map.source;
    line->settled = map.directions.size() == 1, line->may_colour = may_colour;
    line->candidates.reset();
    if (!line->settled) PetscCallCXX(line->candidates = std::make_shared<const LineMap>(map));
    PetscCall(ChooseAmong(comm, may_colour, line, op, source, &map, chosen, &refusals));
    PetscCheck(!chosen->empty() || &finder != &line_finders().back(), comm, PETSC_ERR_SUP, "PC line: %s",
               refusals[0].c_str());
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
                              std::string *choice)
{
  PC_Line                      other; // what is chosen is written there
  LineMap                      map = *line->candidates;
  std::vector<ChosenDirection> chosen;
  std::vector<std::string>     refusals;
  PetscFunctionBegin;
  other.cut = line->cut, other.ordering = line->ordering, other.composition = line->composition;
  op.look_at(2048);
  PetscCall(ChooseAmong(PetscObjectComm((PetscObject)pc), line->may_colour, &other, op, source, &map, &chosen,
                        &refusals));
  op.look_at(0);
  *choice = other.equal ? "equal:" : other.ordered == PC_LINE_ORDERING_ZEBRA ? "zebra:" : "";
  for (const ChosenDirection &c : chosen) *choice += " " + c.direction.name;
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
    // a number for every row, which served the choice
    for (ChosenDirection &c : *chosen) c.direction.outside.reset();
    line->sample.clear();
    if (line->candidates) PetscCall(ChooseBySample(pc, line, op, source, &line->sample));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  line->settled         = true, line->candidates.reset();
  const bool may_colour = keeps && MayColour(pc, line) && line->directions[0] >= PC_LINE_DIRECTION_X &&
                          line->directions[0] <= PC_LINE_DIRECTION_Z;
  map.coloured = line->ordering == PC_LINE_ORDERING_ZEBRA || may_colour;
  map.joined   = JoinsPieces(line);
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

// SPDX-License-Identifier: BSD-2-Clause
// Lines that consist of any elements: their band, and their direction.
#include "add_lines.hpp"
#include "by_rounds.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace ribbon::petsc {

int ReachOfLines::half_bandwidth() const
{
  double all = 0, left_out = weight[most + 1];
  int    h = std::max(1, largest);
  if (largest <= most) return h;
  for (double w : weight) all += w;
  for (h = most; h > 1 && left_out + weight[h] <= weight[most + 1] + little * all; --h) left_out += weight[h];
  return h;
}

double ReachOfLines::left_out() const
{
  double sum = 0;
  for (int d = half_bandwidth() + 1; d <= most + 1; ++d) sum += weight[d];
  return sum;
}

bool ReachOfLines::may_fold(PetscInt block) const
{
  return largest > most && (components == 0 || block <= largest_in_band);
}

bool ReachOfLines::needs_rows(PetscInt block) const
{
  return components != 0 && block > 1 && block <= largest_in_band && half_bandwidth() > 1;
}

int ReachOfLines::widest(PetscInt block) const
{
  if (needs_rows(block)) return std::min(most, (half_bandwidth() + 1) * static_cast<int>(block) - 1);
  return components != 0 && block > 1 ? 1 : half_bandwidth();
}

PetscErrorCode SomeIsOnDevice(const LineSource &source, bool *is)
{
  int some;
  PetscFunctionBegin;
  PetscCall(BlockIsOnDevice(source.block, is)); // false without rows
  some = *is;
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)source.rows)));
  *is = some != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumOverRanks(MPI_Comm comm, ReachOfLines *reach)
{
  int largest[2] = {reach->largest, reach->components};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, reach->weight, ReachOfLines::most + 2, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_INT, MPI_MAX, comm));
  reach->largest = largest[0], reach->components = largest[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

constexpr int most = ReachOfLines::most;

/// The line of an element, and its position along it.
struct PlaceOfElement {
  PetscInt line, along;
};

std::vector<PlaceOfElement> places_of(const LinesOfGraph &lines)
{
  std::vector<PlaceOfElement> places(lines.order.size());
  constexpr std::int64_t      tile = 16; // neighbouring lines have neighbouring elements
  for (std::int64_t first = 0; first < lines.lines(); first += tile) {
    const std::int64_t end = std::min(first + tile, lines.lines());
    bool               on  = true;
    for (std::int64_t k = 0; on; ++k) {
      on = false;
      for (std::int64_t l = first; l < end; ++l) {
        const std::int64_t at = lines.begin[static_cast<std::size_t>(l)] + k;
        if (at >= lines.begin[static_cast<std::size_t>(l) + 1]) continue;
        on                                                                          = true;
        places[static_cast<std::size_t>(lines.order[static_cast<std::size_t>(at)])] = {
          static_cast<PetscInt>(l), static_cast<PetscInt>(k)};
      }
    }
  }
  return places;
}

/// Whether the sum of the entries of a row is zero up to rounding, as line_couplings() judges it.
bool is_zero_sum(Scalar sum, double largest)
{
  return static_cast<double>(magnitude(sum)) <= 100 * static_cast<double>(unit_roundoff<Scalar>()) * largest;
}

/// Reads all rows once. `known` gets what line_couplings() would find, for the rows of this rank, if elements
/// have one row, all entries are finite, and no zero is outside of the band. Else it gets nothing.
ReachOfLines reach_of(const HostRows &A, const LinesOfGraph &lines, PetscInt components,
                      std::optional<LineCouplings> *known)
{
  const std::vector<PlaceOfElement> places = places_of(lines);
  ReachOfLines                      reach;
  LineCouplings                     found;
  bool                              finite = true;
  for (PetscInt row = 0; row < static_cast<PetscInt>(A.rows); ++row) {
    double               largest = 0, along = 0, weight[most + 2] = {};
    Scalar               sum(0); // of the entries on the line
    int                  farthest = 0;
    bool                 diagonal = false;
    const PlaceOfElement own      = places[static_cast<std::size_t>(row / components)];
    for (PetscInt e = A.row_begin[row]; e < A.row_begin[row + 1]; ++e) {
      const double         size  = static_cast<double>(magnitude(A.value[e]));
      const PlaceOfElement other = places[static_cast<std::size_t>(A.column[e] / components)];
      largest                    = std::max(largest, size);
      finite                     = finite && is_finite(size);
      if (own.line != other.line) {
        found.across = found.across || size != 0; // NaN couples, as in line_couplings()
        continue;
      }
      const auto distance = static_cast<int>(std::min<PetscInt>(std::abs(own.along - other.along), most + 1));
      sum += A.value[e];
      along    = std::max(along, size);
      diagonal = diagonal || A.column[e] == row;
      found.entries += distance > 0;
      found.stored_bandwidth = std::max(found.stored_bandwidth, distance);
      if (size == 0) continue;
      if ((A.column[e] - row) % components != 0) reach.components = 1;
      if (distance == 0) continue;
      reach.largest = std::max(reach.largest, distance);
      if (is_finite(size)) weight[distance] += size, farthest = std::max(farthest, distance);
    }
    for (int d = 1; d <= farthest; ++d)
      if (is_finite(weight[d] / largest)) reach.weight[d] += weight[d] / largest;
    if (!diagonal && found.no_diagonal < 0) found.no_diagonal = row;
    found.zero_sums = found.zero_sums || is_zero_sum(sum, along);
  }
  found.half_bandwidth = reach.largest;
  const bool in_band   = found.stored_bandwidth <= std::max(1, found.half_bandwidth); // zeros may be outside
  if (components == 1 && finite && in_band) *known = found;
  return reach;
}

/// Lines of the rows of the elements.
LinesOfGraph by_rows(const LinesOfGraph &lines, PetscInt components)
{
  LinesOfGraph rows;
  rows.order.reserve(lines.order.size() * static_cast<std::size_t>(components));
  for (std::int64_t element : lines.order)
    for (PetscInt c = 0; c < components; ++c) rows.order.push_back(element * components + c);
  for (std::int64_t begin : lines.begin) rows.begin.push_back(begin * components);
  return rows;
}

/// The largest entry of the rows of element `from` in columns of element `to`, relative to the largest entry of its
/// row outside of element `from`.
double relative_coupling(const HostRows &A, PetscInt components, std::int64_t from, std::int64_t to)
{
  double found = 0;
  for (std::int64_t row = from * components; row < (from + 1) * components; ++row) {
    double largest = 0, there = 0;
    for (PetscInt e = A.row_begin[row]; e < A.row_begin[row + 1]; ++e) {
      const double       size    = static_cast<double>(magnitude(A.value[e]));
      const std::int64_t element = A.column[e] / components;
      if (element == from || !is_finite(size)) continue;
      largest = std::max(largest, size);
      if (element == to) there = std::max(there, size);
    }
    if (largest > 0) found = std::max(found, there / largest);
  }
  return found;
}

/// Lines whose ends couple strongly, rings, in the order 0, n - 1, 1, n - 2, ... Neighbours on a ring are at most 2
/// apart in this order, so that a band holds the ring.
/// @param count  grows by the rings and by their elements
LinesOfGraph with_folded_rings(const HostRows &A, LinesOfGraph lines, PetscInt components, PetscInt *count)
{
  std::vector<std::int64_t> ring;
  for (std::int64_t l = 0; l < lines.lines(); ++l) {
    const auto begin = lines.order.begin() + lines.begin[static_cast<std::size_t>(l)],
               end   = lines.order.begin() + lines.begin[static_cast<std::size_t>(l) + 1];
    if (end - begin < 3) continue;
    const double there = relative_coupling(A, components, *begin, end[-1]),
                 back  = relative_coupling(A, components, end[-1], *begin);
    if ((there + back) / 2 < ReachOfLines::closes) continue;
    count[0] += 1, count[1] += static_cast<PetscInt>(end - begin);
    ring.assign(begin, end);
    for (std::size_t k = 0; k < ring.size(); ++k)
      begin[static_cast<std::ptrdiff_t>(k)] = ring[k % 2 == 0 ? k / 2 : ring.size() - 1 - k / 2];
  }
  return lines;
}

/// Folds rings if they have more than a little of all elements, and if bands then hold more. Collective.
PetscErrorCode FoldRings(MPI_Comm comm, const HostRows &A, PetscInt components, LinesOfGraph *lines,
                         ReachOfLines *reach, LineDirection *direction)
{
  PetscInt     count[3] = {0, 0, static_cast<PetscInt>(lines->order.size())}; // rings, their elements, all
  LinesOfGraph folded;
  ReachOfLines of_folded;
  std::optional<LineCouplings> known;
  PetscFunctionBegin;
  PetscCallCXX(folded = with_folded_rings(A, *lines, components, count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 3, MPIU_INT, MPI_SUM, comm));
  if (static_cast<double>(count[1]) <= ReachOfLines::little * static_cast<double>(count[2]))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(of_folded = reach_of(A, folded, components, &known));
  PetscCall(SumOverRanks(comm, &of_folded));
  if (of_folded.left_out() >= reach->left_out()) PetscFunctionReturn(PETSC_SUCCESS);
  *lines = std::move(folded), *reach = of_folded;
  direction->rings = count[0], direction->known = known;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ColourLines(MPI_Comm comm, const HostRows &A, const LinesOfGraph &lines, PetscInt components,
                           bool empty, LineDirection *direction)
{
  std::vector<int> colour_of;
  int              colours = 0;
  PetscFunctionBegin;
  PetscCallCXX(colour_of = colour_lines(A, lines, components));
  for (int colour : colour_of) colours = std::max(colours, colour + 1);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &colours, 1, MPI_INT, MPI_MAX, comm));
  if (colours > 1)
    PetscCallCXX(direction->colours =
                   packed_by_colour(lines, colour_of, colours, direction->lines.rows, empty));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddDirection(MPI_Comm comm, const char *name, std::int64_t lines, LineDirection direction,
                            LineMap *map)
{
  PetscFunctionBegin;
  direction.name    = name;
  direction.partial = direction.lumped = true;
  direction.lines_all                  = static_cast<PetscInt>(lines);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &direction.lines_all, 1, MPIU_INT, MPI_SUM, comm));
  map->directions.push_back(std::move(direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddLines(const LineSource &source, const char *name, LinesOfGraph lines, PetscInt components,
                        LineMap *map, std::shared_ptr<const MovedRows> moved)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)source.rows);
  HostRows       rows;
  LineDirection  direction;
  ReachOfLines   reach;
  const Mat      block     = moved ? moved->block : source.block;
  bool           on_device = false;
  PetscFunctionBegin;
  if (!moved) PetscCall(SomeIsOnDevice(source, &on_device));
  if (on_device) {
    PetscCall(AddLinesThere(source, name, lines, static_cast<int>(components), map));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetHostRows(block, true, &rows));
  PetscCallCXX(reach = reach_of(rows, lines, components, &direction.known));
  PetscCall(SumOverRanks(comm, &reach));
  if (reach.may_fold(components)) PetscCall(FoldRings(comm, rows, components, &lines, &reach, &direction));
  direction.widest = reach.widest(components);
  if (reach.largest > most) direction.known.reset(); // some entries are left out
  if (reach.needs_rows(components)) PetscCallCXX(lines = by_rows(lines, std::exchange(components, 1)));
  PetscCallCXX(static_cast<LineLayout &>(direction) = packed(lines));
  if (map->coloured) PetscCall(ColourLines(comm, rows, lines, components, moved != nullptr, &direction));
  PetscCall(RestoreHostRows(block, &rows));
  direction.components = static_cast<int>(components);
  direction.moved      = std::move(moved);
  PetscCall(AddDirection(comm, name, lines.lines(), std::move(direction), map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

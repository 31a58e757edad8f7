// SPDX-License-Identifier: BSD-2-Clause
// A grid without a DM. In natural numbering every element is tied to the next, except at the end of a grid
// line. Every grid line is tied to the next, except at the end of a plane. A rank holds a slab of whole
// lines, or begins and ends inside a line. Or it holds a box with a numbering that starts on this rank, as
// PETSc numbers grids.
#include "line_map.hpp"
#include "pattern.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

/// Coordinates of the local elements: element e has index shift + e in a box that begins at a plane.
struct Grid {
  std::int64_t box[3]     = {0, 0, 0}; ///< of the rank, with its first and last plane in full
  std::int64_t shift      = 0;         ///< places in the first plane before the first element
  std::int64_t count      = 0;         ///< elements
  int          dimensions = 2;
  bool         is_full() const { return count == box[0] * box[1] * box[2]; }
};

/// Whether runs end at the multiples of `period`, counted from thing `first` of all ranks. `exactly`: and
/// only there.
bool ends_at_multiples(const std::vector<char> &tied, bool tied_before, PetscInt things, PetscInt first,
                       PetscInt period, bool exactly)
{
  const auto fits = [exactly](bool is_tied, bool at_multiple) {
    return at_multiple ? !is_tied : is_tied || !exactly;
  };
  bool all = things == 0 || first == 0 || fits(tied_before, first % period == 0);
  for (PetscInt e = 0; e + 1 < things; ++e)
    all = all && fits(tied[static_cast<std::size_t>(e)] != 0, (first + e + 1) % period == 0);
  return all;
}

/// Whether an entry of either rank ties the first thing of this rank to the thing before it, on another
/// rank. A thing consists of `size` consecutive rows. Collective.
PetscErrorCode TiedBefore(Mat rows, PetscInt size, bool *tied)
{
  Mat             off;
  const PetscInt *columns;
  PetscInt        rbegin, rend;
  Pattern         pattern;
  Borders         borders;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(rows, &rbegin, &rend));
  PetscCall(GetOffProcessBlock(rows, &off, &columns));
  if (off) {
    PetscCall(GetHostRows(off, false, &pattern.A));
    pattern.each([&](PetscInt r, PetscInt c) {
      const PetscInt thing = (rbegin + r) / size, other = columns[c] / size;
      borders.before = borders.before || (thing == rbegin / size && other == thing - 1),
      borders.after  = borders.after || (other == rend / size && thing == other - 1);
      return false;
    });
    PetscCall(RestoreHostRows(off, &pattern.A));
  }
  PetscCall(AgreeOnBorders(PetscObjectComm((PetscObject)rows), rend > rbegin, &borders));
  *tied = borders.before;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The things along the next dimension: elements, or lines of elements.
struct Things {
  std::vector<char> tied; ///< to the next one
  bool              tied_before = false;
  /// things of this rank, number of the first of them, things of all ranks
  PetscInt count = 0, first = 0, all = 0;
};

/// Length of runs of consecutive things. If runs end at multiples of one length on all ranks, this is the
/// length (natural). Otherwise each rank has a length, if all runs of every rank agree (boxes). 0: neither.
/// Things without ties, such as rows of boundary conditions, belong to runs if a quarter of the things
/// couple with the thing at the distance of a run. coupled(d) counts the things that couple at distance d.
/// Collective.
template <class F>
PetscErrorCode FindPeriod(MPI_Comm comm, const Things &t, bool may_be_natural, const F &coupled,
                          PetscInt *period, bool *natural)
{
  const Runs runs    = runs_of(t.tied, t.count);
  PetscInt   longest = 0;
  PetscFunctionBegin;
  for (std::size_t r = 0; r < runs.count(); ++r) longest = PetscMax(longest, runs.length(r));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPIU_INT, MPI_MAX, comm));
  *natural = false;
  for (PetscInt attempt = 0; attempt <= 3 && !*natural && longest > 0; ++attempt) {
    const bool     exactly = attempt == 0;
    const PetscInt length  = longest + PetscMax(attempt - 1, 0);
    PetscInt       found   = exactly ? 0 : coupled(length);
    int            fits    = may_be_natural && (exactly || t.all % length == 0) &&
               ends_at_multiples(t.tied, t.tied_before, t.count, t.first, length, exactly);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_LAND, comm));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPIU_INT, MPI_SUM, comm));
    *natural = fits && (exactly || 4 * found >= t.all);
    *period  = length;
  }
  if (*natural) PetscFunctionReturn(PETSC_SUCCESS);
  int boxes = t.count == 0 || runs.common_length() > 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &boxes, 1, MPI_INT, MPI_LAND, comm));
  *period = boxes ? PetscMax(runs.common_length(), 1) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lines of a grid along dimension d, whose first and last planes may be incomplete, in the order of their
/// first elements.
LinesOfGraph LinesAlong(const Grid &g, int d)
{
  const std::int64_t nx = g.box[0], plane = nx * g.box[1];
  const auto         line_of = [&](std::int64_t e) {
    const std::int64_t k = g.shift + e, z = k / plane;
    return d == 0 ? k / nx : d == 1 ? z * nx + k % nx : k % plane;
  };
  const std::int64_t        lines = d == 0 ? g.box[1] * g.box[2] : d == 1 ? nx * g.box[2] : plane;
  LinesOfGraph              found;
  std::vector<std::int64_t> at(static_cast<std::size_t>(lines) + 1, 0);
  for (std::int64_t e = 0; e < g.count; ++e) ++at[static_cast<std::size_t>(line_of(e)) + 1];
  for (std::size_t l = 0; l + 1 < at.size(); ++l) at[l + 1] += at[l];
  found.order.resize(static_cast<std::size_t>(g.count));
  found.begin = at;
  for (std::int64_t e = 0; e < g.count; ++e)
    found.order[static_cast<std::size_t>(at[static_cast<std::size_t>(line_of(e))]++)] = e;
  // remove lines without elements
  found.begin.erase(std::unique(found.begin.begin(), found.begin.end()), found.begin.end());
  return found;
}

/// Parity of the sum of the other two global indices of each line. The box begins at `begin`.
std::vector<int> Parities(const Grid &g, const LinesOfGraph &lines, const PetscInt (&begin)[3], int d)
{
  std::vector<int> parity;
  for (std::int64_t l = 0; l < lines.lines(); ++l) {
    const std::int64_t k = g.shift +
                           lines.order[static_cast<std::size_t>(lines.begin[static_cast<std::size_t>(l)])],
                       at[3] = {k % g.box[0], k / g.box[0] % g.box[1], k / (g.box[0] * g.box[1])};
    std::int64_t sum         = 0;
    for (int other = 0; other < 3; ++other) sum += other == d ? 0 : begin[other] + at[other];
    parity.push_back(static_cast<int>(sum % 2));
  }
  return parity;
}

/// Counts the lines along d that span ranks, with natural numbering of the elements. Collective.
PetscErrorCode CountCutLines(MPI_Comm comm, const Grid &g, PetscInt first, int d, PetscInt *cut)
{
  // a rank without elements has no border
  const bool begins = g.count > 0 && first > 0, last = d == g.dimensions - 1;
  // lines along d end at multiples of step
  const std::int64_t step = d == 0 ? g.box[0] : g.box[0] * g.box[1], away = begins ? first % step : 0;
  PetscInt           sum = 0;
  PetscFunctionBegin;
  if (begins)
    sum = last || (d == 0 && away > 0)
            ? 1
            : static_cast<PetscInt>(std::min(away, std::min<std::int64_t>(step - away, g.box[0])));
  PetscCallMPI(MPI_Allreduce(&sum, cut, 1, MPIU_INT, MPI_SUM, comm));
  if (last) *cut = *cut == 0 ? 0 : static_cast<PetscInt>(d == 1 ? g.box[0] : step);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How the rows of a rank number the elements of a grid.
struct Numbering {
  PetscInt nx = 0, ny = 0;                   ///< elements of a line, lines of a plane; 0: not found
  PetscInt elements = 0, first = 0, all = 0; ///< of this rank; global number of its first; of all ranks
  PetscInt x0 = 0, lines = 0; ///< where it begins on its first line; lines that it has a part of
  bool     natural = false, natural_planes = false; ///< whether ranks divide lines, and planes, in this order
};

PetscErrorCode FindNumbering(const LineSource &source, PetscInt components, Numbering *n)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)source.rows);
  Pattern        pattern{{}, components};
  PetscInt       rbegin;
  Things         things, grid_lines;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCall(MatGetSize(source.rows, &n->all, nullptr));
  PetscCall(GetHostRows(source.block, false, &pattern.A));
  n->elements = pattern.elements(), n->first = rbegin / components, n->all /= components;
  // ties of things of `length` elements that begin with element -x0, and the number of things that couple
  // at distance d
  const auto look = [&](Things &t, PetscInt length, PetscInt x) {
    const auto thing = [length, x](PetscInt e) { return length == 1 ? x + e : (x + e) / length; };
    t.tied.assign(static_cast<std::size_t>(t.count) + 1, 0);
    pattern.each([&](PetscInt r, PetscInt c) {
      const PetscInt l = thing(r), m = thing(c);
      if (std::abs(l - m) == 1) t.tied[static_cast<std::size_t>(std::min(l, m))] = 1;
      return false;
    });
    return [&, thing](PetscInt d) {
      std::vector<char> has(static_cast<std::size_t>(t.count) + 1, 0);
      pattern.each([&](PetscInt r, PetscInt c) {
        if (thing(c) - thing(r) == d) has[static_cast<std::size_t>(thing(r))] = 1;
        return false;
      });
      return static_cast<PetscInt>(std::count(has.begin(), has.end(), 1));
    };
  };
  things.count = n->elements, things.first = n->first, things.all = n->all;
  PetscCall(TiedBefore(source.rows, components, &things.tied_before));
  PetscCall(FindPeriod(comm, things, true, look(things, 1, 0), &n->nx, &n->natural));
  const PetscInt nx = n->nx;
  n->x0 = n->natural ? n->first % nx : 0, n->lines = nx > 0 ? (n->x0 + n->elements + nx - 1) / nx : 0;
  if (nx > 0) { // on all ranks
    grid_lines.count = n->lines, grid_lines.first = n->natural ? n->first / nx : 0,
    grid_lines.all = n->all / nx;
    PetscCall(TiedBefore(source.rows, components * nx, &grid_lines.tied_before));
    PetscCall(
      FindPeriod(comm, grid_lines, n->natural, look(grid_lines, nx, n->x0), &n->ny, &n->natural_planes));
  }
  PetscCall(RestoreHostRows(source.block, &pattern.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Makes planes of ranks that divide lines in natural order, but not planes, equal: they have as many lines on
/// all ranks with elements, or there are none. Collective.
PetscErrorCode AgreeOnPlanes(MPI_Comm comm, Numbering *n)
{
  PetscInt most[2] = {n->elements > 0 ? n->ny : 0, n->elements > 0 ? -n->ny : -PETSC_MAX_INT};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPIU_INT, MPI_MAX, comm));
  if (n->natural && !n->natural_planes) n->ny = most[0] == -most[1] ? most[0] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The grid of a rank in this numbering, and the planes of all ranks: 1 in two dimensions. Collective.
PetscErrorCode MakeGrid(MPI_Comm comm, const Numbering &n, Grid *g, PetscInt *planes)
{
  // without planes of one size, all elements are one plane
  int one_plane = n.ny == 0 || (n.natural_planes && (n.all / n.nx) % n.ny != 0) ||
                  (n.natural && !n.natural_planes && n.x0 + n.elements != n.nx * n.lines);
  PetscFunctionBegin;
  *planes = n.ny == 0 ? 1 : n.natural_planes ? n.all / n.nx / n.ny : n.lines / n.ny;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &one_plane, 1, MPI_INT, MPI_LOR, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, planes, 1, MPIU_INT, MPI_MAX, comm));
  if (one_plane) *planes = 1;
  g->dimensions         = *planes > 1 ? 3 : 2;
  const std::int64_t y0 = *planes > 1 && n.natural_planes ? (n.first / n.nx) % n.ny : 0;
  g->box[0]             = n.nx;
  g->box[1]             = *planes > 1 ? n.ny : n.lines;
  g->box[2]             = *planes > 1 ? (y0 + n.lines + n.ny - 1) / n.ny : 1;
  g->shift              = n.x0 + y0 * n.nx;
  g->count              = n.elements;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Direction d of the grid. Collective.
/// @param slabs  ranks hold whole lines along all dimensions except the last
PetscErrorCode DescribeDirection(MPI_Comm comm, const Numbering &n, const Grid &g, PetscInt planes, int d,
                                 bool slabs, bool coloured, LineDirection *direction)
{
  // colours by global numbers if these are known
  const PetscInt     begin[3] = {0, n.natural && planes == 1 ? n.first / n.nx : 0,
                             n.natural && n.natural_planes && planes > 1 ? n.first / n.nx / n.ny : 0};
  const std::int64_t length   = d == 0   ? n.nx
                                : d == 1 ? (planes > 1 ? n.ny : n.all / n.nx)
                                         : n.all / n.nx / PetscMax(n.ny, 1);
  LinesOfGraph       lines_along;
  PetscMPIInt        size, rank;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  direction->name      = std::string(1, "xyz"[d]);
  direction->processes = size;
  if (g.is_full()) {
    direction->lines = LineSet::box(g.box, d);
    direction->wrap  = size == 1 || d < g.dimensions - 1;
  } else {
    PetscCallCXX(lines_along = LinesAlong(g, d));
    PetscCallCXX(static_cast<LineLayout &>(*direction) = packed(lines_along));
    direction->partial = true;
  }
  if (n.natural) {
    direction->lines_all = static_cast<PetscInt>(n.all / PetscMax(length, 1));
    PetscCall(CountCutLines(comm, g, n.first, d, &direction->lines_cut));
  } else { // the numbering does not show which
    direction->lines_all =
      static_cast<PetscInt>(g.is_full() ? direction->lines.lines() : lines_along.lines());
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &direction->lines_all, 1, MPIU_INT, MPI_SUM, comm));
    direction->lines_cut = size > 1 ? direction->lines_all : 0;
  }
  if (slabs && d == g.dimensions - 1 && direction->lines_cut > 0)
    direction->place = {true, true, n.elements > 0 ? 0 : MPI_UNDEFINED, rank};
  if (!coloured || direction->lines_all <= 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (!g.is_full())
    PetscCallCXX(direction->colours = packed_by_colour(lines_along, Parities(g, lines_along, begin, d), 2,
                                                       direction->lines.rows));
  else
    for (int colour = 0; colour < 2; ++colour)
      direction->colours.push_back(every_second_line(g.box, begin, d, colour));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromGrid(const LineSource &source, const Elements &element, LineMap *map)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)source.rows);
  Numbering      n;
  Grid           g;
  PetscInt       planes;
  PetscMPIInt    size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(FindNumbering(source, element.components, &n));
  // a grid has lines of more than one element, and more than one of them
  int is_grid = n.nx > 1 && n.lines != 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &is_grid, 1, MPI_INT, MPI_LOR, comm));
  if (n.nx == 0 || !is_grid || (n.natural && n.all % n.nx != 0)) {
    map->why_not = "its numbering shows no grid";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AgreeOnPlanes(comm, &n));
  PetscCall(MakeGrid(comm, n, &g, &planes));
  const bool whole_planes = n.natural && (planes == 1 || n.natural_planes);
  int        slabs        = map->joined && whole_planes && g.is_full();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &slabs, 1, MPI_INT, MPI_LAND, comm));
  for (int d = 0; d < g.dimensions; ++d) {
    LineDirection direction;
    direction.components = static_cast<int>(element.components);
    PetscCall(DescribeDirection(comm, n, g, planes, d, slabs, map->coloured, &direction));
    map->directions.push_back(direction);
  }
  if (size == 1 || whole_planes)
    map->natural[0] = n.nx, map->natural[1] = planes > 1 ? n.ny : n.all / n.nx,
    map->natural[2] = planes > 1 ? n.all / n.nx / n.ny : 1;
  map->source = "matrix pattern, a grid of " + std::to_string(n.nx) + " x " +
                (planes > 1 ? std::to_string(n.ny) + " x " : "") + "... elements";
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

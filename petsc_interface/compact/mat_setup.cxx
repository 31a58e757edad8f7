// SPDX-License-Identifier: BSD-2-Clause
#include "mat.hpp"

#include "../lines/layout.hpp"
#include "../support/format.hpp"
#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

/// The grid along the direction of the lines, and the local box.
struct CompactGrid {
  PetscInt       all[3] = {1, 1, 1}, local[3] = {1, 1, 1}, begin[3] = {0, 0, 0}, dof = 1;
  PetscInt       dim = 3, processes[3] = {1, 1, 1};
  DMBoundaryType boundary[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
};

/// The name of an option with the prefix of the matrix.
std::string option_of(Mat A, const char *name)
{
  return petsc::option_of((PetscObject)A, (std::string("mat_compact_") + name).c_str());
}

PetscErrorCode ReadGrid(Mat A, DM dm, CompactGrid *grid)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  Mat_Compact   *mat  = CompactOf(A);
  PetscMPIInt    ranks;
  PetscFunctionBegin;
  if (dm) {
    PetscCheck(dm->setupcalled, comm, PETSC_ERR_ARG_WRONGSTATE,
               "Mat compact: its DMDA is not set up: call DMSetUp() before MatSetUp()");
    PetscCall(DMDAGetInfo(dm, &grid->dim, &grid->all[0], &grid->all[1], &grid->all[2], &grid->processes[0],
                          &grid->processes[1], &grid->processes[2], &grid->dof, nullptr, &grid->boundary[0],
                          &grid->boundary[1], &grid->boundary[2], nullptr));
    PetscCall(DMDAGetCorners(dm, &grid->begin[0], &grid->begin[1], &grid->begin[2], &grid->local[0],
                             &grid->local[1], &grid->local[2]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetDM(A, &dm));
  PetscCheck(!dm, comm, PETSC_ERR_ARG_WRONG, "Mat compact: its DM is of type %s: call MatSetDM() with a DMDA",
             ((PetscObject)dm)->type_name);
  PetscCheck(mat->given.grid[0] > 0, comm, PETSC_ERR_ARG_WRONGSTATE,
             "Mat compact: there is no grid: call MatSetDM() with a DMDA, or MatCompactSetGrid()");
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCheck(
    ranks == 1, comm, PETSC_ERR_SUP,
    "Mat compact: a grid of MatCompactSetGrid() is for one rank, and there are %d: call MatSetDM() with "
    "a DMDA",
    static_cast<int>(ranks));
  for (int d = 0; d < 3; ++d) {
    grid->all[d] = grid->local[d] = mat->given.grid[d];
    grid->boundary[d]             = mat->periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  }
  grid->dof = mat->given.grid[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The DM of the matrix, if it is a DMDA.
PetscErrorCode GetDMDA(Mat A, DM *dm)
{
  PetscBool is_da = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatGetDM(A, dm));
  if (*dm) PetscCall(PetscObjectTypeCompare((PetscObject)*dm, DMDA, &is_da));
  if (!is_da) *dm = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The distance of the points along direction d from the coordinates of a DMDA; 0: it has none. Raises an
/// error if they are not uniform. Collective.
PetscErrorCode SpacingOfCoordinates(Mat A, DM dm, const CompactGrid &grid, int d, PetscReal *h)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  const PetscScalar *x;
  Vec                coordinates;
  PetscInt           width;
  PetscReal          ends[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}; // least x, least -x
  const PetscInt    *local   = grid.local;
  PetscFunctionBegin;
  *h = 0;
  PetscCall(DMGetCoordinates(dm, &coordinates));
  if (!coordinates || grid.all[d] < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinateDim(dm, &width));
  const PetscInt points = local[0] * local[1] * local[2], stride = d == 0   ? 1
                                                                   : d == 1 ? local[0]
                                                                            : local[0] * local[1];
  PetscCall(VecGetArrayRead(coordinates, &x));
  const auto at = [&](PetscInt p) { return PetscRealPart(x[p * width + d]); };
  for (PetscInt p = 0; p < points; ++p)
    ends[0] = PetscMin(ends[0], at(p)), ends[1] = PetscMin(ends[1], -at(p));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_REAL, MPIU_MIN, comm));
  const PetscReal step  = (-ends[1] - ends[0]) / static_cast<PetscReal>(grid.all[d] - 1);
  const PetscReal close = static_cast<PetscReal>(1e-8) * step +
                          10 * PETSC_MACHINE_EPSILON * PetscMax(PetscAbsReal(ends[0]), PetscAbsReal(ends[1]));
  int uniform = step > 0;
  for (PetscInt p = 0; p < points && uniform; ++p) {
    const PetscInt i = grid.begin[d] + p / stride % local[d];
    uniform          = PetscAbsReal(at(p) - ends[0] - static_cast<PetscReal>(i) * step) <= close;
  }
  PetscCall(VecRestoreArrayRead(coordinates, &x));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &uniform, 1, MPI_INT, MPI_MIN, comm));
  PetscCheck(uniform, comm, PETSC_ERR_ARG_WRONG,
             "Mat compact: the coordinates of the DMDA along %s are not uniform and increasing: call "
             "MatCompactSetMetric(), or give the spacing with %s",
             MatCompactDirections[d], option_of(A, "spacing").c_str());
  *h = step;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The version of the coordinates; zeros: the DMDA has none.
PetscErrorCode VersionOfCoordinates(DM dm, ObjectVersion *version)
{
  Vec coordinates;
  PetscFunctionBegin;
  *version = {};
  PetscCall(DMGetCoordinates(dm, &coordinates));
  if (!coordinates) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)coordinates, &version->id));
  PetscCall(PetscObjectStateGet((PetscObject)coordinates, &version->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the last set-up read this DMDA and the coordinates that it has now.
PetscErrorCode IsUpToDate(Mat A, DM dm, bool *yes)
{
  const Mat_Compact *mat = CompactOf(A);
  ObjectVersion      now;
  PetscObjectId      id = 0;
  PetscFunctionBegin;
  if (dm) PetscCall(PetscObjectGetId((PetscObject)dm, &id));
  *yes = mat->ready && dm == mat->dm && id == mat->dm_id;
  if (!*yes || !mat->follows_coordinates()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VersionOfCoordinates(dm, &now));
  *yes = !(now != mat->coordinates);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The scheme of the options.
PetscErrorCode MakeScheme(Mat A, bool periodic, CompactScheme<Scalar> *scheme)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  Mat_Compact   *mat  = CompactOf(A);
  CompactChoice  choice;
  std::string    why;
  auto           of = NoCompactScheme::Of::choice;
  PetscFunctionBegin;
  choice.derivative = static_cast<int>(mat->derivative), choice.order = static_cast<int>(mat->order);
  choice.ends = static_cast<int>(mat->ends), choice.filter = static_cast<double>(mat->filter);
  choice.staggered = static_cast<Staggered>(mat->staggered), choice.periodic = periodic;
  choice.spacing = static_cast<double>(mat->used);
  try {
    *scheme = compact_scheme<Scalar>(choice);
  } catch (const NoCompactScheme &e) {
    why = e.why, of = e.of;
  }
  PetscCheck(of != NoCompactScheme::Of::spacing, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Mat compact: %s: change %s, or the coordinates of the DMDA", why.c_str(),
             option_of(A, "spacing").c_str());
  PetscCheck(why.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE, "Mat compact: %s, with %s %d, %s %d and %s %s",
             why.c_str(), option_of(A, "derivative").c_str(), choice.derivative,
             option_of(A, "order").c_str(), choice.order, option_of(A, "staggered").c_str(),
             MatCompactStaggereds[mat->staggered]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

StencilRows<Scalar> rows_of(const GivenRows &given)
{
  const auto          length = 2 * given.width + 1;
  StencilRows<Scalar> rows;
  const auto          split = [length](const std::vector<Scalar> &entries) {
    std::vector<std::vector<Scalar>> all;
    for (auto row = entries.begin(); row != entries.end(); row += length) all.emplace_back(row, row + length);
    return all;
  };
  rows.lower = rows.upper = given.width;
  rows.interior = given.interior, rows.first = split(given.first), rows.last = split(given.last);
  return rows;
}

/// The scheme of the application.
PetscErrorCode TakeStencil(Mat A, bool periodic, CompactScheme<Scalar> *scheme)
{
  const Mat_Compact *mat  = CompactOf(A);
  const auto         ends = std::max(mat->given.A.ends(), mat->given.B.ends());
  PetscFunctionBegin;
  PetscCheck(!periodic || ends == 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "MatCompactSetStencil: ends is %" PetscInt_FMT
             ", and the lines along %s are periodic: ends is 0",
             ends, MatCompactDirections[mat->direction]);
  scheme->A = rows_of(mat->given.A), scheme->B = rows_of(mat->given.B), scheme->periodic = periodic;
  const int width    = std::max(scheme->A.lower, scheme->B.lower);
  scheme->least_rows = periodic ? 2 * width + 1 : std::max<std::int64_t>(1, 2 * ends);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckLines(Mat A, const CompactGrid &grid, int d)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  const Mat_Compact *mat  = CompactOf(A);
  const auto         rows = static_cast<long long>(mat->request.rows);
  PetscInt           own, columns;
  std::string        wrong, needs = "the stencil";
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &own, &columns));
  const PetscInt points = grid.local[0] * grid.local[1] * grid.local[2];
  if (own != columns || own != points * grid.dof)
    wrong =
      format("Mat compact: a rank has %lld rows and %lld columns of the matrix, and %lld points with dof "
             "%lld of the grid",
             static_cast<long long>(own), static_cast<long long>(columns), static_cast<long long>(points),
             static_cast<long long>(grid.dof));
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_SIZ, wrong));
  if (!mat->given.has_stencil())
    needs = option_of(A, "order") + format(" %d", static_cast<int>(mat->order)) +
            (mat->request.scheme.periodic || mat->derivative == 0
               ? ""
               : " with " + option_of(A, "ends") + format(" %d", static_cast<int>(mat->ends)));
  PetscCheck(rows >= mat->request.scheme.least_rows, comm, PETSC_ERR_ARG_SIZ,
             "Mat compact: lines of %lld rows along %s: %s needs at least %lld", rows,
             MatCompactDirections[d], needs.c_str(), static_cast<long long>(mat->request.scheme.least_rows));
  if (mat->given.metric.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(static_cast<long long>(mat->given.metric.size()) == rows, comm, PETSC_ERR_ARG_SIZ,
             "MatCompactSetMetric: n is %lld, and lines along %s have %lld rows",
             static_cast<long long>(mat->given.metric.size()), MatCompactDirections[d], rows);
  PetscCheck(mat->derivative == 1 || mat->given.has_stencil(), comm, PETSC_ERR_ARG_INCOMP,
             "MatCompactSetMetric: a metric scales first derivatives, and %s is %" PetscInt_FMT ": 1",
             option_of(A, "derivative").c_str(), mat->derivative);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The lines of this rank, and the ranks that hold the same lines.
PetscErrorCode PlaceLines(Mat A, const CompactGrid &grid, int d)
{
  Mat_Compact       *mat    = CompactOf(A);
  const std::int64_t box[3] = {grid.local[0], grid.local[1], grid.local[2]};
  PetscMPIInt        rank;
  ChainPlace         place;
  PetscFunctionBegin;
  // a full box and its components always make one set
  mat->request.lines = split_components(LineSet::box(box, d), static_cast<int>(grid.dof)).front();
  mat->request.chain.reset();
  if (grid.processes[d] == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank)); // numbered as grid points, x first
  const PetscInt apart = d == 0   ? 1
                         : d == 1 ? grid.processes[0]
                                  : grid.processes[0] * grid.processes[1],
                 along = rank / apart % grid.processes[d];
  place = {true, grid.boundary[d] == DM_BOUNDARY_PERIODIC, static_cast<PetscMPIInt>(rank - along * apart),
           static_cast<PetscMPIInt>(along)};
  PetscCall(MakeChain(PetscObjectComm((PetscObject)A), place, grid.local[d], 0, &mat->request.chain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode GetCompactSizes(Mat A, PetscInt (*local)[3], PetscInt (*all)[3], PetscInt *dof)
{
  DM          dm;
  CompactGrid grid;
  PetscFunctionBegin;
  *dof = 0;
  PetscCall(GetDMDA(A, &dm));
  if (!dm && CompactOf(A)->given.grid[0] == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ReadGrid(A, dm, &grid));
  std::copy_n(grid.local, 3, *local);
  std::copy_n(grid.all, 3, *all);
  *dof = grid.dof;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The distance of the points: of the option, of the coordinates, or 1. Collective.
static PetscErrorCode FindSpacing(Mat A, const CompactGrid &grid, int d)
{
  Mat_Compact *mat = CompactOf(A);
  PetscFunctionBegin;
  mat->used = mat->spacing;
  if (mat->follows_coordinates()) {
    PetscCall(VersionOfCoordinates(mat->dm, &mat->coordinates));
    PetscCall(SpacingOfCoordinates(A, mat->dm, grid, d, &mat->used));
  }
  if (mat->used == 0) mat->used = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetUpCompact(Mat A)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  Mat_Compact   *mat  = CompactOf(A);
  const int      d    = static_cast<int>(mat->direction);
  bool           done = false;
  DM             dm;
  CompactGrid    grid;
  PetscFunctionBegin;
  PetscCall(GetDMDA(A, &dm));
  PetscCall(IsUpToDate(A, dm, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(EnsureKokkos());
  for (auto &lines : mat->lines) lines.reset();
  mat->dm = dm, mat->dm_id = 0, mat->ready = false;
  if (dm) PetscCall(PetscObjectGetId((PetscObject)dm, &mat->dm_id));
  PetscCall(ReadGrid(A, dm, &grid));
  PetscCheck(d<grid.dim, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "Mat compact: %s %s, and the DMDA has %" PetscInt_FMT " dimension%s",
               option_of(A, "direction").c_str(), MatCompactDirections[d], grid.dim, grid.dim> 1
               ? "s (x, y)"
               : " (x)");
  const DMBoundaryType ends = grid.boundary[d];
  PetscCheck(ends == DM_BOUNDARY_PERIODIC || ends == DM_BOUNDARY_NONE || ends == DM_BOUNDARY_GHOSTED, comm,
             PETSC_ERR_SUP, "Mat compact: the boundary of the DMDA along %s is %s: periodic, none or ghosted",
             MatCompactDirections[d], DMBoundaryTypes[ends]);
  const bool periodic = ends == DM_BOUNDARY_PERIODIC;
  PetscCall(FindSpacing(A, grid, d));
  mat->request.rows   = grid.all[d];
  mat->request.metric = mat->given.metric, mat->request.transport = mat->transport;
  if (mat->given.has_stencil()) PetscCall(TakeStencil(A, periodic, &mat->request.scheme));
  else PetscCall(MakeScheme(A, periodic, &mat->request.scheme));
  PetscCall(CheckLines(A, grid, d));
  PetscCall(PlaceLines(A, grid, d));
  mat->ready = true;
  // DMCreateMatrix() has replaced the view by one in natural ordering, which needs entries
  if (A->ops->viewnative) A->ops->view = A->ops->viewnative;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

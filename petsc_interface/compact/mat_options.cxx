// SPDX-License-Identifier: BSD-2-Clause
#include "../support/options.hpp"
#include "mat.hpp"

const char *const MatCompactDirections[] = {"x", "y", "z", "MatCompactDirection", "MAT_COMPACT_", nullptr};
const char *const MatCompactStaggereds[] = {
  "none", "forward", "backward", "MatCompactStaggered", "MAT_COMPACT_STAGGERED_", nullptr};

namespace ribbon::petsc {

namespace {

/// For options of a Mat on which its set-up depends.
void PrepareAgain(Mat A)
{
  CompactOf(A)->ready = false;
  (void)PetscObjectStateIncrease((PetscObject)A);
}

template <auto member>
constexpr auto kept = stored<Mat, member, PrepareAgain>;

const char *NotADerivative(PetscInt derivative)
{
  return derivative >= 0 && derivative <= 2 ? nullptr : "is not 0, 1 or 2";
}
const char *NotAnOrder(PetscInt order)
{
  return order == 4 || order == 6 || order == 8 || order == 10 ? nullptr : "is not 4, 6, 8 or 10";
}
const char *NotAnEnd(PetscInt order)
{
  return order == 3 || order == 4 ? nullptr : "is not 3 or 4";
}
const char *NotAFilter(PetscReal a)
{
  return a >= 0 && a < static_cast<PetscReal>(0.5) ? nullptr : "is not in [0, 1/2)";
}
const char *NotASpacing(PetscReal h)
{
  return h >= 0 && PetscIsNormalReal(h + 1) ? nullptr : "is negative, or no number";
}

constexpr auto mat_compact_options = std::make_tuple(
  Option("-mat_compact_direction", "Direction of the lines", "MatCompactSetDirection",
         kept<&Mat_Compact::direction>, MatCompactDirections),
  Option("-mat_compact_derivative", "1 or 2; 0: an interpolation if staggered, otherwise a filter",
         "MatCompactSetDerivative", kept<&Mat_Compact::derivative>, NotADerivative),
  Option("-mat_compact_order", "4, 6, 8 or 10; 6 of staggered schemes and filters", "MatCompactSetOrder",
         kept<&Mat_Compact::order>, NotAnOrder),
  Option("-mat_compact_ends", "Order of the first and last rows of open lines, 3 or 4", "MatCompactSetEnds",
         kept<&Mat_Compact::ends>, NotAnEnd),
  Option("-mat_compact_filter", "Parameter of a filter, in [0, 1/2)", "MatCompactSetFilter",
         kept<&Mat_Compact::filter>, NotAFilter),
  Option("-mat_compact_staggered", "Places of values and results", "MatCompactSetStaggered",
         kept<&Mat_Compact::staggered>, MatCompactStaggereds),
  Option("-mat_compact_spacing", "Distance of the points; 0: that of the DMDA's coordinates, or 1",
         "MatCompactSetSpacing", kept<&Mat_Compact::spacing>, NotASpacing),
  Option("-mat_compact_periodic", "Lines of a grid without a DMDA are periodic", "MatCompactSetPeriodic",
         kept<&Mat_Compact::periodic>, NotABool));

PetscErrorCode SetGrid(Mat A, const PetscInt grid[4])
{
  static const char *const names[] = {"nx", "ny", "nz", "dof"};
  PetscInt64               n       = 1;
  PetscFunctionBegin;
  for (int d = 0; d < 4; ++d)
    PetscCheck(grid[d] > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
               "MatCompactSetGrid: %s is %" PetscInt_FMT ": at least 1", names[d], grid[d]);
  std::copy_n(grid, 4, CompactOf(A)->grid);
  if (A->rmap->n < 0 && A->rmap->N < 0) {
    PetscInt rows;
    for (int d = 0; d < 4; ++d) n *= grid[d];
    PetscCall(PetscIntCast(n, &rows));
    PetscCall(MatSetSizes(A, rows, rows, rows, rows));
  }
  PrepareAgain(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetGrid(Mat A, const PetscInt **grid)
{
  PetscFunctionBegin;
  *grid = CompactOf(A)->grid;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetMetric(Mat A, PetscInt n, const PetscReal values[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i)
    PetscCheck(values[i] != 0 && !PetscIsInfOrNanReal(values[i]), PetscObjectComm((PetscObject)A),
               PETSC_ERR_ARG_OUTOFRANGE,
               "MatCompactSetMetric: value %" PetscInt_FMT " is %g: finite, not zero", i,
               static_cast<double>(values[i]));
  PetscCallCXX(CompactOf(A)->metric.assign(values, values + n));
  PrepareAgain(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetMetric(Mat A, PetscInt *n, const PetscReal **values)
{
  const auto &metric = CompactOf(A)->metric;
  PetscFunctionBegin;
  if (n) *n = static_cast<PetscInt>(metric.size());
  if (values) *values = metric.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyRows(Mat A, const char *name, const MatCompactRows *from, GivenRows *to)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscFunctionBegin;
  PetscCheck(from->width >= 0 && from->width <= 8, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "MatCompactSetStencil: %s has the width %" PetscInt_FMT " (0 to 8)", name, from->width);
  PetscCheck(from->interior && from->ends >= 0 && (from->ends == 0 || (from->first && from->last)), comm,
             PETSC_ERR_ARG_NULL,
             "MatCompactSetStencil: %s has no interior row, or no array of its %" PetscInt_FMT " end rows",
             name, from->ends);
  const auto copy = [from](const PetscScalar *entries, PetscInt rows) {
    const auto *begin = reinterpret_cast<const Scalar *>(entries);
    return std::vector<Scalar>(begin, begin + rows * (2 * from->width + 1));
  };
  to->width = static_cast<int>(from->width);
  PetscCallCXX(to->interior = copy(from->interior, 1));
  PetscCallCXX(to->first = copy(from->first, from->ends));
  PetscCallCXX(to->last = copy(from->last, from->ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetStencil(Mat mat, const MatCompactRows *A, const MatCompactRows *B)
{
  GivenRows rows[2];
  PetscFunctionBegin;
  PetscCheck(!A == !B, PetscObjectComm((PetscObject)mat), PETSC_ERR_ARG_NULL,
             "MatCompactSetStencil: one of A and B is NULL");
  if (A) PetscCall(CopyRows(mat, "A", A, &rows[0]));
  if (B) PetscCall(CopyRows(mat, "B", B, &rows[1]));
  CompactOf(mat)->given_A = std::move(rows[0]), CompactOf(mat)->given_B = std::move(rows[1]);
  PrepareAgain(mat);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetStencil(Mat mat, MatCompactRows *A, MatCompactRows *B)
{
  const auto rows = [](const GivenRows &of) {
    const auto at = [](const std::vector<Scalar> &entries) {
      return entries.empty() ? nullptr : reinterpret_cast<const PetscScalar *>(entries.data());
    };
    return MatCompactRows{of.width, at(of.interior), of.ends(), at(of.first), at(of.last)};
  };
  PetscFunctionBegin;
  if (A) *A = rows(CompactOf(mat)->given_A);
  if (B) *B = rows(CompactOf(mat)->given_B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ComposeCompactOptions(Mat A, bool attach)
{
  const auto compose = [&](const char *name, auto function) {
    return PetscObjectComposeFunction((PetscObject)A, name, attach ? function : nullptr);
  };
  PetscFunctionBegin;
  PetscCall(ComposeOptions(A, mat_compact_options, attach));
  PetscCall(compose("MatCompactSetGrid_C", &SetGrid));
  PetscCall(compose("MatCompactGetGrid_C", &GetGrid));
  PetscCall(compose("MatCompactSetMetric_C", &SetMetric));
  PetscCall(compose("MatCompactGetMetric_C", &GetMetric));
  PetscCall(compose("MatCompactSetStencil_C", &SetStencil));
  PetscCall(compose("MatCompactGetStencil_C", &GetStencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetCompactFromOptions(Mat A, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Mat compact options");
  PetscCall(ReadOptions(A, mat_compact_options, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

using namespace ribbon::petsc;

RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Direction, MatCompactDirection)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Derivative, PetscInt)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Order, PetscInt)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Ends, PetscInt)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Filter, PetscReal)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Staggered, MatCompactStaggered)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Spacing, PetscReal)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Periodic, PetscBool)

PetscErrorCode MatCompactSetGrid(Mat A, PetscInt nx, PetscInt ny, PetscInt nz, PetscInt dof)
{
  const PetscInt grid[4] = {nx, ny, nz, dof};
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  for (int d = 0; d < 4; ++d) PetscValidLogicalCollectiveInt(A, grid[d], d + 2);
  PetscTryMethod(A, "MatCompactSetGrid_C", (Mat, const PetscInt *), (A, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCompactGetGrid(Mat A, PetscInt *nx, PetscInt *ny, PetscInt *nz, PetscInt *dof)
{
  const PetscInt *grid  = nullptr;
  PetscInt *const to[4] = {nx, ny, nz, dof};
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscUseMethod(A, "MatCompactGetGrid_C", (Mat, const PetscInt **), (A, &grid));
  for (int d = 0; d < 4; ++d)
    if (to[d]) *to[d] = grid[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCompactSetMetric(Mat A, PetscInt n, const PetscReal dxi_dx[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(A, n, 2);
  PetscCheck(n >= 0 && (n == 0 || dxi_dx), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "MatCompactSetMetric: %" PetscInt_FMT " values%s", n, n > 0 ? ", but the array is NULL" : "");
  PetscTryMethod(A, "MatCompactSetMetric_C", (Mat, PetscInt, const PetscReal *), (A, n, dxi_dx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCompactGetMetric(Mat A, PetscInt *n, const PetscReal *dxi_dx[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscUseMethod(A, "MatCompactGetMetric_C", (Mat, PetscInt *, const PetscReal **), (A, n, dxi_dx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCompactSetStencil(Mat mat, const MatCompactRows *A, const MatCompactRows *B)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(mat, MAT_CLASSID, 1);
  PetscTryMethod(mat, "MatCompactSetStencil_C", (Mat, const MatCompactRows *, const MatCompactRows *),
                 (mat, A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCompactGetStencil(Mat mat, MatCompactRows *A, MatCompactRows *B)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(mat, MAT_CLASSID, 1);
  PetscUseMethod(mat, "MatCompactGetStencil_C", (Mat, MatCompactRows *, MatCompactRows *), (mat, A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

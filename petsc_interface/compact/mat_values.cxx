// SPDX-License-Identifier: BSD-2-Clause
// Grid, metric and stencils: functions of several values, without an option.
#include "../support/format.hpp"
#include "../support/session.hpp"
#include "mat.hpp"

#include <cstdint>

namespace ribbon::petsc {

namespace {

/// A hash of values that all ranks pass (FNV-1a).
class Fingerprint {
public:
  template <class T>
  void add(const T *values, std::size_t count)
  {
    const auto *bytes = reinterpret_cast<const unsigned char *>(values);
    for (std::size_t i = 0; i < count * sizeof(T); ++i) hash_ = (hash_ ^ bytes[i]) * 1099511628211ULL;
  }
  PetscInt64 value() const { return static_cast<PetscInt64>(hash_); }

private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

/// Raises an error on all ranks if one has something wrong, or if ranks pass different values. Collective.
PetscErrorCode CheckOnRanks(Mat A, const char *function, const std::string &wrong, const Fingerprint &values)
{
  const MPI_Comm comm    = PetscObjectComm((PetscObject)A);
  PetscInt64     least[] = {wrong.empty() ? 1 : 0, values.value(), ~values.value()};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, 3, MPIU_INT64, MPI_MIN, comm));
  if (least[0] == 0) PetscCall(CollectiveError(comm, PETSC_ERR_ARG_OUTOFRANGE, wrong));
  PetscCheck(least[1] == ~least[2], comm, PETSC_ERR_ARG_WRONG,
             "%s: ranks pass different values: pass the same on all ranks", function);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetGrid(Mat A, const PetscInt grid[4])
{
  static const char *const names[] = {"nx", "ny", "nz", "dof"};
  const MPI_Comm           comm    = PetscObjectComm((PetscObject)A);
  PetscInt                 rows    = 1;
  PetscFunctionBegin;
  for (int d = 0; d < 4; ++d)
    PetscCheck(grid[d] > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "MatCompactSetGrid: %s is %" PetscInt_FMT ": at least 1", names[d], grid[d]);
  for (int d = 0; d < 4; ++d) {
    PetscCheck(rows <= PETSC_MAX_INT / grid[d], comm, PETSC_ERR_ARG_OUTOFRANGE,
               "MatCompactSetGrid: %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
               " points with dof %" PetscInt_FMT ": at most %" PetscInt_FMT " unknowns (PetscInt)",
               grid[0], grid[1], grid[2], grid[3], PETSC_MAX_INT);
    rows *= grid[d];
  }
  std::copy_n(grid, 4, CompactOf(A)->given.grid);
  if (A->rmap->n < 0 && A->rmap->N < 0) PetscCall(MatSetSizes(A, rows, rows, rows, rows));
  PrepareAgain(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetGrid(Mat A, const PetscInt **grid)
{
  PetscFunctionBegin;
  *grid = CompactOf(A)->given.grid;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetMetric(Mat A, PetscInt n, const PetscReal values[])
{
  const auto  range = scale_range<Scalar>();
  Fingerprint all;
  std::string wrong;
  PetscFunctionBegin;
  if (n < 0) wrong = format("MatCompactSetMetric: n is %lld: at least 0", static_cast<long long>(n));
  else if (n > 0 && !values)
    wrong = format("MatCompactSetMetric: dxi_dx is NULL, and n is %lld", static_cast<long long>(n));
  else
    for (PetscInt i = n; i-- > 0;)
      if (!range.contains(static_cast<double>(values[i])))
        wrong = format("MatCompactSetMetric: dxi_dx[%lld] is %g: a size of %.0e to %.0e",
                       static_cast<long long>(i), static_cast<double>(values[i]), range.least, range.most);
  if (wrong.empty()) all.add(&n, 1), all.add(values, static_cast<std::size_t>(n));
  PetscCall(CheckOnRanks(A, "MatCompactSetMetric", wrong, all));
  PetscCallCXX(CompactOf(A)->given.metric.assign(values, values + n));
  PrepareAgain(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetMetric(Mat A, PetscInt *n, const PetscReal **values)
{
  const auto &metric = CompactOf(A)->given.metric;
  PetscFunctionBegin;
  if (n) *n = static_cast<PetscInt>(metric.size());
  if (values) *values = metric.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An array of the rows of the application.
struct GivenArray {
  const char          *name;
  const PetscScalar   *entries;
  PetscInt             rows;
  std::vector<Scalar> *copy;
};

/// Copies the rows of A or B. A sentence about the first thing that is wrong; otherwise empty.
std::string copy_rows(const char *name, const MatCompactRows &from, GivenRows *to, Fingerprint *all)
{
  const GivenArray arrays[] = {{"interior", from.interior, 1, &to->interior},
                               {"first", from.first, from.ends, &to->first},
                               {"last", from.last, from.ends, &to->last}};
  const auto       width = static_cast<long long>(from.width), ends = static_cast<long long>(from.ends);
  std::string      wrong;
  if (width < 0 || width > 8) wrong = format("MatCompactSetStencil: %s->width is %lld: 0 to 8", name, width);
  else if (ends < 0) wrong = format("MatCompactSetStencil: %s->ends is %lld: at least 0", name, ends);
  for (const GivenArray &a : arrays) {
    if (!wrong.empty()) return wrong;
    const auto count = static_cast<std::size_t>(a.rows * (2 * from.width + 1));
    if (count > 0 && !a.entries) return wrong = format("MatCompactSetStencil: %s->%s is NULL", name, a.name);
    for (std::size_t i = count; i-- > 0;)
      if (PetscIsInfOrNanScalar(a.entries[i]))
        wrong = format("MatCompactSetStencil: %s->%s[%zu] is not a finite number", name, a.name, i);
    const auto *entries = reinterpret_cast<const Scalar *>(a.entries);
    a.copy->assign(entries, entries + count);
    all->add(&a.rows, 1), all->add(a.entries, count);
  }
  to->width = static_cast<int>(width);
  return wrong;
}

PetscErrorCode SetStencil(Mat mat, const MatCompactRows *A, const MatCompactRows *B)
{
  GivenRows   rows[2];
  Fingerprint all;
  std::string wrong;
  PetscFunctionBegin;
  if (!A != !B) wrong = "MatCompactSetStencil: one of A and B is NULL: pass both, or NULL for both";
  else if (A) {
    PetscCallCXX(wrong = copy_rows("A", *A, &rows[0], &all));
    if (wrong.empty()) PetscCallCXX(wrong = copy_rows("B", *B, &rows[1], &all));
  }
  PetscCall(CheckOnRanks(mat, "MatCompactSetStencil", wrong, all));
  CompactOf(mat)->given.A = std::move(rows[0]), CompactOf(mat)->given.B = std::move(rows[1]);
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
  if (A) *A = rows(CompactOf(mat)->given.A);
  if (B) *B = rows(CompactOf(mat)->given.B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ComposeCompactValues(Mat A, bool attach)
{
  const auto compose = [&](const char *name, auto function) {
    return PetscObjectComposeFunction((PetscObject)A, name, attach ? function : nullptr);
  };
  PetscFunctionBegin;
  PetscCall(compose("MatCompactSetGrid_C", &SetGrid));
  PetscCall(compose("MatCompactGetGrid_C", &GetGrid));
  PetscCall(compose("MatCompactSetMetric_C", &SetMetric));
  PetscCall(compose("MatCompactGetMetric_C", &GetMetric));
  PetscCall(compose("MatCompactSetStencil_C", &SetStencil));
  PetscCall(compose("MatCompactGetStencil_C", &GetStencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

using namespace ribbon::petsc;

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

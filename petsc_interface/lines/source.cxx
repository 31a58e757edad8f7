// SPDX-License-Identifier: BSD-2-Clause
#include "line_map.hpp"
#include "pattern.hpp"

#include "../support/aij.hpp"

#include <numeric>

namespace ribbon::petsc {

PetscErrorCode AgreeOnBorders(MPI_Comm comm, bool has_rows, Borders *tied)
{
  PetscMPIInt size, rank;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  const char        mine = static_cast<char>(has_rows | tied->before << 1 | tied->after << 2);
  std::vector<char> said(static_cast<std::size_t>(size));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_CHAR, said.data(), 1, MPI_CHAR, comm));
  const auto neighbour = [&](PetscMPIInt step) { // value of the next rank with rows, 0 if there is none
    PetscMPIInt r = rank + step;
    while (r >= 0 && r < size && said[static_cast<std::size_t>(r)] == 0) r += step;
    return r >= 0 && r < size ? said[static_cast<std::size_t>(r)] : 0;
  };
  if (has_rows)
    tied->before = neighbour(-1) && (tied->before || neighbour(-1) >> 2),
    tied->after  = neighbour(1) && (tied->after || (neighbour(1) >> 1 & 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Least distance from the diagonal of the entries in columns of other ranks, and the greatest common
/// divisor of all distances.
static PetscErrorCode DistancesOutside(Mat rows, PetscInt *least, PetscInt *divisor)
{
  Mat             off;
  const PetscInt *columns;
  PetscInt        rbegin;
  Pattern         pattern;
  PetscFunctionBegin;
  PetscCall(GetOffProcessBlock(rows, &off, &columns));
  if (!off) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(rows, &rbegin, nullptr));
  PetscCall(GetHostRows(off, false, &pattern.A));
  pattern.each([&](PetscInt r, PetscInt c) {
    const PetscInt d = std::abs(columns[c] - (rbegin + r));
    *least = PetscMin(*least, d), *divisor = std::gcd(*divisor, d);
    return *least == 1;
  });
  PetscCall(RestoreHostRows(off, &pattern.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetElements(const LineSource &source, Elements *elements)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)source.rows);
  PetscInt       size, n, all, divisor = 0; // of the distances from the diagonal of all entries
  Pattern        pattern;
  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(source.rows, &size));
  PetscCall(MatGetLocalSize(source.rows, &n, nullptr));
  PetscCall(MatGetSize(source.rows, &all, nullptr));
  // the smallest of these distances; whether the block size fits
  PetscInt least[2] = {PETSC_MAX_INT, size > 0 && n % size == 0 && size != all && !source.kronecker};
  PetscCall(GetHostRows(source.block, false, &pattern.A));
  pattern.each([&](PetscInt r, PetscInt c) {
    if (r == c) return false;
    least[0] = PetscMin(least[0], std::abs(c - r)), divisor = std::gcd(divisor, c - r);
    return least[0] == 1;
  });
  PetscCall(RestoreHostRows(source.block, &pattern.A));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, 2, MPIU_INT, MPI_MIN, comm));
  if (least[0] == PETSC_MAX_INT) { // no rank has two elements of a line
    PetscCall(DistancesOutside(source.rows, &least[0], &divisor));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, 1, MPIU_INT, MPI_MIN, comm));
  }
  const bool     blocks  = least[1] && size > 1;
  const PetscInt between = blocks ? size : least[0] == PETSC_MAX_INT ? 1 : least[0];
  // no row couples with another row of its element
  int apart = n % between == 0 && divisor % between == 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPI_INT, MPI_LAND, comm));
  elements->components = blocks || apart ? between : 1;
  elements->coupled    = blocks && !apart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// The rows of a matrix that this rank owns, as a sequential AIJ matrix: borrowed from it, or converted.
PetscErrorCode GetLocalBlock(Mat rows, LineSource *source)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)rows);
  const char    *type = ((PetscObject)rows)->type_name;
  PetscBool      has_block, is_aij, assembled;
  PetscMPIInt    size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatHasOperation(rows, MATOP_GET_DIAGONAL_BLOCK, &has_block));
  PetscCheck(has_block || size == 1, comm, PETSC_ERR_SUP,
             "PC line: a matrix of type %s hands out no local block; use an assembled AIJ matrix for Pmat",
             type);
  if (has_block) PetscCall(MatGetDiagonalBlock(rows, &source->block));
  else source->block = rows;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)source->block, &is_aij, MATSEQAIJ, MATSEQAIJCUSPARSE,
                                      MATSEQAIJKOKKOS, ""));
  if (is_aij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHasOperation(source->block, MATOP_GET_ROW, &assembled));
  PetscCheck(assembled, comm, PETSC_ERR_SUP,
             "PC line: a matrix of type %s stores no rows; use an assembled AIJ matrix for Pmat", type);
  PetscCall(MatConvert(source->block, MATSEQAIJ, MAT_INITIAL_MATRIX, &source->converted));
  source->block = source->converted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Converts a dense p x p matrix of MATKAIJ from columns, as PETSc stores it, to rows; null is zero.
std::vector<Scalar> by_rows(const PetscScalar *from, PetscInt p)
{
  std::vector<Scalar> to(static_cast<std::size_t>(p * p), Scalar(0));
  for (PetscInt c = 0; c < p && from; ++c)
    for (PetscInt r = 0; r < p; ++r)
      to[static_cast<std::size_t>(r * p + c)] = reinterpret_cast<const Scalar *>(from)[c * p + r];
  return to;
}

/// PETSc returns T as null both for the identity and for zero. This function compares a nonzero entry of A
/// with that of the product. Collective.
PetscErrorCode TIsIdentity(Mat pmat, Mat A, PetscInt p, PetscScalar S00, bool *identity)
{
  PetscInt           begin, end, count, column = -1;
  const PetscInt    *columns;
  const PetscScalar *values;
  PetscScalar        entry = 0, product = 0;
  int                found = 0;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt r = begin; r < end && column < 0; ++r) {
    PetscCall(MatGetRow(A, r, &count, &columns, &values));
    for (PetscInt e = 0; e < count && column < 0; ++e)
      if (values[e] != PetscScalar(0)) column = columns[e], entry = values[e], found = 1;
    PetscCall(MatRestoreRow(A, r, &count, &columns, &values));
    if (!found) continue;
    PetscCall(MatGetRow(pmat, r * p, &count, &columns, &values));
    for (PetscInt e = 0; e < count; ++e)
      if (columns[e] == column * p) product = values[e];
    PetscCall(MatRestoreRow(pmat, r * p, &count, &columns, &values));
    found = product == entry + (column == r ? S00 : PetscScalar(0));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pmat)));
  *identity = found != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FromKAIJ(Mat pmat, LineSource *source)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)pmat);
  const char        *type = ((PetscObject)pmat)->type_name;
  const PetscScalar *S, *T;
  PetscInt           p, q;
  bool               identity = false;
  PetscFunctionBegin;
  PetscCall(MatKAIJGetAIJ(pmat, &source->rows));
  PetscCall(MatKAIJGetSRead(pmat, &p, &q, &S));
  PetscCall(MatKAIJGetTRead(pmat, nullptr, nullptr, &T));
  PetscCheck(p == q, comm, PETSC_ERR_SUP,
             "PC line: S and T of a matrix of type %s are %" PetscInt_FMT " x %" PetscInt_FMT ", not square",
             type, p, q);
  if (!T) PetscCall(TIsIdentity(pmat, source->rows, p, S ? S[0] : PetscScalar(0), &identity));
  std::vector<Scalar> s, t;
  PetscCallCXX(s = by_rows(S, p));
  PetscCallCXX(t = by_rows(T, p));
  for (PetscInt c = 0; c < p && identity; ++c) t[static_cast<std::size_t>(c * p + c)] = Scalar(1);
  PetscCall(MatKAIJRestoreSRead(pmat, &S));
  PetscCall(MatKAIJRestoreTRead(pmat, &T));
  source->kronecker = true;
  PetscCallCXX(source->factors = KroneckerFactors<Scalar>::from_dense(static_cast<int>(p), s, t));
  PetscCheck(!source->factors.coupled || p <= 8, comm, PETSC_ERR_SUP,
             "PC line: the %" PetscInt_FMT
             " components of a matrix of type %s couple with each other; blocks reach up to 8",
             p, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode GetLineSource(Mat pmat, LineSource *source, bool joined)
{
  PetscBool   is_maij, is_kaij, is_aij, assembled, converts;
  PetscMPIInt size;
  PetscInt    p;
  PetscFunctionBegin;
  source->rows = pmat;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pmat, &is_maij, MATMAIJ, MATSEQMAIJ, MATMPIMAIJ, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pmat, &is_kaij, MATKAIJ, MATSEQKAIJ, MATMPIKAIJ, ""));
  if (is_maij) {
    PetscInt all, inner;
    PetscCall(MatMAIJGetAIJ(pmat, &source->rows));
    PetscCall(MatGetSize(pmat, &all, nullptr));
    PetscCall(MatGetSize(source->rows, &inner, nullptr));
    p                 = inner > 0 ? all / inner : 1;
    source->kronecker = true;
    source->factors.p = static_cast<int>(p);
  }
  if (is_kaij) PetscCall(FromKAIJ(pmat, source));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pmat), &size));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)source->rows, &is_aij, MATMPIAIJ, MATMPIAIJCUSPARSE,
                                      MATMPIAIJKOKKOS, ""));
  // these types return no rows
  PetscCall(PetscObjectTypeCompareAny((PetscObject)source->rows, &converts, MATNEST, MATIS, MATSEQSELL,
                                      MATMPISELL, ""));
  PetscCall(MatHasOperation(source->rows, MATOP_GET_ROW, &assembled));
  // only AIJ shows which columns belong to other ranks
  if (converts || (joined && size > 1 && !is_aij && assembled)) {
    PetscCall(ConvertToAIJ(source->rows, &source->converted_rows));
    source->rows = source->converted_rows;
  }
  PetscCall(GetLocalBlock(source->rows, source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RestoreLineSource(LineSource *source)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&source->converted));
  PetscCall(MatDestroy(&source->converted_rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

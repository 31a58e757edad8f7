// SPDX-License-Identifier: BSD-2-Clause
#include "multifrontal.hpp"

#include "../csr.hpp"
#include "../session.hpp"

#include <algorithm>
#include <cmath>

using namespace ribbon::petsc;

namespace {

MultifrontalFactor *Data(Mat F)
{
  return static_cast<MultifrontalFactor *>(F->data);
}

/// The matrix as AIJ: itself, or a converted one that is kept.
PetscErrorCode AsAIJ(Mat F, Mat A, Mat *aij)
{
  MultifrontalFactor *f = Data(F);
  PetscBool           seq, mpi;
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  *aij = A;
  if (!seq && !mpi) {
    PetscCall(MatConvert(A, MATAIJ, f->aij ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &f->aij));
    *aij = f->aij;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Blocks of a matrix with the rows of this rank; outside and columns are null where no other rank has rows.
PetscErrorCode LocalBlocks(Mat aij, Mat *local, Mat *outside, const PetscInt **columns)
{
  PetscBool   mpi;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)aij, MATMPIAIJ, &mpi));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)aij), &size));
  *local = aij, *outside = nullptr, *columns = nullptr;
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(aij, local, outside, columns));
  if (size == 1) *outside = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Drops what a symbolic factorization made.
PetscErrorCode Reset(Mat F)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  f->factor.reset();
  f->is_factored = false;
  f->report      = {};
  if (f->active != MPI_COMM_NULL && f->active != PETSC_COMM_SELF) PetscCallMPI(MPI_Comm_free(&f->active));
  f->active = MPI_COMM_NULL;
  PetscCall(MatDestroy(&f->aij));
  PetscCall(MatDestroy(&f->gathered));
  PetscCall(MatDestroy(&f->original));
  PetscCall(VecScatterDestroy(&f->to_first));
  PetscCall(VecDestroy(&f->all_b));
  PetscCall(VecDestroy(&f->all_x));
  PetscCall(VecDestroy(&f->residual));
  PetscCall(VecDestroy(&f->correction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadOptions(Mat F)
{
  MultifrontalFactor *f = Data(F);
  PetscBool           set;
  PetscInt            value;
  PetscViewer         viewer;
  PetscViewerFormat   format;
  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Multifrontal factorization of chains", "Mat");
  PetscCall(PetscOptionsInt("-mat_multifrontal_leaf_size", "Rows of a leaf of the tree; 0: as many as suit the processor", "MatMultifrontalSetLeafSize", f->leaf_size, &value, &set));
  if (set) PetscCall(MatMultifrontalSetLeafSize(F, value));
  PetscCall(PetscOptionsInt("-mat_multifrontal_refine", "Steps of iterative refinement in a solve", "MatMultifrontalSetRefine", f->refine, &value, &set));
  if (set) PetscCall(MatMultifrontalSetRefine(F, value));
  PetscCall(PetscOptionsViewer("-mat_multifrontal_view", "Every factorization says what it found", "MatView", &viewer, &format, &set));
  if (set) {
    PetscCall(PetscViewerDestroy(&f->viewer));
    f->viewer = viewer, f->format = format;
  }
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeTree(Mat F, Mat aij, const MatFactorInfo *info)
{
  MultifrontalFactor *f    = Data(F);
  const MPI_Comm      comm = PetscObjectComm((PetscObject)F);
  PetscMPIInt         size, rank;
  PetscInt            rows, first;
  Mat                 local, outside;
  const PetscInt     *columns;
  bool                on_device;
  std::string         wrong;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(FindChain(aij, &f->pattern));
  PetscCall(CollectiveError(comm, PETSC_ERR_SUP, f->pattern.refusal));
  if (f->pattern.gathered) PetscCall(GatherOnFirstRank(aij, MAT_INITIAL_MATRIX, &f->gathered));
  if (f->pattern.gathered) local = f->gathered;
  else PetscCall(LocalBlocks(aij, &local, &outside, &columns));
  PetscCall(MatGetLocalSize(local, &rows, nullptr));
  PetscCall(MatGetOwnershipRange(aij, &first, nullptr));
  if (f->pattern.gathered) {
    Vec vector;
    PetscCall(MatCreateVecs(aij, nullptr, &vector));
    PetscCall(VecScatterCreateToZero(vector, &f->to_first, &f->all_b));
    PetscCall(VecDuplicate(f->all_b, &f->all_x));
    PetscCall(VecDestroy(&vector));
    f->active = rank == 0 ? PETSC_COMM_SELF : MPI_COMM_NULL, first = 0;
  } else if (size == 1) f->active = PETSC_COMM_SELF;
  else PetscCallMPI(MPI_Comm_split(comm, rows > 0 ? 0 : MPI_UNDEFINED, rank, &f->active));
  if (f->active != MPI_COMM_NULL) {
    ribbon::ChainSolverOptions options;
    options.leaf_size = f->leaf_size, options.zero_pivot = static_cast<double>(info->zeropivot);
    PetscCall(BlockIsOnDevice(local, &on_device));
    f->factor = ChainFactor::create(on_device);
    PetscCall(f->factor->symbolic(f->active, f->pattern, first, rows, options));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Makes what ranks found what all know.
PetscErrorCode Agree(Mat F)
{
  MultifrontalFactor *f          = Data(F);
  ChainReport        &r          = f->report;
  const MPI_Comm      comm       = PetscObjectComm((PetscObject)F);
  const int           key        = r.status == ribbon::FactorStatus::ok ? 0 : r.status == ribbon::FactorStatus::not_finite ? 2 : 1;
  int                 worst[1]   = {key};
  PetscReal           numbers[2] = {r.log_abs_det, static_cast<PetscReal>(r.bytes)};
  PetscMPIInt         rank;
  struct {
    double value;
    int    rank;
  } smallest = {static_cast<double>(r.smallest_pivot), 0};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_INT, MPI_MAX, comm));
  smallest.rank = rank;
  if (worst[0] == 2) smallest.value = key == 2 ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &smallest, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPIU_REAL, MPIU_SUM, comm));
  PetscCallMPI(MPI_Bcast(&r.column, 1, MPIU_INT, smallest.rank, comm));
  r.status         = worst[0] == 0 ? ribbon::FactorStatus::ok : worst[0] == 1 ? ribbon::FactorStatus::zero_pivot : ribbon::FactorStatus::not_finite;
  r.smallest_pivot = static_cast<PetscReal>(smallest.value), r.log_abs_det = numbers[0], r.bytes = static_cast<double>(numbers[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(Mat F, Vec b, Vec x, bool transposed);

/// Backward error ||b - A x|| / (||A|| ||x|| + ||b||) of a random right-hand side, and 1 / (||A|| ||A^-1||) by Hager's estimate, both in the norms that PETSc has: 1 and infinity.
PetscErrorCode Probe(Mat F, Mat A, PetscReal *backward_error, PetscReal *rcond)
{
  Vec       b, x, r;
  PetscReal norm, norm1, bs, xs, rs, estimate = 0, largest;
  PetscInt  n, place;
  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  PetscCall(MatNorm(A, NORM_1, &norm1));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, nullptr));
  PetscCall(Solve(F, b, x, false));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_INFINITY, &bs));
  PetscCall(VecNorm(x, NORM_INFINITY, &xs));
  PetscCall(VecNorm(r, NORM_INFINITY, &rs));
  *backward_error = rs == 0 ? 0 : rs / (norm * xs + bs);
  PetscCall(VecSet(b, static_cast<PetscScalar>(PetscReal(1) / static_cast<PetscReal>(PetscMax(n, 1))))); // Hager, SIAM J. Sci. Stat. Comput. 5 (1984)
  for (int its = 0; its < 5; ++its) {
    PetscReal now;
    PetscCall(Solve(F, b, x, false));
    PetscCall(VecNorm(x, NORM_1, &now));
    if (!(now > estimate)) break;
    estimate = now;
    PetscScalar *a;
    PetscInt     rows;
    PetscCall(VecGetLocalSize(x, &rows));
    PetscCall(VecGetArray(x, &a));
    for (PetscInt i = 0; i < rows; ++i) a[i] = a[i] == PetscScalar(0) ? PetscScalar(1) : a[i] / PetscAbsScalar(a[i]);
    PetscCall(VecRestoreArray(x, &a));
    PetscCall(VecConjugate(x));
    PetscCall(Solve(F, x, r, true));
    PetscCall(VecAbs(r));
    PetscCall(VecMax(r, &place, &largest));
    PetscCall(VecSet(b, 0));
    if (place >= 0) {
      PetscInt first, end;
      PetscCall(VecGetOwnershipRange(b, &first, &end));
      if (place >= first && place < end) PetscCall(VecSetValue(b, place, 1, INSERT_VALUES));
    }
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
  }
  *rcond = estimate > 0 && norm1 > 0 ? 1 / (estimate * norm1) : 0;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorNumeric_Multifrontal(Mat F, Mat A, const MatFactorInfo *)
{
  MultifrontalFactor *f = Data(F);
  Mat                 aij, local, outside = nullptr;
  const PetscInt     *columns = nullptr;
  PetscFunctionBegin;
  f->is_factored = false;
  PetscCall(AsAIJ(F, A, &aij));
  if (f->pattern.gathered) {
    PetscCall(GatherOnFirstRank(aij, MAT_REUSE_MATRIX, &f->gathered));
    local = f->gathered;
  } else PetscCall(LocalBlocks(aij, &local, &outside, &columns));
  f->report = {};
  if (f->factor) PetscCall(f->factor->numeric(local, outside, columns, &f->report));
  PetscCall(Agree(F));
  const ChainReport &r         = f->report;
  F->factorerrortype           = r.status == ribbon::FactorStatus::ok ? MAT_FACTOR_NOERROR : r.status == ribbon::FactorStatus::zero_pivot ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_OTHER;
  F->factorerror_zeropivot_row = r.column, F->factorerror_zeropivot_value = r.smallest_pivot;
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  if (r.status != ribbon::FactorStatus::ok) {
    PetscCheck(!A->erroriffailure || r.status != ribbon::FactorStatus::zero_pivot, PetscObjectComm((PetscObject)F), PETSC_ERR_MAT_LU_ZRPVT, "multifrontal: zero pivot in column %" PetscInt_FMT ": %g of its largest entry",
               r.column, static_cast<double>(r.smallest_pivot));
    PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_FP, "multifrontal: NaN or Inf at column %" PetscInt_FMT, r.column);
    PetscCall(PetscInfo(F, "smallest pivot %g in column %" PetscInt_FMT "\n", static_cast<double>(r.smallest_pivot), r.column));
  } else f->is_factored = true;
  if (f->refine > 0) {
    PetscCall(PetscObjectReference((PetscObject)A));
    PetscCall(MatDestroy(&f->original));
    f->original = A;
    if (!f->residual) PetscCall(MatCreateVecs(A, &f->correction, &f->residual));
  }
  if (f->viewer) {
    PetscCall(PetscViewerPushFormat(f->viewer, f->format));
    PetscCall(F->ops->view(F, f->viewer));
    if (f->is_factored) {
      PetscReal error = 0, rcond = 0;
      PetscCall(Probe(F, A, &error, &rcond));
      PetscCall(PetscViewerASCIIPrintf(f->viewer, "  backward error of a random right-hand side %.2g, reciprocal condition estimate (1-norm) %.2g\n", static_cast<double>(error), static_cast<double>(rcond)));
    }
    PetscCall(PetscViewerPopFormat(f->viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorSymbolic_Multifrontal(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat aij;
  PetscFunctionBegin;
  PetscCheck(A->rmap->N == A->cmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ, "multifrontal: a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns is not square", A->rmap->N, A->cmap->N);
  PetscCall(EnsureKokkos());
  PetscCall(ReadOptions(F));
  PetscCall(Reset(F));
  PetscCall(AsAIJ(F, A, &aij));
  PetscCall(MakeTree(F, aij, info));
  F->ops->lufactornumeric       = MatFactorNumeric_Multifrontal;
  F->ops->choleskyfactornumeric = MatFactorNumeric_Multifrontal;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatLUFactorSymbolic_Multifrontal(Mat F, Mat A, IS, IS, const MatFactorInfo *info)
{
  return MatFactorSymbolic_Multifrontal(F, A, info);
}
PetscErrorCode MatCholeskyFactorSymbolic_Multifrontal(Mat F, Mat A, IS, const MatFactorInfo *info)
{
  return MatFactorSymbolic_Multifrontal(F, A, info);
}

/// One solve without refinement.
PetscErrorCode SolveOnce(Mat F, Vec b, Vec x, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  const PetscScalar  *pb;
  PetscScalar        *px;
  PetscMemType        where_b, where_x;
  PetscFunctionBegin;
  if (f->pattern.gathered) {
    PetscCall(VecScatterBegin(f->to_first, b, f->all_b, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(f->to_first, b, f->all_b, INSERT_VALUES, SCATTER_FORWARD));
  }
  Vec      from = f->pattern.gathered ? f->all_b : b, to = f->pattern.gathered ? f->all_x : x;
  PetscInt rows;
  PetscCall(VecGetLocalSize(from, &rows));
  if (f->factor) {
    PetscCall(VecGetArrayReadAndMemType(from, &pb, &where_b));
    PetscCall(VecGetArrayWriteAndMemType(to, &px, &where_x));
    PetscCall(f->factor->solve(pb, where_b, rows, px, where_x, rows, 1, transposed));
    PetscCall(VecRestoreArrayWriteAndMemType(to, &px));
    PetscCall(VecRestoreArrayReadAndMemType(from, &pb));
  }
  if (f->pattern.gathered) {
    PetscCall(VecScatterBegin(f->to_first, f->all_x, x, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(f->to_first, f->all_x, x, INSERT_VALUES, SCATTER_REVERSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(Mat F, Vec b, Vec x, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  if (!f->is_factored) { // never a number that could be taken for an answer
    PetscCall(VecSet(x, PETSC_INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SolveOnce(F, b, x, transposed));
  for (PetscInt k = 0; k < f->refine; ++k) {
    if (transposed) PetscCall(MatMultTranspose(f->original, x, f->residual));
    else PetscCall(MatMult(f->original, x, f->residual));
    PetscCall(VecAYPX(f->residual, -1, b));
    PetscCall(SolveOnce(F, f->residual, f->correction, transposed));
    PetscCall(VecAXPY(x, 1, f->correction));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSolve_Multifrontal(Mat F, Vec b, Vec x)
{
  return Solve(F, b, x, false);
}
PetscErrorCode MatSolveTranspose_Multifrontal(Mat F, Vec b, Vec x)
{
  return Solve(F, b, x, true);
}

PetscErrorCode SolveColumns(Mat F, Mat B, Mat X, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  PetscInt            rows, columns, ldb, ldx;
  PetscBool           dense_b, dense_x;
  const PetscScalar  *pb;
  PetscScalar        *px;
  PetscMemType        where_b, where_x;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense_b, MATSEQDENSE, MATMPIDENSE, "seqdensecuda", "mpidensecuda", ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)X, &dense_x, MATSEQDENSE, MATMPIDENSE, "seqdensecuda", "mpidensecuda", ""));
  PetscCheck(dense_b && dense_x, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG, "multifrontal: MatMatSolve() takes dense matrices, not %s and %s", ((PetscObject)B)->type_name, ((PetscObject)X)->type_name);
  PetscCall(MatGetSize(B, nullptr, &columns));
  if (f->pattern.gathered || !f->is_factored || f->refine > 0) {
    for (PetscInt c = 0; c < columns; ++c) {
      Vec b, x;
      PetscCall(MatDenseGetColumnVecRead(B, c, &b));
      PetscCall(MatDenseGetColumnVecWrite(X, c, &x));
      PetscCall(Solve(F, b, x, transposed));
      PetscCall(MatDenseRestoreColumnVecWrite(X, c, &x));
      PetscCall(MatDenseRestoreColumnVecRead(B, c, &b));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetLocalSize(B, &rows, nullptr));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
  PetscCall(RibbonDenseGetArrayReadAndMemType(B, &pb, &where_b));
  PetscCall(RibbonDenseGetArrayWriteAndMemType(X, &px, &where_x));
  if (f->factor && columns > 0) PetscCall(f->factor->solve(pb, where_b, ldb, px, where_x, ldx, columns, transposed));
  PetscCall(RibbonDenseRestoreArrayWriteAndMemType(X, &px));
  PetscCall(RibbonDenseRestoreArrayReadAndMemType(B, &pb));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolve_Multifrontal(Mat F, Mat B, Mat X)
{
  return SolveColumns(F, B, X, false);
}
PetscErrorCode MatMatSolveTranspose_Multifrontal(Mat F, Mat B, Mat X)
{
  return SolveColumns(F, B, X, true);
}
/// A X = B^T, B of any type.
PetscErrorCode MatMatTransposeSolve_Multifrontal(Mat F, Mat B, Mat X)
{
  Mat transposed, dense;
  PetscFunctionBegin;
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &transposed));
  PetscCall(MatConvert(transposed, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  PetscCall(SolveColumns(F, dense, X, false));
  PetscCall(MatDestroy(&dense));
  PetscCall(MatDestroy(&transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetInfo_Multifrontal(Mat F, MatInfoType, MatInfo *info)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size   = 1;
  info->memory       = Data(F)->report.bytes;
  info->nz_allocated = info->nz_used = static_cast<PetscLogDouble>(Data(F)->report.bytes / sizeof(PetscScalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_Multifrontal(Mat F, PetscViewer viewer)
{
  const MultifrontalFactor *f = Data(F);
  const ribbon::Chain      &c = f->pattern.chain;
  const ChainReport        &r = f->report;
  PetscBool                 ascii;
  PetscViewerFormat         format;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCall(PetscViewerASCIIPrintf(viewer, "multifrontal: %" PetscInt_FMT " %s of %" PetscInt_FMT " rows, kl %d, ku %d%s%s\n", static_cast<PetscInt>(c.chains), c.ring ? "ring(s)" : "chain(s)",
                                   static_cast<PetscInt>(c.rows), c.kl, c.ku, f->pattern.row_of.empty() ? "" : ", ordered by reverse Cuthill-McKee", f->pattern.gathered ? ", gathered on one rank" : ""));
  if (r.leaves > 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  %s on the %s, %" PetscInt_FMT " leaves, %" PetscInt_FMT " levels, %" PetscInt_FMT " kernels to factor and as many for each way of a solve, %" PetscInt_FMT " steps of refinement\n",
                                     r.method, r.space, r.leaves, r.levels, r.launches, f->refine));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %.4g MB, smallest pivot %.2g of the largest entry in column %" PetscInt_FMT ", log|det| %.10g\n", r.bytes / 1e6, static_cast<double>(r.smallest_pivot), r.column,
                                     static_cast<double>(r.log_abs_det)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorGetSolverType_Multifrontal(Mat, MatSolverType *type)
{
  *type = MATSOLVERMULTIFRONTAL;
  return PETSC_SUCCESS;
}

PetscErrorCode SetLeafSize(Mat F, PetscInt rows)
{
  PetscFunctionBegin;
  PetscCheck(rows >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "-mat_multifrontal_leaf_size %" PetscInt_FMT ": at least 0", rows);
  Data(F)->leaf_size = rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode GetLeafSize(Mat F, PetscInt *rows)
{
  *rows = Data(F)->leaf_size;
  return PETSC_SUCCESS;
}
PetscErrorCode SetRefine(Mat F, PetscInt steps)
{
  PetscFunctionBegin;
  PetscCheck(steps >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "-mat_multifrontal_refine %" PetscInt_FMT ": at least 0", steps);
  Data(F)->refine = steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode GetRefine(Mat F, PetscInt *steps)
{
  *steps = Data(F)->refine;
  return PETSC_SUCCESS;
}

PetscErrorCode Compose(Mat F, bool set)
{
  const PetscObject o = (PetscObject)F;
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(o, "MatFactorGetSolverType_C", set ? MatFactorGetSolverType_Multifrontal : nullptr));
  PetscCall(PetscObjectComposeFunction(o, "MatMultifrontalSetLeafSize_C", set ? SetLeafSize : nullptr));
  PetscCall(PetscObjectComposeFunction(o, "MatMultifrontalGetLeafSize_C", set ? GetLeafSize : nullptr));
  PetscCall(PetscObjectComposeFunction(o, "MatMultifrontalSetRefine_C", set ? SetRefine : nullptr));
  PetscCall(PetscObjectComposeFunction(o, "MatMultifrontalGetRefine_C", set ? GetRefine : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_Multifrontal(Mat F)
{
  PetscFunctionBegin;
  PetscCall(Reset(F));
  PetscCall(PetscViewerDestroy(&Data(F)->viewer));
  PetscCall(Compose(F, false));
  delete Data(F);
  F->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetFactor_Multifrontal(Mat A, MatFactorType type, Mat *factor)
{
  Mat F;
  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERMULTIFRONTAL, &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCallCXX(F->data = new MultifrontalFactor);
  F->factortype                  = type;
  F->canuseordering              = PETSC_FALSE;
  F->trivialsymbolic             = PETSC_FALSE;
  F->ops->lufactorsymbolic       = MatLUFactorSymbolic_Multifrontal;
  F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_Multifrontal;
  F->ops->solve                  = MatSolve_Multifrontal;
  F->ops->solvetranspose         = MatSolveTranspose_Multifrontal;
  F->ops->matsolve               = MatMatSolve_Multifrontal;
  F->ops->matsolvetranspose      = MatMatSolveTranspose_Multifrontal;
  F->ops->mattransposesolve      = MatMatTransposeSolve_Multifrontal;
  F->ops->getinfo                = MatGetInfo_Multifrontal;
  F->ops->view                   = MatView_Multifrontal;
  F->ops->destroy                = MatDestroy_Multifrontal;
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERMULTIFRONTAL, &F->solvertype));
  PetscCall(PetscStrallocpy(MATORDERINGEXTERNAL, (char **)&F->preferredordering[type]));
  PetscCall(PetscFree(F->defaultvectype));
  PetscCall(PetscStrallocpy(A->defaultvectype, &F->defaultvectype));
  PetscCall(Compose(F, true));
  *factor = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatMultifrontalSetLeafSize(Mat F, PetscInt rows)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(F, rows, 2);
  PetscTryMethod(F, "MatMultifrontalSetLeafSize_C", (Mat, PetscInt), (F, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMultifrontalGetLeafSize(Mat F, PetscInt *rows)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscUseMethod(F, "MatMultifrontalGetLeafSize_C", (Mat, PetscInt *), (F, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMultifrontalSetRefine(Mat F, PetscInt steps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(F, steps, 2);
  PetscTryMethod(F, "MatMultifrontalSetRefine_C", (Mat, PetscInt), (F, steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMultifrontalGetRefine(Mat F, PetscInt *steps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscUseMethod(F, "MatMultifrontalGetRefine_C", (Mat, PetscInt *), (F, steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ribbon::petsc::RegisterMultifrontal()
{
  PetscFunctionBegin;
  PetscCall(MatInitializePackage());                                  // or every other solver type disappears
  for (MatType type : {MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ}) // and what these names begin: aijcusparse, aijkokkos
    for (MatFactorType factor : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) PetscCall(MatSolverTypeRegister(MATSOLVERMULTIFRONTAL, type, factor, MatGetFactor_Multifrontal));
  for (MatType type : {MATSEQSBAIJ, MATMPISBAIJ}) PetscCall(MatSolverTypeRegister(MATSOLVERMULTIFRONTAL, type, MAT_FACTOR_CHOLESKY, MatGetFactor_Multifrontal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

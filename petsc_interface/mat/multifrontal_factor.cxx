// SPDX-License-Identifier: BSD-2-Clause
// Symbolic and numeric factorization: which chain the matrix is, its tree, the factors, and what all ranks found together.
#include "multifrontal.hpp"

#include "../csr.hpp"
#include "../session.hpp"

using namespace ribbon::petsc;

namespace {

/// Puts the blocks of a sequential BAIJ matrix into an AIJ matrix with the entries of all blocks; `is_done` says whether it is one.
PetscErrorCode CopyBlocks(Mat blocks, Mat rows, bool *is_done)
{
  PetscInt        bs, n;
  const PetscInt *first, *column;
  PetscScalar    *from, *to;
  PetscBool       done;
  HostRows        csr;
  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(blocks, &bs));
  PetscCall(GetHostRows(rows, false, &csr));
  PetscCall(MatGetRowIJ(blocks, 0, PETSC_FALSE, PETSC_TRUE, &n, &first, &column, &done));
  *is_done = done && csr.rows == n * bs && (n == 0 || csr.row_begin[csr.rows] == first[n] * bs * bs);
  if (*is_done) {
    PetscCall(MatSeqBAIJGetArray(blocks, &from));
    PetscCall(MatSeqAIJGetArrayWrite(rows, &to));
    for (PetscInt r = 0; r < n * bs; ++r)
      for (PetscInt k = first[r / bs]; k < first[r / bs + 1]; ++k)
        for (PetscInt c = 0; c < bs; ++c) *to++ = from[(k * bs + c) * bs + r % bs];
    to = nullptr;
    PetscCall(MatSeqAIJRestoreArrayWrite(rows, &to));
    PetscCall(MatSeqBAIJRestoreArray(blocks, &from));
  }
  PetscCall(MatRestoreRowIJ(blocks, 0, PETSC_FALSE, PETSC_TRUE, &n, &first, &column, &done));
  PetscCall(RestoreHostRows(rows, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Puts the numbers of a BAIJ or SBAIJ matrix into the AIJ matrix that was made of it; `is_done` says whether A is one. MatConvert() into a copy that is there allocates, and spoils it (PETSc 3.18: MPIBAIJ, SBAIJ).
PetscErrorCode Refill(MultifrontalFactor *f, Mat A, bool *is_done)
{
  const Mat aij = f->aij;
  PetscBool seq, mpi, symmetric;
  Mat       near, far, near_rows, far_rows;
  int       done = 0;
  PetscFunctionBegin;
  *is_done = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQBAIJ, &seq));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIBAIJ, &mpi));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &symmetric, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (symmetric) PetscCall(CopySymmetric(A, aij, &f->from_symmetric, is_done));
  if (seq) PetscCall(CopyBlocks(A, aij, is_done));
  if (mpi) {
    PetscCall(MatMPIBAIJGetSeqBAIJ(A, &near, &far, nullptr));
    PetscCall(MatMPIAIJGetSeqAIJ(aij, &near_rows, &far_rows, nullptr));
    PetscCall(CopyBlocks(near, near_rows, is_done));
    if (*is_done) PetscCall(CopyBlocks(far, far_rows, is_done));
    done = *is_done;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)A)));
    *is_done = done != 0;
  }
  if (*is_done) PetscCall(PetscObjectStateIncrease((PetscObject)aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A copy of the numbers of an AIJ matrix, where they are: what MatDuplicate() and MatCopy() take from a device they bring to the host.
PetscErrorCode CopyNumbers(Mat A, Mat *copy)
{
  PetscFunctionBegin;
  if (!*copy) PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, copy));
  PetscCall(MatZeroEntries(*copy));
  PetscCall(MatAXPY(*copy, 1, A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Keeps the matrix as AIJ: itself, or a copy, which takes new numbers of the same pattern if it can, else is made anew. Refinement takes a copy: the matrix may have other numbers when factors solve.
PetscErrorCode KeepAIJ(MultifrontalFactor *f, Mat A)
{
  PetscBool seq, mpi;
  bool      is_done = false;
  PetscFunctionBegin;
  if (f->aij && f->aij != A) PetscCall(Refill(f, A, &is_done));
  if (is_done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  if ((seq || mpi) && f->refine > 0) {
    if (f->aij == A) PetscCall(MatDestroy(&f->aij));
    PetscCall(CopyNumbers(A, &f->aij));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (seq || mpi) PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(&f->aij));
  f->from_symmetric = {};
  if (seq || mpi) f->aij = A;
  else PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &f->aij));
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

/// The tree for the pattern of f->aij.
PetscErrorCode MakeTree(Mat F)
{
  MultifrontalFactor *f    = Data(F);
  const Mat           aij  = f->aij;
  const MPI_Comm      comm = PetscObjectComm((PetscObject)F);
  PetscMPIInt         size, rank;
  PetscInt            rows, first;
  Mat                 local, outside;
  const PetscInt     *columns;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(FindChain(aij, &f->pattern));
  PetscCall(CollectiveError(comm, PETSC_ERR_SUP, f->pattern.refusal));
  if (size > 1 && f->pivot == MAT_MULTIFRONTAL_PIVOT_NONE && !f->pattern.separate && f->pattern.fewest < 2 * std::max(f->pattern.chain.kl, f->pattern.chain.ku)) f->pattern.gathered = true;
  if (f->pattern.gathered) PetscCall(GatherOnFirstRank(aij, &f->gathered));
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
    options.leaf_size = f->leaf_size, options.zero_pivot = static_cast<double>(f->zero_pivot);
    PetscCall(BlockIsOnDevice(local, &f->on_device));
    f->factor             = ChainFactor::create(f->on_device);
    f->factor->pivots     = f->pivot != MAT_MULTIFRONTAL_PIVOT_NONE;
    f->factor->keeps_band = F->factortype == MAT_FACTOR_CHOLESKY;
    PetscCall(f->factor->symbolic(f->active, f->pattern, first, rows, options));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Makes what ranks found what all know.
PetscErrorCode Agree(Mat F)
{
  MultifrontalFactor *f     = Data(F);
  ChainReport        &r     = f->report;
  const MPI_Comm      comm  = PetscObjectComm((PetscObject)F);
  const int           key   = r.status == ribbon::FactorStatus::ok ? 0 : r.status == ribbon::FactorStatus::not_finite ? 2 : 1;
  int                 worst = key;
  PetscMPIInt         rank;
  struct {
    double value;
    int    rank;
  } smallest = {f->factor ? static_cast<double>(r.smallest_pivot) : 2, 0}; // ranks without rows have no column
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm));
  smallest.rank = rank;
  if (worst == 2) smallest.value = key < 2 ? 1 : r.passed_on ? 0.5 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &smallest, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r.log_abs_det, 1, MPIU_REAL, MPIU_SUM, comm));
  PetscCallMPI(MPI_Bcast(&r.column, 1, MPIU_INT, smallest.rank, comm));
  r.status         = worst == 0 ? ribbon::FactorStatus::ok : worst == 1 ? ribbon::FactorStatus::zero_pivot : ribbon::FactorStatus::not_finite;
  r.smallest_pivot = worst == 2 ? 0 : static_cast<PetscReal>(PetscMin(smallest.value, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a matrix is one of blocks, of which a copy as AIJ is kept, and how many entries it has: PETSc (3.18) does not tell by the nonzero state when blocks are added.
PetscErrorCode CountBlocks(Mat A, bool *has_blocks, PetscLogDouble *entries)
{
  PetscBool is;
  MatInfo   info;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &is, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  *has_blocks = is, *entries = 0;
  if (is) {
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
    *entries = info.nz_used;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds the chain and makes its tree; an error leaves nothing of what was there before.
PetscErrorCode Analyse(Mat F, Mat A)
{
  MultifrontalFactor *f = Data(F);
  PetscBool           alike;
  PetscFunctionBegin;
  PetscCall(ResetMultifrontal(F));
  PetscCheck(A->rmap->N == A->cmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ, "multifrontal: a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns is not square", A->rmap->N, A->cmap->N);
  PetscCall(PetscLayoutCompare(A->rmap, A->cmap, &alike));
  PetscCheck(alike, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ, "multifrontal: ranks have other columns than rows of the matrix");
  PetscCall(PetscLayoutCompare(A->rmap, F->rmap, &alike));
  PetscCheck(alike, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ, "multifrontal: ranks have other rows of the matrix than of that which MatGetFactor() was called with");
  PetscCall(KeepAIJ(f, A));
  PetscCall(MakeTree(F));
  PetscCall(PetscObjectGetId((PetscObject)A, &f->matrix));
  PetscCall(MatGetNonzeroState(A, &f->nonzeros));
  bool has_blocks;
  PetscCall(CountBlocks(A, &has_blocks, &f->entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where nothing is pivoted: whether the factors solve.
PetscErrorCode CheckFactors(Mat F, Mat A)
{
  MultifrontalFactor *f     = Data(F);
  PetscReal          &error = f->backward_error;
  PetscFunctionBegin;
  PetscCall(QuickProbe(F, &error));
  if (error <= 1e4 * PETSC_MACHINE_EPSILON) PetscFunctionReturn(PETSC_SUCCESS); // not so NaN
  f->is_factored     = false;
  f->report.status   = ribbon::FactorStatus::unsound;
  F->factorerrortype = MAT_FACTOR_NUMERIC_ZEROPIVOT; // see below
  PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_CONV_FAILED,
             "multifrontal: elimination without pivots loses the digits of this matrix (backward error %g of the probe): -mat_multifrontal_pivot qr", static_cast<double>(error));
  PetscCall(PetscInfo(F, "backward error %g without pivots\n", static_cast<double>(error)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Writes what -mat_multifrontal_view asks for.
PetscErrorCode ViewFactorization(Mat F)
{
  MultifrontalFactor *f = Data(F);
  PetscBool           ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)f->viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (f->is_factored) PetscCall(Probe(F, &f->backward_error, &f->rcond));
  PetscCall(PetscViewerPushFormat(f->viewer, f->format));
  PetscUseTypeMethod(F, view, f->viewer);
  PetscCall(PetscViewerPopFormat(f->viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes -pc_factor_zeropivot. @param changes  whether it was another one before
PetscErrorCode TakeZeroPivot(Mat F, const MatFactorInfo *info, bool *changes)
{
  PetscFunctionBegin;
  PetscCheck(info->zeropivot >= 0 && !PetscIsInfReal(info->zeropivot), PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "multifrontal: -pc_factor_zeropivot %g: a number that is not negative",
             static_cast<double>(info->zeropivot)); // not so NaN
  *changes            = Data(F)->zero_pivot != info->zeropivot;
  Data(F)->zero_pivot = info->zeropivot;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix, or a pattern of it, that the tree was not made for is analysed first, and so is one with another `zeropivot`.
PetscErrorCode MatFactorNumeric_Multifrontal(Mat F, Mat A, const MatFactorInfo *info)
{
  MultifrontalFactor *f = Data(F);
  Mat                 local, outside = nullptr;
  const PetscInt     *columns = nullptr;
  PetscObjectId       matrix;
  PetscObjectState    nonzeros;
  PetscLogDouble      entries;
  bool                has_blocks, other_pivot = false;
  PetscFunctionBegin;
  if (info) PetscCall(TakeZeroPivot(F, info, &other_pivot));
  f->is_factored    = false;
  f->steps          = f->refine;
  f->backward_error = f->rcond = -1;
  PetscCall(PetscObjectGetId((PetscObject)A, &matrix));
  PetscCall(MatGetNonzeroState(A, &nonzeros));
  PetscCall(CountBlocks(A, &has_blocks, &entries));
  if (matrix != f->matrix || nonzeros != f->nonzeros || entries != f->entries || other_pivot) PetscCall(Analyse(F, A));
  else PetscCall(KeepAIJ(f, A));
  if (f->pattern.gathered) {
    PetscCall(GatherNumbers(f->aij, f->gathered, &f->gather_room));
    local = f->gathered;
  } else PetscCall(LocalBlocks(f->aij, &local, &outside, &columns));
  f->report = {};
  if (f->factor) PetscCall(f->factor->numeric(local, outside, columns, &f->report));
  PetscCall(Agree(F));
  const ChainReport &r         = f->report;
  f->is_factored               = r.status == ribbon::FactorStatus::ok;
  F->factorerrortype           = f->is_factored ? MAT_FACTOR_NOERROR : MAT_FACTOR_NUMERIC_ZEROPIVOT; // of NaN, too: no other error PCLU and PCCHOLESKY forget when numbers change
  F->factorerror_zeropivot_row = r.column, F->factorerror_zeropivot_value = r.smallest_pivot;
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  if (!f->is_factored) {
    PetscCheck(!A->erroriffailure || r.status != ribbon::FactorStatus::zero_pivot, PetscObjectComm((PetscObject)F), PETSC_ERR_MAT_LU_ZRPVT,
               "multifrontal: zero pivot in column %" PetscInt_FMT ": %g of its largest entry%s", r.column, static_cast<double>(r.smallest_pivot),
               f->pivot == MAT_MULTIFRONTAL_PIVOT_NONE ? "; -mat_multifrontal_pivot qr exchanges rows" : "");
    PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_FP, "multifrontal: NaN or Inf at column %" PetscInt_FMT, r.column);
    PetscCall(PetscInfo(F, "smallest pivot %g in column %" PetscInt_FMT "\n", static_cast<double>(r.smallest_pivot), r.column));
  }
  if (f->refine > 0 && !f->residual) PetscCall(MatCreateVecs(f->aij, &f->correction, &f->residual));
  if (f->is_factored && f->pivot == MAT_MULTIFRONTAL_PIVOT_NONE) PetscCall(CheckFactors(F, A));
  if (f->viewer) PetscCall(ViewFactorization(F));
  if (f->refine == 0 && !has_blocks) PetscCall(MatDestroy(&f->aij)); // a copy of blocks takes the next numbers
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorSymbolic_Multifrontal(Mat F, Mat A, const MatFactorInfo *info)
{
  bool changes;
  PetscFunctionBegin;
  PetscCall(TakeZeroPivot(F, info, &changes));
  PetscCall(EnsureKokkos());
  PetscCall(SetMultifrontalFromOptions(F));
  PetscCall(Analyse(F, A));
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

PetscErrorCode MatGetInertia_Multifrontal(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  MultifrontalFactor *f    = Data(F);
  const MPI_Comm      comm = PetscObjectComm((PetscObject)F);
  ribbon::Inertia     found;
  std::string         refusal;
  PetscFunctionBegin;
  PetscCheck(f->report.status != ribbon::FactorStatus::not_finite, comm, PETSC_ERR_FP, "multifrontal: MatGetInertia() of a matrix with NaN or Inf at column %" PetscInt_FMT, f->report.column);
  if (f->factor) PetscCall(f->factor->inertia(&found, &refusal));
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_WRONG, refusal));
  PetscInt counts[] = {static_cast<PetscInt>(found.negative), static_cast<PetscInt>(found.zero), static_cast<PetscInt>(found.positive)};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 3, MPIU_INT, MPI_MAX, comm)); // ranks without rows know nothing
  if (negative) *negative = counts[0];
  if (zero) *zero = counts[1];
  if (positive) *positive = counts[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

void ribbon::petsc::SetFactorOperations(Mat F)
{
  F->ops->lufactorsymbolic       = MatLUFactorSymbolic_Multifrontal;
  F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_Multifrontal;
  if (F->factortype == MAT_FACTOR_CHOLESKY) F->ops->getinertia = MatGetInertia_Multifrontal;
}

PetscErrorCode ribbon::petsc::ResetMultifrontal(Mat F)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  f->factor.reset();
  f->is_factored = false;
  f->report      = {};
  f->matrix      = 0;
  F->assembled   = PETSC_FALSE;
  if (f->active != MPI_COMM_NULL && f->active != PETSC_COMM_SELF) PetscCallMPI(MPI_Comm_free(&f->active));
  f->active = MPI_COMM_NULL;
  PetscCall(MatDestroy(&f->aij));
  PetscCall(MatDestroy(&f->gathered));
  PetscCall(MatDestroy(&f->turned));
  f->gather_room = {}, f->from_symmetric = {};
  PetscCall(VecScatterDestroy(&f->to_first));
  PetscCall(VecDestroy(&f->all_b));
  PetscCall(VecDestroy(&f->all_x));
  for (Vec *v : {&f->residual, &f->probe_u, &f->probe_v, &f->probe_x, &f->probe_b, &f->probe_r}) PetscCall(VecDestroy(v));
  PetscCall(VecDestroy(&f->correction));
  PetscCall(f->native.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

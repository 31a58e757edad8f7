// SPDX-License-Identifier: BSD-2-Clause
#include "kept_aij.hpp"

#include "../support/aij.hpp"
#include "../support/csr.hpp"

namespace ribbon::petsc {

namespace {

/// Copies the blocks of a sequential BAIJ matrix to an AIJ matrix with the entries of all blocks.
/// `is_done`: false for other matrices.
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

/// Copies the entries of a BAIJ or SBAIJ matrix to the AIJ matrix that was created from it. `is_done`:
/// false for other matrices. MatConvert() with MAT_REUSE_MATRIX allocates, and spoils the copy (PETSc 3.18:
/// MPIBAIJ, SBAIJ).
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

/// Copies the entries of an AIJ matrix in their memory. MatDuplicate() and MatCopy() would copy entries of
/// a device to the host.
PetscErrorCode CopyNumbers(Mat A, Mat *copy)
{
  PetscFunctionBegin;
  if (!*copy) PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, copy));
  PetscCall(MatZeroEntries(*copy));
  PetscCall(MatAXPY(*copy, 1, A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

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
  else PetscCall(ConvertToAIJ(A, &f->aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CountBlocks(Mat A, bool *has_blocks, PetscLogDouble *entries)
{
  PetscBool is;
  MatInfo   info;
  PetscFunctionBegin;
  PetscCall(
    PetscObjectTypeCompareAny((PetscObject)A, &is, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  *has_blocks = is, *entries = 0;
  if (is) {
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
    *entries = info.nz_used;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

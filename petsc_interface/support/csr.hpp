// SPDX-License-Identifier: BSD-2-Clause
/// @file csr.hpp  The compressed rows of a sequential AIJ matrix, in their memory.
#pragma once

#include "compat.h"

#include <ribbon/lines_from_csr.hpp>

namespace ribbon::petsc {

/// Whether a matrix is bound to the host. PETSc also marks Kokkos types as bound, which have no such state:
/// the block of a matrix that was bound while a DM created it keeps the mark.
inline PetscErrorCode IsBoundToHost(Mat A, PetscBool *bound)
{
  PetscBool kokkos;
  PetscFunctionBegin;
  PetscCall(MatBoundToCPU(A, bound));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &kokkos, MATSEQAIJKOKKOS, MATMPIAIJKOKKOS, ""));
  if (kokkos) *bound = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether PETSc stores this local block on a device that the kernels can use.
inline PetscErrorCode BlockIsOnDevice(Mat block, bool *on_device)
{
  PetscBool is = PETSC_FALSE, bound = PETSC_FALSE;
  PetscInt  n;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(block, &n, nullptr));
  if (has_device && n > 0)
    PetscCall(PetscObjectTypeCompareAny((PetscObject)block, &is, MATSEQAIJCUSPARSE, MATSEQAIJKOKKOS, ""));
  PetscCall(IsBoundToHost(block, &bound));
  *on_device = is && !bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Returns the columns of other ranks in the rows of this rank as a sequential AIJ matrix, borrowed, and
/// their global numbers (unless null). Null if the type does not separate these columns.
inline PetscErrorCode GetOffProcessBlock(Mat rows, Mat *off, const PetscInt **columns)
{
  PetscBool is_mpiaij;
  PetscFunctionBegin;
  *off = nullptr;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)rows, &is_mpiaij, MATMPIAIJ, MATMPIAIJCUSPARSE,
                                      MATMPIAIJKOKKOS, ""));
  if (is_mpiaij) PetscCall(MatMPIAIJGetSeqAIJ(rows, nullptr, off, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using HostRows = CsrMatrix<Scalar, PetscInt>;

/// Opens the compressed rows of a sequential AIJ matrix in host memory without a copy, with entries if
/// `values`. RestoreHostRows() closes them. Errors: PETSC_ERR_SUP for other types.
inline PetscErrorCode GetHostRows(Mat block, bool values, HostRows *rows)
{
  PetscInt           n;
  PetscBool          done;
  const PetscScalar *a = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->row_begin, &rows->column, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Ribbon: cannot read the rows of a matrix of type %s",
             ((PetscObject)block)->type_name);
  if (values) PetscCall(MatSeqAIJGetArrayRead(block, &a));
  rows->rows = n, rows->value = reinterpret_cast<const Scalar *>(a);
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode RestoreHostRows(Mat block, HostRows *rows)
{
  PetscInt  n;
  PetscBool done;
  auto     *a = reinterpret_cast<const PetscScalar *>(rows->value);
  PetscFunctionBegin;
  if (a) PetscCall(MatSeqAIJRestoreArrayRead(block, &a));
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->row_begin, &rows->column, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls f with the compressed rows of a sequential AIJ matrix in host memory.
template <class F>
PetscErrorCode WithCsrOnHost(Mat block, const F &f)
{
  HostRows rows;
  PetscFunctionBegin;
  PetscCall(GetHostRows(block, true, &rows));
  PetscCallCXX(f(rows));
  PetscCall(RestoreHostRows(block, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same in device memory.
template <class F>
PetscErrorCode WithCsrOnDevice([[maybe_unused]] Mat block, [[maybe_unused]] const F &f)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscBool is_cusparse;
  PetscInt  n;
  PetscCall(MatGetLocalSize(block, &n, nullptr));
  PetscCall(PetscObjectTypeCompare((PetscObject)block, MATSEQAIJCUSPARSE, &is_cusparse));
  if (is_cusparse) { // MatSeqAIJGetCSRAndMemType returns shortened row offsets if rows are empty
    const int         *i, *j;
    const PetscScalar *a;
    PetscCall(MatSeqAIJCUSPARSEGetIJ(block, PETSC_FALSE, &i, &j));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(block, &a));
    PetscCallCXX(f(CsrMatrix<Scalar, std::int32_t>{n, i, j, reinterpret_cast<const Scalar *>(a)}));
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(block, &a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(block, PETSC_FALSE, &i, &j));
  } else {
    const PetscInt *i, *j;
    PetscScalar    *a;
    PetscMemType    where;
    PetscCall(MatSeqAIJGetCSRAndMemType(block, &i, &j, &a, &where));
    PetscCheck(PetscMemTypeDevice(where), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Ribbon: the rows of a matrix of type %s are not on the device",
               ((PetscObject)block)->type_name);
    PetscCallCXX(f(CsrMatrix<Scalar, PetscInt>{n, i, j, reinterpret_cast<const Scalar *>(a)}));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Exec, class F>
PetscErrorCode WithCsr(Mat block, const F &f)
{
  if constexpr (is_device_space<Exec>) return WithCsrOnDevice(block, f);
  else return WithCsrOnHost(block, f);
}

} // namespace ribbon::petsc

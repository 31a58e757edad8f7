// SPDX-License-Identifier: BSD-2-Clause
#include "aij.hpp"

#include <petsc/private/matimpl.h>

namespace ribbon::petsc {

PetscErrorCode IsAIJ(Mat A, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, is, MATSEQAIJ, MATSEQAIJCUSPARSE, MATSEQAIJKOKKOS,
                                      MATMPIAIJ, MATMPIAIJCUSPARSE, MATMPIAIJKOKKOS, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConvertToAIJ(Mat A, Mat *aij)
{
  PetscObjectState state, pattern = A->nonzerostate;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, aij));
  PetscCall(PetscObjectStateSet((PetscObject)A, state));
  A->nonzerostate = pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetBlocks(Mat aij, Mat (&block)[2], const PetscInt **columns)
{
  PetscBool sequential;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)aij, &sequential, MATSEQAIJ, MATSEQAIJCUSPARSE,
                                      MATSEQAIJKOKKOS, ""));
  block[0] = aij, block[1] = nullptr;
  if (!sequential) PetscCall(MatMPIAIJGetSeqAIJ(aij, &block[0], &block[1], columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

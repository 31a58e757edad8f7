// SPDX-License-Identifier: BSD-2-Clause
#include "local_blocks.hpp"

namespace ribbon::petsc {

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

} // namespace ribbon::petsc

/* SPDX-License-Identifier: BSD-2-Clause */
/* The code for Ribbon: a matrix of type compact with the stencils of a time step. It finds the functions of
   libribbon by name, so that the program links PETSc alone. A program that links libribbon calls
   MatCompactSetDirection() and MatCompactSetStencil(). */
#include "hyperdiffusion.h"

#include <ribbon_petsc/matcompact.h>

PetscErrorCode CreateStepMatrix(const Problem *p, DM da, Mat *A)
{
  const Stencil        a = MakeStencil(p, 1), b = MakeStencil(p, -1);
  const MatCompactRows left  = {a.width, a.entries, 0, NULL, NULL},
                       right = {b.width, b.entries, 0, NULL, NULL};
  PetscErrorCode (*create)(Mat);
  PetscErrorCode (*set_direction)(Mat, MatCompactDirection);
  PetscErrorCode (*set_stencil)(Mat, const MatCompactRows *, const MatCompactRows *);

  PetscFunctionBeginUser;
  PetscCall(MatInitializePackage());
  PetscCall(PetscFunctionListFind(MatList, MATCOMPACT, &create));
  PetscCheck(create, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-step compact: there is no Mat type compact: load libribbon with -dll_append");
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetDM(*A, da));
  PetscCall(MatSetType(*A, MATCOMPACT));
  PetscCall(PetscObjectQueryFunction((PetscObject)*A, "MatCompactSetDirection_C", &set_direction));
  PetscCall(PetscObjectQueryFunction((PetscObject)*A, "MatCompactSetStencil_C", &set_stencil));
  PetscCall((*set_direction)(*A, p->batch == INTERLEAVED ? MAT_COMPACT_Y : MAT_COMPACT_X));
  PetscCall((*set_stencil)(*A, &left, &right));
  PetscCall(MatSetUp(*A));
  PetscFunctionReturn(0);
}

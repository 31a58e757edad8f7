/* SPDX-License-Identifier: BSD-2-Clause */
/* private_petsc.c  A library that uses PETSc. private_petsc_main.c loads it with RTLD_LOCAL, as Python loads
   petsc4py. */
#include <petscksp.h>

PETSC_EXTERN int use_petsc(int argc, char **argv)
{
  PC        pc;
  PetscBool is_line;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, "line"));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, "line", &is_line));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "PC line is %s\n", is_line ? "registered" : "missing"));
  PetscCall(PetscFinalize());
  return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <ribbon_petsc/ribbon.h>
int main(int argc, char **argv)
{
  const PCLineDirection directions[] = {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y};
  PC                    pc;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(RibbonInitialize());
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLINE));
  PetscCall(PCLineSetDirection(pc, PC_LINE_DIRECTION_ROWS));
  PetscCall(PCLineSetDirections(pc, 2, directions));
  PetscCall(PCLineSetComposition(pc, PC_LINE_COMPOSITION_SYMMETRIC));
  PetscCall(PCDestroy(&pc));
  return PetscFinalize();
}

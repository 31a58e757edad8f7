#include <ribbon_petsc/ribbon.h>
int main(int argc, char **argv)
{
  PC pc;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(RibbonInitialize());
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLINE));
  PetscCall(PCLineSetDirection(pc, PC_LINE_DIRECTION_ROWS));
  PetscCall(PCDestroy(&pc));
  return PetscFinalize();
}

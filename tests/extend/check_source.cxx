// SPDX-License-Identifier: BSD-2-Clause
// The source of lines of the recipe. PC line finds lines of 10 rows in a matrix with an attached length,
// and one line of all 30 rows in a matrix without it.
#include <ribbon_petsc/ribbon.h>

#include <petscksp.h>

namespace {

PetscErrorCode RowsOfLines(bool attach, PetscInt *rows)
{
  PetscInt       length = 10;
  PetscContainer attached;
  Mat            A;
  PC             pc;
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 30, 30, 3, nullptr, &A));
  for (PetscInt i = 0; i < 30; ++i)
    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(30, i + 2); ++j)
      PetscCall(MatSetValue(A, i, j, i == j ? 2 : -0.5, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (attach) {
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &attached));
    PetscCall(PetscContainerSetPointer(attached, &length));
    PetscCall(PetscObjectCompose((PetscObject)A, "line_length", (PetscObject)attached));
    PetscCall(PetscContainerDestroy(&attached));
  }
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCLINE));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLineGetInfo(pc, nullptr, nullptr, rows, nullptr, nullptr, nullptr));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PetscErrorCode(0));
}

} // namespace

int main(int argc, char **argv)
{
  PetscInt with, without;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(RibbonInitialize());
  PetscCall(RowsOfLines(true, &with));
  PetscCall(RowsOfLines(false, &without));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "lines of %" PetscInt_FMT " rows, and of %" PetscInt_FMT "\n", with,
                        without));
  PetscCall(PetscFinalize());
  return with == 10 && without == 30 ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* wrong_petsc.c  A program whose PETSc reports another build: -lie version, indices, complex, single or mpi.
   The functions that libribbon calls are found here before those of PETSc. -lie nothing forwards PETSc's
   values. The last line of output tells whether PC line is registered. */
#define _GNU_SOURCE
#include <petscksp.h>
#include <dlfcn.h>
#include <string.h>

static const char *lie = "nothing";

PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  PetscErrorCode (*ask)(PetscInt *, PetscInt *, PetscInt *, PetscInt *);
  *(void **)&ask       = dlsym(RTLD_NEXT, "PetscGetVersionNumber");
  PetscErrorCode error = (*ask)(major, minor, subminor, release);
  if (minor && strcmp(lie, "version") == 0) *minor = 7;
  return error;
}

PetscErrorCode PetscDataTypeFromString(const char *name, PetscDataType *type, PetscBool *found)
{
  PetscErrorCode (*ask)(const char *, PetscDataType *, PetscBool *);
  *(void **)&ask       = dlsym(RTLD_NEXT, "PetscDataTypeFromString");
  PetscErrorCode error = (*ask)(name, type, found);
  if (strcmp(name, "scalar") == 0 && strcmp(lie, "complex") == 0) *type = PETSC_COMPLEX;
  if (strcmp(name, "real") == 0 && strcmp(lie, "single") == 0) *type = PETSC_FLOAT;
  return error;
}

PetscErrorCode PetscDataTypeGetSize(PetscDataType type, size_t *size)
{
  PetscErrorCode (*ask)(PetscDataType, size_t *);
  *(void **)&ask       = dlsym(RTLD_NEXT, "PetscDataTypeGetSize");
  PetscErrorCode error = (*ask)(type, size);
  if (type == PETSC_INT && strcmp(lie, "indices") == 0) *size = 12 - *size;
  return error;
}

#if !defined(PETSC_HAVE_MPIUNI)
int MPI_Get_library_version(char *text, int *length)
{
  #if defined(OMPI_MAJOR_VERSION)
  const char *other = "MPICH Version: 4.2";
  #else
  const char *other = "Open MPI v5.0";
  #endif
  if (strcmp(lie, "mpi") != 0) return PMPI_Get_library_version(text, length);
  strcpy(text, other);
  *length = (int)strlen(text);
  return MPI_SUCCESS;
}
#endif

int main(int argc, char **argv)
{
  PC        pc;
  PetscBool is_line;
  for (int i = 1; i + 1 < argc; ++i)
    if (strcmp(argv[i], "-lie") == 0) lie = argv[i + 1];
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, "line"));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, "line", &is_line));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "PC line is %s\n", is_line ? "registered" : "missing"));
  PetscCall(PetscFinalize());
  return 0;
}

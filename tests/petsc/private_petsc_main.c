/* SPDX-License-Identifier: BSD-2-Clause */
/* private_petsc_main.c  Runs private_petsc, the library that PRIVATE_PETSC names. No symbol of its PETSc is
   global. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  void *library = dlopen(PRIVATE_PETSC, RTLD_NOW | RTLD_LOCAL);
  int (*use_petsc)(int, char **);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void **)&use_petsc = dlsym(library, "use_petsc");
  return use_petsc ? (*use_petsc)(argc, argv) : 1;
}

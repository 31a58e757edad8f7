// SPDX-License-Identifier: BSD-2-Clause
// Entry points that PETSc calls after it has loaded the library: libribbon of -dll_append <path>/libribbon.so,
// and libpetscribbon, the name that PETSc gives to packages of its configure script.
#include <support/petsc_build.hpp>
#include <ribbon_petsc/ribbon.h>

static PetscErrorCode Register(const void *caller)
{
  PetscFunctionBegin;
  PetscCall(ribbon::petsc::CheckPetscBuild(caller));
  PetscCall(RibbonInitialize());
  PetscFunctionReturn(PetscErrorCode(0));
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_ribbon(void)
{
  return Register(__builtin_return_address(0));
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscribbon(void)
{
  return Register(__builtin_return_address(0));
}

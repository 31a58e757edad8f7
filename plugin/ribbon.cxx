// SPDX-License-Identifier: BSD-2-Clause
// The entry point that -dll_append <path>/libribbon.so calls.
#include <support/petsc_build.hpp>
#include <ribbon_petsc/ribbon.h>

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_ribbon(void)
{
  PetscFunctionBegin;
  PetscCall(ribbon::petsc::CheckPetscBuild(__builtin_return_address(0)));
  PetscCall(RibbonInitialize());
  PetscFunctionReturn(PetscErrorCode(0));
}

// SPDX-License-Identifier: BSD-2-Clause
// The entry point that -dll_append <path>/libribbon.so looks for.
#include <ribbon_petsc/ribbon.h>

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_ribbon(void)
{
  PetscFunctionBegin;
  PetscCall(RibbonInitialize());
  PetscFunctionReturn(PetscErrorCode(0));
}

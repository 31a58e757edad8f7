// SPDX-License-Identifier: BSD-2-Clause
#include "ksp/line.hpp"
#include "ksp/adi.hpp"
#include "mat/multifrontal.hpp"
#include "pc/adi.hpp"
#include "pc/line.hpp"
#include "ts/adi.hpp"

#include <ribbon_petsc/ribbon.h>

PetscErrorCode RibbonInitialize(void)
{
  PetscInt major, minor;
  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, nullptr, nullptr));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libribbon was built for PETSc %d.%d but runs with %" PetscInt_FMT ".%" PetscInt_FMT ": rebuild it against this PETSc", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
  PetscCall(PCRegister(PCLINE, PCCreate_Line));
  PetscCall(PCRegister(PCADI, PCCreate_ADI));
  PetscCall(KSPRegister(KSPLINE, KSPCreate_Line));
  PetscCall(KSPRegister(KSPADI, KSPCreate_ADI));
  PetscCall(ribbon::petsc::RegisterMultifrontal());
  PetscCall(TSRegister(TSADI, TSCreate_ADI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "ksp/line.hpp"
#include "ksp/adi.hpp"
#include "mat/multifrontal.hpp"
#include "pc/adi.hpp"
#include "pc/line.hpp"
#include "petsc_build.hpp"
#include "ts/adi.hpp"

#include <ribbon_petsc/ribbon.h>

PetscErrorCode RibbonInitialize(void)
{
  PetscFunctionBegin;
  PetscCall(ribbon::petsc::CheckPetscBuild(nullptr));
  PetscCall(PCRegister(PCLINE, PCCreate_Line));
  PetscCall(PCRegister(PCADI, PCCreate_ADI));
  PetscCall(KSPRegister(KSPLINE, KSPCreate_Line));
  PetscCall(KSPRegister(KSPADI, KSPCreate_ADI));
  PetscCall(ribbon::petsc::RegisterMultifrontal());
  PetscCall(TSRegister(TSADI, TSCreate_ADI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

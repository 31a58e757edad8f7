// SPDX-License-Identifier: BSD-2-Clause
#include "line/ksp.hpp"
#include "adi/ksp.hpp"
#include "compact/mat.hpp"
#include "multicolor/pc.hpp"
#include "multifrontal/multifrontal.hpp"
#include "adi/pc.hpp"
#include "line/pc.hpp"
#include "support/petsc_build.hpp"
#include "adi/ts.hpp"

#include <ribbon_petsc/ribbon.h>

PetscErrorCode RibbonInitialize(void)
{
  PetscFunctionBegin;
  PetscCall(ribbon::petsc::CheckPetscBuild(nullptr));
  PetscCall(PCRegister(PCLINE, PCCreate_Line));
  PetscCall(PCRegister(PCADI, PCCreate_ADI));
  PetscCall(PCRegister(PCMULTICOLOR, PCCreate_Multicolor));
  PetscCall(KSPRegister(KSPLINE, KSPCreate_Line));
  PetscCall(KSPRegister(KSPADI, KSPCreate_ADI));
  PetscCall(ribbon::petsc::RegisterMultifrontal());
  PetscCall(MatRegister(MATCOMPACT, MatCreate_Compact));
  PetscCall(TSRegister(TSADI, TSCreate_ADI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

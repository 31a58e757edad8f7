// SPDX-License-Identifier: BSD-2-Clause
#include "ksp.hpp"

namespace ribbon::petsc {

namespace {

KSP_ADI *context(KSP ksp)
{
  return static_cast<KSP_ADI *>(ksp->data);
}

PetscErrorCode SetBounds(KSP ksp, PetscReal least, PetscReal largest)
{
  KSP_ADI *adi = context(ksp);
  PetscFunctionBegin;
  adi->bounds[0] = least, adi->bounds[1] = largest;
  adi->set_up_with = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetBounds(KSP ksp, PetscReal *least, PetscReal *largest)
{
  PetscFunctionBegin;
  if (least) *least = context(ksp)->bounds[0];
  if (largest) *largest = context(ksp)->bounds[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetShifts(KSP ksp, PetscInt n)
{
  PetscFunctionBegin;
  context(ksp)->shifts      = n;
  context(ksp)->set_up_with = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetShifts(KSP ksp, PetscInt *n)
{
  PetscFunctionBegin;
  *n = context(ksp)->shifts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetInfo(KSP ksp, PetscInt *n, PetscReal *predicted, PetscBool *separable)
{
  const KSP_ADI *adi = context(ksp);
  PetscFunctionBegin;
  PetscCheck(adi->set_up_with, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE, "KSPADIGetInfo: call KSPSetUp() first");
  if (n) *n = static_cast<PetscInt>(adi->pairs.size());
  if (predicted) *predicted = static_cast<PetscReal>(adi->predicted);
  if (separable) *separable = static_cast<PetscBool>(adi->separable);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ComposeADIOptions(KSP ksp, bool attach)
{
  const auto compose = [&](const char *name, auto function) { return PetscObjectComposeFunction((PetscObject)ksp, name, attach ? function : nullptr); };
  PetscFunctionBegin;
  PetscCall(compose("KSPADISetBounds_C", &SetBounds));
  PetscCall(compose("KSPADIGetBounds_C", &GetBounds));
  PetscCall(compose("KSPADISetShifts_C", &SetShifts));
  PetscCall(compose("KSPADIGetShifts_C", &GetShifts));
  PetscCall(compose("KSPADIGetInfo_C", &GetInfo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetADIFromOptions(KSP ksp, RibbonOptionItems PetscOptionsObject)
{
  KSP_ADI  *adi       = context(ksp);
  PetscReal bounds[2] = {adi->bounds[0], adi->bounds[1]};
  PetscInt  shifts = adi->shifts, n = 2;
  PetscBool set;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP adi options");
  PetscCall(PetscOptionsRealArray("-ksp_adi_bounds", "Smallest and largest eigenvalue of every one-direction operator (0,0: estimated)", "KSPADISetBounds", bounds, &n, &set));
  PetscCheck(!set || n == 2, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "KSP adi: -ksp_adi_bounds takes two numbers");
  if (set) PetscCall(KSPADISetBounds(ksp, bounds[0], bounds[1]));
  PetscCall(PetscOptionsInt("-ksp_adi_shifts", "Shifts of a cycle (0: as many as the tolerance takes)", "KSPADISetShifts", shifts, &shifts, &set));
  if (set) PetscCall(KSPADISetShifts(ksp, shifts));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

PetscErrorCode KSPADISetBounds(KSP ksp, PetscReal least, PetscReal largest)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ksp, least, 2);
  PetscValidLogicalCollectiveReal(ksp, largest, 3);
  PetscCheck((least == 0 && largest == 0) || (least > 0 && largest > least && PetscIsNormalReal(largest)), PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "KSPADISetBounds, -ksp_adi_bounds: 0 < %g < %g does not hold", (double)least, (double)largest);
  PetscTryMethod(ksp, "KSPADISetBounds_C", (KSP, PetscReal, PetscReal), (ksp, least, largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPADIGetBounds(KSP ksp, PetscReal *least, PetscReal *largest)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPADIGetBounds_C", (KSP, PetscReal *, PetscReal *), (ksp, least, largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPADISetShifts(KSP ksp, PetscInt n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, n, 2);
  PetscCheck(n >= 0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "KSPADISetShifts, -ksp_adi_shifts: %" PetscInt_FMT " is negative", n);
  PetscCheck(n <= 1024, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "KSPADISetShifts, -ksp_adi_shifts: %" PetscInt_FMT " is above 1024; each shift has factors of every direction", n);
  PetscTryMethod(ksp, "KSPADISetShifts_C", (KSP, PetscInt), (ksp, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPADIGetShifts(KSP ksp, PetscInt *n)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPADIGetShifts_C", (KSP, PetscInt *), (ksp, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPADIGetInfo(KSP ksp, PetscInt *n, PetscReal *predicted, PetscBool *separable)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPADIGetInfo_C", (KSP, PetscInt *, PetscReal *, PetscBool *), (ksp, n, predicted, separable));
  PetscFunctionReturn(PETSC_SUCCESS);
}

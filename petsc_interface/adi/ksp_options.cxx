// SPDX-License-Identifier: BSD-2-Clause
#include "../support/options.hpp"
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

/// An equal value requires a new set-up as well: the result for 0 depends on the tolerance of the KSP.
PetscErrorCode SetShifts(KSP ksp, PetscInt n)
{
  PetscFunctionBegin;
  context(ksp)->shifts      = n;
  context(ksp)->set_up_with = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetInfo(KSP ksp, PetscInt *n, PetscReal *predicted, PetscBool *separable)
{
  const KSP_ADI *adi = context(ksp);
  PetscFunctionBegin;
  PetscCheck(adi->set_up_with, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE,
             "KSPADIGetInfo: call KSPSetUp() first");
  if (n) *n = static_cast<PetscInt>(adi->pairs.size());
  if (predicted) *predicted = static_cast<PetscReal>(adi->predicted);
  if (separable) *separable = static_cast<PetscBool>(adi->separable);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadBounds(KSP ksp, RibbonOptionItems PetscOptionsObject)
{
  PetscReal bounds[2] = {context(ksp)->bounds[0], context(ksp)->bounds[1]};
  PetscInt  n         = 2;
  PetscBool set;
  PetscFunctionBegin;
  PetscCall(PetscOptionsRealArray(
    "-ksp_adi_bounds", "Smallest and largest eigenvalue of every one-direction operator (0,0: estimated)",
    "KSPADISetBounds", bounds, &n, &set));
  PetscCheck(!set || n == 2, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "KSP adi: -ksp_adi_bounds takes two values");
  if (set) PetscCall(KSPADISetBounds(ksp, bounds[0], bounds[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *NotANumberOfShifts(PetscInt n)
{
  if (n > 1024) return "is above 1024; each shift has factors of every direction";
  return n >= 0 ? nullptr : "is negative";
}

constexpr auto ksp_adi_options = std::make_tuple(
  SpecialOption<KSP>{ReadBounds},
  Option("-ksp_adi_shifts", "Shifts of a cycle (0: as many as the tolerance takes)", "KSPADISetShifts",
         OptionMethods<KSP, PetscInt>{SetShifts, stored<KSP, &KSP_ADI::shifts>.get}, NotANumberOfShifts));

} // namespace

PetscErrorCode ComposeADIOptions(KSP ksp, bool attach)
{
  const auto compose = [&](const char *name, auto function) {
    return PetscObjectComposeFunction((PetscObject)ksp, name, attach ? function : nullptr);
  };
  PetscFunctionBegin;
  PetscCall(ComposeOptions(ksp, ksp_adi_options, attach));
  PetscCall(compose("KSPADISetBounds_C", &SetBounds));
  PetscCall(compose("KSPADIGetBounds_C", &GetBounds));
  PetscCall(compose("KSPADIGetInfo_C", &GetInfo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetADIFromOptions(KSP ksp, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP adi options");
  PetscCall(ReadOptions(ksp, ksp_adi_options, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

using namespace ribbon::petsc;

RIBBON_OPTION(ksp_adi_options, KSP, KSPADI, Shifts, PetscInt)

PetscErrorCode KSPADISetBounds(KSP ksp, PetscReal least, PetscReal largest)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ksp, least, 2);
  PetscValidLogicalCollectiveReal(ksp, largest, 3);
  PetscCheck((least == 0 && largest == 0) || (least > 0 && largest > least && PetscIsNormalReal(largest)),
             PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
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

PetscErrorCode KSPADIGetInfo(KSP ksp, PetscInt *n, PetscReal *predicted, PetscBool *separable)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPADIGetInfo_C", (KSP, PetscInt *, PetscReal *, PetscBool *),
                 (ksp, n, predicted, separable));
  PetscFunctionReturn(PETSC_SUCCESS);
}

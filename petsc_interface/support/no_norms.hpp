// SPDX-License-Identifier: BSD-2-Clause
/// @file no_norms.hpp  Whether Richardson's iteration may be left to a PC as a whole.
#pragma once

#include "compat.h"

#include <cstring>

namespace ribbon::petsc {

/// Whether a KSP computes no norms of residuals, and iterates x += M (b - A x) with the A and M of this PC.
/// PETSc also passes its iteration to a PC if it wants norms, and then ignores the tolerances. PETSc handles
/// scales, monitors, null spaces and transposes.
inline PetscErrorCode TakesNoNorms(PC pc, KSP ksp, bool *takes_none)
{
  PetscBool richardson;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  const bool unasked = ksp->normtype == KSP_NORM_NONE || ksp->converged == KSPConvergedSkip;
  // the flag is not public; PETSc then uses only the scale, which is 1
  const bool self_scaled = ksp->nwork > 2;
  *takes_none            = richardson && unasked && !ksp->res_hist && !self_scaled && pc->mat == pc->pmat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For applyrichardson: PETSc stores its reason as a KSPConvergedReason.
inline void RibbonSayPCFailed(PCRichardsonConvergedReason *reason)
{
  const KSPConvergedReason failed = KSP_DIVERGED_PC_FAILED;
  static_assert(sizeof failed == sizeof *reason);
  std::memcpy(reason, &failed, sizeof failed);
}

} // namespace ribbon::petsc

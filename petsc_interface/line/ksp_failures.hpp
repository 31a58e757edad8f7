// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp_failures.hpp  Ends a solve of KSP line after a failure of the PC, or with a norm that is not
///   finite.
#pragma once

#include "ksp_columns.hpp"

namespace ribbon::petsc::ksp_line {

/// The failure of the PC on any rank. PC line reports a failure on all ranks, other PCs may not.
PetscErrorCode AgreedFailure(KSP ksp, PCFailedReason *failed);
/// Sets up again what changed since the last solve, as KSPPREONLY does: the matrix, or an option. A PC that
/// consists of other PCs keeps the failure of an inner PC. This function clears the failure if the matrix
/// has changed since.
PetscErrorCode SetUpAgain(KSP ksp);
/// Ends the solve for a norm that is not finite, because of the PC or because of the values.
PetscErrorCode EndNotFinite(KSP ksp, Block &k);
/// Ends the solve before any iteration if the set-up of the PC failed. PC line still solves the lines that
/// did not fail.
PetscErrorCode EndFailed(KSP ksp, Mat A, Block &k, bool *failed);

} // namespace ribbon::petsc::ksp_line

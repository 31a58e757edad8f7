// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp_failures.hpp  How a failure of the PC, or a norm that is not finite, ends a solve of KSP line.
#pragma once

#include "ksp_columns.hpp"

namespace ribbon::petsc::ksp_line {

/// The failure of the PC that any rank knows of: PC line tells all, others may not.
PetscErrorCode AgreedFailure(KSP ksp, PCFailedReason *failed);
/// Sets up what changed since the last solve, as KSPPREONLY does: the matrix, or an option. A PC of other
/// PCs, which keeps the failure of one of them for good, forgets that of a matrix that is no more.
PetscErrorCode SetUpAgain(KSP ksp);
/// A norm that is not finite ends the solve: because of the PC, or of the numbers.
PetscErrorCode EndNotFinite(KSP ksp, Block &k);
/// A PC whose set-up failed ends the solve before any iteration. PC line applies what there is: it
/// knows which lines failed.
PetscErrorCode EndFailed(KSP ksp, Mat A, Block &k, bool *failed);

} // namespace ribbon::petsc::ksp_line

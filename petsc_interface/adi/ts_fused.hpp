// SPDX-License-Identifier: BSD-2-Clause
/// @file ts_fused.hpp  Whether steps of TS adi can be fused, and the reasons why not.
#pragma once

#include "ts.hpp"

#include <string>

namespace ribbon::petsc {

/// Why steps are not products, apart from reasons in the Jacobian; empty if they may be.
PetscErrorCode WhyNoProduct(TS ts, std::string *why);
/// Why a TSStep() is one step only; empty if nothing reads the solution between the steps of TSSolve().
void FindWhyOne(TS ts, std::string *why);
/// Whether the matrix that the splitting has read last is that of the RHSJacobian, unchanged.
PetscErrorCode MatrixIsRead(TS ts, bool *is);
/// Whether the lines, or the reason, are those of the Jacobian as it is now.
PetscErrorCode JacobianIsKnown(TS ts, bool *known);
/// Why the split Jacobian has no steps that are products; empty if it may have.
PetscErrorCode FindRefusal(TS ts, std::string *why);

} // namespace ribbon::petsc

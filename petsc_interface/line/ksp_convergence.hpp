// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp_convergence.hpp  Convergence of KSP line: the test of each column, of its lines, and of
///   rounding.
#pragma once

#include "ksp_columns.hpp"

namespace ribbon::petsc::ksp_line {

/// Keeps the best solutions of the columns that are not done, because a refinement may make them worse.
PetscErrorCode KeepTheBest(Block &k, std::vector<Column> &columns);
/// Applies the convergence test to one column, and ends the column if its norm stagnates.
PetscErrorCode Test(KSP ksp, Block &k, PetscInt c, Column &column, bool direct, bool last);
/// Judges all lines if M is direct. While lines that are not done improve, they hold back the result of the
/// default test.
PetscErrorCode JudgeLines(KSP ksp, Block &k, LineResiduals *lines, std::vector<Column> &columns,
                          bool look_at_b, bool last);
/// Ends columns as converged if the solution is exact to rounding, but the tolerance is smaller than
/// working precision allows.
PetscErrorCode EndAtRounding(KSP ksp, Block &k, LineResiduals *lines, std::vector<Column> &columns);

} // namespace ribbon::petsc::ksp_line

// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp_convergence.hpp  When KSP line stops: the test of each column, of its lines, and of rounding.
#pragma once

#include "ksp_columns.hpp"

namespace ribbon::petsc::ksp_line {

/// The best solutions of columns that go on: a refinement may make them worse.
PetscErrorCode KeepTheBest(Block &k, std::vector<Column> &columns);
/// Applies the convergence test to one column, and ends it where its norm makes no progress.
PetscErrorCode Test(KSP ksp, Block &k, PetscInt c, Column &column, bool direct, bool last);
/// Judges all lines where M is direct; lines that are not done hold back what the default test said,
/// as long as they get better.
PetscErrorCode JudgeLines(KSP ksp, Block &k, LineResiduals *lines, std::vector<Column> &columns,
                          bool look_at_b, bool last);
/// A tolerance that no solution in working precision has, and a solution that is exact but
/// for rounding: it converged.
PetscErrorCode EndAtRounding(KSP ksp, Block &k, LineResiduals *lines, std::vector<Column> &columns);

} // namespace ribbon::petsc::ksp_line

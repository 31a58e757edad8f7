// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp.hpp  KSP `line`: its context and the parts it is made of.
#pragma once

#include "accurate_residual.hpp"
#include "residuals.hpp"

#include <petsc/private/kspimpl.h>
#include <ribbon_petsc/ribbon.h>

PETSC_INTERN PetscErrorCode KSPCreate_Line(KSP ksp);

namespace ribbon::petsc {

/// Context of KSP line.
struct KSP_Line {
  // options
  PCLinePrecision   precision     = PC_LINE_PRECISION_SAME;
  bool              precision_set = false; ///< otherwise the PC's own choice counts
  PetscViewer       viewer        = nullptr;
  PetscViewerFormat format        = PETSC_VIEWER_DEFAULT;
  bool              chose_pc      = false; ///< PC line was chosen here, and has not read its options

  // the last solve
  bool solved = false, judged = false; ///< lines were looked at
  /// made for a set-up of the PC and a number of columns
  std::unique_ptr<LineResiduals>    lines;
  PetscInt64                        set_up      = 0;
  PetscInt                          columns     = 0;
  bool                              of_a_matrix = false; ///< by KSPMatSolve()
  PetscObjectState                  failed_with = -1;    ///< state of Pmat when the PC failed last
  std::unique_ptr<AccurateResidual> accurate;            ///< of Amat, made when it is asked for
};

/// The sums of the outcomes of the last solve, over all ranks.
struct LineCounts {
  PetscInt64 lines = 0, refined = 0, untouched = 0, open = 0; ///< untouched: at the tolerance from the start
  /// largest residual of a line relative to its right-hand side
  PetscReal worst = 0;
};

/// Iterations of one solve.
PetscErrorCode KSPSolve_Line(KSP ksp);
PetscErrorCode KSPMatSolve_Line(KSP ksp, Mat B, Mat X);
/// Makes the PC a PC line where it has no type. At creation, unless -pc_type is there: also where PETSc chose
/// the type, or the program did and the type of the KSP is an option.
PetscErrorCode ChoosePC(KSP ksp, bool at_creation);
/// A PC line that was chosen here reads its options, once.
PetscErrorCode ReadPCOptions(KSP ksp);
/// Hands the precision that was asked for to the PC. Errors: PETSC_ERR_ARG_INCOMP for single precision
/// with another PC than line.
PetscErrorCode PassPrecision(KSP ksp);
PetscErrorCode CountLines(KSP ksp, LineCounts *counts);
/// What computes residuals of Amat, as it is solved with (or transposed), in doubled
/// precision; null: its type has none.
PetscErrorCode GetAccurateResidual(KSP ksp, AccurateResidual **residual);
/// The componentwise backward error of each row of the last KSPSolve(): |r_i| / (sum_j |a_ij| |x_j| + |b_i|),
/// a new vector. Collective. Errors: PETSC_ERR_ARG_WRONGSTATE after KSPMatSolve() or before any solve,
/// PETSC_ERR_SUP for matrices without rows.
PetscErrorCode BackwardErrors(KSP ksp, Vec *errors);
PetscErrorCode ViewLines(KSP ksp, PetscViewer viewer);
PetscErrorCode ComposeKSPLineOptions(KSP ksp, bool attach);
PetscErrorCode SetKSPLineFromOptions(KSP ksp, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc

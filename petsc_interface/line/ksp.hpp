// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp.hpp  KSP `line`: its context and its parts.
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
  bool              precision_set = false; ///< otherwise the option of the PC counts
  PetscViewer       viewer        = nullptr;
  PetscViewerFormat format        = PETSC_VIEWER_DEFAULT;
  bool              chose_pc      = false; ///< the KSP chose PC line, which has not read its options yet

  // the last solve
  bool solved = false, judged = false; ///< lines were judged separately
  /// for one set-up of the PC and one number of columns
  std::unique_ptr<LineResiduals>    lines;
  PetscInt64                        set_up      = 0;
  PetscInt                          columns     = 0;
  bool                              of_a_matrix = false; ///< by KSPMatSolve()
  PetscObjectState                  failed_with = -1;    ///< state of Pmat at the last failure of the PC
  std::unique_ptr<AccurateResidual> accurate;            ///< of Amat, created on demand
};

/// Results of the last solve, summed over all ranks.
struct LineCounts {
  PetscInt64 lines = 0, refined = 0, untouched = 0, open = 0; ///< untouched: at the tolerance from the start
  /// largest residual of a line, relative to its right-hand side
  PetscReal worst = 0;
};

/// The iterations of one solve.
PetscErrorCode KSPSolve_Line(KSP ksp);
PetscErrorCode KSPMatSolve_Line(KSP ksp, Mat B, Mat X);
/// Sets the type of the PC to line if the PC has no type. At creation the option -pc_type has precedence.
/// Without it, a type that PETSc chose by default is replaced as well. If the type of the KSP comes from an
/// option, every type is replaced.
PetscErrorCode ChoosePC(KSP ksp, bool at_creation);
/// Reads the options of a PC line that the KSP chose, once.
PetscErrorCode ReadPCOptions(KSP ksp);
/// Passes the precision to the PC. Errors: PETSC_ERR_ARG_INCOMP for single precision with a PC of another
/// type.
PetscErrorCode PassPrecision(KSP ksp);
PetscErrorCode CountLines(KSP ksp, LineCounts *counts);
/// Copies the results of the lines of this rank: see KSPLineGetLines().
PetscErrorCode CopyLines(KSP ksp, PetscInt *n, PetscInt rows[], PetscInt columns[], PetscInt solves[],
                         PetscReal residuals[]);
/// Computes residuals of Amat (or of its transpose, as in the last solve) in doubled precision. Null if the
/// type of Amat is not supported.
PetscErrorCode GetAccurateResidual(KSP ksp, AccurateResidual **residual);
/// Creates a vector of the componentwise backward error of each row of the last KSPSolve(): |r_i| / (sum_j
/// |a_ij| |x_j| + |b_i|). Collective. Errors: PETSC_ERR_ARG_WRONGSTATE after KSPMatSolve() or before any
/// solve, PETSC_ERR_SUP for matrices whose rows cannot be read.
PetscErrorCode BackwardErrors(KSP ksp, Vec *errors);
PetscErrorCode ViewLines(KSP ksp, PetscViewer viewer);
PetscErrorCode ComposeKSPLineOptions(KSP ksp, bool attach);
PetscErrorCode SetKSPLineFromOptions(KSP ksp, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc

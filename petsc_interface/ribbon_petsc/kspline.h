/* SPDX-License-Identifier: BSD-2-Clause */
/* kspline.h  KSP type line: direct solves of batches of lines, refined. Included by ribbon.h. */
#pragma once

#include <petscksp.h>

/*MC
   KSPLINE = "line" - A direct solve of a batch of lines, with iterative refinement until every line has the
   tolerance.

   Options Database Keys:
+  -ksp_line_precision <same,single> - what lines are factored and solved in; residuals are of PETSc's
      precision (default same)
-  -ksp_line_view <viewer> - every solve says how many lines were refined, which are the worst, and how large
      residuals are; with ascii_info_detail, their componentwise backward errors, too

   Notes:
   x += M (b - A x) with A = Amat and M the PC, which is PCLINE where nobody chose one. Where nothing couples
   but along whole lines M is the inverse of A to rounding: one iteration solves, others refine. Lines whose
   residual has come down to max(rtol max|b|, abstol), by largest numbers along the line, are left alone from
   then on; the KSP ends when its convergence test says so and, with the default test, when the others are
   there, too, or get no better. Otherwise M is an approximation, all lines count as one, and the iteration is
   Richardson's. Norms are unpreconditioned ones, or none. Refinements of direct solves have residuals in
   doubled precision. A residual that gets no smaller ends in KSP_CONVERGED_HAPPY_BREAKDOWN where the solution
   is exact but for rounding (on each line max|r| <= 45 epsilon max(|A| |x| + |b|)), else in
   KSP_DIVERGED_BREAKDOWN; the best solution is kept.

   References:
.  * - N. J. Higham, Accuracy and Stability of Numerical Algorithms, SIAM (2002), chapter 12
M*/
#define KSPLINE "line"

/*@
   KSPLineSetPrecision - Sets what PCLINE factors and solves lines in

   Input Parameters:
+  ksp - the solver
-  precision - PC_LINE_PRECISION_SAME, or PC_LINE_PRECISION_SINGLE

   Options Database Key:
.  -ksp_line_precision <same,single> - the precision

   Note:
   Passed on to PCLineSetPrecision() of the PC; with another PC than PCLINE single precision is an error.
   Other KSP types ignore it.

.seealso: KSPLINE, PCLineSetPrecision(), KSPLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode KSPLineSetPrecision(KSP, PCLinePrecision);
PETSC_EXTERN PetscErrorCode KSPLineGetPrecision(KSP, PCLinePrecision *);
/*@
   KSPLineView - Says how the lines of the last solve came out: how many were refined, or did not get to the
   tolerance, the worst of them, and a histogram

   Input Parameters:
+  ksp - the solver
-  viewer - an ASCII viewer, or NULL for standard output; others print nothing

   Options Database Key:
.  -ksp_line_view <viewer> - do so after every solve

.seealso: KSPLINE, KSPLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode KSPLineView(KSP, PetscViewer viewer);
/*@
   KSPLineGetInfo - Tells how the lines of the last solve came out, on all ranks. Collective

   Input Parameter:
.  ksp - the solver

   Output Parameters (any may be NULL):
+  lines - lines that were looked at one by one, times right-hand sides; 0 where M is not the inverse of lines
      that are the same for all, or no norms are asked for
.  refined - lines with more than one solve
.  open - lines whose residual is above max(rtol max|b|, abstol)
-  worst - the largest max|r| / max|b| along a line

   Note:
   Pieces of lines that the partition cuts count each for itself.

   Errors: PETSC_ERR_ARG_WRONGSTATE before KSPSolve().

.seealso: KSPLINE, KSPLineView()
@*/
PETSC_EXTERN PetscErrorCode KSPLineGetInfo(KSP, PetscInt *lines, PetscInt *refined, PetscInt *open,
                                           PetscReal *worst);
/*@
   KSPLineGetBackwardError - Computes the componentwise backward error of the last KSPSolve(). Collective

   Input Parameter:
.  ksp - the solver

   Output Parameters (any may be NULL):
+  worst - max_i |r_i| / (|A| |x| + |b|)_i with r = b - A x in doubled precision; infinite where x is not
      finite
-  row - the row that has it, by its global number

   Options Database Key:
.  -ksp_line_view ::ascii_info_detail - shows it, and that of the lines

   Notes:
   It is the smallest e such that (A + E) x = b + f with |E| <= e |A| and |f| <= e |b|. The right-hand side
   and the solution must still be those of the solve. After KSPSolveTranspose() it is that of A^T.

   Errors: PETSC_ERR_ARG_WRONGSTATE before KSPSolve() and after KSPMatSolve(); PETSC_ERR_SUP where Amat is not
   AIJ, BAIJ, SBAIJ or MATMAIJ.

   References:
.  * - W. Oettli, W. Prager, Compatibility of approximate solution of linear equations with given error bounds
      for coefficients and right-hand sides, Numerische Mathematik 6 (1964)

.seealso: KSPLINE, KSPLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode KSPLineGetBackwardError(KSP, PetscReal *worst, PetscInt *row);

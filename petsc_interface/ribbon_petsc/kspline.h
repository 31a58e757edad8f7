/* SPDX-License-Identifier: BSD-2-Clause */
/* kspline.h  KSP type line: direct solves of batches of lines, refined. Included by ribbon.h. */
#pragma once

#include <petscksp.h>
#include <ribbon_petsc/pcline.h>

/*MC
   KSPLINE - A direct solver of batches of lines, with iterative refinement until every line meets the
   tolerance

   Options Database Keys:
+  -ksp_line_precision <same,single> - precision in which PCLINE factors and solves lines; residuals keep
      PETSc's precision (default same)
-  -ksp_line_view <viewer> - every solve prints how many lines were refined, the worst lines, and a histogram
      of residuals; with ascii_info_detail also componentwise backward errors

   Notes:
   The iteration is x += M (b - A x) with A = Amat. M is the PC, and is PCLINE unless another type is chosen.

   If no entry couples different lines, and lines are solved as a whole, M is the inverse of A to rounding.
   One iteration then solves, and further iterations refine. A line is done if max|r| <= max(rtol max|b|,
   abstol), with the maxima along the line. The solution of a line that is done does not change. With the
   default convergence test, the KSP ends when the 2-norm meets the tolerance and all lines are done, or do
   not improve any more. A convergence test of the program takes precedence.

   Otherwise M is an approximation, the iteration is Richardson's, and lines are not judged separately.

   Norms are unpreconditioned, or none. Refinements of direct solves compute residuals in doubled precision.
   If the residual does not decrease, the KSP keeps the best solution. The reason is
   KSP_CONVERGED_HAPPY_BREAKDOWN if the solution is exact to rounding (max|r| <= 45 epsilon max(|A| |x| + |b|)
   on each line), otherwise KSP_DIVERGED_BREAKDOWN.

   References:
.  * - N. J. Higham, Accuracy and Stability of Numerical Algorithms, SIAM (2002), chapter 12

   Level: beginner
M*/
#define KSPLINE "line"

/*@
   KSPLineSetPrecision - Sets the precision in which PCLINE factors and solves lines

   Input Parameters:
+  ksp - the solver
-  precision - PC_LINE_PRECISION_SAME, or PC_LINE_PRECISION_SINGLE

   Options Database Key:
.  -ksp_line_precision <same,single> - the precision

   Note:
   The KSP passes the precision to PCLineSetPrecision() of the PC. With a PC of another type, single precision
   is an error. Other KSP types ignore the precision.

   Level: intermediate

.seealso: KSPLINE, PCLineSetPrecision(), KSPLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode KSPLineSetPrecision(KSP, PCLinePrecision);
PETSC_EXTERN PetscErrorCode KSPLineGetPrecision(KSP, PCLinePrecision *);
/*@
   KSPLineView - Prints a report of the last solve

   Collective

   Input Parameters:
+  ksp - the solver
-  viewer - an ASCII viewer, or NULL for standard output; other viewers print nothing

   Options Database Key:
.  -ksp_line_view <viewer> - print it after every solve

   Note:
   The report has the number of lines that were refined, the number of lines above the tolerance, the worst
   lines, and a histogram of residuals.

   Level: intermediate

.seealso: KSPLINE, KSPLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode KSPLineView(KSP, PetscViewer viewer);
/*@
   KSPLineGetInfo - Gets the results of the lines of all ranks in the last solve

   Collective

   Input Parameter:
.  ksp - the solver

   Output Parameters (any may be NULL):
+  lines - lines that were judged separately, times right-hand sides; 0 if M is not the inverse of A to
      rounding, or if no norms are computed
.  refined - lines with more than one solve
.  open - lines whose residual is above max(rtol max|b|, abstol)
-  worst - the largest max|r| / max|b| along a line

   Note:
   Each sub-line of a line that spans ranks counts as a line.

   Errors: PETSC_ERR_ARG_WRONGSTATE before KSPSolve().

   Level: intermediate

.seealso: KSPLINE, KSPLineView()
@*/
PETSC_EXTERN PetscErrorCode KSPLineGetInfo(KSP, PetscInt *lines, PetscInt *refined, PetscInt *open,
                                           PetscReal *worst);
/*@
   KSPLineGetLines - Gets the results of each line of this rank in the last solve

   Not Collective

   Input Parameter:
.  ksp - the solver

   Output Parameters (any may be NULL; the caller allocates arrays of n entries):
+  n - lines of this rank that were judged separately, times right-hand sides
.  rows - global number of the first row of the line
.  columns - right-hand side, 0 after KSPSolve()
.  solves - solves of the line
-  residuals - max|r| / max|b| along the line; infinite if only b is zero

   Note:
   To get n, call it with NULL for all arrays first.

   Errors: PETSC_ERR_ARG_WRONGSTATE before KSPSolve().

   Level: intermediate

.seealso: KSPLINE, KSPLineGetInfo(), KSPLineView()
@*/
PETSC_EXTERN PetscErrorCode KSPLineGetLines(KSP, PetscInt *n, PetscInt rows[], PetscInt columns[],
                                            PetscInt solves[], PetscReal residuals[]);
/*@
   KSPLineGetBackwardError - Computes the componentwise backward error of the last KSPSolve()

   Collective

   Input Parameter:
.  ksp - the solver

   Output Parameters (any may be NULL):
+  worst - max_i |r_i| / (|A| |x| + |b|)_i with r = b - A x in doubled precision; infinite if x is not finite
-  row - the global number of the row with this error

   Options Database Key:
.  -ksp_line_view ::ascii_info_detail - prints it, and the backward errors of the lines

   Notes:
   It is the smallest e such that (A + E) x = b + f with |E| <= e |A| and |f| <= e |b|. The right-hand side
   and the solution must still be those of the solve. After KSPSolveTranspose() it is the error for A^T.

   Errors: PETSC_ERR_ARG_WRONGSTATE before KSPSolve() and after KSPMatSolve(); PETSC_ERR_SUP if Amat is not
   AIJ, BAIJ, SBAIJ or MATMAIJ.

   References:
.  * - W. Oettli, W. Prager, Compatibility of approximate solution of linear equations with given error bounds
      for coefficients and right-hand sides, Numerische Mathematik 6 (1964)

   Level: intermediate

.seealso: KSPLINE, KSPLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode KSPLineGetBackwardError(KSP, PetscReal *worst, PetscInt *row);

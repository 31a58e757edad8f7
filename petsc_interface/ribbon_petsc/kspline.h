/* SPDX-License-Identifier: BSD-2-Clause */
/* kspline.h  KSP type line: direct solves of batches of lines, refined. Included by ribbon.h. */
#pragma once

#include <petscksp.h>

/*MC
   KSPLINE = "line" - A direct solve of a batch of lines, with iterative refinement until every line has the tolerance.

   Options Database Keys:
+  -ksp_line_precision <same,single> - what lines are factored and solved in; residuals are of PETSc's precision (default same)
-  -ksp_line_view <viewer> - every solve says how many lines were refined, which are the worst, and how large residuals are

   Notes:
   x += M (b - A x) with A = Amat and M the PC, which is PCLINE where nobody chose one. Where nothing couples but along whole lines M is the inverse of A to rounding: one iteration solves, others refine.
   Lines whose residual has come down to max(rtol max|b|, abstol), by largest numbers along the line, are left alone from then on; the KSP ends when its convergence test says so and, with the
   default test, when the others are there, too, or get no better. Otherwise M is an approximation, all lines count as one, and the iteration is Richardson's.
   Norms are unpreconditioned ones, or none. A residual that gets no smaller ends in KSP_DIVERGED_BREAKDOWN.

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
   Passed on to PCLineSetPrecision() of the PC; with another PC than PCLINE single precision is an error. Other KSP types ignore it.

.seealso: KSPLINE, PCLineSetPrecision(), KSPLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode KSPLineSetPrecision(KSP, PCLinePrecision);
PETSC_EXTERN PetscErrorCode KSPLineGetPrecision(KSP, PCLinePrecision *);
/*@
   KSPLineView - Says how the lines of the last solve came out: how many were refined, or did not get to the tolerance, the worst of them, and a histogram

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
+  lines - lines that were looked at one by one, times right-hand sides; 0 where M is not the inverse of lines that are the same for all, or no norms are asked for
.  refined - lines with more than one solve
.  open - lines whose residual is above max(rtol max|b|, abstol)
-  worst - the largest max|r| / max|b| along a line

   Note:
   Pieces of lines that the partition cuts count each for itself.

   Errors: PETSC_ERR_ARG_WRONGSTATE before KSPSolve().

.seealso: KSPLINE, KSPLineView()
@*/
PETSC_EXTERN PetscErrorCode KSPLineGetInfo(KSP, PetscInt *lines, PetscInt *refined, PetscInt *open, PetscReal *worst);

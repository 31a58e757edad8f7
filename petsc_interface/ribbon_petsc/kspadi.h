/* SPDX-License-Identifier: BSD-2-Clause */
/* kspadi.h  KSP adi: stationary alternating-direction iteration. Included by ribbon.h. */
#pragma once

#include <petscksp.h>

/*MC
   KSPADI = "adi" - Alternating-direction implicit iteration with optimal shifts, for separable elliptic
   problems on structured grids

   Options Database Keys:
+  -ksp_adi_bounds <bounds> - smallest and largest eigenvalue of every one-direction operator, with a comma
      (default 0,0: estimated, for each direction)
-  -ksp_adi_shifts <n> - shifts of a cycle (default 0: as many as -ksp_rtol takes, at most -ksp_max_it where
      no norm is computed)

   Notes:
   One direction is solved at once. In two, with A = H + V, an iteration is x += (p + q) (V + q)^-1 (H + p)^-1
   (b - A x), with Wachspress' shifts p and q for the spectra of H and V; in three it is that of Douglas with
   shifts in geometric progression. Rows that have a diagonal entry alone are solved first. Where the
   directions do not commute, or do not make up A, a cycle that does not halve the norm of the residual is
   given up for one shift: a method that converges for symmetric positive definite parts, slowly, and a
   smoother; KSPView() says so. With KSP_NORM_NONE and few iterations, as on the levels of PCMG, shifts are
   for the upper part of the spectra. The PC is set to PCNONE: lines are solved by PCs of type PCLINE with the
   prefixes adi_x_, adi_y_ and adi_z_.

   References:
+  * - D. W. Peaceman, H. H. Rachford, The numerical solution of parabolic and elliptic differential
      equations, J. SIAM 3 (1955)
.  * - E. L. Wachspress, The ADI Model Problem, Springer (2013)
-  * - J. Douglas, Alternating direction methods for three space variables, Numerische Mathematik 4 (1962)
M*/
#define KSPADI "adi"

/* Each takes effect at the next KSPSetUp() or KSPSolve(); KSPs of another type ignore a Set, a Get is an
   error there. Sets are logically collective. */
/*@
   KSPADISetBounds - Sets bounds of the eigenvalues of the one-direction operators

   Input Parameters:
+  ksp - the solver
.  least - smallest, not negative
-  largest - largest, above it; both 0: estimated, for each direction

   Options Database Key:
.  -ksp_adi_bounds <bounds> - least,largest

   Note:
   Estimates: the largest by Gershgorin's discs, the smallest by Arnoldi's method on the inverse, 20 solves
   along lines for each direction. Rows that have a diagonal entry alone do not count.

.seealso: KSPADI, KSPADISetShifts()
@*/
PETSC_EXTERN PetscErrorCode KSPADISetBounds(KSP, PetscReal least, PetscReal largest);
PETSC_EXTERN PetscErrorCode KSPADIGetBounds(KSP, PetscReal *least, PetscReal *largest);
/*@
   KSPADISetShifts - Sets how many shifts a cycle has

   Input Parameters:
+  ksp - the solver
-  n - how many, at most 1024; 0: as many as the tolerance takes

   Options Database Key:
.  -ksp_adi_shifts <n> - how many

   Note:
   Each shift has its own factors of the lines, kept from set-up on.

.seealso: KSPADI, KSPADISetBounds()
@*/
PETSC_EXTERN PetscErrorCode KSPADISetShifts(KSP, PetscInt n);
PETSC_EXTERN PetscErrorCode KSPADIGetShifts(KSP, PetscInt *n);
/* What the last set-up made of them; before one an error, PETSC_ERR_ARG_WRONGSTATE. Any pointer may be NULL.
   n: shifts of a cycle; predicted: iterations that theory takes for -ksp_rtol; separable: whether the
   directions commute and make up the matrix. */
PETSC_EXTERN PetscErrorCode KSPADIGetInfo(KSP, PetscInt *n, PetscReal *predicted, PetscBool *separable);

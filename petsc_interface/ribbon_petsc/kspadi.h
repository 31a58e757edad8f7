/* SPDX-License-Identifier: BSD-2-Clause */
/* kspadi.h  KSP adi: stationary alternating-direction iteration. Included by ribbon.h. */
#pragma once

#include <petscksp.h>

/*MC
   KSPADI - Alternating-direction implicit iteration with optimal shifts, for separable elliptic problems on
   structured grids

   Options Database Keys:
+  -ksp_adi_bounds <bounds> - smallest and largest eigenvalue of every one-direction operator, with a comma
      (default 0,0: estimated for each direction)
-  -ksp_adi_shifts <n> - shifts in a cycle (default 0: as many as -ksp_rtol requires, and at most -ksp_max_it
      if no norm is computed)

   Notes:
   A matrix with one direction is solved exactly. In two directions, with A = H + V, an iteration is x += (p +
   q) (V + q)^-1 (H + p)^-1 (b - A x), with Wachspress' shifts p and q for the spectra of H and V. In three
   directions it is Douglas' iteration with shifts in geometric progression. Rows with a diagonal entry alone
   are solved first.

   If the directions do not commute, or their sum is not A, a cycle may not halve the norm of the residual.
   The iteration then continues with one shift. It converges slowly for symmetric positive definite H and V,
   and is a smoother. KSPView() says so.

   With KSP_NORM_NONE and few iterations, as on the levels of PCMG, the shifts are for the upper half of the
   spectra. The PC is set to PCNONE. PCs of type PCLINE with the prefixes adi_x_, adi_y_ and adi_z_ solve
   along the lines.

   References:
+  * - D. W. Peaceman, H. H. Rachford, The numerical solution of parabolic and elliptic differential
      equations, J. SIAM 3 (1955)
.  * - E. L. Wachspress, The ADI Model Problem, Springer (2013)
-  * - J. Douglas, Alternating direction methods for three space variables, Numerische Mathematik 4 (1962)

   Level: beginner
M*/
#define KSPADI "adi"

/* Each function takes effect at the next KSPSetUp() or KSPSolve(). KSPs of another type ignore a Set. A Get
   is an error for them. Sets are logically collective. */
/*@
   KSPADISetBounds - Sets bounds of the eigenvalues of the one-direction operators

   Input Parameters:
+  ksp - the solver
.  least - smallest eigenvalue, not negative
-  largest - largest eigenvalue, above least; both 0: estimated for each direction

   Options Database Key:
.  -ksp_adi_bounds <bounds> - least,largest

   Note:
   The estimate of the largest eigenvalue comes from Gershgorin's discs. That of the smallest comes from
   Arnoldi's method with the inverse: 20 solves along lines for each direction. Rows with a diagonal entry
   alone do not count.

   Level: intermediate

.seealso: KSPADI, KSPADISetShifts()
@*/
PETSC_EXTERN PetscErrorCode KSPADISetBounds(KSP, PetscReal least, PetscReal largest);
PETSC_EXTERN PetscErrorCode KSPADIGetBounds(KSP, PetscReal *least, PetscReal *largest);
/*@
   KSPADISetShifts - Sets how many shifts a cycle has

   Input Parameters:
+  ksp - the solver
-  n - how many, at most 1024; 0: as many as the tolerance requires

   Options Database Key:
.  -ksp_adi_shifts <n> - how many

   Note:
   The set-up keeps the factors of the lines for each shift.

   Level: intermediate

.seealso: KSPADI, KSPADISetBounds()
@*/
PETSC_EXTERN PetscErrorCode KSPADISetShifts(KSP, PetscInt n);
PETSC_EXTERN PetscErrorCode KSPADIGetShifts(KSP, PetscInt *n);
/* Returns the result of the last set-up. Any pointer may be NULL. n: shifts in a cycle; predicted: iterations
   that theory predicts for -ksp_rtol; separable: whether the directions commute and their sum is the matrix.
   Errors: PETSC_ERR_ARG_WRONGSTATE before KSPSetUp(). */
PETSC_EXTERN PetscErrorCode KSPADIGetInfo(KSP, PetscInt *n, PetscReal *predicted, PetscBool *separable);

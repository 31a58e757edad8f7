/* SPDX-License-Identifier: BSD-2-Clause */
/* pcadi.h  PC adi: a product of one-direction line solves. Included by ribbon.h. */
#pragma once

#include <petscpc.h>

/*MC
   PCADI - Preconditioner of alternating directions: the product of one-direction factors of a matrix
   shift M - A, each solved exactly along its lines

   Options Database Keys:
+  -pc_adi_shift <shift> - the shift of a matrix that no time step made, at least 0 (default 0: the shift of
      the time step)
.  -pc_adi_directions <auto,x,y,z> - the order of the directions, as a list (default auto: the order of the
      grid)
-  -pc_adi_symmetric <bool> - the symmetric product, as KSPCG needs (default false)

   Notes:
   With J = shift M - A and A = A_1 + ... + A_D + R the preconditioner is the inverse of (shift M - A_1)
   (shift M)^-1 (shift M - A_2) ... ; docs/methods/adi.md describes how J is split. Inner PCs of type PCLINE,
   with the prefixes adi_x_, adi_y_ and adi_z_, solve along the lines.

   Inside TSTHETA, TSBDF, TSARKIMEX, TSROSW and other types whose systems the SNES of the TS solves, shift and
   M are those of the stage. Elsewhere PCADISetShift() sets the shift. KSPADI is for matrices without a shift
   (elliptic problems).

   KSPPREONLY is correct inside the W-methods of TSROSW (2m, 2p, ra3pw, ra34pw2), and for a matrix with one
   direction and no other couplings.

   References:
.  * - J. Douglas, J. E. Gunn, A general formulation of alternating direction methods, Numerische Mathematik 6
      (1964)

   Level: beginner
M*/
#define PCADI "adi"

/* Each function takes effect at the next PCSetUp(). PCs of another type ignore a Set. A Get is an error for
   them. Sets are logically collective. */
/*@
   PCADISetShift - Sets the shift of a matrix shift M - A that no time step made; M is then the identity

   Input Parameters:
+  pc - the preconditioner
-  shift - at least 0; 0: the shift of the time step

   Options Database Key:
.  -pc_adi_shift <shift> - the shift

   Note:
   Rows with a diagonal entry alone (Dirichlet values) are solved without a shift, and so is a matrix with one
   direction. For a matrix without a shift (an elliptic problem) the preconditioner is the inverse of (shift -
   A_1) (shift - A_2) / shift.

   Level: intermediate

.seealso: PCADI, KSPADI
@*/
PETSC_EXTERN PetscErrorCode PCADISetShift(PC, PetscReal shift);
PETSC_EXTERN PetscErrorCode PCADIGetShift(PC, PetscReal *shift);
/*@
   PCADISetDirections - Sets the order of the directions

   Input Parameters:
+  pc - the preconditioner
.  n - how many; 0: the order of the grid
-  directions - 0, 1, 2 for x, y, z, each once; directions without couplings are skipped

   Options Database Key:
.  -pc_adi_directions <auto,x,y,z> - the order

   Level: intermediate

.seealso: PCADI
@*/
PETSC_EXTERN PetscErrorCode PCADISetDirections(PC, PetscInt n, const PetscInt directions[]);
/* The array belongs to the PC and is valid until the next Set. Either pointer may be NULL. */
PETSC_EXTERN PetscErrorCode PCADIGetDirections(PC, PetscInt *n, const PetscInt *directions[]);
/*@
   PCADISetSymmetric - Selects the symmetric product of the directions

   Input Parameters:
+  pc - the preconditioner
-  symmetric - PETSC_TRUE for (Sigma + B_1/2) Sigma^-1 (Sigma + B_2) Sigma^-1 (Sigma + B_1/2), Sigma = shift
      M, B_d = -A_d, nested in three directions

   Options Database Key:
.  -pc_adi_symmetric <bool> - the symmetric product

   Note:
   It is symmetric if J is symmetric. It is positive definite if every Sigma + B_d is.

   Level: intermediate

.seealso: PCADI, KSPCG
@*/
PETSC_EXTERN PetscErrorCode PCADISetSymmetric(PC, PetscBool symmetric);
PETSC_EXTERN PetscErrorCode PCADIGetSymmetric(PC, PetscBool *symmetric);

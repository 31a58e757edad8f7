/* SPDX-License-Identifier: BSD-2-Clause */
/* tsadi.h  TS adi for programs that link libribbon. Programs that only pass option flags need nothing of
   it. */
#pragma once

#include <petscts.h>

/*MC
   TSADI = "adi" - Alternating directions: every step is a product of batched line solves, one direction of a
   structured grid after another.

   Options Database Keys:
+  -ts_adi_type <hundsdorfer_verwer,modified_craig_sneyd,craig_sneyd,douglas,peaceman_rachford,ra34pw2> - the
      method (default hundsdorfer_verwer)
.  -ts_adi_theta <theta> - the implicit weight (default 0: of the method)
.  -ts_adi_lag_jacobian <steps> - the Jacobian is computed anew after this many steps, never where it is -1
      (default 1)
-  -ts_adi_rannacher <steps> - so many steps after a start are two half steps of backward Euler each (default
      0)

   Notes:
   Takes an IFunction, an RHSFunction or both (the IFunction along lines, the RHSFunction explicitly), with
   Jacobians or none (finite differences by colouring). Directions come from the DMDA, else from the pattern
   of the Jacobian. The mass matrix dF/dU' is diagonal, rows without U' are algebraic equations (boundary
   values), which may depend on time; one direction takes any mass matrix. Mixed derivatives and sources of
   growth stay explicit. The line solves of the directions take the options of PC line with the prefixes
   adi_x_, adi_y_ and adi_z_.

   References:
.  * - W. Hundsdorfer, J. G. Verwer, Numerical Solution of Time-Dependent Advection-Diffusion-Reaction
      Equations, Springer 2003
.  * - K. J. in 't Hout, B. D. Welfert, Unconditional stability of second-order ADI schemes applied to
      multi-dimensional diffusion equations with mixed derivative terms, Appl. Numer. Math. 59 (2009)
.  * - J. Douglas, J. E. Gunn, A general formulation of alternating direction methods, Numer. Math. 6 (1964)
.  * - J. Rang, L. Angermann, New Rosenbrock W-methods of order 3 for partial differential algebraic equations
      of index 1, BIT 45 (2005)
M*/
#define TSADI "adi"

typedef enum {
  TS_ADI_HUNDSDORFER_VERWER,
  TS_ADI_MODIFIED_CRAIG_SNEYD,
  TS_ADI_CRAIG_SNEYD,
  TS_ADI_DOUGLAS,
  TS_ADI_PEACEMAN_RACHFORD,
  TS_ADI_RA34PW2
} TSADIType;
PETSC_EXTERN const char *const TSADITypes[];

/* Sets are logically collective, and do nothing on a TS of another type; a Get is an error there. */
/*@
   TSADISetType - Sets the method

   Input Parameters:
+  ts - the time stepper
-  type - TS_ADI_HUNDSDORFER_VERWER: order 2, with an error estimate, for anything;
      TS_ADI_MODIFIED_CRAIG_SNEYD, TS_ADI_CRAIG_SNEYD: order 2, for mixed derivatives; TS_ADI_DOUGLAS
      (Douglas-Gunn in three directions) and TS_ADI_PEACEMAN_RACHFORD (two directions): order 2 as long as
      nothing is left to the explicit part, else 1; TS_ADI_RA34PW2: order 3 for smooth problems

   Options Database Key:
.  -ts_adi_type <type> - the method

.seealso: TSADI, TSADISetTheta()
@*/
PETSC_EXTERN PetscErrorCode TSADISetType(TS, TSADIType);
PETSC_EXTERN PetscErrorCode TSADIGetType(TS, TSADIType *);
/*@
   TSADISetTheta - Sets the implicit weight of a method

   Input Parameters:
+  ts - the time stepper
-  theta - positive; 0 stands for 1/2 + sqrt(3)/6 of TS_ADI_HUNDSDORFER_VERWER (1 - 1/sqrt(2) with one
      direction, which damps stiff parts at once), 1/3 of TS_ADI_MODIFIED_CRAIG_SNEYD and 1/2 of
      TS_ADI_CRAIG_SNEYD and TS_ADI_DOUGLAS

   Options Database Key:
.  -ts_adi_theta <theta> - the weight

   Note:
   TS_ADI_DOUGLAS has order 2 with 1/2 only, and TS_ADI_CRAIG_SNEYD is TS_ADI_MODIFIED_CRAIG_SNEYD with another
   default. TS_ADI_DOUGLAS with 1 is backward Euler,
   and with 1/2 the Crank-Nicolson method, of linearised problems. TS_ADI_PEACEMAN_RACHFORD and TS_ADI_RA34PW2
   have no weight.

.seealso: TSADI, TSADISetType()
@*/
PETSC_EXTERN PetscErrorCode TSADISetTheta(TS, PetscReal theta);
PETSC_EXTERN PetscErrorCode TSADIGetTheta(TS, PetscReal *theta);
/* Steps between two Jacobians: positive, or -1 for a Jacobian that is never computed again. Factors are kept
   as long as the numbers and the step size are the same. */
PETSC_EXTERN PetscErrorCode TSADISetLagJacobian(TS, PetscInt steps);
PETSC_EXTERN PetscErrorCode TSADIGetLagJacobian(TS, PetscInt *steps);
/* Steps after a start (or an event that restarts) that are two half steps of backward Euler each (Rannacher
   1984): they damp what a start that is not smooth excites. Never negative. */
PETSC_EXTERN PetscErrorCode TSADISetRannacher(TS, PetscInt steps);
PETSC_EXTERN PetscErrorCode TSADIGetRannacher(TS, PetscInt *steps);

typedef PetscErrorCode (*TSADIDirectionJacobian)(TS, PetscReal t, Vec U, Mat A, void *ctx);
/*@
   TSADISetDirectionJacobian - Gives the Jacobian of one direction, in place of what the whole Jacobian says
   of it

   Input Parameters:
+  ts - the time stepper
.  direction - 0, 1, 2; given for 0 to D - 1, or for none
.  A - the matrix, which couples along the direction alone; NULL takes it back
.  func - computes A = dG_d/dU at (t, U), with M U' = G(t, U) = G_1 + ... + G_D + the rest
-  ctx - handed to func

   Note:
   The matrices decide about stability and cost, not about what is solved. Rows of algebraic equations are
   those of the whole Jacobian.

.seealso: TSADI, TSSetIJacobian()
@*/
PETSC_EXTERN PetscErrorCode TSADISetDirectionJacobian(TS, PetscInt direction, Mat A,
                                                      TSADIDirectionJacobian func, void *ctx);

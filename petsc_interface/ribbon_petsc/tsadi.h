/* SPDX-License-Identifier: BSD-2-Clause */
/* tsadi.h  TS adi for programs that link libribbon. Programs that only set options do not need it. */
#pragma once

#include <petscts.h>

/*MC
   TSADI - Time stepping by alternating directions: every step is a product of batched line solves, one
   direction of a structured grid after another

   Options Database Keys:
+  -ts_adi_type <auto,hundsdorfer_verwer,modified_craig_sneyd,craig_sneyd,douglas,peaceman_rachford,ra34pw2> - the
      method (default auto)
.  -ts_adi_theta <theta> - the implicit weight (default 0: the weight of the method)
.  -ts_adi_lag_jacobian <steps> - steps between two Jacobians; -1: one Jacobian for all steps (default 1)
.  -ts_adi_rannacher <steps> - this many steps after a start consist of two half steps of backward Euler each
      (default 0)
.  -ts_adi_time_derivative <bool> - hundsdorfer_verwer and ra34pw2 in several directions have terms for functions
      that depend on time (default true)
.  -ts_adi_iterate <bool> - adaptive steps of auto solve their stages with GMRES if transport or constraints require
      it (default true)
.  -ts_adi_constant_linear <bool> - the equation is M U' = J U with constant M and J (default false)
-  -ts_adi_fuse_steps <steps> - most steps of one call; 0: steps are not fused; -1: as many as possible
      (default -1)

   Notes:
   TS adi uses an IFunction, an RHSFunction, or both. With both, the IFunction is implicit along lines
   and the RHSFunction is explicit. Jacobians are those of the application, or finite differences by
   colouring. Directions come from the DMDA, otherwise from the pattern of the Jacobian. The mass matrix
   dF/dU' is diagonal, or a Kronecker product of one banded matrix for each direction, as that of finite
   elements on a tensor grid. Rows without U' are algebraic equations (boundary values), which may depend on
   time. One direction accepts any regular mass matrix. Mixed derivatives and growth of equations with one
   component stay explicit. The inner PCs of type line read options with the prefixes adi_x_, adi_y_ and
   adi_z_.

   References:
.  * - W. Hundsdorfer, J. G. Verwer, Numerical Solution of Time-Dependent Advection-Diffusion-Reaction
      Equations, Springer 2003
.  * - K. J. in 't Hout, B. D. Welfert, Unconditional stability of second-order ADI schemes applied to
      multi-dimensional diffusion equations with mixed derivative terms, Appl. Numer. Math. 59 (2009)
.  * - J. Douglas, J. E. Gunn, A general formulation of alternating direction methods, Numer. Math. 6 (1964)
.  * - J. Rang, L. Angermann, New Rosenbrock W-methods of order 3 for partial differential algebraic equations
      of index 1, BIT 45 (2005)

   Level: beginner
M*/
#define TSADI "adi"

typedef enum {
  TS_ADI_AUTO,
  TS_ADI_HUNDSDORFER_VERWER,
  TS_ADI_MODIFIED_CRAIG_SNEYD,
  TS_ADI_CRAIG_SNEYD,
  TS_ADI_DOUGLAS,
  TS_ADI_PEACEMAN_RACHFORD,
  TS_ADI_RA34PW2
} TSADIType;
PETSC_EXTERN const char *const TSADITypes[];

/* Sets are logically collective. A TS of another type ignores a Set. A Get is an error for it. */
/*@
   TSADISetType - Sets the method

   Input Parameters:
+  ts - the time stepper
-  type - TS_ADI_AUTO (the default): TS_ADI_RA34PW2 if it is stable for the Jacobian and the step size,
      otherwise TS_ADI_HUNDSDORFER_VERWER; TS_ADI_HUNDSDORFER_VERWER: order 2, with an error estimate, for any problem;
      TS_ADI_MODIFIED_CRAIG_SNEYD, TS_ADI_CRAIG_SNEYD: order 2, for mixed derivatives; TS_ADI_DOUGLAS
      (Douglas-Gunn in three directions) and TS_ADI_PEACEMAN_RACHFORD (two directions): order 2 without an
      explicit part, otherwise 1; TS_ADI_RA34PW2: order 3 for smooth problems

   Options Database Key:
.  -ts_adi_type <type> - the method

   Note:
   The default of -ts_adapt_type is basic for the types with an error estimate, TS_ADI_AUTO,
   TS_ADI_HUNDSDORFER_VERWER, TS_ADI_MODIFIED_CRAIG_SNEYD and TS_ADI_RA34PW2, and none for the others.

   Level: intermediate

.seealso: TSADI, TSADISetTheta()
@*/
PETSC_EXTERN PetscErrorCode TSADISetType(TS, TSADIType);
PETSC_EXTERN PetscErrorCode TSADIGetType(TS, TSADIType *);
/*@
   TSADISetTheta - Sets the implicit weight of a method

   Input Parameters:
+  ts - the time stepper
-  theta - in [0, 10]; 0 stands for 1/2 + sqrt(3)/6 of TS_ADI_HUNDSDORFER_VERWER (1 - 1/sqrt(2) with one
      direction, which damps stiff parts within one step), 1/3 of TS_ADI_MODIFIED_CRAIG_SNEYD and 1/2 of
      TS_ADI_CRAIG_SNEYD and TS_ADI_DOUGLAS

   Options Database Key:
.  -ts_adi_theta <theta> - the weight

   Note:
   TS_ADI_DOUGLAS has order 2 with 1/2 only. TS_ADI_CRAIG_SNEYD is TS_ADI_MODIFIED_CRAIG_SNEYD with another
   default. For linearised problems TS_ADI_DOUGLAS is backward Euler with 1, and the Crank-Nicolson method
   with 1/2. TS_ADI_PEACEMAN_RACHFORD and TS_ADI_RA34PW2 have no weight. With TS_ADI_AUTO a positive weight
   selects TS_ADI_HUNDSDORFER_VERWER.

   Level: intermediate

.seealso: TSADI, TSADISetType()
@*/
PETSC_EXTERN PetscErrorCode TSADISetTheta(TS, PetscReal theta);
PETSC_EXTERN PetscErrorCode TSADIGetTheta(TS, PetscReal *theta);
/* Steps between two Jacobians: positive, or -1 for one Jacobian for all steps. Factors are kept while the
   Jacobian and the step size are the same. */
PETSC_EXTERN PetscErrorCode TSADISetLagJacobian(TS, PetscInt steps);
PETSC_EXTERN PetscErrorCode TSADIGetLagJacobian(TS, PetscInt *steps);
/* This many steps after a start (or an event that restarts) consist of two half steps of backward Euler each
   (Rannacher 1984). They damp the oscillations of a start that is not smooth. At least 0. */
PETSC_EXTERN PetscErrorCode TSADISetRannacher(TS, PetscInt steps);
PETSC_EXTERN PetscErrorCode TSADIGetRannacher(TS, PetscInt *steps);
/*@
   TSADISetTimeDerivative - Sets whether hundsdorfer_verwer and ra34pw2 have terms for functions that depend on
   time

   Input Parameters:
+  ts - the time stepper
-  flag - PETSC_TRUE (the default) for these terms

   Options Database Key:
.  -ts_adi_time_derivative <bool> - the flag

   Notes:
   With these terms the methods keep their order if boundary values that are eliminated from the equations, or
   sources, depend on time. Each step then evaluates the functions of the application at two more times. Otherwise
   there is one more evaluation in 16 steps, which looks for such a dependence.

   Steps in one direction, and those with a Kronecker product as mass matrix, have no such terms. A saved trajectory
   (TSSetSaveTrajectory()) or forward sensitivities also turn them off, since TSAdjointSolve() and TSForwardStep()
   do not differentiate them.

   Level: advanced

.seealso: TSADI, TSADISetType()
@*/
PETSC_EXTERN PetscErrorCode TSADISetTimeDerivative(TS, PetscBool flag);
PETSC_EXTERN PetscErrorCode TSADIGetTimeDerivative(TS, PetscBool *flag);
/*@
   TSADISetIterate - Sets whether adaptive steps of TS_ADI_AUTO may solve their stages with GMRES

   Input Parameters:
+  ts - the time stepper
-  flag - PETSC_TRUE (the default); PETSC_FALSE: steps are shorter, or use TS_ADI_HUNDSDORFER_VERWER

   Options Database Key:
.  -ts_adi_iterate <bool> - the flag

   Notes:
   Steps use GMRES if transport along several directions makes TS_ADI_RA34PW2 unstable, or if algebraic equations
   couple along several directions. The preconditioner is the product of the solves along the directions, applied from
   the left. GMRES ends at a preconditioned residual of 0.01 of the tolerances of the TS, in its weighted 2-norm.
   After 200 iterations the step is computed without GMRES. The KSP has the prefix adi_, as in -adi_ksp_max_it.

   Steps of equal size (-ts_adapt_type none), and runs with sensitivities or a trajectory, do not use GMRES.

   Level: intermediate

.seealso: TSADI, TSADISetType()
@*/
PETSC_EXTERN PetscErrorCode TSADISetIterate(TS, PetscBool flag);
PETSC_EXTERN PetscErrorCode TSADIGetIterate(TS, PetscBool *flag);
/*@
   TSADISetConstantLinear - Says that the equation is M U' = J U, with a constant mass matrix M, a constant
   Jacobian J and no other term

   Input Parameters:
+  ts - the time stepper
-  flag - PETSC_TRUE if the equation has this form

   Options Database Key:
.  -ts_adi_constant_linear <bool> - the flag

   Notes:
   Steps may then be fused, without calls of the functions of the application: see TSADISetFuseSteps(). The
   first step of a run calls the functions of the application once. A result that differs from the Jacobian
   times the solution is an error. If M or J change during a run, call TSRestartStep().

   This function is not necessary for TSComputeRHSFunctionLinear() with TSComputeRHSJacobianConstant() and one
   matrix. TS adi detects them, and changes of the matrix.

   Level: intermediate

.seealso: TSADI, TSADISetFuseSteps(), TSComputeRHSFunctionLinear(), TSComputeRHSJacobianConstant()
@*/
PETSC_EXTERN PetscErrorCode TSADISetConstantLinear(TS, PetscBool flag);
PETSC_EXTERN PetscErrorCode TSADIGetConstantLinear(TS, PetscBool *flag);
/*@
   TSADISetFuseSteps - Sets how many steps of a linear problem are computed in one call of the kernels

   Input Parameters:
+  ts - the time stepper
-  steps - the largest number; 1: each step is one call; 0: steps are not fused; -1 (the default): as many
      as possible, and ordinary steps if they cannot be fused

   Options Database Key:
.  -ts_adi_fuse_steps <steps> - the number

   Notes:
   A fused step is U <- A^-1 B U, with A = M - theta h J and B = M + (1 - theta) h J. TS_ADI_DOUGLAS has this
   form with every theta, TS_ADI_CRAIG_SNEYD and TS_ADI_MODIFIED_CRAIG_SNEYD with 1/2. The step size h is
   fixed (-ts_adapt_type none, see TSADISetType()). The Jacobian couples along one direction, and every line
   is on one rank. The problem must be known to be linear with a constant Jacobian, see
   TSADISetConstantLinear(). On a device a call is one launch. Results equal those of ordinary steps to
   rounding.

   Only TSSolve() takes several steps in one call, and only if nothing reads the solution between them: no
   monitor, event, trajectory, forward sensitivities or quadrature, and no function of TSSetPreStep(),
   TSSetPostEvaluate(), TSSetPostStep() or TSSetResize(). A TSStep() of the application takes one step. A
   function of TSSetPreStage() or TSSetPostStage() prevents fused steps. TSView() gives the reason if steps
   are not fused. With a positive number, steps that cannot be fused are an error. With a number above 1, so
   is anything that limits a call to one step.

   Level: intermediate

.seealso: TSADI, TSADISetConstantLinear(), TSSolve(), TSStep()
@*/
PETSC_EXTERN PetscErrorCode TSADISetFuseSteps(TS, PetscInt steps);
PETSC_EXTERN PetscErrorCode TSADIGetFuseSteps(TS, PetscInt *steps);

typedef PetscErrorCode (*TSADIDirectionJacobian)(TS, PetscReal t, Vec U, Mat A, void *ctx);
/*@
   TSADISetDirectionJacobian - Sets the Jacobian of one direction, which replaces the part of the whole
   Jacobian along it

   Input Parameters:
+  ts - the time stepper
.  direction - 0, 1, 2; set for directions 0 to D - 1, or for none
.  A - the matrix, which couples along the direction alone; NULL removes it
.  func - computes A = dG_d/dU at (t, U), with M U' = G(t, U) = G_1 + ... + G_D + the rest
-  ctx - argument of func

   Note:
   The matrices affect stability and cost, not the equation that is solved. Rows of algebraic equations are
   those of the whole Jacobian.

   Level: intermediate

.seealso: TSADI, TSSetIJacobian()
@*/
PETSC_EXTERN PetscErrorCode TSADISetDirectionJacobian(TS, PetscInt direction, Mat A,
                                                      TSADIDirectionJacobian func, void *ctx);

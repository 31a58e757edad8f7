/* SPDX-License-Identifier: BSD-2-Clause */
/* pcmulticolor.h  PC multicolor: Gauss-Seidel and SOR over colours of unknowns. Included by ribbon.h. */
#pragma once

#include <petscpc.h>

/*MC
   PCMULTICOLOR - Gauss-Seidel and (S)SOR sweeps over colours: unknowns of one colour do not couple, and are
   relaxed in parallel on hosts and devices

   Options Database Keys:
+  -pc_multicolor_omega <omega> - relaxation factor, 0 < omega < 2 (default 1)
.  -pc_multicolor_diagonal_shift <shift> - added to the diagonal entries (default 0)
.  -pc_multicolor_its <its> - sweeps (default 1)
.  -pc_multicolor_lits <lits> - local sweeps on each rank for each sweep (default 1)
.  -pc_multicolor_coloring <auto,grid,jp,greedy> - by the coordinates of a grid, by Jones and Plassmann, or
      first fit (default auto)
.  -pc_multicolor_cut <local,exact> - each rank sweeps by itself, or ranks exchange values between colours
      (default local)
.  -pc_multicolor_residual <bool> - MatResidual() after a sweep reads the rows of the other colours alone
      (default false)
.  -pc_multicolor_symmetric - sweeps forward and then backward, as by default
.  -pc_multicolor_backward - sweeps backward: the last colour first
.  -pc_multicolor_forward - sweeps forward
.  -pc_multicolor_local_symmetric - as -pc_multicolor_symmetric, with a local cut
.  -pc_multicolor_local_backward - as -pc_multicolor_backward, with a local cut
-  -pc_multicolor_local_forward - as -pc_multicolor_forward, with a local cut

   Notes:
   The options are those of PCSOR, and colours replace the order of the rows. Red and black points of a grid
   are found by a formula if the matrix has a DMDA or natural numbering.

   With a block size of 2 to 8 the unknowns of a block are relaxed together, by the inverse of the diagonal
   block.

   With -pc_multicolor_cut exact the result on a grid does not depend on the number of ranks, except for
   rounding. With -pc_multicolor_coloring jp this holds if row numbers do not depend on the ranks.

   References:
.  * - Y. Saad, Iterative methods for sparse linear systems, SIAM (2003), section 12.4
.  * - M. T. Jones, P. E. Plassmann, A parallel graph coloring heuristic, SIAM J. Sci. Comput. 14 (1993)

   Level: beginner

.seealso: PCSOR, PCLINE, PCMulticolorSetSymmetric(), PCMulticolorSetColoring(), PCMulticolorSetCut()
M*/
#define PCMULTICOLOR "multicolor"

/*E
   PCMulticolorColoring - where the colours of PCMULTICOLOR come from

   Values:
+  PC_MULTICOLOR_COLORING_AUTO - a grid if there is one; two colours if the graph of each rank has no odd
      cycle and the cut is local; otherwise first fit, or Jones and Plassmann for an exact cut or many rounds
      on a device
.  PC_MULTICOLOR_COLORING_GRID - the coordinates of the points of a grid: that of the DMDA, or of natural
      numbering
.  PC_MULTICOLOR_COLORING_JP - the parallel method of Jones and Plassmann, with fewer and balanced colours by
      later passes
-  PC_MULTICOLOR_COLORING_GREEDY - each unknown of a rank takes the first colour that is free, in the order of
      the rows

   Level: beginner
E*/
typedef enum {
  PC_MULTICOLOR_COLORING_AUTO,
  PC_MULTICOLOR_COLORING_GRID,
  PC_MULTICOLOR_COLORING_JP,
  PC_MULTICOLOR_COLORING_GREEDY
} PCMulticolorColoring;
PETSC_EXTERN const char *const PCMulticolorColorings[];
/*E
   PCMulticolorCut - how PCMULTICOLOR treats couplings between ranks

   Values:
+  PC_MULTICOLOR_CUT_LOCAL - each rank sweeps with the values of other ranks from before its sweeps, as PCSOR
-  PC_MULTICOLOR_CUT_EXACT - ranks exchange values before every colour

   Level: beginner
E*/
typedef enum { PC_MULTICOLOR_CUT_LOCAL, PC_MULTICOLOR_CUT_EXACT } PCMulticolorCut;
PETSC_EXTERN const char *const PCMulticolorCuts[];

/* Each function takes effect at the next PCSetUp(). PCs of another type ignore a Set. A Get is an error for
   them. Sets are logically collective. */
/*@
   PCMulticolorSetSymmetric - Sets the direction of sweeps, as PCSORSetSymmetric()

   Input Parameters:
+  pc - the preconditioner
-  flag - SOR_FORWARD_SWEEP, SOR_BACKWARD_SWEEP, SOR_SYMMETRIC_SWEEP, or one of the three as SOR_LOCAL_...,
      which also sets PC_MULTICOLOR_CUT_LOCAL

   Options Database Keys:
+  -pc_multicolor_symmetric - forward and then backward
.  -pc_multicolor_backward - the last colour first
.  -pc_multicolor_forward - the first colour first
.  -pc_multicolor_local_symmetric - forward and then backward, each rank by itself
.  -pc_multicolor_local_backward - the last colour first, each rank by itself
-  -pc_multicolor_local_forward - the first colour first, each rank by itself

   Note:
   PCMulticolorGetSymmetric() returns SOR_LOCAL_... if the cut is local.

   Errors: PETSC_ERR_ARG_OUTOFRANGE for other flags.

   Level: intermediate

.seealso: PCMULTICOLOR, PCMulticolorSetCut(), PCSORSetSymmetric()
@*/
PETSC_EXTERN PetscErrorCode PCMulticolorSetSymmetric(PC, MatSORType flag);
PETSC_EXTERN PetscErrorCode PCMulticolorGetSymmetric(PC, MatSORType *flag);
/*@
   PCMulticolorSetOmega - Sets the relaxation factor, as PCSORSetOmega()

   Input Parameters:
+  pc - the preconditioner
-  omega - in (0, 2)

   Options Database Key:
.  -pc_multicolor_omega <omega> - the factor

   Level: intermediate

.seealso: PCMULTICOLOR, PCSORSetOmega()
@*/
PETSC_EXTERN PetscErrorCode PCMulticolorSetOmega(PC, PetscReal omega);
PETSC_EXTERN PetscErrorCode PCMulticolorGetOmega(PC, PetscReal *omega);
/*@
   PCMulticolorSetIterations - Sets the numbers of sweeps, as PCSORSetIterations()

   Input Parameters:
+  pc - the preconditioner
.  its - sweeps of an application; values of other ranks are exchanged before each of them
-  lits - local sweeps for each of these; on one rank, and for an exact cut, an application has its * lits
      sweeps

   Options Database Keys:
+  -pc_multicolor_its <its> - its
-  -pc_multicolor_lits <lits> - lits

   Errors: PETSC_ERR_ARG_OUTOFRANGE for values below 1.

   Level: intermediate

.seealso: PCMULTICOLOR, PCSORSetIterations()
@*/
PETSC_EXTERN PetscErrorCode PCMulticolorSetIterations(PC, PetscInt its, PetscInt lits);
PETSC_EXTERN PetscErrorCode PCMulticolorGetIterations(PC, PetscInt *its, PetscInt *lits);
/*@
   PCMulticolorSetDiagonalShift - Sets a number that is added to the diagonal entries

   Input Parameters:
+  pc - the preconditioner
-  shift - any finite number

   Options Database Key:
.  -pc_multicolor_diagonal_shift <shift> - the number

   Level: intermediate

.seealso: PCMULTICOLOR
@*/
PETSC_EXTERN PetscErrorCode PCMulticolorSetDiagonalShift(PC, PetscReal shift);
PETSC_EXTERN PetscErrorCode PCMulticolorGetDiagonalShift(PC, PetscReal *shift);
/*@
   PCMulticolorSetColoring - Sets where colours come from

   Input Parameters:
+  pc - the preconditioner
-  coloring - see PCMulticolorColoring

   Options Database Key:
.  -pc_multicolor_coloring <auto,grid,jp,greedy> - the coloring

   Level: intermediate

.seealso: PCMULTICOLOR, PCMulticolorColoring
@*/
PETSC_EXTERN PetscErrorCode PCMulticolorSetColoring(PC, PCMulticolorColoring coloring);
PETSC_EXTERN PetscErrorCode PCMulticolorGetColoring(PC, PCMulticolorColoring *coloring);
/*@
   PCMulticolorSetCut - Sets how couplings between ranks are treated

   Input Parameters:
+  pc - the preconditioner
-  cut - see PCMulticolorCut

   Options Database Key:
.  -pc_multicolor_cut <local,exact> - the cut

   Level: intermediate

.seealso: PCMULTICOLOR, PCMulticolorCut
@*/
PETSC_EXTERN PetscErrorCode PCMulticolorSetCut(PC, PCMulticolorCut cut);
PETSC_EXTERN PetscErrorCode PCMulticolorGetCut(PC, PCMulticolorCut *cut);
/*@
   PCMulticolorSetResidual - Sets whether MatResidual() skips the rows of the last colour

   Input Parameters:
+  pc - the preconditioner
-  use - whether MatResidual() of Amat reads the rows of the other colours alone, after an application to x

   Options Database Key:
.  -pc_multicolor_residual <bool> - use

   Notes:
   The residual of the colour that was relaxed last is zero. Multigrid computes a residual after each
   pre-smoothing. With two colours this takes half of a product.

   It has no effect on several ranks, for blocks, with omega other than 1 or a shift, and if Amat is not Pmat:
   PCView() says why. The operation MATOP_RESIDUAL of Amat is set until PCReset() or PCDestroy().

   Level: intermediate

.seealso: PCMULTICOLOR, MatResidual(), PCMG
@*/
PETSC_EXTERN PetscErrorCode PCMulticolorSetResidual(PC, PetscBool use);
PETSC_EXTERN PetscErrorCode PCMulticolorGetResidual(PC, PetscBool *use);
/*@
   PCMulticolorGetColors - Gets the colours after PCSetUp()

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameters (any may be NULL):
+  colors - number of colours: the largest of all ranks
.  block - rows of an unknown: 1, or the block size
-  how - the source of the colours in words; it belongs to the PC and is valid until its next set-up

   Errors: PETSC_ERR_ARG_WRONGSTATE before PCSetUp().

   Level: intermediate

.seealso: PCMULTICOLOR
@*/
PETSC_EXTERN PetscErrorCode PCMulticolorGetColors(PC, PetscInt *colors, PetscInt *block, const char **how);

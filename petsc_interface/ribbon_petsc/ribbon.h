/* SPDX-License-Identifier: BSD-2-Clause */
/* ribbon.h  What Ribbon adds to PETSc, for programs that link libribbon. Programs that only pass option flags need nothing of it. */
#pragma once

#include <petscpc.h>

/*MC
   PCLINE = "line" - Exact batched solves of the tridiagonal and pentadiagonal lines of the assembled operator.

   Options Database Keys:
+  -pc_line_direction <auto,x,y,z,rows> - which couplings make the lines (default auto: the strongest)
.  -pc_line_lhs <auto,shared,classes,per_line> - how many different matrices are kept (default auto: as few as the values allow)
.  -pc_line_cut <local,error> - what to do with lines that the partition cuts (default local: each piece is solved on its rank)
.  -pc_line_algorithm <auto,one_pass,thomas,pivoted> - the kernel (default auto)
-  -pc_line_zeropivot <tol> - a pivot this small relative to the largest entry of its row is zero (default 100 machine epsilon)

   Notes:
   Lines come from the DMDA of the PC or of the matrix (dof 1), or, where there is none that fits, from the pattern of the matrix. Every line
   must be tridiagonal or pentadiagonal; it may be periodic. With KSPPREONLY it solves batches of lines exactly; as a preconditioner or as a
   smoother of PCMG it is line Jacobi. Zero pivots, NaN and matrices that lose their digits without pivoting are reported by PCGetFailedReason().

   References:
.  * - A. Gloster, L. O Naraigh, K. E. Pang, cuPentBatch, Computer Physics Communications 241 (2019)
M*/
#define PCLINE "line"

typedef enum { PC_LINE_DIRECTION_AUTO, PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y, PC_LINE_DIRECTION_Z, PC_LINE_DIRECTION_ROWS } PCLineDirection;
typedef enum { PC_LINE_LHS_AUTO, PC_LINE_LHS_SHARED, PC_LINE_LHS_CLASSES, PC_LINE_LHS_PER_LINE } PCLineLhs;
typedef enum { PC_LINE_CUT_LOCAL, PC_LINE_CUT_ERROR } PCLineCut;
typedef enum { PC_LINE_ALGORITHM_AUTO, PC_LINE_ALGORITHM_ONE_PASS, PC_LINE_ALGORITHM_THOMAS, PC_LINE_ALGORITHM_PIVOTED } PCLineAlgorithm;

PETSC_EXTERN const char *const PCLineDirections[];
PETSC_EXTERN const char *const PCLineLhsTypes[];
PETSC_EXTERN const char *const PCLineCuts[];
PETSC_EXTERN const char *const PCLineAlgorithms[];

/* Registers everything; callable before and after PetscInitialize(), any number of times. Errors: PETSC_ERR_LIB for another PETSc version. */
PETSC_EXTERN PetscErrorCode RibbonInitialize(void);

/* Each takes effect at the next PCSetUp(); each is ignored by PCs of another type. Logically collective. */
PETSC_EXTERN PetscErrorCode PCLineSetDirection(PC, PCLineDirection);
PETSC_EXTERN PetscErrorCode PCLineGetDirection(PC, PCLineDirection *);
PETSC_EXTERN PetscErrorCode PCLineSetLhs(PC, PCLineLhs);
PETSC_EXTERN PetscErrorCode PCLineGetLhs(PC, PCLineLhs *);
PETSC_EXTERN PetscErrorCode PCLineSetCut(PC, PCLineCut);
PETSC_EXTERN PetscErrorCode PCLineGetCut(PC, PCLineCut *);
PETSC_EXTERN PetscErrorCode PCLineSetAlgorithm(PC, PCLineAlgorithm);
PETSC_EXTERN PetscErrorCode PCLineGetAlgorithm(PC, PCLineAlgorithm *);
/* tol >= 0; 0 stands for 100 machine epsilon */
PETSC_EXTERN PetscErrorCode PCLineSetZeroPivot(PC, PetscReal tol);
PETSC_EXTERN PetscErrorCode PCLineGetZeroPivot(PC, PetscReal *tol);

/* What the last PCSetUp() found on this rank: direction name, lines, rows per line, distinct matrices, half-bandwidth, bytes held. Any pointer may be NULL.
   Errors: PETSC_ERR_ARG_WRONGSTATE before PCSetUp(). */
PETSC_EXTERN PetscErrorCode PCLineGetInfo(PC, const char **direction, PetscInt *lines, PetscInt *rows, PetscInt *matrices, PetscInt *half_bandwidth, PetscLogDouble *bytes);

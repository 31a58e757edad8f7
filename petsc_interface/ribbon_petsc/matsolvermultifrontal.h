/* SPDX-License-Identifier: BSD-2-Clause */
/* matsolvermultifrontal.h  Solver multifrontal: factors of chains and rings. Included by ribbon.h. */
#pragma once

#include <petscmat.h>

/*MC
   MATSOLVERMULTIFRONTAL - A direct solver for banded matrices (chains and rings of unknowns), by orthogonal
   elimination on a tree (nested dissection of the chain), or by band LU

   Options Database Keys:
+  -pc_type lu -pc_factor_mat_solver_type multifrontal - selects the solver (-pc_type cholesky as well)
.  -mat_multifrontal_leaf_size <rows> - least number of rows of a leaf of the tree (default 0: chosen for the
      processor)
.  -mat_multifrontal_pivot <qr,none> - orthogonal elimination, or Schur complements without pivoting, which a
      probe checks
.  -mat_multifrontal_refine <steps> - steps of iterative refinement in a solve (default 0)
-  -mat_multifrontal_view <viewer> - every factorization prints its report, solves a random right-hand side
      and estimates the condition

   Notes:
   Matrices are AIJ, BAIJ or SBAIJ, sequential or MPI, on the host or in the device types of AIJ. They have up
   to 32 entries on either side of the diagonal in the order of their rows, around a ring, or after reverse
   Cuthill-McKee.

   Elimination is orthogonal (QR) if a chain is divided, so that entries do not grow. A chain on one rank of a
   host with one thread is not divided, and is eliminated by band LU with partial pivoting. A pivot below
   -pc_factor_zeropivot times the largest entry of its column is zero: MatFactorGetError() reports it, and
   MatFactorGetErrorZeroPivot() returns the column. Factors of MAT_FACTOR_CHOLESKY are the same, and provide
   MatGetInertia(): eigenvalues within some roundings of zero count as zeros, all other signs are certain.

   References:
.  * - S. J. Wright, Stable parallel algorithms for two-point boundary value problems, SIAM J. Sci. Stat.
      Comput. 13 (1992)

   Level: beginner
M*/
#define MATSOLVERMULTIFRONTAL "multifrontal"

typedef enum { MAT_MULTIFRONTAL_PIVOT_QR, MAT_MULTIFRONTAL_PIVOT_NONE } MatMultifrontalPivot;
PETSC_EXTERN const char *const MatMultifrontalPivots[];

/* Functions of a factored matrix, before its symbolic factorization, which reads the options. Other solver
   types ignore a Set. Logically collective. Errors: PETSC_ERR_ARG_OUTOFRANGE for negative values, and for
   values that are not a MatMultifrontalPivot. */
PETSC_EXTERN PetscErrorCode MatMultifrontalSetLeafSize(Mat F, PetscInt rows);
PETSC_EXTERN PetscErrorCode MatMultifrontalGetLeafSize(Mat F, PetscInt *rows);
PETSC_EXTERN PetscErrorCode MatMultifrontalSetPivot(Mat F, MatMultifrontalPivot pivot);
PETSC_EXTERN PetscErrorCode MatMultifrontalGetPivot(Mat F, MatMultifrontalPivot *pivot);
PETSC_EXTERN PetscErrorCode MatMultifrontalSetRefine(Mat F, PetscInt steps);
PETSC_EXTERN PetscErrorCode MatMultifrontalGetRefine(Mat F, PetscInt *steps);

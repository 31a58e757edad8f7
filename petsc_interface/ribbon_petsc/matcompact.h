/* SPDX-License-Identifier: BSD-2-Clause */
/* matcompact.h  Mat compact: compact finite differences, interpolations and filters along one direction of a
   grid. Included by ribbon.h. */
#pragma once

#include <ribbon_petsc/transport.h>

#include <petscmat.h>

/*MC
   MATCOMPACT - A matrix type for compact finite differences, interpolations and filters along one direction
   of a grid: y = A^-1 B u with banded A and B

   Options Database Keys:
+  -mat_compact_direction <x,y,z> - the direction of the lines (default x)
.  -mat_compact_derivative <derivative> - 1 or 2; 0: an interpolation if staggered, otherwise a filter
      (default 1)
.  -mat_compact_order <order> - 4, 6, 8 or 10; 6 of staggered schemes and filters (default 6)
.  -mat_compact_ends <order> - order of the first and last rows of open lines, 3 or 4 (default 4)
.  -mat_compact_filter <a> - parameter of a filter, in [0, 1/2): it damps less the closer a is to 1/2 (default
      0.45)
.  -mat_compact_staggered <none,forward,backward> - forward: results at the points i + 1/2; backward: values
      at i + 1/2 (default none)
.  -mat_compact_spacing <h> - distance of the points (default 0: that of the coordinates of the DMDA, or 1)
.  -mat_compact_periodic <bool> - lines are periodic, in a grid without a DMDA (default false)
-  -mat_compact_transport <auto,mpi,staged,nccl,peer> - how messages travel between devices (default auto:
      peer if the devices of all ranks reach each other, else nccl, if the set-up measures that it is faster;
      otherwise MPI (mpi or staged))

   Notes:
   The grid is the DMDA of MatSetDM() or DMCreateMatrix() (-dm_mat_type compact), or that of
   MatCompactSetGrid() on one rank. Every component of every line is multiplied. Lines are periodic if the
   DMDA is, in this direction. Lines may span ranks.

   -dm_mat_type compact and DMSetMatType() set the type of all matrices of the DM, also of Jacobians, whose
   MatSetValues() is then an error. Call DMSetMatType() with MATAIJ after DMCreateMatrix(), or create only
   this matrix with MatSetDM().

   On one rank a product reads u once and writes y once, if there is such a kernel for the lines.
   MatMultAdd() adds a vector in the same kernel, and MatShift() a multiple of u. MatScale() costs nothing.

   Options, functions and new coordinates of the DMDA take effect at the next product, also after MatSetUp().

   Options set all values but the grid, the metric and the stencil. The Fortran module ribbon (ribbon.F90) and
   the Python package ribbon have functions for these.

   The matrix stores no entries. MatComputeOperator() makes a matrix with entries. MatConvert() to MATSHELL
   makes one that adds operators by MatAXPY(). MatCreateTranspose() multiplies by the transpose.

   References:
.  * - S. K. Lele, Compact finite difference schemes with spectral-like resolution, J. Comput. Phys. 103
      (1992)

   Level: beginner

.seealso: MatSetDM(), DMSetMatType(), MatMult(), MatMultAdd()
M*/
#define MATCOMPACT "compact"

/*E
   MatCompactDirection - the direction of the lines of MATCOMPACT

   Level: beginner
E*/
typedef enum { MAT_COMPACT_X, MAT_COMPACT_Y, MAT_COMPACT_Z } MatCompactDirection;
PETSC_EXTERN const char *const MatCompactDirections[];
/*E
   MatCompactStaggered - places of values and results of MATCOMPACT

   Values:
+  MAT_COMPACT_STAGGERED_NONE - both at the points i
.  MAT_COMPACT_STAGGERED_FORWARD - values at i, results at i + 1/2
-  MAT_COMPACT_STAGGERED_BACKWARD - values at i + 1/2, results at i

   Note:
   The half point i + 1/2 has index i.

   Level: beginner
E*/
typedef enum {
  MAT_COMPACT_STAGGERED_NONE,
  MAT_COMPACT_STAGGERED_FORWARD,
  MAT_COMPACT_STAGGERED_BACKWARD
} MatCompactStaggered;
PETSC_EXTERN const char *const MatCompactStaggereds[];

/*S
   MatCompactRows - the rows of A or B of MATCOMPACT: one stencil for all rows but the first and the last few

   Notes:
   A row has 2 width + 1 entries. Entry d of row i multiplies the unknown i + d - width of the line. On open
   lines, entries beyond the first and the last unknown are dropped: values there are 0.

   Open lines with ends 0 have the interior stencil in all rows. A and B may have different ends.
S*/
typedef struct {
  PetscInt           width;    /* 0 to 8 */
  const PetscScalar *interior; /* 2 width + 1 entries */
  PetscInt           ends;     /* first rows, and last rows, at least 0; periodic lines: 0 */
  const PetscScalar *first;    /* ends rows, the first row first */
  const PetscScalar *last;     /* ends rows, the last row last */
} MatCompactRows;

/* Each function takes effect at the next product. Matrices of another type ignore a Set. A Get is an error
   for them. Sets are logically collective. */
PETSC_EXTERN PetscErrorCode MatCompactSetDirection(Mat, MatCompactDirection direction);
PETSC_EXTERN PetscErrorCode MatCompactGetDirection(Mat, MatCompactDirection *direction);
PETSC_EXTERN PetscErrorCode MatCompactSetDerivative(Mat, PetscInt derivative);
PETSC_EXTERN PetscErrorCode MatCompactGetDerivative(Mat, PetscInt *derivative);
PETSC_EXTERN PetscErrorCode MatCompactSetOrder(Mat, PetscInt order);
PETSC_EXTERN PetscErrorCode MatCompactGetOrder(Mat, PetscInt *order);
PETSC_EXTERN PetscErrorCode MatCompactSetEnds(Mat, PetscInt order);
PETSC_EXTERN PetscErrorCode MatCompactGetEnds(Mat, PetscInt *order);
PETSC_EXTERN PetscErrorCode MatCompactSetFilter(Mat, PetscReal a);
PETSC_EXTERN PetscErrorCode MatCompactGetFilter(Mat, PetscReal *a);
PETSC_EXTERN PetscErrorCode MatCompactSetStaggered(Mat, MatCompactStaggered staggered);
PETSC_EXTERN PetscErrorCode MatCompactGetStaggered(Mat, MatCompactStaggered *staggered);
PETSC_EXTERN PetscErrorCode MatCompactSetSpacing(Mat, PetscReal h);
PETSC_EXTERN PetscErrorCode MatCompactGetSpacing(Mat, PetscReal *h);
PETSC_EXTERN PetscErrorCode MatCompactSetPeriodic(Mat, PetscBool periodic);
PETSC_EXTERN PetscErrorCode MatCompactGetPeriodic(Mat, PetscBool *periodic);
PETSC_EXTERN PetscErrorCode MatCompactSetTransport(Mat, RibbonTransport transport);
PETSC_EXTERN PetscErrorCode MatCompactGetTransport(Mat, RibbonTransport *transport);
/*@
   MatCompactSetGrid - Sets the extents of a grid without a DMDA, on one rank

   Input Parameters:
+  A - the matrix
.  nx, ny, nz - points along x, y and z, x fastest
-  dof - components of a point

   Note:
   It sets the sizes of A, if they are not set.

   Level: intermediate

.seealso: MATCOMPACT, MatSetDM()
@*/
PETSC_EXTERN PetscErrorCode MatCompactSetGrid(Mat, PetscInt nx, PetscInt ny, PetscInt nz, PetscInt dof);
/* Zeros: no grid was set. Any pointer may be NULL. */
PETSC_EXTERN PetscErrorCode MatCompactGetGrid(Mat, PetscInt *nx, PetscInt *ny, PetscInt *nz, PetscInt *dof);
/*@
   MatCompactSetMetric - Scales the first derivative for a stretched grid: df/dx = (dxi/dx) df/dxi

   Input Parameters:
+  A - the matrix
.  n - points of a line, over all ranks; 0: no metric
-  dxi_dx - dxi/dx at each of them, not zero

   Note:
   The spacing of xi is 1, unless -mat_compact_spacing is given. The scaling is a part of A, and costs
   nothing. Values that differ between ranks are an error.

   Level: intermediate

.seealso: MATCOMPACT
@*/
PETSC_EXTERN PetscErrorCode MatCompactSetMetric(Mat, PetscInt n, const PetscReal dxi_dx[]);
/* The array belongs to the matrix and is valid until the next Set. Either pointer may be NULL. */
PETSC_EXTERN PetscErrorCode MatCompactGetMetric(Mat, PetscInt *n, const PetscReal *dxi_dx[]);
/*@
   MatCompactSetStencil - Replaces the scheme by rows of the application

   Input Parameters:
+  mat - the matrix
.  A, B - rows of A and B in y = A^-1 B u, which are copied; NULL: the scheme of the options

   Note:
   Options of the scheme and the spacing have no effect then. Entries that are not finite, or differ between
   ranks, are an error.

   Level: intermediate

.seealso: MATCOMPACT, MatCompactRows
@*/
PETSC_EXTERN PetscErrorCode MatCompactSetStencil(Mat mat, const MatCompactRows *A, const MatCompactRows *B);
/* The arrays belong to the matrix and are valid until the next Set; interior is NULL without a stencil of the
   application. */
PETSC_EXTERN PetscErrorCode MatCompactGetStencil(Mat mat, MatCompactRows *A, MatCompactRows *B);

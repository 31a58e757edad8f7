/* SPDX-License-Identifier: BSD-2-Clause */
/* compact.h  Schemes of S. K. Lele, Compact finite difference schemes with spectral-like resolution,
   J. Comput. Phys. 103 (1992), in the notation of the paper. They are not read from Ribbon: the programs
   check Mat compact with them. */
#pragma once

#include <ribbon_petsc/ribbon.h>

#include <petscdmda.h>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

/* Row of a first derivative, eq. (2.1):
     beta (f'_(i-2) + f'_(i+2)) + alpha (f'_(i-1) + f'_(i+1)) + f'_i
       = c (f_(i+3) - f_(i-3)) / (6 h) + b (f_(i+2) - f_(i-2)) / (4 h) + a (f_(i+1) - f_(i-1)) / (2 h)
   Other kinds: second derivatives, eq. (2.2); staggered derivatives, interpolations and filters, appendices B
   and C. Only filters have a d. */
typedef struct {
  const char         *name;
  PetscInt            derivative, order; /* derivative 0: interpolation if staggered, else filter */
  MatCompactStaggered staggered;
  double              alpha, beta, a, b, c, d;
} Scheme;

enum {
  CENTRAL, /* second-order central differences without a matrix on the left-hand side */
  FIRST_4,
  FIRST_6,
  FIRST_8,
  FIRST_10,
  SECOND_4,
  SECOND_6,
  SECOND_8,
  SECOND_10,
  STAGGERED_FORWARD,
  STAGGERED_BACKWARD,
  INTERPOLATION,
  FILTER,
  SCHEMES
};

PETSC_EXTERN const Scheme schemes[SCHEMES];

/* The factor by which the scheme multiplies exp(i w x / h), 0 <= w <= pi: the modified wavenumber w' of a
   first derivative, w'' = (w')^2 of a second derivative, the transfer function of other schemes. */
PETSC_EXTERN double Symbol(const Scheme *scheme, double w);
/* Coefficients of (f_(i+k) - f_(i-k)) / h, k = 1, 2, 3, of a first derivative. */
PETSC_EXTERN void RightHandSide(const Scheme *scheme, double c[3]);
/* The operator along x: Mat compact, and AIJ for CENTRAL. ends: order of the end rows of open lines. */
PETSC_EXTERN PetscErrorCode CreateOperator(const Scheme *scheme, DM da, PetscInt ends, Mat *D);
/* Lines of n points along x on [0, 2 pi], `lines` of them with `dof` components. */
PETSC_EXTERN PetscErrorCode CreateLines(PetscBool periodic, PetscInt n, PetscInt lines, PetscInt dof, DM *da);
/* Opens a CSV file for the first rank, or sets NULL if prefix is empty. */
PETSC_EXTERN PetscErrorCode OpenTable(const char *prefix, const char *name, const char *columns, FILE **file);

typedef struct {
  PetscInt  points[32], count; /* of a wavelength, for each run */
  PetscInt  periods, steps;    /* steps of a period; 0: max(256, points) */
  PetscReal tolerance;         /* phase error in periods, to compute its number of points; 0: none */
} Advection;

/* The parts of the program. prefix: of the files for plots; empty: none. */
PETSC_EXTERN PetscErrorCode Wavenumbers(PetscInt n, const char *prefix);
PETSC_EXTERN PetscErrorCode Orders(PetscInt count, const PetscInt n[], const char *prefix);
PETSC_EXTERN PetscErrorCode Advect(const Advection *a, const char *prefix);

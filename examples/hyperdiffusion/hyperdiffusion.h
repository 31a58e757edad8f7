/* SPDX-License-Identifier: BSD-2-Clause */
/* hyperdiffusion.h  The batch of problems, its stencils, and steps by a product with a matrix or by a TS. */
#pragma once

#include <petscdmda.h>
#include <petscksp.h>
#include <petscts.h>

typedef enum { CONTIGUOUS, INTERLEAVED, DENSE } Batch;
typedef enum { DIFFUSION, HYPERDIFFUSION } Operator;
typedef enum { SOLVE, COMPACT, STEPPER } StepType;

typedef struct {
  PetscInt  lines, points, steps, waves; /* waves of every line at the start; 0: 1 to 4 in turn */
  PetscReal D, T;
  Batch     batch;
  Operator  op;
  StepType  step;
  PetscInt  first, mine; /* lines of this rank */
} Problem;

/* I + sign s, where s = dt D / 2 times minus the second or the fourth difference: entries of the points
   i - width to i + width of row i. */
typedef struct {
  PetscInt    width;
  PetscScalar entries[5];
} Stencil;
Stencil MakeStencil(const Problem *p, PetscReal sign);

/* The matrix (I + s)^-1 (I - s) on the grid of a DMDA: Mat compact of libribbon. */
PetscErrorCode CreateStepMatrix(const Problem *p, DM da, Mat *A);

/* A TS for u' = J u on the grid of a DMDA. */
PetscErrorCode CreateStepper(const Problem *p, DM da, Mat J, TS *ts);
/* Makes the factors by a first step of a copy of u. The next step of the TS is the first one of u. */
PetscErrorCode PrepareStepper(const Problem *p, TS ts, Vec u, Vec copy);

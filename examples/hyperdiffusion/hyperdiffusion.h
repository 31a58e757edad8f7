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
/* Runs one step on a copy of u, which creates the factors; then resets the TS to start from u. */
PetscErrorCode PrepareStepper(const Problem *p, TS ts, Vec u, Vec copy);

typedef struct {
  PetscLogDouble setup, solve, copy; /* copy: of the unknowns, once */
  PetscReal      error;              /* largest |u - exact| at the final time */
  PetscReal      mean;               /* root of the mean of (u - exact)^2 (cuPentBatch, eq. 15) */
} Result;

/* The unknowns, as a vector or as a dense matrix with a line per column. */
typedef struct {
  Vec u, v;
  Mat U, V;
} State;
/* I + s, or J with u' = J u for a TS, for this number of lines. */
PetscErrorCode Assemble(const Problem *p, MPI_Comm comm, PetscInt lines, Mat *A);
PetscErrorCode CreateState(const Problem *p, Mat A, State *s);
PetscErrorCode DestroyState(State *s);
/* Reads the state on the host: errors at time t, and the amplitudes of the first four lines. A null pointer
   omits that result. */
PetscErrorCode Measure(const Problem *p, const State *s, PetscReal t, Result *result, PetscReal amplitude[4]);

/* A file that a run writes, its columns, and the function that prints after each step. */
typedef struct {
  const char *file, *columns;
  PetscErrorCode (*print)(const Problem *, const State *, PetscInt, FILE *);
} Record;
/* Columns time, k, amplitude, theory: the decay of the first four lines. */
PetscErrorCode PrintAmplitudes(const Problem *p, const State *s, PetscInt step, FILE *file);
/* Columns time, x, u: the first line of rank 0. */
PetscErrorCode PrintLine(const Problem *p, const State *s, PetscInt step, FILE *file);

/* Runs the problem. solver: TYPE or TYPE:PACKAGE of a PC, or null for that of the options. */
PetscErrorCode Run(Problem *p, const char *solver, const Record *record, PetscBool progress, Result *result);

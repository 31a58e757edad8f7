/* SPDX-License-Identifier: BSD-2-Clause */
/* state.c  Matrices and unknowns of the batch: the start, errors, and what is written for plots. */
#include "hyperdiffusion.h"

static PetscReal Exact(const Problem *p, PetscInt line, PetscInt i, PetscReal t)
{
  const PetscReal k    = 2 * PETSC_PI * (PetscReal)(p->waves ? p->waves : 1 + line % 4);
  const PetscReal rate = p->D * k * k * (p->op == DIFFUSION ? 1 : k * k);
  return PetscCosReal(k * (PetscReal)i / (PetscReal)p->points) * PetscExpReal(-rate * t);
}

/* Row of point i of local line l, and position of (l, i) in the local array. */
static PetscInt Place(const Problem *p, PetscInt l, PetscInt i)
{
  return p->batch == INTERLEAVED ? l + p->mine * i : i + p->points * l;
}

Stencil MakeStencil(const Problem *p, PetscReal sign)
{
  const PetscReal h = 1 / (PetscReal)p->points, dt = p->T / (PetscReal)p->steps,
                  s    = sign * dt * p->D / 2 / (p->op == DIFFUSION ? h * h : h * h * h * h);
  const Stencil second = {1, {-s, 1 + 2 * s, -s, 0, 0}}, fourth = {2, {s, -4 * s, 1 + 6 * s, -4 * s, s}};
  return p->op == DIFFUSION ? second : fourth;
}

/* J with u' = J u: I + s is I - dt J / 2. */
static Stencil MakeJacobian(const Problem *p)
{
  Stencil  s = MakeStencil(p, 1);
  PetscInt d;

  s.entries[s.width] -= 1;
  for (d = 0; d <= 2 * s.width; d++) s.entries[d] *= -2 * (PetscReal)p->steps / p->T;
  return s;
}

/* I + s, or J for a TS. */
PetscErrorCode Assemble(const Problem *p, MPI_Comm comm, PetscInt lines, Mat *A)
{
  const Stencil  stencil = p->step == STEPPER ? MakeJacobian(p) : MakeStencil(p, 1);
  const PetscInt width   = stencil.width;
  PetscInt       begin, k, d;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, lines * p->points, lines * p->points, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 2 * width + 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 2 * width + 1, NULL, 0, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, NULL));
  for (k = 0; k < lines * p->points; k++) { /* in the order of the rows */
    const PetscInt l = p->batch == INTERLEAVED ? k % p->mine : k / p->points;
    const PetscInt i = p->batch == INTERLEAVED ? k / p->mine : k % p->points, row = begin + k;
    PetscInt       columns[5];
    for (d = -width; d <= width; d++)
      columns[d + width] = begin + Place(p, l, (i + d + p->points) % p->points);
    PetscCall(MatSetValues(*A, 1, &row, 2 * width + 1, columns, stencil.entries, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode CreateState(const Problem *p, Mat A, State *s)
{
  PetscScalar *a;
  PetscInt     l, i;

  PetscFunctionBeginUser;
  s->u = s->v = NULL;
  s->U = s->V = NULL;
  if (p->batch == DENSE) {
    PetscCall(MatCreate(PETSC_COMM_SELF, &s->U));
    PetscCall(MatSetSizes(s->U, p->points, p->mine, p->points, p->mine));
    PetscCall(MatSetOptionsPrefix(s->U, "dense_"));
    PetscCall(MatSetType(s->U, MATDENSE));
    PetscCall(MatSetFromOptions(s->U));
    PetscCall(MatSetUp(s->U));
    PetscCall(MatDenseGetArrayWrite(s->U, &a));
  } else {
    PetscCall(MatCreateVecs(A, &s->u, &s->v));
    PetscCall(VecGetArrayWrite(s->u, &a));
  }
  for (l = 0; l < p->mine; l++)
    for (i = 0; i < p->points; i++) a[Place(p, l, i)] = Exact(p, p->first + l, i, 0);
  if (p->batch == DENSE) {
    PetscCall(MatDenseRestoreArrayWrite(s->U, &a));
    PetscCall(MatAssemblyBegin(s->U, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s->U, MAT_FINAL_ASSEMBLY));
    PetscCall(MatDuplicate(s->U, MAT_DO_NOT_COPY_VALUES, &s->V));
  } else PetscCall(VecRestoreArrayWrite(s->u, &a));
  PetscFunctionReturn(0);
}

PetscErrorCode DestroyState(State *s)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&s->u));
  PetscCall(VecDestroy(&s->v));
  PetscCall(MatDestroy(&s->U));
  PetscCall(MatDestroy(&s->V));
  PetscFunctionReturn(0);
}

/* Reads the state on the host: errors at time t, and the amplitudes of the first four lines. */
PetscErrorCode Measure(const Problem *p, const State *s, PetscReal t, Result *result, PetscReal amplitude[4])
{
  const PetscScalar *a;
  PetscReal          worst = 0, sum = 0;
  PetscInt           l, i;

  PetscFunctionBeginUser;
  if (p->batch == DENSE) PetscCall(MatDenseGetArrayRead(s->U, &a));
  else PetscCall(VecGetArrayRead(s->u, &a));
  for (l = 0; result && l < p->mine; l++)
    for (i = 0; i < p->points; i++) {
      const PetscReal e = PetscAbsScalar(a[Place(p, l, i)] - Exact(p, p->first + l, i, t));
      if (!(e <= worst)) worst = e;
      sum += e * e;
    }
  for (l = 0; amplitude && l < 4; l++) {
    amplitude[l] = 0;
    for (i = 0; l < p->mine && i < p->points; i++)
      amplitude[l] +=
        2 * PetscRealPart(a[Place(p, l, i)]) * Exact(p, p->first + l, i, 0) / (PetscReal)p->points;
  }
  if (p->batch == DENSE) PetscCall(MatDenseRestoreArrayRead(s->U, &a));
  else PetscCall(VecRestoreArrayRead(s->u, &a));
  if (!result) PetscFunctionReturn(0);
  PetscCall(MPIU_Allreduce(&worst, &result->error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(MPIU_Allreduce(&sum, &result->mean, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  result->mean = PetscSqrtReal(result->mean / ((PetscReal)p->lines * (PetscReal)p->points));
  PetscFunctionReturn(0);
}

PetscErrorCode PrintAmplitudes(const Problem *p, const State *s, PetscInt step, FILE *file)
{
  PetscReal a[4];
  PetscInt  l;

  PetscFunctionBeginUser;
  PetscCall(Measure(p, s, 0, NULL, a));
  for (l = 0; step % (1 + p->steps / 101) == 0 && l < PetscMin(4, p->mine); l++)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%g,%" PetscInt_FMT ",%.15g,%g\n",
                           (double)(p->T * step / p->steps), 1 + (p->first + l) % 4, (double)a[l],
                           (double)Exact(p, p->first + l, 0, p->T * step / p->steps)));
  PetscFunctionReturn(0);
}

/* The first line of rank 0. */
PetscErrorCode PrintLine(const Problem *p, const State *s, PetscInt step, FILE *file)
{
  const PetscScalar *a;
  PetscInt           i;

  PetscFunctionBeginUser;
  if (step % (1 + p->steps / 101) != 0) PetscFunctionReturn(0);
  if (p->batch == DENSE) PetscCall(MatDenseGetArrayRead(s->U, &a));
  else PetscCall(VecGetArrayRead(s->u, &a));
  for (i = 0; i < p->points; i++)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%g,%g,%.9g\n", (double)(p->T * step / p->steps),
                           (double)i / (double)p->points, (double)PetscRealPart(a[Place(p, 0, i)])));
  if (p->batch == DENSE) PetscCall(MatDenseRestoreArrayRead(s->U, &a));
  else PetscCall(VecRestoreArrayRead(s->u, &a));
  PetscFunctionReturn(0);
}

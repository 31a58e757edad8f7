/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "A batch of 1D periodic problems u_t = -D u_xxxx or u_t = D u_xx, Crank-Nicolson in time.\n\
A plain PETSc program. It runs with any PC. Options:\n\
  -lines M -points N -steps K   size of the batch and number of time steps\n\
  -operator hyperdiffusion|diffusion   -D u_xxxx or D u_xx\n\
  -final_time T -diffusivity D  the modes decay like exp(-D (2 pi k)^4 t), or with (2 pi k)^2\n\
  -batch contiguous|interleaved|dense   one AIJ matrix with 5 entries per row, line after line;\n\
                                the same with a 2D DMDA, point after point; or one 1D matrix and\n\
                                KSPMatSolve with a dense matrix of right-hand sides\n\
  -step solve|compact|ts        a step is a solve and an update; or one product with a matrix of\n\
                                libribbon's type compact, whose vectors have the type of -dm_vec_type;\n\
                                or a step of a TS (-ts_type, default cn)\n\
  -solvers line,lu,lu:mumps,bjacobi,ilu   PC types to run one after another, with the package of a\n\
                                factorization after a colon (default: the PC of -pc_type).\n\
                                bjacobi and pbjacobi need one line per block, as in a contiguous\n\
                                batch. PCs that are not direct precondition GMRES to 1e-12.\n\
                                Each solver first does a step of a few lines, so that the start of\n\
                                libraries is not timed\n\
  -waves W                      all lines start as W waves (default: 1 to 4 in turn)\n\
  -refine R                     also R resolutions from 16 points on, each twice as fine, and the slope\n\
                                of a line through the logarithms of their errors in the L2 norm\n\
  -refine_steps K -refine_time T   steps and final time of each\n\
  -amplitudes F -refinement F -space_time F   files for the data of plots\n\n";

/* u^(n+1) solves (I + s) u^(n+1) = (I - s) u^n with s = dt D / 2 times the fourth difference, or times minus
   the second one. With v = (u^(n+1) + u^n) / 2 this is (I + s) v = u^n and u^(n+1) = 2 v - u^n: one solve and
   one update per step. See A. Gloster, L. O Naraigh, K. E. Pang, cuPentBatch (2019), eqs. 5-7. Line m starts
   as cos(2 pi k x), k = 1 + m mod 4, or as -waves says. */

#include "hyperdiffusion.h"

#include <unistd.h>

static const char *const Batches[]   = {"contiguous", "interleaved", "dense", "Batch", "", NULL};
static const char *const Operators[] = {"diffusion", "hyperdiffusion", "Operator", "", NULL};
static const char *const StepTypes[] = {"solve", "compact", "ts", "StepType", "", NULL};

typedef struct {
  PetscLogDouble setup, solve, copy; /* copy: of the unknowns, once */
  PetscReal      error;              /* largest |u - exact| at the final time */
  PetscReal      mean;               /* root of the mean of (u - exact)^2 (the same paper, eq. 15) */
} Result;

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
static PetscErrorCode Assemble(const Problem *p, MPI_Comm comm, PetscInt lines, Mat *A)
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

/* The unknowns, as a vector or as a dense matrix with a line per column. */
typedef struct {
  Vec u, v;
  Mat U, V;
} State;

static PetscErrorCode CreateState(const Problem *p, Mat A, State *s)
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

static PetscErrorCode DestroyState(State *s)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&s->u));
  PetscCall(VecDestroy(&s->v));
  PetscCall(MatDestroy(&s->U));
  PetscCall(MatDestroy(&s->V));
  PetscFunctionReturn(0);
}

/* Reads the state on the host: errors at time t, and the amplitudes of the first four lines. */
static PetscErrorCode Measure(const Problem *p, const State *s, PetscReal t, Result *result,
                              PetscReal amplitude[4])
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

/* The solver of a step: of -step solve a KSP, of compact the matrix (I + s)^-1 (I - s), of ts a TS. */
typedef struct {
  Mat A;
  KSP ksp;
  TS  ts;
} Method;

static PetscErrorCode Step(const Problem *p, const Method *m, State *s)
{
  const KSP ksp = m->ksp;

  PetscFunctionBeginUser;
  if (p->step == COMPACT) {
    const Vec u = s->u;
    PetscCall(MatMult(m->A, u, s->v));
    s->u = s->v;
    s->v = u;
  } else if (p->step == STEPPER) {
    PetscCall(TSStep(m->ts));
  } else if (p->batch == DENSE) {
    PetscCall(KSPMatSolve(ksp, s->U, s->V));
    PetscCall(MatScale(s->U, -1));
    PetscCall(MatAXPY(s->U, 2, s->V, SAME_NONZERO_PATTERN));
  } else {
    PetscCall(KSPSolve(ksp, s->u, s->v));
    PetscCall(VecAXPBY(s->u, 2, -1, s->v));
  }
  PetscFunctionReturn(0);
}

/* Waits until queued device work is done: a sum of the result has to reach the host. A norm may be known
   already. */
static PetscErrorCode Finish(const Problem *p, Vec vector, Mat matrix)
{
  PetscScalar sum;

  PetscFunctionBeginUser;
  if (p->batch == DENSE) PetscCall(MatDenseGetColumnVecRead(matrix, 0, &vector));
  PetscCall(VecSum(vector, &sum));
  if (p->batch == DENSE) PetscCall(MatDenseRestoreColumnVecRead(matrix, 0, &vector));
  PetscFunctionReturn(0);
}

/* Seconds of a copy of the unknowns, the mean of as many copies as steps. */
static PetscErrorCode TimeCopies(const Problem *p, const State *s, PetscLogDouble *seconds)
{
  PetscLogDouble begin, end;
  PetscInt       k;

  PetscFunctionBeginUser;
  PetscCall(Finish(p, s->u, s->U));
  PetscCall(PetscTime(&begin));
  for (k = 0; k < p->steps; k++) {
    if (p->batch == DENSE) PetscCall(MatCopy(s->U, s->V, SAME_NONZERO_PATTERN));
    else PetscCall(VecCopy(s->u, s->v));
  }
  PetscCall(Finish(p, s->v, s->V));
  PetscCall(PetscTime(&end));
  *seconds = (end - begin) / (PetscLogDouble)p->steps;
  PetscFunctionReturn(0);
}

/* solver: TYPE or TYPE:PACKAGE. */
static PetscErrorCode SetSolver(const Problem *p, const char *solver, Mat A, KSP ksp)
{
  PC          pc;
  char        type[64];
  const char *package = NULL;
  char       *colon;
  PetscBool   lu, line, cholesky, bjacobi, pbjacobi;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(type, solver, sizeof(type)));
  PetscCall(PetscStrchr(type, ':', &colon));
  if (colon) {
    *colon  = '\0';
    package = colon + 1;
  }
  PetscCall(PetscStrcmp(type, "line", &line));
  PetscCall(PetscStrcmp(type, PCLU, &lu));
  PetscCall(PetscStrcmp(type, PCCHOLESKY, &cholesky));
  PetscCall(PetscStrcmp(type, PCBJACOBI, &bjacobi));
  PetscCall(PetscStrcmp(type, PCPBJACOBI, &pbjacobi));
  PetscCheck(!(bjacobi || pbjacobi) || p->batch != INTERLEAVED, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-solvers %s: its blocks are consecutive rows, which are no lines with -batch interleaved",
             solver);
  PetscCall(KSPGetPC(ksp, &pc));
  if (pbjacobi) PetscCall(MatSetBlockSize(A, p->points)); /* before PCSetType(), which reads it */
  PetscCall(PCSetType(pc, type));
  if (package) PetscCall(PCFactorSetMatSolverType(pc, package));
  if (bjacobi) {
    KSP     *blocks;
    PetscInt k, count;
    PetscCall(PCBJacobiSetLocalBlocks(pc, p->batch == DENSE ? 1 : p->mine, NULL));
    PetscCall(KSPSetUp(ksp)); /* creates the blocks */
    PetscCall(PCBJacobiGetSubKSP(pc, &count, NULL, &blocks));
    for (k = 0; k < count; k++) {
      PC block;
      PetscCall(KSPGetPC(blocks[k], &block));
      PetscCall(PCSetType(block, PCLU));
    }
  }
  if (!(line || lu || cholesky || bjacobi || pbjacobi)) {
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
  }
  PetscCall(PCSetFromOptions(pc));
  PetscFunctionReturn(0);
}

/* Distributes the lines. da: a grid with the same places of the unknowns, if a step needs it. */
static PetscErrorCode PlaceLines(Problem *p, DM *da)
{
  PetscMPIInt size, rank;

  PetscFunctionBeginUser;
  *da = NULL;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  p->mine  = p->lines / size + (rank < p->lines % size);
  p->first = rank * (p->lines / size) + PetscMin(rank, p->lines % size);
  if (p->batch == INTERLEAVED) /* its own matrix would have 9 entries per row */
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR,
                           p->lines, p->points, size, 1, 1, 1, NULL, NULL, da));
  else if (p->step != SOLVE)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                           p->points, p->lines, 1, size, 1, 1, NULL, NULL, da));
  if (p->step != SOLVE) PetscCall(DMSetFromOptions(*da));
  if (*da) PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(const Problem *p, const char *solver, DM da, Mat A, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  if (da) {
    PetscCall(KSPSetDM(*ksp, da));
#if PETSC_VERSION_LT(3, 25, 0)
    PetscCall(KSPSetDMActive(*ksp, PETSC_FALSE));
#else
    PetscCall(KSPSetDMActive(*ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#endif
  }
  PetscCall(KSPSetType(*ksp, KSPPREONLY));
  PetscCall(KSPSetFromOptions(*ksp));
  if (solver) PetscCall(SetSolver(p, solver, A, *ksp)); /* includes a part of the set-up of bjacobi */
  PetscCall(KSPSetUp(*ksp));
  PetscCall(KSPSetUpOnBlocks(*ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintAmplitudes(const Problem *p, const State *s, PetscInt step, FILE *file)
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
static PetscErrorCode PrintLine(const Problem *p, const State *s, PetscInt step, FILE *file)
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

/* What is written after some of the steps, and its columns. */
typedef struct {
  const char *file, *columns;
  PetscErrorCode (*print)(const Problem *, const State *, PetscInt, FILE *);
} Record;

/* All steps. Without a record, a TS takes them in one TSSolve(). */
static PetscErrorCode Integrate(const Problem *p, const Method *m, const Record *record, PetscBool progress,
                                State *s)
{
  FILE    *file = NULL;
  PetscInt step;

  PetscFunctionBeginUser;
  if (p->step == STEPPER && !record) {
    PetscCall(TSSolve(m->ts, s->u));
    PetscCall(Finish(p, s->u, s->U));
    PetscFunctionReturn(0);
  }
  if (record) PetscCall(PetscFOpen(PETSC_COMM_WORLD, record->file, "w", &file));
  if (record) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%s\n", record->columns));
  for (step = 0; step <= p->steps; step++) {
    if (record) PetscCall(record->print(p, s, step, file));
    if (step == p->steps) break;
    PetscCall(Step(p, m, s));
    if (progress && (step + 1) % PetscMax(1, p->steps / 5) == 0)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "\r  step %" PetscInt_FMT " of %" PetscInt_FMT,
                             step + 1, p->steps));
  }
  PetscCall(Finish(p, s->u, s->U));
  if (progress) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "\r                              \r"));
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

/* A step of a matrix or a TS makes the factors. */
static PetscErrorCode SetUp(const Problem *p, const char *solver, DM da, State *s, Method *m)
{
  PetscFunctionBeginUser;
  if (p->step == SOLVE) PetscCall(CreateSolver(p, solver, da, m->A, &m->ksp));
  else if (p->step == COMPACT) PetscCall(MatMult(m->A, s->u, s->v));
  else {
    PetscCall(CreateStepper(p, da, m->A, &m->ts));
    PetscCall(PrepareStepper(p, m->ts, s->u, s->v));
  }
  PetscCall(Finish(p, s->u, s->U));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(Problem *p, const char *solver, const Record *record, PetscBool progress,
                          Result *result)
{
  Method             m = {NULL, NULL, NULL};
  DM                 da;
  State              s;
  PetscLogDouble     t0, t1, t2;
  KSPConvergedReason reason = KSP_CONVERGED_ITS;

  PetscFunctionBeginUser;
  PetscCall(PlaceLines(p, &da));
  if (p->step == COMPACT) PetscCall(CreateStepMatrix(p, da, &m.A));
  else if (p->batch == DENSE) PetscCall(Assemble(p, PETSC_COMM_SELF, 1, &m.A));
  else PetscCall(Assemble(p, PETSC_COMM_WORLD, p->mine, &m.A));
  PetscCall(CreateState(p, m.A, &s));
  PetscCall(PetscTime(&t0));
  PetscCall(SetUp(p, solver, da, &s, &m));
  PetscCall(PetscTime(&t1));
  PetscCall(Integrate(p, &m, record, progress, &s));
  PetscCall(PetscTime(&t2));
  result->setup = t1 - t0;
  result->solve = t2 - t1;
  if (m.ksp) PetscCall(KSPGetConvergedReason(m.ksp, &reason));
  PetscCall(Measure(p, &s, p->T, result, NULL));
  PetscCall(TimeCopies(p, &s, &result->copy));
  if (reason < 0)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "  %s: %s\n", solver ? solver : "solver", KSPConvergedReasons[reason]));
  PetscCall(DestroyState(&s));
  PetscCall(TSDestroy(&m.ts));
  PetscCall(KSPDestroy(&m.ksp));
  PetscCall(MatDestroy(&m.A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

/* The values of the options. */
typedef struct {
  char     *solvers[16];
  char      amplitudes[PETSC_MAX_PATH_LEN], refinement[PETSC_MAX_PATH_LEN], space_time[PETSC_MAX_PATH_LEN];
  PetscInt  count, refine, refine_steps;
  PetscReal refine_time;
  PetscBool listed, has_amplitudes, has_refinement, has_space_time;
} Request;

/* The default step is so small that the error in space dominates. */
static PetscErrorCode Refine(Problem p, const Request *request)
{
  const PetscInt resolutions = request->refine;
  FILE          *file        = NULL;
  PetscReal      last = 0, n = (PetscReal)resolutions, x = 0, y = 0, xx = 0, xy = 0;
  PetscInt       r;
  PetscMPIInt    size;
  Result         result;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  p.lines = PetscMax(size, PetscMin(p.lines, 8));
  p.steps = request->refine_steps;
  p.T     = request->refine_time;
  if (request->has_refinement) PetscCall(PetscFOpen(PETSC_COMM_WORLD, request->refinement, "w", &file));
  if (file) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "points,error,l2_error\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%8s %12s %12s %8s\n", "points", "error", "L2 error", "slope"));
  for (r = 0; r < resolutions; r++) {
    p.points = 16 << r;
    PetscCall(Run(&p, request->solvers[0], NULL, PETSC_FALSE, &result));
    const PetscReal a = PetscLog2Real((PetscReal)p.points), b = PetscLog2Real(result.mean);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8" PetscInt_FMT " %12.3e %12.3e", p.points,
                          (double)result.error, (double)result.mean));
    if (r > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %8.2f", (double)(b - last)));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    if (file)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%" PetscInt_FMT ",%g,%g\n", p.points,
                             (double)result.error, (double)result.mean));
    last = b;
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  if (resolutions > 1)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "fitted slope of the L2 error: %.4f\n",
                          (double)((n * xy - x * y) / (n * xx - x * x))));
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Problem *p, Request *r)
{
  PetscFunctionBeginUser;
  r->count        = 16;
  r->refine_steps = 400;
  r->refine_time  = 2e-5;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Hyperdiffusion", NULL);
  PetscCall(PetscOptionsBoundedInt("-lines", "Lines in the batch", NULL, p->lines, &p->lines, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-points", "Points per line", NULL, p->points, &p->points, NULL, 5));
  PetscCall(PetscOptionsBoundedInt("-steps", "Time steps", NULL, p->steps, &p->steps, NULL, 1));
  PetscCall(PetscOptionsEnum("-operator", "u_t = D u_xx or u_t = -D u_xxxx", NULL, Operators,
                             (PetscEnum)p->op, (PetscEnum *)&p->op, NULL));
  PetscCall(PetscOptionsReal("-diffusivity", "D", NULL, p->D, &p->D, NULL));
  PetscCall(PetscOptionsReal("-final_time", "Time at the last step", NULL, p->T, &p->T, NULL));
  PetscCall(PetscOptionsEnum("-batch", "How the batch is held", NULL, Batches, (PetscEnum)p->batch,
                             (PetscEnum *)&p->batch, NULL));
  PetscCall(PetscOptionsEnum("-step",
                             "A solve and an update, a product with a matrix of type compact, or a TS", NULL,
                             StepTypes, (PetscEnum)p->step, (PetscEnum *)&p->step, NULL));
  PetscCall(
    PetscOptionsStringArray("-solvers", "PC types to compare", NULL, r->solvers, &r->count, &r->listed));
  PetscCall(PetscOptionsBoundedInt("-waves", "Waves on every line (0: 1 to 4 in turn)", NULL, p->waves,
                                   &p->waves, NULL, 0));
  PetscCall(PetscOptionsBoundedInt("-refine_steps", "Time steps of a resolution", NULL, r->refine_steps,
                                   &r->refine_steps, NULL, 1));
  PetscCall(PetscOptionsReal("-refine_time", "Final time of a resolution", NULL, r->refine_time,
                             &r->refine_time, NULL));
  PetscCall(PetscOptionsString("-space_time", "File for the first line after about 100 of the steps", NULL,
                               r->space_time, r->space_time, sizeof(r->space_time), &r->has_space_time));
  PetscCall(PetscOptionsBoundedInt("-refine", "Resolutions of the refinement study", NULL, r->refine,
                                   &r->refine, NULL, 0));
  PetscCall(PetscOptionsString("-amplitudes", "File for the decay of the first four lines", NULL,
                               r->amplitudes, r->amplitudes, sizeof(r->amplitudes), &r->has_amplitudes));
  PetscCall(PetscOptionsString("-refinement", "File for the refinement study", NULL, r->refinement,
                               r->refinement, sizeof(r->refinement), &r->has_refinement));
  PetscOptionsEnd();
  if (!r->listed) r->count = 1;
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOptions(const Problem *p, const Request *r, PetscMPIInt size)
{
  PetscFunctionBeginUser;
  PetscCheck(p->lines >= size, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-lines %" PetscInt_FMT " on %d ranks: every rank takes whole lines, at least one", p->lines,
             (int)size);
  PetscCheck(p->T > 0 && p->T <= PETSC_MAX_REAL, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-final_time %g: must be positive and finite", (double)p->T);
  PetscCheck(r->refine_time > 0 && r->refine_time <= PETSC_MAX_REAL, PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "-refine_time %g: must be positive and finite",
             (double)r->refine_time);
  PetscCheck(p->D >= 0 && p->D <= PETSC_MAX_REAL, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-diffusivity %g: must be finite and not negative", (double)p->D);
  PetscCheck(p->step == SOLVE || p->batch != DENSE, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-step %s steps vectors: -batch contiguous or interleaved, not dense", StepTypes[p->step]);
  PetscCheck(p->step == SOLVE || !r->listed, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-step %s takes no list of solvers: -solvers is for -step solve", StepTypes[p->step]);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem     p = {1024, 256, 20, 0, 1, 2e-4, CONTIGUOUS, HYPERDIFFUSION, SOLVE, 0, 0};
  Request     r = {0};
  PetscInt    k;
  PetscMPIInt size;
  Result      result;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(ReadOptions(&p, &r));
  PetscCall(CheckOptions(&p, &r, size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " lines of %" PetscInt_FMT " points, %" PetscInt_FMT
                        " steps, batch %s\n",
                        p.lines, p.points, p.steps, Batches[p.batch]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %12s %12s %14s %14s %8s\n", "solver", "set-up s", "solve s",
                        "unknowns/s", "error", "% copy"));
  for (k = 0; k < r.count; k++) {
    const char *solver = r.listed ? r.solvers[k] : NULL,
               *name   = p.step == SOLVE ? "as given" : StepTypes[p.step];
    Problem few        = p;
    few.lines          = PetscMin(p.lines, 16 * size);
    few.steps          = 1;
    if (solver) PetscCall(Run(&few, solver, NULL, PETSC_FALSE, &result));
    PetscCall(Run(&p, solver, NULL, (PetscBool)isatty(2), &result));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %12.4f %12.4f %14.3e %14.3e %8.1f\n",
                          solver ? solver : name, result.setup, result.solve,
                          (double)p.lines * (double)p.points * (double)p.steps / result.solve,
                          (double)result.error, 100 * result.copy * (double)p.steps / result.solve));
  }
  if (r.has_amplitudes) {
    Problem few        = p;
    few.lines          = PetscMax(PetscMax(4, size), PetscMin(p.lines, 8));
    few.steps          = 400;
    const Record decay = {r.amplitudes, "time,k,amplitude,theory", PrintAmplitudes};
    PetscCall(Run(&few, r.solvers[0], &decay, PETSC_FALSE, &result));
  }
  if (r.has_space_time) {
    Problem few        = p;
    few.lines          = size;
    const Record lines = {r.space_time, "time,x,u", PrintLine};
    PetscCall(Run(&few, r.solvers[0], &lines, PETSC_FALSE, &result));
  }
  if (r.refine > 0) PetscCall(Refine(p, &r));
  for (k = 0; r.listed && k < r.count; k++) PetscCall(PetscFree(r.solvers[k]));
  PetscCall(PetscFinalize());
  return 0;
}

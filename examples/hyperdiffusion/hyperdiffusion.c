/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "A batch of 1D periodic hyperdiffusion problems u_t = -D u_xxxx, Crank-Nicolson in time.\n\
A plain PETSc program without code for any plugin. It runs with any PC. Options:\n\
  -lines M -points N -steps K   size of the batch and number of time steps\n\
  -final_time T -diffusivity D  the modes decay like exp(-D (2 pi k)^4 t)\n\
  -batch contiguous|interleaved|dense   one AIJ matrix with 5 entries per row, line after line;\n\
                                the same with a 2D DMDA, point after point; or one 1D matrix and\n\
                                KSPMatSolve with a dense matrix of right-hand sides\n\
  -solvers line,lu,lu:mumps,bjacobi,ilu   PC types to run one after another, with the package of a\n\
                                factorization after a colon (default: the PC of -pc_type).\n\
                                bjacobi and pbjacobi need one line per block, as in a contiguous\n\
                                batch. PCs that are not direct precondition GMRES to 1e-12.\n\
                                Each solver first does a step of a few lines, so that the start of\n\
                                libraries is not timed\n\
  -refine R                     also R resolutions from 16 points on, each twice as fine\n\
  -amplitudes F -refinement F   files for the data of plots\n\n";

/* u^(n+1) solves (I + s) u^(n+1) = (I - s) u^n with s = dt D / 2 times the fourth difference. With v =
   (u^(n+1) + u^n) / 2 this is (I + s) v = u^n and u^(n+1) = 2 v - u^n: one solve and one update per
   step. See A. Gloster, L. O Naraigh, K. E. Pang, cuPentBatch (2019), eqs. 5-7. Line m starts as
   cos(2 pi k x), k = 1 + m mod 4. */

#include <petscksp.h>
#include <petscdmda.h>
#include <unistd.h>

typedef enum { CONTIGUOUS, INTERLEAVED, DENSE } Batch;
static const char *const Batches[] = {"contiguous", "interleaved", "dense", "Batch", "", NULL};

typedef struct {
  PetscInt  lines, points, steps;
  PetscReal D, T;
  Batch     batch;
  PetscInt  first, mine; /* lines of this rank */
} Problem;

typedef struct {
  PetscLogDouble setup, solve;
  PetscReal      error; /* largest |u - exact| at the final time */
} Result;

static PetscReal Exact(const Problem *p, PetscInt line, PetscInt i, PetscReal t)
{
  const PetscReal k = 2 * PETSC_PI * (PetscReal)(1 + line % 4);
  return PetscCosReal(k * (PetscReal)i / (PetscReal)p->points) * PetscExpReal(-p->D * k * k * k * k * t);
}

/* Row of point i of local line l, and position of (l, i) in the local array. */
static PetscInt Place(const Problem *p, PetscInt l, PetscInt i)
{
  return p->batch == INTERLEAVED ? l + p->mine * i : i + p->points * l;
}

static PetscErrorCode Assemble(const Problem *p, MPI_Comm comm, PetscInt lines, Mat *A)
{
  const PetscReal h = 1 / (PetscReal)p->points, s = p->T / (PetscReal)p->steps * p->D / 2 / (h * h * h * h);
  const PetscReal stencil[5] = {s, -4 * s, 1 + 6 * s, -4 * s, s};
  PetscInt        begin, i, l, d;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, lines * p->points, lines * p->points, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 0, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, NULL));
  for (l = 0; l < lines; l++)
    for (i = 0; i < p->points; i++) {
      const PetscInt row = begin + Place(p, l, i);
      PetscInt       columns[5];
      PetscScalar    values[5];
      for (d = -2; d <= 2; d++) {
        columns[d + 2] = begin + Place(p, l, (i + d + p->points) % p->points);
        values[d + 2]  = stencil[d + 2];
      }
      PetscCall(MatSetValues(*A, 1, &row, 5, columns, values, INSERT_VALUES));
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

/* Reads the state on the host: largest error at time t, and the amplitudes of the first four lines. */
static PetscErrorCode Measure(const Problem *p, const State *s, PetscReal t, PetscReal *error,
                              PetscReal amplitude[4])
{
  const PetscScalar *a;
  PetscReal          worst = 0;
  PetscInt           l, i;

  PetscFunctionBeginUser;
  if (p->batch == DENSE) PetscCall(MatDenseGetArrayRead(s->U, &a));
  else PetscCall(VecGetArrayRead(s->u, &a));
  for (l = 0; error && l < p->mine; l++)
    for (i = 0; i < p->points; i++) {
      const PetscReal e = PetscAbsScalar(a[Place(p, l, i)] - Exact(p, p->first + l, i, t));
      if (!(e <= worst)) worst = e;
    }
  for (l = 0; amplitude && l < 4; l++) {
    amplitude[l] = 0;
    for (i = 0; l < p->mine && i < p->points; i++)
      amplitude[l] +=
        2 * PetscRealPart(a[Place(p, l, i)]) * Exact(p, p->first + l, i, 0) / (PetscReal)p->points;
  }
  if (p->batch == DENSE) PetscCall(MatDenseRestoreArrayRead(s->U, &a));
  else PetscCall(VecRestoreArrayRead(s->u, &a));
  if (error) PetscCall(MPIU_Allreduce(&worst, error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode Step(const Problem *p, KSP ksp, State *s)
{
  PetscFunctionBeginUser;
  if (p->batch == DENSE) {
    PetscCall(KSPMatSolve(ksp, s->U, s->V));
    PetscCall(MatScale(s->U, -1));
    PetscCall(MatAXPY(s->U, 2, s->V, SAME_NONZERO_PATTERN));
  } else {
    PetscCall(KSPSolve(ksp, s->u, s->v));
    PetscCall(VecAXPBY(s->u, 2, -1, s->v));
  }
  PetscFunctionReturn(0);
}

/* Waits until queued device work is done: a norm of the result has to reach the host. */
static PetscErrorCode Finish(const Problem *p, const State *s)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  if (p->batch == DENSE) {
    Vec column;
    PetscCall(MatDenseGetColumnVecRead(s->U, 0, &column));
    PetscCall(VecNorm(column, NORM_2, &norm));
    PetscCall(MatDenseRestoreColumnVecRead(s->U, 0, &column));
  } else PetscCall(VecNorm(s->u, NORM_2, &norm));
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

static PetscErrorCode Run(Problem *p, const char *solver, const char *amplitude_file, PetscBool progress,
                          Result *result)
{
  MPI_Comm           comm = p->batch == DENSE ? PETSC_COMM_SELF : PETSC_COMM_WORLD;
  Mat                A;
  KSP                ksp;
  DM                 da   = NULL;
  FILE              *file = NULL;
  State              s;
  PetscMPIInt        size, rank;
  PetscInt           step;
  PetscLogDouble     t0, t1, t2;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (p->batch ==
      INTERLEAVED) { /* the DMDA gives the layout of lines; its own matrix would have 9 entries per row */
    PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, p->lines,
                           p->points, size, 1, 1, 1, NULL, NULL, &da));
    PetscCall(DMSetUp(da));
    PetscCall(DMDAGetCorners(da, &p->first, NULL, NULL, &p->mine, NULL, NULL));
  } else {
    p->mine  = p->lines / size + (rank < p->lines % size);
    p->first = rank * (p->lines / size) + PetscMin(rank, p->lines % size);
  }
  PetscCall(Assemble(p, comm, p->batch == DENSE ? 1 : p->mine, &A));
  PetscCall(CreateState(p, A, &s));
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  if (da) {
    PetscCall(KSPSetDM(ksp, da));
#if PETSC_VERSION_LT(3, 25, 0)
    PetscCall(KSPSetDMActive(ksp, PETSC_FALSE));
#else
    PetscCall(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#endif
  }
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&t0));
  if (solver) PetscCall(SetSolver(p, solver, A, ksp)); /* includes a part of the set-up of bjacobi */
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(Finish(p, &s));
  PetscCall(PetscTime(&t1));
  if (amplitude_file) PetscCall(PetscFOpen(PETSC_COMM_WORLD, amplitude_file, "w", &file));
  if (amplitude_file) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "time,k,amplitude,theory\n"));
  for (step = 0; step <= p->steps; step++) {
    if (amplitude_file) {
      PetscReal a[4];
      PetscInt  l;
      PetscCall(Measure(p, &s, 0, NULL, a));
      for (l = 0; step % (1 + p->steps / 101) == 0 && l < PetscMin(4, p->mine); l++)
        PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%g,%" PetscInt_FMT ",%g,%g\n",
                               (double)(p->T * step / p->steps), 1 + (p->first + l) % 4, (double)a[l],
                               (double)Exact(p, p->first + l, 0, p->T * step / p->steps)));
    }
    if (step == p->steps) break;
    PetscCall(Step(p, ksp, &s));
    if (progress && (step + 1) % PetscMax(1, p->steps / 5) == 0)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "\r  step %" PetscInt_FMT " of %" PetscInt_FMT,
                             step + 1, p->steps));
  }
  PetscCall(Finish(p, &s));
  PetscCall(PetscTime(&t2));
  if (progress) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "\r                              \r"));
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  result->setup = t1 - t0;
  result->solve = t2 - t1;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(Measure(p, &s, p->T, &result->error, NULL));
  if (reason < 0)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "  %s: %s\n", solver ? solver : "solver", KSPConvergedReasons[reason]));
  PetscCall(DestroyState(&s));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refine(Problem p, PetscInt resolutions, const char *solver, const char *filename)
{
  FILE       *file = NULL;
  PetscReal   last = 0;
  PetscInt    r;
  PetscMPIInt size;
  Result      result;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  p.lines = PetscMax(size, PetscMin(p.lines, 8));
  p.steps = 400; /* a time step so small that the error in space dominates */
  p.T     = 2e-5;
  if (filename) PetscCall(PetscFOpen(PETSC_COMM_WORLD, filename, "w", &file));
  if (file) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "points,error\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%8s %12s %8s\n", "points", "error", "slope"));
  for (r = 0; r < resolutions; r++) {
    p.points = 16 << r;
    PetscCall(Run(&p, solver, NULL, PETSC_FALSE, &result));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8" PetscInt_FMT " %12.3e", p.points, (double)result.error));
    if (r > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %8.2f", (double)PetscLog2Real(result.error / last)));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    if (file)
      PetscCall(
        PetscFPrintf(PETSC_COMM_WORLD, file, "%" PetscInt_FMT ",%g\n", p.points, (double)result.error));
    last = result.error;
  }
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem     p = {1024, 256, 20, 1, 2e-4, CONTIGUOUS, 0, 0};
  char       *solvers[16];
  char        amplitudes[PETSC_MAX_PATH_LEN] = "", refinement[PETSC_MAX_PATH_LEN] = "";
  PetscInt    count = 16, refine = 0, k;
  PetscMPIInt size;
  PetscBool   listed, has_amplitudes, has_refinement;
  Result      result;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Hyperdiffusion", NULL);
  PetscCall(PetscOptionsBoundedInt("-lines", "Lines in the batch", NULL, p.lines, &p.lines, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-points", "Points per line", NULL, p.points, &p.points, NULL, 5));
  PetscCall(PetscOptionsBoundedInt("-steps", "Time steps", NULL, p.steps, &p.steps, NULL, 1));
  PetscCall(PetscOptionsReal("-diffusivity", "D in u_t = -D u_xxxx", NULL, p.D, &p.D, NULL));
  PetscCall(PetscOptionsReal("-final_time", "Time at the last step", NULL, p.T, &p.T, NULL));
  PetscCall(PetscOptionsEnum("-batch", "How the batch is held", NULL, Batches, (PetscEnum)p.batch,
                             (PetscEnum *)&p.batch, NULL));
  PetscCall(PetscOptionsStringArray("-solvers", "PC types to compare", NULL, solvers, &count, &listed));
  PetscCall(
    PetscOptionsBoundedInt("-refine", "Resolutions of the refinement study", NULL, refine, &refine, NULL, 0));
  PetscCall(PetscOptionsString("-amplitudes", "File for the decay of the first four lines", NULL, amplitudes,
                               amplitudes, sizeof(amplitudes), &has_amplitudes));
  PetscCall(PetscOptionsString("-refinement", "File for the refinement study", NULL, refinement, refinement,
                               sizeof(refinement), &has_refinement));
  PetscOptionsEnd();
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(p.lines >= size, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-lines %" PetscInt_FMT " on %d ranks: every rank takes whole lines, at least one", p.lines,
             (int)size);
  if (!listed) count = 1;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " lines of %" PetscInt_FMT " points, %" PetscInt_FMT
                        " steps, batch %s\n",
                        p.lines, p.points, p.steps, Batches[p.batch]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %12s %12s %14s %14s\n", "solver", "set-up s", "solve s",
                        "unknowns/s", "error"));
  for (k = 0; k < count; k++) {
    Problem few = p;
    few.lines   = PetscMin(p.lines, 16 * size);
    few.steps   = 1;
    if (listed) PetscCall(Run(&few, solvers[k], NULL, PETSC_FALSE, &result));
    PetscCall(Run(&p, listed ? solvers[k] : NULL, NULL, (PetscBool)isatty(2), &result));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %12.4f %12.4f %14.3e %14.3e\n",
                          listed ? solvers[k] : "as given", result.setup, result.solve,
                          (double)p.lines * (double)p.points * (double)p.steps / result.solve,
                          (double)result.error));
  }
  if (has_amplitudes) {
    Problem few = p;
    few.lines   = PetscMax(PetscMax(4, size), PetscMin(p.lines, 8));
    few.steps   = 400;
    PetscCall(Run(&few, listed ? solvers[0] : NULL, amplitudes, PETSC_FALSE, &result));
  }
  if (refine > 0)
    PetscCall(Refine(p, refine, listed ? solvers[0] : NULL, has_refinement ? refinement : NULL));
  for (k = 0; listed && k < count; k++) PetscCall(PetscFree(solvers[k]));
  PetscCall(PetscFinalize());
  return 0;
}

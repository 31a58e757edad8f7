/* SPDX-License-Identifier: BSD-2-Clause */
/* run.c  One run: set-up, all steps, and their times. */
#include "hyperdiffusion.h"

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

PetscErrorCode Run(Problem *p, const char *solver, const Record *record, PetscBool progress, Result *result)
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

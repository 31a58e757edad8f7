/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Times of a PC on a grid: first set-up, set-up with new values, application, MatMult.\n\
A plain PETSc program without code for any plugin. It runs with any PC (-pc_type). Options:\n\
  -dim D -n N -dof B   a grid of N^D points with B unknowns each and neighbours along the axes\n\
  -box                 all 3^D - 1 neighbours, as finite elements of degree 1 on cubes have\n\
  -repeats K           number of set-ups with new values; the shortest time is printed\n\n";

/* Off-diagonal blocks: -1 on the diagonal, other entries random up to 0.05. Diagonal blocks: the number of
   neighbours, others up to 0.15 times this number. Every row is multiplied by a random number from 1 to
   1.3, so that there is one matrix per line. */

#include <petscdmda.h>
#include <petscksp.h>

typedef struct {
  PetscInt    dim, n, dof, repeats;
  PetscBool   box;
  PetscRandom random;
} Problem;

static PetscErrorCode Random(const Problem *p, PetscReal *value)
{
  PetscFunctionBeginUser;
  PetscCall(PetscRandomGetValueReal(p->random, value));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(const Problem *p, DM *grid)
{
  const DMBoundaryType none = DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, grid));
  PetscCall(DMSetDimension(*grid, p->dim));
  PetscCall(DMDASetSizes(*grid, p->n, p->dim > 1 ? p->n : 1, p->dim > 2 ? p->n : 1));
  PetscCall(DMDASetBoundaryType(*grid, none, none, none));
  PetscCall(DMDASetDof(*grid, p->dof));
  PetscCall(DMDASetStencilType(*grid, p->box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*grid, 1));
  PetscCall(DMSetFromOptions(*grid));
  PetscCall(DMSetUp(*grid));
  PetscFunctionReturn(0);
}

/* Row c of the block of a point. */
static PetscErrorCode SetRow(const Problem *p, Mat A, const PetscInt point[3], PetscInt c)
{
  const PetscInt  reach[3]   = {1, p->dim > 1, p->dim > 2};
  const PetscReal neighbours = p->box ? (p->dim == 1 ? 2 : p->dim == 2 ? 8 : 26) : 2 * (PetscReal)p->dim;
  MatStencil      row, columns[27 * 8];
  PetscScalar     values[27 * 8];
  PetscReal       scale;
  PetscInt        entries = 0, step[3];

  PetscFunctionBeginUser;
  row.i = point[0], row.j = point[1], row.k = point[2], row.c = c;
  PetscCall(Random(p, &scale));
  scale = 1 + (PetscReal)0.3 * scale;
  for (step[2] = -reach[2]; step[2] <= reach[2]; step[2]++)
    for (step[1] = -reach[1]; step[1] <= reach[1]; step[1]++)
      for (step[0] = -reach[0]; step[0] <= reach[0]; step[0]++) {
        const PetscInt distance = PetscAbsInt(step[0]) + PetscAbsInt(step[1]) + PetscAbsInt(step[2]);
        PetscBool      inside   = p->box || distance <= 1 ? PETSC_TRUE : PETSC_FALSE;
        for (PetscInt d = 0; d < p->dim; d++)
          if (point[d] + step[d] < 0 || point[d] + step[d] >= p->n) inside = PETSC_FALSE;
        if (!inside) continue;
        for (PetscInt d = 0; d < p->dof; d++) {
          const PetscReal weight = distance ? -1 : neighbours,
                          other  = distance ? (PetscReal)0.1 : (PetscReal)0.3;
          PetscReal random;
          PetscCall(Random(p, &random));
          columns[entries].i = point[0] + step[0], columns[entries].j = point[1] + step[1];
          columns[entries].k = point[2] + step[2], columns[entries].c = d;
          values[entries++] = scale * weight * (c == d ? 1 : other * (random - (PetscReal)0.5));
        }
      }
  PetscCall(MatSetValuesStencil(A, 1, &row, entries, columns, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrix(const Problem *p, DM grid, Mat *A)
{
  PetscInt begin[3], sizes[3];

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(grid, A));
  PetscCall(DMDAGetCorners(grid, &begin[0], &begin[1], &begin[2], &sizes[0], &sizes[1], &sizes[2]));
  for (PetscInt k = 0; k < sizes[2]; k++)
    for (PetscInt j = 0; j < sizes[1]; j++)
      for (PetscInt i = 0; i < sizes[0]; i++)
        for (PetscInt c = 0; c < p->dof; c++) {
          const PetscInt point[3] = {begin[0] + i, begin[1] + j, begin[2] + k};
          PetscCall(SetRow(p, *A, point, c));
        }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The time after all work on the device. A dot product waits for that work. */
static PetscErrorCode Now(Vec x, PetscLogDouble *time)
{
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(VecDot(x, x, &dot));
  PetscCall(PetscTime(time));
  PetscFunctionReturn(0);
}

/* A new PC: set-up and one application. The first PC of a program also starts libraries. */
static PetscErrorCode FirstSetUp(DM grid, Mat A, Vec b, Vec x, PC *pc, PetscLogDouble *seconds)
{
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetDM(*pc, grid));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(Now(b, &begin));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCApply(*pc, b, x));
  PetscCall(Now(x, &end));
  *seconds = end - begin;
  PetscFunctionReturn(0);
}

/* Set-up with new values in the same pattern; the shortest of several. */
static PetscErrorCode Refresh(const Problem *p, Mat A, Vec b, Vec x, PC pc, PetscLogDouble *seconds)
{
  PetscFunctionBeginUser;
  *seconds = PETSC_MAX_REAL;
  for (PetscInt k = 0; k < p->repeats; k++) {
    PetscLogDouble begin, end;
    PetscCall(MatScale(A, (PetscScalar)1.0001));
    PetscCall(MatMult(A, b, x));
    PetscCall(Now(x, &begin));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(Now(x, &end));
    *seconds = PetscMin(*seconds, end - begin);
  }
  PetscFunctionReturn(0);
}

/* The mean of many applications of a PC, or of many products with A if `pc` is NULL. */
static PetscErrorCode Application(PC pc, Mat A, Vec b, Vec x, PetscLogDouble *seconds)
{
  const PetscInt times = 200;

  PetscFunctionBeginUser;
  for (PetscInt round = 0; round < 2; round++) { /* the first one warms up */
    PetscLogDouble begin, end;
    PetscCall(Now(x, &begin));
    for (PetscInt k = 0; k < times; k++) {
      if (pc) PetscCall(PCApply(pc, b, x));
      else PetscCall(MatMult(A, b, x));
    }
    PetscCall(Now(x, &end));
    *seconds = (end - begin) / (PetscLogDouble)times;
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem        p = {2, 49, 1, 20, PETSC_FALSE, NULL};
  DM             grid;
  Mat            A;
  Vec            b, x;
  PC             pc;
  PetscLogDouble start, first, refresh, application, product;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &p.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dof", &p.dof, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &p.repeats, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-box", &p.box, NULL));
  PetscCheck(p.dim >= 1 && p.dim <= 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dim %" PetscInt_FMT ": 1, 2 or 3", p.dim);
  PetscCheck(p.n >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT ": at least 2", p.n);
  PetscCheck(p.dof >= 1 && p.dof <= 8, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dof %" PetscInt_FMT ": 1 to 8", p.dof);
  PetscCheck(p.repeats >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-repeats %" PetscInt_FMT ": at least 1", p.repeats);
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &p.random));
  PetscCall(CreateGrid(&p, &grid));
  PetscCall(CreateMatrix(&p, grid, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(MatMult(A, b, x));
  PetscCall(FirstSetUp(grid, A, b, x, &pc, &start));
  PetscCall(PCDestroy(&pc));
  PetscCall(FirstSetUp(grid, A, b, x, &pc, &first));
  PetscCall(Refresh(&p, A, b, x, pc, &refresh));
  PetscCall(Application(pc, A, b, x, &application));
  PetscCall(Application(NULL, A, b, x, &product));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "milliseconds: first set-up of the program %.3f, of another PC %.3f (both with an "
                        "application), refresh %.3f, application %.4f, MatMult %.4f\n",
                        1e3 * start, 1e3 * first, 1e3 * refresh, 1e3 * application, 1e3 * product));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&grid));
  PetscCall(PetscRandomDestroy(&p.random));
  return PetscFinalize();
}

/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Elliptic model problems with couplings of very different size, on a 2D or 3D DMDA.\n\
A plain PETSc program without code for any plugin. It runs with any KSP and PC. It computes\n\
the operator on every level of -pc_type mg; with -pc_mg_galerkin both, products replace it.\n\
-da_grid_x N -da_refine R work as in every program with a DMDA. Options:\n\
  -dim 2|3\n\
  -problem anisotropic   -R u_xx - u_yy - u_zz on the unit cube, R: -ratio\n\
           layer         -laplace u, spacing along y grows exponentially away from y = 0;\n\
                         largest over smallest spacing: -ratio\n\
           rotated       -div(K grad u), K = R along a direction in the xy plane, 1 across;\n\
                         -ratio, -angle (degrees from x)\n\
           convection    -laplace u + P w.grad u, |w| = 1, w at -angle degrees from x, P: -peclet;\n\
                         first-order upwind\n\
           stretched     -laplace u, S: -stretch 0,0,3; nodes of direction d, with t = 0..1 uniform:\n\
                         at (1 + tanh(S_d (2 t - 1)) / tanh(S_d)) / 2, dense at both ends;\n\
                         S_d < 0: at 1 - tanh(S_d (1 - t)) / tanh(S_d), dense at t = 0\n\
  -cpu_time              CPU seconds of rank 0, which other programs on the machine do not lengthen\n\
  -repeats K             timed solves after a first one; the fastest counts. The first solve counts\n\
                         as set-up as far as it took longer. 0: only the first one\n\n";

/* Finite volumes on a tensor grid of nodes. Row i is the balance of its cell, without a division. Hence all
   problems but the last are symmetric, and operators of coarser grids fit the transpose of the
   interpolation. u = 0 on the boundary. Nodes on the boundary keep separate rows: these couple with no
   other row, and no other row couples with them. The cross derivative of `rotated` is the central
   difference over the four corners.

   The right-hand side is a hash of the index of the node, in [-1, 1). It is the same for any number of
   ranks and any type of vectors, and contains all frequencies. See U. Trottenberg, C. W. Oosterlee, A.
   Schueller, Multigrid (2001), chapters 5 and 7; P. Wesseling, An Introduction to Multigrid Methods (1992),
   chapter 7. */

#if !defined(_POSIX_C_SOURCE)
  #define _POSIX_C_SOURCE 200809L /* clock_gettime() */
#endif
#include <time.h>

#include <petscksp.h>
#include <petscdmda.h>
#include <petsctime.h>

typedef enum { ANISOTROPIC, LAYER, ROTATED, CONVECTION, STRETCHED } Kind;
static const char *const Kinds[] = {"anisotropic", "layer", "rotated", "convection",
                                    "stretched",   "Kind",  "",        NULL};

typedef struct {
  Kind           kind;
  PetscInt       dim;
  PetscReal      ratio, angle, peclet, stretch[3];
  PetscLogDouble assembly; /* seconds so far in ComputeMatrix */
} Problem;

/* CPU seconds of this rank. clock_gettime() counts nanoseconds, PetscGetCPUTime() 10 ms. */
static PetscErrorCode Computed(PetscLogDouble *t)
{
  struct timespec now;

  PetscFunctionBeginUser;
  PetscCheck(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
             "clock_gettime() failed");
  *t = (PetscLogDouble)now.tv_sec + 1e-9 * (PetscLogDouble)now.tv_nsec;
  PetscFunctionReturn(0);
}
static PetscErrorCode (*Now)(PetscLogDouble *) = PetscTime;

/* Nodes of a grid: sizes, and the box that this rank owns. */
typedef struct {
  PetscInt size[3], begin[3], count[3];
} Grid;

static PetscErrorCode GetGrid(DM da, Grid *g)
{
  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &g->size[0], &g->size[1], &g->size[2], NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL, NULL, NULL));
  PetscCall(
    DMDAGetCorners(da, &g->begin[0], &g->begin[1], &g->begin[2], &g->count[0], &g->count[1], &g->count[2]));
  PetscFunctionReturn(0);
}

/* Coordinate of node i in 0..n-1 along direction d. */
static PetscReal Coordinate(const Problem *p, int d, PetscInt i, PetscInt n)
{
  const PetscReal t = (PetscReal)i / (PetscReal)(n - 1), b = PetscLogReal(p->ratio), s = p->stretch[d];
  if (p->kind == STRETCHED && s < 0) return 1 - PetscTanhReal(s * (1 - t)) / PetscTanhReal(s);
  if (p->kind == STRETCHED && s > 0) return (1 + PetscTanhReal(s * (2 * t - 1)) / PetscTanhReal(s)) / 2;
  if (p->kind != LAYER || d != 1 || b == 0) return t;
  return (PetscExpReal(b * t) - 1) / (PetscExpReal(b) - 1);
}

/* Distances of node i to its two neighbours along direction d. The boundary mirrors the existing
   neighbour. */
static void Spacing(const Problem *p, int d, PetscInt i, PetscInt n, PetscReal h[2])
{
  const PetscReal x = Coordinate(p, d, i, n);
  h[0]              = i > 0 ? x - Coordinate(p, d, i - 1, n) : 0;
  h[1]              = i < n - 1 ? Coordinate(p, d, i + 1, n) - x : h[0];
  if (i == 0) h[0] = h[1];
}

static PetscBool OnBoundary(const Problem *p, const Grid *g, const PetscInt at[3])
{
  for (int d = 0; d < p->dim; d++)
    if (at[d] <= 0 || at[d] >= g->size[d] - 1) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* One row: columns as offsets from its node, and their values. A row has at most 7 entries and 4
   corners. */
typedef struct {
  PetscInt    entries;
  int         offset[11][3];
  PetscScalar value[11];
} Row;

static void Add(Row *row, int x, int y, int z, PetscReal value)
{
  const PetscInt k  = row->entries++;
  row->offset[k][0] = x, row->offset[k][1] = y, row->offset[k][2] = z;
  row->value[k] = value;
}

/* All entries of the row of a node, as if it had neighbours on all sides. The first entry is the
   diagonal. */
static void Stencil(const Problem *p, const Grid *g, const PetscInt at[3], Row *row)
{
  const PetscReal radians = p->angle * PETSC_PI / 180, c = PetscCosReal(radians), s = PetscSinReal(radians);
  PetscReal K[3] = {1, 1, 1}, wind[3] = {0, 0, 0}, h[3][2], cell[3] = {1, 1, 1}, diagonal = 0, cross = 0;

  if (p->kind == ANISOTROPIC) K[0] = p->ratio;
  if (p->kind == ROTATED)
    K[0] = p->ratio * c * c + s * s, K[1] = p->ratio * s * s + c * c, cross = (p->ratio - 1) * c * s;
  if (p->kind == CONVECTION) wind[0] = p->peclet * c, wind[1] = p->peclet * s;
  for (int d = 0; d < p->dim; d++) {
    Spacing(p, d, at[d], g->size[d], h[d]);
    cell[d] = (h[d][0] + h[d][1]) / 2;
  }
  row->entries = 0;
  Add(row, 0, 0, 0, 0);
  for (int d = 0; d < p->dim; d++) {
    const PetscReal face = cell[0] * cell[1] * cell[2] / cell[d];
    for (int side = 0; side < 2; side++) {
      const int       step   = 2 * side - 1;
      const PetscReal inflow = PetscMax(0, -step * wind[d]), coupling = face * (K[d] / h[d][side] + inflow);
      Add(row, d == 0 ? step : 0, d == 1 ? step : 0, d == 2 ? step : 0, -coupling);
      diagonal += coupling;
    }
  }
  row->value[0] = diagonal;
  if (p->kind == ROTATED)
    for (int x = -1; x <= 1; x += 2)
      for (int y = -1; y <= 1; y += 2) Add(row, x, y, 0, -x * y * cross / 2 * cell[2]);
}

static PetscErrorCode ComputeMatrix(KSP ksp, Mat J, Mat A, void *context)
{
  Problem       *p = (Problem *)context;
  DM             da;
  Grid           g;
  PetscInt       at[3];
  PetscLogDouble t0, t1;

  PetscFunctionBeginUser;
  PetscCall(Now(&t0));
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(GetGrid(da, &g));
  for (at[2] = g.begin[2]; at[2] < g.begin[2] + g.count[2]; at[2]++)
    for (at[1] = g.begin[1]; at[1] < g.begin[1] + g.count[1]; at[1]++)
      for (at[0] = g.begin[0]; at[0] < g.begin[0] + g.count[0]; at[0]++) {
        MatStencil  here = {0}, columns[11];
        PetscScalar values[11];
        PetscInt    entries = 0;
        Row         row;
        Stencil(p, &g, at, &row);
        if (OnBoundary(p, &g, at)) row.entries = 1;
        for (PetscInt k = 0; k < row.entries; k++) {
          const PetscInt there[3] = {at[0] + row.offset[k][0], at[1] + row.offset[k][1],
                                     at[2] + row.offset[k][2]};
          if (k > 0 && OnBoundary(p, &g, there)) continue;
          columns[entries].i = there[0], columns[entries].j = there[1], columns[entries].k = there[2],
          columns[entries].c = 0;
          values[entries++]  = row.value[k];
        }
        here.i = at[0], here.j = at[1], here.k = at[2];
        PetscCall(MatSetValuesStencil(A, 1, &here, entries, columns, values, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (J != A) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(Now(&t1));
  p->assembly += t1 - t0;
  PetscFunctionReturn(0);
}

/* A value in [-1, 1) for every node: splitmix64 (G. L. Steele et al., 2014). */
static PetscReal Hash(PetscInt node)
{
  unsigned long long z = ((unsigned long long)node + 1) * 0x9e3779b97f4a7c15ULL;
  z                    = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z                    = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (PetscReal)((z ^ (z >> 31)) >> 40) / (PetscReal)(1 << 23) - 1;
}

static PetscErrorCode FillRightHandSide(const Problem *p, DM da, Vec b)
{
  Grid         g;
  PetscInt     at[3], k = 0;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(GetGrid(da, &g));
  PetscCall(VecGetArrayWrite(b, &a)); /* nodes as the DMDA stores them: x first */
  for (at[2] = g.begin[2]; at[2] < g.begin[2] + g.count[2]; at[2]++)
    for (at[1] = g.begin[1]; at[1] < g.begin[1] + g.count[1]; at[1]++)
      for (at[0] = g.begin[0]; at[0] < g.begin[0] + g.count[0]; at[0]++)
        a[k++] = OnBoundary(p, &g, at) ? 0 : Hash(at[0] + g.size[0] * (at[1] + g.size[1] * at[2]));
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscFunctionReturn(0);
}

/* Solves from x = 0 and waits until the device is done: a norm of the result reaches the host. */
static PetscErrorCode Solve(KSP ksp, Vec b, Vec x, PetscLogDouble *seconds)
{
  PetscLogDouble t0, t1;
  PetscReal      norm;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(Now(&t0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(Now(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(0);
}

/* ||b - A x|| / ||b||, independent of the norm of the KSP. */
static PetscErrorCode TrueResidual(KSP ksp, Vec b, Vec x, PetscReal *residual)
{
  Mat       A;
  Vec       r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(const Problem *p, DM *da)
{
  const DMDAStencilType shape = p->kind == ROTATED ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;

  PetscFunctionBeginUser;
  if (p->dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, shape, 5, 5, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, shape, 5,
                           5, 5, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, da));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem            p = {ANISOTROPIC, 2, 1, 0, 0, {0, 0, 0}, 0};
  DM                 da;
  KSP                ksp;
  Vec                b, x;
  PetscBool          cpu_time = PETSC_FALSE;
  PetscInt           repeats = 1, unknowns, iterations, k, stretches = 3;
  PetscMPIInt        size;
  PetscLogDouble     t0, t1, first, again, solve;
  PetscReal          residual;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Smoothers", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "Dimensions", NULL, p.dim, &p.dim, NULL, 2, 3));
  PetscCall(PetscOptionsEnum("-problem", "Which equation", NULL, Kinds, (PetscEnum)p.kind,
                             (PetscEnum *)&p.kind, NULL));
  PetscCall(
    PetscOptionsReal("-ratio", "Ratio of couplings, for layer of spacings", NULL, p.ratio, &p.ratio, NULL));
  PetscCall(PetscOptionsReal("-angle", "Degrees between x and the strong direction, or the wind", NULL,
                             p.angle, &p.angle, NULL));
  PetscCall(PetscOptionsReal("-peclet", "Convection over diffusion", NULL, p.peclet, &p.peclet, NULL));
  PetscCall(PetscOptionsRealArray("-stretch", "Stretching of each direction, 0: uniform", NULL, p.stretch,
                                  &stretches, NULL));
  PetscCall(PetscOptionsBool("-cpu_time", "Seconds that rank 0 computes", NULL, cpu_time, &cpu_time, NULL));
  PetscCall(
    PetscOptionsBoundedInt("-repeats", "Timed solves after the first one", NULL, repeats, &repeats, NULL, 0));
  PetscOptionsEnd();
  if (cpu_time) Now = Computed;
  PetscCheck(p.ratio > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-ratio %g is not positive",
             (double)p.ratio);
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CreateGrid(&p, &da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeOperators(ksp, ComputeMatrix, &p));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(FillRightHandSide(&p, da, b));
  PetscCall(Now(&t0));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(Now(&t1));
  PetscCall(Solve(ksp, b, x, &first)); /* with estimates of eigenvalues and all other work done once */
  for (k = 0, solve = first; k < repeats; k++) {
    PetscCall(Solve(ksp, b, x, &again));
    solve = PetscMin(solve, again);
  }
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(TrueResidual(ksp, b, x, &residual));
  PetscCall(VecGetSize(b, &unknowns));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "problem %s\nunknowns %" PetscInt_FMT
                        "\nranks %d\nreason %s\niterations %" PetscInt_FMT "\n",
                        Kinds[p.kind], unknowns, (int)size, KSPConvergedReasons[reason], iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "true_residual %.3e\nassembly_s %.6f\nsetup_s %.6f\nsolve_s %.6f\n",
                        (double)residual, p.assembly, t1 - t0 - p.assembly + first - solve, solve));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}

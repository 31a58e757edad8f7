/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] = "Times one application of point preconditioners next to one product with the matrix.\n\
A plain PETSc program without code for any plugin; PC multicolor needs -dll_append .../libribbon.so.\n\
  -n N                         points along each direction of a cube (default 65)\n\
  -stencil 7|27                couplings along the axes, or within a box (default 7)\n\
  -dof B                       unknowns of a point (default 1); they couple with those of all neighbours\n\
  -coefficients constant|variable\n\
  -methods NAME,NAME           multicolor_forward, multicolor_symmetric, multicolor_jp, multicolor_greedy,\n\
                               sor_forward, sor_symmetric, jacobi, line, ilu (default multicolor_forward,\n\
                               multicolor_symmetric,sor_forward,sor_symmetric,jacobi)\n\
  -repeats K                   applications of a measurement, of which the best of three counts (default 10)\n\
  -dm_mat_type, -dm_vec_type   types of matrix and vectors; options of each PC with the prefix of its name,\n\
                               as in -multicolor_forward_pc_multicolor_coloring jp\n\
Columns: seconds of a product, then in products: set-up, new values, an application from zero, and a step of\n\
Richardson's iteration without norms from a guess; unknowns relaxed per second from a guess.\n\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

/* A preconditioner of the list, and its options with %s for the prefix. */
typedef struct {
  const char *name, *options;
} Method;
static const Method Methods[] = {
  {"multicolor_forward", "-%spc_type multicolor -%spc_multicolor_forward"},
  {"multicolor_symmetric", "-%spc_type multicolor -%spc_multicolor_symmetric"},
  {"multicolor_jp", "-%spc_type multicolor -%spc_multicolor_forward -%spc_multicolor_coloring jp"},
  {"multicolor_greedy", "-%spc_type multicolor -%spc_multicolor_forward -%spc_multicolor_coloring greedy"},
  {"sor_forward", "-%spc_type sor -%spc_sor_local_forward"},
  {"sor_symmetric", "-%spc_type sor -%spc_sor_local_symmetric"},
  {"jacobi", "-%spc_type pbjacobi"},
  {"line", "-%spc_type line"},
  {"ilu", "-%spc_type bjacobi -%ssub_pc_type ilu"},
};

typedef struct {
  PetscInt  n, stencil, dof, repeats;
  PetscBool variable;
} Case;

/* A number in [0, 1) of three integers. */
static PetscReal Hash(PetscInt i, PetscInt j, PetscInt k)
{
  const PetscReal x =
    PetscSinReal(12.9898 * (PetscReal)i + 78.233 * (PetscReal)j + 37.719 * (PetscReal)k) * 43758.5453;
  return x - PetscFloorReal(x);
}

/* Rows of a point: the sum of its couplings on the diagonal, and a little more. */
static PetscErrorCode Fill(DM da, Mat A, const Case *c)
{
  PetscInt begin[3], count[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &count[0], &count[1], &count[2]));
  for (PetscInt k = begin[2]; k < begin[2] + count[2]; ++k)
    for (PetscInt j = begin[1]; j < begin[1] + count[1]; ++j)
      for (PetscInt i = begin[0]; i < begin[0] + count[0]; ++i) {
        MatStencil  row = {k, j, i, 0}, columns[27];
        PetscScalar values[27 * 64];
        PetscInt    columns_count = 0, center = 0;
        PetscReal   sum = 0;
        for (PetscInt z = -1; z <= 1; ++z)
          for (PetscInt y = -1; y <= 1; ++y)
            for (PetscInt x = -1; x <= 1; ++x) {
              const MatStencil to = {k + z, j + y, i + x, 0};
              if (c->stencil == 7 && PetscAbs(x) + PetscAbs(y) + PetscAbs(z) > 1) continue;
              if (to.i < 0 || to.j < 0 || to.k < 0 || to.i >= c->n || to.j >= c->n || to.k >= c->n) continue;
              if (x == 0 && y == 0 && z == 0) center = columns_count;
              columns[columns_count++] = to;
            }
        for (PetscInt e = 0; e < columns_count; ++e) {
          const PetscReal a =
            c->variable ? 0.5 + Hash(i + columns[e].i, j + columns[e].j, k + columns[e].k) : 1;
          for (PetscInt r = 0; r < c->dof; ++r)
            for (PetscInt s = 0; s < c->dof; ++s)
              values[(r * columns_count + e) * c->dof + s] =
                e == center ? 0 : -a / (PetscReal)(1 + 2 * PetscAbs(r - s));
          if (e != center) sum += a;
        }
        for (PetscInt r = 0; r < c->dof; ++r)
          values[(r * columns_count + center) * c->dof + r] = (PetscReal)(1 + c->dof) / 2 * sum + 0.01;
        PetscCall(MatSetValuesBlockedStencil(A, 1, &row, columns_count, columns, values, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Seconds of one call, the best of three rounds of repeats. The norm waits for a device. */
typedef PetscErrorCode (*Call)(void *object, Vec b, Vec x, PetscInt times);
static PetscErrorCode Time(Call call, void *object, Vec b, Vec x, PetscInt times, PetscLogDouble *seconds)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  *seconds = PETSC_MAX_REAL;
  PetscCall(call(object, b, x, 1));
  for (PetscInt round = 0; round < 3; ++round) {
    PetscLogDouble begin, end;
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCallMPI(MPI_Barrier(PetscObjectComm((PetscObject)b)));
    PetscCall(PetscTime(&begin));
    PetscCall(call(object, b, x, times));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCall(PetscTime(&end));
    *seconds = PetscMin(*seconds, (end - begin) / (PetscLogDouble)times);
  }
  PetscFunctionReturn(0);
}
static PetscErrorCode Multiply(void *A, Vec b, Vec x, PetscInt times)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; ++k) PetscCall(MatMult((Mat)A, b, x));
  PetscFunctionReturn(0);
}
static PetscErrorCode Apply(void *pc, Vec b, Vec x, PetscInt times)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; ++k) PetscCall(PCApply((PC)pc, b, x));
  PetscFunctionReturn(0);
}
static PetscErrorCode Iterate(void *ksp, Vec b, Vec x, PetscInt times)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetTolerances((KSP)ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, times));
  PetscCall(VecSet(x, 1));
  PetscCall(KSPSolve((KSP)ksp, b, x));
  PetscFunctionReturn(0);
}

/* One row of the table. */
static PetscErrorCode Measure(const Method *method, Mat A, DM da, const Case *c, PetscLogDouble product,
                              Vec b, Vec x)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  char           prefix[64], options[512];
  PetscBool      jacobi;
  KSP            ksp;
  PC             pc;
  PetscLogDouble begin, end, set_up, refresh, apply, iterate;
  PetscInt       rows;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(prefix, sizeof prefix, "%s_", method->name));
  PetscCall(PetscSNPrintf(options, sizeof options, method->options, prefix, prefix, prefix));
  PetscCall(PetscStrcmp(method->name, "jacobi", &jacobi));
  if (jacobi) /* pbjacobi of one unknown would leave the device */
    PetscCall(
      PetscSNPrintf(options, sizeof options, "-%spc_type %s", prefix, c->dof > 1 ? "pbjacobi" : "jacobi"));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, x)); /* PCSOR and others do a part of their set-up here */
  PetscCall(PetscTime(&end));
  set_up = end - begin;
  PetscCall(MatScale(A, 2)); /* new values */
  PetscCall(MatScale(A, 0.5));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(PetscTime(&begin));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PetscTime(&end));
  refresh = end - begin;
  PetscCall(Time(Apply, pc, b, x, c->repeats, &apply));
  PetscCall(Time(Iterate, ksp, b, x, c->repeats, &iterate));
  PetscCall(VecGetSize(b, &rows));
  PetscCall(PetscPrintf(comm, "%-22s %10.2f %10.2f %10.2f %10.2f %12.3e\n", method->name,
                        PetscMax(0, set_up - apply) / product, PetscMax(0, refresh - apply) / product,
                        apply / product, iterate / product, (double)rows / iterate));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Case           c = {65, 7, 1, 10, PETSC_FALSE};
  char          *names[16];
  const char    *kinds[] = {"constant", "variable"};
  PetscInt       count = 16, kind = 0;
  PetscBool      given;
  DM             da;
  Mat            A;
  Vec            b, x;
  PetscLogDouble product;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Sweeps", NULL);
  PetscCall(PetscOptionsInt("-n", "Points along each direction", NULL, c.n, &c.n, NULL));
  PetscCall(PetscOptionsInt("-stencil", "7 or 27", NULL, c.stencil, &c.stencil, NULL));
  PetscCall(PetscOptionsInt("-dof", "Unknowns of a point", NULL, c.dof, &c.dof, NULL));
  PetscCall(PetscOptionsInt("-repeats", "Applications of a measurement", NULL, c.repeats, &c.repeats, NULL));
  PetscCall(
    PetscOptionsEList("-coefficients", "Constant or variable", NULL, kinds, 2, kinds[0], &kind, NULL));
  PetscCall(PetscOptionsStringArray("-methods", "Preconditioners", NULL, names, &count, &given));
  PetscOptionsEnd();
  c.variable = (PetscBool)kind;
  PetscCheck(c.n > 1 && c.dof >= 1 && c.dof <= 8 && c.repeats > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n: at least 2, -dof: 1 to 8, -repeats: at least 1");
  PetscCheck(c.stencil == 7 || c.stencil == 27, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-stencil %" PetscInt_FMT ": 7 or 27", c.stencil);
  if (!given) {
    const char *some[] = {"multicolor_forward", "multicolor_symmetric", "sor_forward", "sor_symmetric",
                          "jacobi"};
    for (count = 0; count < 5; ++count) PetscCall(PetscStrallocpy(some[count], &names[count]));
  }
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         c.stencil == 7 ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX, c.n, c.n, c.n, PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, c.dof, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(Fill(da, A, &c));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(Time(Multiply, A, b, x, c.repeats, &product));
  PetscCall(PetscPrintf(
    PETSC_COMM_WORLD,
    "%" PetscInt_FMT "^3 points, %" PetscInt_FMT "-point stencil, %" PetscInt_FMT
    " unknowns a point, %s coefficients; a product takes %.3e s\n%-22s %10s %10s %10s %10s %12s\n",
    c.n, c.stencil, c.dof, kinds[kind], product, "method", "set-up", "new values", "from zero", "from guess",
    "unknowns/s"));
  for (PetscInt k = 0; k < count; ++k) {
    const Method *method = NULL;
    for (size_t m = 0; m < sizeof Methods / sizeof Methods[0]; ++m) {
      PetscBool same;
      PetscCall(PetscStrcmp(names[k], Methods[m].name, &same));
      if (same) method = &Methods[m];
    }
    PetscCheck(method, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-methods: %s is not in the list of -help",
               names[k]);
    PetscCall(Measure(method, A, da, &c, product, b, x));
    PetscCall(PetscFree(names[k]));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}

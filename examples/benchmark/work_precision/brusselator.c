/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "The Brusselator with diffusion on the periodic unit square, a stiff reaction-diffusion problem.\n\
A plain PETSc program without code for any plugin. It runs with any TS.\n\
-da_grid_x N -da_grid_y N work as in every program with a DMDA. Options:\n\
  -alpha A                      diffusivity (default 0.1)\n\
  -reaction implicit|explicit   the reaction is part of the IFunction, or is an RHSFunction\n\n";

/* u_t = 1 + u^2 v - 4.4 u + alpha laplace u, v_t = 3.4 u - u^2 v + alpha laplace v: BRUSS-2D of E.
   Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996), IV.10, before its inhomogeneity
   starts at t = 1.1. */

#include <petscdmda.h>
#include <petscts.h>

typedef struct {
  PetscScalar u, v;
} Field;

typedef struct {
  PetscReal alpha;
  PetscBool explicit_reaction;
} Problem;

static const char *const Reactions[] = {"implicit", "explicit", "Reaction", "", NULL};

static Field React(Field x)
{
  return (Field){1 + x.u * x.u * x.v - 4.4 * x.u, 3.4 * x.u - x.u * x.u * x.v};
}

static PetscErrorCode RHSFunction(DMDALocalInfo *info, PetscReal t, Field **x, Field **f, void *ctx)
{
  PetscInt i, j;
  PetscFunctionBeginUser;
  for (j = info->ys; j < info->ys + info->ym; j++)
    for (i = info->xs; i < info->xs + info->xm; i++) f[j][i] = React(x[j][i]);
  PetscFunctionReturn(0);
}

static PetscErrorCode IFunction(DMDALocalInfo *info, PetscReal t, Field **x, Field **xdot, Field **f,
                                void *ctx)
{
  const Problem  *p  = (const Problem *)ctx;
  const PetscReal sx = p->alpha * (PetscReal)(info->mx * info->mx),
                  sy = p->alpha * (PetscReal)(info->my * info->my);
  PetscInt i, j;
  PetscFunctionBeginUser;
  for (j = info->ys; j < info->ys + info->ym; j++)
    for (i = info->xs; i < info->xs + info->xm; i++) {
      const Field r = p->explicit_reaction ? (Field){0, 0} : React(x[j][i]);
      f[j][i].u     = xdot[j][i].u - r.u - sx * (x[j][i - 1].u - 2 * x[j][i].u + x[j][i + 1].u) -
                  sy * (x[j - 1][i].u - 2 * x[j][i].u + x[j + 1][i].u);
      f[j][i].v = xdot[j][i].v - r.v - sx * (x[j][i - 1].v - 2 * x[j][i].v + x[j][i + 1].v) -
                  sy * (x[j - 1][i].v - 2 * x[j][i].v + x[j + 1][i].v);
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode IJacobian(DMDALocalInfo *info, PetscReal t, Field **x, Field **xdot, PetscReal shift,
                                Mat J, Mat P, void *ctx)
{
  const Problem  *p  = (const Problem *)ctx;
  const PetscReal sx = p->alpha * (PetscReal)(info->mx * info->mx),
                  sy = p->alpha * (PetscReal)(info->my * info->my);
  PetscInt i, j, c;
  PetscFunctionBeginUser;
  for (j = info->ys; j < info->ys + info->ym; j++)
    for (i = info->xs; i < info->xs + info->xm; i++) {
      const PetscScalar u = x[j][i].u, v = x[j][i].v, own = shift + 2 * (sx + sy);
      const PetscScalar reaction[2][2] = {{2 * u * v - 4.4, u * u}, {3.4 - 2 * u * v, -u * u}};
      for (c = 0; c < 2; c++) {
        const MatStencil  row        = {.j = j, .i = i, .c = c};
        const MatStencil  columns[6] = {{.j = j - 1, .i = i, .c = c}, {.j = j, .i = i - 1, .c = c},
                                        {.j = j, .i = i, .c = c},     {.j = j, .i = i + 1, .c = c},
                                        {.j = j + 1, .i = i, .c = c}, {.j = j, .i = i, .c = 1 - c}};
        const PetscScalar values[6]  = {-sy, -sx, p->explicit_reaction ? own : own - reaction[c][c],
                                        -sx, -sy, -reaction[c][1 - c]};
        PetscCall(
          MatSetValuesStencil(P, 1, &row, p->explicit_reaction ? 5 : 6, columns, values, INSERT_VALUES));
      }
    }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Start(DM da, Vec x)
{
  DMDALocalInfo info;
  Field       **values;
  PetscInt      i, j;
  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(DMDAVecGetArrayWrite(da, x, &values));
  for (j = info.ys; j < info.ys + info.ym; j++)
    for (i = info.xs; i < info.xs + info.xm; i++) {
      const PetscReal a = (PetscReal)i / (PetscReal)info.mx, b = (PetscReal)j / (PetscReal)info.my;
      values[j][i].u = 22 * b * PetscPowReal(1 - b, 1.5);
      values[j][i].v = 27 * a * PetscPowReal(1 - a, 1.5);
    }
  PetscCall(DMDAVecRestoreArrayWrite(da, x, &values));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   p        = {0.1, PETSC_FALSE};
  PetscEnum reaction = (PetscEnum)0;
  DM        da;
  TS        ts;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Brusselator", NULL);
  PetscCall(PetscOptionsReal("-alpha", "Diffusivity", NULL, p.alpha, &p.alpha, NULL));
  PetscCall(
    PetscOptionsEnum("-reaction", "Where the reaction is", NULL, Reactions, reaction, &reaction, NULL));
  PetscOptionsEnd();
  p.explicit_reaction = (PetscBool)reaction;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, 32,
                         32, PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &da));
  PetscCall(DMSetMatrixPreallocateOnly(da, PETSC_TRUE)); /* components couple only at their point */
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(Start(da, x));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(DMDATSSetIFunctionLocal(da, INSERT_VALUES, (DMDATSIFunctionLocal)IFunction, &p));
  PetscCall(DMDATSSetIJacobianLocal(da, (DMDATSIJacobianLocal)IJacobian, &p));
  if (p.explicit_reaction)
    PetscCall(DMDATSSetRHSFunctionLocal(da, INSERT_VALUES, (DMDATSRHSFunctionLocal)RHSFunction, &p));
  PetscCall(TSSetType(ts, TSARKIMEX));
  PetscCall(TSSetTimeStep(ts, 0.01));
  PetscCall(TSSetMaxTime(ts, 1));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}

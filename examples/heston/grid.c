/* SPDX-License-Identifier: BSD-2-Clause */
#include "heston.h"

/* x_k = centre + width sinh(xi_k), xi uniform: nodes are dense near the centre. */
static PetscErrorCode CreateAxis(PetscInt n, PetscReal end, PetscReal centre, PetscReal width, Axis *axis)
{
  const PetscReal first = PetscAsinhReal(-centre / width), last = PetscAsinhReal((end - centre) / width);
  PetscInt        k;

  PetscFunctionBeginUser;
  axis->n = n;
  PetscCall(PetscCalloc4(n + 1, &axis->x, n + 1, &axis->first, n + 1, &axis->upwind, n + 1, &axis->second));
  for (k = 1; k < n; k++)
    axis->x[k] = centre + width * PetscSinhReal(first + (last - first) * (PetscReal)k / (PetscReal)n);
  axis->x[n] = end;
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyAxis(Axis *axis)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(axis->x, axis->first, axis->upwind, axis->second));
  PetscFunctionReturn(0);
}

/* Derivatives at node k of the parabola through nodes k + l, k + l + 1 and k + l + 2. */
static void Parabola(const Axis *axis, PetscInt k, PetscInt l, PetscReal *first, PetscReal *second)
{
  const PetscReal *y = axis->x + k + l, x = axis->x[k];
  PetscInt         m;
  for (m = 0; m < 3; m++) {
    const PetscReal p = y[(m + 1) % 3], q = y[(m + 2) % 3];
    if (first) first[l + m + 2] = (x - p + (x - q)) / ((y[m] - p) * (y[m] - q));
    if (second) second[l + m + 2] = 2 / ((y[m] - p) * (y[m] - q));
  }
}

/* Central differences. Exceptions: upwind differences for kappa (eta - v) beyond v = 1, and one-sided
   ones at v = 0, where there is no diffusion. At the end of s the derivative is known, and the second
   derivative uses a mirrored node. */
static void CreateDifferences(Problem *p)
{
  const PetscReal end = p->s.x[p->s.n] - p->s.x[p->s.n - 1];
  PetscInt        k;
  for (k = 1; k < p->s.n; k++) Parabola(&p->s, k, -1, p->s.first[k], p->s.second[k]);
  p->s.second[p->s.n][1] = 2 / (end * end);
  p->s.second[p->s.n][2] = -2 / (end * end);
  Parabola(&p->v, 0, 0, p->v.upwind[0], NULL);
  for (k = 1; k < p->v.n; k++) {
    Parabola(&p->v, k, -1, p->v.first[k], p->v.second[k]);
    Parabola(&p->v, k, p->v.x[k] > 1 && k > 1 ? -2 : -1, p->v.upwind[k], NULL);
  }
}

void NodeOf(const Problem *p, PetscInt i, PetscInt j, PetscInt *node_s, PetscInt *node_v)
{
  *node_s = p->algebraic ? i : i + 1;
  *node_v = j;
}

/* The row of an inner node: entries w[l + 2][k + 2] of the nodes (a + k, b + l), and the contribution of
   the derivative 1 at the end of s. */
static void Differences(const Problem *p, PetscInt a, PetscInt b, PetscReal w[5][5], PetscReal *g)
{
  const Model    *m = &p->model;
  const PetscReal s = p->s.x[a], v = p->v.x[b], drift = (m->rd - m->rf) * s;
  PetscInt        k, l;
  for (l = 0; l < 5; l++)
    for (k = 0; k < 5; k++) w[l][k] = m->rho * m->sigma * s * v * p->s.first[a][k] * p->v.first[b][l];
  for (k = 0; k < 5; k++) {
    w[2][k] += s * s * v / 2 * p->s.second[a][k] + drift * p->s.first[a][k];
    w[k][2] += m->sigma * m->sigma * v / 2 * p->v.second[b][k] + m->kappa * (m->eta - v) * p->v.upwind[b][k];
  }
  w[2][2] -= m->rd;
  *g = a == p->s.n ? s * s * v / (s - p->s.x[a - 1]) + drift : 0;
}

static PetscErrorCode Assemble(Problem *p)
{
  PetscInt      x, y, nx, ny, i, j, k, l, a, b;
  PetscScalar **g, **mass;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(p->da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArrayWrite(p->da, p->g, &g));
  PetscCall(DMDAVecGetArrayWrite(p->da, p->mass, &mass));
  for (j = y; j < y + ny; j++)
    for (i = x; i < x + nx; i++) {
      MatStencil  row = {.j = j, .i = i}, columns[25];
      PetscScalar values[25];
      PetscReal   w[5][5] = {{0}}, rest = 0;
      PetscInt    n = 0;
      NodeOf(p, i, j, &a, &b);
      if (a == 0 || b == p->v.n) { /* u = 0 at s = 0, u = s exp(-rf t) at the end of v */
        w[2][2] = -1;
        rest    = p->s.x[a];
      } else Differences(p, a, b, w, &rest);
      mass[j][i] = a == 0 || b == p->v.n ? 0 : 1;
      for (l = -2; l <= 2; l++)
        for (k = -2; k <= 2; k++) {
          if (w[l + 2][k + 2] == 0) continue;
          if (!p->algebraic && (a + k == 0 || b + l == p->v.n)) rest += w[l + 2][k + 2] * p->s.x[a + k];
          else {
            columns[n]  = (MatStencil){.j = j + l, .i = i + k};
            values[n++] = w[l + 2][k + 2];
          }
        }
      g[j][i] = rest;
      PetscCall(MatSetValuesStencil(p->A, 1, &row, n, columns, values, INSERT_VALUES));
    }
  PetscCall(DMDAVecRestoreArrayWrite(p->da, p->mass, &mass));
  PetscCall(DMDAVecRestoreArrayWrite(p->da, p->g, &g));
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* A matrix of a device type multiplies only vectors of the same type. PETSc checks this only in
   debugging builds. */
static PetscErrorCode CheckTypes(Mat A, Vec v)
{
  PetscBool plain, same;
  VecType   own, type;
  MatType   matrix;
  Vec       w;
  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &matrix));
  PetscCall(MatCreateVecs(A, &w, NULL));
  PetscCall(VecGetType(w, &own));
  PetscCall(VecGetType(v, &type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)w, &plain, VECSEQ, VECMPI, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)v, own, &same));
  PetscCheck(plain || same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "-dm_mat_type: matrices of type %s take vectors of type %s, -dm_vec_type has those of type %s",
             matrix, own, type);
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(0);
}

PetscErrorCode CreateProblem(PetscInt m1, PetscInt m2, PetscReal S, PetscReal V, Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(CreateAxis(m1, S, p->model.K, p->model.K / 5, &p->s));
  PetscCall(CreateAxis(m2, V, 0, V / 500, &p->v));
  CreateDifferences(p);
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX,
                         p->algebraic ? m1 + 1 : m1, p->algebraic ? m2 + 1 : m2, PETSC_DECIDE, PETSC_DECIDE,
                         1, 2, NULL, NULL, &p->da));
  PetscCall(DMSetMatrixPreallocateOnly(p->da, PETSC_TRUE)); /* 9 to 13 of 25 entries exist */
  PetscCall(DMSetFromOptions(p->da));
  PetscCall(DMSetUp(p->da));
  PetscCall(DMCreateMatrix(p->da, &p->A));
  PetscCall(DMCreateGlobalVector(p->da, &p->g));
  PetscCall(CheckTypes(p->A, p->g));
  PetscCall(VecDuplicate(p->g, &p->mass));
  PetscCall(VecDuplicate(p->g, &p->mass_udot));
  PetscCall(Assemble(p));
  PetscFunctionReturn(0);
}

PetscErrorCode DestroyProblem(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(DestroyAxis(&p->s));
  PetscCall(DestroyAxis(&p->v));
  PetscCall(VecDestroy(&p->mass_udot));
  PetscCall(VecDestroy(&p->mass));
  PetscCall(VecDestroy(&p->g));
  PetscCall(MatDestroy(&p->A));
  PetscCall(DMDestroy(&p->da));
  PetscFunctionReturn(0);
}

PetscErrorCode Payoff(const Problem *p, PetscBool average, Vec u)
{
  PetscInt         x, y, nx, ny, i, j, a, b;
  const PetscReal *s = p->s.x, K = p->model.K;
  PetscScalar    **values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(p->da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArrayWrite(p->da, u, &values));
  for (j = y; j < y + ny; j++)
    for (i = x; i < x + nx; i++) {
      NodeOf(p, i, j, &a, &b);
      values[j][i] = PetscMax(s[a] - K, 0);
      if (average && a > 0 && a < p->s.n) {
        const PetscReal left = (s[a - 1] + s[a]) / 2, right = (s[a] + s[a + 1]) / 2;
        if (left < K && K < right) values[j][i] = (right - K) * (right - K) / (2 * (right - left));
      }
    }
  PetscCall(DMDAVecRestoreArrayWrite(p->da, u, &values));
  PetscFunctionReturn(0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "heston.h"

PetscErrorCode CreateRegion(const Problem *p, Region *r)
{
  PetscInt        x, y, nx, ny, i, j, a, b;
  const PetscReal K = p->model.K;

  PetscFunctionBeginUser;
  *r = (Region){0};
  PetscCall(DMDAGetCorners(p->da, &x, &y, NULL, &nx, &ny, NULL));
  for (i = x; i < x + nx; i++) {
    NodeOf(p, i, y, &a, &b);
    if (p->s.x[a] <= K / 2 || p->s.x[a] >= 3 * K / 2) continue;
    if (r->count_s++ == 0) r->first_s = i;
  }
  for (j = y; j < y + ny; j++) {
    NodeOf(p, x, j, &a, &b);
    if (p->v.x[b] >= 1) continue;
    if (r->count_v++ == 0) r->first_v = j;
  }
  NodeOf(p, r->first_s, r->first_v, &a, &b);
  PetscCall(PetscMalloc1(r->count_s * r->count_v, &r->exact));
  PetscCall(ExactPrices(&p->model, r->count_s, p->s.x + a, r->count_v, p->v.x + b, 1e-9 * K, r->exact));
  PetscFunctionReturn(0);
}

PetscErrorCode Error(const Problem *p, const Region *r, Vec u, Vec w, PetscReal *error)
{
  const PetscScalar **values, **others = NULL;
  PetscReal           worst = 0;
  PetscInt            i, j;

  PetscFunctionBeginUser;
  PetscCall(DMDAVecGetArrayRead(p->da, u, &values));
  if (w) PetscCall(DMDAVecGetArrayRead(p->da, w, &others));
  for (j = 0; j < r->count_v; j++)
    for (i = 0; i < r->count_s; i++) {
      const PetscScalar mine  = values[r->first_v + j][r->first_s + i],
                        other = w ? others[r->first_v + j][r->first_s + i]
                                  : (PetscScalar)r->exact[i + r->count_s * j];
      if (!(PetscAbsScalar(mine - other) <= worst)) worst = PetscAbsScalar(mine - other);
    }
  if (w) PetscCall(DMDAVecRestoreArrayRead(p->da, w, &others));
  PetscCall(DMDAVecRestoreArrayRead(p->da, u, &values));
  PetscCall(MPIU_Allreduce(&worst, error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

PetscErrorCode WriteSurface(const Problem *p, const Region *r, Vec u, const char *name)
{
  const PetscScalar **values;
  FILE               *file;
  PetscInt            i, j, a, b;

  PetscFunctionBeginUser;
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "w", &file));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "s,v,price,exact\n"));
  PetscCall(DMDAVecGetArrayRead(p->da, u, &values));
  for (j = 0; j < r->count_v; j++)
    for (i = 0; i < r->count_s; i++) {
      NodeOf(p, r->first_s + i, r->first_v + j, &a, &b);
      PetscCall(PetscSynchronizedFPrintf(
        PETSC_COMM_WORLD, file, "%.10g,%.10g,%.10g,%.10g\n", (double)p->s.x[a], (double)p->v.x[b],
        (double)PetscRealPart(values[r->first_v + j][r->first_s + i]), (double)r->exact[i + r->count_s * j]));
    }
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, file));
  PetscCall(DMDAVecRestoreArrayRead(p->da, u, &values));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "compact.h"

#define FILTER_ALPHA 0.45

const Scheme schemes[SCHEMES] = {
  [CENTRAL]   = {"second-order differences", 1, 2, MAT_COMPACT_STAGGERED_NONE, 0, 0, 1, 0, 0, 0},
  [FIRST_4]   = {"first derivative", 1, 4, MAT_COMPACT_STAGGERED_NONE, 1. / 4, 0, 3. / 2, 0, 0, 0},
  [FIRST_6]   = {"first derivative", 1, 6, MAT_COMPACT_STAGGERED_NONE, 1. / 3, 0, 14. / 9, 1. / 9, 0, 0},
  [FIRST_8]   = {"first derivative", 1, 8, MAT_COMPACT_STAGGERED_NONE, 3. / 8, 0, 25. / 16, 1. / 5, -1. / 80,
                 0},
  [FIRST_10]  = {"first derivative", 1, 10, MAT_COMPACT_STAGGERED_NONE, 1. / 2, 1. / 20, 17. / 12, 101. / 150,
                 1. / 100, 0},
  [SECOND_4]  = {"second derivative", 2, 4, MAT_COMPACT_STAGGERED_NONE, 1. / 10, 0, 6. / 5, 0, 0, 0},
  [SECOND_6]  = {"second derivative", 2, 6, MAT_COMPACT_STAGGERED_NONE, 2. / 11, 0, 12. / 11, 3. / 11, 0, 0},
  [SECOND_8]  = {"second derivative", 2, 8, MAT_COMPACT_STAGGERED_NONE, 9. / 38, 0, 147. / 152, 51. / 95,
                 -23. / 760, 0},
  [SECOND_10] = {"second derivative", 2, 10, MAT_COMPACT_STAGGERED_NONE, 334. / 899, 43. / 1798, 1065. / 1798,
                 1038. / 899, 79. / 1798, 0},
  [STAGGERED_FORWARD]  = {"staggered to i + 1/2", 1, 6, MAT_COMPACT_STAGGERED_FORWARD, 9. / 62, 0, 63. / 62,
                          17. / 62, 0, 0},
  [STAGGERED_BACKWARD] = {"staggered from i + 1/2", 1, 6, MAT_COMPACT_STAGGERED_BACKWARD, 9. / 62, 0,
                          63. / 62, 17. / 62, 0, 0},
  [INTERPOLATION]      = {"interpolation to i + 1/2", 0, 6, MAT_COMPACT_STAGGERED_FORWARD, 3. / 10, 0, 3. / 2,
                          1. / 10, 0, 0},
  [FILTER] = {"filter 0.45", 0, 6, MAT_COMPACT_STAGGERED_NONE, FILTER_ALPHA, 0, (11 + 10 * FILTER_ALPHA) / 16,
              (15 + 34 * FILTER_ALPHA) / 32, (-3 + 6 * FILTER_ALPHA) / 16, (1 - 2 * FILTER_ALPHA) / 32},
};

/* Section 3, appendices B and C. */
double Symbol(const Scheme *s, double w)
{
  const double left = 1 + 2 * s->alpha * cos(w) + 2 * s->beta * cos(2 * w);
  const int    half = s->staggered != MAT_COMPACT_STAGGERED_NONE;

  if (s->derivative == 2)
    return (2 * s->a * (1 - cos(w)) + s->b / 2 * (1 - cos(2 * w)) + 2 * s->c / 9 * (1 - cos(3 * w))) / left;
  if (s->derivative == 1 && half) return (2 * s->a * sin(w / 2) + 2 * s->b / 3 * sin(3 * w / 2)) / left;
  if (s->derivative == 1) return (s->a * sin(w) + s->b / 2 * sin(2 * w) + s->c / 3 * sin(3 * w)) / left;
  if (half) return (s->a * cos(w / 2) + s->b * cos(3 * w / 2)) / left;
  return (s->a + s->b * cos(w) + s->c * cos(2 * w) + s->d * cos(3 * w)) / left;
}

void RightHandSide(const Scheme *s, double c[3])
{
  c[0] = s->a / 2;
  c[1] = s->b / 4;
  c[2] = s->c / 6;
}

PetscErrorCode CreateLines(PetscBool periodic, PetscInt n, PetscInt lines, PetscInt dof, DM *da)
{
  const DMBoundaryType along = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, lines > 1 ? 2 : 1));
  PetscCall(DMDASetSizes(*da, n, lines, 1));
  PetscCall(DMDASetBoundaryType(*da, along, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE));
  PetscCall(DMDASetDof(*da, dof));
  PetscCall(DMDASetStencilWidth(*da, 1));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMDASetUniformCoordinates(*da, 0, 2 * PETSC_PI, 0, 1, 0, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Central differences of second order on periodic lines: AIJ, or the type of -dm_mat_type. */
static PetscErrorCode CreateCentral(DM da, Mat *D)
{
  PetscInt x, y, nx, ny, n, dof, i, j, c;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, D));
  PetscCall(DMDAGetInfo(da, NULL, &n, NULL, NULL, NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &nx, &ny, NULL));
  for (j = y; j < y + ny; j++)
    for (i = x; i < x + nx; i++)
      for (c = 0; c < dof; c++) {
        const PetscScalar half = (PetscReal)n / (4 * PETSC_PI), values[2] = {-half, half};
        const MatStencil  row        = {.j = j, .i = i, .c = c};
        const MatStencil  columns[2] = {{.j = j, .i = i - 1, .c = c}, {.j = j, .i = i + 1, .c = c}};
        PetscCall(MatSetValuesStencil(*D, 1, &row, 2, columns, values, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateOperator(const Scheme *scheme, DM da, PetscInt ends, Mat *D)
{
  PetscFunctionBeginUser;
  if (scheme->order == 2) {
    PetscCall(CreateCentral(da, D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMSetMatType(da, MATCOMPACT));
  PetscCall(DMCreateMatrix(da, D));
  PetscCall(MatCompactSetDerivative(*D, scheme->derivative));
  PetscCall(MatCompactSetOrder(*D, scheme->order));
  PetscCall(MatCompactSetStaggered(*D, scheme->staggered));
  PetscCall(MatCompactSetFilter(*D, FILTER_ALPHA));
  PetscCall(MatCompactSetEnds(*D, ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpenTable(const char *prefix, const char *name, const char *columns, FILE **file)
{
  char path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  *file = NULL;
  if (!prefix[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s-%s.csv", prefix, name));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, path, "w", file));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, *file, "%s\n", columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "grid.hpp"

#include <petscdt.h>

#include <cmath>

// C = B^T W. W is diagonal: the quadrature weights times f at the points.
static PetscErrorCode Weighted(const Direction &direction, Mat B, PetscReal (*f)(PetscReal), Mat *C)
{
  Vec          weights;
  PetscScalar *w;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(B, NULL, &weights));
  PetscCall(VecGetArrayWrite(weights, &w));
  for (std::size_t q = 0; q < direction.x.size(); q++) w[q] = direction.w[q] * (f ? f(direction.x[q]) : 1);
  PetscCall(VecRestoreArrayWrite(weights, &w));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, C));
  PetscCall(MatDiagonalScale(*C, NULL, weights));
  PetscCall(VecDestroy(&weights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal Phi(PetscReal x)
{
  return PetscSinReal(PETSC_PI * x);
}

PetscErrorCode PhiWeighted(const Direction &direction, Mat B, Mat *C)
{
  Mat transposed;

  PetscFunctionBeginUser;
  PetscCall(Weighted(direction, B, Phi, &transposed));
  PetscCall(MatMatMult(transposed, B, MAT_INITIAL_MATRIX, 1, C));
  PetscCall(MatDestroy(&transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By value, because PETSc may change i and j.
static PetscErrorCode CreateMatrix(const Direction &direction, std::vector<PetscInt> i,
                                   std::vector<PetscInt> j, const std::vector<PetscScalar> &values, Mat *A)
{
  const PetscInt rows    = static_cast<PetscInt>(direction.x.size()),
                 columns = static_cast<PetscInt>(direction.space.size());

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, rows, columns, rows, columns));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetPreallocationCOO(*A, static_cast<PetscCount>(values.size()), i.data(), j.data()));
  PetscCall(MatSetValuesCOO(*A, values.data(), INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DirectionCreate(PetscInt degree, PetscInt elements, Direction *direction)
{
  const int                p = static_cast<int>(degree), points = p + 2;
  PetscReal                gauss[iga::max_degree + 2], weights[iga::max_degree + 2];
  std::vector<PetscInt>    i, j;
  std::vector<PetscScalar> value, slope;

  PetscFunctionBeginUser;
  direction->space.degree   = p;
  direction->space.elements = elements;
  PetscCall(PetscDTGaussQuadrature(points, 0, 1, gauss, weights));
  for (iga::Index e = 0; e < elements; e++) {
    const auto      t      = direction->space.local_knots(e);
    const PetscReal length = t.right[0] - t.left[0];
    for (int q = 0; q < points; q++) {
      const PetscReal x = t.left[0] + gauss[q] * length;
      const auto      N = iga::evaluate(p, t, x);
      for (int r = 0; r <= p; r++) {
        i.push_back(static_cast<PetscInt>(direction->x.size()));
        j.push_back(static_cast<PetscInt>(direction->space.first_function(e) + r));
        value.push_back(N.value[r]);
        slope.push_back(N.first[r]);
      }
      direction->x.push_back(x);
      direction->w.push_back(weights[q] * length);
    }
  }
  PetscCall(CreateMatrix(*direction, i, j, value, &direction->value));
  PetscCall(CreateMatrix(*direction, i, j, slope, &direction->slope));
  PetscCall(Weighted(*direction, direction->value, NULL, &direction->weighted_value));
  PetscCall(Weighted(*direction, direction->slope, NULL, &direction->weighted_slope));
  PetscCall(MatMatMult(direction->weighted_value, direction->value, MAT_INITIAL_MATRIX, 1, &direction->mass));
  PetscCall(
    MatMatMult(direction->weighted_slope, direction->slope, MAT_INITIAL_MATRIX, 1, &direction->stiffness));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridCreate(int dim, PetscInt degree, const PetscInt elements[], Grid *grid)
{
  PetscFunctionBeginUser;
  *grid                = {};
  grid->dim            = dim;
  grid->direction[2].x = {0};
  grid->direction[2].w = {1};
  for (int d = 0; d < dim; d++) {
    grid->direction[d] = {};
    PetscCall(DirectionCreate(degree, elements[d], &grid->direction[d]));
    grid->unknowns *= static_cast<PetscInt>(grid->direction[d].space.size());
    grid->points *= static_cast<PetscInt>(grid->direction[d].x.size());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridDestroy(Grid *grid)
{
  PetscFunctionBeginUser;
  for (Direction &d : grid->direction)
    for (Mat *A : {&d.value, &d.slope, &d.weighted_value, &d.weighted_slope, &d.mass, &d.stiffness})
      PetscCall(MatDestroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridVector(const Grid &grid, PetscInt size, Vec *v)
{
  VecType type;

  PetscFunctionBeginUser;
  PetscCall(MatGetVecType(grid.direction[0].mass, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, size, size));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// f(index, coordinates, weight) for all points in the order of vectors.
template <class Function>
static void ForPoints(const Grid &grid, Function f)
{
  const Direction *d     = grid.direction;
  PetscInt         point = 0;
  for (std::size_t k = 0; k < d[2].x.size(); k++)
    for (std::size_t j = 0; j < d[1].x.size(); j++)
      for (std::size_t i = 0; i < d[0].x.size(); i++) {
        const PetscReal x[3] = {d[0].x[i], d[1].x[j], d[2].x[k]};
        f(point++, x, d[0].w[i] * d[1].w[j] * d[2].w[k]);
      }
}

// r, or its derivative in a direction
static PetscReal Exact(int dim, const PetscReal x[], int derivative)
{
  PetscReal s = 0;
  for (int d = 0; d < dim; d++) s += PetscCosReal((d + 1) * PETSC_PI * x[d]);
  if (derivative < 0) return PetscSinReal(s);
  const PetscReal k = (derivative + 1) * PETSC_PI;
  return -PetscCosReal(s) * k * PetscSinReal(k * x[derivative]);
}

// Applies the Kronecker product of values, or of weighted values, with slopes in one direction (-1: in no
// direction), once.
static PetscErrorCode Apply(const Grid &grid, bool weighted, int slope, Vec x, Vec y)
{
  Mat       A[3] = {};
  Kronecker product;

  PetscFunctionBeginUser;
  for (int k = 0; k < grid.dim; k++) {
    const Direction &d = grid.direction[k];
    A[k] = weighted ? (k == slope ? d.weighted_slope : d.weighted_value) : (k == slope ? d.slope : d.value);
  }
  PetscCall(KroneckerCreate(grid.dim, A, false, &product));
  PetscCall(KroneckerApply(product, x, y));
  PetscCall(KroneckerDestroy(&product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Load(const Grid &grid, PetscReal mass, PetscReal stiffness, PetscReal variation, Vec b)
{
  Vec samples, term;

  PetscFunctionBeginUser;
  PetscCall(GridVector(grid, grid.points, &samples));
  PetscCall(VecDuplicate(b, &term));
  PetscCall(VecSet(b, 0));
  for (int derivative = -1; derivative < grid.dim; derivative++) {
    const PetscReal factor = derivative < 0 ? mass : stiffness;
    PetscScalar    *v;
    if (factor == 0) continue;
    PetscCall(VecGetArrayWrite(samples, &v));
    ForPoints(grid, [&](PetscInt point, const PetscReal x[], PetscReal) {
      PetscReal a = 1;
      if (derivative >= 0) a += variation * Phi(x[0]) * Phi(x[1]) * (grid.dim > 2 ? Phi(x[2]) : 1);
      v[point] = factor * a * Exact(grid.dim, x, derivative);
    });
    PetscCall(VecRestoreArrayWrite(samples, &v));
    PetscCall(Apply(grid, true, derivative, samples, term));
    PetscCall(VecAXPY(b, 1, term));
  }
  PetscCall(VecDestroy(&samples));
  PetscCall(VecDestroy(&term));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Errors(const Grid &grid, Vec u, PetscReal factor, FILE *file, PetscReal *l2, PetscReal *h1)
{
  PetscReal error[2] = {0, 0}, norm[2] = {0, 0}; // squares: of values, of gradients
  Vec       samples;

  PetscFunctionBeginUser;
  PetscCall(GridVector(grid, grid.points, &samples));
  for (int derivative = -1; derivative < grid.dim; derivative++) {
    const int          kind = derivative < 0 ? 0 : 1;
    const PetscScalar *v;
    PetscCall(Apply(grid, false, derivative, u, samples));
    PetscCall(VecGetArrayRead(samples, &v));
    ForPoints(grid, [&](PetscInt point, const PetscReal x[], PetscReal w) {
      const PetscReal exact = factor * Exact(grid.dim, x, derivative);
      error[kind] += w * PetscSqr(PetscAbsScalar(v[point] - exact));
      norm[kind] += w * exact * exact;
      if (file && derivative < 0)
        (void)fprintf(file, "%.8e,%.8e,%.8e,%.15e,%.3e\n", (double)x[0], (double)x[1], (double)x[2],
                      (double)PetscRealPart(v[point]), (double)(PetscRealPart(v[point]) - exact));
    });
    PetscCall(VecRestoreArrayRead(samples, &v));
  }
  *l2 = PetscSqrtReal(error[0] / norm[0]);
  *h1 = PetscSqrtReal((error[0] + error[1]) / (norm[0] + norm[1]));
  PetscCall(VecDestroy(&samples));
  PetscFunctionReturn(PETSC_SUCCESS);
}

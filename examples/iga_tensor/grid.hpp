// SPDX-License-Identifier: BSD-2-Clause
/// @file grid.hpp  Tensor products of spline spaces on the unit square or cube, the function that they
///   approximate, and its errors.
#pragma once

#include "kronecker.hpp"

#include "bspline.hpp"

#include <vector>

/// Space of a direction, with N and N' of its functions at the points of a quadrature, p + 2 in each
/// element. W: weights.
struct Direction {
  iga::SplineSpace<PetscReal> space;
  std::vector<PetscReal>      x, w;
  /// N, N': a row for each point, a column for each function
  Mat value = NULL, slope = NULL;
  Mat weighted_value = NULL, weighted_slope = NULL; ///< N^T W, N'^T W
  Mat mass = NULL, stiffness = NULL;                ///< N^T W N, N'^T W N'
};

struct Grid {
  int       dim = 2;
  Direction direction[3]; ///< the third direction of a square has one point of weight 1 and no functions
  PetscInt  unknowns = 1, points = 1;
};

/// No boundary conditions: the spaces keep every function. -mat_type is the type of matrices.
PetscErrorCode GridCreate(int dim, PetscInt degree, const PetscInt elements[], Grid *grid);
PetscErrorCode GridDestroy(Grid *grid);
/// A vector with `size` entries, of the vector type that the matrices need.
PetscErrorCode GridVector(const Grid &grid, PetscInt size, Vec *v);

/// phi(x) = sin(pi x) in the coefficient a = 1 + variation prod phi(x_d).
PetscReal Phi(PetscReal x);
/// B^T W diag(phi) B, B: value or slope.
PetscErrorCode PhiWeighted(const Direction &direction, Mat B, Mat *C);

/// b_i = mass (r, N_i) + stiffness (a grad r, grad N_i), r = sin(sum cos((d + 1) pi x_d)). r is smooth, is
/// not a product of functions of one variable, and has no flux through the boundary.
PetscErrorCode Load(const Grid &grid, PetscReal mass, PetscReal stiffness, PetscReal variation, Vec b);
/// Relative errors in L2 and H1 of the spline u, compared with factor r. If `file` is not NULL, it receives
/// the points, the spline and its error.
PetscErrorCode Errors(const Grid &grid, Vec u, PetscReal factor, FILE *file, PetscReal *l2, PetscReal *h1);

// SPDX-License-Identifier: BSD-2-Clause
/// @file grid.hpp  Tensor products of spline spaces on the unit square or cube, the function that is
///   approximated in them, and its errors.
#pragma once

#include "kronecker.hpp"

#include "bspline.hpp"

#include <vector>

/// A direction's space, with N and N' of its functions at the points of a quadrature, p + 2 in
/// each element. W: weights.
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
  Direction direction[3]; ///< the third of a square has one point of weight 1 and no functions
  PetscInt  unknowns = 1, points = 1;
};

/// No boundary conditions: every function of the spaces is kept. -mat_type is the type of matrices.
PetscErrorCode GridCreate(int dim, PetscInt degree, const PetscInt elements[], Grid *grid);
PetscErrorCode GridDestroy(Grid *grid);
/// A vector of so many numbers, of the type that goes with the matrices.
PetscErrorCode GridVector(const Grid &grid, PetscInt size, Vec *v);

/// phi(x) = sin(pi x) of the coefficient a = 1 + variation prod phi(x_d).
PetscReal Phi(PetscReal x);
/// B^T W diag(phi) B, B: value or slope.
PetscErrorCode PhiWeighted(const Direction &direction, Mat B, Mat *C);

/// b_i = mass (r, N_i) + stiffness (a grad r, grad N_i), r = sin(sum cos((d + 1) pi x_d)): smooth, no product
/// of functions of one variable, no flux through the boundary.
PetscErrorCode Load(const Grid &grid, PetscReal mass, PetscReal stiffness, PetscReal variation, Vec b);
/// Relative errors of the spline u in L2 and H1 against factor r. file: of the points, the spline
/// and its error, if not NULL.
PetscErrorCode Errors(const Grid &grid, Vec u, PetscReal factor, FILE *file, PetscReal *l2, PetscReal *h1);

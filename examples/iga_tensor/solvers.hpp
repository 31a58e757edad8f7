// SPDX-License-Identifier: BSD-2-Clause
/// @file solvers.hpp  Systems with A = (x) M + stiffness sum of K in one direction and M in the others: by
///   directions, by a KSP, and the preconditioner of the latter.
#pragma once

#include "grid.hpp"

/// The inverse of A by fast diagonalization (Lynch, Rice & Thomas, Numer. Math. 6, 1964): with K V = M V
/// diag(lambda) and V^T M V = I in each direction it is (x) V (1 + stiffness sum lambda)^-1 (x) V^T. Set up
/// in O(n^3) for n functions of a direction, 4 n operations per unknown and direction.
struct FastDiagonalization {
  Kronecker forth, back; ///< V^T, V
  Vec       scale = NULL, work = NULL;
};

PetscErrorCode FastDiagonalizationCreate(const Grid &grid, PetscReal stiffness, FastDiagonalization *inverse);
PetscErrorCode FastDiagonalizationDestroy(FastDiagonalization *inverse);
PetscErrorCode FastDiagonalizationApply(FastDiagonalization &inverse, Vec x, Vec y);

struct System {
  PetscReal stiffness = 0;
  PetscReal variation = 0; ///< K has the coefficient 1 + variation prod phi(x_d) (grid.hpp)
  /// A itself, else (x) (M + stiffness K), which is A if stiffness = 0 and A up to terms of
  /// order stiffness^2 otherwise
  bool assembled = false;
};

/// Solves, or multiplies.
struct Solver {
  Kronecker           product; ///< not assembled
  Mat                 A   = NULL;
  KSP                 ksp = NULL;
  FastDiagonalization fast; ///< for KSP's default preconditioner, a shell; variation becomes its mean
  PetscBool           has_fast   = PETSC_FALSE;
  PetscInt            iterations = 0; ///< of all solves
};

/// inverse: set up for solves. The KSP of assembled matrices is CG with fast diagonalization, and has
/// the options without prefix.
PetscErrorCode SolverCreate(const Grid &grid, const System &system, bool inverse, Solver *solver);
PetscErrorCode SolverDestroy(Solver *solver);
/// y = A x, or its inverse. Iterations begin with what is in y.
PetscErrorCode SolverApply(Solver &solver, Vec x, Vec y);

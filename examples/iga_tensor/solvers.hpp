// SPDX-License-Identifier: BSD-2-Clause
/// @file solvers.hpp  Systems with A = (x) M + stiffness sum of K in one direction and M in the others.
///   They are solved by directions or by a KSP, whose preconditioner is also here.
#pragma once

#include "grid.hpp"

/// The inverse of A by fast diagonalization (Lynch, Rice & Thomas, Numer. Math. 6, 1964). With K V = M V
/// diag(lambda) and V^T M V = I in each direction it is (x) V (1 + stiffness sum lambda)^-1 (x) V^T. The
/// set-up costs O(n^3) for n functions of a direction, an application 4 n operations per unknown and
/// direction.
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
  /// A itself, otherwise (x) (M + stiffness K). The latter is A if stiffness = 0, and A up to terms of
  /// order stiffness^2 otherwise
  bool assembled = false;
};

/// A solver, or a product.
struct Solver {
  Kronecker product; ///< if not assembled
  Mat       A   = NULL;
  KSP       ksp = NULL;
  /// for KSP's default preconditioner, a shell. The mean of the coefficient replaces its variation
  FastDiagonalization fast;
  PetscBool           has_fast   = PETSC_FALSE;
  PetscInt            iterations = 0; ///< of all solves
};

/// inverse: set up for solves. The KSP of assembled matrices is CG with fast diagonalization. Its options
/// have no prefix.
PetscErrorCode SolverCreate(const Grid &grid, const System &system, bool inverse, Solver *solver);
PetscErrorCode SolverDestroy(Solver *solver);
/// y = A x, or its inverse. Iterations start from y.
PetscErrorCode SolverApply(Solver &solver, Vec x, Vec y);

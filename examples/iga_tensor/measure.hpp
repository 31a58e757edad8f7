// SPDX-License-Identifier: BSD-2-Clause
/// @file measure.hpp  One run: a problem in one tensor product space, solved, timed, with its errors.
#pragma once

#include "solvers.hpp"

enum Problem { PROJECTION, HEAT, ELLIPTIC };

struct Run {
  Problem   problem   = PROJECTION;
  PetscInt  dim       = 2;
  PetscInt  aspect[3] = {1, 1, 1}; ///< elements of each direction over -elements
  PetscBool assembled = PETSC_FALSE;
  PetscReal time      = 1;   ///< of heat
  PetscReal variation = 0.5; ///< of the coefficient of elliptic
  PetscInt  repeat    = 1;
  FILE     *field     = NULL; ///< receives the solution
};

struct Result {
  PetscInt       unknowns = 0;
  PetscLogDouble setup = PETSC_MAX_REAL, solve = PETSC_MAX_REAL; ///< seconds of the fastest repeat
  PetscReal      iterations = 0;                                 ///< of a solve
  PetscReal      l2 = 0, h1 = 0;                                 ///< relative errors
};

PetscErrorCode Measure(const Run &run, PetscInt degree, PetscInt elements, PetscInt steps, Result *result);

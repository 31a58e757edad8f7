// SPDX-License-Identifier: BSD-2-Clause
/// @file run.hpp  One run: a problem in one space, assembled, solved by the KSP that the options make, timed and judged.
#pragma once

#include "assembly.hpp"
#include "dense.hpp"

#include <petscksp.h>

struct Run {
  iga::Discretization<PetscReal> d;
  PetscInt                       rhs    = 1; ///< right-hand sides, solved together
  PetscInt                       repeat = 1;

  /// Unknown of a function, numbers counted round in a periodic space. The first function of an open space is none: -1, which PETSc skips.
  PetscInt unknown(iga::Index function) const { return static_cast<PetscInt>(d.space.periodic ? function % d.space.size() : function - 1); }
  PetscInt unknowns() const { return static_cast<PetscInt>(d.space.size() - (d.space.periodic ? 0 : 1)); }
};

struct Result {
  PetscLogDouble assembly = PETSC_MAX_REAL, setup = PETSC_MAX_REAL, solve = PETSC_MAX_REAL; ///< seconds of the fastest repeat
  PetscReal      backward = 0;                                                              ///< |b - A x| / (|A| |x| + |b|), maximum norms; this and the next: the worst right-hand side's
  PetscReal      l2 = 0, h1 = 0;                                                            ///< relative errors
};

/// Types and solver are those of the options of Mat and KSP. Collective on PETSC_COMM_WORLD.
PetscErrorCode Measure(const Run &run, Result *result);

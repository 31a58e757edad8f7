// SPDX-License-Identifier: BSD-2-Clause
/// @file run.hpp  One run: a problem in one space, assembled, solved by the KSP that the
///   options make, timed and judged.
#pragma once

#include "assembly.hpp"
#include "dense.hpp"

#include <petscksp.h>

#include <vector>

struct Run {
  iga::Discretization<PetscReal> d;
  PetscInt                       rhs    = 1; ///< right-hand sides, solved together
  PetscInt                       repeat = 1;
  /// LAPACK's band LU instead of a KSP; times of the processor instead of the clock
  PetscBool lapack = PETSC_FALSE, cpu_time = PETSC_FALSE;
  /// the first solution at the points of quadrature, into `field`
  PetscBool write_field = PETSC_FALSE;
  FILE     *field       = NULL; ///< of rank 0

  /// Unknown of a function, numbers counted round in a periodic space. The first function of an open space is
  /// none: -1, which PETSc skips.
  PetscInt unknown(iga::Index function) const
  {
    return static_cast<PetscInt>(d.space.periodic ? function % d.space.size() : function - 1);
  }
  PetscInt unknowns() const { return static_cast<PetscInt>(d.space.size() - (d.space.periodic ? 0 : 1)); }
};

struct Result {
  /// seconds of the fastest repeat
  PetscLogDouble assembly = PETSC_MAX_REAL, setup = PETSC_MAX_REAL, solve = PETSC_MAX_REAL;
  /// |b - A x| / (|A| |x| + |b|), maximum norms; this and the next: the worst right-hand side's
  PetscReal backward = 0;
  /// relative errors
  PetscReal l2 = 0, h1 = 0;
  /// bytes by which this rank grew in the first set-up and solve, where /proc tells
  PetscLogDouble memory = 0;
};

/// A matrix of one rank as LAPACK's band routines take it: columns of ab, gbtrf, gbtrs. The other solvers'
/// match without PETSc in between; filling it is not timed.
struct LapackBand {
  PetscBLASInt              n = 0, kl = 0, ku = 0;
  std::vector<PetscScalar>  ab; ///< (n, 2 kl + ku + 1)
  std::vector<PetscBLASInt> pivots;

  PetscErrorCode Load(Mat A);
  PetscErrorCode Factor();
  /// x: right-hand sides, then solutions, n numbers each.
  PetscErrorCode Solve(PetscInt columns, PetscScalar *x) const;
};

/// Types and solver are those of the options of Mat and KSP. Collective on PETSC_COMM_WORLD.
PetscErrorCode Measure(const Run &run, Result *result);

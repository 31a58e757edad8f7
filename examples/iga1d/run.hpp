// SPDX-License-Identifier: BSD-2-Clause
/// @file run.hpp  One run: a problem in one space, assembled, solved by the KSP of the options, timed, with
///   its errors.
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
  /// write the first solution at the quadrature points to `field`
  PetscBool write_field = PETSC_FALSE;
  FILE     *field       = NULL; ///< on rank 0

  /// Unknown of a function. A periodic space counts functions modulo its size. The first function of an
  /// open space is not an unknown: its index is -1, which PETSc skips.
  PetscInt unknown(iga::Index function) const
  {
    return static_cast<PetscInt>(d.space.periodic ? function % d.space.size() : function - 1);
  }
  PetscInt unknowns() const { return static_cast<PetscInt>(d.space.size() - (d.space.periodic ? 0 : 1)); }
};

struct Result {
  /// seconds of the fastest repeat
  PetscLogDouble assembly = PETSC_MAX_REAL, setup = PETSC_MAX_REAL, solve = PETSC_MAX_REAL;
  /// |b - A x| / (|A| |x| + |b|), maximum norms. This error and the next ones are maxima over right-hand
  /// sides.
  PetscReal backward = 0;
  /// relative errors
  PetscReal l2 = 0, h1 = 0;
  /// bytes by which this rank grew in the first set-up and solve, if there is /proc
  PetscLogDouble memory = 0;
};

/// A matrix of one rank in the format of LAPACK's band routines: columns of ab, gbtrf, gbtrs. LAPACK
/// competes with the other solvers without PETSc in between. Filling it is not timed.
struct LapackBand {
  PetscBLASInt              n = 0, kl = 0, ku = 0;
  std::vector<PetscScalar>  ab; ///< (n, 2 kl + ku + 1)
  std::vector<PetscBLASInt> pivots;

  PetscErrorCode Load(Mat A);
  PetscErrorCode Factor();
  /// x: right-hand sides, then solutions, n entries each.
  PetscErrorCode Solve(PetscInt columns, PetscScalar *x) const;
};

/// The options of Mat and KSP select types and solver. Collective on PETSC_COMM_WORLD.
PetscErrorCode Measure(const Run &run, Result *result);

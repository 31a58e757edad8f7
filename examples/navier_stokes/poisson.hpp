// SPDX-License-Identifier: BSD-2-Clause
/// @file poisson.hpp  The pressure equation of a periodic box, by Fourier transforms in all directions.
#pragma once

#include "petsc_space.hpp"

#include <memory>
#include <vector>

/// Squares of the absolute values of the symbols of the staggered derivative and of the interpolation along
/// a direction, for the modes 0 .. n - 1.
struct Symbol {
  std::vector<PetscReal> derivative, interpolation;
};

struct Box {
  MPI_Comm comm   = MPI_COMM_NULL;
  PetscInt n[3]   = {}; ///< points along x, y, z
  PetscInt planes = 0;  ///< those of this rank along z
  Symbol   symbol[3];
};

/// Solves div grad q = -f with the staggered div and grad of the box. Modes that div grad maps to zero are
/// zero in q: the mean, and those in which div and grad vanish at the highest wave number.
class Poisson {
public:
  virtual ~Poisson() = default;
  /// Replaces f by q. Values of the planes of this rank, x fastest, on the host or on the device. Collective.
  virtual PetscErrorCode solve(PetscScalar *f) = 0;
};

/// How many planes along z the transforms of the host give to this rank. Collective.
PetscErrorCode GetPlanes(MPI_Comm comm, const PetscInt (&n)[3], PetscInt *planes);

/// Collective. An error if the program has no transforms for this memory and this count of ranks.
PetscErrorCode CreatePoisson(const Box &box, bool on_device, std::unique_ptr<Poisson> *poisson);

#ifdef HAVE_FFTW
PetscErrorCode GetPlanesOfFftw(MPI_Comm comm, const PetscInt (&n)[3], PetscInt *planes);
PetscErrorCode CreatePoissonFftw(const Box &box, std::unique_ptr<Poisson> *poisson);
#endif
#ifdef HAVE_CUFFT
PetscErrorCode CreatePoissonCufft(const Box &box, std::unique_ptr<Poisson> *poisson);
#endif

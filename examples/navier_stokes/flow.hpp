// SPDX-License-Identifier: BSD-2-Clause
/// @file flow.hpp  Incompressible Navier-Stokes equations in a periodic box, by compact differences of order
///   6: velocities at the points of the grid, the pressure at the centres of its cells.
#pragma once

#include "poisson.hpp"

#include <petscdmda.h>

#include <cstdint>
#include <memory>

/// u_t + (u . grad u + div (u u)) / 2 = -grad p + viscosity lap u, div u = 0, in a box of side 2 pi.
struct Model {
  PetscInt  n[3]      = {64, 64, 64}; ///< points along x, y, z
  PetscReal viscosity = static_cast<PetscReal>(1. / 1600);
  /// starts as the vortex of the plane, (sin x cos y, -cos x sin y, 0), otherwise as that of Taylor and
  /// Green, whose velocities also have the factor cos z
  PetscBool plane    = PETSC_FALSE;
  PetscReal drift[3] = {}; ///< a uniform velocity that is added

  PetscReal spacing(int d) const { return 2 * PETSC_PI / static_cast<PetscReal>(n[d]); }
  PetscReal points() const
  {
    return static_cast<PetscReal>(n[0]) * static_cast<PetscReal>(n[1]) * static_cast<PetscReal>(n[2]);
  }
};

/// Means over the box, but for the divergence.
struct Measures {
  PetscReal energy      = 0; ///< u . u / 2
  PetscReal dissipation = 0; ///< -u . f, f = right-hand side: -d/dt of the energy
  PetscReal enstrophy   = 0; ///< curl u . curl u / 2
  PetscReal divergence  = 0; ///< largest absolute value
};

/// A state is a nest of three vectors, one per component. -dm_vec_type selects their memory. Ranks own planes
/// along z.
class Flow {
public:
  Flow(const Model &model, MPI_Comm comm) : model_(model), comm_(comm) { }
  Flow(const Flow &)            = delete;
  Flow &operator=(const Flow &) = delete;

  PetscErrorCode create();
  PetscErrorCode destroy();
  PetscErrorCode create_state(Vec *u) const;
  /// The initial state, without divergence.
  PetscErrorCode start(Vec u);
  /// f = the projection of advection and viscous forces. Its divergence is zero to rounding.
  PetscErrorCode right_hand_side(Vec u, Vec f);
  /// @param f  workspace
  PetscErrorCode measure(Vec u, Vec f, Measures *measures);
  /// Largest error of a velocity of the vortex of the plane.
  PetscErrorCode error(Vec u, PetscReal time, PetscReal *error);
  PetscErrorCode copy_speed(PetscLogDouble *bytes_per_second); ///< of a component
  const Model   &model() const { return model_; }

  /// Least memory traffic of right_hand_side() in values per point: products 9, gradients, advection, fluxes
  /// and viscous forces of three components 93, divergence 18, gradient of the pressure 19, and 14 for two
  /// transforms that pass once over the values for each direction, and their division by symbols.
  static constexpr int values_of_right_hand_side = 153;

private:
  enum Kind {
    first,
    second,
    derivative_at_centres,
    values_at_centres,
    derivative_at_points,
    values_at_points
  };
  static constexpr int kinds = 6;

  PetscErrorCode create_operator(MPI_Comm comm, Kind kind, int d, Mat *A) const;
  PetscErrorCode create_operators();
  PetscErrorCode create_poisson(PetscInt planes);
  PetscErrorCode absolute_symbol(Kind kind, int d, std::vector<PetscReal> *squares) const;
  PetscErrorCode exact(PetscReal time, Vec u, PetscReal *error) const;
  PetscErrorCode divergence(const Vec *u, Vec result);
  PetscErrorCode project(const Vec *f);
  PetscErrorCode enstrophy(const Vec *u, PetscReal *value);
  template <class Exec>
  PetscErrorCode multiply(const Vec *u);
  template <class Exec>
  PetscErrorCode advect(const Vec *u, Vec f);

  const Model              model_;
  const MPI_Comm           comm_;
  DM                       da_           = NULL;
  std::int64_t             points_       = 0; ///< of this rank
  bool                     on_device_    = false;
  Mat                      op_[kinds][3] = {};
  Vec                      flux_[6] = {}, gradient_[3] = {}, pressure_ = NULL; ///< workspaces
  std::unique_ptr<Poisson> poisson_;
};

// SPDX-License-Identifier: BSD-2-Clause
/// @file simulation.hpp  Time steps of the Cahn-Hilliard equation: in the plane by alternating directions,
///   or of a batch of lines.
#pragma once

#include "kernels.hpp"

#include "petsc_space.hpp"

#include <petscksp.h>

#include <vector>

/// C_t = D lap(C^3 - C - gamma lap C) in a periodic rectangle, or on many periodic lines at once with the
/// forcing f cos(k (y - v t)).
struct Model {
  PetscInt  dim = 2, n[2] = {256, 256}; ///< points along x and y; batch: problems, and points of a line
  PetscReal length = 0;                 ///< along y, with the same spacing along x; 0: spacing 1
  PetscReal gamma = 1, mobility = 1, stabilization = 2, dt = 0.25;
  PetscBool one_step = PETSC_FALSE; ///< the semi-implicit Euler method instead of BDF2
  /// starts as mean + amplitude cos [cos] with one period, otherwise as noise
  PetscBool mode      = PETSC_FALSE;
  PetscReal amplitude = 0.1;
  PetscInt  seed      = 0;
  PetscInt  study[2]  = {1, 1}; ///< batch: how many means, and how many forcings for each
  PetscReal mean[2] = {0, 0}, forcing[2] = {0, 0}, speed = 0;
  PetscInt  waves     = 1;           ///< k = 2 pi waves / length
  PetscBool assembled = PETSC_FALSE; ///< lines along y as one AIJ matrix

  PetscReal spacing() const { return length > 0 ? length / static_cast<PetscReal>(n[1]) : 1; }
  /// Steps of the one-step method at the start. BDF2 extrapolates, and would treat decaying noise as a
  /// trend.
  PetscInt  one_steps() const { return mode ? 1 : 4; }
  bool      has_forcing() const { return forcing[0] != 0 || forcing[1] != 0; }
  PetscReal mean_of(PetscInt problem) const { return of(mean, problem % study[0], study[0]); }
  PetscReal forcing_of(PetscInt problem) const
  {
    return of(forcing, problem / study[0] % study[1], study[1]);
  }
  /// Least memory traffic of a step per point: the explicit part reads one or two states and writes one,
  /// the solve along a direction reads one and writes one.
  int bytes() const
  {
    return static_cast<int>(sizeof(PetscScalar)) * ((one_step ? 2 : 3) + 2 * static_cast<int>(dim));
  }

private:
  static PetscReal of(const PetscReal (&range)[2], PetscInt k, PetscInt count)
  {
    return count > 1 ? range[0] +
                         (range[1] - range[0]) * static_cast<PetscReal>(k) / static_cast<PetscReal>(count - 1)
                     : range[0];
  }
};

/// Means over the points of all ranks.
struct Integrals {
  /// mean of C minus its initial value; batch: the largest among all problems
  PetscReal mass     = 0;
  PetscReal variance = 0; ///< of C
  PetscReal energy   = 0; ///< density of the free energy
  PetscReal scale    = 0; ///< 1 / (1 - <C^2>); batch: the mean over problems
};

/// States are vectors in natural order. Ranks own consecutive rows of points. -vec_type selects the memory
/// of states, -mat_type the memory in which lines are solved.
class Simulation {
public:
  Simulation(const Model &model, MPI_Comm comm) : model_(model), comm_(comm) { }
  Simulation(const Simulation &)            = delete;
  Simulation &operator=(const Simulation &) = delete;

  PetscErrorCode create();
  PetscErrorCode destroy();
  PetscErrorCode step(); ///< advances by dt
  /// @param each  (mean, variance, energy) of the problems of a batch, or null
  PetscErrorCode integrals(Integrals *total, std::vector<Integrals> *each);
  PetscErrorCode copy_speed(PetscLogDouble *bytes_per_second) const; ///< of a state
  Vec            state() const { return buffers_[now_].state; }
  PetscReal      time() const { return static_cast<PetscReal>(steps_) * model_.dt; }

private:
  struct Buffer {
    Vec state = NULL, ghosts = NULL; ///< ghosts: rows -2, -1, ny, ny + 1, on several ranks
    /// the values of `state` as a dense matrix with a line along x in each column
    Mat lines = NULL;
  };
  struct Access; ///< the arrays of a buffer while they are in use
  /// Tables of a batch, for each problem and for each point, in the memory of the states.
  template <class Exec>
  struct Tables {
    Kokkos::View<PetscReal *, typename Exec::memory_space>                        forcing, profile, mean;
    Kokkos::View<PetscReal *[3], Kokkos::LayoutLeft, typename Exec::memory_space> sums;
  };
  template <class Exec>
  Tables<Exec> &tables();
  template <class Exec>
  PetscErrorCode create_tables();
  template <class Exec>
  PetscErrorCode explicit_part(int last);
  template <class Exec>
  PetscErrorCode sum(std::vector<PetscReal> *sums);
  PetscErrorCode create_buffers();
  PetscErrorCode start();
  PetscErrorCode set_up(PetscReal c);
  PetscErrorCode destroy_lines();
  PetscErrorCode create_line(MPI_Comm comm, PetscInt mine, PetscInt n, Mat *A) const;
  PetscErrorCode create_solver(MPI_Comm comm, Mat A, PC *pc) const;
  PetscErrorCode exchange();
  PetscErrorCode solve();
  PetscErrorCode solve_along_x(const Buffer &right, const Buffer &solution);

  const Model           model_;
  const MPI_Comm        comm_;
  ch::Scheme<PetscReal> scheme_;
  PetscInt              first_ = 0; ///< first row of this rank
  PetscInt              steps_ = 0;
  int                   now_ = 0, last_ = 1, right_ = 2;
  Buffer                buffers_[3];
  bool                  on_device_ = false;
  VecScatter            scatter_   = NULL;
  PC                    x_ = NULL, y_ = NULL;
  /// initial mean minus the requested mean, for each problem
  std::vector<PetscReal>                    mass_;
  Tables<Kokkos::DefaultExecutionSpace>     device_;
  Tables<Kokkos::DefaultHostExecutionSpace> host_;
};

// SPDX-License-Identifier: BSD-2-Clause
/// @file batch.hpp  A batch of independent lines with the Cahn-Hilliard equation, and its time steps.
#pragma once

#include "right_hand_side.hpp"

#include <ribbon/line_solver.hpp>
#include <ribbon/line_stepper.hpp>

#include <petscsys.h>

#include <string>
#include <vector>

namespace ch_lines {

/// How a batch steps.
struct Method {
  /// "auto", "on_chip" and "separate": by ribbon::LineStepper. "stencil": a kernel of right-hand sides and a line
  /// solver for every step. "thomas": the same with the Thomas algorithm, as in the paper. On a host, and with
  /// explicit advection, "auto" is "stencil".
  std::string algorithm = "auto";
  Form        form      = Form::state;
  /// Hamilton-Jacobi derivatives change the mean of a line by their error. It is restored after every few steps.
  bool conserve = true;
};

/// The initial state of one line, and its forcing.
struct Start {
  double mean = 0, forcing = 0;
};

/// What is added to the means.
struct Noise {
  double        amplitude = 0.1;
  std::uint64_t seed      = 0;
  bool          cosine    = false; ///< one period instead of noise
};

/// Sums over the lines of a batch.
struct BatchSums {
  double size = 0, size_squares = 0; ///< of s = 1 / (1 - <C^2>) and of s^2
  double drift = 0;                  ///< the largest change of a mean
};

/// A line at the end of a run.
struct LineResult {
  double drift  = 0; ///< its mean minus the initial mean
  double change = 0; ///< root mean square of its change since remember()
};

class Batch {
public:
  using Array = Kokkos::View<double *, Exec::memory_space>;

  Batch(const Exec &exec, const Equation &equation, const Method &method, std::int64_t lines);
  /// Factors.
  /// @throws std::invalid_argument if the algorithm does not support these lines
  void make();
  /// The same. Raises an error of PETSc, also if the matrix is singular.
  PetscErrorCode create(MPI_Comm comm);
  /// @param lines  at most as many as the batch has
  /// @param first  number of the first line in the study, on which the noise depends
  void                    start(const std::vector<Start> &lines, const Noise &noise, std::int64_t first);
  void                    step(int steps);
  BatchSums               sums() const;
  void                    remember();
  std::vector<LineResult> results() const;
  /// The states in single precision, line by line, every `stride`th point.
  std::vector<float>  states(std::int64_t stride) const;
  std::vector<double> line(std::int64_t l) const;
  std::int64_t        lines() const { return used_; }
  /// The name of the kernels of a step.
  std::string kernels() const;

private:
  void fill(const std::vector<Start> &lines);
  bool steps_by_stencil() const;
  template <Advection advection>
  void right_hand_side() const;
  void step_by_stencil() const;
  void restore_means() const;

  Exec                              exec_;
  Equation                          equation_;
  Method                            method_;
  std::int64_t                      used_, lines_; ///< without and with those that fill the last pack
  ribbon::LineSet                   places_;
  Array                             u_, right_, remembered_, mean_, forcing_, profile_;
  Array                             common_; ///< the forcing, if all lines have one amplitude
  ribbon::LineSolver<double, Exec>  solver_;
  ribbon::LineStepper<double, Exec> stepper_;
  bool                              has_forcing_ = false, has_amplitudes_ = false;
};

/// As many lines as step together: on a host those that fit its cache.
std::int64_t lines_at_once(const Exec &exec, std::int64_t rows);

} // namespace ch_lines

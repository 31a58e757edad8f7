// SPDX-License-Identifier: BSD-2-Clause
/// @file settings.hpp  The options of the program.
#pragma once

#include "batch.hpp"

#include <vector>

namespace ch_lines {

enum class Study { convergence, coarsening, patterns, evolution, speed };

struct Settings {
  Study                     study = Study::convergence;
  Equation                  equation;
  Method                    method;
  Noise                     noise;
  double                    final_time = 1;
  std::vector<std::int64_t> grids;              ///< convergence: points, each against twice as many
  double                    dt_per_spacing = 0; ///< convergence: dt / h
  bool                      extrapolate    = true;
  std::vector<double>       lengths;           ///< coarsening
  std::int64_t              runs         = 16; ///< coarsening, speed
  std::int64_t              reports      = 40; ///< coarsening, evolution: times
  double                    first_report = 1;
  double                    fit[2]       = {0, 0};
  std::int64_t              map[2]       = {1, 1}; ///< patterns, evolution: means, forcings
  double                    mean[2] = {0, 0}, forcing[2] = {0, 0};
  std::int64_t              points = 128, steps = 100;
  double                    window     = 1; ///< patterns: time over which the change is measured
  std::int64_t              part_lines = 0; ///< lines that step together; 0: lines_at_once()
  double                    progress   = 10;
  bool                      restart    = false;
  std::string               file, csv;
};

PetscErrorCode ReadSettings(MPI_Comm comm, Settings *settings);

PetscErrorCode RunConvergence(MPI_Comm comm, const Settings &settings);
PetscErrorCode RunCoarsening(MPI_Comm comm, const Settings &settings);
PetscErrorCode RunPatterns(MPI_Comm comm, const Settings &settings);
PetscErrorCode RunEvolution(MPI_Comm comm, const Settings &settings);
PetscErrorCode RunSpeed(MPI_Comm comm, const Settings &settings);

} // namespace ch_lines

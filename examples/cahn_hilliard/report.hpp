// SPDX-License-Identifier: BSD-2-Clause
/// @file report.hpp  Output of a simulation: rows of a table, growth law, growth rate, files to plot.
#pragma once

#include "simulation.hpp"

struct Report {
  PetscReal ratio = 1.1, fit[2] = {0, 0}; ///< ratio of the times of rows; window of the fit
  PetscInt  snapshots          = 0;
  PetscReal snapshot[64]       = {}; ///< times
  char csv[PETSC_MAX_PATH_LEN] = "", problems[PETSC_MAX_PATH_LEN] = "", prefix[PETSC_MAX_PATH_LEN] = "state";
};

struct Row {
  PetscReal time, length;
  Integrals integrals;
};

/// Mean distance of interfaces: surface tension (2 sqrt(2) / 3) sqrt(gamma) over energy density.
PetscReal TypicalLength(const Model &model, const Integrals &integrals);

/// Writes the state to PREFIX-K.bin in PETSc's binary format.
PetscErrorCode WriteSnapshot(const Report &report, PetscInt k, Vec state);
PetscErrorCode WriteRows(const Report &report, const std::vector<Row> &rows);
/// Writes mean, forcing, mass, variance and energy of every problem of a batch.
PetscErrorCode WriteProblems(const Report &report, const Model &model, const std::vector<Integrals> &each);
/// Growth law of the rows in the window: length ~ t^(1/3) in the plane (Lifshitz, Slyozov 1961), s ~ log t on
/// lines (Argentina, Clerc, Rojas, Tirapegui 2005).
PetscErrorCode PrintGrowthLaw(const Report &report, const Model &model, const std::vector<Row> &rows);
/// Growth rate of the initial mode of a simulation, compared with D k^2 (1 - 3 mean^2 - gamma k^2).
PetscErrorCode PrintGrowthRate(const Model &model, const Row &first, const Row &last);

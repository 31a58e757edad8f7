// SPDX-License-Identifier: BSD-2-Clause
/// @file report.hpp  Rows of a run: printed, written to a file, and compared with a published simulation.
#pragma once

#include "flow.hpp"

#include <petscts.h>

struct Row {
  PetscReal time = 0;
  Measures  measures;
};

/// A monitor of TS. It measures at intervals, and times the steps in between.
class Report {
public:
  Report(Flow *flow, PetscReal interval, PetscReal end) : flow_(*flow), interval_(interval), end_(end) { }
  PetscErrorCode create(Vec u);
  PetscErrorCode destroy();
  /// Prints a row if it is due. TS calls it after every step.
  PetscErrorCode monitor(PetscInt step, PetscReal time, Vec u);
  PetscErrorCode write(const char *name) const; ///< "" writes nothing
  PetscErrorCode print_peaks() const;
  PetscErrorCode print_speed(TS ts) const;

private:
  PetscErrorCode add_row(PetscReal time, Vec u);

  Flow            &flow_;
  const PetscReal  interval_, end_;
  Vec              work_ = NULL;
  std::vector<Row> rows_;
  PetscReal        next_  = 0;
  PetscInt         steps_ = 0; ///< those that were timed
  PetscLogDouble   begin_ = 0, seconds_ = 0;
};

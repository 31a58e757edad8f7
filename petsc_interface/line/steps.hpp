// SPDX-License-Identifier: BSD-2-Clause
/// @file steps.hpp  Time steps u <- A^-1 B u on whole lines of one rank, many in one call.
#pragma once

#include "../support/compat.h"

#include <memory>
#include <string>

namespace ribbon::petsc {

class GivenBands;

/// Steps with factored A. LineStepsOn<Exec> (steps_on.hpp) implements it on a host or a device.
class LineSteps {
public:
  virtual ~LineSteps() = default;
  /// `count` >= 0 steps of u, in place. `finite`: whether all values of u on this rank are finite
  /// afterwards; null: not computed. Not collective.
  virtual PetscErrorCode advance(int count, Vec u, bool *finite) const = 0;
  virtual bool           on_device() const                             = 0;
  /// The kernels, for views.
  virtual std::string facts() const = 0;
};

/// A or B: given bands on the rows of a matrix whose entries are not read, or the entries of the matrix.
struct StepMatrix {
  Mat               rows  = nullptr;
  const GivenBands *bands = nullptr;
};

/// Steps on the lines of a PC line that is set up, in the memory of its factors. A and B couple along these
/// lines alone, with no more couplings than the matrix of the PC. `reason`: empty, or why there are no such
/// steps, the same on all ranks. Collective.
PetscErrorCode MakeLineSteps(PC pc, const StepMatrix &A, const StepMatrix &B,
                             std::shared_ptr<const LineSteps> *steps, std::string *reason);

} // namespace ribbon::petsc

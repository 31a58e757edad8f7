// SPDX-License-Identifier: BSD-2-Clause
/// @file residuals.hpp  Residuals line by line: which lines are done, which are the worst.
#pragma once

#include "../support/compat.h"

#include <memory>
#include <vector>

namespace ribbon::petsc {

/// What a solve left on a line.
struct LineOutcome {
  PetscReal  residual = 0, scale = 0; ///< largest numbers of the residual and of the right-hand side
  int        closed = -1;             ///< iteration that found it to be done, -1: none did
  PetscInt64 row    = 0;              ///< global number of its first row
  PetscInt   column = 0;
};

/// Residuals of the lines of a PC line, for each column of right-hand sides. Where vectors are elsewhere than
/// the factors they are brought there.
class LineResiduals {
public:
  virtual ~LineResiduals() = default;
  /// Of a PC line that is one set of lines. Allocates everything; not collective.
  static PetscErrorCode create(PC pc, PetscInt columns, std::unique_ptr<LineResiduals> *residuals);

  /// Finds the largest number of every line. `is_scale`: they are what residuals are compared
  /// with, and no line is done.
  virtual PetscErrorCode look(Vec v, PetscInt column, bool is_scale) = 0;
  /// Compares what was looked at with max(rtol scale, abstol). `worst`: the largest quotient on this rank,
  /// above 1 where a line is not done.
  virtual PetscErrorCode judge(PetscInt column, PetscReal rtol, PetscReal abstol, PetscInt iteration,
                               PetscReal *worst) = 0;
  /// z = 0 on lines that are done.
  virtual PetscErrorCode leave_alone(Vec z, PetscInt column) = 0;
  /// The largest size of an entry on each line of this rank, infinite where one is not finite.
  virtual PetscErrorCode maxima(Vec v, std::vector<PetscReal> *largest) = 0;
  /// All lines of all columns on this rank.
  virtual PetscErrorCode outcomes(std::vector<LineOutcome> *all) = 0;
};

} // namespace ribbon::petsc

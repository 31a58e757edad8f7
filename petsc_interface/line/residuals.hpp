// SPDX-License-Identifier: BSD-2-Clause
/// @file residuals.hpp  Residuals line by line: the lines that are done, and the worst lines.
#pragma once

#include "../support/compat.h"

#include <memory>
#include <vector>

namespace ribbon::petsc {

/// Result of a solve on one line.
struct LineOutcome {
  PetscReal  residual = 0, scale = 0; ///< largest entries of the residual and of b
  int        closed = -1;             ///< iteration after which it was done, -1: it is not
  PetscInt64 row    = 0;              ///< global number of its first row
  PetscInt   column = 0;
};

/// Residuals of the lines of a PC line, for each column of right-hand sides. Vectors in other memory than
/// the factors are copied there.
class LineResiduals {
public:
  virtual ~LineResiduals() = default;
  /// Creates the object for a PC line with one set of lines. Allocates everything. Not collective.
  static PetscErrorCode create(PC pc, PetscInt columns, std::unique_ptr<LineResiduals> *residuals);

  /// Finds the largest entry of v on every line. `is_scale`: residuals are compared with these values, and
  /// no line is done.
  virtual PetscErrorCode look(Vec v, PetscInt column, bool is_scale) = 0;
  /// Compares the largest entries of look() with max(rtol scale, abstol). `worst`: the largest quotient on
  /// this rank, above 1 if a line is not done.
  virtual PetscErrorCode judge(PetscInt column, PetscReal rtol, PetscReal abstol, PetscInt iteration,
                               PetscReal *worst) = 0;
  /// Sets z = 0 on lines that are done.
  virtual PetscErrorCode leave_alone(Vec z, PetscInt column) = 0;
  /// The largest magnitude of an entry on each line of this rank; infinite if an entry is not finite.
  virtual PetscErrorCode maxima(Vec v, std::vector<PetscReal> *largest) = 0;
  /// All lines of all columns on this rank.
  virtual PetscErrorCode outcomes(std::vector<LineOutcome> *all) = 0;
};

} // namespace ribbon::petsc

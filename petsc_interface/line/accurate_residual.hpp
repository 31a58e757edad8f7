// SPDX-License-Identifier: BSD-2-Clause
/// @file accurate_residual.hpp  Residuals of an assembled matrix in doubled precision.
#pragma once

#include "../support/compat.h"

#include <ribbon/matrix/csr_residual.hpp>

#include <memory>

namespace ribbon::petsc {

/// r = b - A x, or b - A^T x, in doubled precision, in the memory of the entries of A. Keeps a copy of A if
/// A must be converted or transposed.
class AccurateResidual {
public:
  virtual ~AccurateResidual() = default;
  /// Supports AIJ of any kind, MATMAIJ of such a matrix, BAIJ and SBAIJ. For other types *residual is null.
  /// Collective.
  static PetscErrorCode create(Mat A, bool transposed, std::unique_ptr<AccurateResidual> *residual);

  /// Whether this object was created for this matrix with its current values.
  bool is_of(Mat A, bool transposed) const;

  /// The vectors may have any type with the layout of A. `sizes` may be null; see ResidualSizes.
  /// Collective.
  virtual PetscErrorCode compute(Vec b, Vec x, Vec r, Vec sizes, ResidualSizes which) = 0;

private:
  PetscObjectId    id_         = 0;
  PetscObjectState state_      = -1;
  bool             transposed_ = false;
};

} // namespace ribbon::petsc

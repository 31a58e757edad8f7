// SPDX-License-Identifier: BSD-2-Clause
/// @file accurate_residual.hpp  Residuals of an assembled matrix in doubled precision.
#pragma once

#include "../support/compat.h"

#include <ribbon/matrix/csr_residual.hpp>

#include <memory>

namespace ribbon::petsc {

/// r = b - A x, or b - A^T x, in doubled precision, where the entries of A are. Keeps a copy of A where A has
/// to be converted or transposed.
class AccurateResidual {
public:
  virtual ~AccurateResidual() = default;
  /// For AIJ of any kind, MATMAIJ of such a matrix, BAIJ and SBAIJ; *residual is null
  /// for other types. Collective.
  static PetscErrorCode create(Mat A, bool transposed, std::unique_ptr<AccurateResidual> *residual);

  /// Whether it was made for this matrix, with these values.
  bool is_of(Mat A, bool transposed) const;

  /// Vectors of any type that has the layout of A. `sizes`: may be null; see ResidualSizes. Collective.
  virtual PetscErrorCode compute(Vec b, Vec x, Vec r, Vec sizes, ResidualSizes which) = 0;

private:
  PetscObjectId    id_         = 0;
  PetscObjectState state_      = -1;
  bool             transposed_ = false;
};

} // namespace ribbon::petsc

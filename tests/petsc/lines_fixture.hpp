// SPDX-License-Identifier: BSD-2-Clause
/// @file lines_fixture.hpp  Entries of matrices for tests that detect lines.
#pragma once

#include "fixture.hpp"

#include <cmath>

namespace test {

class PCLineLines : public Petsc { };

/// A different value for every entry. Rows of up to `row` entries are diagonally dominant.
inline PetscScalar entry(PetscInt r, PetscInt c, PetscInt row = 40)
{
  const double v = std::sin(1.0 + 0.7 * static_cast<double>(r) + 0.3 * static_cast<double>(c));
  return r == c ? static_cast<PetscScalar>(static_cast<double>(row) + v) : static_cast<PetscScalar>(v);
}

} // namespace test

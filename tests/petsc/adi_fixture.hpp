// SPDX-License-Identifier: BSD-2-Clause
/// @file adi_fixture.hpp  Fixture and matrix norms for the tests of alternating directions.
#pragma once

#include "fixture.hpp"

#include "adi/factors.hpp"

namespace test {

/// Fixture with real grids, without phases. The sum of a row then equals minus its eliminated couplings.
class Adi : public Petsc {
  const WithoutPhases real;
};

/// ||A - factor B|| in the maximum norm.
inline PetscReal difference(Mat A, Mat B, PetscScalar factor = 1)
{
  Mat       D;
  PetscReal norm = -1;
  MatDuplicate(A, MAT_COPY_VALUES, &D);
  MatAXPY(D, -factor, B, DIFFERENT_NONZERO_PATTERN);
  MatNorm(D, NORM_INFINITY, &norm);
  MatDestroy(&D);
  return norm;
}

/// ||shift M - J - A_1 - ... - A_D|| in the maximum norm.
inline PetscReal left_out(const ribbon::petsc::DirectionSplitting &splitting, Mat J, PetscScalar shift)
{
  Mat       sum;
  Vec       m;
  PetscReal norm = -1;
  MatDuplicate(J, MAT_COPY_VALUES, &sum);
  for (int d = 0; d < splitting.directions(); ++d) MatAXPY(sum, 1, splitting.A(d), DIFFERENT_NONZERO_PATTERN);
  MatCreateVecs(J, nullptr, &m); // The vectors of the splitting are on the host if it converted the matrix.
  VecCopy(splitting.mass(), m);
  VecScale(m, -shift);
  MatDiagonalSet(sum, m, ADD_VALUES);
  MatNorm(sum, NORM_INFINITY, &norm);
  VecDestroy(&m);
  MatDestroy(&sum);
  return norm;
}

/// The strengths with all directions but d set to zero.
inline std::vector<PetscReal> only(std::size_t d, const std::vector<PetscReal> &strength)
{
  std::vector<PetscReal> one(3, 0);
  one[d] = strength[d];
  return one;
}

class AdiPC : public Adi { };

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
/// @file adi_fixture.hpp  What the tests of alternating directions share.
#pragma once

#include "fixture.hpp"

#include "adi/factors.hpp"

namespace test {

/// Grids whose rows sum to what was eliminated from them: without phases.
class Adi : public Petsc {
  const WithoutPhases real;
};

/// Sum of sizes of the worst row of A - factor B.
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

/// The same of shift M - J - A_1 - ... - A_D.
inline PetscReal left_out(const ribbon::petsc::DirectionSplitting &splitting, Mat J, PetscScalar shift)
{
  Mat       sum;
  Vec       m;
  PetscReal norm = -1;
  MatDuplicate(J, MAT_COPY_VALUES, &sum);
  for (int d = 0; d < splitting.directions(); ++d) MatAXPY(sum, 1, splitting.A(d), DIFFERENT_NONZERO_PATTERN);
  MatCreateVecs(J, nullptr, &m); // those of the splitting are on the host where it had to be converted
  VecCopy(splitting.mass(), m);
  VecScale(m, -shift);
  MatDiagonalSet(sum, m, ADD_VALUES);
  MatNorm(sum, NORM_INFINITY, &norm);
  VecDestroy(&m);
  MatDestroy(&sum);
  return norm;
}

/// The strength of direction d alone.
inline std::vector<PetscReal> only(std::size_t d, const std::vector<PetscReal> &strength)
{
  std::vector<PetscReal> one(3, 0);
  one[d] = strength[d];
  return one;
}

class AdiPC : public Adi { };

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
// An assembled Jacobian split by direction, and the line factors of the directions.
#include "fixture.hpp"

#include "adi/factors.hpp"

using namespace test;
using ribbon::petsc::DirectionFactors;
using ribbon::petsc::DirectionSplitting;
using ribbon::petsc::SplitJacobian;

namespace {

class AdiSplitting : public Petsc { };

/// Largest entry of A - B in size.
PetscReal difference(Mat A, Mat B)
{
  Mat       D;
  PetscReal norm = -1;
  MatDuplicate(A, MAT_COPY_VALUES, &D);
  MatAXPY(D, -1, B, DIFFERENT_NONZERO_PATTERN);
  MatNorm(D, NORM_INFINITY, &norm);
  MatDestroy(&D);
  return norm;
}

/// Largest entry of shift M - J - sum of A_d in size.
PetscReal remainder(const DirectionSplitting &splitting, Mat J, PetscScalar shift)
{
  Mat       D;
  PetscReal norm = -1;
  MatDuplicate(J, MAT_COPY_VALUES, &D);
  for (int d = 0; d < splitting.directions(); ++d) MatAXPY(D, 1, splitting.A(d), DIFFERENT_NONZERO_PATTERN);
  Vec m;
  VecDuplicate(splitting.mass(), &m);
  VecCopy(splitting.mass(), m);
  VecScale(m, -shift);
  MatDiagonalSet(D, m, ADD_VALUES);
  MatNorm(D, NORM_INFINITY, &norm);
  VecDestroy(&m);
  MatDestroy(&D);
  return norm;
}

} // namespace

TEST_F(AdiSplitting, EliminatedBoundariesAreSplitExactly)
{
  for (std::vector<PetscInt> n : {std::vector<PetscInt>{7, 6}, {5, 6, 4}})
    for (PetscInt width : {1, 2})
      for (bool periodic : {false, true}) {
        const PetscReal    shift = 3;
        const Grid         grid(n, {1, 10, 0.5}, shift, periodic, {}, false, width);
        DirectionSplitting splitting;
        bool               changed = false;
        OK(splitting.update({grid.A, grid.da, shift}, &changed));
        EXPECT_TRUE(changed);
        ASSERT_EQ(splitting.directions(), static_cast<int>(n.size()));
        EXPECT_LT(remainder(splitting, grid.A, shift), 1e-13);
        for (int d = 0; d < splitting.directions(); ++d) {
          std::vector<PetscReal> one(3, 0);
          one[static_cast<std::size_t>(d)] = d == 0 ? 1 : d == 1 ? 10 : 0.5;
          const Grid alone(n, one, 0, periodic, {}, false, width);
          Mat        A;
          OK(MatDuplicate(splitting.A(d), MAT_COPY_VALUES, &A));
          OK(MatScale(A, -1));
          EXPECT_LT(difference(alone.A, A), 1e-12) << "along " << splitting.name(d);
          OK(MatDestroy(&A));
        }
        OK(splitting.update({grid.A, grid.da, shift}, &changed));
        EXPECT_FALSE(changed);
        OK(MatShift(grid.A, 0.25));
        OK(splitting.update({grid.A, grid.da, shift}, &changed));
        EXPECT_TRUE(changed);
        EXPECT_LT(remainder(splitting, grid.A, shift), 1e-13);
      }
}

// SPDX-License-Identifier: BSD-2-Clause
// Copies of host arrays for solves on a device. The host stands for the device: the copies are the same.
#include "fixture.hpp"

#include <support/session.hpp>
#include <support/staged_arrays.hpp>

using namespace test;
using namespace ribbon::petsc;

namespace {

class StagedArrays : public Petsc {
protected:
  void SetUp() override
  {
    Petsc::SetUp();
    OK(EnsureKokkos());
  }

  static constexpr DenseShape shape{2, 2, 3}; ///< columns of two entries and a gap

  std::vector<PetscScalar> b{1, 2, 99, 3, 4, 99}, x{5, 6, 99, 7, 8, 99};
};

TEST_F(StagedArrays, ColumnsAreCopiedWithoutTheirGaps) // one rank
{
  StagedArray<HostExec> staged;
  OK(staged.load(HostExec(), x.data(), PETSC_MEMTYPE_HOST, shape));
  ASSERT_TRUE(staged.is_staged());
  EXPECT_EQ(staged.ld(), 2);
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(staged.data()[k], Scalar(5 + k));
    staged.data()[k] += Scalar(10);
  }
  OK(staged.store(HostExec()));
  EXPECT_EQ(x, (std::vector<PetscScalar>{15, 16, 99, 17, 18, 99}));
}

TEST_F(StagedArrays, SolutionsOverwriteTheCopyOfRightHandSides) // one rank
{
  StagedArray<HostExec> right, solution;
  OK(right.load(HostExec(), b.data(), PETSC_MEMTYPE_HOST, shape));
  OK(solution.attach(HostExec(), x.data(), PETSC_MEMTYPE_HOST, shape, &right));
  EXPECT_EQ(solution.data(), right.data());
  for (int k = 0; k < 4; ++k) solution.data()[k] *= Scalar(2);
  OK(solution.store(HostExec()));
  EXPECT_EQ(x, (std::vector<PetscScalar>{2, 4, 99, 6, 8, 99}));
  EXPECT_EQ(b, (std::vector<PetscScalar>{1, 2, 99, 3, 4, 99}));
}

TEST_F(StagedArrays, ArraysOfTheDeviceAreUsedAsTheyAre) // one rank
{
  StagedArray<HostExec> right, solution;
  OK(right.load(HostExec(), b.data(), PETSC_MEMTYPE_DEVICE, shape));
  OK(solution.attach(HostExec(), x.data(), PETSC_MEMTYPE_HOST, shape, &right));
  EXPECT_FALSE(right.is_staged());
  EXPECT_EQ(static_cast<void *>(right.data()), static_cast<void *>(b.data()));
  EXPECT_EQ(right.ld(), 3);
  EXPECT_NE(solution.data(), right.data());
  EXPECT_NE(static_cast<void *>(solution.data()), static_cast<void *>(x.data()));
  OK(right.store(HostExec()));
  EXPECT_EQ(b, (std::vector<PetscScalar>{1, 2, 99, 3, 4, 99}));
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// PC multicolor: grids with gaps, matrices without rows or without assembly, and singular blocks.
#include "multicolor_fixture.hpp"

#include <petscksp.h>

namespace {

using namespace test;

class PCMulticolorShapes : public MulticolorTest { };

/// PC multicolor of a matrix with its vectors.
struct Sweep {
  PC  pc = nullptr;
  Vec b = nullptr, x = nullptr;

  explicit Sweep(Mat A)
  {
    PCCreate(PetscObjectComm((PetscObject)A), &pc);
    PCSetType(pc, "multicolor");
    PCSetOperators(pc, A, A);
    MatCreateVecs(A, &b, &x);
  }
  Sweep(const Sweep &) = delete;
  ~Sweep()
  {
    PCDestroy(&pc);
    VecDestroy(&b);
    VecDestroy(&x);
  }
};

void assemble(Mat A)
{
  MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
}

Mat aij(MPI_Comm comm, PetscInt local, PetscInt all)
{
  Mat A;
  MatCreate(comm, &A);
  MatSetSizes(A, local, local, all, all);
  MatSetType(A, MATAIJ);
  MatSetUp(A);
  return A;
}

} // namespace

/// Lines of points that couple with the next but one alone look like a grid of n x 1 x m points. Each unknown
/// is relaxed: a sweep over a diagonally dominant matrix reduces every error.
TEST_F(PCMulticolorShapes, RelaxesEveryUnknownOfAGridWithAGap)
{
  const PetscInt nx = 10, ny = 10;
  for (bool diagonals : {false, true})
    for (const char *coloring : {"auto", "grid"}) {
      SCOPED_TRACE(std::string(coloring) + (diagonals ? ", box" : ", star"));
      Mat      A = aij(PETSC_COMM_WORLD, PETSC_DECIDE, nx * ny);
      PetscInt begin, end;
      OK(MatGetOwnershipRange(A, &begin, &end));
      OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      for (PetscInt row = begin; row < end; ++row)
        for (PetscInt dy : {-2, 0, 2})
          for (PetscInt dx : {-1, 0, 1}) {
            const PetscInt x = row % nx + dx, y = row / nx + dy;
            if (x < 0 || x >= nx || y < 0 || y >= ny || (dx != 0 && dy != 0 && !diagonals)) continue;
            OK(MatSetValue(A, row, y * nx + x, dx == 0 && dy == 0 ? 10 : -1, INSERT_VALUES));
          }
      assemble(A);
      Sweep s(A);
      reset_options(("-pc_multicolor_coloring " + std::string(coloring)).c_str());
      OK(PCSetFromOptions(s.pc));
      reset_options();
      Vec       error;
      PetscReal size;
      OK(VecDuplicate(s.x, &error));
      OK(VecSet(error, 1));
      OK(MatMult(A, error, s.b));
      OK(VecSet(s.x, 123));                                    // a sweep begins at 0 and reads no old value
      if (const PetscErrorCode failed = PCSetUp(s.pc); failed) // grid by name may find none
        EXPECT_STREQ(coloring, "grid");
      else {
        OK(PCApply(s.pc, s.b, s.x));
        OK(VecAXPY(error, -1, s.x));
        OK(VecNorm(error, NORM_INFINITY, &size));
        EXPECT_LT(size, 0.9);
      }
      VecDestroy(&error);
      MatDestroy(&A);
    }
}

/// As a block of PCBJACOBI on a rank without rows.
TEST_F(PCMulticolorShapes, TakesAMatrixWithoutRows)
{
  for (const char *coloring : {"auto", "grid", "jp", "greedy"}) {
    SCOPED_TRACE(coloring);
    Mat A = aij(PETSC_COMM_SELF, 0, 0);
    assemble(A);
    Sweep s(A);
    reset_options(("-pc_multicolor_coloring " + std::string(coloring)).c_str());
    OK(PCSetFromOptions(s.pc));
    reset_options();
    OK(PCSetUp(s.pc));
    OK(PCApply(s.pc, s.b, s.x));
    MatDestroy(&A);
  }
}

TEST_F(PCMulticolorShapes, RefusesAMatrixThatIsNotAssembled)
{
  for (const char *type : {"multicolor", "line"}) {
    Mat A = aij(PETSC_COMM_WORLD, 3, PETSC_DETERMINE);
    PC  pc;
    OK(PCCreate(PETSC_COMM_WORLD, &pc));
    OK(PCSetType(pc, type));
    OK(PCSetOperators(pc, A, A));
    last_error().clear();
    EXPECT_NE(static_cast<int>(PCSetUp(pc)), 0);
    EXPECT_EQ(last_error(), "PC " + std::string(type) +
                              ": Pmat is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
    PCDestroy(&pc);
    MatDestroy(&A);
  }
}

/// A pivot of zero before the last one makes later pivots of its block infinite.
TEST_F(PCMulticolorShapes, SingularBlocksAreZeroPivots)
{
  for (PetscInt block : {2, 3, 5}) {
    Mat A;
    OK(MatCreate(PETSC_COMM_WORLD, &A));
    OK(MatSetSizes(A, 2 * block, 2 * block, PETSC_DETERMINE, PETSC_DETERMINE));
    OK(MatSetType(A, MATBAIJ));
    OK(MatSetBlockSize(A, block));
    OK(MatSetUp(A));
    PetscInt begin;
    OK(MatGetOwnershipRange(A, &begin, nullptr));
    for (PetscInt k = 0; k < 2; ++k)
      for (PetscInt r = 0; r < block; ++r)
        for (PetscInt c = 0; c < block; ++c) // the second block has rank 1
          OK(MatSetValue(A, begin + k * block + r, begin + k * block + c, k == 1 || r == c, INSERT_VALUES));
    assemble(A);
    Sweep          s(A);
    PCFailedReason reason;
    OK(PCSetUp(s.pc));
    OK(PCGetFailedReason(s.pc, &reason));
    EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT) << "blocks of " << block;
    MatDestroy(&A);
  }
}

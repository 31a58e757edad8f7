// SPDX-License-Identifier: BSD-2-Clause
// Kronecker products, and matrices with several unknowns per element and no DM.
#include "fixture.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace test;

namespace {

class PCLineProducts : public Petsc { };

/// A different value for every entry. Rows of up to `row` entries are diagonally dominant.
PetscScalar entry(PetscInt r, PetscInt c, PetscInt row = 40)
{
  const double v = std::sin(1.0 + 0.7 * static_cast<double>(r) + 0.3 * static_cast<double>(c));
  return r == c ? static_cast<PetscScalar>(static_cast<double>(row) + v) : static_cast<PetscScalar>(v);
}

/// Block diagonal: every rank holds whole tridiagonal lines.
Mat lines_of(PetscInt length, PetscInt lines, int ranks)
{
  return matrix(
    length * lines * ranks, [=](PetscInt r, PetscInt c) { return entry(r % length, c % length, 4); },
    [=](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1 && r / length == c / length; }, length * lines);
}

TEST_F(PCLineProducts, OneMatrixForManyVectors)
{
  for (PetscInt lines : {1, 3})
    for (PetscInt dof : {1, 2, 50}) {
      Mat A = lines_of(30, lines, ranks), M;
      // PETSc assembles a copy of a device matrix for a product of few vectors.
      OK(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
      OK(MatCreateMAIJ(A, dof, &M));
      {
        Line     line(M);
        PetscInt matrices, found;
        EXPECT_LT(line.residual(M), 1e-13);
        EXPECT_LT(line.residual(M, true), 1e-13);
        OK(PCLineGetInfo(line.pc, nullptr, &found, nullptr, &matrices, nullptr, nullptr));
        EXPECT_EQ(matrices, 1) << "nothing is replicated";
        OK(MatScale(A, 3)); // the product does not detect the change, the PC does
        EXPECT_LT(line.residual(M), 1e-13);
        OK(PCSetReusePreconditioner(line.pc, PETSC_TRUE));
        OK(MatScale(A, 2));
        EXPECT_GT(line.residual(M), 0.1);
      }
      OK(MatDestroy(&M));
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineProducts, ComponentsWithoutADM)
{
  for (PetscInt lines : {1, 3})
    for (PetscInt dof : {2, 3, 50}) {
      Mat A = lines_of(30, lines, ranks), M, B;
      OK(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
      OK(MatCreateMAIJ(A, dof, &M));
      OK(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, &B));
      OK(MatSetFromOptions(B));
      {
        Line line(B);
        EXPECT_LT(line.residual(B), 1e-13) << lines << dof << line.view();
        EXPECT_EQ(line.matrices(), 1) << line.view();
      }
      OK(MatDestroy(&B));
      OK(MatDestroy(&M));
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineProducts, KroneckerProducts)
{
  const PetscInt                 p = 3;
  const std::vector<PetscScalar> none,
    identity = {1, 0, 0, 0, 1, 0, 0, 0, 1}, twice = {2, 0, 0, 0, 2, 0, 0, 0, 2},
    diagonal = {1, 0, 0, 0, 2, 0, 0, 0, 3}, dense = {9, 1, 2, -1, 8, 1, 0.5, 0.25, 7};
  const struct {
    const std::vector<PetscScalar> &S, &T;
    PetscInt                        matrices;
  } cases[] = {
    {none, identity, 1},  {twice, identity, 1}, {twice, twice, 1}, {twice, none, 1}, {diagonal, twice, 3},
    {twice, diagonal, 3}, {dense, identity, 1}, {dense, dense, 1}, {none, dense, 1}, {dense, none, 1},
  };
  for (const auto &c : cases) {
    Mat A = lines_of(20, 2, ranks), K;
    OK(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A)); // PETSc makes no such products of device matrices
    OK(MatCreateKAIJ(A, p, p, c.S.empty() ? nullptr : c.S.data(), c.T.empty() ? nullptr : c.T.data(), &K));
    OK(MatAssemblyBegin(K, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(K, MAT_FINAL_ASSEMBLY));
    {
      Line line(K);
      EXPECT_LT(line.residual(K), 1e-13) << &c - cases;
      EXPECT_EQ(line.matrices(), c.matrices) << &c - cases;
    }
    OK(MatDestroy(&K));
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineProducts, KroneckerProductsThatAreRefused)
{
  Mat                      A = lines_of(20, 2, ranks), K;
  std::vector<PetscScalar> dense(81, 0.01);
  for (std::size_t c = 0; c < 9; ++c) dense[c * 10] = 2;
  OK(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  OK(MatCreateKAIJ(A, 9, 9, dense.data(), nullptr, &K));
  OK(MatAssemblyBegin(K, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(K, MAT_FINAL_ASSEMBLY));
  {
    Line line(K);
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(), "PC line: the 9 components of a matrix of type")) << last_error();
    EXPECT_TRUE(contains(last_error(), "couple with each other; blocks reach up to 8")) << last_error();
  }
  OK(MatDestroy(&K));
  OK(MatDestroy(&A));
}

} // namespace

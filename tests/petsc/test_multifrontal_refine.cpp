// SPDX-License-Identifier: BSD-2-Clause
// Solutions of the solver type multifrontal with refinement by the factored matrix.
#include "chain_fixture.hpp"

using namespace test;

namespace {

// Rows of all sizes: the residual of a solve is small relative to the largest row. One step of refinement
// makes it small in every row.
TEST_F(Multifrontal, Refines)
{
  const RandomChain chain{120, 2, 2};
  for (bool shuffled : {false, true}) {
    RandomChain kind = chain;
    if (shuffled) kind.shuffle();
    Mat A = kind.matrix(), B, X;
    Vec scale, b, x, r;
    OK(MatCreateVecs(A, &x, &scale));
    OK(VecDuplicate(scale, &r));
    OK(VecSetRandom(scale, nullptr));
    PetscScalar *a;
    PetscInt     begin, end;
    OK(VecGetOwnershipRange(scale, &begin, &end));
    OK(VecGetArray(scale, &a));
    for (PetscInt i = begin; i < end; ++i) a[i - begin] = i % 3 == 0 ? 1e3 : 1;
    OK(VecRestoreArray(scale, &a));
    OK(MatDiagonalScale(A, scale, nullptr));
    b = random_vector(A);
    {
      Factored f(A);
      OK(MatMultifrontalSetLeafSize(f.F, 8));
      OK(MatMultifrontalSetRefine(f.F, 2));
      OK(f.symbolic(A));
      OK(f.numeric(A));
      OK(MatSolve(f.F, b, x));
      OK(MatMult(A, x, r));
      OK(VecAXPY(r, -1, b));
      OK(VecPointwiseDivide(r, r, scale));
      PetscReal left;
      OK(VecNorm(r, NORM_INFINITY, &left));
      EXPECT_LE(left, 4 * rounding);
      OK(MatSolveTranspose(f.F, b, x));
      EXPECT_LE(backward_error(A, x, b, true), rounding);
      B = dense(A, 3, 1), X = dense(A, 3, 0);
      OK(MatMatSolve(f.F, B, X));
      expect_solved(A, B, X, 3, false);
    }
    for (Mat *M : {&A, &B, &X}) OK(MatDestroy(M));
    for (Vec *v : {&scale, &b, &x, &r}) OK(VecDestroy(v));
  }
}

// The matrix has other values at the time of the solve. Factors belong to the matrix that was factored.
TEST_F(Multifrontal, RefinesWithTheMatrixThatWasFactored)
{
  for (bool shuffled : {false, true}) {
    RandomChain kind{120, 2, 2};
    if (shuffled) kind.shuffle();
    Mat A = kind.matrix(), before = kind.matrix();
    Vec x, b                      = random_vector(A);
    OK(VecDuplicate(b, &x));
    {
      Factored f(A);
      OK(MatMultifrontalSetRefine(f.F, 2));
      OK(f.symbolic(A));
      for (int again = 0; again < 3; ++again) {
        OK(f.numeric(A));
        OK(MatCopy(A, before, SAME_NONZERO_PATTERN));
        OK(MatScale(A, 3));
        OK(MatShift(A, 1));
        expect_solves(f.F, before, b, x);
      }
      OK(MatMultifrontalSetRefine(f.F, 0)); // without a copy of the matrix, and with one again
      OK(f.numeric(A));
      expect_solves(f.F, A, b, x);
      OK(MatMultifrontalSetRefine(f.F, 1));
      OK(f.numeric(A));
      OK(MatCopy(A, before, SAME_NONZERO_PATTERN));
      OK(MatScale(A, 2));
      expect_solves(f.F, before, b, x);
    }
    for (Mat *M : {&A, &before}) OK(MatDestroy(M));
    for (Vec *v : {&x, &b}) OK(VecDestroy(v));
  }
}

// A matrix on a device refines solutions with vectors that PETSc can multiply it with, for any type of the
// given vectors.
TEST_F(Multifrontal, RefinesVectorsOfOtherTypes)
{
  const RandomChain chain{120, 2, 1};
  Mat               A = chain.matrix();
  Vec               b, x, native_b, native_x;
  PetscInt          rows;
  OK(MatGetLocalSize(A, &rows, nullptr));
  OK(VecCreateMPI(PETSC_COMM_WORLD, rows, PETSC_DETERMINE, &b));
  OK(VecDuplicate(b, &x));
  OK(MatCreateVecs(A, &native_x, &native_b));
  {
    Factored f(A);
    OK(MatMultifrontalSetRefine(f.F, 2));
    OK(f.symbolic(A));
    OK(f.numeric(A));
    for (int again = 0; again < 2; ++again)
      for (bool transposed : {false, true}) {
        OK(VecSetRandom(b, nullptr));
        OK(transposed ? MatSolveTranspose(f.F, b, x) : MatSolve(f.F, b, x));
        OK(VecCopy(b, native_b));
        OK(VecCopy(x, native_x));
        EXPECT_LE(backward_error(A, native_x, native_b, transposed), rounding);
      }
  }
  for (Vec *v : {&b, &x, &native_b, &native_x}) OK(VecDestroy(v));
  OK(MatDestroy(&A));
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Units of unknowns and equations that change a little from row to row of a chain, with the solver type
// multifrontal.
#include "chain_fixture.hpp"

#include <cmath>

using namespace test;

namespace {

class MultifrontalUnits : public Petsc { };

/// log2 of units. They change by `slope` from row to row, plus a random walk with steps up to `step`.
std::vector<PetscReal> units(PetscInt n, PetscReal slope, PetscReal step, std::uint64_t seed)
{
  std::vector<PetscReal> u(static_cast<std::size_t>(n));
  PetscReal              at = 0;
  for (PetscInt i = 0; i < n; ++i) {
    u[static_cast<std::size_t>(i)] = std::round(at);
    at += slope + step * static_cast<PetscReal>(Draw::noise(seed, i, 3));
  }
  return u;
}
/// 2^u for the place of a row in its chain.
Vec powers(Mat A, const RandomChain &chain, const std::vector<PetscReal> &u)
{
  std::vector<PetscInt> place(static_cast<std::size_t>(chain.n));
  for (std::size_t k = 0; k < place.size(); ++k)
    place[chain.row_of.empty() ? k : static_cast<std::size_t>(chain.row_of[k])] = static_cast<PetscInt>(k);
  return vector_of(A, [&](PetscInt i) {
    return std::exp2(u[static_cast<std::size_t>(place[static_cast<std::size_t>(i)])]);
  });
}

struct Kind {
  const char *name;
  PetscReal   row_slope, row_step, column_slope, column_step;
};
constexpr Kind kinds[] = {{"columns 2^-i", 0, 0, -1, 0},
                          {"columns 2^-2i", 0, 0, -2, 0},
                          {"columns 2^2.5i", 0, 0, 2.5, 0},
                          {"rows 2^i", 1, 0, 0, 0},
                          {"rows 2^2i, columns 2^-i", 2, 0, -1, 0},
                          {"walks", 0, 3, 0, 3},
                          {"rows 2^i, columns 2^i", 1, 0, 1, 0}};

/// Checks the components of solutions of r A c x = b, and of its transpose. A is strictly dominant, and the
/// entries of c x, or r x, lie between 1/2 and 3/2.
void expect_every_digit(Mat A, Vec r, Vec c)
{
  const ByOptions    by(A);
  KSPConvergedReason reason;
  Vec y = vector_of(A, [](PetscInt i) { return 1 + 0.5 * Draw::noise(5, i, 1); }), x, b, expected;
  for (Vec *v : {&x, &b, &expected}) OK(VecDuplicate(y, v));
  for (bool transposed : {false, true}) {
    OK(VecPointwiseDivide(expected, y, transposed ? r : c));
    OK(transposed ? MatMultTranspose(A, expected, b) : MatMult(A, expected, b));
    OK(transposed ? KSPSolveTranspose(by.ksp, b, x) : KSPSolve(by.ksp, b, x));
    OK(KSPGetConvergedReason(by.ksp, &reason));
    EXPECT_GT(reason, 0) << view_of(by.factor());
    EXPECT_LE(componentwise(x, expected), 1e-13) << (transposed ? "transposed" : "") << view_of(by.factor());
  }
  for (Vec *v : {&y, &x, &b, &expected}) OK(VecDestroy(v));
}

// No single column is small. Elimination that compares rows by size made the transposed solve inaccurate,
// or reported the matrix as singular, depending on leaves and ranks.
TEST_F(MultifrontalUnits, ChangeALittleFromRowToRow)
{
  if (!is_double) GTEST_SKIP() << "needs exponents of 2^200";
  for (const char *leaf : {"0", "4"})
    for (const char *pivot : {"qr", "none"})
      for (RandomChain chain : {RandomChain{100, 3, 3}, RandomChain{90, 1, 1}, RandomChain{80, 1, 2}})
        for (const Kind &kind : kinds) {
          SCOPED_TRACE(name(chain) + " " + kind.name + " leaf " + leaf + " pivot " + pivot);
          const Option size("-chain_mat_multifrontal_leaf_size", leaf),
            how("-chain_mat_multifrontal_pivot", pivot);
          Mat A = chain.matrix();
          Vec r = powers(A, chain, units(chain.n, kind.row_slope, kind.row_step, 7)),
              c = powers(A, chain, units(chain.n, kind.column_slope, kind.column_step, 8));
          OK(MatDiagonalScale(A, r, c));
          expect_every_digit(A, r, c);
          for (Vec *v : {&r, &c}) OK(VecDestroy(v));
          OK(MatDestroy(&A));
        }
}

// The same with rows in another order than that of the chain.
TEST_F(MultifrontalUnits, InAnotherOrder)
{
  if (!is_double) GTEST_SKIP() << "needs exponents of 2^200";
  for (const char *leaf : {"0", "4"})
    for (const Kind &kind : kinds) {
      RandomChain chain = RandomChain{90, 2, 2}.shuffle();
      SCOPED_TRACE(name(chain) + " " + kind.name + " leaf " + leaf);
      const Option size("-chain_mat_multifrontal_leaf_size", leaf);
      Mat          A = chain.matrix();
      Vec          r = powers(A, chain, units(chain.n, kind.row_slope, kind.row_step, 7)),
          c          = powers(A, chain, units(chain.n, kind.column_slope, kind.column_step, 8));
      OK(MatDiagonalScale(A, r, c));
      expect_every_digit(A, r, c);
      for (Vec *v : {&r, &c}) OK(VecDestroy(v));
      OK(MatDestroy(&A));
    }
}

// Rows in any units: LU that exchanges rows by size makes transposed solves inaccurate.
TEST_F(MultifrontalUnits, OfRowsAlone)
{
  if (!is_double) GTEST_SKIP() << "needs exponents of 2^30";
  for (const char *leaf : {"0", "4"})
    for (PetscInt seed = 0; seed < 8; ++seed)
      for (RandomChain chain : {RandomChain{50, 1, 1}, RandomChain{50, 3, 3}, RandomChain{40, 1, 1, true}}) {
        SCOPED_TRACE(name(chain) + " seed " + std::to_string(seed) + " leaf " + leaf);
        const Option size("-chain_mat_multifrontal_leaf_size", leaf);
        chain.seed               = static_cast<std::uint64_t>(seed) + 1;
        Mat                    A = chain.matrix();
        Draw                   draw(chain.seed);
        std::vector<PetscReal> unit;
        for (PetscInt i = 0; i < chain.n; ++i)
          unit.push_back(std::ldexp(1., static_cast<int>(draw.between(-30, 30))));
        Vec r = vector_of(A, [&](PetscInt i) { return unit[static_cast<std::size_t>(i)]; });
        Vec c = vector_of(A, [](PetscInt) { return 1; });
        OK(MatDiagonalScale(A, r, nullptr));
        expect_every_digit(A, r, c);
        for (Vec *v : {&r, &c}) OK(VecDestroy(v));
        OK(MatDestroy(&A));
      }
}

// Elimination is exact. With columns scaled by their largest entries the condition number would be 10^15.
TEST_F(MultifrontalUnits, OfATriangularMatrix) // one rank
{
  if (!is_double) GTEST_SKIP() << "the numbers are those of double precision";
  const PetscReal diagonal[] = {3.5e31, 2.9e-9, 8.9e-28, 3.9e-7, 5.9e-3},
                  below[]    = {-1.3e7, 9.6e-17, 3.9e-27, 1.5e8};
  for (const char *leaf : {"0", "1", "2"}) {
    SCOPED_TRACE(leaf);
    const Option size("-chain_mat_multifrontal_leaf_size", leaf);
    Mat          A;
    Vec          x, y, b;
    OK(MatCreateSeqAIJ(PETSC_COMM_SELF, 5, 5, 2, nullptr, &A));
    for (PetscInt i = 0; i < 5; ++i) {
      OK(MatSetValue(A, i, i, diagonal[i], INSERT_VALUES));
      if (i > 0) {
        OK(MatSetValue(A, i, i - 1, below[i - 1], INSERT_VALUES));
      }
    }
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    y = vector_of(A, [](PetscInt i) { // substitution with one rounding per step
      const PetscScalar found[] = {0.3, -4e15, 4e26, -4e6, 1e17};
      return found[i];
    });
    OK(VecDuplicate(y, &x));
    OK(VecDuplicate(y, &b));
    OK(MatMult(A, y, b));
    const ByOptions    by(A);
    KSPConvergedReason reason;
    OK(KSPSolve(by.ksp, b, x));
    OK(KSPGetConvergedReason(by.ksp, &reason));
    EXPECT_GT(reason, 0) << view_of(by.factor());
    EXPECT_LE(componentwise(x, y), 1e-12) << view_of(by.factor());
    for (Vec *v : {&x, &y, &b}) OK(VecDestroy(v));
    OK(MatDestroy(&A));
  }
}

// -(k u')' with a coefficient k that grows from 10^-6 to 1: near rows are of one size, and band LU needs no scales.
TEST_F(MultifrontalUnits, RowsThatChangeSlowlyAreNotScaled) // one rank
{
  const PetscInt n = 2000;
  const auto     k = [&](PetscInt edge) {
    return std::pow(10., 6 * static_cast<PetscReal>(edge) / static_cast<PetscReal>(n) - 6);
  };
  Mat A;
  OK(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, nullptr, &A));
  for (PetscInt i = 0; i < n; ++i) {
    if (i > 0) {
      OK(MatSetValue(A, i, i - 1, -k(i), INSERT_VALUES));
    }
    if (i + 1 < n) {
      OK(MatSetValue(A, i, i + 1, -k(i + 1), INSERT_VALUES));
    }
    OK(MatSetValue(A, i, i, 1.1 * (k(i) + k(i + 1)), INSERT_VALUES));
  }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  const ByOptions by(A);
  EXPECT_LE(by.error(A), rounding);
  const std::string text = view_of(by.factor());
  EXPECT_TRUE(contains(text, "band LU on the host")) << text;
  EXPECT_FALSE(contains(text, "scaled by powers of two")) << text;
  OK(MatDestroy(&A));
}

// The solver does not scale for stencils of any symmetry, coefficients 1 and 1000, boundary rows of another
// size, and small changes of units. Factors are those of the given matrix.
TEST_F(MultifrontalUnits, EvenMatricesAreNotScaled)
{
  const PetscInt n = 200;
  for (const char *leaf : {"0", "6"})
    for (int kind = 0; kind < 6; ++kind) {
      SCOPED_TRACE("kind " + std::to_string(kind) + " leaf " + leaf);
      const Option size("-chain_mat_multifrontal_leaf_size", leaf);
      Mat          A = RandomChain{n, 1, 1}.matrix();
      PetscInt     first, end;
      // The coefficient to the left of this row.
      const auto k = [&](PetscInt edge) { return kind == 3 && edge > n / 3 ? 1000. : 1.; };
      OK(MatGetOwnershipRange(A, &first, &end));
      for (PetscInt i = first; i < end; ++i) {
        const bool is_boundary = kind == 4 && (i == 0 || i == n - 1);
        // Laplacian; upwind; almost one-sided; variable coefficients; rows of 1 next to 1 / h^2; units
        // 1.02^i.
        const PetscReal left   = is_boundary ? 0.
                                 : kind == 1 ? -2
                                 : kind == 2 ? -1
                                             : -k(i),
                        right  = is_boundary ? 0.
                                 : kind == 1 ? -0.1
                                 : kind == 2 ? -1e-6
                                             : -k(i + 1),
                        of_row = kind == 4 && !is_boundary ? n * n
                                 : kind == 5               ? std::pow(1.02, i)
                                                           : 1;
        if (i > 0) {
          OK(MatSetValue(A, i, i - 1, of_row * left, INSERT_VALUES));
        }
        if (i + 1 < n) {
          OK(MatSetValue(A, i, i + 1, of_row * right, INSERT_VALUES));
        }
        OK(MatSetValue(A, i, i, of_row * (is_boundary ? 1 : 0.1 - left - right), INSERT_VALUES));
      }
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      const ByOptions by(A);
      EXPECT_LE(by.error(A), rounding);
      const std::string text = view_of(by.factor());
      EXPECT_FALSE(contains(text, "scaled by powers of two")) << text;
      OK(MatDestroy(&A));
    }
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// MatGetInertia() of Cholesky factors, compared with LAPACK's eigenvalues, on every partition.
#include "chain_fixture.hpp"

using namespace test;

namespace {

class MultifrontalInertia : public Petsc { };

struct Counts {
  PetscInt negative = -1, zero = -1, positive = -1;
  bool     operator==(const Counts &o) const
  {
    return negative == o.negative && zero == o.zero && positive == o.positive;
  }
};
std::ostream &operator<<(std::ostream &to, const Counts &c)
{
  return to << c.negative << " negative, " << c.zero << " zero, " << c.positive << " positive";
}

/// Inertia of all rows, on every rank, from eigenvalues that PETSc computes with LAPACK.
Counts by_lapack(Mat A)
{
  Mat     *parts;
  IS       all;
  KSP      ksp;
  PC       pc;
  PetscInt n;
  Counts   counts{0, 0, 0};
  MatGetSize(A, &n, nullptr);
  std::vector<PetscReal> real(static_cast<std::size_t>(n)), imaginary(real);
  ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &all);
  MatCreateSubMatrices(A, 1, &all, &all, MAT_INITIAL_MATRIX, &parts);
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPSetOperators(ksp, parts[0], parts[0]);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCNONE);
  KSPSetUp(ksp);
  EXPECT_EQ(n > 0 ? KSPComputeEigenvaluesExplicitly(ksp, n, real.data(), imaginary.data()) : 0, 0)
    << last_error();
  for (PetscReal e : real)
    ++(PetscAbsReal(e) < 1000 * PETSC_MACHINE_EPSILON ? counts.zero
       : e < 0                                        ? counts.negative
                                                      : counts.positive);
  KSPDestroy(&ksp);
  MatDestroySubMatrices(1, &parts);
  ISDestroy(&all);
  return counts;
}

Counts inertia(Mat F)
{
  Counts c;
  EXPECT_EQ(MatGetInertia(F, &c.negative, &c.zero, &c.positive), 0) << last_error();
  return c;
}

/// Factors A - shift for every shift with the same factor matrix.
void check(Mat A, Mat twin, const std::vector<PetscReal> &shifts)
{
  const ByOptions by(A, "cholesky");
  for (PetscReal shift : shifts) {
    SCOPED_TRACE("shift " + std::to_string(shift));
    OK(MatShift(A, -shift));
    OK(MatShift(twin, -shift));
    OK(KSPSetOperators(by.ksp, A, A));
    OK(KSPSetUp(by.ksp));
    EXPECT_EQ(inertia(by.factor()), by_lapack(twin));
    OK(MatShift(A, shift));
    OK(MatShift(twin, shift));
  }
}

TEST_F(MultifrontalInertia, OfChainsOfAllKinds)
{
  for (const char *leaf : {"0", "7"}) {
    const Option size("-chain_mat_multifrontal_leaf_size", leaf);
    for (const RandomChain &chain :
         {RandomChain{60, 1, 1, false, 1, Values::hermitian},
          RandomChain{75, 3, 3, false, 1, Values::hermitian, 5},
          RandomChain{66, 2, 2, true, 1, Values::hermitian}, RandomChain{70, 1, 1, false, 1, Values::wave},
          RandomChain{64, 1, 1, true, 1, Values::wave}, RandomChain{36, 1, 1, true, 3, Values::wave},
          RandomChain{33, 0, 0, false, 1, Values::hermitian},
          RandomChain{58, 2, 2, false, 1, Values::hermitian, 3}.shuffle(),
          RandomChain{1, 0, 0, false, 1, Values::hermitian},
          RandomChain{0, 0, 0, false, 1, Values::hermitian},
          RandomChain{3, 2, 2, false, 1, Values::hermitian}}) {
      SCOPED_TRACE("chain of " + std::to_string(chain.n) + " rows, kl " + std::to_string(chain.kl) +
                   (chain.ring ? ", ring" : "") + ", leaf " + leaf);
      Mat A = chain.matrix(), twin = chain.matrix();
      check(A, twin, {0, 0.3, static_cast<PetscReal>(2 * chain.kl + 1), 1.19, -50, 50});
      OK(MatDestroy(&A));
      OK(MatDestroy(&twin));
    }
  }
}

TEST_F(MultifrontalInertia, OnRanksWithFewRowsOrNone)
{
  Draw draw(static_cast<std::uint64_t>(ranks));
  for (int round = 0; round < 10; ++round) {
    RandomChain chain{draw.between(1, 60), draw.between(0, 4), 0, false, 1, Values::hermitian, draw.next()};
    chain.ku          = chain.kl;
    chain.ring        = chain.n > 4 * chain.kl && draw.one_in(2);
    const auto  split = draw.split(chain.n, ranks, true);
    std::string text  = std::to_string(chain.n) + " rows, kl " + std::to_string(chain.kl) +
                       (chain.ring ? ", ring, rows" : ", rows");
    for (PetscInt r : split) text += " " + std::to_string(r);
    SCOPED_TRACE(text);
    Mat A    = chain.matrix(split[static_cast<std::size_t>(rank)]),
        twin = chain.matrix(split[static_cast<std::size_t>(rank)]);
    check(A, twin, {0, static_cast<PetscReal>(2 * chain.kl + 1), static_cast<PetscReal>(2 * chain.kl)});
    OK(MatDestroy(&A));
    OK(MatDestroy(&twin));
  }
}

TEST_F(MultifrontalInertia, OfBlocksWithTheUpperTriangleAlone)
{
  if (turned != PetscScalar(1)) GTEST_SKIP() << "SBAIJ matrices are symmetric, not Hermitian";
  for (PetscInt block = 1; block <= 3; ++block) {
    const RandomChain chain{block * 7 * ranks, block, block, false, 1, Values::hermitian};
    SCOPED_TRACE(block);
    Mat A = chain.matrix(7 * block, MATSBAIJ, block), twin = chain.matrix(7 * block);
    check(A, twin, {0, static_cast<PetscReal>(2 * block + 1)});
    OK(MatDestroy(&A));
    OK(MatDestroy(&twin));
  }
}

// The inertia of a singular matrix counts its zero eigenvalues, even if no pivot is zero.
TEST_F(MultifrontalInertia, OfSingularMatrices)
{
  for (bool ring : {false, true}) { // Open lines with free ends, or rings: one zero eigenvalue.
    const PetscInt n = 50;
    Mat            A = RandomChain{n, 1, 1, ring, 1, Values::wave}.matrix();
    PetscInt       begin, end;
    OK(MatGetOwnershipRange(A, &begin, &end));
    for (PetscInt i = begin; i < end; ++i)
      MatSetValue(A, i, i, !ring && (i == 0 || i == n - 1) ? 1 : 2, INSERT_VALUES);
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    {
      const ByOptions by(A, "cholesky");
      OK(KSPSetOperators(by.ksp, A, A));
      OK(KSPSetUp(by.ksp));
      EXPECT_EQ(inertia(by.factor()), (Counts{0, 1, n - 1}));
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(MultifrontalInertia, IsRefusedWhereThereIsNone)
{
  Mat      A = RandomChain{40, 1, 1}.matrix();
  PetscInt n;
  {
    const ByOptions by(A, "cholesky");
    OK(KSPSetOperators(by.ksp, A, A));
    OK(KSPSetUp(by.ksp));
    EXPECT_TRUE(contains(error_of([&] { return MatGetInertia(by.factor(), &n, nullptr, nullptr); }),
                         "multifrontal: MatGetInertia() of a matrix that is not "))
      << last_error();
    PetscInt begin, end;
    OK(MatGetOwnershipRange(A, &begin, &end));
    if (begin <= 20 && 20 < end)
      MatSetValue(A, 20, 20, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES);
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    OK(KSPSetOperators(by.ksp, A, A));
    OK(KSPSetUp(by.ksp));
    EXPECT_TRUE(contains(error_of([&] { return MatGetInertia(by.factor(), &n, nullptr, nullptr); }),
                         "multifrontal: MatGetInertia() of a matrix with NaN or Inf at column "))
      << last_error();
  }
  Factored f(A); // LU
  EXPECT_NE(MatGetInertia(f.F, &n, nullptr, nullptr), 0);
  OK(MatDestroy(&A));
}

} // namespace

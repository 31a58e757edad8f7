// SPDX-License-Identifier: BSD-2-Clause
// Options and refusals of the solver type multifrontal.
#include "chain_fixture.hpp"

using namespace test;

namespace {

class MultifrontalOptions : public Petsc { };
class MultifrontalErrors : public Petsc { };

TEST_F(MultifrontalOptions, EverySetHasAGet)
{
  Mat A = RandomChain{30, 1, 1}.matrix();
  {
    Factored f(A);
    PetscInt value = -1;
    OK(MatMultifrontalGetLeafSize(f.F, &value));
    EXPECT_EQ(value, 0);
    OK(MatMultifrontalSetLeafSize(f.F, 5));
    OK(MatMultifrontalGetLeafSize(f.F, &value));
    EXPECT_EQ(value, 5);
    OK(MatMultifrontalGetRefine(f.F, &value));
    EXPECT_EQ(value, 0);
    OK(MatMultifrontalSetRefine(f.F, 2));
    OK(MatMultifrontalGetRefine(f.F, &value));
    EXPECT_EQ(value, 2);
    EXPECT_EQ(error_of([&] { return MatMultifrontalSetLeafSize(f.F, -5); }),
              "-mat_multifrontal_leaf_size -5: at least 0");
    EXPECT_EQ(error_of([&] { return MatMultifrontalSetRefine(f.F, -1); }),
              "-mat_multifrontal_refine -1: at least 0");
  }
  OK(MatMultifrontalSetLeafSize(A, 5)); // not a factor: ignored
  OK(MatMultifrontalSetRefine(A, 5));
  PetscInt value;
  EXPECT_NE(error_of([&] { return MatMultifrontalGetLeafSize(A, &value); }), "");
  OK(MatDestroy(&A));
}

TEST_F(MultifrontalOptions, TakeThePrefixOfTheirMatrixOrPC)
{
  Mat    A = RandomChain{60, 1, 1}.matrix();
  Option mine("-mine_mat_multifrontal_leaf_size", "9"), chain("-chain_mat_multifrontal_leaf_size", "11"),
    steps("-chain_mat_multifrontal_refine", "1");
  {
    const ByOptions by(A);
    EXPECT_LE(by.error(A), rounding);
    PetscInt value = -1;
    OK(MatMultifrontalGetLeafSize(by.factor(), &value));
    EXPECT_EQ(value, 11);
    OK(MatMultifrontalGetRefine(by.factor(), &value));
    EXPECT_EQ(value, 1);
  }
  OK(MatSetOptionsPrefixFactor(A, "mine_"));
  {
    Factored f(A);
    PetscInt value = -1;
    OK(f.symbolic(A));
    OK(MatMultifrontalGetLeafSize(f.F, &value));
    EXPECT_EQ(value, 9);
  }
  OK(MatDestroy(&A));
}

TEST_F(MultifrontalOptions, BadValuesAreOneSentence)
{
  Mat A = RandomChain{60, 1, 1}.matrix();
  for (const auto &[name, text] : std::vector<std::pair<std::string, std::string>>{
         {"leaf_size", "-chain_mat_multifrontal_leaf_size -3: at least 0"},
         {"refine", "-chain_mat_multifrontal_refine -3: at least 0"}}) {
    const Option    bad("-chain_mat_multifrontal_" + name, "-3");
    const ByOptions by(A);
    EXPECT_EQ(error_of([&] { return KSPSetUp(by.ksp); }), text);
  }
  for (const char *value : {"-1", "nan", "inf"}) {
    const ByOptions by(A);
    PC              pc;
    OK(KSPGetPC(by.ksp, &pc));
    OK(PCFactorSetZeroPivot(pc, std::strtod(value, nullptr)));
    EXPECT_TRUE(contains(error_of([&] { return KSPSetUp(by.ksp); }),
                         std::string("multifrontal: -pc_factor_zeropivot ") + value))
      << last_error();
  }
  OK(MatDestroy(&A));
}

TEST_F(MultifrontalErrors, ColumnsThatAreNotInOrder) // one rank
{
  PetscInt    row_begin[] = {0, 2, 5, 7}, columns[] = {0, 1, 2, 1, 0, 1, 2};
  PetscScalar values[] = {4, -1, -1, 4, -1, -1, 4};
  Mat         A;
  OK(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3, 3, row_begin, columns, values, &A));
  {
    Factored f(A);
    EXPECT_EQ(error_of([&] { return f.symbolic(A); }),
              "multifrontal: the columns of a row are not in ascending order (row 1 of a rank)");
  }
  OK(MatDestroy(&A));
}

/// log|det A|, and 1 / (||A|| ||A^-1||) in 1-norms. Powers of two scale the largest entries of rows to
/// between 1/2 and 1. Computed by Gauss-Jordan elimination with row exchanges.
std::pair<PetscReal, PetscReal> by_dense_elimination(const RandomChain &chain)
{
  const auto               n = static_cast<std::size_t>(chain.n);
  std::vector<PetscScalar> a(2 * n * n, 0.); // the matrix next to its inverse
  const auto at   = [&](std::size_t i, std::size_t j) -> PetscScalar   &{ return a[i * 2 * n + j]; };
  const auto norm = [&](std::size_t first) {
    PetscReal largest = 0;
    for (std::size_t j = first; j < first + n; ++j) {
      PetscReal sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += PetscAbsScalar(at(i, j));
      largest = std::max(largest, sum);
    }
    return largest;
  };
  for (PetscInt i = 0; i < chain.n; ++i) {
    at(static_cast<std::size_t>(i), n + static_cast<std::size_t>(i)) = 1;
    for (PetscInt d = -chain.kl; d <= chain.ku; ++d)
      if (chain.ring || (i + d >= 0 && i + d < chain.n))
        at(static_cast<std::size_t>(i), static_cast<std::size_t>((i + d + chain.n) % chain.n)) =
          chain.entry(i, d);
  }
  PetscReal log_det = 0;
  for (std::size_t i = 0; i < n; ++i) {
    PetscReal largest  = 0;
    int       exponent = 0;
    for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, PetscAbsScalar(at(i, j)));
    std::frexp(largest, &exponent);
    for (std::size_t j = 0; j < n; ++j) at(i, j) *= std::ldexp(PetscReal(1), -exponent);
    log_det += std::log(PetscReal(2)) * static_cast<PetscReal>(exponent);
  }
  const PetscReal size = norm(0);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (PetscAbsScalar(at(i, k)) > PetscAbsScalar(at(pivot, k))) pivot = i;
    std::swap_ranges(&at(k, 0), &at(k, 0) + 2 * n, &at(pivot, 0));
    log_det += std::log(PetscAbsScalar(at(k, k)));
    for (std::size_t j = 2 * n; j-- > k;) at(k, j) /= at(k, k);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 2 * n; i != k && j-- > k;) at(i, j) -= at(i, k) * at(k, j);
  }
  return {log_det, 1 / (size * norm(n))};
}

/// The value after some words of a text.
double number_after(const std::string &text, const std::string &words)
{
  const auto at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words << "? " << text;
  return at == std::string::npos ? 0 : std::atof(text.c_str() + at + words.size());
}

TEST_F(MultifrontalOptions, ViewSaysWhatWasFound)
{
  struct Seen {
    RandomChain chain;
    std::string words;
    int         levels;
  };
  for (const auto &[chain, words, levels] :
       {Seen{{120, 1, 2}, "multifrontal: 1 chain(s) of 120 rows, kl 1, ku 2\n", 4},
        Seen{{120, 2, 1, true}, "multifrontal: 1 ring(s) of 120 rows, kl 2, ku 1\n", 5},
        Seen{RandomChain{120, 1, 1}.shuffle(),
             "multifrontal: 1 chain(s) of 120 rows, kl 1, ku 1, ordered by reverse Cuthill-McKee", 4}})
    for (bool spread :
         {false, true}) { // over all ranks, or on the last one: rank 0, which writes, has no rows then
      Mat               A    = chain.matrix(spread ? PETSC_DECIDE : rank == ranks - 1 ? 120 : 0);
      const std::string file = testing::TempDir() + "ribbon_multifrontal_view_" + std::to_string(ranks);
      const Option      leaf("-chain_mat_multifrontal_leaf_size", "9"),
        view("-chain_mat_multifrontal_view", "ascii:" + file);
      std::string text, of_option;
      {
        const ByOptions by(A);
        EXPECT_LE(by.error(A), rounding);
        text = printed([&](PetscViewer viewer) {
          PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO);
          return MatView(by.factor(), viewer);
        });
      }
      const auto [log_det, rcond] = by_dense_elimination(chain);
      EXPECT_TRUE(contains(text, words)) << text;
      EXPECT_TRUE(contains(text, "QR on the ")) << text;
      if (!spread || ranks == 1 || !chain.row_of.empty()) { // one sub-line
        const bool tiles = chain.kl + chain.ku == 2 && std::is_same_v<PetscScalar, double>;
        EXPECT_TRUE(contains(text, " 13 leaves, " + std::to_string(levels) + " levels, " +
                                     (tiles ? "1" : "2") + " kernels for each way of a solve, 0 steps"))
          << text;
      }
      EXPECT_GT(number_after(text, "steps of refinement\n"),
                1e-6 * 120 * static_cast<double>(chain.kl + chain.ku + 1) * sizeof(PetscScalar))
        << "MB";
      EXPECT_NEAR(number_after(text, "log|det| "), log_det, 1e-8 * log_det + 1000 * PETSC_MACHINE_EPSILON);
      EXPECT_LE(number_after(text, "backward error of a random right-hand side "), rounding);
      EXPECT_LE(number_after(text, "reciprocal condition estimate (1-norm) "), 10 * rcond);
      // ||A^-1|| is estimated from below
      EXPECT_GE(number_after(text, "reciprocal condition estimate (1-norm) "), 0.9 * rcond);
      // The viewer of the option is closed now.
      if (rank == 0) {
        FILE *in = fopen(file.c_str(), "r");
        ASSERT_NE(in, nullptr);
        for (int c = fgetc(in); c != EOF; c = fgetc(in)) of_option += static_cast<char>(c);
        fclose(in);
        remove(file.c_str());
        int lines = 0; // without the header of MatView()
        for (std::size_t at = 0; at < of_option.size(); at = of_option.find('\n', at) + 1, ++lines)
          EXPECT_TRUE(contains(text, of_option.substr(at, of_option.find('\n', at) + 1 - at))) << of_option;
        EXPECT_EQ(lines, 4) << of_option;
      }
      OK(MatDestroy(&A));
    }
}

// Rows 66 and 67 couple only with each other, and are nearly equal.
TEST_F(MultifrontalOptions, ViewNamesTheSmallestPivot)
{
  for (const char *leaf : {"0", "9"}) {
    const Option size("-chain_mat_multifrontal_leaf_size", leaf);
    Mat          A = RandomChain{90, 1, 1}.matrix();
    PetscInt     begin, end;
    OK(MatGetOwnershipRange(A, &begin, &end));
    const auto set = [&](PetscInt i, PetscInt j, PetscScalar value) {
      if (begin <= i && i < end) MatSetValue(A, i, j, value, INSERT_VALUES);
    };
    for (PetscInt i : {66, 67})
      for (PetscInt j = i - 1; j <= i + 1; ++j)
        set(i, j, j == 66 || j == 67 ? (i == 67 && j == 67 ? 1.001 : 1.) : 0.);
    set(65, 66, 0.), set(68, 67, 0.);
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    {
      const ByOptions by(A);
      OK(KSPSetUp(by.ksp));
      const std::string text   = printed([&](PetscViewer viewer) {
        PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO);
        return MatView(by.factor(), viewer);
      });
      const double      pivot  = number_after(text, "smallest pivot ");
      const double      column = number_after(text, "of the largest entry in column ");
      EXPECT_GE(pivot, 4e-4) << text;
      EXPECT_LE(pivot, 2e-3) << text;
      EXPECT_TRUE(column == 66 || column == 67) << text; // the later one in the tree
      EXPECT_FALSE(contains(text, "backward error")) << "not asked for";
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(MultifrontalOptions, ViewersOfOtherKindsGetNothing)
{
  Mat               A    = RandomChain{60, 1, 2}.matrix();
  const std::string file = testing::TempDir() + "ribbon_multifrontal_binary_" + std::to_string(ranks);
  const Option      view("-chain_mat_multifrontal_view", "binary:" + file);
  {
    const ByOptions by(A);
    EXPECT_LE(by.error(A), rounding);
  }
  if (rank == 0) remove(file.c_str()), remove((file + ".info").c_str());
  OK(MatDestroy(&A));
}

// PETSc then factors the matrix by its own type, with a null ordering.
TEST_F(MultifrontalErrors, FactorsInPlace)
{
  for (const char *factorization : {"lu", "cholesky"}) {
    SCOPED_TRACE(factorization);
    Mat          A = RandomChain{30, 1, 1}.matrix();
    const Option in_place("-chain_pc_factor_in_place", "1"), pc("-chain_pc_type", factorization),
      package("-chain_pc_factor_mat_solver_type", "multifrontal");
    KSP ksp;
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "chain_"));
    OK(KSPSetOperators(ksp, A, A));
    EXPECT_EQ(
      error_of([&] { return KSPSetFromOptions(ksp) ? PETSC_ERR_SUP : KSPSetUp(ksp); }),
      "multifrontal: -chain_pc_factor_in_place: the solver type keeps its factors apart from the matrix");
    OK(KSPDestroy(&ksp));
    OK(MatDestroy(&A));
  }
}

TEST_F(MultifrontalErrors, MatricesOfTwoDimensions)
{
  Grid              grid({40, 40}, {1, 1});
  const ByOptions   by(grid.A);
  const std::string text = error_of([&] { return KSPSetUp(by.ksp); });
  EXPECT_TRUE(contains(text, "multifrontal: the matrix is no chain: half-bandwidth ")) << text;
  EXPECT_TRUE(contains(text, ", at most 32; problems of two and three dimensions are for "
                             "-pc_factor_mat_solver_type petsc, mumps or superlu_dist"))
    << text;
}

TEST_F(MultifrontalErrors, BandsOneWiderThanTheWidest)
{
  for (const RandomChain &chain : {RandomChain{90, 33, 1}, RandomChain{90, 0, 33}}) {
    Mat A = chain.matrix();
    {
      const ByOptions by(A); // Multifrontal.SolvesChainsOfAllKindsByOptions covers 32
      EXPECT_EQ(error_of([&] { return KSPSetUp(by.ksp); }),
                "multifrontal: the matrix is no chain: half-bandwidth 33 in its own order, 33 after reverse "
                "Cuthill-McKee, at most 32; problems of two and three "
                "dimensions are for -pc_factor_mat_solver_type petsc, mumps or superlu_dist");
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(MultifrontalErrors, AFactorThatWasRefusedFactorsTheNextMatrix)
{
  Grid grid({40, 40}, {1, 1});
  Mat  A = RandomChain{1600, 1, 1}.matrix(local_rows(grid.A));
  {
    Factored f(A);
    OK(f.symbolic(A));
    OK(f.numeric(A));
    EXPECT_NE(error_of([&] { return f.symbolic(grid.A); }), "");
    // No data of refused or earlier matrices remain.
    EXPECT_NE(error_of([&] { return f.numeric(grid.A); }), "");
    Vec b = random_vector(A), x;
    OK(VecDuplicate(b, &x));
    OK(f.symbolic(A));
    OK(f.numeric(A));
    OK(MatSolve(f.F, b, x));
    EXPECT_LE(backward_error(A, x, b), rounding);
    OK(VecDestroy(&b));
    OK(VecDestroy(&x));
  }
  OK(MatDestroy(&A));
}

TEST_F(MultifrontalErrors, MatricesThatAreNotSquare)
{
  Mat A;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 8, 9, 1, nullptr, 1, nullptr, &A));
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  {
    Factored f(A);
    EXPECT_EQ(error_of([&] { return f.symbolic(A); }),
              "multifrontal: a matrix of 8 rows and 9 columns is not square");
  }
  OK(MatDestroy(&A));
  if (ranks == 1) return;
  const PetscInt extra = rank == 0 ? 1 : rank == ranks - 1 ? -1 : 0;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, 4, 4 + extra, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr, 1, nullptr,
                  &A));
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  {
    Factored f(A);
    EXPECT_EQ(error_of([&] { return f.symbolic(A); }),
              "multifrontal: ranks have other columns than rows of the matrix");
  }
  OK(MatDestroy(&A));
}

TEST_F(MultifrontalErrors, RightHandSidesThatAreNotDense)
{
  Mat A = RandomChain{30, 1, 1}.matrix(), X;
  OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 30, 30, nullptr, &X));
  {
    Factored f(A);
    OK(f.symbolic(A));
    OK(f.numeric(A));
    EXPECT_TRUE(contains(error_of([&] { return MatMatSolve(f.F, A, X); }),
                         "multifrontal: MatMatSolve() takes dense matrices, not "))
      << last_error();
  }
  OK(MatDestroy(&A));
  OK(MatDestroy(&X));
}

} // namespace

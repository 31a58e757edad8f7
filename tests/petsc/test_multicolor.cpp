// SPDX-License-Identifier: BSD-2-Clause
// PC multicolor, compared with a serial reference and with PCSOR of a permuted matrix.
#include "multicolor_fixture.hpp"

#include <petscksp.h>

#include <cmath>

namespace {

using namespace test;

class PCMulticolor : public MulticolorTest { };

/// A request from random bits.
ColorRequest random_request(std::mt19937_64 &g)
{
  const auto   pick = [&](int n) { return static_cast<int>(g() % static_cast<std::uint64_t>(n)); };
  ColorRequest q;
  q.direction = static_cast<MatSORType>(1 + pick(3));
  q.omega     = pick(2) ? PetscReal(1) : static_cast<PetscReal>(0.4 + 0.2 * pick(7));
  q.shift     = pick(3) ? PetscReal(0) : static_cast<PetscReal>(0.5);
  q.its = 1 + pick(3), q.lits = 1 + pick(2);
  q.cut = pick(2) ? PC_MULTICOLOR_CUT_EXACT : PC_MULTICOLOR_CUT_LOCAL;
  return q;
}

/// Applies a PC from zero, and Richardson's iteration from a guess, and compares both with the reference.
void expect_as_reference(const MulticolorPC &m, const DenseSweeps &reference, const ColorRequest &q)
{
  m.set(q);
  OK(PCSetUp(m.pc));
  const auto               b = MulticolorPC::all(m.b);
  std::vector<PetscScalar> x(b.size(), 0);
  reference.apply(q, b, x);
  OK(VecSet(m.x, static_cast<PetscReal>(NAN))); // is not read
  OK(PCApply(m.pc, m.b, m.x));
  EXPECT_LT(m.difference(x), color_rounding);
  // two steps of Richardson's iteration without norms from a guess
  KSP ksp;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPRICHARDSON));
  OK(KSPSetPC(ksp, m.pc));
  OK(KSPSetNormType(ksp, KSP_NORM_NONE));
  OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 2));
  OK(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  OK(deactivate_dm(ksp));
  MulticolorPC::fill(m.x, 3);
  x = MulticolorPC::all(m.x);
  for (int k = 0; k < 2; ++k) reference.apply(q, b, x);
  OK(KSPSolve(ksp, m.b, m.x));
  EXPECT_LT(m.difference(x), color_rounding);
  OK(KSPDestroy(&ksp));
}

/// Grids in one to three dimensions, of which ranks own boxes.
TEST_F(PCMulticolor, RelaxesGridsAsTheReference)
{
  const std::vector<std::vector<PetscInt>> sizes = {{23}, {9, 8}, {6, 5, 7}, {8, 8}};
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 g(seed);
    const auto     &n        = sizes[seed % 4];
    const PetscInt  width    = seed % 5 == 0 ? 2 : 1;
    const bool      periodic = seed % 4 == 3 && width == 1; // 8 x 8: two colours divide the period
    const Grid      grid(n, {1, 2, 0.5}, 1, periodic, {}, false, width);
    MulticolorPC    m(grid.A, seed % 2 ? grid.da : nullptr); // otherwise the matrix has the DMDA
    DenseSweeps     reference(grid.A, 1);
    // colours by the coordinates in the numbering of PETSc
    std::vector<PetscInt> color(static_cast<std::size_t>(reference.n), 0);
    PetscInt              begin[3], size[3], at;
    OK(DMDAGetCorners(grid.da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]));
    OK(MatGetOwnershipRange(grid.A, &at, nullptr));
    for (PetscInt z = begin[2]; z < begin[2] + size[2]; ++z)
      for (PetscInt y = begin[1]; y < begin[1] + size[1]; ++y)
        for (PetscInt x = begin[0]; x < begin[0] + size[0]; ++x)
          color[static_cast<std::size_t>(at++)] = (x + y + z) % (width + 1);
    MPI_Allreduce(MPI_IN_PLACE, color.data(), static_cast<int>(color.size()), MPIU_INT, MPI_SUM,
                  PETSC_COMM_WORLD);
    for (PetscInt c : color) reference.color.push_back(static_cast<int>(c));
    expect_as_reference(m, reference, random_request(g));
    PetscInt    colors, block;
    const char *how;
    OK(PCMulticolorGetColors(m.pc, &colors, &block, &how));
    EXPECT_EQ(colors, width + 1);
    EXPECT_EQ(block, 1);
    EXPECT_TRUE(contains(how, "grid of")) << how;
    EXPECT_TRUE(contains(how, seed % 2 ? "DMDA of the PC" : "DMDA of the matrix")) << how;
  }
}

/// Graphs with blocks of 1 to 8 rows, and patterns that are not symmetric.
TEST_F(PCMulticolor, RelaxesGraphsAsTheReference)
{
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 g(seed);
    const auto      pick  = [&](int n) { return static_cast<int>(g() % static_cast<std::uint64_t>(n)); };
    const PetscInt  block = seed <= 8 ? static_cast<PetscInt>(seed) : 1 + pick(4);
    Mat             A     = random_blocks(g, 3 + pick(30), block, pick(4), pick(2) == 0);
    ColorRequest    q     = random_request(g);
    const auto      wanted =
      q.cut == PC_MULTICOLOR_CUT_LOCAL && pick(2) ? PC_MULTICOLOR_COLORING_GREEDY : PC_MULTICOLOR_COLORING_JP;
    {
      MulticolorPC m(A);
      DenseSweeps  reference(A, block);
      if (wanted == PC_MULTICOLOR_COLORING_GREEDY) reference.color_greedily();
      else reference.color_in_parallel(q.cut == PC_MULTICOLOR_CUT_EXACT);
      OK(PCMulticolorSetColoring(m.pc, wanted));
      expect_as_reference(m, reference, q);
      PetscInt rows;
      OK(PCMulticolorGetColors(m.pc, nullptr, &rows, nullptr));
      EXPECT_EQ(rows, block);
    }
    OK(MatDestroy(&A));
  }
}

/// The Gauss-Seidel of PETSc on the rows in the order of their colours.
TEST_F(PCMulticolor, EqualsSorOfThePermutedMatrix) // one rank
{
  const PetscInt        n = 12;
  const Grid            grid({n, n}, {1, 3});
  Mat                   host, permuted;
  IS                    order;
  Vec                   b, x;
  PC                    sor;
  std::vector<PetscInt> rows;
  for (PetscInt color = 0; color < 2; ++color)
    for (PetscInt i = 0; i < n * n; ++i)
      if ((i % n + i / n) % 2 == color) rows.push_back(i);
  OK(ISCreateGeneral(PETSC_COMM_WORLD, n * n, rows.data(), PETSC_COPY_VALUES, &order));
  OK(MatConvert(grid.A, MATAIJ, MAT_INITIAL_MATRIX, &host));
  OK(MatPermute(host, order, order, &permuted));
  OK(PCCreate(PETSC_COMM_WORLD, &sor));
  OK(PCSetType(sor, PCSOR));
  OK(PCSetOperators(sor, permuted, permuted));
  OK(MatCreateVecs(permuted, &x, &b));
  for (int k = 0; k < 12; ++k) {
    SCOPED_TRACE(k);
    ColorRequest q;
    q.direction = static_cast<MatSORType>(1 + k % 3);
    q.omega = k % 2 ? PetscReal(1.3) : PetscReal(1), q.its = 1 + k / 6;
    MulticolorPC m(grid.A, grid.da);
    m.set(q);
    OK(PCApply(m.pc, m.b, m.x));
    OK(PCSORSetSymmetric(sor, q.direction));
    OK(PCSORSetOmega(sor, q.omega));
    OK(PCSORSetIterations(sor, q.its, 1));
    const auto   values = MulticolorPC::all(m.b);
    PetscScalar *to;
    OK(VecGetArray(b, &to));
    for (std::size_t i = 0; i < rows.size(); ++i) to[i] = values[static_cast<std::size_t>(rows[i])];
    OK(VecRestoreArray(b, &to));
    OK(PCApply(sor, b, x));
    const auto               found = MulticolorPC::all(x);
    std::vector<PetscScalar> expected(found.size());
    for (std::size_t i = 0; i < rows.size(); ++i) expected[static_cast<std::size_t>(rows[i])] = found[i];
    EXPECT_LT(m.difference(expected), color_rounding);
  }
  OK(PCDestroy(&sor));
  OK(VecDestroy(&b));
  OK(VecDestroy(&x));
  OK(ISDestroy(&order));
  OK(MatDestroy(&permuted));
  OK(MatDestroy(&host));
}

/// Natural numbering without a DMDA shows the grid. A local cut is block Jacobi over the ranks.
TEST_F(PCMulticolor, FindsGridsInThePattern)
{
  const PetscInt n = 12;
  Mat            A = matrix(
               n * n, [](PetscInt i, PetscInt j) { return i == j ? 4.5 : -1.; },
               [n](PetscInt i, PetscInt j) {
      return i == j || (std::abs(i - j) == 1 && i / n == j / n) || std::abs(i - j) == n;
    });
  {
    MulticolorPC m(A);
    OK(PCSetUp(m.pc));
    const char *how;
    PetscInt    colors;
    OK(PCMulticolorGetColors(m.pc, &colors, nullptr, &how));
    EXPECT_EQ(colors, 2);
    EXPECT_TRUE(contains(how, "pattern of the matrix")) << how;
    DenseSweeps reference(A, 1);
    for (PetscInt i = 0; i < n * n; ++i) reference.color.push_back(static_cast<int>((i % n + i / n) % 2));
    ColorRequest q;
    q.cut = PC_MULTICOLOR_CUT_EXACT;
    expect_as_reference(m, reference, q);
  }
  OK(MatDestroy(&A));
}

/// Chains, and rings of an even length, are grids of one dimension.
TEST_F(PCMulticolor, FindsChainsAndRings)
{
  for (int kind = 0; kind < 3; ++kind) {
    SCOPED_TRACE(kind);
    const PetscInt n = kind == 2 ? 41 : 40;
    Mat            A = matrix(
                 n, [](PetscInt i, PetscInt j) { return i == j ? 5. : -1.; },
                 [&](PetscInt i, PetscInt j) { return std::abs(i - j) <= 1 || (kind > 0 && std::abs(i - j) == n - 1); });
    {
      MulticolorPC m(A);
      PetscInt     colors;
      OK(PCMulticolorSetColoring(m.pc, kind < 2 ? PC_MULTICOLOR_COLORING_GRID : PC_MULTICOLOR_COLORING_AUTO));
      OK(PCMulticolorSetCut(m.pc, PC_MULTICOLOR_CUT_EXACT));
      OK(PCSetUp(m.pc));
      OK(PCMulticolorGetColors(m.pc, &colors, nullptr, nullptr));
      if (kind < 2) EXPECT_EQ(colors, 2);
      else EXPECT_GE(colors, 3);
    }
    OK(MatDestroy(&A));
  }
}

/// Two colours suffice for a chain in any order of its rows.
TEST_F(PCMulticolor, FindsTwoColorsInAnyOrder)
{
  const PetscInt n  = 40;
  const auto     at = [n](PetscInt i) { return i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1; };
  Mat            A  = matrix(
                n, [](PetscInt i, PetscInt j) { return i == j ? 5. : -1.; },
                [&](PetscInt i, PetscInt j) { return std::abs(at(i) - at(j)) <= 1; });
  {
    MulticolorPC m(A);
    DenseSweeps  reference(A, 1);
    PetscInt     colors;
    const char  *how;
    OK(PCSetUp(m.pc));
    OK(PCMulticolorGetColors(m.pc, &colors, nullptr, &how));
    EXPECT_EQ(colors, 2);
    if (ranks == 1) {
      EXPECT_TRUE(contains(how, "no odd cycle")) << how;
      for (PetscInt i = 0; i < n; ++i) reference.color.push_back(static_cast<int>(at(i) % 2));
      expect_as_reference(m, reference, ColorRequest{});
    }
  }
  OK(MatDestroy(&A));
}

/// A matrix of another type with the entries of A, entry by entry: MatConvert() to MATSELL of PETSc 3.24
/// takes the numbers of columns wrong on two ranks.
void sell_of(Mat A, Mat *sell)
{
  PetscInt lo, hi, columns, n;
  OK(MatGetOwnershipRange(A, &lo, &hi));
  OK(MatGetSize(A, nullptr, &columns));
  OK(MatCreateSELL(PETSC_COMM_WORLD, hi - lo, hi - lo, columns, columns, columns, nullptr, columns, nullptr,
                   sell));
  for (PetscInt i = lo; i < hi; ++i) {
    const PetscInt    *j;
    const PetscScalar *v;
    OK(MatGetRow(A, i, &n, &j, &v));
    OK(MatSetValues(*sell, 1, &i, n, j, v, INSERT_VALUES));
    OK(MatRestoreRow(A, i, &n, &j, &v));
  }
  OK(MatAssemblyBegin(*sell, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(*sell, MAT_FINAL_ASSEMBLY));
}

/// Other types have the results of AIJ.
TEST_F(PCMulticolor, TakesMatricesOfOtherTypes)
{
  std::mt19937_64 g(5);
  Mat             A = random_blocks(g, 24, 2, 3, true), symmetric, T;
  OK(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  OK(MatDuplicate(A, MAT_COPY_VALUES, &symmetric));
  OK(MatAXPY(symmetric, 1, T, DIFFERENT_NONZERO_PATTERN));
  OK(MatSetOption(symmetric, MAT_SYMMETRIC, PETSC_TRUE));
  for (const char *type : {MATBAIJ, MATSBAIJ, MATDENSE, MATSELL, "nest"}) {
    SCOPED_TRACE(type);
    Mat other, host;
    OK(MatConvert(symmetric, MATAIJ, MAT_INITIAL_MATRIX, &host));
    OK(MatSetOption(host, MAT_SYMMETRIC, PETSC_TRUE));
    if (std::string(type) == "nest")
      OK(MatCreateNest(PETSC_COMM_WORLD, 1, nullptr, 1, nullptr, &host, &other));
    else if (std::string(type) == MATSELL) sell_of(host, &other);
    else OK(MatConvert(host, type, MAT_INITIAL_MATRIX, &other));
    PetscInt block;
    OK(MatGetBlockSize(other, &block)); // a nested or dense matrix may lose it
    {
      MulticolorPC m(other, nullptr, host); // MATSELL of PETSc 3.18 makes vectors without a layout
      DenseSweeps  reference(host, block);
      reference.color_in_parallel(false);
      OK(PCMulticolorSetColoring(m.pc, PC_MULTICOLOR_COLORING_JP));
      expect_as_reference(m, reference, ColorRequest{});
    }
    OK(MatDestroy(&other));
    OK(MatDestroy(&host));
  }
  for (Mat *M : {&A, &symmetric, &T}) OK(MatDestroy(M));
}

/// Kronecker products are multiplied out.
TEST_F(PCMulticolor, TakesKroneckerProducts)
{
  std::mt19937_64 g(6);
  Mat             A = random_blocks(g, 20, 1, 3, true), host, M;
  OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &host));
  OK(MatCreateMAIJ(host, 3, &M));
  {
    MulticolorPC m(M);
    OK(PCSetUp(m.pc));
    Mat aij;
    OK(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    DenseSweeps reference(aij, 1);
    PetscInt    block;
    OK(PCMulticolorGetColors(m.pc, nullptr, &block, nullptr));
    reference.block = block;
    reference.color_in_parallel(false);
    OK(PCMulticolorSetColoring(m.pc, PC_MULTICOLOR_COLORING_JP));
    expect_as_reference(m, reference, ColorRequest{});
    OK(MatDestroy(&aij));
  }
  for (Mat *matrix : {&A, &host, &M}) OK(MatDestroy(matrix));
}

/// More sweeps than a sequence of steps has.
TEST_F(PCMulticolor, RepeatsSweeps)
{
  const Grid   grid({7, 6}, {1, 1});
  MulticolorPC m(grid.A, grid.da), one(grid.A, grid.da);
  OK(PCMulticolorSetIterations(m.pc, 7, 3));
  OK(PCMulticolorSetCut(m.pc, PC_MULTICOLOR_CUT_EXACT));
  OK(PCMulticolorSetCut(one.pc, PC_MULTICOLOR_CUT_EXACT));
  OK(PCApply(m.pc, m.b, m.x));
  OK(VecSet(one.x, 0));
  for (int k = 0; k < 21; ++k) { // x += M (b - A x)
    Vec r, d;
    OK(VecDuplicate(one.b, &r));
    OK(VecDuplicate(one.b, &d));
    OK(MatResidual(grid.A, one.b, one.x, r));
    OK(PCApply(one.pc, r, d));
    OK(VecAXPY(one.x, 1, d));
    OK(VecDestroy(&r));
    OK(VecDestroy(&d));
  }
  EXPECT_LT(m.difference(MulticolorPC::all(one.x)), color_rounding);
}

/// A symmetric sweep of a symmetric matrix equals its transpose.
TEST_F(PCMulticolor, IsSymmetric)
{
  const WithoutPhases real;
  Grid                grid({9, 8}, {1, 2});
  OK(MatSetOption(grid.A, MAT_SYMMETRIC, PETSC_TRUE));
  for (PCMulticolorCut cut : {PC_MULTICOLOR_CUT_LOCAL, PC_MULTICOLOR_CUT_EXACT}) {
    MulticolorPC m(grid.A, grid.da);
    PetscScalar  left, right;
    Vec          v, w;
    OK(PCMulticolorSetCut(m.pc, cut));
    OK(VecDuplicate(m.b, &v));
    OK(VecDuplicate(m.b, &w));
    MulticolorPC::fill(v, 5);
    OK(PCApply(m.pc, m.b, m.x)); // (v, M b) = (M v, b)
    OK(PCApply(m.pc, v, w));
    OK(VecTDot(m.x, v, &left));
    OK(VecTDot(w, m.b, &right));
    EXPECT_LT(PetscAbsScalar(left - right), color_rounding * PetscAbsScalar(left));
    OK(PCApplyTranspose(m.pc, v, m.x));
    EXPECT_LT(m.difference(MulticolorPC::all(w)), color_rounding);
    OK(VecDestroy(&v));
    OK(VecDestroy(&w));
  }
}

} // namespace

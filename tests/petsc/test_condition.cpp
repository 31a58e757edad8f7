// SPDX-License-Identifier: BSD-2-Clause
// Information of PC line about its factors: condition, growth, determinants, and reasons of failures.
#include "fixture.hpp"
#include "sweep_reference.hpp"

#include <cmath>
#include <limits>

using namespace test;

namespace {

class PCLineCondition : public Petsc { };

struct Info {
  PetscReal   rcond = -1, growth = -1, log_abs_det = -1;
  PetscInt    row  = -2;
  PetscScalar sign = 0;
  explicit Info(PC pc)
  {
    EXPECT_EQ(PCLineGetFactorInfo(pc, &rcond, &row, &growth, &log_abs_det, &sign), 0) << last_error();
  }
};

/// log |det| and det / |det| of a dense matrix, by elimination with partial pivoting.
std::pair<PetscReal, PetscScalar> determinant(Numbers a, std::size_t n)
{
  PetscReal   log  = 0;
  PetscScalar sign = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (PetscAbsScalar(a[i * n + k]) > PetscAbsScalar(a[p * n + k])) p = i;
    if (p != k) sign = -sign;
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[p * n + j]);
    log += std::log(PetscAbsScalar(a[k * n + k])), sign *= a[k * n + k] / PetscAbsScalar(a[k * n + k]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const PetscScalar f = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
    }
  }
  return {log, sign};
}

TEST_F(PCLineCondition, DeterminantsAreThoseOfTheMatrix)
{
  for (const bool periodic : {false, true})
    for (const PetscInt width : {1, 2})
      for (const PetscReal sign : {1., -1.})
        for (const bool varied : {false, true}) {
          const Grid grid({9, 3 * ranks}, {2, 0}, 0.3, periodic, {1, ranks}, false, width);
          Vec        scale;
          PetscInt   begin, end;
          OK(MatCreateVecs(grid.A, nullptr, &scale));
          OK(VecGetOwnershipRange(scale, &begin, &end));
          for (PetscInt r = begin; r < end; ++r) {
            OK(VecSetValue(scale, r, sign * (varied ? 1 + static_cast<PetscReal>(r % 7) / 5 : 3.),
                           INSERT_VALUES));
          }
          OK(VecAssemblyBegin(scale));
          OK(VecAssemblyEnd(scale));
          OK(MatDiagonalScale(grid.A, scale, nullptr));
          OK(VecDestroy(&scale));
          const Dense dense(grid.A, grid.da);
          const auto [log, unit] = determinant(dense.a, dense.n);
          for (PCLineOrdering ordering : {PC_LINE_ORDERING_JACOBI, PC_LINE_ORDERING_ZEBRA})
            for (const PetscReal omega : {1., 0.7}) {
              Line line(grid.A, grid.da);
              OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
              OK(PCLineSetOrdering(line.pc, ordering));
              OK(PCLineSetOmega(line.pc, omega));
              OK(PCSetUp(line.pc));
              const Info info(line.pc);
              EXPECT_NEAR(info.log_abs_det, log, 1e-10) << line.view();
              EXPECT_LT(PetscAbsScalar(info.sign - unit), 1e-10) << line.view();
              EXPECT_GT(info.rcond, 1e-4); // a lower bound for certified lines
              EXPECT_LE(info.rcond, 1);
              EXPECT_TRUE(contains(line.view(), "smallest reciprocal condition number of a line "))
                << line.view();
              EXPECT_TRUE(contains(line.view(), ", log |det| ")) << line.view();
              EXPECT_FALSE(contains(line.view(), "remark: a line is ill-conditioned")) << line.view();
            }
        }
}

TEST_F(PCLineCondition, OfBlocksPackedLinesAndSinglePrecision)
{
  Mat A = matrix(
    24 * ranks,
    [](PetscInt r, PetscInt c) {
      return PetscScalar(r == c ? 5.3 : -0.3 - 0.1 * static_cast<PetscReal>((3 * r + c) % 7));
    },
    [](PetscInt r, PetscInt c) { return r / 24 == c / 24 && std::abs(r / 3 - c / 3) <= 1; }, 24);
  OK(MatSetBlockSize(A, 3));
  Numbers all(576, 0);
  for (PetscInt r = 0; r < 24; ++r)
    for (PetscInt c = 0; c < 24; ++c)
      if (std::abs(r / 3 - c / 3) <= 1)
        all[static_cast<std::size_t>(24 * r + c)] =
          r == c ? 5.3 : -0.3 - 0.1 * static_cast<PetscReal>((3 * r + c) % 7);
  PetscReal log = 0;
  {
    Line line(A);
    OK(PCSetUp(line.pc));
    EXPECT_TRUE(contains(line.view(), "blocks of 3")) << line.view();
    const Info blocks(line.pc);
    log = blocks.log_abs_det;
    if (ranks == 1) {
      EXPECT_NEAR(log, determinant(all, 24).first, 1e-10);
    }
    if (std::is_same_v<PetscScalar, double>) {
      OK(PCLineSetPrecision(line.pc, PC_LINE_PRECISION_SINGLE));
      OK(PCSetUp(line.pc));
      const Info rounded(line.pc);
      EXPECT_NEAR(rounded.log_abs_det, log, 1e-5 * ranks);
      EXPECT_NE(rounded.log_abs_det, log) << "of the rounded matrices";
    }
  }
  OK(MatDestroy(&A));
  A = matrix(
    20 * ranks, [](PetscInt r, PetscInt c) { return PetscScalar(r == c ? -4 : 1); },
    [](PetscInt r, PetscInt c) { return r == c || (std::abs(r - c) == 1 && r / 5 == c / 5); }, 20);
  for (PCLineDirection direction : {PC_LINE_DIRECTION_ROWS, PC_LINE_DIRECTION_MATRIX}) {
    Line line(A);
    OK(PCLineSetDirection(line.pc, direction));
    OK(PCSetUp(line.pc));
    const Info info(line.pc);
    EXPECT_NEAR(info.log_abs_det, 4 * ranks * std::log(780.), 1e-10)
      << line.view(); // det of -4, 1: (-1)^5 780 for five rows
    EXPECT_LT(PetscAbsScalar(info.sign - PetscScalar(1)), 1e-10) << line.view();
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineCondition, AnIllConditionedLineIsARemark)
{
  // Two lines on each rank, with 1, 2, 2, ..., 2 on the diagonal and -1 next to it. The last diagonal entry
  // of all is 1 plus a small value, which keeps that line from being singular.
  Mat A = matrix(
    20 * ranks, [](PetscInt r, PetscInt c) { return PetscScalar(r == c ? (r % 10 == 0 ? 1 : 2) : -1); },
    [](PetscInt r, PetscInt c) { return r == c || (std::abs(r - c) == 1 && r / 10 == c / 10); }, 20);
  PetscInt end;
  OK(MatGetOwnershipRange(A, nullptr, &end));
  if (rank == ranks - 1) {
    OK(MatSetValue(A, end - 1, end - 1, 1 + 1e3 * PETSC_MACHINE_EPSILON, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCSetUp(line.pc));
    ASSERT_EQ(failed_reason(line.pc), PC_NOERROR) << line.view();
    const Info info(line.pc);
    EXPECT_LT(info.rcond, 1e3 * PETSC_MACHINE_EPSILON) << line.view();
    EXPECT_GT(info.rcond, 0.1 * PETSC_MACHINE_EPSILON) << line.view();
    EXPECT_TRUE(
      contains(line.view(), "remark: a line is ill-conditioned, its solution may have no more than "))
      << line.view();
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineCondition, IsAnErrorBeforeASetUpAndUnknownAfterAFailure)
{
  const Grid grid({9, 3 * ranks}, {2, 0}, 0, true, {1, ranks});
  Line       line(grid.A, grid.da);
  PetscReal  rcond;
  EXPECT_NE(PCLineGetFactorInfo(line.pc, &rcond, nullptr, nullptr, nullptr, nullptr), 0) << "on every rank";
  EXPECT_TRUE(contains(last_error(), "PCLineGetFactorInfo: call PCSetUp() first")) << last_error();
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  OK(PCSetUp(line.pc));
  EXPECT_NE(failed_reason(line.pc), PC_NOERROR);
  EXPECT_TRUE(std::isnan(Info(line.pc).log_abs_det));
  EXPECT_FALSE(contains(line.view(), "log |det|")) << line.view();
  OK(PCLineGetFactorInfo(line.pc, nullptr, nullptr, nullptr, nullptr, nullptr));
  OK(PCSetType(line.pc, PCJACOBI));
  EXPECT_NE(PCLineGetFactorInfo(line.pc, &rcond, nullptr, nullptr, nullptr, nullptr), 0);
}

/// The error message of the set-up of the line tridiag(1, d, 1) with n rows. Empty if the set-up succeeds.
std::string failure(PetscReal d, PetscReal limit, PetscInt n)
{
  Mat A = matrix(
    n, [=](PetscInt r, PetscInt c) { return PetscScalar(r == c ? d : 1); },
    [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1; });
  std::string text;
  {
    Line line(A);
    PCLineSetZeroPivot(line.pc, limit);
    EXPECT_EQ(PCSetUp(line.pc), 0) << last_error();
    const std::string view = line.view();
    const auto        at   = view.find("failed: ");
    if (at != std::string::npos) text = view.substr(at, view.find('\n', at) - at);
  }
  MatDestroy(&A);
  return text;
}

TEST_F(PCLineCondition, TheLimitOfPivotsIsNamedWhereItDecides) // one rank
{
  int failed = 0;
  for (PetscInt n : {5, 20, 60, 200})
    // d is an eigenvalue: the matrix is singular to rounding
    for (PetscInt k : {n / 4, n / 3, n / 2, 2 * n / 3}) {
      const PetscReal d =
        -2 * PetscCosReal(PETSC_PI * static_cast<PetscReal>(k) / static_cast<PetscReal>(n + 1));
      const std::string usual  = failure(d, 0, n),
                        lowest = failure(d, std::numeric_limits<PetscReal>::min(), n);
      if (usual.empty()) continue;
      ++failed;
      EXPECT_TRUE(contains(usual, "-pc_line_shift_type")) << usual;
      EXPECT_FALSE(contains(lowest, "-pc_line_zeropivot")) << lowest;
      if (contains(usual, "-pc_line_zeropivot")) EXPECT_NE(usual, lowest) << "it decides";
      else EXPECT_EQ(usual, lowest);
    }
  EXPECT_GT(failed, 4);
}

} // namespace

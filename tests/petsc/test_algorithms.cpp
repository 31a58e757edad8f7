// SPDX-License-Identifier: BSD-2-Clause
// Every algorithm of -pc_line_algorithm: it solves lines that it supports, keeps on with new values, and is an
// error with a reason for others.
#include "fixture.hpp"

#include <type_traits>
#include <vector>

using namespace test;

using PCLineAlgorithmNames = Petsc;

namespace {

constexpr PetscInt count = PC_LINE_ALGORITHM_TOEPLITZ_CR + 1;

/// Lines along y, which do not couple with each other and lie on one rank each.
struct Case {
  Grid grid;
  Line line;
  Case(PetscMPIInt ranks, PCLineAlgorithm algorithm, PetscInt width = 1)
      : grid({5 * ranks, 120}, {0, 1}, 1, false, {ranks, 1}, false, width), line(grid.A, grid.da)
  {
    PCLineSetAlgorithm(line.pc, algorithm);
    // one matrix for each line
    if (algorithm == PC_LINE_ALGORITHM_FACTORED_REDUCTION) PCLineSetLhs(line.pc, PC_LINE_LHS_PER_LINE);
  }
};

/// The solution of cr_pcr with this switch, or of another algorithm.
std::vector<PetscScalar> solution(PetscMPIInt ranks, PCLineAlgorithm algorithm, PetscInt switch_rows)
{
  Case               c(ranks, algorithm);
  const PetscScalar *x;
  PetscInt           n;
  PCLineSetSwitchRows(c.line.pc, switch_rows);
  EXPECT_EQ(PCApply(c.line.pc, c.line.b, c.line.x), 0);
  VecGetLocalSize(c.line.x, &n);
  VecGetArrayRead(c.line.x, &x);
  std::vector<PetscScalar> values(x, x + n);
  VecRestoreArrayRead(c.line.x, &x);
  return values;
}

} // namespace

TEST_F(PCLineAlgorithmNames, SolveLinesThatTheySupport)
{
  for (PetscInt a = 0; a < count; ++a) {
    const auto algorithm = static_cast<PCLineAlgorithm>(a);
    SCOPED_TRACE(PCLineAlgorithms[a]);
    // matrix instructions are of doubles
    if (algorithm == PC_LINE_ALGORITHM_TILE_PRODUCTS && !std::is_same_v<PetscScalar, double>) continue;
    Case c(ranks, algorithm);
    OK(PCSetUp(c.line.pc));
    EXPECT_LT(c.line.residual(c.grid.A), 100 * PETSC_MACHINE_EPSILON);
    const std::string view   = c.line.view();
    const char *const before = ranks == 1 ? "algorithm: " : "algorithm: on rank 0: ";
    EXPECT_TRUE(a == 0 || contains(view, std::string(before) + PCLineAlgorithms[a])) << view;
    OK(MatScale(c.grid.A, 3)); // new values
    OK(PCSetOperators(c.line.pc, c.grid.A, c.grid.A));
    EXPECT_LT(c.line.residual(c.grid.A), 100 * PETSC_MACHINE_EPSILON);
    EXPECT_LT(c.line.residual(c.grid.A, true), 1000 * PETSC_MACHINE_EPSILON);
  }
}

TEST_F(PCLineAlgorithmNames, RefuseOthersWithAReason)
{
  const struct {
    PCLineAlgorithm algorithm;
    PetscInt        width;
    PCLineLhs       lhs;
    const char     *reason;
  } cases[] = {
    {PC_LINE_ALGORITHM_CYCLIC_REDUCTION, 2, PC_LINE_LHS_AUTO, "tridiagonal"},
    {PC_LINE_ALGORITHM_PARALLEL_CYCLIC_REDUCTION, 2, PC_LINE_LHS_AUTO, "tridiagonal"},
    {PC_LINE_ALGORITHM_CR_PCR, 2, PC_LINE_LHS_AUTO, "tridiagonal"},
    {PC_LINE_ALGORITHM_TOEPLITZ_CR, 2, PC_LINE_LHS_AUTO, "one tridiagonal matrix for all lines"},
    {PC_LINE_ALGORITHM_TOEPLITZ_CR, 1, PC_LINE_LHS_PER_LINE, "one tridiagonal matrix for all lines"},
    {PC_LINE_ALGORITHM_TILE_PRODUCTS, 1, PC_LINE_LHS_PER_LINE, "one matrix for all lines"},
    {PC_LINE_ALGORITHM_FACTORED_REDUCTION, 1, PC_LINE_LHS_SHARED, "one matrix per line"},
  };
  for (const auto &k : cases) {
    Case c(ranks, k.algorithm, k.width);
    OK(PCLineSetLhs(c.line.pc, k.lhs));
    EXPECT_NE(PCSetUp(c.line.pc), 0);
    EXPECT_EQ(
      last_error().find(std::string("PC line: -pc_line_algorithm ") + PCLineAlgorithms[k.algorithm] + ": "),
      0U)
      << last_error();
    EXPECT_TRUE(contains(last_error(), k.reason)) << last_error();
    OK(PCLineSetAlgorithm(c.line.pc, PC_LINE_ALGORITHM_AUTO)); // nothing is half-set
    EXPECT_LT(c.line.residual(c.grid.A), 100 * PETSC_MACHINE_EPSILON);
  }
}

TEST_F(PCLineAlgorithmNames, SwitchRowsLieBetweenTheTwoReductions)
{
  const auto cyclic = solution(ranks, PC_LINE_ALGORITHM_CYCLIC_REDUCTION, 0),
             all    = solution(ranks, PC_LINE_ALGORITHM_PARALLEL_CYCLIC_REDUCTION, 0),
             some   = solution(ranks, PC_LINE_ALGORITHM_CR_PCR, 16);
  EXPECT_EQ(solution(ranks, PC_LINE_ALGORITHM_CR_PCR, 1), cyclic);
  EXPECT_EQ(solution(ranks, PC_LINE_ALGORITHM_CR_PCR, 120), all);
  EXPECT_NE(some, cyclic);
  EXPECT_NE(some, all);
}

TEST_F(PCLineAlgorithmNames, SwitchRowsAreThoseOfCrPcr)
{
  Case c(ranks, PC_LINE_ALGORITHM_PARTITION);
  OK(PCLineSetSwitchRows(c.line.pc, 16));
  EXPECT_NE(PCSetUp(c.line.pc), 0);
  EXPECT_EQ(last_error(),
            "PC line: -pc_line_switch_rows 16: -pc_line_algorithm partition has no switch; use cr_pcr");
  OK(PCLineSetAlgorithm(c.line.pc, PC_LINE_ALGORITHM_CR_PCR));
  OK(PCSetUp(c.line.pc));
  EXPECT_TRUE(
    contains(c.line.view(), "cr_pcr (asked for; parallel cyclic reduction takes over at 16 equations)"))
    << c.line.view();
}

// SPDX-License-Identifier: BSD-2-Clause
// The options of sweeps: values, defaults, refusals, and the state after a refusal.
#include "sweep_reference.hpp"

#include <limits>

using namespace test;

namespace {

class PCLineSweepOptions : public Petsc { };

/// PCSetFromOptions() with options that are removed afterwards.
PetscErrorCode from_options(PC pc, const std::vector<std::pair<const char *, const char *>> &options)
{
  for (const auto &[name, value] : options) PetscOptionsSetValue(nullptr, name, value);
  const PetscErrorCode error = PCSetFromOptions(pc);
  for (const auto &option : options) PetscOptionsClearValue(nullptr, option.first);
  return error;
}

TEST_F(PCLineSweepOptions, EveryOptionHasASetAndAGet)
{
  Grid                   grid({8, 8, 8}, {1, 9, 1});
  Line                   line(grid.A, grid.da);
  const PCLineDirection *directions;
  PCLineDirection        first;
  PCLineComposition      composition;
  PCLineOrdering         ordering;
  PetscReal              omega;
  PetscInt               n, iterations;
  OK(from_options(line.pc, {{"-pc_line_direction", "z,x,y"},
                            {"-pc_line_composition", "additive"},
                            {"-pc_line_ordering", "zebra"},
                            {"-pc_line_omega", "0.7"},
                            {"-pc_line_iterations", "3"}}));
  OK(PCLineGetDirections(line.pc, &n, &directions));
  OK(PCLineGetDirection(line.pc, &first));
  OK(PCLineGetComposition(line.pc, &composition));
  OK(PCLineGetOrdering(line.pc, &ordering));
  OK(PCLineGetOmega(line.pc, &omega));
  OK(PCLineGetIterations(line.pc, &iterations));
  ASSERT_EQ(n, 3);
  EXPECT_EQ(first, PC_LINE_DIRECTION_Z);
  EXPECT_EQ(directions[1], PC_LINE_DIRECTION_X);
  EXPECT_EQ(directions[2], PC_LINE_DIRECTION_Y);
  EXPECT_EQ(composition, PC_LINE_COMPOSITION_ADDITIVE);
  EXPECT_EQ(ordering, PC_LINE_ORDERING_ZEBRA);
  EXPECT_EQ(omega, PetscReal(0.7));
  EXPECT_EQ(iterations, 3);
  EXPECT_TRUE(contains(line.view(), "direction z,x,y, composition additive, ordering zebra")) << line.view();
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "z,x,y");
  EXPECT_TRUE(contains(line.view(), "direction: z,x,y (asked for)")) << line.view();
  EXPECT_TRUE(contains(line.view(), "sweep: additive, zebra, omega 0.7, iterations 3")) << line.view();
  EXPECT_TRUE(contains(line.view(), "along x\n")) << line.view();
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_AUTO));
  OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_JACOBI));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "y");
}

TEST_F(PCLineSweepOptions, LinesAndMatricesAreSums) // one rank: counts of one rank
{
  Grid     grid({7, 5}, {1, 1}, 1, true);
  Line     line(grid.A, grid.da);
  PetscInt lines, rows, matrices;
  Sweep{{0, 1}, PC_LINE_COMPOSITION_MULTIPLICATIVE, PC_LINE_ORDERING_ZEBRA, 1, 1}.set(line.pc);
  OK(PCSetUp(line.pc));
  OK(PCLineGetInfo(line.pc, nullptr, &lines, &rows, &matrices, nullptr, nullptr));
  EXPECT_EQ(lines, 12);
  EXPECT_EQ(rows, 7);
  EXPECT_EQ(matrices, 4) << "each colour of each direction shares one";
}

TEST_F(PCLineSweepOptions, BadValuesAreOneErrorThatNamesTheOption)
{
  Grid grid({8, 8}, {1, 9});
  Line line(grid.A, grid.da);
  const struct {
    const char *option, *value, *text;
  } bad[] = {
    {"-pc_line_direction", "x,w",
     "Unknown option w for -pc_line_direction. Available options: auto x y z rows matrix, or a list of x, y "
     "and z"},
    {"-pc_line_direction", "x,,y", "Unknown option (nothing) for -pc_line_direction."},
    {"-pc_line_direction", "x,y,x", "PCLineSetDirections, -pc_line_direction: x is in the list twice"},
    {"-pc_line_direction", "x,rows",
     "PCLineSetDirections, -pc_line_direction: rows stands alone, a list has x, y and z"},
    {"-pc_line_direction", "auto,x",
     "PCLineSetDirections, -pc_line_direction: auto stands alone, a list has x, y and z"},
    {"-pc_line_composition", "sum", "for -pc_line_composition"},
    {"-pc_line_ordering", "red", "for -pc_line_ordering"},
    {"-pc_line_omega", "2", "PCLineSetOmega, -pc_line_omega: 2. is not in [0, 2)"},
    {"-pc_line_omega", "-0.5", "PCLineSetOmega, -pc_line_omega: -0.5 is not in [0, 2)"},
    {"-pc_line_iterations", "0", "PCLineSetIterations, -pc_line_iterations: 0 is not positive"},
  };
  for (const auto &b : bad) {
    PC pc; // An error leaves PETSc's options processing of a PC incomplete.
    OK(PCCreate(PETSC_COMM_WORLD, &pc));
    OK(PCSetType(pc, PCLINE));
    EXPECT_NE(from_options(pc, {{b.option, b.value}}), 0) << b.value;
    EXPECT_TRUE(contains(last_error(), b.text)) << b.value << ": " << last_error();
    OK(PCDestroy(&pc));
  }
  EXPECT_NE(PCLineSetDirections(line.pc, 0, nullptr), 0);
  EXPECT_TRUE(contains(last_error(), "-pc_line_direction: the list is empty")) << last_error();
  EXPECT_NE(PCLineSetDirections(line.pc, 2, nullptr), 0);
  EXPECT_TRUE(contains(last_error(), "2 directions, but the array is NULL")) << last_error();
  EXPECT_NE(PCLineSetOmega(line.pc, std::numeric_limits<PetscReal>::quiet_NaN()), 0);
  OK(PCLineSetOmega(line.pc, 0.5)); // nothing is half set
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "y");
}

TEST_F(PCLineSweepOptions, ThePCWorksAfterAnErrorAndAfterAFailure)
{
  Grid        grid({8, 3 * ranks}, {1, 2}, 0.2);
  const Dense dense(grid.A, grid.da);
  Line        line(grid.A, grid.da);
  Sweep       sweep = {{0, 1}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, 1, 1};
  const auto  check = [&](const char *when) {
    const Numbers expected = dense.apply(sweep, gathered(line.b));
    ASSERT_EQ(PCApply(line.pc, line.b, line.x), 0) << when;
    const Numbers x = gathered(line.x);
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_LT(PetscAbsScalar(x[k] - expected[k]), 1e-13) << when;
  };
  sweep.set(line.pc);
  check("at first");
  Sweep{{0, 2}}.set(line.pc);
  EXPECT_NE(PCSetUp(line.pc), 0);
  EXPECT_EQ(last_error(), "PC line: -pc_line_direction x,z: the grid has 2 dimensions");
  EXPECT_NE(PCLineGetInfo(line.pc, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), 0)
    << "nothing half-made";
  sweep.set(line.pc);
  check("after an error");
  // diag(A) = couplings along y: lines along y are singular, lines along x are regular.
  Grid bad({8, 6}, {0, 1}, 0, true, {ranks, 1});
  Line singular(bad.A, bad.da);
  Sweep{{0, 1}}.set(singular.pc);
  OK(PCSetUp(singular.pc));
  EXPECT_EQ(failed_reason(singular.pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
  EXPECT_TRUE(contains(singular.view(), "failed: PC line: zero pivot")) << singular.view();
  OK(PCApply(singular.pc, singular.b, singular.x));
  PetscReal norm;
  OK(VecNorm(singular.x, NORM_INFINITY, &norm));
  EXPECT_GT(norm, PETSC_MAX_REAL / 10) << "never a number that could be taken for an answer";
  bad.fill({8, 6}, {0, 1}, 1, true);
  OK(PCSetUp(singular.pc));
  EXPECT_EQ(failed_reason(singular.pc), PC_NOERROR);
  EXPECT_LT(singular.residual(bad.A), 1.0);
}

TEST_F(PCLineSweepOptions, MultigridLevelsAreDampedWhereTheyWouldNotSmooth)
{
  Grid       grid({8, 8}, {1, 1});
  Line       plain(grid.A, grid.da), line(grid.A, grid.da);
  const auto omega = [](Line &of, const Sweep &sweep) {
    sweep.set(of.pc);
    PCSetUp(of.pc);
    const std::string text = of.view(), word = "omega ";
    return text.substr(text.find(word) + word.size(), 3);
  };
  const Sweep one     = {{0}, PC_LINE_COMPOSITION_AUTO, PC_LINE_ORDERING_JACOBI, 0, 1},
              zebra   = {{0}, PC_LINE_COMPOSITION_AUTO, PC_LINE_ORDERING_ZEBRA, 0, 1};
  const Sweep two     = {{0, 1}, PC_LINE_COMPOSITION_AUTO, PC_LINE_ORDERING_JACOBI, 0, 1},
              average = {{0, 1}, PC_LINE_COMPOSITION_ADDITIVE, PC_LINE_ORDERING_JACOBI, 0, 1};
  EXPECT_EQ(omega(plain, one), "1, ");
  OK(PCSetOptionsPrefix(line.pc, "outer_mg_levels_2_"));
  EXPECT_EQ(omega(line, one), "0.8");
  EXPECT_TRUE(contains(line.view(), "(on a multigrid level, 1 would not smooth)")) << line.view();
  EXPECT_EQ(omega(line, two), "0.8");
  EXPECT_EQ(omega(line, zebra), "1, ");
  EXPECT_EQ(omega(line, average), "1, ");
  EXPECT_EQ(omega(line, {{0}, PC_LINE_COMPOSITION_AUTO, PC_LINE_ORDERING_JACOBI, 0.5, 1}), "0.5");
  Grid batch({6, 2 * ranks}, {2, 0}, 1, false, {1, ranks}); // uncoupled lines are solved directly
  Line exact(batch.A, batch.da);
  OK(PCSetOptionsPrefix(exact.pc, "mg_levels_1_"));
  EXPECT_EQ(omega(exact, one), "1, ");
  EXPECT_LT(exact.residual(batch.A), 1e-13);
  batch.fill({6, 2 * ranks}, {2, 0.1}, 1);
  EXPECT_EQ(omega(exact, one), "0.8");
}

TEST_F(PCLineSweepOptions, LinesWithTwoNeighboursOnEitherSideAreDampedMore)
{
  Grid grid({24, 24}, {1, 1}, 0.2, false, {}, false, 2);
  for (const char *omega : {"0", "0.8"}) {
    KSP                ksp;
    PC                 pc;
    KSPConvergedReason reason;
    Line               vectors(grid.A);
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "mg_levels_"));
    OK(KSPSetOperators(ksp, grid.A, grid.A));
    OK(KSPSetType(ksp, KSPRICHARDSON));
    OK(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, 1e4, 5000));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCLINE));
    OK(PCLineSetDirection(pc, PC_LINE_DIRECTION_X));
    OK(PCLineSetOmega(pc, std::stod(omega)));
    OK(KSPSolve(ksp, vectors.b, vectors.x));
    OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(reason > 0, std::string(omega) == "0") << omega << ": " << reason;
    OK(KSPDestroy(&ksp));
  }
  Line line(grid.A, grid.da);
  OK(PCSetOptionsPrefix(line.pc, "mg_levels_"));
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_JACOBI));
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(contains(line.view(), "omega 0.6 (on a multigrid level, 1 would not smooth)")) << line.view();
  PetscInt begin;
  grid.fill({24, 24}, {1, 1}, 0.2);
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(contains(line.view(), "omega 0.8")) << line.view();
  OK(MatGetOwnershipRange(grid.A, &begin, nullptr));
  if (rank == ranks - 1) { // one line of one rank counts for all
    OK(MatSetValue(grid.A, begin, begin + 2, 0.01, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(contains(line.view(), "omega 0.6")) << line.view();
}

TEST_F(PCLineSweepOptions, ZebraWithoutASecondColourIsJacobi)
{
  const PetscInt n = 24; // runs of 11 and 13 rows on every rank: one line per rank
  Mat            A = matrix(
               n * ranks, [](PetscInt r, PetscInt c) { return r == c ? 4 : -1; },
               [&](PetscInt r, PetscInt c) {
      return r == c || (r / n == c / n &&
                        ((r % n < 11) == (c % n < 11) ? std::abs(r - c) == 1 : std::abs(r - c) == 12));
    },
               n);
  {
    Line line(A);
    OK(PCSetOptionsPrefix(line.pc, "mg_levels_"));
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_ROWS));
    OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_ZEBRA));
    OK(PCSetUp(line.pc));
    EXPECT_TRUE(contains(line.view(), ranks == 1 ? "omega 0.8" : "omega 1,")) << line.view();
    EXPECT_LT(line.residual(A), 1.0);
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineSweepOptions, AutoTakesAThirdDirectionWhereManyRowsPreferItToBothOthers)
{
  const PetscInt n = 12;
  Grid           grid({n, n, n}, {1, 1, 1});
  // A symmetric operator that is strong along x, y and z in one third of the cube each. With `both` it is
  // strong along y and z in the last third.
  const auto fill = [&](bool both) {
    PetscInt begin[3], size[3];
    MatZeroEntries(grid.A);
    DMDAGetCorners(grid.da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
      for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
        for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) {
          const PetscInt   at[3] = {i, j, k};
          const MatStencil row   = {k, j, i, 0};
          PetscScalar      sum   = 0.01;
          for (int d = 0; d < 3; ++d)
            for (PetscInt step : {-1, 1}) {
              const PetscInt to = at[d] + step;
              if (to < 0 || to >= n) continue;
              MatStencil column                                  = row;
              (d == 0 ? column.i : d == 1 ? column.j : column.k) = to;
              const PetscInt    region                           = PetscMin(i, column.i) / (n / 3);
              const PetscScalar v = region == d || (both && region == 2 && d == 1) ? 1000 : 1, minus = -v;
              sum += v;
              MatSetValuesStencil(grid.A, 1, &row, 1, &column, &minus, INSERT_VALUES);
            }
          MatSetValuesStencil(grid.A, 1, &row, 1, &row, &sum, INSERT_VALUES);
        }
    MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY);
  };
  const auto iterations = [&](const char *direction) {
    KSP      ksp;
    PC       pc;
    PetscInt its = -1;
    Line     vectors(grid.A);
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, grid.A, grid.A);
    KSPSetType(ksp, KSPCG);
    KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000);
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCLINE);
    EXPECT_EQ(from_options(pc, {{"-pc_line_direction", direction}, {"-pc_line_composition", "additive"}}), 0);
    KSPSolve(ksp, vectors.b, vectors.x);
    KSPGetIterationNumber(ksp, &its);
    KSPDestroy(&ksp);
    return its;
  };
  fill(false);
  Line line(grid.A, grid.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction().size(), 5u) << line.view();
  for (const char *d : {"x", "y", "z"}) EXPECT_TRUE(contains(line.direction(), d)) << line.view();
  EXPECT_TRUE(contains(line.view(), "sweep: additive, jacobi, omega 1, iterations 1")) << line.view();
  const PetscInt all = iterations("auto");
  EXPECT_EQ(all, iterations(line.direction().c_str()));
  for (const char *two : {"x,y", "x,z", "y,z"}) EXPECT_LT(all, iterations(two)) << two;
  // Lines along y cover the last third as well as those along z, so that two directions are enough.
  fill(true);
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(line.direction() == "y,x" || line.direction() == "x,y") << line.view();
}

} // namespace

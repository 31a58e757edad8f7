// SPDX-License-Identifier: BSD-2-Clause
// PC line over several directions, in colours, damped and repeated.
#include "allocations.hpp"
#include "sweep_reference.hpp"

using namespace test;

namespace {

constexpr PCLineComposition compositions[] = {PC_LINE_COMPOSITION_MULTIPLICATIVE,
                                              PC_LINE_COMPOSITION_ADDITIVE, PC_LINE_COMPOSITION_SYMMETRIC};
constexpr PCLineOrdering    orderings[]    = {PC_LINE_ORDERING_JACOBI, PC_LINE_ORDERING_ZEBRA};

/// Makes all lines different and unsymmetric, by rows of different sizes. With `symmetric` (Hermitian) only
/// diagonals change, so that directions do not commute.
void vary_rows(Mat A, bool symmetric = false)
{
  Vec      l;
  PetscInt begin, end;
  MatCreateVecs(A, nullptr, &l);
  VecGetOwnershipRange(l, &begin, &end);
  for (PetscInt r = begin; r < end; ++r)
    VecSetValue(l, r, (symmetric ? PetscScalar(1) : turned) * (1 + static_cast<PetscReal>((7 * r) % 5) / 5),
                INSERT_VALUES);
  VecAssemblyBegin(l);
  VecAssemblyEnd(l);
  if (symmetric) MatDiagonalSet(A, l, ADD_VALUES);
  else MatDiagonalScale(A, l, nullptr);
  VecDestroy(&l);
}

/// Largest difference between one application and the reference.
PetscReal error(Line &line, const Dense &dense, const Sweep &sweep)
{
  sweep.set(line.pc);
  if (PCSetUp(line.pc) != 0 || PCApply(line.pc, line.b, line.x) != 0) return PETSC_INFINITY;
  const Numbers x = gathered(line.x), expected = dense.apply(sweep, gathered(line.b));
  PetscReal     worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) worst = PetscMax(worst, PetscAbsScalar(x[k] - expected[k]));
  return worst;
}

/// |y . M x - M^T y . x| relative to its terms; with `same` M instead of M^T, and the scalar product of
/// complex vectors.
PetscReal asymmetry(PC pc, Vec x, Vec y, bool same)
{
  Vec         mx, my;
  PetscScalar left, right;
  VecDuplicate(x, &mx);
  VecDuplicate(x, &my);
  PCApply(pc, x, mx);
  if (same) PCApply(pc, y, my);
  else PCApplyTranspose(pc, y, my);
  if (same) VecDot(mx, y, &left), VecDot(x, my, &right);
  else VecTDot(mx, y, &left), VecTDot(x, my, &right);
  VecDestroy(&mx);
  VecDestroy(&my);
  return PetscAbsScalar(left - right) / (PetscAbsScalar(left) + PetscAbsScalar(right));
}

TEST_F(PCLineSweep, EveryCompositionIsTheReference)
{
  for (int dimensions : {2, 3})
    for (int cut : {0, 1}) {
      std::vector<PetscInt> processes          = {1, 1, 1};
      processes[static_cast<std::size_t>(cut)] = ranks;
      Grid grid(dimensions == 2 ? std::vector<PetscInt>{9, 10} : std::vector<PetscInt>{5, 7, 4},
                dimensions == 2 ? std::vector<PetscReal>{3, 1} : std::vector<PetscReal>{1, 2, 3}, 0.1, false,
                processes);
      vary_rows(grid.A);
      const Dense dense(grid.A, grid.da);
      Line        line(grid.A, grid.da);
      OK(MatMult(grid.A, line.b, line.r));
      for (const auto &directions :
           {std::vector<int>{1}, std::vector<int>{1, 0}, std::vector<int>{0, 2, 1}}) {
        if (dimensions == 2 && directions.size() == 3) continue;
        for (PCLineComposition composition : compositions)
          for (PCLineOrdering ordering : orderings)
            for (PetscInt iterations : {1, 3}) {
              const Sweep sweep = {directions, composition, ordering, iterations == 1 ? 1. : 0.75,
                                   iterations};
              EXPECT_LT(error(line, dense, sweep), 1e-12)
                << dimensions << cut << directions.size() << PCLineCompositions[composition]
                << PCLineOrderings[ordering] << iterations;
              EXPECT_LT(asymmetry(line.pc, line.b, line.r, false), 1e-12) << "not its transpose";
            }
      }
    }
}

TEST_F(PCLineSweep, PeriodicAndPentadiagonalLines)
{
  Grid grid({8, 8 + 4 * ranks}, {2, 1}, 0.3, true, {1, ranks}, false, 2);
  vary_rows(grid.A);
  const Dense dense(grid.A, grid.da);
  Line        line(grid.A, grid.da);
  for (PCLineOrdering ordering : orderings)
    EXPECT_LT(error(line, dense, {{0, 1}, PC_LINE_COMPOSITION_SYMMETRIC, ordering, 0.9, 2}), 1e-11);
}

TEST_F(PCLineSweep, AColourMayBeEmptyOnARank)
{
  // On several ranks there is one x-line per rank.
  Grid        grid({6, PetscMax(ranks, 2)}, {2, 1}, 0.5, false, {1, ranks});
  const Dense dense(grid.A, grid.da);
  Line        line(grid.A, grid.da);
  for (PCLineComposition composition : compositions)
    EXPECT_LT(error(line, dense, {{0, 1}, composition, PC_LINE_ORDERING_ZEBRA, 1, 1}), 1e-13);
  Grid one({7}, {2}, 0.5); // a single line: zebra is jacobi
  Line alone(one.A, one.da);
  OK(PCLineSetOrdering(alone.pc, PC_LINE_ORDERING_ZEBRA));
  OK(PCSetUp(alone.pc));
  EXPECT_LT(alone.residual(one.A), ranks == 1 ? 1e-14 : 1.0);
}

TEST_F(PCLineSweep, ZebraWithoutADMColoursLinesByTheirNumber)
{
  const PetscInt n = 6, lines = 12; // 5-point operator, 12 lines of 6 rows
  Mat            A = matrix(
               n * lines,
               [&](PetscInt r, PetscInt c) {
      return r == c ? PetscScalar(5. + static_cast<PetscReal>(r % 7)) : r < c ? PetscScalar(-1) : -turned;
    },
               [&](PetscInt r, PetscInt c) {
      return r == c || std::abs(r - c) == n || (std::abs(r - c) == 1 && r / n == c / n);
    },
               lines / ranks * n);
  Grid grid({n, lines}, {1, 1}, 1, false, {1, ranks}); // its numbering is the same
  {
    const Dense dense(A, grid.da);
    Line        line(A), on_grid(A, grid.da);
    const Sweep sweep = {{0}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, 1, 2};
    EXPECT_LT(error(on_grid, dense, sweep), 1e-13);
    sweep.set(line.pc);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_ROWS));
    OK(PCApply(line.pc, line.b, line.x));
    OK(VecAXPY(line.x, -1, on_grid.x));
    PetscReal difference;
    OK(VecNorm(line.x, NORM_INFINITY, &difference));
    EXPECT_LT(difference, 1e-13);
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineSweep, SymmetricCompositionsOfSymmetricMatricesAreSymmetric)
{
  Grid grid({9, 8, 6}, {3, 1, 2}, 0.1);
  vary_rows(grid.A, true);
  Line line(grid.A, grid.da);
  OK(MatMult(grid.A, line.b, line.r));
  for (PCLineComposition composition : compositions)
    for (PCLineOrdering ordering : orderings) {
      Sweep{{0, 1, 2}, composition, ordering, 0.9, 2}.set(line.pc);
      OK(PCSetUp(line.pc));
      const bool symmetric =
        composition == PC_LINE_COMPOSITION_SYMMETRIC ||
        (composition == PC_LINE_COMPOSITION_ADDITIVE && ordering == PC_LINE_ORDERING_JACOBI);
      if (symmetric)
        EXPECT_LT(asymmetry(line.pc, line.b, line.r, true), 1e-13)
          << PCLineCompositions[composition] << PCLineOrderings[ordering];
      else
        EXPECT_GT(asymmetry(line.pc, line.b, line.r, true), 1e-9)
          << PCLineCompositions[composition] << PCLineOrderings[ordering];
    }
}

TEST_F(PCLineSweep, MatApplyGoesColumnByColumn)
{
  Grid     grid({8, 9}, {1, 1}, 0.1);
  Line     line(grid.A, grid.da);
  Mat      B, X;
  PetscInt rows;
  Sweep{{0, 1}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, 1, 1}.set(line.pc);
  OK(MatGetLocalSize(grid.A, &rows, nullptr));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
  OK(MatSetRandom(B, nullptr));
  OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  for (int times = 0; times < 2; ++times) {
    OK(PCMatApply(line.pc, B, X));
    for (PetscInt c = 0; c < 3; ++c) {
      PetscReal difference;
      OK(MatGetColumnVector(B, line.b, c));
      OK(MatGetColumnVector(X, line.r, c));
      OK(PCApply(line.pc, line.b, line.x));
      OK(VecAXPY(line.x, -1, line.r));
      OK(VecNorm(line.x, NORM_INFINITY, &difference));
      EXPECT_LT(difference, 1e-13);
    }
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X)); // one solve again: the batch in one call
    OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_JACOBI));
  }
  OK(MatDestroy(&B));
  OK(MatDestroy(&X));
}

TEST_F(PCLineSweep, AnApplyAllocatesNothing)
{
  Grid grid({16, 16, 4}, {1, 2, 1});
  Line line(grid.A, grid.da);
  for (PCLineComposition composition : compositions) {
    Sweep{{0, 1, 2}, composition, PC_LINE_ORDERING_ZEBRA, 1, 2}.set(line.pc);
    OK(PCSetUp(line.pc));
    OK(PCApply(line.pc, line.b, line.x));
    EXPECT_EQ(allocations_of([&] {
                for (int k = 0; k < 3; ++k) OK(PCApply(line.pc, line.b, line.x));
              }),
              0);
  }
  Vec v; // both kinds are counted
  EXPECT_GT(allocations_of([&] { OK(VecDuplicate(line.b, &v)); }), 0);
  EXPECT_EQ(allocations_of([] { Kokkos::View<double *, Kokkos::HostSpace> view("view", 100); }), 1);
  OK(VecDestroy(&v));
}

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
TEST_F(PCLineSweep, ADeviceApplyCrossesTheBusZeroTimes) // one rank: products of several ranks exchange halos
{
  Grid grid({64, 64}, {1, 2});
  Line line(grid.A, grid.da);
  Sweep{{0, 1}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, 1, 2}.set(line.pc);
  expect_no_bus(line);
}
#endif

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Mat compact: its products against exact functions, its transpose, and lines that span ranks.
#include "compact_fixture.hpp"

using namespace test;

namespace {

const std::vector<std::vector<PetscInt>> boxes = {{40}, {40, 9}, {9, 40}, {40, 3, 5}, {5, 40, 4}, {3, 5, 40}};

/// The direction with 40 points.
int long_direction(const std::vector<PetscInt> &box)
{
  return static_cast<int>(std::find(box.begin(), box.end(), 40) - box.begin());
}

/// Ranks along direction d alone, or along the others.
std::vector<PetscInt> ranks_along(int d, PetscInt dim, PetscMPIInt ranks, bool along)
{
  std::vector<PetscInt> all(static_cast<std::size_t>(dim), 1);
  for (PetscInt e = 0; e < dim; ++e)
    if ((e == d) == along) {
      all[static_cast<std::size_t>(e)] = ranks;
      break;
    }
  return all;
}

/// Largest relative error of a product with exp(sin x).
void expect_accurate(const CompactDMDA &grid, int d, const CompactCase &c, PetscReal bound)
{
  CompactMat      mat(grid, static_cast<MatCompactDirection>(d), c.derivative, c.order);
  const PetscReal half = static_cast<PetscReal>(0.5),
                  from = c.staggered == MAT_COMPACT_STAGGERED_BACKWARD ? half : 0,
                  to   = c.staggered == MAT_COMPACT_STAGGERED_FORWARD ? half : 0;
  const Vec f          = grid.sample(
                       d, [](PetscReal x) { return wave(0, x); }, from),
            exact = grid.sample(
              d, [&](PetscReal x) { return wave(static_cast<int>(c.derivative), x); }, to);
  OK(MatCompactSetStaggered(mat.A, c.staggered));
  OK(MatMult(mat.A, f, mat.y));
  EXPECT_LE(difference(mat.y, exact), bound);
  Vec a = f, b = exact;
  VecDestroy(&a);
  VecDestroy(&b);
}

/// Bound of the error on 40 points.
PetscReal bound_of(const CompactCase &c, bool periodic)
{
  const PetscReal rounding = PETSC_SQRT_MACHINE_EPSILON;
  if (c.derivative == 0 && c.staggered == MAT_COMPACT_STAGGERED_NONE) return static_cast<PetscReal>(1e-4);
  if (!periodic) return static_cast<PetscReal>(c.derivative == 1 ? 5e-3 : 5e-2);
  return (c.order == 4   ? static_cast<PetscReal>(2e-3)
          : c.order == 6 ? static_cast<PetscReal>(1e-4)
          : c.order == 8 ? static_cast<PetscReal>(1e-5)
                         : static_cast<PetscReal>(1e-6)) +
         rounding;
}

/// |<A u, w> - <u, A^T w>| / (|A u| |w|)
PetscReal transpose_defect(const CompactMat &mat)
{
  Vec         w, z;
  PetscScalar left, right;
  PetscReal   size, other;
  VecDuplicate(mat.u, &w);
  VecDuplicate(mat.u, &z);
  VecSetRandom(w, nullptr);
  VecShift(w, -0.4);
  MatMult(mat.A, mat.u, mat.y);
  MatMultTranspose(mat.A, w, z);
  VecTDot(mat.y, w, &left);
  VecTDot(mat.u, z, &right);
  VecNorm(mat.y, NORM_2, &size);
  VecNorm(w, NORM_2, &other);
  VecDestroy(&w);
  VecDestroy(&z);
  return PetscAbsScalar(left - right) / (size * other);
}

/// The product on one rank of all lines, in the part of this rank of the grid.
void expect_same_on_one_rank(const CompactDMDA &grid, int d, const CompactCase &c, bool transposed)
{
  CompactMat mat(grid, static_cast<MatCompactDirection>(d), c.derivative, c.order);
  Mat        alone;
  Vec        u, y;
  const auto value = [&](PetscInt i, PetscInt k) {
    return PetscSinReal(static_cast<PetscReal>(i * (7 + k)));
  };
  // one line for each of three components on this rank
  const PetscInt n = grid.n[d];
  OK(MatCreate(PETSC_COMM_SELF, &alone));
  OK(MatSetType(alone, MATCOMPACT));
  OK(MatCompactSetGrid(alone, n, 1, 1, grid.dof));
  OK(MatCompactSetPeriodic(alone, static_cast<PetscBool>(grid.periodic)));
  OK(MatCompactSetSpacing(alone, grid.h(d)));
  OK(MatCompactSetDerivative(alone, c.derivative));
  OK(MatCompactSetOrder(alone, c.order));
  OK(MatCompactSetStaggered(alone, c.staggered));
  OK(MatCompactSetStaggered(mat.A, c.staggered));
  OK(MatSetUp(alone));
  OK(MatCreateVecs(alone, &u, &y));
  PetscScalar *a;
  OK(VecGetArrayWrite(u, &a));
  for (PetscInt k = 0; k < n * grid.dof; ++k) a[k] = value(k / grid.dof, k % grid.dof);
  OK(VecRestoreArrayWrite(u, &a));
  OK(transposed ? MatMultTranspose(alone, u, y) : MatMult(alone, u, y));
  const auto along = [&](PetscInt p) {
    const PetscInt stride = d == 0 ? 1 : d == 1 ? grid.local[0] : grid.local[0] * grid.local[1];
    return grid.begin[d] + p / stride % grid.local[d];
  };
  OK(VecGetArrayWrite(mat.u, &a));
  for (PetscInt k = 0; k < grid.points() * grid.dof; ++k) a[k] = value(along(k / grid.dof), k % grid.dof);
  OK(VecRestoreArrayWrite(mat.u, &a));
  OK(transposed ? MatMultTranspose(mat.A, mat.u, mat.y) : MatMult(mat.A, mat.u, mat.y));
  const PetscScalar *whole, *own;
  PetscReal          size, apart = 0;
  OK(VecNorm(y, NORM_INFINITY, &size));
  OK(VecGetArrayRead(y, &whole));
  OK(VecGetArrayRead(mat.y, &own));
  for (PetscInt k = 0; k < grid.points() * grid.dof; ++k)
    apart = PetscMax(apart, PetscAbsScalar(own[k] - whole[along(k / grid.dof) * grid.dof + k % grid.dof]));
  OK(VecRestoreArrayRead(mat.y, &own));
  OK(VecRestoreArrayRead(y, &whole));
  EXPECT_LE(apart, 300 * PETSC_MACHINE_EPSILON * size) << (transposed ? "transposed" : "");
  MatDestroy(&alone);
  VecDestroy(&u);
  VecDestroy(&y);
}

} // namespace

TEST_F(Compact, EverySchemeAlongEveryDirection)
{
  for (const auto &box : boxes)
    for (PetscInt dof : {1, 3})
      for (bool along : {true, false})
        for_all_schemes([&](const CompactCase &c, bool periodic) {
          const int d = long_direction(box);
          if (!along && (box.size() == 1 || ranks > 2)) return; // other directions have few points
          SCOPED_TRACE(testing::Message() << box.size() << "D, direction " << d << ", dof " << dof
                                          << (along ? ", ranks along it" : ""));
          const CompactDMDA grid(box, dof, periodic,
                                 ranks_along(d, static_cast<PetscInt>(box.size()), ranks, along));
          expect_accurate(grid, d, c, bound_of(c, periodic));
        });
}

TEST_F(Compact, TransposeIsTheAdjoint)
{
  for (PetscInt dof : {1, 2})
    for (const auto &box : {std::vector<PetscInt>{40}, {5, 40, 4}, {9, 40}})
      for_all_schemes([&](const CompactCase &c, bool periodic) {
        const int         d = long_direction(box);
        const CompactDMDA grid(box, dof, periodic,
                               ranks_along(d, static_cast<PetscInt>(box.size()), ranks, true));
        CompactMat        mat(grid, static_cast<MatCompactDirection>(d), c.derivative, c.order);
        OK(MatCompactSetStaggered(mat.A, c.staggered));
        EXPECT_LE(transpose_defect(mat), 100 * PETSC_MACHINE_EPSILON);
      });
}

TEST_F(Compact, LinesThatSpanRanksGiveTheNumbersOfOneRank)
{
  // sub-lines of 3 or 4 rows are gathered if rows of B reach further; of those of 400 rows only neighbours
  // exchange, once
  for (PetscInt n : {14, 41, 150, 400})
    for (PetscInt dof : {1, 3})
      for_all_schemes([&](const CompactCase &c, bool periodic) {
        SCOPED_TRACE(testing::Message() << n << " rows, dof " << dof);
        for (bool transposed : {false, true}) {
          const CompactDMDA line({n}, dof, periodic), y({3, n}, dof, periodic, {1, ranks}),
            z({2, 2, n}, dof, periodic, {1, 1, ranks});
          expect_same_on_one_rank(line, 0, c, transposed);
          expect_same_on_one_rank(y, 1, c, transposed);
          expect_same_on_one_rank(z, 2, c, transposed);
        }
      });
}

TEST_F(Compact, LongSubLinesAreMultipliedInOneExchange)
{
  for (bool periodic : {true, false})
    for (PetscInt order : {4, 10})
      for (PetscInt n : {40, 400}) { // 10 rows of each of four ranks: their ends couple
        const CompactDMDA grid({3, n}, 1, periodic, {1, ranks});
        CompactMat        mat(grid, MAT_COMPACT_Y, 1, order);
        OK(MatMult(mat.A, mat.u, mat.y));
        const std::string text = compact_view(mat.A);
        if (ranks > 1 && rank == 0) {
          EXPECT_EQ(contains(text, "in one exchange"), n == 400 || (ranks == 2 && !periodic)) << text;
        }
        OK(MatMultTranspose(mat.A, mat.u, mat.y)); // two exchanges
      }
}

TEST_F(Compact, RowsOfAnyScaleAreNotMistakenForDecay)
{
  // Operators A^-1 B of which one row of both is multiplied. Four ranks have sub-lines of ten rows, which the ends of B
  // just couple.
  const PetscInt n = 40, half = n / 2, wide = 8, row = 15;
  for (PetscReal scale : {1., 1e6, 1e12})
    for (PetscReal a : {0.1, 0.01, 0.001}) {
      std::vector<PetscScalar> A, B;
      for (PetscInt i = 0; i < n; ++i) {
        const PetscReal f = i == row ? scale : 1;
        for (PetscReal entry : {a, PetscReal(1), a}) A.push_back(f * entry);
        B.insert(B.end(), 2 * wide + 1, f);
      }
      const MatCompactRows left  = {1, &A[0], half, &A[0], &A[3 * half]},
                           right = {wide, &B[0], half, &B[0], &B[(2 * wide + 1) * half]};
      const CompactDMDA grid({n}, 1, false, {ranks});
      CompactMat        mat(grid, MAT_COMPACT_X);
      Mat               alone;
      Vec               u, y;
      PetscScalar      *v;
      PetscReal         apart = 0;
      OK(MatCompactSetStencil(mat.A, &left, &right));
      OK(MatCreate(PETSC_COMM_SELF, &alone));
      OK(MatSetSizes(alone, n, n, n, n));
      OK(MatSetType(alone, MATCOMPACT));
      OK(MatCompactSetGrid(alone, n, 1, 1, 1));
      OK(MatCompactSetStencil(alone, &left, &right));
      OK(MatSetUp(alone));
      OK(MatCreateVecs(alone, &u, &y));
      OK(VecGetArrayWrite(u, &v));
      for (PetscInt i = 0; i < n; ++i) v[i] = std::sin(1 + static_cast<double>(i));
      OK(VecRestoreArrayWrite(u, &v));
      OK(VecGetArrayWrite(mat.u, &v));
      for (PetscInt i = 0; i < grid.points(); ++i)
        v[i] = std::sin(1 + static_cast<double>(grid.begin[0] + i));
      OK(VecRestoreArrayWrite(mat.u, &v));
      OK(MatMult(alone, u, y));
      OK(MatMult(mat.A, mat.u, mat.y));
      const PetscScalar *whole, *own;
      OK(VecGetArrayRead(y, &whole));
      OK(VecGetArrayRead(mat.y, &own));
      for (PetscInt i = 0; i < grid.points(); ++i)
        apart = PetscMax(apart, PetscAbsScalar(own[i] - whole[grid.begin[0] + i]));
      OK(VecRestoreArrayRead(mat.y, &own));
      OK(VecRestoreArrayRead(y, &whole));
      EXPECT_LE(apart, 100 * PETSC_MACHINE_EPSILON) << "scale " << scale << ", off-diagonal " << a;
      MatDestroy(&alone);
      VecDestroy(&u);
      VecDestroy(&y);
    }
}

TEST_F(Compact, AddsAVectorInPlaceOrNot)
{
  for (bool periodic : {true, false})
    for (PetscInt n : {14, 60, 400})
      for (bool transposed : {false, true}) {
        const CompactDMDA grid({4, n}, 2, periodic, {1, ranks});
        CompactMat        mat(grid, MAT_COMPACT_Y, 1, 6);
        Vec               v, sum;
        OK(VecDuplicate(mat.u, &v));
        OK(VecDuplicate(mat.u, &sum));
        OK(VecSetRandom(v, nullptr));
        OK(MatScale(mat.A, -2));
        OK(transposed ? MatMultTranspose(mat.A, mat.u, mat.y) : MatMult(mat.A, mat.u, mat.y));
        OK(VecWAXPY(sum, 1, mat.y, v));
        OK(transposed ? MatMultTransposeAdd(mat.A, mat.u, v, mat.y) : MatMultAdd(mat.A, mat.u, v, mat.y));
        EXPECT_LE(difference(mat.y, sum), 100 * PETSC_MACHINE_EPSILON);
        OK(transposed ? MatMultTransposeAdd(mat.A, mat.u, v, v) : MatMultAdd(mat.A, mat.u, v, v));
        EXPECT_LE(difference(v, sum), 100 * PETSC_MACHINE_EPSILON);
        VecDestroy(&v);
        VecDestroy(&sum);
      }
}

TEST_F(Compact, DiagonalIsThatOfTheProduct)
{
  for_all_schemes([&](const CompactCase &c, bool periodic) {
    const CompactDMDA grid({2, 70}, 1, periodic, {1, ranks});
    CompactMat        mat(grid, MAT_COMPACT_Y, c.derivative, c.order);
    Vec               d, wanted;
    PetscInt          begin, end, all;
    OK(MatCompactSetStaggered(mat.A, c.staggered));
    OK(VecDuplicate(mat.u, &d));
    OK(VecDuplicate(mat.u, &wanted));
    OK(VecGetOwnershipRange(d, &begin, &end));
    OK(VecGetSize(d, &all));
    for (PetscInt k = 0; k < all; k += 3) { // entries in between are not compared
      PetscScalar entry = 0;
      OK(VecZeroEntries(mat.u));
      const bool own = k >= begin && k < end;
      if (own) VecSetValue(mat.u, k, 1, INSERT_VALUES);
      OK(VecAssemblyBegin(mat.u));
      OK(VecAssemblyEnd(mat.u));
      OK(MatMult(mat.A, mat.u, mat.y));
      if (own) VecGetValues(mat.y, 1, &k, &entry), VecSetValue(wanted, k, entry, INSERT_VALUES);
    }
    OK(VecAssemblyBegin(wanted));
    OK(VecAssemblyEnd(wanted));
    OK(MatGetDiagonal(mat.A, d));
    PetscScalar *a;
    OK(VecGetArray(d, &a));
    for (PetscInt k = begin; k < end; ++k)
      if (k % 3 != 0) a[k - begin] = 0;
    OK(VecRestoreArray(d, &a));
    PetscReal norm, size;
    OK(VecNorm(mat.y, NORM_INFINITY, &size)); // of a column
    OK(VecAXPY(d, -1, wanted));
    OK(VecNorm(d, NORM_INFINITY, &norm));
    EXPECT_LE(norm, 100 * PETSC_MACHINE_EPSILON * size);
    VecDestroy(&d);
    VecDestroy(&wanted);
  });
}

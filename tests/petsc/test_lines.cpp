// SPDX-License-Identifier: BSD-2-Clause
// Detection of lines without a DM: wide bands, grids in natural numbering, blocks, unstructured lines.
#include "lines_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

using namespace test;

namespace {

TEST_F(PCLineLines, WideBandsWithoutADM) // one rank: one rank shows it
{
  for (PetscInt h = 1; h <= 8; ++h)
    for (bool periodic : {false, true}) {
      const PetscInt n    = 41;
      const auto     near = [&](PetscInt r, PetscInt c) {
        return std::abs(r - c) <= h || (periodic && n - std::abs(r - c) <= h);
      };
      Mat A = matrix(
        n, [](PetscInt r, PetscInt c) { return entry(r, c); }, near);
      {
        Line     line(A);
        PetscInt found;
        EXPECT_LT(line.residual(A), 1e-13) << h << " " << periodic;
        OK(PCLineGetInfo(line.pc, nullptr, nullptr, nullptr, nullptr, &found, nullptr));
        EXPECT_EQ(found, h);
      }
      OK(MatDestroy(&A));
    }
}

/// Couplings on an nx x ny x nz grid in natural numbering: strong along direction d, weak along the others.
/// With `corners` all couplings in between are 0.01.
Mat natural_grid(std::array<PetscInt, 3> n, int d, bool corners, PetscInt dof = 1)
{
  const auto at = [n, dof](PetscInt r) {
    r /= dof;
    return std::array<PetscInt, 3>{r % n[0], (r / n[0]) % n[1], r / (n[0] * n[1])};
  };
  const auto distance = [at](PetscInt r, PetscInt c) {
    const auto              a = at(r), b = at(c);
    std::array<PetscInt, 3> away;
    for (std::size_t k = 0; k < 3; ++k) away[k] = std::abs(a[k] - b[k]);
    return away;
  };
  Mat A = matrix(
    n[0] * n[1] * n[2] * dof,
    [=](PetscInt r, PetscInt c) {
      const auto away  = distance(r, c);
      const int  total = static_cast<int>(away[0] + away[1] + away[2]);
      return static_cast<PetscScalar>(r == c       ? 3.0 * static_cast<double>(dof)
                                      : total == 0 ? 0.05
                                      : total == 1 && away[static_cast<std::size_t>(d)] == 1 ? -1.0
                                                                                             : -1e-3);
    },
    [=](PetscInt r, PetscInt c) {
      const auto away = distance(r, c);
      return corners ? *std::max_element(away.begin(), away.end()) <= 1 : away[0] + away[1] + away[2] <= 1;
    });
  if (dof > 1) MatSetBlockSize(A, dof);
  return A;
}

TEST_F(PCLineLines, GridsWithoutADM)
{
  for (const auto &n : {std::array<PetscInt, 3>{11, 13, 1}, {11, 9, 5}})
    for (int d = 0; d < (n[2] > 1 ? 3 : 2); ++d)
      for (bool corners : {false, true}) {
        Mat A = natural_grid(n, d, corners);
        {
          Line line(A);
          OK(PCSetUp(line.pc));
          EXPECT_TRUE(contains(line.view(), "matrix pattern, a grid of 11 x")) << line.view();
          if (ranks == 1 || d == 0) {
            EXPECT_EQ(line.direction(), std::string(1, "xyz"[d])) << line.view();
          }
          // The solve leaves out weak couplings everywhere, and strong ones where lines span ranks.
          const PetscReal left = line.residual(A);
          EXPECT_LT(left, ranks == 1 ? 0.02 : 0.9) << line.view();
        }
        OK(MatDestroy(&A));
      }
}

TEST_F(PCLineLines, GridsWithRowsOfBoundaryConditions)
{
  const PetscInt n[2] = {13, 17};
  for (bool columns : {false, true}) { // whether the other rows store the columns of the boundary
    const auto inside = [n](PetscInt r) {
      return r % n[0] > 0 && r % n[0] < n[0] - 1 && r / n[0] > 0 && r / n[0] < n[1] - 1;
    };
    Mat A = matrix(
      n[0] * n[1],
      [=](PetscInt r, PetscInt c) {
        return static_cast<PetscScalar>(r == c ? 3 : std::abs(r - c) == 1 ? -1 : 0.001);
      },
      [=](PetscInt r, PetscInt c) {
        return r == c ||
               (inside(r) && (columns || inside(c)) && (std::abs(r - c) == 1 || std::abs(r - c) == n[0]));
      });
    {
      Line line(A);
      OK(PCSetUp(line.pc));
      EXPECT_TRUE(contains(line.view(), "a grid of 13 x")) << columns << line.view();
      EXPECT_EQ(line.direction(), "x");
      EXPECT_LT(line.residual(A), ranks == 1 ? 0.01 : 0.5);
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineLines, DirectionsByNameWithoutADM)
{
  Mat A = natural_grid({12, 10, 1}, 0, false);
  {
    Line                  line(A);
    const PCLineDirection both[] = {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y};
    OK(PCLineSetDirections(line.pc, 2, both));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "x,y");
    EXPECT_LT(line.residual(A), ranks == 1 ? 0.01 : 0.8);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Z));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_EQ(last_error(), "PC line: -pc_line_direction z: the grid has 2 dimensions");
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineLines, ZebraWithoutADM)
{
  Mat A = natural_grid({12, 8, 1}, 0, false);
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
    const PetscReal jacobi = line.residual(A);
    OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_ZEBRA));
    EXPECT_LT(line.residual(A), jacobi) << line.view();
    PetscInt lines, sum;
    OK(PCLineGetInfo(line.pc, nullptr, &lines, nullptr, nullptr, nullptr, nullptr));
    OK(MPI_Allreduce(&lines, &sum, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    EXPECT_EQ(sum, 8);
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineLines, BlockGridsWithoutADM)
{
  Mat A = natural_grid({11, 12, 1}, 0, false, 2);
  {
    Line line(A);
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "x") << line.view();
    EXPECT_TRUE(contains(line.view(), "blocks of 2")) << line.view();
  }
  OK(MatDestroy(&A));
}

/// Elements of `dof` coupled unknowns on an nx x ny grid in natural numbering. They also couple with
/// elements at distance one, or two along x or y.
Mat coupled_grid(PetscInt nx, PetscInt ny, PetscInt dof, bool two_along_x, bool two_along_y)
{
  const auto couples = [=](PetscInt r, PetscInt c) {
    const PetscInt e = r / dof, f = c / dof, x = std::abs(e % nx - f % nx), y = std::abs(e / nx - f / nx);
    return x + y <= 1 || (two_along_x && y == 0 && x == 2) || (two_along_y && x == 0 && y == 2);
  };
  Mat A = matrix(
    nx * ny * dof, [](PetscInt r, PetscInt c) { return entry(r, c, 200); }, couples);
  MatSetBlockSize(A, dof);
  return A;
}

TEST_F(PCLineLines, DirectionsThatWereFoundAndCannotBeSolvedGiveWay)
{
  for (bool both : {false, true}) {
    Mat A = coupled_grid(6, 16, 2, both, true);
    {
      Line line(A);
      OK(PCSetUp(line.pc));
      EXPECT_EQ(line.direction(), both ? "matrix" : "x") << line.view();
      EXPECT_TRUE(contains(
        line.view(),
        "2 components couple with each other, and elements with others 2 away on their line along y"))
        << line.view();
      EXPECT_EQ(contains(line.view(), "2 away on their line along x"), both) << line.view();
      EXPECT_LT(line.residual(A), 0.5);
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y));
      EXPECT_NE(PCSetUp(line.pc), 0);
      EXPECT_EQ(last_error(), "PC line: 2 components couple with each other, and elements with others 2 away "
                              "on their line along y; block lines reach the next element only");
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineLines, RowsOfLargerBlocksFollowTheLargestCouplings)
{
  Mat A = coupled_grid(6, 8, 9, false, false);
  {
    Line line(A);
    EXPECT_LT(line.residual(A), 0.5);
    EXPECT_EQ(line.direction(), "matrix") << line.view();
    EXPECT_TRUE(contains(
      line.view(),
      "row 0 couples to another of the 9 components of its line along x; blocks reach up to 8 components"))
      << line.view();
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineLines, UnstructuredLines)
{
  const PetscInt        n = 400;
  std::vector<PetscInt> order(static_cast<std::size_t>(n)), place(order.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 g(3);
  // Lines stay on their ranks for 1, 2 and 4 ranks.
  for (PetscInt k = 0; k < n; k += 100) std::shuffle(order.begin() + k, order.begin() + k + 100, g);
  for (std::size_t k = 0; k < order.size(); ++k)
    place[static_cast<std::size_t>(order[k])] = static_cast<PetscInt>(k);
  // Lines of 20 rows in shuffled numbering, with weak couplings between them.
  const auto on_line = [&](PetscInt r, PetscInt c) {
    const PetscInt a = place[static_cast<std::size_t>(r)], b = place[static_cast<std::size_t>(c)];
    return std::abs(a - b) == 1 && a / 20 == b / 20;
  };
  for (double weak : {0.0, 0.01}) {
    Mat A = matrix(
      n,
      [&](PetscInt r, PetscInt c) {
        return static_cast<PetscScalar>(r == c ? 2.1 : on_line(r, c) ? -1 : weak);
      },
      [&](PetscInt r, PetscInt c) { return r == c || on_line(r, c) || std::abs(r - c) == 50; });
    {
      Line line(A);
      OK(PCSetUp(line.pc));
      EXPECT_EQ(line.direction(), "matrix") << "nothing else has lines";
      EXPECT_LT(line.residual(A), weak == 0 ? 1e-13 : 0.2) << line.view();
      EXPECT_LT(line.residual(A, true), weak == 0 ? 1e-13 : 0.2);
      EXPECT_TRUE(contains(line.view(), "20 lines of any length")) << line.view();
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
      EXPECT_LT(line.residual(A), weak == 0 ? 1e-13 : 0.2);
      Mat      B, X;
      PetscInt rows;
      OK(MatGetLocalSize(A, &rows, nullptr));
      OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, n, 3, nullptr, &B));
      OK(MatSetRandom(B, nullptr));
      OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
      OK(PCMatApply(line.pc, B, X));
      EXPECT_LT(residual(A, B, X), weak == 0 ? 1e-13 : 0.2);
      OK(MatDestroy(&B));
      OK(MatDestroy(&X));
    }
    OK(MatDestroy(&A));
  }
}

} // namespace

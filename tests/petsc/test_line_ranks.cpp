// SPDX-License-Identifier: BSD-2-Clause
// Lines along the largest couplings that span ranks in any order.
#include "scattered_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>

using namespace test;

namespace {

class PCLineRanks : public Petsc { };

constexpr double rounding = sizeof(PetscReal) == 4 ? 1e-5 : 1e-13;

constexpr PCLineSearch both[] = {PC_LINE_SEARCH_HOST, PC_LINE_SEARCH_ROUNDS};

void follow_couplings(PC pc, PCLineSearch search)
{
  OK(PCLineSetDirection(pc, PC_LINE_DIRECTION_MATRIX));
  OK(PCLineSetSearch(pc, search));
}

TEST_F(PCLineRanks, AreSolvedExactly)
{
  const PCLineSearch host = PC_LINE_SEARCH_HOST, rounds = PC_LINE_SEARCH_ROUNDS;
  for (const auto &[dof, reach, search] : {std::tuple{1, 1, host},
                                           {1, 1, rounds},
                                           {1, 3, host},
                                           {1, 3, rounds},
                                           {1, 8, host},
                                           {1, 8, rounds},
                                           {2, 1, host},
                                           {2, 1, rounds},
                                           {3, 2, host},
                                           {3, 2, rounds},
                                           {5, 1, host},
                                           {5, 1, rounds}}) {
    Scattered of{12, 7, dof, reach};
    Mat       A = of.make(), B, X;
    PetscInt  rows;
    {
      Line line(A);
      follow_couplings(line.pc, search);
      EXPECT_LT(line.residual(A), rounding) << dof << " " << reach << line.view();
      EXPECT_LT(line.residual(A, true), rounding);
      EXPECT_TRUE(contains(line.view(), "packed: 7 lines")) << line.view();
      EXPECT_EQ(contains(line.view(), "lines that span ranks: 7 of 7 lines, each solved on one of its ranks"),
                ranks > 1)
        << line.view();
      OK(MatGetLocalSize(A, &rows, nullptr));
      OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
      OK(MatSetRandom(B, nullptr));
      OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
      OK(PCMatApply(line.pc, B, X));
      EXPECT_LT(residual(A, B, X), rounding);
      OK(MatDestroy(&B));
      OK(MatDestroy(&X));
      OK(MatScale(A, 2)); // new values
      EXPECT_LT(line.residual(A), rounding);
      if (ranks > 1) {
        OK(PCLineSetCut(line.pc, PC_LINE_CUT_LOCAL));
        EXPECT_GT(line.residual(A), 1e-3) << "each rank alone";
      }
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineRanks, IterationsDoNotDependOnRanks)
{
  Scattered of{24, 10, 1, 1, false, -0.05};
  Mat       A = of.make();
  for (const char *search : {"host", "rounds"}) {
    const std::string line = std::string("-ksp_type cg -pc_type line -pc_line_direction matrix "
                                         "-pc_line_search ") +
                             search,
                      zebra = line + " -ksp_type gmres -pc_line_ordering zebra",
                      local = line + " -pc_line_cut local";
    EXPECT_EQ(iterations_of(A, line.c_str()), 4) << "as on one rank, " << search;
    const PetscInt by_colour = iterations_of(A, zebra.c_str());
    EXPECT_TRUE(by_colour > 0 && by_colour <= 4) << by_colour;
    if (ranks > 1) {
      EXPECT_GT(iterations_of(A, local.c_str()), 4);
    }
  }
  const PetscInt by_line = iterations_of(A, "-ksp_type line -pc_type line -pc_line_direction matrix");
  EXPECT_TRUE(by_line > 0 && by_line < 40) << by_line;
  OK(MatDestroy(&A));
}

TEST_F(PCLineRanks, StrengthDoesNotDependOnUnits)
{
  // an anisotropic grid whose unknowns have different units, and are numbered anywhere on all ranks
  const PetscInt        nx = 12, ny = 14, n = nx * ny;
  std::vector<PetscInt> at(static_cast<std::size_t>(n));
  std::iota(at.begin(), at.end(), 0);
  std::shuffle(at.begin(), at.end(), std::mt19937(3));
  const auto place = [&at](PetscInt r) { return at[static_cast<std::size_t>(r)]; };
  const auto apart = [&](PetscInt r, PetscInt c) {
    return std::pair{std::abs(place(r) % nx - place(c) % nx), std::abs(place(r) / nx - place(c) / nx)};
  };
  const auto unit = [&](PetscInt r) { return std::pow(10, std::sin(3.0 * static_cast<double>(place(r)))); };
  Mat        A    = matrix(
              n,
              [&](PetscInt r, PetscInt c) {
      return PetscScalar(unit(r) * unit(c) * (r == c ? 2.2 : apart(r, c).first == 1 ? -0.1 : -1));
    },
              [&](PetscInt r, PetscInt c) { return apart(r, c).first + apart(r, c).second <= 1; });
  for (PCLineSearch search : both) {
    Line line(A);
    follow_couplings(line.pc, search);
    OK(PCLineSetStrength(line.pc, PC_LINE_STRENGTH_SA));
    line.residual(A);
    EXPECT_TRUE(contains(line.view(), "largest couplings of the matrix by strength sa")) << line.view();
    EXPECT_TRUE(contains(line.view(), "packed: 12 lines of any length")) << line.view();
    OK(PCLineSetStrength(line.pc, PC_LINE_STRENGTH_ABS));
    line.residual(A);
    EXPECT_FALSE(contains(line.view(), "by strength")) << line.view();
    EXPECT_FALSE(contains(line.view(), "packed: 12 lines of any length")) << line.view();
  }
  const std::string by    = "-ksp_type cg -pc_type line -pc_line_direction matrix -pc_line_strength ";
  const PetscInt    by_sa = iterations_of(A, (by + "sa").c_str()),
                 by_abs   = iterations_of(A, (by + "abs").c_str());
  EXPECT_TRUE(by_sa > 0 && (by_abs < 0 || by_sa < by_abs)) << by_sa << " and " << by_abs;
  OK(MatDestroy(&A));
}

TEST_F(PCLineRanks, RingsAreFolded)
{
  const PCLineSearch host = PC_LINE_SEARCH_HOST, rounds = PC_LINE_SEARCH_ROUNDS;
  for (const auto &[dof, reach, search] :
       {std::tuple{1, 1, host}, {1, 1, rounds}, {1, 4, host}, {1, 4, rounds}, {2, 1, host}, {2, 1, rounds}}) {
    Scattered of{24, 7, dof, reach, 7};
    Mat       A = of.make();
    {
      Line line(A);
      follow_couplings(line.pc, search);
      const PetscReal left = line.residual(A);
      EXPECT_TRUE(contains(line.view(), "packed: 7 lines")) << line.view();
      EXPECT_TRUE(contains(line.view(), "rings: 7 lines are closed")) << line.view();
      EXPECT_TRUE(contains(line.view(), "0 are points")) << line.view();
      EXPECT_FALSE(contains(line.view(), "lumped")) << line.view();
      EXPECT_LT(left, sizeof(PetscReal) == 4 ? 1e-5 : 1e-13) << dof << " " << reach;
    }
    OK(MatDestroy(&A));
  }
}

// Bands of all lines would be twice as wide.
TEST_F(PCLineRanks, FewRingsAreOpened)
{
  Scattered of{12, 30, 1, 1, 1};
  Mat       A = of.make();
  for (PCLineSearch search : both) {
    Line line(A);
    follow_couplings(line.pc, search);
    const PetscReal left = line.residual(A);
    EXPECT_TRUE(contains(line.view(), "packed: 30 lines")) << line.view();
    EXPECT_TRUE(contains(line.view(), "rows: 360 on lines of 12 to 12 elements, 0 are points"))
      << line.view();
    EXPECT_FALSE(contains(line.view(), "rings:")) << line.view();
    EXPECT_TRUE(contains(line.view(), "lumped: 2 entries")) << line.view(); // both ends of the ring
    EXPECT_LT(left, 0.5);
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineRanks, FoldedRingsAreDampedAsNarrowLines)
{
  Scattered of{24, 7, 1, 1, 7, 0.01};
  Mat       A = of.make();
  {
    Line line(A);
    OK(PCSetOptionsPrefix(line.pc, "mg_levels_"));
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_JACOBI));
    OK(PCSetUp(line.pc));
    EXPECT_TRUE(contains(line.view(), "rings: 7 lines are closed")) << line.view();
    EXPECT_TRUE(contains(line.view(), "omega 0.8")) << line.view();
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineRanks, DetailedViewListsEveryRowOnce)
{
  Scattered of{12, 7, 2, 1};
  Mat       A = of.make();
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCSetUp(line.pc));
    const std::string view = printed([&](PetscViewer viewer) {
      PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO_DETAIL);
      PCView(line.pc, viewer);
      PetscViewerPopFormat(viewer);
    });
    EXPECT_FALSE(contains(line.view(), "rows of each line"));
    const std::size_t begin = view.find("rows of each line");
    if (rank == 0) {
      ASSERT_NE(begin, std::string::npos) << view;
    }
    std::istringstream    text(view.substr(std::min(begin, view.size())));
    std::vector<PetscInt> places;
    std::string           row;
    std::getline(text, row);
    while (std::getline(text, row) && row.substr(0, 5) == "     ") {
      std::istringstream    rows(row);
      std::vector<PetscInt> on_line;
      for (PetscInt r; rows >> r;) on_line.push_back(of.place[static_cast<std::size_t>(r / 2)]);
      for (std::size_t k = 1; k < on_line.size(); ++k)
        EXPECT_EQ(std::abs(on_line[k] - on_line[k - 1]), 1) << view;
      places.insert(places.end(), on_line.begin(), on_line.end());
    }
    std::sort(places.begin(), places.end());
    std::vector<PetscInt> all(12 * 7);
    std::iota(all.begin(), all.end(), 0);
    if (rank == 0) {
      EXPECT_EQ(places, all) << view;
    }
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineRanks, FailuresNameTheRow)
{
  Scattered of{12, 7, 1, 1};
  Mat       A     = of.make();
  PetscInt  first = -1, begin, end;
  for (std::size_t e = 0; e < of.place.size(); ++e)
    if (of.place[e] == 5 * 12) first = static_cast<PetscInt>(e);
  OK(MatGetOwnershipRange(A, &begin, &end));
  // the row of an end of a line is zero
  if (first >= begin && first < end) {
    PetscInt           count;
    const PetscInt    *columns;
    const PetscScalar *values;
    OK(MatGetRow(A, first, &count, &columns, &values));
    const std::vector<PetscInt> at(columns, columns + count);
    OK(MatRestoreRow(A, first, &count, &columns, &values));
    const std::vector<PetscScalar> zeros(at.size(), 0);
    OK(MatSetValues(A, 1, &first, static_cast<PetscInt>(at.size()), at.data(), zeros.data(), INSERT_VALUES));
  }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (PCLineSearch search : both) {
    Line line(A);
    follow_couplings(line.pc, search);
    OK(PCSetUp(line.pc));
    EXPECT_NE(failed_reason(line.pc), PC_NOERROR);
    EXPECT_TRUE(contains(line.view(), "row " + std::to_string(first) + " ")) << first << line.view();
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineRanks, NumbersThatAreNotFiniteNameTheRow)
{
  Scattered of{12, 7, 1, 1};
  Mat       A = of.make();
  PetscInt  begin, end;
  OK(MatGetOwnershipRange(A, &begin, &end));
  if (begin <= 40 && 40 < end) {
    OK(MatSetValue(A, 40, 40, std::numeric_limits<PetscReal>::infinity(), INSERT_VALUES));
  }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (PCLineSearch search : both) {
    Line line(A);
    follow_couplings(line.pc, search);
    OK(PCSetUp(line.pc));
    EXPECT_TRUE(contains(line.view(), "row 40 has an entry that is not a finite number")) << line.view();
  }
  OK(MatDestroy(&A));
}

/// Grids of 2 points along x whose planes have three lines on even ranks and one on odd ones.
TEST_F(PCLineRanks, PlanesThatDifferAreNoPlanes)
{
  const PetscInt nx = 2, own = 12;
  const auto     couple = [&](PetscInt r, PetscInt c) {
    const PetscInt of = r / own, i = r % own, j = c % own, ny = of % 2 == 0 ? 3 : 1;
    if (c / own != of) return false;
    const bool same_line = i / nx == j / nx, same_plane = i / (nx * ny) == j / (nx * ny);
    return (same_line && std::abs(i - j) == 1) || (same_plane && std::abs(i - j) == nx);
  };
  Mat A = matrix(
    own * ranks, [&](PetscInt r, PetscInt c) -> PetscScalar { return r == c ? 5 : -1; },
    [&](PetscInt r, PetscInt c) { return r == c || couple(r, c); }, own);
  for (const PCLineDirection direction : {PC_LINE_DIRECTION_AUTO, PC_LINE_DIRECTION_Y}) {
    Line line(A);
    OK(PCLineSetDirection(line.pc, direction));
    OK(PCSetUp(line.pc));
    OK(PCApply(line.pc, line.b, line.x));
  }
  OK(MatDestroy(&A));
}

} // namespace

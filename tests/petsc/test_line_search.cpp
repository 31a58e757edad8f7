// SPDX-License-Identifier: BSD-2-Clause
// The two searches for lines along the largest couplings: one coupling after another on the host, and by rounds in
// the memory of the matrix.
#include "scattered_lines.hpp"

#include <line/operator.hpp>
#include <lines/by_rounds.hpp>
#include <lines/line_map.hpp>
#include <support/session.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace test;
using ribbon::petsc::LineDirection;
using ribbon::petsc::LineSearch;

namespace {

class PCLineTwoSearches : public Petsc { };

/// A grid of nx x ny rows, which are shuffled on each rank, with couplings 1 along x and `along_y` along y.
struct ScatteredGrid {
  double   along_y = 10, spread = 0; ///< couplings vary by 10^(+-spread)
  bool     units        = false;     ///< unknowns have different units
  PetscInt empty        = 0;     ///< every so many columns of rows store no entry off the diagonal; 0: none
  PetscInt far          = 1;     ///< weak couplings along y up to this distance
  bool     all_on_first = false; ///< the first rank has all rows
  PetscInt nx = 18, ny = 15;

  Mat make() const
  {
    std::vector<PetscInt> place(static_cast<std::size_t>(nx * ny));
    PetscMPIInt           rank, size;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank), MPI_Comm_size(PETSC_COMM_WORLD, &size);
    std::iota(place.begin(), place.end(), 0);
    auto begin = place.begin();
    for (PetscMPIInt q = 0; q < size; ++q) { // the rows of rank q
      const auto end = all_on_first ? place.end() : begin + (nx * ny / size + (nx * ny % size > q));
      std::shuffle(begin, end, std::mt19937(17));
      begin = end;
    }
    const auto at       = [&place](PetscInt r) { return place[static_cast<std::size_t>(r)]; };
    const auto dx       = [&](PetscInt r, PetscInt c) { return std::abs(at(r) % nx - at(c) % nx); };
    const auto dy       = [&](PetscInt r, PetscInt c) { return std::abs(at(r) / nx - at(c) / nx); };
    const auto is_empty = [&](PetscInt r) { return empty > 0 && at(r) % nx % empty == 0; };
    const auto unit     = [&](PetscInt r) {
      return units ? std::pow(10, 0.5 * std::sin(3.0 * static_cast<double>(at(r)))) : 1.0;
    };
    const auto varied = [&](PetscInt r, PetscInt c) { // the same for (c, r)
      const auto a = static_cast<double>(at(r)), b = static_cast<double>(at(c));
      return std::pow(10, spread * std::sin(1 + 12.9898 * std::min(a, b) + 78.233 * std::max(a, b)));
    };
    const auto couple = [&](PetscInt r, PetscInt c) {
      const bool near = dx(r, c) == 0 ? dy(r, c) > 0 && dy(r, c) <= far : dx(r, c) + dy(r, c) == 1;
      return near && !is_empty(r) && !is_empty(c);
    };
    const auto coupling = [&](PetscInt r, PetscInt c) {
      return varied(r, c) * (dx(r, c) == 1 ? 1 : dy(r, c) == 1 ? along_y : 0.01 * along_y);
    };
    return matrix(
      nx * ny,
      [&](PetscInt r, PetscInt c) {
        double sum = 0.03; // of the couplings, so that the matrix is positive definite
        for (PetscInt k = 0; k < nx * ny && r == c; ++k) sum += couple(r, k) ? coupling(r, k) : 0;
        return PetscScalar(unit(r) * unit(c) * (r == c ? sum : -coupling(r, c)));
      },
      [&](PetscInt r, PetscInt c) { return r == c || couple(r, c); },
      !all_on_first ? PETSC_DECIDE
      : rank == 0   ? nx * ny
                    : 0);
  }
};

/// The direction that a search finds on the rows of each rank, and its source.
struct Found {
  LineDirection lines;
  std::string   source;
};
void find(Mat A, LineSearch search, ribbon::CouplingStrength strength, bool coloured, Found *found)
{
  ribbon::petsc::LineSource source;
  ribbon::petsc::Elements   elements;
  ribbon::petsc::LineMap    map;
  map.search = search, map.strength = strength, map.coloured = coloured;
  OK(ribbon::petsc::EnsureKokkos());
  OK(ribbon::petsc::GetLineSource(A, &source));
  OK(ribbon::petsc::GetElements(source, &elements));
  OK(ribbon::petsc::LinesFromCouplings(source, elements, &map));
  found->lines = map.directions.back(), found->source = map.source;
  OK(ribbon::petsc::RestoreLineSource(&source));
}

/// The direction of the lines that the host finds, if the matrix is read as one in device memory.
void give(Mat A, ribbon::CouplingStrength strength, Found *found)
{
  ribbon::petsc::LineSource   source;
  ribbon::petsc::LineMap      map;
  ribbon::LinesOfGraph        lines;
  ribbon::LinesOfGraphOptions options;
  PetscInt                    components;
  OK(MatGetBlockSize(A, &components));
  options.strength = strength, options.block = static_cast<int>(components);
  OK(ribbon::petsc::EnsureKokkos());
  OK(ribbon::petsc::GetLineSource(A, &source));
  OK(ribbon::petsc::WithCsrOnHost(
    source.block, [&](const auto &rows) { lines = ribbon::lines_from_graph(rows, options); }));
  OK(ribbon::petsc::AddLinesThere(source, "matrix", lines, options.block, &map));
  found->lines = map.directions.back();
  OK(ribbon::petsc::RestoreLineSource(&source));
}

/// @param known  compare the couplings that the searches found, too
void expect_same(const LineDirection &a, const LineDirection &b, bool known = true)
{
  EXPECT_EQ(a.components, b.components);
  EXPECT_EQ(a.element->entries(), b.element->entries());
  EXPECT_EQ(a.part->entries(), b.part->entries());
  EXPECT_EQ(a.elements(), b.elements());
  EXPECT_EQ(a.lines.rows, b.lines.rows);
  EXPECT_EQ(a.lines.lines(), b.lines.lines());
  EXPECT_EQ(a.widest, b.widest);
  EXPECT_EQ(a.rings, b.rings);
  EXPECT_EQ(a.lines_all, b.lines_all);
  EXPECT_EQ(a.lumped, b.lumped);
  EXPECT_EQ(a.colours.size(), b.colours.size());
  for (std::size_t k = 0; k < std::min(a.colours.size(), b.colours.size()); ++k)
    for (std::size_t s = 0; s < std::min(a.colours[k].size(), b.colours[k].size()); ++s)
      EXPECT_EQ(a.colours[k][s].element->entries(), b.colours[k][s].element->entries());
  if (!known) return;
  ASSERT_EQ(a.known.has_value(), b.known.has_value());
  if (!a.known) return;
  EXPECT_EQ(a.known->half_bandwidth, b.known->half_bandwidth);
  EXPECT_EQ(a.known->stored_bandwidth, b.known->stored_bandwidth);
  EXPECT_EQ(a.known->entries, b.known->entries);
  EXPECT_EQ(a.known->no_diagonal, b.known->no_diagonal);
  EXPECT_EQ(a.known->not_finite, b.known->not_finite);
  EXPECT_EQ(a.known->across, b.known->across);
  EXPECT_EQ(a.known->zero_sums, b.known->zero_sums);
}

/// Grids whose strong couplings form paths: both searches find the same lines.
struct Case {
  const char   *name;
  ScatteredGrid grid;
};
const Case cases[] = {{"strong along y", {}},
                      {"strong along x", {0.1}},
                      {"couplings that vary", {10, 0.1}},
                      {"empty rows", {10, 0, false, 7}},
                      {"entries beyond the band", {10, 0.1, false, 0, 12}},
                      {"entries beyond the band of long lines", {10, 0.1, false, 0, 30, false, 3, 100}},
                      {"one rank has all rows", {10, 0.1, false, 0, 1, true}},
                      {"one row", {1, 0, false, 0, 1, false, 1, 1}}};

TEST_F(PCLineTwoSearches, TheSameLinesWhereStrongCouplingsFormPaths)
{
  const auto compare = [](const char *name, const ScatteredGrid &grid, int strength, bool coloured) {
    SCOPED_TRACE(testing::Message() << name << ", strength " << strength << ", coloured " << coloured);
    Found host, rounds, given;
    Mat   A = grid.make();
    find(A, LineSearch::host, static_cast<ribbon::CouplingStrength>(strength), coloured, &host);
    find(A, LineSearch::rounds, static_cast<ribbon::CouplingStrength>(strength), coloured, &rounds);
    give(A, static_cast<ribbon::CouplingStrength>(strength), &given);
    OK(MatDestroy(&A));
    EXPECT_TRUE(rounds.lines.tables);
    EXPECT_FALSE(contains(host.source, "by rounds")) << host.source;
    EXPECT_TRUE(contains(rounds.source, ", found by rounds on ")) << rounds.source;
    expect_same(host.lines, rounds.lines);
    if (!coloured) expect_same(given.lines, rounds.lines);
  };
  for (const auto &[name, grid] : cases)
    for (int strength = 0; strength < 3; ++strength)
      for (bool coloured : {false, true}) compare(name, grid, strength, coloured);
  compare("units", {10, 0, true}, PC_LINE_STRENGTH_SA, false);
}

/// Lines of both searches solve to rounding. Scales A.
void expect_same_solves(Mat A, bool zebra)
{
  Vec  x;
  Line line(A);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
  OK(PCLineSetOrdering(line.pc, zebra ? PC_LINE_ORDERING_ZEBRA : PC_LINE_ORDERING_AUTO));
  OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_HOST));
  OK(PCApply(line.pc, line.b, line.x));
  OK(VecDuplicate(line.x, &x));
  OK(VecCopy(line.x, x));
  OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_ROUNDS));
  for (int again = 0; again < 2; ++again) {
    PetscReal size, difference;
    OK(PCApply(line.pc, line.b, line.x));
    OK(VecNorm(x, NORM_2, &size));
    OK(VecAXPY(line.x, -1, x));
    OK(VecNorm(line.x, NORM_2, &difference));
    // rounding, as ranks may solve a line from its other end
    EXPECT_LE(difference, 100 * PETSC_MACHINE_EPSILON * size) << line.view();
    EXPECT_TRUE(contains(line.view(), "largest couplings of the matrix, found by rounds on ")) << line.view();
    OK(MatScale(A, 2)); // the next set-up searches again
    OK(VecScale(x, PetscReal(0.5)));
  }
  OK(VecDestroy(&x));
}

TEST_F(PCLineTwoSearches, TheSameBands)
{
  for (const auto &[name, grid] : cases)
    for (bool zebra : {false, true}) {
      SCOPED_TRACE(testing::Message() << name << (zebra ? ", zebra" : ""));
      Mat A = grid.make();
      expect_same_solves(A, zebra);
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineTwoSearches, RingsAreFoldedAndEntriesBeyondTheBandAreLumped)
{
  // each rank has whole lines only if it is alone
  for (const auto &[length, reach, rings, lumped] : {std::tuple{24, 1, 7, false},
                                                     {24, 4, 7, false},
                                                     {40, 1, 7, false},
                                                     {20, 1, 1, false},
                                                     {24, 8, 0, false},
                                                     {24, 9, 0, true}}) {
    Scattered of{length, 7, 1, reach, rings};
    Mat       A = of.make();
    SCOPED_TRACE(testing::Message() << length << ", reach " << reach << ", " << rings << " rings");
    {
      Line line(A);
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
      OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_ROUNDS));
      const PetscReal   left = line.residual(A);
      const std::string view = line.view();
      if (ranks == 1) {
        EXPECT_TRUE(contains(view, "packed: 7 lines")) << view;
        EXPECT_EQ(contains(view, "rings: " + std::to_string(rings) + " lines are closed"), rings > 0) << view;
        EXPECT_EQ(contains(view, "were added to the diagonals"), lumped) << view;
        EXPECT_LT(left, lumped ? 0.7 : sizeof(PetscReal) == 4 ? 1e-5 : 1e-13) << view;
      }
      EXPECT_LT(left, 1.5) << view;
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineTwoSearches, RingsThatTheHostFindsAreFoldedInTheMemoryOfTheMatrix)
{
  for (const auto &[length, reach, rings] :
       {std::tuple{24, 1, 7}, {24, 4, 7}, {40, 1, 7}, {20, 1, 1}, {24, 9, 0}}) {
    Scattered of{length, 7, 1, reach, rings};
    Mat       A = of.make();
    Found     host, given;
    SCOPED_TRACE(testing::Message() << length << ", reach " << reach << ", " << rings << " rings");
    find(A, LineSearch::host, ribbon::CouplingStrength::absolute, false, &host);
    give(A, ribbon::CouplingStrength::absolute, &given);
    expect_same(host.lines, given.lines);
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineTwoSearches, SimilarIterations)
{
  for (const auto &[along_y, spread] : {std::pair{1.0, 0.0}, {10.0, 0.0}, {1.0, 1.0}, {4.0, 0.5}}) {
    const ScatteredGrid grid{along_y, spread, false, 0, 1, false, 30, 30};
    Mat                 A = grid.make();
    const std::string   by =
      "-ksp_type cg -pc_type line -pc_line_direction matrix -pc_line_cut local -pc_line_search ";
    const PetscInt host   = iterations_of(A, (by + "host").c_str()),
                   rounds = iterations_of(A, (by + "rounds").c_str());
    EXPECT_GT(host, 0);
    EXPECT_GT(rounds, 0);
    EXPECT_LE(rounds, host + host / 4 + 1) << along_y << " " << spread;
    const PetscInt by_line = iterations_of(
      A, "-ksp_type line -pc_type line -pc_line_direction matrix -pc_line_search rounds -ksp_max_it 2000");
    EXPECT_NE(by_line, 0);
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineTwoSearches, TheViewNamesTheSearch)
{
  Mat A = ScatteredGrid{}.make();
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCSetUp(line.pc));
    const std::string by_auto = line.view();
    OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_HOST));
    OK(PCSetUp(line.pc));
    const std::string by_host   = line.view();
    const bool        on_device = is_of_type(line.b, "cuda") || is_of_type(line.b, "kokkos");
    EXPECT_EQ(contains(by_auto, "found by rounds on "), on_device) << by_auto;
    EXPECT_FALSE(contains(by_host, "found by rounds")) << by_host;
    EXPECT_EQ(contains(by_host, ", found on the host"), on_device) << by_host;
    OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_ROUNDS));
    OK(PCLineSetStrength(line.pc, PC_LINE_STRENGTH_SA));
    OK(PCSetUp(line.pc));
    EXPECT_TRUE(contains(line.view(), "largest couplings of the matrix by strength sa, found by rounds on "))
      << line.view();
  }
  OK(MatDestroy(&A));
}

// Blocks of dof unknowns: block tridiagonal lines, bands of rows, folded rings, lumped entries, and components that do
// not couple.
// On several ranks the searches may break ties differently; PCLineRanks has lines that span ranks.
TEST_F(PCLineTwoSearches, TheSameLinesOfBlocks) // one rank
{
  for (const auto &[dof, reach, rings, coupled] : {std::tuple{2, 1, 0, true},
                                                   {2, 2, 0, true},
                                                   {2, 1, 7, true},
                                                   {2, 9, 0, true},
                                                   {3, 1, 0, true},
                                                   {3, 2, 0, true},
                                                   {3, 1, 0, false},
                                                   {4, 2, 0, true},
                                                   {8, 1, 0, true}})
    for (bool coloured : {false, true}) {
      Scattered of{12, 7, dof, reach, rings};
      of.coupled = coupled, of.weak = -0.01;
      Mat   A = of.make();
      Found host, rounds, given;
      SCOPED_TRACE(testing::Message() << dof << " unknowns, reach " << reach << ", " << rings
                                      << " rings, coupled " << coupled << ", coloured " << coloured);
      find(A, LineSearch::host, ribbon::CouplingStrength::absolute, coloured, &host);
      find(A, LineSearch::rounds, ribbon::CouplingStrength::absolute, coloured, &rounds);
      give(A, ribbon::CouplingStrength::absolute, &given);
      EXPECT_TRUE(rounds.lines.tables);
      EXPECT_TRUE(contains(rounds.source, ", found by rounds on ")) << rounds.source;
      EXPECT_EQ(host.lines.rings, rounds.lines.rings);
      EXPECT_EQ(host.lines.widest, rounds.lines.widest);
      EXPECT_EQ(host.lines.components, rounds.lines.components);
      if (rings == 0) expect_same(host.lines, rounds.lines, false);
      if (rings == 0 && !coloured) expect_same(given.lines, rounds.lines);
      // searches open rings at different rows, so colours differ
      if (rings == 0 || !coloured) expect_same_solves(A, coloured);
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineTwoSearches, RoundsThatCannotBeAreOneError) // one rank
{
  // columns of row 1 descend: rounds need them in ascending order
  PetscInt    begin[] = {0, 2, 4}, columns[] = {0, 1, 1, 0};
  PetscScalar values[] = {2, -1, 2, -1};
  Mat         A;
  OK(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 2, begin, columns, values, &A));
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_ROUNDS));
    EXPECT_NE(static_cast<int>(PCSetUp(line.pc)), 0);
    EXPECT_EQ(last_error(), "PC line: -pc_line_search rounds: the columns of some row do not ascend, or a "
                            "rank has 2^30 elements or more; use "
                            "auto or host");
    OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_AUTO));
    EXPECT_LT(line.residual(A), sizeof(PetscReal) == 4 ? 1e-5 : 1e-13);
    EXPECT_FALSE(contains(line.view(), "by rounds")) << line.view();
  }
  OK(MatDestroy(&A));
  Scattered nine{3, 4, 9, 1};
  nine.coupled = false;
  A            = nine.make();
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_ROUNDS));
    EXPECT_NE(static_cast<int>(PCSetUp(line.pc)), 0);
    EXPECT_EQ(last_error(), "PC line: -pc_line_search rounds: elements have 9 unknowns, but rounds accept at "
                            "most 8; use auto or host");
    OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_AUTO));
    EXPECT_LT(line.residual(A), sizeof(PetscReal) == 4 ? 1e-5 : 1e-13);
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineTwoSearches, EntriesThatAreNotFiniteFail)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Mat          A   = matrix(
               40, [&](PetscInt r, PetscInt c) { return PetscScalar(r == 5 && c == 5 ? nan
                                                                    : r == c         ? 4
                                                                                     : -1); },
               [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1; });
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_ROUNDS));
    OK(PCSetUp(line.pc));
    EXPECT_NE(failed_reason(line.pc), PC_NOERROR);
    EXPECT_TRUE(contains(line.view(), "row 5 has an entry that is not a finite number")) << line.view();
  }
  OK(MatDestroy(&A));
}

// A NaN couples the components of an element, and is named wherever it is on a line.
TEST_F(PCLineTwoSearches, EntriesThatAreNotFiniteAreNamed) // one rank
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto &[block, reach, row, column] :
       {std::tuple{2, 2, 0, 1}, {1, 1, 0, 2}, {1, 1, 0, 9}, {3, 1, 3, 7}})
    for (PCLineSearch search : {PC_LINE_SEARCH_HOST, PC_LINE_SEARCH_ROUNDS}) {
      SCOPED_TRACE(testing::Message() << "blocks of " << block << ", NaN at " << row << ", " << column
                                      << ", search " << static_cast<int>(search));
      const auto is_nan = [&, r0 = row, c0 = column](PetscInt r, PetscInt c) { return r == r0 && c == c0; };
      Mat        A      = matrix(
                    12,
                    [&](PetscInt r, PetscInt c) {
          return is_nan(r, c) ? PetscScalar(nan)
                                          : PetscScalar(r == c ? 4.0 : -1.0 / static_cast<double>(std::abs(r - c)));
        },
                    [&, b = block, far = reach](PetscInt r, PetscInt c) {
          return is_nan(r, c) || ((r - c) % b == 0 && std::abs(r - c) <= far * b);
        });
      OK(MatSetBlockSize(A, block));
      {
        Line line(A);
        OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
        OK(PCLineSetSearch(line.pc, search));
        OK(PCSetUp(line.pc));
        EXPECT_NE(failed_reason(line.pc), PC_NOERROR);
        EXPECT_TRUE(
          contains(line.view(), "row " + std::to_string(row) + " has an entry that is not a finite number"))
          << line.view();
      }
      OK(MatDestroy(&A));
    }
}

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
// On several ranks the values of columns of other ranks are read on the host.
TEST_F(PCLineTwoSearches, ASetUpOnADeviceCopiesNoValues) // one rank
{
  const ScatteredGrid grid{1, 0.8, false, 0, 1, false, 40, 40};
  Mat                 A = grid.make();
  {
    Line line(A);
    if (!is_of_type(line.b, "cuda") && !is_of_type(line.b, "kokkos")) {
      MatDestroy(&A);
      GTEST_SKIP() << "host vectors";
    }
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCApply(line.pc, line.b, line.x));
    OK(MatScale(A, 2)); // the host has old values now
    const PetscLogDouble before = petsc_gtoc_sz;
    OK(PCApply(line.pc, line.b, line.x));
    EXPECT_LT(petsc_gtoc_sz - before, 1000.0);
    OK(PCLineSetSearch(line.pc, PC_LINE_SEARCH_HOST));
    OK(PCApply(line.pc, line.b, line.x));
    EXPECT_GT(petsc_gtoc_sz - before, static_cast<PetscLogDouble>(4 * 1600 * sizeof(PetscScalar)));
  }
  OK(MatDestroy(&A));
}
#endif

} // namespace

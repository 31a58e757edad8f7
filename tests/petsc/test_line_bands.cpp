// SPDX-License-Identifier: BSD-2-Clause
// Lines along the largest couplings that couple further than the next row: their bands, and what they leave
// out.
#include "lines_fixture.hpp"

#include <line/operator.hpp>
#include <lines/line_map.hpp>
#include <support/session.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

using namespace test;
using ribbon::petsc::LineSearch;

namespace {

class PCLineBands : public Petsc { };

/// The place of each element on lines of `length` elements; the elements of each quarter are shuffled.
std::vector<PetscInt> shuffled_places(PetscInt n, unsigned seed)
{
  std::vector<PetscInt> place(static_cast<std::size_t>(n));
  std::mt19937          random(seed);
  std::iota(place.begin(), place.end(), 0);
  for (PetscInt k = 0; k < 4; ++k)
    std::shuffle(place.begin() + k * n / 4, place.begin() + (k + 1) * n / 4, random);
  return place;
}

/// Lines of 20 elements of `dof` unknowns that couple up to `reach` elements away. Elements of different
/// lines couple by `weak`.
Mat shuffled_lines(PetscInt dof, PetscInt reach, double weak, bool block_size = true)
{
  const PetscInt n = 80, length = 20;
  const auto     place = shuffled_places(n, 5);
  const auto     at    = [&place, dof](PetscInt r) { return place[static_cast<std::size_t>(r / dof)]; };
  const auto     along = [&at](PetscInt r, PetscInt c) {
    return at(r) / length == at(c) / length ? std::abs(at(r) - at(c)) : PETSC_MAX_INT;
  };
  Mat A = matrix(
    n * dof,
    [&](PetscInt r, PetscInt c) {
      const PetscInt d = along(r, c);
      if (r == c) return PetscScalar(6 * static_cast<double>(dof));
      return d > reach ? PetscScalar(weak) : PetscScalar((d == 0 ? 0.3 : -std::pow(0.5, d - 1)));
    },
    [&](PetscInt r, PetscInt c) {
      return along(r, c) <= reach || (weak != 0 && std::abs(at(r) - at(c)) == length);
    });
  if (block_size) MatSetBlockSize(A, dof);
  return A;
}

/// Couplings that the search for lines of a matrix computes, and those that an operator reads.
struct BothCouplings {
  std::optional<ribbon::LineCouplings> known;
  ribbon::LineCouplings                read;
};
void find_couplings(Mat A, BothCouplings *both, LineSearch search = LineSearch::automatic)
{
  ribbon::petsc::LineSource source;
  ribbon::petsc::Elements   elements;
  ribbon::petsc::LineMap    map;
  map.search = search;
  OK(ribbon::petsc::EnsureKokkos());
  OK(ribbon::petsc::GetLineSource(A, &source));
  OK(ribbon::petsc::GetElements(source, &elements));
  OK(ribbon::petsc::LinesFromCouplings(source, elements, &map));
  bool on_device;
  OK(ribbon::petsc::BlockIsOnDevice(source.block, &on_device));
  const ribbon::petsc::LineDirection &lines = map.directions.back();
  OK(ribbon::petsc::LineOperator::create(on_device)->couplings(source.block, lines, &both->read));
  both->known = lines.known;
  OK(ribbon::petsc::RestoreLineSource(&source));
  MatDestroy(&A);
}

/// Lines of 20 rows with 2 on the diagonal, -1 along them, and `weak` between them.
Mat lines_with(double weak, PetscInt row, PetscInt column, double entry, bool stored = true)
{
  return matrix(
    80,
    [=](PetscInt r, PetscInt c) {
      if (r == row && c == column) return PetscScalar(entry);
      return PetscScalar(r == c ? 2 : std::abs(r - c) == 1 ? -1 : weak);
    },
    [=](PetscInt r, PetscInt c) {
      if (r == row && c == column) return stored;
      return std::abs(r - c) <= 1 ? r / 20 == c / 20 : weak != 0 && std::abs(r - c) == 20;
    });
}

void expect_same(const BothCouplings &both)
{
  const auto &[known, read] = both;
  ASSERT_TRUE(known);
  EXPECT_EQ(known->half_bandwidth, read.half_bandwidth);
  EXPECT_EQ(known->stored_bandwidth, read.stored_bandwidth);
  EXPECT_EQ(known->periodic, read.periodic);
  EXPECT_EQ(known->stored_periodic, read.stored_periodic);
  EXPECT_EQ(known->entries, read.entries);
  EXPECT_EQ(known->too_far_row, read.too_far_row);
  EXPECT_EQ(known->no_diagonal, read.no_diagonal);
  EXPECT_EQ(known->not_finite, read.not_finite);
  EXPECT_EQ(known->across, read.across);
  EXPECT_EQ(known->component_row, read.component_row);
  EXPECT_EQ(known->zero_sums, read.zero_sums);
}

TEST_F(PCLineBands, TheSearchFindsTheCouplingsThatAnOperatorReads)
{
  struct {
    const char *name;
    Mat         A;
  } cases[] = {{"rows that sum to zero", lines_with(0, 5, 5, 2)},
               {"no row sums to zero", shuffled_lines(1, 1, -0.1)},
               {"couplings of lines", lines_with(-0.01, 5, 5, 3)},
               {"a zero on a line", lines_with(0, 5, 6, 0)},
               {"an entry further along a line", lines_with(0, 5, 8, -0.1)},
               {"wide bands", shuffled_lines(1, 8, 0)},
               {"a row without a diagonal", lines_with(0, 65, 65, 0, false)}};
  for (const auto &[name, A] : cases) {
    SCOPED_TRACE(name);
    BothCouplings both;
    find_couplings(A, &both);
    expect_same(both);
  }
}

TEST_F(PCLineBands, AnOperatorReadsTheCouplingsThatTheSearchDoesNotJudge)
{
  const double  nan = std::numeric_limits<double>::quiet_NaN();
  BothCouplings not_finite, zero, left_out, blocks;
  find_couplings(lines_with(0, 5, 5, nan), &not_finite);
  EXPECT_EQ(not_finite.read.not_finite, rank == 0 ? 5 : -1);
  EXPECT_EQ(not_finite.known.has_value(), rank != 0);
  find_couplings(lines_with(0, 5, 8, 0), &zero); // outside of the band
  EXPECT_EQ(zero.known.has_value(), rank != 0);
  find_couplings(shuffled_lines(1, 9, 0), &left_out);
  EXPECT_FALSE(left_out.known);
  find_couplings(shuffled_lines(2, 1, 0), &blocks, LineSearch::host);
  if (blocks.known) expect_same(blocks); // lines that were copied to a device are judged there
  find_couplings(shuffled_lines(2, 1, 0), &blocks, LineSearch::rounds);
  expect_same(blocks);
}

TEST_F(PCLineBands, HoldAllEntriesThatFit)
{
  for (const auto &[dof, reach, fits] : {std::tuple{1, 2, true},
                                         {1, 8, true},
                                         {1, 9, false},
                                         {2, 1, true},
                                         {2, 3, true},
                                         {2, 4, false},
                                         {3, 2, true},
                                         {3, 3, false},
                                         {4, 1, true},
                                         {4, 2, false}}) {
    Mat A = shuffled_lines(dof, reach, 0);
    {
      Line     line(A);
      PetscInt half_bandwidth;
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
      const PetscReal left = line.residual(A);
      EXPECT_TRUE(contains(line.view(), "4 lines of any length")) << line.view();
      EXPECT_EQ(contains(line.view(), "were added to the diagonals"), !fits) << line.view();
      EXPECT_LT(left, !fits                    ? 0.7
                      : sizeof(PetscReal) == 4 ? 1e-5
                                               : 1e-13)
        << dof << " " << reach << line.view();
      OK(PCLineGetInfo(line.pc, nullptr, nullptr, nullptr, nullptr, &half_bandwidth, nullptr));
      EXPECT_LE(half_bandwidth, 8);
      if (fits && dof == 1) {
        EXPECT_EQ(half_bandwidth, reach);
      }
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineBands, LargerBlocksAreSolvedRowByRow)
{
  for (const auto &[dof, named] : {std::pair{9, true}, {16, true}, {9, false}, {16, false}, {8, true}}) {
    Mat A = shuffled_lines(dof, 1, 0, named);
    {
      Line line(A);
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
      line.residual(A);
      const std::string said =
        "row by row: elements have " + std::to_string(dof) + " unknowns, blocks reach up to 8";
      EXPECT_EQ(contains(line.view(), said.c_str()), dof > 8) << line.view();
    }
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineBands, CountWhatTheyLeaveOut)
{
  Mat A = shuffled_lines(4, 2, 0.01);
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCSetUp(line.pc));
    // 4 lines with 18 pairs of second neighbours, each 4 x 4 entries twice
    EXPECT_TRUE(contains(line.view(),
                         "lumped: 2304 entries on lines are outside of the bands, and were added "
                         "to the diagonals"))
      << line.view();
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineBands, RowsOfEqualColumnsAreElements)
{
  // the unknowns of a cell of a discontinuous Galerkin method, without a block size
  for (PetscInt dof : {3, 9}) {
    Mat A = shuffled_lines(dof, 1, 0, false);
    {
      Line line(A);
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
      const PetscReal left = line.residual(A);
      EXPECT_EQ(contains(line.view(), "block tridiagonal, blocks of 3"), dof == 3) << line.view();
      EXPECT_LT(left, dof == 9 ? 0.9 : sizeof(PetscReal) == 4 ? 1e-5 : 1e-13) << line.view();
    }
    OK(MatDestroy(&A));
  }
}

/// The Cholesky factorization of the Hermitian part of a dense matrix: whether all pivots are positive.
bool is_definite(std::vector<PetscScalar> a, PetscInt n)
{
  const auto at = [&a, n](PetscInt i, PetscInt j) -> PetscScalar & {
    return a[static_cast<std::size_t>(i + j * n)];
  };
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j <= i; ++j) {
      const PetscScalar half = (at(i, j) + PetscConj(at(j, i))) / PetscReal(2);
      at(i, j)               = half;
    }
  for (PetscInt k = 0; k < n; ++k) {
    if (!(PetscRealPart(at(k, k)) > 0)) return false;
    for (PetscInt i = k + 1; i < n; ++i)
      for (PetscInt j = k + 1; j <= i; ++j) at(i, j) -= at(i, k) * PetscConj(at(j, k)) / at(k, k);
  }
  return true;
}

/// A positive definite matrix: a sum of random elements v v^H, each with rows near each other in a shuffled
/// order, and a small diagonal.
Mat random_definite(PetscInt n, PetscInt dof, unsigned seed)
{
  std::mt19937                           random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  const PetscInt                         rows = n * dof;
  std::vector<PetscScalar>               dense(static_cast<std::size_t>(rows * rows), 0);
  std::vector<char>                      stored(dense.size(), 0);
  std::vector<PetscInt>                  order(static_cast<std::size_t>(n));
  const PetscInt                         most = 2 + static_cast<PetscInt>(random() % 11);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (PetscInt e = 0; e < 3 * n; ++e) {
    const PetscInt count = 2 + static_cast<PetscInt>(random() % static_cast<unsigned>(most)),
                   first = static_cast<PetscInt>(random() % static_cast<unsigned>(n));
    std::vector<PetscInt>    row;
    std::vector<PetscScalar> v;
    for (PetscInt k = first; k < std::min(first + count, n); ++k)
      for (PetscInt c = 0; c < dof; ++c) {
        row.push_back(order[static_cast<std::size_t>(k)] * dof + c);
        v.push_back(PetscScalar(number(random)) * (k % 3 == 0 ? turned : PetscScalar(1)));
      }
    for (std::size_t i = 0; i < row.size(); ++i)
      for (std::size_t j = 0; j < row.size(); ++j)
        dense[static_cast<std::size_t>(row[i] * rows + row[j])] += v[i] * PetscConj(v[j]),
          stored[static_cast<std::size_t>(row[i] * rows + row[j])] = 1;
  }
  for (PetscInt r = 0; r < rows; ++r)
    dense[static_cast<std::size_t>(r * rows + r)] += PetscReal(1e-3),
      stored[static_cast<std::size_t>(r * rows + r)] = 1;
  Mat A = matrix(
    rows, [&](PetscInt r, PetscInt c) { return dense[static_cast<std::size_t>(r * rows + c)]; },
    [&](PetscInt r, PetscInt c) { return stored[static_cast<std::size_t>(r * rows + c)] != 0; });
  MatSetBlockSize(A, dof);
  return A;
}

/// The inverse of the preconditioner, column by column.
std::vector<PetscScalar> columns_of(const Line &line, PetscInt n)
{
  std::vector<PetscScalar> all;
  const PetscScalar       *x;
  for (PetscInt c = 0; c < n; ++c) {
    VecSet(line.b, 0);
    VecSetValue(line.b, c, 1, INSERT_VALUES);
    VecAssemblyBegin(line.b), VecAssemblyEnd(line.b);
    if (PCApply(line.pc, line.b, line.x)) return {};
    VecGetArrayRead(line.x, &x);
    all.insert(all.end(), x, x + n);
    VecRestoreArrayRead(line.x, &x);
  }
  return all;
}

TEST_F(PCLineBands, StayDefinite) // one rank: it needs dense matrices
{
  int lumped = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const PetscInt dof = 1 + static_cast<PetscInt>(seed % 5), n = 40 / dof + static_cast<PetscInt>(seed % 3);
    Mat            A = random_definite(n, dof, seed);
    {
      Line line(A);
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
      OK(PCLineSetStrength(line.pc, static_cast<PCLineStrength>(seed % 3)));
      const auto inverse = columns_of(line, n * dof);
      ASSERT_EQ(inverse.size(), static_cast<std::size_t>(n * dof * n * dof)) << "seed " << seed;
      EXPECT_TRUE(is_definite(inverse, n * dof)) << "seed " << seed << line.view();
      lumped += contains(line.view(), "lumped:");
    }
    OK(MatDestroy(&A));
  }
  EXPECT_GT(lumped, 20) << "too few samples leave out entries";
}

} // namespace

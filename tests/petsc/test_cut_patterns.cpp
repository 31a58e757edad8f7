// SPDX-License-Identifier: BSD-2-Clause
// Lines that span ranks, of matrices without a DM. The stored pattern has to give the same lines on any
// number of ranks.
#include "fixture.hpp"

#include <algorithm>
#include <utility>

using namespace test;

namespace {

class PCLineCutPatterns : public Petsc { };

/// An n x n matrix with entries at these offsets and dominant rows.
Mat at_offsets(PetscInt n, const std::vector<PetscInt> &offsets, PetscInt local = PETSC_DECIDE)
{
  const auto stored = [&](PetscInt r, PetscInt c) {
    return r == c || std::find(offsets.begin(), offsets.end(), c - r) != offsets.end();
  };
  return matrix(
    n,
    [&](PetscInt r, PetscInt c) {
      return r == c ? PetscScalar(static_cast<PetscReal>(offsets.size()) + 1)
                    : PetscScalar(1. / (1. + static_cast<PetscReal>((7 * r + 3 * c) % 5)));
    },
    stored, local);
}

std::vector<PetscInt> band(PetscInt kl, PetscInt ku)
{
  std::vector<PetscInt> offsets;
  for (PetscInt d = -kl; d <= ku; ++d)
    if (d != 0) offsets.push_back(d);
  return offsets;
}

/// One solve is exact if only the rows of lines couple. `same`: A in another type.
void expect_exact(Mat A, const std::string &what, Mat same = nullptr)
{
  Line line(same ? same : A);
  EXPECT_LT(line.residual(A), 1e-13) << what;
  EXPECT_LT(line.residual(A, true), 1e-13) << what << ", transposed";
}

TEST_F(PCLineCutPatterns, CouplingsOfOneDirection)
{
  for (auto [kl, ku] : {std::pair{1, 0}, {0, 1}, {3, 0}, {0, 2}}) {
    Mat A = at_offsets(61, band(kl, ku));
    expect_exact(A, "band " + std::to_string(kl) + ", " + std::to_string(ku));
    OK(MatDestroy(&A));
  }
}

TEST_F(PCLineCutPatterns, WideBandsWithFewRowsToARank)
{
  for (auto [kl, ku] : {std::pair{3, 3}, {5, 5}, {8, 1}, {1, 4}, {8, 8}})
    for (PetscInt rows : {1, 2, 3, 5}) {
      Mat A = at_offsets(rows * ranks, band(kl, ku), rows);
      expect_exact(A, "band " + std::to_string(kl) + ", " + std::to_string(ku) + ", " + std::to_string(rows) +
                        " rows to a rank");
      OK(MatDestroy(&A));
    }
}

/// ||b - A x|| / ||b|| of PC line along rows.
PetscReal residual_by_rows(Mat A)
{
  Line line(A);
  if (PCLineSetDirection(line.pc, PC_LINE_DIRECTION_ROWS)) return PETSC_INFINITY;
  return line.residual(A);
}

TEST_F(PCLineCutPatterns, RowsByNameHoldsBandsUpToEight)
{
  for (const std::vector<PetscInt> &offsets :
       {band(3, 3), band(4, 4), band(8, 8), band(1, 4), {-4, -1, 1, 4}, {-5, -3, 3, 5}, {-7, 7, 2}})
    for (PetscInt rows : {1, 3, 5, 16}) {
      Mat A = at_offsets(rows * ranks, offsets, rows);
      EXPECT_LT(residual_by_rows(A), 1e-13)
        << offsets.size() << " offsets from " << offsets[0] << ", " << rows << " rows to a rank";
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineCutPatterns, RowsByNameHoldsBandsWithHoles)
{
  const PetscInt n = 40; // runs of 3 and 5 rows that more distant entries join
  Mat            A = matrix(
               n, [](PetscInt r, PetscInt c) { return r == c ? 8. : 1. / static_cast<PetscReal>(2 + (r + 2 * c) % 3); },
               [](PetscInt r, PetscInt c) {
      return std::abs(r - c) == 7 || std::abs(r - c) == 5 ||
             (r / 8 == c / 8 && (r % 8 < 3) == (c % 8 < 3) && std::abs(r - c) <= 1);
    });
  EXPECT_LT(residual_by_rows(A), 1e-13);
  OK(MatDestroy(&A));
}

/// The solve leaves out only couplings off the lines.
TEST_F(PCLineCutPatterns, RowsByNameLeavesOutWhatLiesOffTheLines)
{
  if (ranks > 4) return; // Sub-lines of at most 8 rows are solved on their ranks, as the view says.
  const PetscInt n = 48; // one line, and two
  for (const bool lines : {false, true})
    for (const PetscInt blocks : {1, 2}) {
      const auto on = [&](PetscInt r, PetscInt c) {
        return std::abs(r - c) <= (blocks == 2 ? 2 : 3) && (!lines || r / 24 == c / 24);
      };
      const auto off   = [&](PetscInt r, PetscInt c) { return std::abs(r - c) == 24 && r % 3 == 0; };
      const auto value = [](PetscInt r, PetscInt c) {
        return PetscScalar(r == c ? 9. : 1. / static_cast<PetscReal>(2 + (r + 2 * c) % 3));
      };
      Mat A     = matrix(n, value, [&](PetscInt r, PetscInt c) { return on(r, c) || off(r, c); }),
          along = matrix(n, value, on);
      OK(MatSetBlockSize(A, blocks));
      Line line(A);
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_ROWS));
      OK(PCApply(line.pc, line.b, line.x));
      EXPECT_LT(relative_residual(along, line.b, line.x), 1e-13)
        << (lines ? "two lines" : "one line") << ", blocks of " << blocks << "\n"
        << line.view();
      OK(MatDestroy(&along));
      OK(MatDestroy(&A));
    }
}

/// Four rows with an entry from the first to the last are not a ring if a fifth row follows on the next
/// rank.
TEST_F(PCLineCutPatterns, APieceOfAWideBandIsNoRing)
{
  if (ranks != 2 && ranks != 4) return;
  const PetscInt rows[4] = {4, 1, 1, 3}, n = ranks == 2 ? 5 : 9;
  Mat            A = at_offsets(n, {-2, -1, 1, 2, 3}, rows[rank]);
  for (const bool by_name : {false, true}) {
    Line line(A);
    OK(PCLineSetCut(line.pc, PC_LINE_CUT_EXACT));
    if (by_name) {
      OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_ROWS));
    }
    EXPECT_LT(line.residual(A), 1e-13) << last_error();
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineCutPatterns, ManyLinesSideBySideWithAPointToARank)
{
  for (PetscInt lines : {3, 10, 30})
    for (PetscInt points : {1, 2}) {
      Mat A = at_offsets(lines * points * ranks, {-lines, lines}, lines * points);
      expect_exact(A, std::to_string(lines) + " lines, " + std::to_string(points) + " points to a rank");
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineCutPatterns, RingsOfAllRanksAndOfOne)
{
  for (PetscInt length : {7, 40}) {
    Mat whole = at_offsets(length * ranks, {-1, 1, 1 - length * ranks, length * ranks - 1}, length);
    expect_exact(whole, "a ring of " + std::to_string(length * ranks));
    OK(MatDestroy(&whole));
  }
}

TEST_F(PCLineCutPatterns, BothColoursOfRowsAreJoinedWhereNothingElseCouples)
{
  Mat                   A         = at_offsets(66, band(1, 1));
  const PCLineDirection direction = PC_LINE_DIRECTION_ROWS;
  Line                  line(A);
  OK(PCLineSetDirections(line.pc, 1, &direction));
  OK(PCLineSetOrdering(line.pc, PC_LINE_ORDERING_ZEBRA));
  EXPECT_LT(line.residual(A), 1e-13);
  OK(MatDestroy(&A));
}

/// Types that give no access to rows, or not to those of other ranks.
TEST_F(PCLineCutPatterns, TypesThatConvert)
{
  Mat A = at_offsets(50, band(1, 2)), B;
  for (MatType type : {MATSELL, MATBAIJ, MATDENSE}) {
    OK(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
    expect_exact(A, type, B);
    OK(MatDestroy(&B));
  }
  OK(MatCreateNest(PETSC_COMM_WORLD, 1, nullptr, 1, nullptr, &A, &B));
  expect_exact(A, "nest", B);
  OK(MatDestroy(&B));
  OK(MatDestroy(&A));
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Lines of the application: index sets of their rows.
#include "lines_fixture.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

class PCLineRows : public Petsc { };

/// Columns of different heights on every rank, level by level: row k of a column is not next to row k + 1.
/// Some rows are land: no column has them.
struct Columns {
  static constexpr PetscInt columns = 7;

  PetscInt              dof, local = 0, begin    = 0;
  std::vector<PetscInt> column_of, rows, offsets = {0}; ///< of local elements, -1: land; index sets

  explicit Columns(PetscMPIInt rank, PetscInt unknowns = 1) : dof(unknowns)
  {
    for (PetscInt level = 0; level < height(columns - 1); ++level)
      for (PetscInt c = 0; c < columns; ++c)
        if (level < height(c)) column_of.push_back(c);
        else if (level == height(c)) column_of.push_back(-1);
    local = static_cast<PetscInt>(column_of.size()) * dof;
    begin = rank * local;
    for (PetscInt c = 0; c < columns; ++c) {
      for (std::size_t e = 0; e < column_of.size(); ++e)
        for (PetscInt a = 0; a < dof && column_of[e] == c; ++a)
          rows.push_back(begin + static_cast<PetscInt>(e) * dof + a);
      offsets.push_back(static_cast<PetscInt>(rows.size()));
    }
  }
  /// 0: a column without water.
  static PetscInt height(PetscInt column) { return column == 0 ? 0 : column + 4; }
  /// How many elements two elements are apart in their column; -1: they are not in one column.
  PetscInt apart(PetscInt e, PetscInt f) const
  {
    const auto     size    = static_cast<PetscInt>(column_of.size());
    const PetscInt c       = column_of[static_cast<std::size_t>(e % size)];
    PetscInt       between = 0;
    if (e / size != f / size || c < 0 || column_of[static_cast<std::size_t>(f % size)] != c)
      return e == f ? 0 : -1;
    for (PetscInt k = std::min(e, f) + 1; k <= std::max(e, f); ++k)
      between += column_of[static_cast<std::size_t>(k % size)] == c;
    return between;
  }
  /// Elements couple in their column, and by `weak` with the next rows.
  Mat matrix_of(PetscMPIInt ranks, double weak) const
  {
    Mat A = matrix(
      local * ranks,
      [&](PetscInt r, PetscInt c) {
        const PetscInt d = apart(r / dof, c / dof);
        return r == c ? PetscScalar(3.0 * static_cast<double>(dof)) + entry(r, r) * PetscReal(0.01)
                      : PetscScalar(d == 0   ? 0.4
                                    : d == 1 ? -1
                                             : weak);
      },
      [&](PetscInt r, PetscInt c) {
        const PetscInt d = apart(r / dof, c / dof);
        return d == 0 || d == 1 || (weak != 0 && std::abs(r / dof - c / dof) == 1);
      },
      local);
    MatSetBlockSize(A, dof);
    return A;
  }
};

/// Index sets, with the part of this rank.
struct IndexSets {
  IS rows = nullptr, offsets = nullptr;

  IndexSets(const std::vector<PetscInt> &r, const std::vector<PetscInt> &o, MPI_Comm comm = PETSC_COMM_SELF)
  {
    ISCreateGeneral(comm, static_cast<PetscInt>(r.size()), r.data(), PETSC_COPY_VALUES, &rows);
    ISCreateGeneral(comm, static_cast<PetscInt>(o.size()), o.data(), PETSC_COPY_VALUES, &offsets);
  }
  IndexSets(const IndexSets &)            = delete;
  IndexSets &operator=(const IndexSets &) = delete;
  ~IndexSets() { ISDestroy(&rows), ISDestroy(&offsets); }
};

constexpr double rounding = sizeof(PetscReal) == 4 ? 1e-5 : 1e-13;

TEST_F(PCLineRows, AreSolvedExactly)
{
  for (PetscInt dof : {1, 2})
    for (double weak : {0.0, 0.01}) {
      const Columns columns(rank, dof);
      Mat           A = columns.matrix_of(ranks, weak);
      {
        Line      line(A);
        IndexSets sets(columns.rows, columns.offsets);
        OK(PCLineSetRows(line.pc, sets.rows, sets.offsets));
        EXPECT_LT(line.residual(A), weak == 0 ? rounding : 0.1) << line.view();
        EXPECT_LT(line.residual(A, true), weak == 0 ? rounding : 0.1);
        EXPECT_EQ(line.direction(), "lines");
        EXPECT_TRUE(contains(line.view(), "from the index sets of rows that the PC has")) << line.view();
        EXPECT_EQ(contains(line.view(), "blocks of 2"), dof == 2) << line.view();
        // 6 columns and 6 elements of land on each rank
        EXPECT_TRUE(contains(line.view(), "packed: " + std::to_string(12 * ranks) + " lines")) << line.view();
      }
      OK(MatDestroy(&A));
    }
}

TEST_F(PCLineRows, ComposedWithTheMatrix)
{
  const Columns columns(rank);
  Mat           A = columns.matrix_of(ranks, 0);
  {
    IndexSets sets(columns.rows, columns.offsets, PETSC_COMM_WORLD);
    IS        rows, offsets;
    OK(PetscObjectCompose((PetscObject)A, "PCLine_rows", (PetscObject)sets.rows));
    OK(PetscObjectCompose((PetscObject)A, "PCLine_offsets", (PetscObject)sets.offsets));
    Line line(A);
    EXPECT_LT(line.residual(A), rounding) << line.view();
    EXPECT_TRUE(contains(line.view(), "from the index sets of rows that the matrix has")) << line.view();
    OK(PCLineGetRows(line.pc, &rows, &offsets));
    EXPECT_EQ(rows, nullptr) << "those of PCLineSetRows()";
    // a direction by name does not use them
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "matrix");
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineRows, OfColumnsOfConsecutiveRows)
{
  const PetscInt columns = 6, n = 5;
  Mat            A = matrix(
               columns * n * ranks,
               [n](PetscInt r, PetscInt c) {
      return PetscScalar(r == c ? 4 : r / n == c / n ? -1 : 0.01);
    },
               [](PetscInt r, PetscInt c) { return std::abs(r - c) <= 1; }, columns * n);
  {
    Line line(A);
    IS   offsets, rows, found;
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "rows");
    OK(ISCreateStride(PETSC_COMM_SELF, columns + 1, 0, n, &offsets));
    OK(PCLineSetRows(line.pc, nullptr, offsets));
    OK(PCLineGetRows(line.pc, &rows, &found));
    EXPECT_EQ(rows, nullptr);
    EXPECT_EQ(found, offsets);
    OK(PCSetUp(line.pc));
    EXPECT_TRUE(contains(line.view(), "packed: " + std::to_string(columns * ranks) + " lines"))
      << line.view();
    OK(PCLineSetRows(line.pc, nullptr, nullptr));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "rows");
    OK(ISDestroy(&offsets));
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineRows, NewValuesKeepThem)
{
  const Columns columns(rank);
  Mat           A = columns.matrix_of(ranks, 0);
  {
    Line line(A);
    {
      IndexSets sets(columns.rows, columns.offsets);
      OK(PCLineSetRows(line.pc, sets.rows, sets.offsets));
    } // the PC keeps the index sets
    OK(PCSetUp(line.pc));
    OK(MatScale(A, 3));
    EXPECT_LT(line.residual(A), rounding);
    EXPECT_EQ(line.direction(), "lines");
  }
  OK(MatDestroy(&A));
}

TEST_F(PCLineRows, ErrorsNameTheEntry)
{
  const Columns columns(rank);
  const auto    last = static_cast<std::size_t>(ranks - 1), n = columns.rows.size();
  const auto    own = std::to_string(columns.begin), end = std::to_string(columns.begin + columns.local - 1),
             at = std::to_string(ranks - 1);
  Mat A         = columns.matrix_of(ranks, 0);
  // one rank is wrong
  const auto expect = [&](std::vector<PetscInt> rows, std::vector<PetscInt> offsets,
                          const std::string &text) {
    const bool wrong = static_cast<std::size_t>(rank) == last;
    Line       line(A);
    IndexSets  sets(wrong ? rows : columns.rows, wrong ? offsets : columns.offsets);
    OK(PCLineSetRows(line.pc, sets.rows, sets.offsets));
    EXPECT_NE(PCSetUp(line.pc), 0) << text;
    if (wrong) {
      EXPECT_EQ(last_error(), text);
    }
  };
  auto rows = columns.rows, offsets = columns.offsets;
  rows[3] = columns.begin + columns.local;
  expect(rows, offsets,
         "PC line: PCLine_rows: entry 3 of rank " + at + " is row " +
           std::to_string(columns.begin + columns.local) + ", but this rank owns rows " + own + " to " + end);
  rows[3] = rows[1];
  expect(rows, offsets,
         "PC line: PCLine_rows: entries 1 and 3 of rank " + at + " are both row " + std::to_string(rows[1]));
  rows       = columns.rows;
  offsets[0] = 1;
  expect(rows, offsets, "PC line: PCLine_offsets: entry 0 of rank " + at + " is 1, not 0");
  offsets = columns.offsets, offsets[3] = 1;
  expect(rows, offsets,
         "PC line: PCLine_offsets: entry 3 of rank " + at + " is 1, less than the entry before it, " +
           std::to_string(offsets[2]));
  offsets = columns.offsets, offsets.back() += 2;
  expect(rows, offsets,
         "PC line: PCLine_offsets: the last entry of rank " + at + " is " + std::to_string(n + 2) +
           ", but the lines of this rank have " + std::to_string(n) + " rows");
  {
    Line      line(A);
    IndexSets sets(rows, columns.offsets);
    EXPECT_NE(PCLineSetRows(line.pc, sets.rows, nullptr), 0);
    EXPECT_EQ(last_error(), "PCLineSetRows: rows without offsets");
    OK(PetscObjectCompose((PetscObject)line.pc, "PCLine_rows", (PetscObject)sets.rows));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_EQ(last_error(), "PC line: a PC has PCLine_rows, but no PCLine_offsets");
    OK(PetscObjectCompose((PetscObject)line.pc, "PCLine_offsets", (PetscObject)A));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_EQ(last_error(), "PC line: PCLine_offsets, composed with a PC, is no index set (IS)");
  }
  OK(MatDestroy(&A));
}

} // namespace

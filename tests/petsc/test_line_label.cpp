// SPDX-License-Identifier: BSD-2-Clause
// Lines that a label of a DMPLEX marks, compared with lists of the same rows by coordinates.
#include "lines_fixture.hpp"

#include <petscdmplex.h>

#include <map>
#include <numeric>
#include <random>

using namespace test;

namespace {

class PCLineLabel : public Petsc { };

/// 6 x 9 quadrilaterals whose points are numbered at random, with unknowns on vertices, and on edges if `edges`.
/// The label "column" has the numbers of columns of vertices, and of vertical edges if `edges`.
struct Columns {
  static constexpr PetscInt nx = 6, ny = 9;

  DM       dm = nullptr;
  Mat      A  = nullptr;
  bool     edges;
  PetscInt dof;

  explicit Columns(bool with_edges = false, PetscInt unknowns = 1) : edges(with_edges), dof(unknowns)
  {
    PetscOptionsInsertString(nullptr,
                             "-column_dm_plex_dim 2 -column_dm_plex_simplex 0 -column_dm_plex_box_faces 6,9 "
                             "-column_dm_plex_box_upper 6,9 -column_dm_distribute 0");
    DMCreate(PETSC_COMM_WORLD, &dm);
    DMSetType(dm, DMPLEX);
    DMSetOptionsPrefix(dm, "column_");
    DMSetFromOptions(dm);
    distribute();
    shuffle();
    add_unknowns();
    mark();
    DMCreateMatrix(dm, &A);
    fill();
  }
  Columns(const Columns &)            = delete;
  Columns &operator=(const Columns &) = delete;
  ~Columns()
  {
    MatDestroy(&A);
    DMDestroy(&dm);
  }

  /// Rows of the lines by coordinates: columns from below, divided where a point belongs to another rank.
  void expected(std::vector<PetscInt> *rows, std::vector<PetscInt> *offsets) const
  {
    std::map<std::pair<long, long>, PetscInt> at; // twice the coordinates
    each([&](PetscInt p, double x, double y) {
      if (std::fabs(x - std::round(x)) < 1e-10) at[{std::lround(2 * x), std::lround(2 * y)}] = p;
    });
    rows->clear(), offsets->assign(1, 0);
    std::pair<long, long> last{-10, -10};
    for (const auto &[place, p] : at) {
      if (!rows->empty() && (place.first != last.first || place.second - last.second > (edges ? 1 : 2)))
        offsets->push_back(static_cast<PetscInt>(rows->size()));
      for (PetscInt k = 0; k < dof; ++k) rows->push_back(first_row(p) + k);
      last = place;
    }
    if (!rows->empty()) offsets->push_back(static_cast<PetscInt>(rows->size()));
  }

private:
  PetscInt first_row(PetscInt p) const
  {
    PetscSection section;
    PetscInt     offset;
    DMGetGlobalSection(dm, &section);
    PetscSectionGetOffset(section, p, &offset);
    return offset;
  }
  /// Gives each rank consecutive cells; rank 0 has all of them.
  void distribute()
  {
    PetscMPIInt      size;
    PetscInt         begin, end;
    PetscPartitioner partitioner;
    DM               other = nullptr;
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    DMPlexGetHeightStratum(dm, 0, &begin, &end);
    std::vector<PetscInt> sizes(static_cast<std::size_t>(size)), cells(static_cast<std::size_t>(end - begin));
    std::iota(cells.begin(), cells.end(), begin);
    for (PetscInt r = 0; r < size; ++r)
      sizes[static_cast<std::size_t>(r)] = (end - begin) * (r + 1) / size - (end - begin) * r / size;
    DMPlexGetPartitioner(dm, &partitioner);
    PetscPartitionerSetType(partitioner, PETSCPARTITIONERSHELL);
    PetscPartitionerShellSetPartition(partitioner, size, sizes.data(), cells.data());
    DMPlexDistribute(dm, 0, nullptr, &other);
    if (!other) return; // one rank
    DMDestroy(&dm);
    dm = other;
  }
  void shuffle()
  {
    PetscInt begin, end;
    IS       order;
    DM       other;
    DMPlexGetChart(dm, &begin, &end);
    std::vector<PetscInt> p(static_cast<std::size_t>(end));
    std::iota(p.begin(), p.end(), 0);
    std::mt19937 random(3);
    for (PetscInt depth = 0; depth <= 2; ++depth) {
      PetscInt from, to;
      DMPlexGetDepthStratum(dm, depth, &from, &to);
      std::shuffle(p.begin() + from, p.begin() + to, random);
    }
    ISCreateGeneral(PETSC_COMM_SELF, end, p.data(), PETSC_COPY_VALUES, &order);
    DMPlexPermute(dm, order, &other);
    ISDestroy(&order);
    DMDestroy(&dm);
    dm = other;
  }
  void add_unknowns()
  {
    PetscSection section;
    PetscInt     begin, end;
    PetscSectionCreate(PETSC_COMM_WORLD, &section);
    DMPlexGetChart(dm, &begin, &end);
    PetscSectionSetChart(section, begin, end);
    for (PetscInt depth = 0; depth <= (edges ? 1 : 0); ++depth) {
      DMPlexGetDepthStratum(dm, depth, &begin, &end);
      for (PetscInt p = begin; p < end; ++p) PetscSectionSetDof(section, p, dof);
    }
    PetscSectionSetUp(section);
    DMSetLocalSection(dm, section);
    PetscSectionDestroy(&section);
  }
  /// Calls f(point, x, y) for the points of this rank with unknowns; an edge has its middle.
  template <class F>
  void each(const F &f) const
  {
    PetscInt begin, end;
    for (PetscInt depth = 0; depth <= (edges ? 1 : 0); ++depth) {
      DMPlexGetDepthStratum(dm, depth, &begin, &end);
      for (PetscInt p = begin; p < end; ++p) {
        double x = 0, y = 0;
        if (first_row(p) < 0) continue;
        centre(p, depth, &x, &y);
        f(p, x, y);
      }
    }
  }
  void centre(PetscInt p, PetscInt depth, double *x, double *y) const
  {
    const PetscInt    *cone = &p;
    const PetscScalar *a;
    PetscSection       section;
    Vec                coordinates;
    if (depth > 0) DMPlexGetCone(dm, p, &cone);
    DMGetCoordinateSection(dm, &section);
    DMGetCoordinatesLocal(dm, &coordinates);
    VecGetArrayRead(coordinates, &a);
    for (PetscInt k = 0; k <= depth; ++k) {
      PetscInt offset;
      PetscSectionGetOffset(section, cone[k], &offset);
      *x += static_cast<double>(PetscRealPart(a[offset])) / static_cast<double>(depth + 1);
      *y += static_cast<double>(PetscRealPart(a[offset + 1])) / static_cast<double>(depth + 1);
    }
    VecRestoreArrayRead(coordinates, &a);
  }
  void mark()
  {
    DMCreateLabel(dm, "column");
    each([&](PetscInt p, double x, double) {
      if (std::fabs(x - std::round(x)) < 1e-10)
        DMSetLabelValue(dm, "column", p, static_cast<PetscInt>(std::lround(x)));
    });
  }
  /// A sum of matrices of cells, which are positive definite.
  void fill()
  {
    PetscSection local, global;
    PetscInt     begin, end;
    DMGetLocalSection(dm, &local), DMGetGlobalSection(dm, &global);
    DMPlexGetHeightStratum(dm, 0, &begin, &end);
    for (PetscInt cell = begin; cell < end; ++cell) {
      PetscInt n;
      DMPlexGetClosureIndices(dm, local, global, cell, PETSC_TRUE, &n, nullptr, nullptr, nullptr);
      std::vector<PetscScalar> a(static_cast<std::size_t>(n * n));
      for (PetscInt r = 0; r < n; ++r)
        for (PetscInt c = 0; c < n; ++c)
          a[static_cast<std::size_t>(r * n + c)] =
            r == c ? PetscScalar(static_cast<PetscReal>(n + 1))
                   : -PetscScalar(1.0 + 0.1 * static_cast<double>((r * c) % 7)) / PetscScalar(2);
      DMPlexMatSetClosure(dm, local, global, A, cell, a.data(), ADD_VALUES);
    }
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY), MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
};

TEST_F(PCLineLabel, MarksTheLinesOfColumns)
{
  for (bool edges : {false, true})
    for (PetscInt dof : {1, 3}) {
      Columns               mesh(edges, dof);
      Line                  by_label(mesh.A, mesh.dm), by_rows(mesh.A);
      std::vector<PetscInt> rows, offsets;
      IS                    is_rows, is_offsets;
      PetscReal             size, difference;
      mesh.expected(&rows, &offsets);
      OK(ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(rows.size()), rows.data(), PETSC_COPY_VALUES,
                         &is_rows));
      OK(ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(offsets.size()), offsets.data(),
                         PETSC_COPY_VALUES, &is_offsets));
      OK(PCLineSetRows(by_rows.pc, is_rows, is_offsets));
      OK(PCLineSetLabel(by_label.pc, "column"));
      OK(PCSetUp(by_label.pc));
      OK(PCSetUp(by_rows.pc));
      OK(PCApply(by_label.pc, by_label.b, by_label.x));
      OK(PCApply(by_rows.pc, by_label.b, by_rows.x));
      OK(VecNorm(by_rows.x, NORM_INFINITY, &size));
      OK(VecAXPY(by_rows.x, -1, by_label.x));
      OK(VecNorm(by_rows.x, NORM_INFINITY, &difference));
      EXPECT_LE(difference, 100 * PETSC_MACHINE_EPSILON * size)
        << edges << dof << by_label.view() << by_rows.view();
      EXPECT_TRUE(contains(by_label.view(), "label column of the DMPLEX of the PC")) << by_label.view();
      OK(ISDestroy(&is_rows));
      OK(ISDestroy(&is_offsets));
    }
}

TEST_F(PCLineLabel, IsAnOptionAndTheDMOfTheMatrixCounts)
{
  Columns     mesh;
  Line        line(mesh.A);
  const char *name;
  OK(PCLineGetLabel(line.pc, &name));
  EXPECT_EQ(name, nullptr);
  OK(PetscOptionsInsertString(nullptr, "-by_label_pc_line_label column"));
  OK(PCSetOptionsPrefix(line.pc, "by_label_"));
  OK(PCSetFromOptions(line.pc));
  OK(PCLineGetLabel(line.pc, &name));
  EXPECT_STREQ(name, "column");
  OK(PCSetUp(line.pc));
  EXPECT_TRUE(contains(line.view(), "label column of the DMPLEX of the matrix")) << line.view();
  OK(PCLineSetLabel(line.pc, nullptr));
  OK(PCSetUp(line.pc));
  EXPECT_FALSE(contains(line.view(), "label column")) << line.view();
}

TEST_F(PCLineLabel, ValuesMayBeAnyNumbersAndMissOnRanks)
{
  Columns mesh;
  Line    columns(mesh.A, mesh.dm), numbers(mesh.A, mesh.dm);
  IS      values;
  DMLabel column;
  OK(DMGetLabel(mesh.dm, "column", &column));
  OK(DMLabelGetValueIS(column, &values));
  const PetscInt *v;
  PetscInt        n;
  OK(ISGetLocalSize(values, &n));
  OK(ISGetIndices(values, &v));
  for (PetscInt k = 0; k < n; ++k) { // ranks without a point do not create the label
    IS              points;
    const PetscInt *p;
    PetscInt        count;
    OK(DMLabelGetStratumIS(column, v[k], &points));
    OK(ISGetLocalSize(points, &count));
    OK(ISGetIndices(points, &p));
    for (PetscInt i = 0; i < count; ++i)
      OK(DMSetLabelValue(mesh.dm, "numbers", p[i], v[k] < 4 ? PETSC_MIN_INT + v[k] : PETSC_MAX_INT - v[k]));
    OK(ISRestoreIndices(points, &p));
    OK(ISDestroy(&points));
  }
  OK(ISRestoreIndices(values, &v));
  OK(ISDestroy(&values));
  OK(PCLineSetLabel(columns.pc, "column"));
  OK(PCLineSetLabel(numbers.pc, "numbers"));
  OK(PCSetUp(columns.pc));
  OK(PCSetUp(numbers.pc));
  OK(PCApply(columns.pc, columns.b, columns.x));
  OK(PCApply(numbers.pc, columns.b, numbers.x));
  PetscReal size, difference;
  OK(VecNorm(columns.x, NORM_INFINITY, &size));
  OK(VecAXPY(columns.x, -1, numbers.x));
  OK(VecNorm(columns.x, NORM_INFINITY, &difference));
  EXPECT_LE(difference, 100 * PETSC_MACHINE_EPSILON * size) << numbers.view();
  if (rank == 0) {
    PetscInt begin, end;
    OK(DMPlexGetDepthStratum(mesh.dm, 0, &begin, &end));
    for (PetscInt p = begin; p < end; ++p) OK(DMSetLabelValue(mesh.dm, "first", p, p));
  }
  Line first(mesh.A, mesh.dm);
  OK(PCLineSetLabel(first.pc, "first"));
  OK(PCSetUp(first.pc));
}

TEST_F(PCLineLabel, ErrorsNameTheLabel)
{
  Columns mesh;
  {
    Line line(mesh.A, mesh.dm);
    OK(PCLineSetLabel(line.pc, "columns"));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(
      contains(last_error(), "PC line: -pc_line_label columns: the DMPLEX has no such label; it has "))
      << last_error();
    EXPECT_TRUE(contains(last_error(), "column")) << last_error();
    OK(PCLineSetLabel(line.pc, "column"));
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_MATRIX));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(), "PC line: -pc_line_label column and -pc_line_direction matrix: "))
      << last_error();
  }
  {
    Grid grid({9, 9}, {1, 2});
    Line line(grid.A, grid.da);
    OK(PCLineSetLabel(line.pc, "column"));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(),
                         "-pc_line_label column: neither the PC nor the matrix has a DMPLEX; call PCSetDM()"))
      << last_error();
    OK(PCSetDM(line.pc, mesh.dm));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(), "-pc_line_label column: rank 0: the DMPLEX has ")) << last_error();
    EXPECT_TRUE(contains(last_error(), " unknowns, and the matrix ")) << last_error();
  }
  {
    Line line(mesh.A, mesh.dm);
    OK(DMCreateLabel(mesh.dm, "empty"));
    OK(PCLineSetLabel(line.pc, "empty"));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(), "-pc_line_label empty: no point with this label has unknowns"))
      << last_error();
    PetscInt begin, end;
    OK(DMPlexGetDepthStratum(mesh.dm, 0, &begin, &end));
    for (PetscInt p = begin; p < end; ++p) {
      OK(DMSetLabelValue(mesh.dm, "empty", p, 7));
      OK(DMSetLabelValue(mesh.dm, "empty", p, 8));
    }
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(), " has the values 7 and 8")) << last_error();
  }
}

} // namespace

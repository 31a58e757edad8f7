// SPDX-License-Identifier: BSD-2-Clause
// Runs of consecutive elements in a pattern: a first look finds an entry off the runs only if there is one.
#include "fixture.hpp"

#include <lines/runs_of_pattern.hpp>

#include <random>
#include <set>

using namespace test;
using ribbon::petsc::Pattern;
using ribbon::petsc::RunsOfPattern;

namespace {

class PCLineRuns : public Petsc { };

/// A pattern by elements, and its rows.
struct Stored {
  std::vector<PetscInt>              row_begin = {0}, column;
  std::vector<ribbon::petsc::Scalar> value;
  Pattern                            pattern;

  Stored(const std::vector<std::set<PetscInt>> &columns, PetscInt components)
  {
    for (const std::set<PetscInt> &of_row : columns)
      for (PetscInt c = 0; c < components; ++c) {
        for (PetscInt other : of_row)
          for (PetscInt k = 0; k < components; ++k) column.push_back(other * components + k);
        row_begin.push_back(static_cast<PetscInt>(column.size()));
      }
    value.assign(column.size(), 1);
    pattern.components  = components;
    pattern.A.rows      = static_cast<std::int64_t>(row_begin.size()) - 1;
    pattern.A.row_begin = row_begin.data(), pattern.A.column = column.data(), pattern.A.value = value.data();
  }
};

/// Runs of `length` elements with entries up to `reach` away, closed to rings or not.
std::vector<std::set<PetscInt>> runs_of(PetscInt count, PetscInt length, PetscInt reach, bool rings)
{
  std::vector<std::set<PetscInt>> columns(static_cast<std::size_t>(count * length));
  for (PetscInt r = 0; r < count * length; ++r)
    for (PetscInt d = -reach; d <= reach; ++d) {
      const PetscInt along = r % length + d, inside = (along + length) % length;
      if (rings || along == inside) columns[static_cast<std::size_t>(r)].insert(r - r % length + inside);
    }
  return columns;
}

TEST_F(PCLineRuns, TheFirstLookAgreesWithTheSearch) // one rank
{
  std::mt19937 random(5);
  int          strays = 0, none = 0;
  const auto   below = [&random](PetscInt n) {
    return static_cast<PetscInt>(random() % static_cast<unsigned>(n));
  };
  for (int sample = 0; sample < 4000; ++sample) {
    const PetscInt reach = 1 + below(4), length = 2 * reach + 1 + below(9), count = 1 + below(4);
    auto           columns = runs_of(count, length, reach, below(2) == 0);
    for (PetscInt k = below(3); k > 0; --k)
      columns[static_cast<std::size_t>(below(count * length))].insert(below(count * length));
    const Stored stored(columns, 1 + below(3));
    for (PetscInt far : {1, 2, 4, 8}) {
      RunsOfPattern       look;
      const RunsOfPattern found = find_runs(stored.pattern, far);
      const bool          stray = has_stray_entry(stored.pattern, far, &look);
      ASSERT_TRUE(!stray || found.stray_row >= 0) << "seed 5, sample " << sample << ", far " << far;
      strays += stray, none += found.stray_row < 0;
      if (!stray) continue;
      ASSERT_EQ(columns[static_cast<std::size_t>(look.stray_row)].count(look.stray_column), 1u);
      ASSERT_GT(std::abs(look.stray_row - look.stray_column), far);
    }
  }
  EXPECT_GT(strays, 1000);
  EXPECT_GT(none, 1000);
}

TEST_F(PCLineRuns, TheFirstLookFindsGrids) // one rank
{
  for (bool diagonals : {false, true}) {
    const PetscInt                  nx = 21, n = nx * nx;
    std::vector<std::set<PetscInt>> columns(static_cast<std::size_t>(n));
    for (PetscInt r = 0; r < n; ++r)
      for (PetscInt dy = -1; dy <= 1; ++dy)
        for (PetscInt dx = -1; dx <= 1; ++dx) {
          const PetscInt x = r % nx + dx, y = r / nx + dy;
          if (x >= 0 && x < nx && y >= 0 && y < nx && (diagonals || dx == 0 || dy == 0))
            columns[static_cast<std::size_t>(r)].insert(y * nx + x);
        }
    for (PetscInt components : {1, 3})
      for (PetscInt far : {1, 2, 4, 8}) {
        const Stored  stored(columns, components);
        RunsOfPattern look;
        EXPECT_TRUE(has_stray_entry(stored.pattern, far, &look));
        EXPECT_LE(look.stray_row, nx);
      }
  }
}

} // namespace

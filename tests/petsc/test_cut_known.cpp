// SPDX-License-Identifier: BSD-2-Clause
// Tridiagonal and pentadiagonal lines that span ranks and that one_pass supports. Dot products compute the
// entries of the reduced system. Sub-lines are solved once: when the separators are known, or while
// messages travel, if the inverse decays within a few of many rows.
#include "cut_fixture.hpp"

#include <Kokkos_Core.hpp>

using namespace test;

namespace {

class PCLineCutsKnown : public Petsc { };

/// The rows that spikes reach.
enum class Reach { all_rows, some_rows, few_of_many };

/// Lines that span all ranks. Ranks have different numbers of rows.
CutCase lines_over_ranks(PetscMPIInt ranks, PetscInt dim, PetscInt along, PetscInt width, bool periodic,
                         Reach reach, PetscInt matrices)
{
  CutCase c;
  c.dim = dim, c.along = along, c.width = width, c.periodic = periodic, c.matrices = matrices;
  c.strength = reach == Reach::all_rows ? 20 : 0.2, c.shift = reach == Reach::all_rows ? 0.5 : 5;
  for (PetscInt d = 0; d < 3; ++d) c.split[d] = {d >= dim ? 1 : dim == 2 ? 37 - 13 * along : 6};
  c.split[along].clear();
  for (PetscMPIInt p = 0; p < ranks; ++p)
    c.split[along].push_back(p % 3 == 2 ? 3 * width : (reach == Reach::few_of_many ? 760 : 30) + 7 * (p % 2));
  for (PetscInt d = 0; d < 3; ++d) {
    c.n[d] = 0;
    for (PetscInt size : c.split[d]) c.n[d] += size;
  }
  return c;
}

TEST_F(PCLineCutsKnown, AnswersAreThoseOfOneRank)
{
  const char *const exchanges[] = {"auto", "every_rank", "dealt_out"};
  int               number      = 0;
  for (const auto &[dim, along] : {std::pair<PetscInt, PetscInt>{2, 0}, {2, 1}, {3, 1}})
    for (PetscInt width : {1, 2})
      for (Reach reach : {Reach::all_rows, Reach::some_rows, Reach::few_of_many}) {
        if (reach == Reach::few_of_many && dim == 3) continue;
        const bool    periodic = (dim + along + width + static_cast<int>(reach)) % 2;
        const CutCase alone    = lines_over_ranks(ranks, dim, along, width, periodic, reach,
                                               reach != Reach::few_of_many && number % 3 == 0 ? 3 : 1);
        CutCase       together = alone;
        together.options =
          std::string("-pc_line_algorithm one_pass -pc_line_cut exact -pc_line_cut_exchange ") +
          exchanges[number % 3];
        CutCaseSolver     cut(together, PETSC_COMM_WORLD), whole(alone, PETSC_COMM_SELF);
        const PetscReal   tolerance = 10 * static_cast<PetscReal>(alone.n[along]) * PETSC_MACHINE_EPSILON;
        const std::string what      = "case " + std::to_string(number) + ": ";
        for (bool transposed : {false, true})
          EXPECT_LE(answers_differ(&cut, &whole, transposed, transposed != (number % 2 == 0)), tolerance)
            << what << together.what(transposed);
        EXPECT_LE(cut.columns_differ(), tolerance) << what << together.what(false);
        const std::string view = printed([&](PetscViewer viewer) { PCView(cut.pc, viewer); });
        // Devices correct interleaved pentadiagonal sub-lines, and overlap messages from two million
        // unknowns on.
        const bool host =
          contains(view, std::string(" held on ") + Kokkos::DefaultHostExecutionSpace::name());
        const char *expected = host || (reach != Reach::few_of_many && (width == 1 || along == 0))
                                 ? reach == Reach::few_of_many ? "interiors solved while messages travel"
                                                               : "separators from dot products with "
                                 : "joined";
        EXPECT_TRUE(ranks == 1 || contains(view, expected)) << what << together.what(false) << "\n" << view;
        if (HasFailure()) return;
        ++number;
      }
}

/// The first row of every line has a large factor, as rows of boundary values often have. Its right-hand
/// side counts as much as others, although the inverse is small there.
TEST_F(PCLineCutsKnown, LargeRowsCountAsOthers)
{
  for (PetscInt width : {1, 2}) {
    CutCase alone = lines_over_ranks(ranks, 2, 1, width, false, Reach::all_rows, 1);
    // The inverse has decayed below rounding here, its product with the right-hand side has not.
    alone.penalty    = 1e9, alone.split[1][0] += 110, alone.n[1] += 110;
    CutCase together = alone;
    together.options = "-pc_line_algorithm one_pass";
    CutCaseSolver     cut(together, PETSC_COMM_WORLD), whole(alone, PETSC_COMM_SELF);
    const PetscReal   difference = answers_differ(&cut, &whole, false);
    const std::string view       = printed([&](PetscViewer viewer) { PCView(cut.pc, viewer); });
    EXPECT_LE(difference, 10 * static_cast<PetscReal>(alone.n[1]) * PETSC_MACHINE_EPSILON)
      << together.what(false) << "\n"
      << view;
    EXPECT_TRUE(ranks == 1 || contains(view, "joined: on rank 0: exactly ") ||
                contains(view, "joined: on rank 0: exactly, "))
      << view;
  }
}

/// Unknowns are large where columns are small, and so are spikes. Rows whose spikes have decayed relative
/// to the large unknowns still count for the others.
TEST_F(PCLineCutsKnown, ColumnsOfAnySize)
{
  for (const char *algorithm : {"one_pass", "thomas"})
    for (PetscInt width : {1, 2})
      for (double shift : {0.1, 5.})
        for (double seventh : {1e-9, 1e-12}) {
          CutCase alone = lines_over_ranks(ranks, 2, 1, width, false, Reach::all_rows, 1);
          alone.seventh = seventh, alone.shift = shift, alone.strength = 1, alone.split[0] = {3},
          alone.n[0] = 3, alone.n[1] = 0;
          for (PetscInt &rows : alone.split[1]) rows = 100 / ranks + (alone.n[1] == 0), alone.n[1] += rows;
          CutCase together = alone;
          together.options = std::string("-pc_line_algorithm ") + algorithm;
          CutCaseSolver cut(together, PETSC_COMM_WORLD), whole(alone, PETSC_COMM_SELF);
          EXPECT_LE(answers_differ(&cut, &whole, false),
                    10 * static_cast<PetscReal>(alone.n[1]) * PETSC_MACHINE_EPSILON)
            << together.what(false) << ", shift " << shift << ", columns " << seventh;
        }
}

} // namespace

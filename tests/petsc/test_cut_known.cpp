// SPDX-License-Identifier: BSD-2-Clause
// Lines that the partition cuts, whose pieces are solved once, with their separators known: tridiagonal and pentadiagonal ones that one_pass takes.
#include "cut_fixture.hpp"

using namespace test;

namespace {

class PCLineCutsKnown : public Petsc { };

/// Lines over all ranks, which have more rows and fewer.
Case lines_over_ranks(PetscMPIInt ranks, PetscInt dim, PetscInt along, PetscInt width, bool periodic, bool slow, PetscInt matrices)
{
  Case c;
  c.dim = dim, c.along = along, c.width = width, c.periodic = periodic, c.matrices = matrices;
  c.strength = slow ? 20 : 0.2, c.shift = slow ? 0.5 : 5;
  for (PetscInt d = 0; d < 3; ++d) c.split[d] = {d >= dim ? 1 : dim == 2 ? 37 - 13 * along : 6};
  c.split[along].clear();
  for (PetscMPIInt p = 0; p < ranks; ++p) c.split[along].push_back(p % 3 == 2 ? 3 * width : 30 + 7 * (p % 2));
  for (PetscInt d = 0; d < 3; ++d) {
    c.n[d] = 0;
    for (PetscInt size : c.split[d]) c.n[d] += size;
  }
  return c;
}

TEST_F(PCLineCutsKnown, AnswersAreThoseOfOneRank)
{
  const char *const exchanges[] = {"auto", "every_rank", "dealt_out", "groups"};
  int               number      = 0;
  for (const auto &[dim, along] : {std::pair<PetscInt, PetscInt>{2, 0}, {2, 1}, {3, 1}})
    for (PetscInt width : {1, 2})
      for (bool periodic : {false, true})
        for (bool slow : {false, true}) {
          Case c    = lines_over_ranks(ranks, dim, along, width, periodic, slow, 1 + 2 * (number % 2));
          c.options = std::string("-pc_line_algorithm one_pass -pc_line_cut exact -pc_line_cut_exchange ") + exchanges[number % 4] + " -pc_line_cut_parts " + std::to_string(1 + number % 3);
          ++number;
          Solver          cut(c, PETSC_COMM_WORLD), whole(c, PETSC_COMM_SELF);
          const PetscReal tolerance = 10 * static_cast<PetscReal>(c.n[along]) * PETSC_MACHINE_EPSILON;
          for (bool transposed : {false, true})
            for (bool in_place : {false, true}) EXPECT_LE(answers_differ(&cut, &whole, transposed, in_place), tolerance) << c.what(transposed) << (in_place ? ", in place" : "");
          EXPECT_LE(cut.columns_differ(), tolerance) << c.what(false);
          const std::string view = printed([&](PetscViewer viewer) { PCView(cut.pc, viewer); });
          EXPECT_TRUE(ranks == 1 || contains(view, "separators from dot products with ")) << c.what(false) << "\n" << view;
          if (HasFailure()) return;
        }
}

} // namespace

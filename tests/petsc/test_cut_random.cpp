// SPDX-License-Identifier: BSD-2-Clause
// Lines that span ranks, with random partitions: solutions equal those of one rank.
//   RIBBON_PETSC_FUZZ_SEED=S  other cases than the default ones
#include "cut_fixture.hpp"

#include <algorithm>

using namespace test;

namespace {

struct RandomCase : CutCase {
  RandomCase(Draw *draw, PetscMPIInt ranks)
  {
    const char *const cuts[] = {"auto", "exact"}, *const exchanges[] = {"auto", "every_rank", "dealt_out"};
    PetscInt left = ranks, processes[3] = {1, 1, 1};
    dim = draw->between(1, 3), along = draw->below(dim), dof = draw->between(1, 3),
    width = dof > 1 ? 1 : draw->between(1, 2), periodic = draw->one_in(2), matrices = draw->one_in(2);
    strength = draw->of<double>({0.2, 3, 20}), shift = draw->of<double>({0.5, 5});
    for (PetscInt d = dim - 1; d > 0; --d) {
      do processes[d] = draw->between(1, left);
      while (left % processes[d]);
      left /= processes[d];
    }
    processes[0] = left;
    if (draw->one_in(2)) std::swap(processes[0], processes[along]); // more ranks along the lines
    for (PetscInt d = 0; d < 3; ++d) {
      // PETSc chooses the split.
      const PetscInt most  = d >= dim     ? 0
                             : d == along ? 12
                                          : 3,
                     least = processes[d] > 1 || periodic ? width : 1;
      for (PetscInt p = 0; p < processes[d]; ++p)
        split[d].push_back(d >= dim ? 1 : draw->one_in(3) ? least : least + draw->below(most));
      n[d] = 0;
      for (PetscInt size : split[d]) n[d] += size;
      if (d < dim && n[d] < 2 * width + 1) n[d] = split[d][0] += 2 * width + 1, n[d] = 0;
      if (n[d] == 0)
        for (PetscInt size : split[d]) n[d] += size;
    }
    options = "-pc_line_cut " + std::string(cuts[draw->below(2)]) + " -pc_line_cut_exchange " +
              exchanges[draw->below(3)];
    // This algorithm solves sub-lines with known separators.
    if (dof == 1 && draw->one_in(2)) options += " -pc_line_algorithm one_pass";
  }
};

class PCLineCutsAtRandom : public Petsc {
protected:
  static std::uint64_t seed()
  {
    const char *given = std::getenv("RIBBON_PETSC_FUZZ_SEED");
    return given ? std::strtoull(given, nullptr, 10) : 20261122;
  }
};

TEST_F(PCLineCutsAtRandom, AnswersAreThoseOfOneRank)
{
  for (std::uint64_t number = 0; number < 30; ++number) {
    Draw             draw(seed() + number);
    const RandomCase c(&draw, ranks);
    CutCaseSolver    cut(c, PETSC_COMM_WORLD), whole(c, PETSC_COMM_SELF);
    for (bool transposed : {false, true})
      EXPECT_LE(answers_differ(&cut, &whole, transposed),
                10 * static_cast<PetscReal>(c.n[c.along]) * PETSC_MACHINE_EPSILON)
        << "case " << number << ": " << c.what(transposed);
    EXPECT_LE(cut.columns_differ(), 10 * static_cast<PetscReal>(c.n[c.along]) * PETSC_MACHINE_EPSILON)
      << "case " << number << ": " << c.what(false);
    if (HasFailure()) break; // all ranks continue or stop together
  }
}

/// Consecutive rows over ranks that hold many rows, one row or no row.
TEST_F(PCLineCutsAtRandom, RowsOfOneLineOverAnyRanks)
{
  for (std::uint64_t number = 0; number < 20; ++number) {
    Draw           draw(seed() + 1000 + number);
    const PetscInt reach = draw.between(1, 3), n = draw.between(2 * reach + 2, 14 * ranks);
    const auto     own = draw.split(n, ranks, true);
    // Ribbon does not join the sub-lines of rings whose couplings reach across a whole rank.
    const bool ring = draw.one_in(2) && std::none_of(own.begin(), own.end(), [&](PetscInt rows) {
                        return rows > 0 && rows <= reach;
                      });
    const auto away = [&](PetscInt r, PetscInt c) {
      return ring ? std::min(std::abs(r - c), n - std::abs(r - c)) : std::abs(r - c);
    };
    Mat A = matrix(
      n,
      [&](PetscInt r, PetscInt c) {
        return r == c ? 2.4 * static_cast<double>(reach) : -1 + 0.2 * Draw::noise(number, r, c);
      },
      [&](PetscInt r, PetscInt c) { return away(r, c) <= reach; }, own[static_cast<std::size_t>(rank)]);
    {
      Line line(A);
      for (bool transposed : {false, true})
        EXPECT_LT(line.residual(A, transposed), 1e-13)
          << "case " << number << ": " << n << " rows, reach " << reach << (ring ? ", ring" : "") << "\n"
          << line.view();
    }
    MatDestroy(&A);
    if (HasFailure()) break;
  }
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
/// @file fuzz_problem.hpp  A random matrix with its known properties, and how its rows are filled.
#pragma once

#include "fixture.hpp"
#include "fuzz_draw.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace test {

enum class Values { one_matrix, few_matrices, dominant, indefinite, hard, singular };

/// A matrix and its known properties.
struct Problem {
  DM          da    = nullptr; ///< of a grid, else null
  Mat         A     = nullptr; ///< Pmat
  Mat         inner = nullptr; ///< factor of the Kronecker product A, else null
  Mat         rows  = nullptr; ///< A as AIJ if A is of another type that stores rows, else null
  std::string what;
  std::string error;          ///< part of the message that every set-up has to end with; empty: no error
  PetscInt    components = 1; ///< unknowns of a grid point, or rows of a block
  PetscInt    width      = 1; ///< distance of coupled grid points
  Values      values     = Values::dominant;
  bool        sound      = true;  ///< rows are dominant: all lines of all kinds can be solved
  bool        spoilt     = false; ///< NaN or Inf on the diagonal: every set-up has to fail
  bool        symmetric  = false;
  /// only the rows of a line couple, each line lies on one rank, and the set-up finds these lines
  bool whole = false;

  Problem()                           = default;
  Problem(const Problem &)            = delete;
  Problem &operator=(const Problem &) = delete;
  ~Problem()
  {
    MatDestroy(&rows), MatDestroy(&A), MatDestroy(&inner);
    DMDestroy(&da);
  }
  /// A as an AIJ matrix.
  Mat stored() const { return rows ? rows : A; }
};

/// Fills matrices row by row.
class Filling {
public:
  Filling(Draw *draw, Problem *p) : seed_(draw->next()), values_(p->values), symmetric_(p->symmetric)
  {
    for (double &s : strength_) s = draw->one_in(2) ? 1 : std::pow(10.0, draw->real(0, 4));
    sign_    = draw->of({-1.0, 1.0});
    p->sound = values_ != Values::hard && values_ != Values::singular;
  }
  /// An entry off the diagonal, for rows r and c with distance `step` along direction d. `place` is the
  /// kind of place of row r.
  double off(PetscInt r, PetscInt c, PetscInt place, PetscInt step, int d) const
  {
    const double s = strength_[d];
    switch (values_) {
    case Values::one_matrix:
    case Values::singular:
      return -s / static_cast<double>(std::abs(step) + 1);
    case Values::few_matrices:
      return -s * static_cast<double>(1 + place % 3);
    case Values::hard:
      return s * (5 + Draw::noise(seed_, r, c));
    default:
      return s * (symmetric_ ? Draw::noise(seed_, std::min(r, c), std::max(r, c)) : Draw::noise(seed_, r, c));
    }
  }
  /// The diagonal entry of a row whose other entries have the absolute sum `others`.
  double diagonal(PetscInt r, double others) const
  {
    switch (values_) {
    case Values::singular:
      return others;
    case Values::hard:
      return 0.5 + 0.4 * Draw::noise(seed_, r, r);
    case Values::indefinite:
      return (Draw::noise(seed_, r, r) > 0 ? 1 : -1) * (1.2 * others + 0.5);
    default:
      return sign_ * (1.2 * others + 0.5);
    }
  }

private:
  std::uint64_t seed_;
  Values        values_;
  bool          symmetric_;
  double        strength_[3] = {1, 1, 1}, sign_ = 1;
};

/// A matrix without a DM. Row r has entries at `columns(r)`; `local` splits the rows among the ranks.
template <class Columns>
void assemble(Draw *draw, PetscInt local, PetscInt n, const Columns &columns, Problem *p,
              PetscInt without_diagonal = -1)
{
  const Filling filling(draw, p);
  PetscInt      begin, end;
  MatCreate(PETSC_COMM_WORLD, &p->A);
  MatSetSizes(p->A, local, local, n, n);
  MatSetType(p->A, MATAIJ);
  MatSetFromOptions(p->A);
  MatSetUp(p->A);
  MatSetOption(p->A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  MatGetOwnershipRange(p->A, &begin, &end);
  for (PetscInt r = begin; r < end; ++r) {
    double sum = 0;
    for (PetscInt c : columns(r)) {
      if (c == r || c < 0 || c >= n) continue;
      const PetscScalar v = filling.off(r, c, r, c - r, 0);
      sum += std::abs(PetscRealPart(v));
      MatSetValue(p->A, r, c, v, INSERT_VALUES);
    }
    if (r != without_diagonal) MatSetValue(p->A, r, r, filling.diagonal(r, sum), INSERT_VALUES);
  }
  MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY);
}

} // namespace test

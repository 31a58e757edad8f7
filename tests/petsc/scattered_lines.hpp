// SPDX-License-Identifier: BSD-2-Clause
/// @file scattered_lines.hpp  Matrices of lines whose elements are anywhere on all ranks.
#pragma once

#include "lines_fixture.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace test {

/// Lines of `length` elements of `dof` unknowns, whose elements are anywhere on all ranks. Elements couple up
/// to `reach` elements away, and by `weak` with those of other lines.
struct Scattered {
  PetscInt              length = 12, lines = 7, dof = 1, reach = 1;
  PetscInt              rings   = 0; ///< of the lines
  double                weak    = 0;
  bool                  coupled = true; ///< different components of elements couple
  std::vector<PetscInt> place   = {};   ///< line * length + position, of each element

  Mat make()
  {
    const PetscInt n = length * lines;
    place.resize(static_cast<std::size_t>(n));
    std::iota(place.begin(), place.end(), 0);
    std::shuffle(place.begin(), place.end(), std::mt19937(11));
    Mat A = matrix(
      n * dof,
      [this](PetscInt r, PetscInt c) {
        const PetscInt d = apart(r / dof, c / dof);
        if (r == c) return PetscScalar(5.0 * static_cast<double>(dof)) + entry(r, r) * PetscReal(0.01);
        return PetscScalar(d < 0 ? weak : d == 0 ? 0.3 : -std::pow(0.5, d - 1));
      },
      [this](PetscInt r, PetscInt c) {
        const PetscInt d = apart(r / dof, c / dof);
        if (!coupled && (r - c) % dof != 0) return false;
        return (d >= 0 && d <= reach) || (weak != 0 && at(r / dof) % length == at(c / dof) % length);
      },
      local(n));
    MatSetBlockSize(A, dof);
    return A;
  }

private:
  PetscInt at(PetscInt e) const { return place[static_cast<std::size_t>(e)]; }
  /// Whole elements on every rank.
  PetscInt local(PetscInt n) const
  {
    PetscMPIInt size, rank;
    MPI_Comm_size(PETSC_COMM_WORLD, &size), MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    return ((rank + 1) * n / size - rank * n / size) * dof;
  }
  PetscInt apart(PetscInt e, PetscInt f) const
  {
    if (at(e) / length != at(f) / length) return -1;
    const PetscInt d = std::abs(at(e) - at(f));
    return at(e) / length < rings ? std::min(d, length - d) : d;
  }
};

/// Iterations of CG with the options of a test.
inline PetscInt iterations_of(Mat A, const char *options)
{
  KSP      ksp;
  Vec      b, x;
  PetscInt its = -1;
  reset_options(options);
  MatCreateVecs(A, &x, &b);
  VecSet(b, 1);
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetOperators(ksp, A, A);
  KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 500);
  KSPSetFromOptions(ksp);
  KSPConvergedReason reason;
  if (!KSPSolve(ksp, b, x)) KSPGetIterationNumber(ksp, &its);
  KSPGetConvergedReason(ksp, &reason);
  KSPDestroy(&ksp);
  VecDestroy(&x);
  VecDestroy(&b);
  reset_options();
  return reason > 0 ? its : -1;
}

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
/// @file kspline_fixture.hpp  A KSP line around a matrix, for its tests.
#pragma once

#include "fixture.hpp"

namespace test {

class KSPLine : public Petsc {
protected:
  void TearDown() override
  {
    reset_options();
    Petsc::TearDown();
  }
};

inline constexpr PetscReal eps = PETSC_MACHINE_EPSILON;

/// A KSP line for a matrix, with a random right-hand side.
struct Solver {
  KSP ksp = nullptr;
  PC  pc  = nullptr;
  Vec b = nullptr, x = nullptr;

  explicit Solver(Mat amat, Mat pmat = nullptr, DM da = nullptr, const char *prefix = nullptr)
  {
    const Line vectors(amat);
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOptionsPrefix(ksp, prefix);
    KSPSetType(ksp, KSPLINE);
    KSPSetOperators(ksp, amat, pmat ? pmat : amat);
    KSPGetPC(ksp, &pc);
    if (da) PCSetDM(pc, da);
    VecDuplicate(vectors.b, &b);
    VecDuplicate(vectors.b, &x);
    VecCopy(vectors.b, b);
  }
  Solver(const Solver &)            = delete;
  Solver &operator=(const Solver &) = delete;
  ~Solver()
  {
    VecDestroy(&b), VecDestroy(&x);
    KSPDestroy(&ksp);
  }
  void               tolerances(PetscReal rtol, PetscInt max_it = PETSC_DEFAULT) { KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, max_it); }
  KSPConvergedReason solve(bool transposed = false)
  {
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    EXPECT_EQ(transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x), 0) << last_error();
    KSPGetConvergedReason(ksp, &reason);
    return reason;
  }
  PetscInt iterations() const
  {
    PetscInt its = -1;
    KSPGetIterationNumber(ksp, &its);
    return its;
  }
  /// ||b - A x|| / ||b||.
  PetscReal residual(bool transposed = false) const
  {
    Mat A;
    KSPGetOperators(ksp, &A, nullptr);
    return relative_residual(A, b, x, transposed);
  }
  struct Info {
    PetscInt  lines = -1, refined = -1, open = -1;
    PetscReal worst = -1;
  };
  Info info() const
  {
    Info i;
    EXPECT_EQ(KSPLineGetInfo(ksp, &i.lines, &i.refined, &i.open, &i.worst), 0) << last_error();
    return i;
  }
  std::string view(PetscErrorCode (*print)(KSP, PetscViewer)) const
  {
    return printed([&](PetscViewer viewer) { print(ksp, viewer); });
  }
};

/// Lines of `rows` unknowns side by side in the rows of a rank, 8 on each: entries of line l from entry(l, row, step), l counted over all ranks.
inline Mat batch(PetscInt rows, const std::function<PetscScalar(PetscInt, PetscInt, PetscInt)> &entry, PetscMPIInt ranks)
{
  const PetscInt lines = 8 * ranks;
  return matrix(
    rows * lines, [&](PetscInt r, PetscInt c) { return entry(r / rows, r % rows, c - r); }, [&](PetscInt r, PetscInt c) { return r / rows == c / rows && std::abs(r - c) <= 1; }, 8 * rows);
}

/// Second differences with `shift` on the diagonal.
inline PetscScalar poisson(PetscInt step, PetscReal shift)
{
  return step == 0 ? PetscScalar(2 + shift) : PetscScalar(-1) * (step > 0 ? turned : PetscConj(turned)) / PetscAbsScalar(turned);
}

} // namespace test

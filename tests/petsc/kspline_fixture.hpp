// SPDX-License-Identifier: BSD-2-Clause
/// @file kspline_fixture.hpp  KSP line with a matrix and a right-hand side, for its tests.
#pragma once

#include "fixture.hpp"

#include <algorithm>
#include <complex>

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
  void tolerances(PetscReal rtol, PetscInt max_it = PETSC_DEFAULT)
  {
    KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, max_it);
  }
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

/// The largest max|b - A x| / max(|A| |x| + |b|) over runs of `rows` rows of this rank, in long double.
inline PetscReal line_backward_error(Mat A, Vec b, Vec x, PetscInt rows)
{
  const PetscScalar *all, *right, *value;
  const PetscInt    *column;
  PetscInt           begin, end, n;
  Vec                seq;
  VecScatter         scatter;
  long double        worst = 0, residual = 0, size = 0;
  VecScatterCreateToAll(x, &scatter, &seq);
  VecScatterBegin(scatter, x, seq, INSERT_VALUES, SCATTER_FORWARD);
  VecScatterEnd(scatter, x, seq, INSERT_VALUES, SCATTER_FORWARD);
  VecGetArrayRead(seq, &all), VecGetArrayRead(b, &right);
  MatGetOwnershipRange(A, &begin, &end);
  for (PetscInt r = begin; r < end; ++r) {
    std::complex<long double> sum(PetscRealPart(right[r - begin]), PetscImaginaryPart(right[r - begin]));
    long double               sizes = std::abs(sum);
    MatGetRow(A, r, &n, &column, &value);
    for (PetscInt k = 0; k < n; ++k) {
      const std::complex<long double> a(PetscRealPart(value[k]), PetscImaginaryPart(value[k]));
      const std::complex<long double> y(PetscRealPart(all[column[k]]), PetscImaginaryPart(all[column[k]]));
      sum -= a * y, sizes += std::abs(a) * std::abs(y);
    }
    MatRestoreRow(A, r, &n, &column, &value);
    residual = std::max(residual, std::abs(sum)), size = std::max(size, sizes);
    if ((r + 1) % rows == 0 || r + 1 == end) worst = std::max(worst, residual / size), residual = size = 0;
  }
  VecRestoreArrayRead(b, &right), VecRestoreArrayRead(seq, &all);
  VecScatterDestroy(&scatter), VecDestroy(&seq);
  return static_cast<PetscReal>(worst);
}

/// Lines of `rows` unknowns, one after another, 8 on each rank. The entries of line l are entry(l, row,
/// step), and l counts the lines of all ranks.
inline Mat batch(PetscInt rows, const std::function<PetscScalar(PetscInt, PetscInt, PetscInt)> &entry,
                 PetscMPIInt ranks)
{
  const PetscInt lines = 8 * ranks;
  return matrix(
    rows * lines, [&](PetscInt r, PetscInt c) { return entry(r / rows, r % rows, c - r); },
    [&](PetscInt r, PetscInt c) { return r / rows == c / rows && std::abs(r - c) <= 1; }, 8 * rows);
}

/// Second differences with `shift` on the diagonal.
inline PetscScalar poisson(PetscInt step, PetscReal shift)
{
  return step == 0 ? PetscScalar(2 + shift)
                   : PetscScalar(-1) * (step > 0 ? turned : PetscConj(turned)) / PetscAbsScalar(turned);
}

} // namespace test

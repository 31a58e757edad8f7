// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp_columns.hpp  Right-hand sides and solutions of KSP line: vectors, or columns of dense matrices.
#pragma once

#include "ksp.hpp"

#include "../support/native_vectors.hpp"

#include <vector>

namespace ribbon::petsc::ksp_line {

/// Whether numbers that are to fall still do.
class Progress {
public:
  Progress() = default;
  /// @param period    every so many-th number counts
  /// @param factor    it is progress where it is below this times the last that was
  /// @param patience  so many without progress are too many
  Progress(PetscInt period, PetscReal factor, PetscInt patience)
      : period_(period), patience_(patience), factor_(factor)
  {
  }
  bool ends_with(PetscReal value)
  {
    if (++seen_ % period_ != 0) return false;
    without_ = value < factor_ * mark_ ? 0 : without_ + 1;
    if (without_ == 0) mark_ = value;
    return without_ >= patience_;
  }

private:
  PetscInt  period_ = 1, patience_ = 1, without_ = 0, seen_ = 0;
  PetscReal factor_ = 1, mark_ = PETSC_MAX_REAL;
};

/// Of one right-hand side.
struct Column {
  /// the last two are what the convergence test keeps in the KSP
  PetscReal norm = 0, norm0 = 0, tolerance = 0;
  PetscReal kept = PETSC_MAX_REAL; ///< norm of the solution that is kept
  /// what was held was better
  bool taken_back = false;
  /// lines that are done are left alone
  bool spares = false;
  /// held: what the test said while lines were left
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING, held = KSP_CONVERGED_ITERATING;
  Progress           all, lines;
};

/// Right-hand sides and solutions: vectors, or the columns of dense matrices.
struct Block {
  Vec           b = nullptr, x = nullptr, r = nullptr, z = nullptr;
  Mat           B = nullptr, X = nullptr, R = nullptr, Z = nullptr;
  Vec           kept    = nullptr; ///< the best solutions, or those that the test was content with
  Mat           Kept    = nullptr;
  PetscInt      columns = 1;
  NativeVectors native;         ///< columns of another type than A multiplies
  Vec           like = nullptr; ///< what it multiplies; null for vectors
};

template <class F>
PetscErrorCode WithRead(Vec v, Mat V, PetscInt column, const F &f)
{
  PetscFunctionBegin;
  if (V) PetscCall(MatDenseGetColumnVecRead(V, column, &v));
  PetscCall(f(v));
  if (V) PetscCall(MatDenseRestoreColumnVecRead(V, column, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class F>
PetscErrorCode WithWrite(Vec v, Mat V, PetscInt column, const F &f)
{
  PetscFunctionBegin;
  if (V) PetscCall(MatDenseGetColumnVec(V, column, &v));
  PetscCall(f(v));
  if (V) PetscCall(MatDenseRestoreColumnVec(V, column, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// r = b - A x for all columns.
PetscErrorCode Residuals(KSP ksp, Mat A, Block &k);
/// z = M r for all columns.
PetscErrorCode Precondition(KSP ksp, Mat A, Vec r, Mat R, Vec z, Mat Z, PetscInt columns);
/// r = b - A x in doubled precision, and the sizes that it is judged by (may be null), for one column.
PetscErrorCode ResidualOf(Block &k, PetscInt c, AccurateResidual *accurate, Vec sizes);
/// Norms of the residuals, or of b; the largest of all.
PetscErrorCode Norms(Vec v, Mat V, std::vector<Column> &columns, PetscReal *largest);
/// Keeps the solution of a column, or takes back what was kept.
PetscErrorCode Keep(Block &k, PetscInt c);
PetscErrorCode TakeBack(Block &k, PetscInt c);

/// What the convergence test, or a monitor, sees of the KSP: one column, as if it were solved by itself.
template <class F>
PetscErrorCode Show(KSP ksp, Block &k, PetscInt c, const F &f)
{
  const Vec b = ksp->vec_rhs, x = ksp->vec_sol;
  PetscFunctionBegin;
  PetscCall(WithRead(k.b, k.B, c, [&](Vec right) {
    return WithRead(k.x, k.X, c, [&](Vec solution) {
      ksp->vec_rhs = right, ksp->vec_sol = solution;
      const Mat            B     = RibbonSwapMatRHS(ksp, nullptr);
      const PetscErrorCode error = f();
      RibbonSwapMatRHS(ksp, B);
      ksp->vec_rhs = b, ksp->vec_sol = x;
      return error;
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc::ksp_line

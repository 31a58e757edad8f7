// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp_columns.hpp  Right-hand sides and solutions of KSP line: vectors, or columns of dense matrices.
#pragma once

#include "ksp.hpp"

#include "../support/native_vectors.hpp"

#include <vector>

namespace ribbon::petsc::ksp_line {

/// Detects when a sequence of norms stops decreasing.
class Progress {
public:
  Progress() = default;
  /// @param period    only every period-th norm counts
  /// @param factor    a norm is progress if it is below factor times the last norm that was progress
  /// @param patience  the sequence ends after this many norms without progress
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

/// State of one right-hand side.
struct Column {
  /// the convergence test stores the last two in the KSP
  PetscReal norm = 0, norm0 = 0, tolerance = 0;
  PetscReal kept = PETSC_MAX_REAL; ///< norm of the solution that is kept
  /// an earlier solution was restored, because the last one is worse
  bool taken_back = false;
  /// the solution does not change on lines that are done
  bool spares = false;
  /// held: result of the test while some lines are not done
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING, held = KSP_CONVERGED_ITERATING;
  Progress           all, lines;
};

/// Right-hand sides and solutions: vectors, or the columns of dense matrices.
struct Block {
  Vec           b = nullptr, x = nullptr, r = nullptr, z = nullptr;
  Mat           B = nullptr, X = nullptr, R = nullptr, Z = nullptr;
  Vec           kept    = nullptr; ///< the best solutions, or those that met the test
  Mat           Kept    = nullptr;
  PetscInt      columns = 1;
  NativeVectors native;         ///< for columns of another type than the vectors that A multiplies
  Vec           like = nullptr; ///< a vector that A multiplies; null for vectors
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
/// r = b - A x in doubled precision for one column, and the sizes that the residual is compared with (may
/// be null).
PetscErrorCode ResidualOf(Block &k, PetscInt c, AccurateResidual *accurate, Vec sizes);
/// Norms of the residuals, or of b, and the largest of all.
PetscErrorCode Norms(Vec v, Mat V, std::vector<Column> &columns, PetscReal *largest);
/// Keep() stores the solution of a column, TakeBack() restores it.
PetscErrorCode Keep(Block &k, PetscInt c);
PetscErrorCode TakeBack(Block &k, PetscInt c);

/// Calls f while the KSP shows one column, as if it were solved separately. The convergence test and
/// monitors see this state.
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

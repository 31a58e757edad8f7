// SPDX-License-Identifier: BSD-2-Clause
#include "ksp_columns.hpp"

#include "../support/session.hpp"

namespace ribbon::petsc::ksp_line {

PetscErrorCode Residuals(KSP ksp, Mat A, Block &k)
{
  PetscBool at_once = PETSC_FALSE;
  PetscFunctionBegin;
  // PETSc 3.24 multiplies columns of Kokkos matrices as host vectors, and crashes
  if (k.B && !ksp->transpose_solve)
    PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &at_once, MATSEQAIJ, MATMPIAIJ, MATSEQAIJCUSPARSE,
                                        MATMPIAIJCUSPARSE, ""));
  if (at_once) {
    PetscCall(MatMatMult(A, k.X, k.R ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, &k.R));
    PetscCall(MatAYPX(k.R, -1, k.B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (k.B && !k.R) PetscCall(MatDuplicate(k.B, MAT_DO_NOT_COPY_VALUES, &k.R));
  if (k.B && !k.like) PetscCall(MatCreateVecs(A, nullptr, &k.like));
  for (PetscInt c = 0; c < k.columns; ++c)
    PetscCall(WithWrite(k.r, k.R, c, [&](Vec r) {
      PetscFunctionBegin;
      PetscCall(WithRead(k.x, k.X, c, [&](Vec x) {
        return k.native.with(
          k.like, x, r, [&](Vec native_x, Vec native_r) { return KSP_MatMult(ksp, A, native_x, native_r); });
      }));
      PetscCall(WithRead(k.b, k.B, c, [&](Vec b) { return VecAYPX(r, -1, b); }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Precondition(KSP ksp, Mat A, Vec r, Mat R, Vec z, Mat Z, PetscInt columns)
{
  MatNullSpace space;
  PetscFunctionBegin;
  if (!R) {
    PetscCall(KSP_PCApply(ksp, r, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetNullSpace(A, &space));
  if (!ksp->transpose_solve && !space) {
    PetscCall(PCMatApply(ksp->pc, R, Z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < columns; ++c)
    PetscCall(WithWrite(z, Z, c, [&](Vec to) {
      return WithRead(r, R, c, [&](Vec from) { return KSP_PCApply(ksp, from, to); });
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ResidualOf(Block &k, PetscInt c, AccurateResidual *accurate, Vec sizes)
{
  const auto compute = [&](Vec b, Vec x, Vec r) {
    return Logged(&Events::residual, [&] { return accurate->compute(b, x, r, sizes, ResidualSizes::sums); });
  };
  PetscFunctionBegin;
  PetscCall(WithRead(k.b, k.B, c, [&](Vec b) {
    return WithRead(k.x, k.X, c,
                    [&](Vec x) { return WithWrite(k.r, k.R, c, [&](Vec r) { return compute(b, x, r); }); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Keep(Block &k, PetscInt c)
{
  PetscFunctionBegin;
  if (k.B && !k.Kept) PetscCall(MatDuplicate(k.X, MAT_DO_NOT_COPY_VALUES, &k.Kept));
  if (!k.B && !k.kept) PetscCall(VecDuplicate(k.x, &k.kept));
  PetscCall(WithRead(k.x, k.X, c, [&](Vec x) {
    return WithWrite(k.kept, k.Kept, c, [&](Vec kept) { return VecCopy(x, kept); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode TakeBack(Block &k, PetscInt c)
{
  PetscFunctionBegin;
  PetscCall(WithRead(k.kept, k.Kept, c, [&](Vec kept) {
    return WithWrite(k.x, k.X, c, [&](Vec x) { return VecCopy(kept, x); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Norms(Vec v, Mat V, std::vector<Column> &columns, PetscReal *largest)
{
  std::vector<PetscReal> norms(columns.size());
  PetscFunctionBegin;
  if (V) PetscCall(MatGetColumnNorms(V, NORM_2, norms.data()));
  else PetscCall(VecNorm(v, NORM_2, norms.data()));
  *largest = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].norm = norms[c];
    if (!(norms[c] <= *largest)) *largest = norms[c]; // or NaN
    if (PetscIsInfOrNanReal(*largest)) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc::ksp_line

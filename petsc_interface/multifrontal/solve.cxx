// SPDX-License-Identifier: BSD-2-Clause
// Solves with the factors: vectors, the columns of dense matrices, transposes, and refinement.
#include "solve.hpp"

#include "../support/csr.hpp"

namespace ribbon::petsc {

namespace {

/// One solve without refinement.
PetscErrorCode SolveOnce(Mat F, Vec b, Vec x, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  const PetscScalar  *pb;
  PetscScalar        *px;
  PetscMemType        where_b = PETSC_MEMTYPE_HOST, where_x = PETSC_MEMTYPE_HOST;
  PetscFunctionBegin;
  if (f->pattern.gathered) {
    PetscCall(VecScatterBegin(f->to_first, b, f->all_b, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(f->to_first, b, f->all_b, INSERT_VALUES, SCATTER_FORWARD));
  }
  Vec      from = f->pattern.gathered ? f->all_b : b, to = f->pattern.gathered ? f->all_x : x;
  PetscInt rows;
  PetscCall(VecGetLocalSize(from, &rows));
  // also on ranks without rows: the state of a vector, and the norms that PETSc stores with it, must change
  // on all ranks
  PetscCall(f->on_device ? VecGetArrayReadAndMemType(from, &pb, &where_b) : VecGetArrayRead(from, &pb));
  PetscCall(f->on_device ? VecGetArrayWriteAndMemType(to, &px, &where_x) : VecGetArrayWrite(to, &px));
  if (f->factor) PetscCall(f->factor->solve(pb, where_b, rows, px, where_x, rows, 1, transposed));
  PetscCall(f->on_device ? VecRestoreArrayWriteAndMemType(to, &px) : VecRestoreArrayWrite(to, &px));
  PetscCall(f->on_device ? VecRestoreArrayReadAndMemType(from, &pb) : VecRestoreArrayRead(from, &pb));
  if (f->pattern.gathered) {
    PetscCall(VecScatterBegin(f->to_first, f->all_x, x, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(f->to_first, f->all_x, x, INSERT_VALUES, SCATTER_REVERSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Steps of refinement with scales, which are not unique. One step makes the error of every entry small
/// (Skeel 1980), if the scaled entries do not differ by more than the precision. Otherwise a second step is
/// necessary.
constexpr PetscInt least_steps_scaled = 2;

} // namespace

PetscErrorCode SolveAndRefine(Mat F, Vec b, Vec x, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  PetscCall(SolveOnce(F, b, x, transposed));
  for (PetscInt k = 0; k < (f->is_scaled ? PetscMax(f->steps, least_steps_scaled) : f->steps); ++k) {
    if (transposed) PetscCall(MatMultTranspose(FactoredMatrix(f), x, f->residual));
    else PetscCall(MatMult(FactoredMatrix(f), x, f->residual));
    PetscCall(VecAYPX(f->residual, -1, b));
    PetscCall(SolveOnce(F, f->residual, f->correction, transposed));
    PetscCall(VecAXPY(x, 1, f->correction));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// The same for A = r^-1 (r A c) c^-1, if there are scales: x = c (r A c)^-1 r b, transposed x = r (r A
/// c)^-T c b.
PetscErrorCode SolveScaled(Mat F, Vec b, Vec x, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  if (f->is_scaled) PetscCall(VecPointwiseMult(f->scaled_b, b, transposed ? f->column_scale : f->row_scale));
  PetscCall(SolveAndRefine(F, f->is_scaled ? f->scaled_b : b, x, transposed));
  if (f->is_scaled) PetscCall(VecPointwiseMult(x, x, transposed ? f->row_scale : f->column_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode Solve(Mat F, Vec b, Vec x, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  if (!f->is_factored) PetscCall(RibbonVecSetInfinity(x));
  else if (f->steps == 0 && !f->is_scaled) PetscCall(SolveOnce(F, b, x, transposed));
  else
    PetscCall(f->native.with(f->residual, b, x, [&](Vec native_b, Vec native_x) {
      return SolveScaled(F, native_b, native_x, transposed);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode MatSolve_Multifrontal(Mat F, Vec b, Vec x)
{
  return Solve(F, b, x, false);
}
PetscErrorCode MatSolveTranspose_Multifrontal(Mat F, Vec b, Vec x)
{
  return Solve(F, b, x, true);
}

PetscErrorCode SolveColumns(Mat F, Mat B, Mat X, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  PetscInt            rows, columns, ldb, ldx;
  PetscBool           dense_b, dense_x;
  const PetscScalar  *pb;
  PetscScalar        *px;
  PetscMemType        where_b = PETSC_MEMTYPE_HOST, where_x = PETSC_MEMTYPE_HOST;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense_b, MATSEQDENSE, MATMPIDENSE, "seqdensecuda",
                                      "mpidensecuda", ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)X, &dense_x, MATSEQDENSE, MATMPIDENSE, "seqdensecuda",
                                      "mpidensecuda", ""));
  PetscCheck(dense_b && dense_x, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG,
             "multifrontal: MatMatSolve() takes dense matrices, not %s and %s", ((PetscObject)B)->type_name,
             ((PetscObject)X)->type_name);
  PetscCall(MatGetSize(B, nullptr, &columns));
  if (f->pattern.gathered || !f->is_factored || f->steps > 0 || f->is_scaled ||
      (B == X && !f->pattern.row_of.empty())) {
    Vec copy = nullptr; // for solves in place
    for (PetscInt c = 0; c < columns; ++c) {
      Vec b, x;
      if (B == X) {
        PetscCall(MatDenseGetColumnVec(X, c, &x));
        if (!copy) PetscCall(VecDuplicate(x, &copy));
        PetscCall(VecCopy(x, copy));
        PetscCall(Solve(F, copy, x, transposed));
        PetscCall(MatDenseRestoreColumnVec(X, c, &x));
        continue;
      }
      PetscCall(MatDenseGetColumnVecRead(B, c, &b));
      PetscCall(MatDenseGetColumnVecWrite(X, c, &x));
      PetscCall(Solve(F, b, x, transposed));
      PetscCall(MatDenseRestoreColumnVecWrite(X, c, &x));
      PetscCall(MatDenseRestoreColumnVecRead(B, c, &b));
    }
    PetscCall(VecDestroy(&copy));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetLocalSize(B, &rows, nullptr));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
  PetscCall(f->on_device ? RibbonDenseGetArrayReadAndMemType(B, &pb, &where_b)
                         : MatDenseGetArrayRead(B, &pb));
  PetscCall(f->on_device ? RibbonDenseGetArrayWriteAndMemType(X, &px, &where_x)
                         : MatDenseGetArrayWrite(X, &px));
  if (f->factor && columns > 0)
    PetscCall(f->factor->solve(pb, where_b, ldb, px, where_x, ldx, columns, transposed));
  PetscCall(f->on_device ? RibbonDenseRestoreArrayWriteAndMemType(X, &px)
                         : MatDenseRestoreArrayWrite(X, &px));
  PetscCall(f->on_device ? RibbonDenseRestoreArrayReadAndMemType(B, &pb) : MatDenseRestoreArrayRead(B, &pb));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatMatSolve_Multifrontal(Mat F, Mat B, Mat X)
{
  return SolveColumns(F, B, X, false);
}
PetscErrorCode MatMatSolveTranspose_Multifrontal(Mat F, Mat B, Mat X)
{
  return SolveColumns(F, B, X, true);
}
/// Allocates B^T in f->turned, of a dense type, unless it exists.
PetscErrorCode MakeRoomToTurn(MultifrontalFactor *f, Mat B, MatType type)
{
  PetscInt  columns, before = -1;
  PetscBool alike = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatGetSize(B, &columns, nullptr));
  if (f->turned) PetscCall(MatGetSize(f->turned, nullptr, &before));
  if (f->turned) PetscCall(PetscObjectTypeCompare((PetscObject)f->turned, type, &alike));
  if (alike && before == columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&f->turned));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)B), &f->turned));
  PetscCall(MatSetSizes(f->turned, B->cmap->n, columns, B->cmap->N, columns));
  PetscCall(MatSetType(f->turned, type));
  PetscCall(MatSetUp(f->turned));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// f->turned = B^T if one rank has all of B: a dense matrix in its memory, or AIJ on the host. `is_done`:
/// false for other B.
PetscErrorCode Turn(Mat F, Mat B, bool *is_done)
{
  MultifrontalFactor *f = Data(F);
  PetscBool           dense, aij, bound;
  const PetscScalar  *pb;
  PetscScalar        *pt;
  PetscInt            ld;
  const PetscInt      rows = B->cmap->n, columns = B->rmap->n;
  PetscMemType        where = PETSC_MEMTYPE_HOST, turned_where = PETSC_MEMTYPE_HOST;
  HostRows            csr;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense, MATSEQDENSE, "seqdensecuda", ""));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATSEQAIJ, &aij));
  *is_done = dense || aij;
  if (!*is_done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBoundToCPU(B, &bound));
  PetscCall(MakeRoomToTurn(f, B, dense && !bound ? ((PetscObject)B)->type_name : MATSEQDENSE));
  if (dense) {
    PetscCall(MatDenseGetLDA(B, &ld));
    PetscCall(f->on_device ? RibbonDenseGetArrayReadAndMemType(B, &pb, &where)
                           : MatDenseGetArrayRead(B, &pb));
    PetscCall(f->on_device ? RibbonDenseGetArrayWriteAndMemType(f->turned, &pt, &turned_where)
                           : MatDenseGetArrayWrite(f->turned, &pt));
    PetscCheck(PetscMemTypeHost(where) == PetscMemTypeHost(turned_where), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "multifrontal: dense matrices of type %s are not all on the device",
               ((PetscObject)B)->type_name);
    if (f->factor) PetscCall(f->factor->transpose(pb, where, ld, rows, columns, pt));
    PetscCall(f->on_device ? RibbonDenseRestoreArrayWriteAndMemType(f->turned, &pt)
                           : MatDenseRestoreArrayWrite(f->turned, &pt));
    PetscCall(f->on_device ? RibbonDenseRestoreArrayReadAndMemType(B, &pb)
                           : MatDenseRestoreArrayRead(B, &pb));
  } else {
    PetscCall(MatDenseGetArrayWrite(f->turned, &pt));
    PetscCall(PetscArrayzero(pt, static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)));
    PetscCall(GetHostRows(B, true, &csr));
    for (PetscInt c = 0; c < columns; ++c)
      for (PetscInt e = csr.row_begin[c]; e < csr.row_begin[c + 1]; ++e)
        pt[csr.column[e] + static_cast<std::ptrdiff_t>(c) * rows] = static_cast<PetscScalar>(csr.value[e]);
    PetscCall(RestoreHostRows(B, &csr));
    PetscCall(MatDenseRestoreArrayWrite(f->turned, &pt));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A X = B^T, with B of any type. PETSc transposes B anew, unless it is a dense or AIJ matrix on one rank.
PetscErrorCode MatMatTransposeSolve_Multifrontal(Mat F, Mat B, Mat X)
{
  bool is_done = false;
  Mat  transposed, dense;
  PetscFunctionBegin;
  PetscCall(Turn(F, B, &is_done));
  if (is_done) {
    PetscCall(SolveColumns(F, Data(F)->turned, X, false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &transposed));
  PetscCall(MatConvert(transposed, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  PetscCall(SolveColumns(F, dense, X, false));
  PetscCall(MatDestroy(&dense));
  PetscCall(MatDestroy(&transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

void SetSolveOperations(Mat F)
{
  F->ops->solve             = MatSolve_Multifrontal;
  F->ops->solvetranspose    = MatSolveTranspose_Multifrontal;
  F->ops->matsolve          = MatMatSolve_Multifrontal;
  F->ops->matsolvetranspose = MatMatSolveTranspose_Multifrontal;
  F->ops->mattransposesolve = MatMatTransposeSolve_Multifrontal;
}

} // namespace ribbon::petsc

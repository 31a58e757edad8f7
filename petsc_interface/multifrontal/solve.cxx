// SPDX-License-Identifier: BSD-2-Clause
// Solves with the factors: vectors, the columns of dense matrices, transposes,
// refinement, and a probe of them.
#include "multifrontal.hpp"

#include "../support/csr.hpp"

#include <cmath>

using namespace ribbon::petsc;

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
  // on ranks without rows, too: the state of a vector, and with it norms that PETSc
  // keeps, change on all ranks
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

/// Steps of refinement where there are scales, which are not unique: one makes errors small in
/// every entry (Skeel 1980), as long as entries are not further apart, scaled, than numbers have
/// digits; another one then.
constexpr PetscInt least_steps_scaled = 2;

/// One solve, and steps of refinement, with the matrix as it was factored.
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

/// The same for A = r^-1 (r A c) c^-1, where there are scales: x = c (r A c)^-1 r b,
/// transposed x = r (r A c)^-T c b.
PetscErrorCode SolveScaled(Mat F, Vec b, Vec x, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  if (f->is_scaled) PetscCall(VecPointwiseMult(f->scaled_b, b, transposed ? f->column_scale : f->row_scale));
  PetscCall(SolveAndRefine(F, f->is_scaled ? f->scaled_b : b, x, transposed));
  if (f->is_scaled) PetscCall(VecPointwiseMult(x, x, transposed ? f->row_scale : f->column_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(Mat F, Vec b, Vec x, bool transposed)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  // never a number that could be taken for an answer
  if (!f->is_factored) PetscCall(VecSet(x, PETSC_INFINITY));
  else if (f->steps == 0 && !f->is_scaled) PetscCall(SolveOnce(F, b, x, transposed));
  else
    PetscCall(f->native.with(f->residual, b, x, [&](Vec native_b, Vec native_x) {
      return SolveScaled(F, native_b, native_x, transposed);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
    Vec copy = nullptr; // in place
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
/// Makes room for B^T in f->turned, of a dense type, unless it is there.
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

/// f->turned = B^T where one rank has all of B, dense where it is or AIJ on the host; `is_done` says
/// whether B is one of these.
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

/// A X = B^T, B of any type. What is no dense or AIJ matrix on one rank PETSc transposes anew.
PetscErrorCode MatMatTransposeSolve_Multifrontal(Mat F, Mat B, Mat X)
{
  bool is_done;
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

void ribbon::petsc::SetSolveOperations(Mat F)
{
  F->ops->solve             = MatSolve_Multifrontal;
  F->ops->solvetranspose    = MatSolveTranspose_Multifrontal;
  F->ops->matsolve          = MatMatSolve_Multifrontal;
  F->ops->matsolvetranspose = MatMatSolveTranspose_Multifrontal;
  F->ops->mattransposesolve = MatMatTransposeSolve_Multifrontal;
}

namespace {

/// A vector of powers of two.
PetscErrorCode PutPowers(const std::vector<int> &exponents, Vec v)
{
  PetscScalar *a;
  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(v, &a));
  for (std::size_t i = 0; i < exponents.size(); ++i)
    a[i] = static_cast<PetscScalar>(std::ldexp(PetscReal(1), exponents[i]));
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ribbon::petsc::ScaleMatrix(Mat F, Mat A)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  ScaleSearch search;
  search.symmetric = F->factortype == MAT_FACTOR_CHOLESKY, search.exchanges = f->exchanges;
  search.order = &f->pattern.row_of;
  if (f->pattern.gathered) {
    if (!f->has_gathered) PetscCall(GatherNumbers(A, f->gathered, &f->gather_room));
    f->has_gathered = true;
    PetscCall(FindScalesOnFirstRank(A, f->gathered, search, &f->gathered_scales, &f->scales));
  } else PetscCall(FindScales(A, search, &f->scales));
  f->is_scaled = f->scales.differ;
  if (!f->is_scaled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CopyScaled(A, f->scales, &f->scaled));
  if (!f->row_scale) PetscCall(MatCreateVecs(A, &f->column_scale, &f->row_scale));
  if (!f->scaled_b) PetscCall(VecDuplicate(f->row_scale, &f->scaled_b));
  PetscCall(PutPowers(f->scales.row, f->row_scale));
  PetscCall(PutPowers(f->scales.column, f->column_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ribbon::petsc::InverseIsFinite(Mat F, bool *is_finite)
{
  Vec          b, x;
  PetscInt     first, rows;
  PetscScalar *a;
  PetscReal    norm;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(Data(F)->aij, &x, &b));
  PetscCall(VecGetLocalSize(b, &rows));
  PetscCall(VecGetOwnershipRange(b, &first, nullptr));
  PetscCall(VecGetArrayWrite(b, &a));
  for (PetscInt i = 0; i < rows; ++i)
    a[i] = (static_cast<std::uint64_t>(first + i) * 0x9e3779b97f4a7c15u >> 63) != 0
             ? 1
             : -1; // no pattern of rows that could make sums vanish
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscCall(Solve(F, b, x, false));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  *is_finite = !PetscIsInfOrNanReal(norm);
  if (*is_finite) { // NaN is lost in maxima
    PetscCall(VecNorm(x, NORM_1, &norm));
    *is_finite = !PetscIsNanReal(norm);
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ribbon::petsc::QuickProbe(Mat F, PetscReal *backward_error)
{
  MultifrontalFactor *f = Data(F);
  const Mat           A = FactoredMatrix(f);
  PetscReal           as, us, bs, xs, rs;
  PetscFunctionBegin;
  if (!f->probe_v) {
    const auto &place_of = f->pattern.place_of;
    PetscMPIInt rank;
    PetscInt    begin, end;
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)F), &rank));
    PetscCall(MatCreateVecs(f->aij, &f->probe_v, &f->probe_r));
    PetscCall(VecDuplicate(f->probe_v, &f->probe_u));
    PetscCall(VecDuplicate(f->probe_v, &f->probe_x));
    PetscCall(VecDuplicate(f->probe_v, &f->probe_b));
    PetscCall(VecSetRandom(f->probe_u, nullptr));
    PetscCall(VecGetOwnershipRange(f->probe_v, &begin, &end));
    // which knows the order of rows
    if (f->pattern.gathered) begin = 0, end = rank == 0 ? f->aij->rmap->N : 0;
    for (PetscInt i = begin; i < end; ++i) {
      const PetscReal place = place_of.empty()
                                ? static_cast<PetscReal>(i)
                                : static_cast<PetscReal>(place_of[static_cast<std::size_t>(i)]);
      PetscCall(
        VecSetValue(f->probe_v, i, 1 + place / static_cast<PetscReal>(f->aij->rmap->N), INSERT_VALUES));
    }
    PetscCall(VecAssemblyBegin(f->probe_v));
    PetscCall(VecAssemblyEnd(f->probe_v));
  }
  PetscCall(MatMult(A, f->probe_u, f->probe_r));
  PetscCall(VecNorm(f->probe_r, NORM_INFINITY, &as));
  PetscCall(VecNorm(f->probe_u, NORM_INFINITY, &us));
  *backward_error  = 0;
  const auto judge = [&](Vec x, PetscReal least) { // probe_r is the residual of x, or A times its error
    PetscFunctionBegin;
    PetscCall(VecNorm(x, NORM_INFINITY, &xs));
    PetscCall(VecNorm(f->probe_r, NORM_INFINITY, &rs));
    const PetscReal error = rs == 0 ? 0 : rs / (as / us * xs + bs);
    if (!(error <= PetscMax(*backward_error, least))) *backward_error = error; // NaN, too
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto known = [&](Vec v, bool transposed, PetscReal least) {
    PetscFunctionBegin;
    PetscCall(transposed ? MatMultTranspose(A, v, f->probe_r) : MatMult(A, v, f->probe_r));
    PetscCall(VecNorm(f->probe_r, NORM_INFINITY, &bs));
    PetscCall(SolveAndRefine(F, f->probe_r, f->probe_x, transposed));
    PetscCall(VecAXPY(f->probe_x, -1, v));
    PetscCall(transposed ? MatMultTranspose(A, f->probe_x, f->probe_r) : MatMult(A, f->probe_x, f->probe_r));
    PetscCall(judge(v, least)); // as large as what was found, to rounding
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(known(f->probe_v, false, 0));
  // u, u^2, u^3, ... by unknown, as right-hand sides and, where a pivot is small, as solutions; long chains
  // lose digits of rough ones, which is no reason to refuse them
  const bool      small = f->report.smallest_pivot < 1e-5;
  const PetscReal rough = 1e6 * PETSC_MACHINE_EPSILON;
  if (small) PetscCall(known(f->probe_u, true, rough));
  for (int k = 0; k < (small ? 5 : 1) && *backward_error <= PETSC_MAX_REAL; ++k) {
    if (k == 0) PetscCall(VecCopy(f->probe_u, f->probe_b));
    else PetscCall(VecPointwiseMult(f->probe_b, f->probe_b, f->probe_u));
    PetscCall(VecNorm(f->probe_b, NORM_INFINITY, &bs));
    PetscCall(SolveAndRefine(F, f->probe_b, f->probe_x, false));
    PetscCall(MatMult(A, f->probe_x, f->probe_r));
    PetscCall(VecAXPY(f->probe_r, -1, f->probe_b));
    PetscCall(judge(f->probe_x, 0));
    if (small) PetscCall(known(f->probe_b, false, rough));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// The equilibrated matrix S, and solves with it: by the factors of it where the columns have scales, else by
/// those of A, whose rows are scaled for that.
struct Equilibrated {
  Mat    F, S = nullptr;
  Scales scales;
  Vec    row = nullptr, column = nullptr, work = nullptr; ///< scales, where A was factored; null where S was

  explicit Equilibrated(Mat factor) : F(factor) { }
  PetscErrorCode make()
  {
    MultifrontalFactor *f = Data(F);
    PetscFunctionBegin;
    if (f->is_scaled) {
      S = f->scaled;
      PetscCall(PetscObjectReference((PetscObject)S));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(FindScales(f->aij, {}, &scales));
    PetscCall(CopyScaled(f->aij, scales, &S));
    PetscCall(MatCreateVecs(S, &column, &row));
    PetscCall(VecDuplicate(row, &work));
    PetscCall(PutPowers(scales.row, row));
    PetscCall(PutPowers(scales.column, column));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// S = r A c, so that S^-1 b = c^-1 A^-1 r^-1 b and S^-T b = r^-1 A^-T c^-1 b.
  PetscErrorCode solve(Vec b, Vec x, bool transposed)
  {
    PetscFunctionBegin;
    if (row) PetscCall(VecPointwiseDivide(work, b, transposed ? column : row));
    PetscCall(SolveAndRefine(F, row ? work : b, x, transposed));
    if (row) PetscCall(VecPointwiseDivide(x, x, transposed ? row : column));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode destroy()
  {
    PetscFunctionBegin;
    PetscCall(MatDestroy(&S));
    for (Vec *v : {&row, &column, &work}) PetscCall(VecDestroy(v));
    PetscCall(scales.reset());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace

PetscErrorCode ribbon::petsc::Probe(Mat F, PetscReal *backward_error, PetscReal *rcond)
{
  Equilibrated of(F);
  Vec          b, x, r;
  PetscReal    norm, norm1, bs, xs, rs, estimate = 0, largest;
  PetscInt     n, place;
  PetscFunctionBegin;
  PetscCall(of.make());
  const Mat A = of.S;
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  PetscCall(MatNorm(A, NORM_1, &norm1));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, nullptr));
  PetscCall(of.solve(b, x, false));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_INFINITY, &bs));
  PetscCall(VecNorm(x, NORM_INFINITY, &xs));
  PetscCall(VecNorm(r, NORM_INFINITY, &rs));
  *backward_error = rs == 0 ? 0 : rs / (norm * xs + bs);
  // Hager, SIAM J. Sci. Stat. Comput. 5 (1984)
  PetscCall(VecSet(b, static_cast<PetscScalar>(1 / static_cast<PetscReal>(PetscMax(n, 1)))));
  for (int its = 0; its < 5; ++its) {
    PetscReal now;
    PetscCall(of.solve(b, x, false));
    PetscCall(VecNorm(x, NORM_1, &now));
    if (!(now > estimate)) break;
    estimate = now;
    PetscScalar *a;
    PetscInt     rows;
    PetscCall(VecGetLocalSize(x, &rows));
    PetscCall(VecGetArray(x, &a));
    for (PetscInt i = 0; i < rows; ++i)
      a[i] = a[i] == PetscScalar(0) ? PetscScalar(1) : a[i] / PetscAbsScalar(a[i]);
    PetscCall(VecRestoreArray(x, &a));
    PetscCall(VecConjugate(x));
    PetscCall(of.solve(x, r, true));
    PetscCall(VecAbs(r));
    PetscCall(VecMax(r, &place, &largest));
    PetscCall(VecSet(b, 0));
    if (place >= 0) {
      PetscInt first, end;
      PetscCall(VecGetOwnershipRange(b, &first, &end));
      if (place >= first && place < end) PetscCall(VecSetValue(b, place, 1, INSERT_VALUES));
    }
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
  }
  *rcond = estimate > 0 && norm1 > 0 ? 1 / (estimate * norm1) : 0;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(of.destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

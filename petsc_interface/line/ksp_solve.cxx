// SPDX-License-Identifier: BSD-2-Clause
// The iteration of KSP line: x += M (b - A x) for a vector, or for all columns of a dense matrix at once.
#include "ksp.hpp"

#include "../support/native_vectors.hpp"
#include "pc.hpp"
#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

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
PetscErrorCode Residuals(KSP ksp, Mat A, Block &k)
{
  PetscBool at_once = PETSC_FALSE;
  PetscFunctionBegin;
  // of Kokkos matrices PETSc 3.24 multiplies the columns as host vectors, and crashes
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

/// z = M r for all columns.
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

/// r = b - A x in doubled precision, and the sizes that it is judged by (may be null), for one column.
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

/// x += M r, but on lines that are done, and in columns that are. Where M is direct, what is left of
/// rounding in the solution is less than that in a residual of working precision: corrections by
/// such would make it worse.
PetscErrorCode Correct(KSP ksp, Mat A, Block &k, const std::vector<Column> &columns, LineResiduals *lines,
                       bool from_zero, bool direct)
{
  AccurateResidual *accurate = nullptr;
  PetscFunctionBegin;
  if (from_zero) {
    PetscCall(Precondition(ksp, A, k.b, k.B, k.x, k.X, k.columns));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (k.B && !k.R) PetscCall(MatDuplicate(k.B, MAT_DO_NOT_COPY_VALUES, &k.R));
  if (direct) PetscCall(GetAccurateResidual(ksp, &accurate));
  if (direct && !accurate && ksp->normtype == KSP_NORM_NONE) PetscCall(Residuals(ksp, A, k));
  for (PetscInt c = 0; accurate && c < k.columns; ++c)
    if (!columns[static_cast<std::size_t>(c)].reason) PetscCall(ResidualOf(k, c, accurate, nullptr));
  if (k.B && !k.Z) PetscCall(MatDuplicate(k.B, MAT_DO_NOT_COPY_VALUES, &k.Z));
  PetscCall(Precondition(ksp, A, k.r, k.R, k.z, k.Z, k.columns));
  for (PetscInt c = 0; c < k.columns; ++c)
    PetscCall(WithWrite(k.z, k.Z, c, [&](Vec z) {
      PetscFunctionBegin;
      if (columns[static_cast<std::size_t>(c)].reason) PetscCall(VecSet(z, 0));
      else if (lines && columns[static_cast<std::size_t>(c)].spares) PetscCall(lines->leave_alone(z, c));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  if (k.B) PetscCall(MatAXPY(k.X, 1, k.Z, SAME_NONZERO_PATTERN));
  else PetscCall(VecAXPY(k.x, 1, k.z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/// The failure of the PC that any rank knows of: PC line tells all, others may not.
PetscErrorCode AgreedFailure(KSP ksp, PCFailedReason *failed)
{
  PCFailedReason of_rank;
  int            reason;
  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(ksp->pc, &of_rank));
  reason = static_cast<int>(of_rank);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &reason, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)ksp)));
  *failed = static_cast<PCFailedReason>(reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets up what changed since the last solve, as KSPPREONLY does: the matrix, or an option. A PC of other
/// PCs, which keeps the failure of one of them for good, forgets that of a matrix that is no more.
PetscErrorCode SetUpAgain(KSP ksp)
{
  const PC         pc   = ksp->pc;
  auto            *line = static_cast<KSP_Line *>(ksp->data);
  PCFailedReason   reason;
  PetscObjectState state;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  PetscCall(PCGetFailedReason(pc, &reason));
  if (reason == PC_SUBPC_ERROR && line->failed_with != state) PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUpOnBlocks(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Tells all ranks of a failure of the PC. Collective.
PetscErrorCode PassFailure(KSP ksp, PCFailedReason reason)
{
  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(ksp->pc, reason));
  PetscCall(
    PetscObjectStateGet((PetscObject)ksp->pc->pmat, &static_cast<KSP_Line *>(ksp->data)->failed_with));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A norm that is not finite ends the solve: because of the PC, or of the numbers.
PetscErrorCode EndNotFinite(KSP ksp, Block &k)
{
  PCFailedReason reason;
  PetscFunctionBegin;
  static_cast<KSP_Line *>(ksp->data)->judged = false;
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "KSPSolve has not converged due to infinity or NaN norm");
  PetscCall(AgreedFailure(ksp, &reason));
  ksp->reason = reason ? KSP_DIVERGED_PC_FAILED : KSP_DIVERGED_NANORINF;
  if (!reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PassFailure(ksp, reason));
  for (PetscInt c = 0; c < k.columns; ++c)
    PetscCall(WithWrite(k.x, k.X, c, [](Vec x) { return VecSet(x, PETSC_INFINITY); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A PC whose set-up failed ends the solve before any iteration. PC line applies what there is: it
/// knows which lines failed.
PetscErrorCode EndFailed(KSP ksp, Mat A, Block &k, bool *failed)
{
  PCFailedReason reason = PC_NOERROR;
  PetscBool      is_line;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCLINE, &is_line));
  if (is_line) PetscCall(PCGetFailedReason(ksp->pc, &reason)); // the same on all ranks
  else if (ksp->normtype != KSP_NORM_NONE) PetscCall(AgreedFailure(ksp, &reason));
  *failed = reason != PC_NOERROR;
  if (!*failed) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_line) PetscCall(Precondition(ksp, A, k.b, k.B, k.x, k.X, k.columns));
  for (PetscInt c = 0; c < k.columns && !is_line; ++c)
    PetscCall(WithWrite(k.x, k.X, c, [](Vec x) { return VecSet(x, PETSC_INFINITY); }));
  PetscCall(PassFailure(ksp, reason));
  ksp->its = 0, ksp->reason = KSP_DIVERGED_PC_FAILED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether M is the inverse of Amat, and what sees to its lines one by one, where norms are asked for.
PetscErrorCode Prepare(KSP ksp, PetscInt columns, bool *direct, bool *single)
{
  auto     *line = static_cast<KSP_Line *>(ksp->data);
  const PC  pc   = ksp->pc;
  PetscBool is_line;
  PetscFunctionBegin;
  line->solved = true, line->judged = false, *direct = *single = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLINE, &is_line));
  PetscCall(SetUpAgain(ksp));
  if (is_line && pc->mat == pc->pmat) {
    PetscCall(IsDirectNow(pc, direct));
    *single = static_cast<PC_Line *>(pc->data)->precision != PC_LINE_PRECISION_SAME;
  }
  *direct = *direct && static_cast<PC_Line *>(pc->data)->failure.empty();
  if (!*direct || ksp->normtype == KSP_NORM_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt64 set_up = static_cast<PC_Line *>(pc->data)->set_up;
  if (!line->lines || line->set_up != set_up || line->columns != columns) {
    PetscCall(Logged(&Events::prepare, [&] { return LineResiduals::create(pc, columns, &line->lines); }));
    line->set_up = set_up, line->columns = columns;
  }
  line->judged = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Keeps the solution of a column, or takes back what was kept.
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

/// The best solutions of columns that go on: a refinement may make them worse.
PetscErrorCode KeepTheBest(Block &k, std::vector<Column> &columns)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < k.columns; ++c) {
    Column &column = columns[static_cast<std::size_t>(c)];
    if (column.reason || column.norm >= column.kept) continue;
    PetscCall(Keep(k, c));
    column.kept = column.norm;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the residual of every line is what rounding leaves: at most 45 epsilon times the largest |A| |x| +
/// |b| of the line, which is the backward error that PC line accepts of a direct solve.
PetscErrorCode IsAtRounding(KSP ksp, Block &k, PetscInt c, LineResiduals *lines, AccurateResidual *accurate,
                            bool *is)
{
  std::vector<PetscReal> residual, size;
  Vec                    sizes;
  PetscReal              worst = 0;
  PetscFunctionBegin;
  PetscCall(WithRead(k.x, k.X, c, [&](Vec x) { return VecDuplicate(x, &sizes); }));
  PetscCall(ResidualOf(k, c, accurate, sizes));
  PetscCall(WithRead(k.r, k.R, c, [&](Vec r) { return lines->maxima(r, &residual); }));
  PetscCall(lines->maxima(sizes, &size));
  PetscCall(VecDestroy(&sizes));
  for (std::size_t l = 0; l < size.size(); ++l) {
    const bool finite = !PetscIsInfOrNanReal(residual[l]) && !PetscIsInfOrNanReal(size[l]);
    if (residual[l] > 0) worst = PetscMax(worst, finite ? residual[l] / size[l] : PETSC_MAX_REAL);
  }
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)ksp)));
  *is = worst <= 45 * PETSC_MACHINE_EPSILON;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A tolerance that no solution in working precision has, and a solution that is exact but
/// for rounding: it converged.
PetscErrorCode EndAtRounding(KSP ksp, Block &k, LineResiduals *lines, std::vector<Column> &columns)
{
  AccurateResidual *accurate = nullptr;
  PetscFunctionBegin;
  for (PetscInt c = 0; c < k.columns; ++c) {
    Column &column = columns[static_cast<std::size_t>(c)];
    bool    is     = false;
    if (column.reason != KSP_DIVERGED_BREAKDOWN && column.reason != KSP_DIVERGED_DTOL &&
        column.reason != KSP_DIVERGED_ITS)
      continue;
    if (!accurate) PetscCall(GetAccurateResidual(ksp, &accurate));
    if (!accurate) break;
    if (k.B && !k.R) PetscCall(MatDuplicate(k.B, MAT_DO_NOT_COPY_VALUES, &k.R));
    PetscCall(IsAtRounding(ksp, k, c, lines, accurate, &is));
    if (!is) continue;
    column.reason = KSP_CONVERGED_HAPPY_BREAKDOWN;
    PetscCall(PetscInfo(
      ksp, "The solution is exact but for rounding; its residual norm %g is above the tolerance %g\n",
      (double)column.norm, (double)column.tolerance));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Judges all lines where M is direct; lines that are not done hold back what the default test said,
/// as long as they get better.
PetscErrorCode JudgeLines(KSP ksp, Block &k, LineResiduals *lines, std::vector<Column> &columns,
                          bool look_at_b, bool last)
{
  std::vector<PetscReal> worst(columns.size());
  PetscFunctionBegin;
  for (PetscInt c = 0; c < k.columns; ++c) {
    if (ksp->its == 0) PetscCall(WithRead(k.b, k.B, c, [&](Vec b) { return lines->look(b, c, true); }));
    if (ksp->its > 0 || !look_at_b)
      PetscCall(WithRead(k.r, k.R, c, [&](Vec r) { return lines->look(r, c, false); }));
    PetscCall(lines->judge(c, ksp->rtol, ksp->abstol, ksp->its, &worst[static_cast<std::size_t>(c)]));
  }
  if (ksp->converged != KSPConvergedDefault) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst.data(), static_cast<PetscMPIInt>(worst.size()), MPIU_REAL,
                             MPIU_MAX, PetscObjectComm((PetscObject)ksp)));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    Column &column = columns[c];
    if (worst[c] <= 1) column.spares = false; // should the norm ask for more
    if (column.reason <= 0 || worst[c] <= 1 || last || column.taken_back || column.lines.ends_with(worst[c]))
      continue;
    column.held = column.reason, column.reason = KSP_CONVERGED_ITERATING;
    column.kept = column.norm;
    PetscCall(Keep(k, static_cast<PetscInt>(c)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Norms of the residuals, or of b; the largest of all.
PetscErrorCode Norms(Vec v, Mat V, std::vector<Column> &columns, PetscReal *largest)
{
  std::vector<PetscReal> norms(columns.size());
  PetscFunctionBegin;
  if (V) PetscCall(MatGetColumnNorms(V, NORM_2, norms.data()));
  else PetscCall(VecNorm(v, NORM_2, norms.data()));
  *largest = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].norm = norms[c];
    if (!(norms[c] <= *largest)) *largest = norms[c]; // NaN, too
    if (PetscIsInfOrNanReal(*largest)) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Test(KSP ksp, Block &k, PetscInt c, Column &column, bool direct, bool last)
{
  PetscFunctionBegin;
  if (column.reason) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->rnorm0 = column.norm0, ksp->ttol = column.tolerance;
  PetscCall(Show(ksp, k, c,
                 [&] { return (*ksp->converged)(ksp, ksp->its, column.norm, &column.reason, ksp->cnvP); }));
  column.norm0 = ksp->rnorm0, column.tolerance = ksp->ttol;
  if (column.held && column.reason <= 0) { // refined lines lost more than they gained
    PetscCall(TakeBack(k, c));
    column.reason = column.held, column.taken_back = true;
  }
  column.held = KSP_CONVERGED_ITERATING;
  const bool judged =
    ksp->normtype != KSP_NORM_NONE && ksp->converged == KSPConvergedDefault && column.norm > column.tolerance;
  // a solve leaves a residual of roundoff times |A| |x|, which may be large next to b where rows or unknowns
  // are in different units: refinement tells
  const bool grew = column.reason == KSP_DIVERGED_DTOL && judged && direct && !last;
  if (grew) column.reason = KSP_CONVERGED_ITERATING;
  if (grew && ksp->its == 1) column.all = Progress(1, 0.5, 2);
  if (!column.reason && judged && column.all.ends_with(column.norm)) {
    if (column.spares) { // it may be for lines that are done: one more try with all
      column.spares = false;
    } else {
      column.reason = grew ? KSP_DIVERGED_DTOL : KSP_DIVERGED_BREAKDOWN;
      PetscCall(PetscInfo(ksp, "The residual norm %g does not get smaller: %s\n", (double)column.norm,
                          direct ? "the tolerance lies below what rounding allows"
                                 : "the iteration does not converge"));
    }
  }
  if (!column.reason && last)
    column.reason = ksp->normtype == KSP_NORM_NONE ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
  // norms that differ by less differ by rounding
  if (column.reason < 0 && direct && column.norm > 2 * column.kept) {
    PetscCall(TakeBack(k, c));
    column.taken_back = true;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Iterate(KSP ksp, Block &k)
{
  auto       *line   = static_cast<KSP_Line *>(ksp->data);
  const bool  normed = ksp->normtype != KSP_NORM_NONE, zero = ksp->guess_zero;
  bool        direct, single, failed;
  PetscBool   scales;
  PetscMPIInt size;
  Mat         A;
  PetscFunctionBegin;
  PetscCall(RibbonGetDiagonalScale(ksp->pc, &scales));
  PetscCheck(!scales, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "Krylov method %s does not support diagonal scaling", ((PetscObject)ksp)->type_name);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
  PetscCall(Prepare(ksp, k.columns, &direct, &single));
  PetscCall(EndFailed(ksp, A, k, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  LineResiduals *const lines = line->judged ? line->lines.get() : nullptr;
  PetscBool            is_line;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCLINE, &is_line));
  const RefinedOutside refined(is_line ? static_cast<PC_Line *>(ksp->pc->data) : nullptr, normed);
  // without norms nothing tells when to stop: a direct solve is refined once, in single precision three times
  const PetscInt      most = normed || !direct || ksp->converged == KSPConvergedSkip
                               ? ksp->max_it
                               : PetscMin(ksp->max_it, single ? 4 : 2);
  std::vector<Column> columns(static_cast<std::size_t>(k.columns));
  // with an approximate M residuals may grow at first, for as many iterations as pieces
  // of a line follow each other
  for (Column &column : columns) {
    column.all    = direct ? Progress(1, 0.5, 2) : Progress(30 + size, 1, 1);
    column.lines  = Progress(1, 0.5, 2);
    column.spares = lines && ksp->converged == KSPConvergedDefault;
  }

  ksp->its = 0, ksp->reason = k.columns > 0 ? KSP_CONVERGED_ITERATING : KSP_CONVERGED_ATOL;
  for (bool done = k.columns == 0; !done;) {
    const bool start = zero && ksp->its == 0, last = ksp->its >= most;
    PetscReal  norm = 0;
    if (!start && (normed || (!last && !direct))) PetscCall(Residuals(ksp, A, k)); // else Correct() does
    if (normed) PetscCall(Norms(start ? k.b : k.r, start ? k.B : k.R, columns, &norm));
    ksp->rnorm = norm;
    if (PetscIsInfOrNanReal(norm)) {
      PetscCall(EndNotFinite(ksp, k));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const auto shown = std::max_element(columns.begin(), columns.end(),
                                        [](const Column &a, const Column &b) { return a.norm < b.norm; });
    PetscCall(KSPLogResidualHistory(ksp, norm));
    PetscCall(Show(ksp, k, static_cast<PetscInt>(shown - columns.begin()),
                   [&] { return KSPMonitor(ksp, ksp->its, norm); }));
    for (PetscInt c = 0; c < k.columns; ++c)
      PetscCall(Test(ksp, k, c, columns[static_cast<std::size_t>(c)], direct, last));
    if (std::any_of(columns.begin(), columns.end(), [](const Column &column) { return column.taken_back; })) {
      PetscCall(Residuals(ksp, A, k));
      PetscCall(Norms(k.r, k.R, columns, &ksp->rnorm));
    }
    if (lines)
      PetscCall(
        Logged(&Events::judge_lines, [&] { return JudgeLines(ksp, k, lines, columns, start, last); }));
    done = std::all_of(columns.begin(), columns.end(),
                       [](const Column &column) { return column.reason != KSP_CONVERGED_ITERATING; });
    if (done) break;
    if (direct && normed && !start && ksp->converged == KSPConvergedDefault)
      PetscCall(KeepTheBest(k, columns));
    PetscCall(Correct(ksp, A, k, columns, lines, start, direct));
    ++ksp->its;
  }
  if (lines && ksp->converged == KSPConvergedDefault) PetscCall(EndAtRounding(ksp, k, lines, columns));
  for (const Column &column : columns) // the first one, or the first that did not converge
    if (!ksp->reason || (column.reason < 0 && ksp->reason > 0)) ksp->reason = column.reason;
  if (!normed) {
    PCFailedReason reason;
    PetscCall(AgreedFailure(ksp, &reason));
    if (reason) ksp->reason = KSP_DIVERGED_PC_FAILED;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IterateAndView(KSP ksp, Block &k)
{
  const auto *line = static_cast<KSP_Line *>(ksp->data);
  PetscFunctionBegin;
  PetscCall(Iterate(ksp, k));
  if (line->viewer) {
    PetscCall(PetscViewerPushFormat(line->viewer, line->format));
    PetscCall(ViewLines(ksp, line->viewer));
    PetscCall(PetscViewerPopFormat(line->viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode GetAccurateResidual(KSP ksp, AccurateResidual **residual)
{
  std::unique_ptr<AccurateResidual> &mine       = static_cast<KSP_Line *>(ksp->data)->accurate;
  const bool                         transposed = ksp->transpose_solve;
  Mat                                A;
  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
  if (!mine || !mine->is_of(A, transposed))
    PetscCall(Logged(&Events::prepare, [&] { return AccurateResidual::create(A, transposed, &mine); }));
  *residual = mine.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_Line(KSP ksp)
{
  Block k;
  PetscFunctionBegin;
  static_cast<KSP_Line *>(ksp->data)->of_a_matrix = false;
  k.b = ksp->vec_rhs, k.x = ksp->vec_sol, k.r = ksp->work[0], k.z = ksp->work[1];
  PetscCall(IterateAndView(ksp, k));
  PetscCall(VecDestroy(&k.kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPMatSolve_Line(KSP ksp, Mat B, Mat X)
{
  Block k;
  PetscFunctionBegin;
  static_cast<KSP_Line *>(ksp->data)->of_a_matrix = true;
  k.B = B, k.X = X;
  RibbonMatSolveBegin(ksp);
  PetscCall(MatGetSize(B, nullptr, &k.columns));
  PetscCall(IterateAndView(ksp, k));
  PetscCall(MatDestroy(&k.R));
  PetscCall(MatDestroy(&k.Z));
  PetscCall(MatDestroy(&k.Kept));
  PetscCall(VecDestroy(&k.like));
  PetscCall(k.native.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

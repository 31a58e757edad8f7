// SPDX-License-Identifier: BSD-2-Clause
// The iteration of KSP line: x += M (b - A x) for a vector, or for all columns of a dense matrix at once.
#include "ksp_convergence.hpp"
#include "ksp_failures.hpp"

#include "pc.hpp"
#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

using namespace ksp_line;

namespace {

/// x += M r, except on lines and in columns that are done. If M is direct, r is computed in doubled
/// precision. The error of a residual in working precision would be larger than that of x, and the
/// correction would make x worse.
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

/// Whether M is the inverse of Amat. If norms are computed, also creates the object that judges lines
/// separately.
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

/// The columns of the right-hand sides at the start of an iteration.
/// @param sub_lines  as many as a line may have
std::vector<Column> columns_of(const Block &k, bool direct, bool spares, PetscMPIInt sub_lines)
{
  std::vector<Column> columns(static_cast<std::size_t>(k.columns));
  // with an approximate M residuals may grow first, for as many iterations as a line has sub-lines
  for (Column &column : columns) {
    column.all    = direct ? Progress(1, 0.5, 2) : Progress(30 + sub_lines, 1, 1);
    column.lines  = Progress(1, 0.5, 2);
    column.spares = spares;
  }
  return columns;
}

/// Without norms no test ends the iteration: a direct solve is refined once, in single precision three times.
PetscInt most_iterations(KSP ksp, bool direct, bool single)
{
  return ksp->normtype != KSP_NORM_NONE || !direct || ksp->converged == KSPConvergedSkip
           ? ksp->max_it
           : PetscMin(ksp->max_it, single ? 4 : 2);
}

/// The reason of a solve: the one of the first column, or of the first that did not converge.
PetscErrorCode ReasonOfAll(KSP ksp, const std::vector<Column> &columns)
{
  PCFailedReason reason;
  PetscFunctionBegin;
  for (const Column &column : columns)
    if (!ksp->reason || (column.reason < 0 && ksp->reason > 0)) ksp->reason = column.reason;
  if (ksp->normtype != KSP_NORM_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AgreedFailure(ksp, &reason));
  if (reason) ksp->reason = KSP_DIVERGED_PC_FAILED;
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
  const PetscInt       most    = most_iterations(ksp, direct, single);
  std::vector<Column>  columns = columns_of(k, direct, lines && ksp->converged == KSPConvergedDefault, size);
  ksp->its = 0, ksp->reason = k.columns > 0 ? KSP_CONVERGED_ITERATING : KSP_CONVERGED_ATOL;
  for (bool done = k.columns == 0; !done;) {
    const bool start = zero && ksp->its == 0, last = ksp->its >= most;
    PetscReal  norm = 0;
    if (!start && (normed || (!last && !direct))) PetscCall(Residuals(ksp, A, k)); // else in Correct()
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
  PetscCall(ReasonOfAll(ksp, columns));
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

// SPDX-License-Identifier: BSD-2-Clause
#include "ksp_convergence.hpp"

namespace ribbon::petsc::ksp_line {

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

/// Whether the residual of every line is of the size of rounding: at most 45 epsilon times the largest |A|
/// |x| + |b| of the line. PC line accepts this backward error of a direct solve.
static PetscErrorCode IsAtRounding(KSP ksp, Block &k, PetscInt c, LineResiduals *lines,
                                   AccurateResidual *accurate, bool *is)
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
    if (worst[c] <= 1) column.spares = false; // if the norm is still above the tolerance
    if (column.reason <= 0 || worst[c] <= 1 || last || column.taken_back || column.lines.ends_with(worst[c]))
      continue;
    column.held = column.reason, column.reason = KSP_CONVERGED_ITERATING;
    column.kept = column.norm;
    PetscCall(Keep(k, static_cast<PetscInt>(c)));
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
  if (column.held && column.reason <= 0) { // refinement made the solution worse
    PetscCall(TakeBack(k, c));
    column.reason = column.held, column.taken_back = true;
  }
  column.held = KSP_CONVERGED_ITERATING;
  const bool judged =
    ksp->normtype != KSP_NORM_NONE && ksp->converged == KSPConvergedDefault && column.norm > column.tolerance;
  // a solve leaves a residual of roundoff times |A| |x|. This may be large compared with b if rows or
  // unknowns have different units. Refinement shows whether it is
  const bool grew = column.reason == KSP_DIVERGED_DTOL && judged && direct && !last;
  if (grew) column.reason = KSP_CONVERGED_ITERATING;
  if (grew && ksp->its == 1) column.all = Progress(1, 0.5, 2);
  if (!column.reason && judged && column.all.ends_with(column.norm)) {
    if (column.spares) { // the reason may be lines that are done: try again with all lines
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
  // smaller differences of norms are rounding
  if (column.reason < 0 && direct && column.norm > 2 * column.kept) {
    PetscCall(TakeBack(k, c));
    column.taken_back = true;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc::ksp_line

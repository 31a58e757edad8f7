// SPDX-License-Identifier: BSD-2-Clause
#include "ksp.hpp"

#include "../support/native_vectors.hpp"

#include <utility>

using namespace ribbon::petsc;

static KSP_ADI *context(KSP ksp)
{
  return static_cast<KSP_ADI *>(ksp->data);
}

/// z := the correction of iteration k of a cycle for the residual r; z != r, `other` is overwritten.
static PetscErrorCode Correct(KSP ksp, std::size_t k, Vec r, Vec z, Vec other)
{
  KSP_ADI  *adi  = context(ksp);
  const int D    = adi->splitting.directions();
  const int slot = D == 1 ? 0 : static_cast<int>(k) + 1;
  Vec       from = r, to = D % 2 == 1 ? z : other;
  PetscFunctionBegin;
  for (int step = 0; step < D; ++step) {
    const int d = ksp->transpose_solve ? D - 1 - step : step;
    PetscCall(ksp->transpose_solve ? adi->factors.solve_transposed(d, from, to, slot)
                                   : adi->factors.solve(d, from, to, slot));
    from = to;
    to   = to == z ? other : z;
  }
  PetscCall(VecScale(z, adi->scale[k]));
  // columns of the rows that were solved first
  if (ksp->transpose_solve && adi->splitting.algebraic()) {
    PetscCall(VecPointwiseMult(z, z, adi->splitting.mass()));
    PetscCall(VecPointwiseMult(other, adi->splitting.algebraic(), r));
    PetscCall(VecAXPY(z, 1, other));
  }
  PetscCall(KSP_RemoveNullSpace(ksp, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// r := b - A x, or that of the transposed system.
static PetscErrorCode Residual(KSP ksp, Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBegin;
  PetscCall(KSP_MatMult(ksp, A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Norm, history, monitors and the test, in this order.
static PetscErrorCode Judge(KSP ksp, Vec r)
{
  PetscReal norm = 0;
  PetscFunctionBegin;
  if (ksp->normtype != KSP_NORM_NONE) {
    PetscCall(VecNorm(r, NORM_2, &norm));
    KSPCheckNorm(ksp, norm);
  }
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_ADI(KSP ksp)
{
  PetscBool none;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  // PCMG and KSPSetFromOptions() set another PC, which would have no effect
  if (!none) PetscCall(PCSetType(ksp->pc, PCNONE));
  PetscCall(SetUpADI(ksp, context(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_ADI(KSP ksp)
{
  KSP_ADI         *adi = context(ksp);
  Mat              A, P;
  PetscObjectState state;
  const Vec        b = ksp->vec_rhs, x = ksp->vec_sol;
  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(CheckIsMultiplied(A, b, "KSP adi"));
  PetscCall(PetscObjectStateGet((PetscObject)P, &state));
  if (adi->set_up_with != P || adi->state != state) PetscCall(SetUpADI(ksp, adi));
  const Vec r = ksp->work[0], z = ksp->work[1], other = ksp->work[2];
  ksp->its    = 0;
  ksp->reason = KSP_CONVERGED_ITERATING;
  if (adi->factors.failure() != PC_NOERROR) ksp->reason = KSP_DIVERGED_PC_FAILED;
  else if (adi->indefinite) ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
  if (ksp->reason) {
    PetscCall(PetscInfo(ksp, "KSP adi: %s\n",
                        adi->indefinite ? "a one-direction operator has a negative eigenvalue"
                                        : adi->factors.failure_sentence().c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ksp->guess_zero) {
    PetscCall(VecSet(x, 0));
    PetscCall(VecCopy(b, r));
  } else PetscCall(Residual(ksp, A, b, x, r));
  PetscCall(Judge(ksp, r));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  // rows with a diagonal entry alone
  if (adi->splitting.algebraic() && !ksp->transpose_solve && ksp->max_it > 0) {
    PetscCall(VecPointwiseMult(z, adi->splitting.algebraic(), r));
    PetscCall(VecAXPY(x, 1, z));
    PetscCall(Residual(ksp, A, b, x, r));
  }
  PetscReal   before = ksp->rnorm; // norm at the start of the cycle
  bool        cycles = true;
  std::size_t k      = 0;
  while (!ksp->reason) {
    if (ksp->its >= ksp->max_it) {
      ksp->reason = ksp->normtype == KSP_NORM_NONE ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
      break;
    }
    PetscCall(Correct(ksp, k, r, z, other));
    PetscCall(VecAXPY(x, 1, z));
    PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
    ++ksp->its;
    PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
    if (ksp->its < ksp->max_it || ksp->normtype != KSP_NORM_NONE) PetscCall(Residual(ksp, A, b, x, r));
    PetscCall(Judge(ksp, r));
    k = cycles ? (k + 1) % adi->scale.size() : adi->middle;
    if (adi->separable || !cycles || ksp->normtype == KSP_NORM_NONE) continue;
    // a cycle may help even if directions do not commute. An iteration with one shift always helps if the
    // directions are positive definite
    if (ksp->rnorm > 10 * before || (k == 0 && ksp->rnorm > before / 2)) cycles = false, k = adi->middle;
    if (k == 0) before = ksp->rnorm;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_ADI(KSP ksp)
{
  KSP_ADI *adi = context(ksp);
  PetscFunctionBegin;
  PetscCall(adi->factors.reset());
  PetscCall(adi->splitting.reset());
  adi->scale.clear(), adi->pairs.clear();
  adi->set_up_with = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_ADI(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_ADI(ksp));
  PetscCall(ComposeADIOptions(ksp, false));
  delete context(ksp);
  ksp->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_ADI(KSP ksp, PetscViewer viewer)
{
  KSP_ADI  *adi = context(ksp);
  PetscBool ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!adi->set_up_with) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  bounds %g,%g, shifts %" PetscInt_FMT " (not set up)\n",
                                     (double)adi->bounds[0], (double)adi->bounds[1], adi->shifts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  directions from the %s\n", adi->splitting.source()));
  for (int d = 0; d < adi->splitting.directions(); ++d) {
    const Spectrum &s = adi->spectra[static_cast<std::size_t>(d)];
    if (s.largest > 0)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  along %s: eigenvalues from %g to %g, %s%s\n",
                                       adi->splitting.name(d), s.least, s.largest,
                                       adi->bounds[1] > 0 ? "given" : "estimated",
                                       adi->singular[static_cast<std::size_t>(d)] ? ", and 0" : ""));
  }
  if (!adi->separable)
    PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "  not separable: commutators of directions are %.1e, what they leave out of the matrix %.1e of it; a "
      "cycle that fails to halve the norm is given up for one shift\n",
      adi->commutator, adi->left_out));
  if (!adi->pairs.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  shifts: %d, from %g to %g%s\n", (int)adi->pairs.size(),
                                     adi->pairs.front().p, adi->pairs.back().p,
                                     adi->smooths ? ", for the upper part of the spectra" : ""));
  if (adi->predicted > 0 && !adi->smooths)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  iterations that theory takes for rtol: %.1f\n", adi->predicted));
  if (adi->factors.failure() != PC_NOERROR)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", adi->factors.failure_sentence().c_str()));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(adi->factors.view(viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_ADI(KSP ksp, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(SetADIFromOptions(ksp, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPCreate_ADI(KSP ksp)
{
  PC pc;
  PetscFunctionBegin;
  PetscCallCXX(ksp->data = new KSP_ADI);
  context(ksp)->factors.set_owner((PetscObject)ksp);
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 2)); // there is no preconditioner
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  ksp->ops->setup          = KSPSetUp_ADI;
  ksp->ops->solve          = KSPSolve_ADI;
  ksp->ops->reset          = KSPReset_ADI;
  ksp->ops->destroy        = KSPDestroy_ADI;
  ksp->ops->view           = KSPView_ADI;
  ksp->ops->setfromoptions = KSPSetFromOptions_ADI;
  ksp->ops->buildsolution  = KSPBuildSolutionDefault;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;
  ksp->setupnewmatrix      = PETSC_TRUE;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(ComposeADIOptions(ksp, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// SPDX-License-Identifier: BSD-2-Clause
// The KSP of a PC line: the composition that it accepts, and Richardson's iteration without norms, which
// PETSc passes to the PC as a whole.
#include "pc.hpp"

#include "../support/native_vectors.hpp"
#include "../support/no_norms.hpp"
#include "../support/session.hpp"

#include <petsc/private/kspimpl.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace ribbon::petsc {

PetscErrorCode IsCurrent(PC pc, bool *current)
{
  const auto      *line = static_cast<PC_Line *>(pc->data);
  PetscObjectState state, watched = line->watched_state;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  if (line->watched) PetscCall(PetscObjectStateGet((PetscObject)line->watched, &watched));
  *current = state == line->state && watched == line->watched_state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IsDirectNow(PC pc, bool *direct)
{
  PetscFunctionBegin;
  PetscCall(IsCurrent(pc, direct));
  *direct = *direct && static_cast<PC_Line *>(pc->data)->direct;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// `its` times x += M (b - A x). Replaces KSPSolve() of KSPRICHARDSON. It ignores tolerances, because no
/// norm is computed.
PetscErrorCode ApplyRichardson(PC pc, Vec b, Vec x, Vec work, PetscReal, PetscReal, PetscReal, PetscInt its,
                               PetscBool x_is_zero, PetscInt *done, PCRichardsonConvergedReason *reason)
{
  auto         *line = static_cast<PC_Line *>(pc->data);
  const Events *events;
  bool          current = false;
  PetscFunctionBegin;
  PetscCall(CheckIsSetUp(pc));
  PetscCall(WarnOfUnrefined(pc));
  PetscCall(GetEvents(&events));
  PetscCall(IsCurrent(pc, &current));
  const bool exact = current && line->direct && line->precision == PC_LINE_PRECISION_SAME;
  PetscCall(PetscLogEventBegin(events->solve, pc, b, x, 0));
  if (line->failure.empty()) {
    PetscCall(line->sweep.richardson(pc->pmat, b, x, work, x_is_zero == PETSC_TRUE, its, exact,
                                     current && line->plain));
    *reason = PCRICHARDSON_CONVERGED_ITS;
  } else {
    RibbonSayPCFailed(reason);
    PetscCall(RibbonVecSetInfinity(x));
  }
  *done = its;
  PetscCall(PetscLogEventEnd(events->solve, pc, b, x, 0));
  PetscCall(PrintComparison(pc, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Krylov methods that need a symmetric preconditioner.
bool needs_symmetry(const std::string &ksp)
{
  static const std::set<std::string> all = {"cg",      "groppcg",  "pipecg", "pipecgrr", "pipecg2",
                                            "pipelcg", "pipeprcg", "nash",   "stcg",     "gltr",
                                            "qcg",     "minres",   "symmlq", "cr",       "pipecr"};
  return all.count(ksp) > 0;
}

/// Krylov methods that accept any preconditioner. Other methods (preonly, richardson, chebyshev ...) may be
/// inside a method that needs a symmetric preconditioner, which a PC cannot see. GMRES that estimates
/// eigenvalues for Chebyshev's iteration must use the preconditioner of that iteration.
bool takes_any(const std::string &ksp, const char *prefix)
{
  if (prefix && std::strstr(prefix, "esteig_")) return false;
  static const std::set<std::string> all = {"gmres",      "fgmres",   "lgmres", "dgmres", "agmres", "pgmres",
                                            "pipefgmres", "bcgs",     "ibcgs",  "qmrcgs", "fbcgs",  "fbcgsr",
                                            "bcgsl",      "pipebcgs", "cgs",    "tfqmr",  "tcqmr",  "gcr",
                                            "pipegcr",    "bicg",     "cgne",   "lcd"};
  return all.count(ksp) > 0;
}

/// Selects one multiplicative sweep if auto composes for a KSP that accepts any preconditioner, otherwise
/// the symmetric sequence. It only swaps, because a solve allocates nothing.
void compose_one_way(PC_Line *line, bool one_way)
{
  if (line->one_way.empty() || one_way == line->swapped) return;
  line->sweep.sequences.swap(line->one_way);
  line->swapped = one_way;
}

/// Prints one warning if an option selects a preconditioner that is not symmetric and the KSP needs
/// symmetry.
PetscErrorCode WarnOfAsymmetry(PC pc, const std::string &ksp)
{
  const auto *line      = static_cast<const PC_Line *>(pc->data);
  const auto &sequences = line->sweep.sequences;
  const bool  is_zebra  = line->composed == PC_LINE_COMPOSITION_ADDITIVE;
  PetscFunctionBegin;
  if (!needs_symmetry(ksp) || line->composed == PC_LINE_COMPOSITION_SYMMETRIC)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (std::all_of(sequences.begin(), sequences.end(),
                  [](const std::vector<int> &sequence) { return sequence.size() <= 1; }))
    PetscFunctionReturn(PETSC_SUCCESS);
  const std::string option = option_of(pc, "pc_line_composition");
  PetscCall(WarnOnce(PetscObjectComm((PetscObject)pc), option + PCLineCompositions[line->composed] + ksp,
                     "PC line: " + option + " " + PCLineCompositions[line->composed] +
                       (is_zebra ? " with " + option_of(pc, "pc_line_ordering") + " zebra" : "") +
                       " is not symmetric, but KSP " + ksp +
                       " needs a symmetric preconditioner and may not converge; use " + option +
                       " symmetric"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PreSolveLine(PC pc, KSP ksp, Vec b, Vec)
{
  auto             *line       = static_cast<PC_Line *>(pc->data);
  bool              takes_none = false;
  const std::string type       = ((PetscObject)ksp)->type_name;
  PetscBool         preonly;
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc)); // some KSPs have not done so, and the decision below needs the current matrix
  compose_one_way(line, takes_any(type, ((PetscObject)ksp)->prefix));
  line->solved_one_way = line->swapped;
  PetscCall(WarnOfAsymmetry(pc, type));
  PetscCall(RibbonCallPreSolve(pc, ksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &preonly));
  if (!preonly) PetscCall(CheckIsMultiplied(pc->mat, b, "PC line"));
  PetscCall(TakesNoNorms(pc, ksp, &takes_none));
  pc->ops->applyrichardson = takes_none ? ApplyRichardson : nullptr;
  if (preonly && line->some) {
    PetscCall(PCGetFailedReason(pc, &line->hidden));
    PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PostSolveLine(PC pc, KSP ksp, Vec, Vec)
{
  auto *line = static_cast<PC_Line *>(pc->data);
  PetscFunctionBegin;
  compose_one_way(line, false);
  pc->ops->applyrichardson = nullptr;
  if (line->hidden == PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetFailedReason(pc, line->hidden));
  line->hidden = PC_NOERROR;
  ksp->reason  = KSP_DIVERGED_PC_FAILED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

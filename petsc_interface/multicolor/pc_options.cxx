// SPDX-License-Identifier: BSD-2-Clause
#include "../support/options.hpp"
#include "pc.hpp"

const char *const PCMulticolorColorings[] = {
  "auto", "grid", "jp", "greedy", "PCMulticolorColoring", "PC_MULTICOLOR_COLORING_", nullptr};
const char *const PCMulticolorCuts[] = {"local", "exact", "PCMulticolorCut", "PC_MULTICOLOR_CUT_", nullptr};

namespace ribbon::petsc {

namespace {

PC_Multicolor *context(PC pc)
{
  return static_cast<PC_Multicolor *>(pc->data);
}

constexpr int local_bits = SOR_LOCAL_SYMMETRIC_SWEEP;

bool is_local(MatSORType flag)
{
  return (flag & local_bits) != 0;
}

PetscErrorCode SetSymmetric(PC pc, MatSORType flag)
{
  PC_Multicolor *mc = context(pc);
  PetscFunctionBegin;
  PetscCall(Stored<PC, &PC_Multicolor::direction, SetUpAgain>::set(
    pc, static_cast<MatSORType>(is_local(flag) ? flag / SOR_LOCAL_FORWARD_SWEEP : flag)));
  if (is_local(flag) && mc->cut != PC_MULTICOLOR_CUT_LOCAL) {
    mc->cut = PC_MULTICOLOR_CUT_LOCAL;
    SetUpAgain(pc);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetSymmetric(PC pc, MatSORType *flag)
{
  const PC_Multicolor *mc = context(pc);
  PetscFunctionBegin;
  *flag = static_cast<MatSORType>(mc->direction *
                                  (mc->cut == PC_MULTICOLOR_CUT_LOCAL ? int(SOR_LOCAL_FORWARD_SWEEP) : 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetIterations(PC pc, PetscInt its, PetscInt lits)
{
  PetscFunctionBegin;
  PetscCall(Stored<PC, &PC_Multicolor::its, SetUpAgain>::set(pc, its));
  PetscCall(Stored<PC, &PC_Multicolor::lits, SetUpAgain>::set(pc, lits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetIterations(PC pc, PetscInt *its, PetscInt *lits)
{
  PetscFunctionBegin;
  if (its) *its = context(pc)->its;
  if (lits) *lits = context(pc)->lits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetColors(PC pc, PetscInt *colors, PetscInt *block, const char **how)
{
  const PC_Multicolor *mc = context(pc);
  PetscFunctionBegin;
  PetscCheck(mc->sweeps, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PCMulticolorGetColors: call PCSetUp() first");
  if (colors) *colors = mc->sweeps->colors().most;
  if (block) *block = mc->rows.block();
  if (how) *how = mc->sweeps->colors().how.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadIterations(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PetscInt  its, lits;
  PetscBool set[2];
  PetscFunctionBegin;
  PetscCall(GetIterations(pc, &its, &lits));
  PetscCall(PetscOptionsInt("-pc_multicolor_its", "Sweeps", "PCMulticolorSetIterations", its, &its, &set[0]));
  PetscCall(PetscOptionsInt("-pc_multicolor_lits", "Local sweeps for each sweep", "PCMulticolorSetIterations",
                            lits, &lits, &set[1]));
  if (set[0] || set[1]) PetscCall(PCMulticolorSetIterations(pc, its, lits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Reads the options that name a direction. A local one contradicts an exact cut.
PetscErrorCode ReadDirection(PC pc, RibbonOptionItems PetscOptionsObject)
{
  const char *local = nullptr;
  PetscBool   set;
  char        cut[16] = "";
  const auto  take    = [&](MatSORType flag, const char *name) -> PetscErrorCode {
    PetscFunctionBegin;
    if (set && is_local(flag)) local = name;
    if (set) PetscCall(PCMulticolorSetSymmetric(pc, flag));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscFunctionBegin;
  PetscCall(PetscOptionsBoolGroupBegin("-pc_multicolor_symmetric", "Forward and then backward",
                                       "PCMulticolorSetSymmetric", &set));
  PetscCall(take(SOR_SYMMETRIC_SWEEP, ""));
  PetscCall(PetscOptionsBoolGroup("-pc_multicolor_backward", "The last colour first",
                                  "PCMulticolorSetSymmetric", &set));
  PetscCall(take(SOR_BACKWARD_SWEEP, ""));
  PetscCall(PetscOptionsBoolGroup("-pc_multicolor_forward", "The first colour first",
                                  "PCMulticolorSetSymmetric", &set));
  PetscCall(take(SOR_FORWARD_SWEEP, ""));
  PetscCall(PetscOptionsBoolGroup("-pc_multicolor_local_symmetric",
                                  "Forward and then backward, each rank by itself",
                                  "PCMulticolorSetSymmetric", &set));
  PetscCall(take(SOR_LOCAL_SYMMETRIC_SWEEP, "symmetric"));
  PetscCall(PetscOptionsBoolGroup("-pc_multicolor_local_backward",
                                  "The last colour first, each rank by itself", "PCMulticolorSetSymmetric",
                                  &set));
  PetscCall(take(SOR_LOCAL_BACKWARD_SWEEP, "backward"));
  PetscCall(PetscOptionsBoolGroupEnd("-pc_multicolor_local_forward",
                                     "The first colour first, each rank by itself",
                                     "PCMulticolorSetSymmetric", &set));
  PetscCall(take(SOR_LOCAL_FORWARD_SWEEP, "forward"));
  if (!local) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_multicolor_cut",
                                  cut, sizeof cut, nullptr));
  PetscCall(PetscStrcasecmp(cut, "exact", &set));
  PetscCheck(!set, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "PC multicolor: %s_%s contradicts %s exact: take %s_%s for sweeps over all ranks",
             option_of((PetscObject)pc, "pc_multicolor_local").c_str(), local,
             option_of((PetscObject)pc, "pc_multicolor_cut").c_str(),
             option_of((PetscObject)pc, "pc_multicolor").c_str(), local);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *NotInZeroTwo(PetscReal x)
{
  return x > 0 && x < 2 ? nullptr : "is not in (0, 2)";
}

const char *NotFinite(PetscReal x)
{
  return is_finite(x) ? nullptr : "is not a finite number";
}

template <auto member>
constexpr auto kept = stored<PC, member, SetUpAgain>;

constexpr auto pc_multicolor_options = std::make_tuple(
  Option("-pc_multicolor_omega", "Relaxation factor (0 < omega < 2)", "PCMulticolorSetOmega",
         kept<&PC_Multicolor::omega>, NotInZeroTwo),
  Option("-pc_multicolor_diagonal_shift", "Added to the diagonal entries", "PCMulticolorSetDiagonalShift",
         kept<&PC_Multicolor::shift>, NotFinite),
  SpecialOption<PC>{ReadIterations},
  Option("-pc_multicolor_coloring", "Where colours come from", "PCMulticolorSetColoring",
         kept<&PC_Multicolor::coloring>, PCMulticolorColorings),
  SpecialOption<PC>{ReadDirection},
  Option("-pc_multicolor_cut", "How couplings between ranks are treated", "PCMulticolorSetCut",
         kept<&PC_Multicolor::cut>, PCMulticolorCuts),
  Option("-pc_multicolor_residual", "MatResidual() after a sweep reads the other colours alone",
         "PCMulticolorSetResidual", kept<&PC_Multicolor::residual>));

} // namespace

PetscErrorCode ComposeMulticolorOptions(PC pc, bool attach)
{
  const auto compose = [&](const char *name, auto function) {
    return PetscObjectComposeFunction((PetscObject)pc, name, attach ? function : nullptr);
  };
  PetscFunctionBegin;
  PetscCall(ComposeOptions(pc, pc_multicolor_options, attach));
  PetscCall(compose("PCMulticolorSetSymmetric_C", &SetSymmetric));
  PetscCall(compose("PCMulticolorGetSymmetric_C", &GetSymmetric));
  PetscCall(compose("PCMulticolorSetIterations_C", &SetIterations));
  PetscCall(compose("PCMulticolorGetIterations_C", &GetIterations));
  PetscCall(compose("PCMulticolorGetColors_C", &GetColors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetMulticolorFromOptions(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "PC multicolor options");
  PetscCall(ReadOptions(pc, pc_multicolor_options, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

using namespace ribbon::petsc;

RIBBON_OPTION(pc_multicolor_options, PC, PCMulticolor, Omega, PetscReal)
RIBBON_OPTION(pc_multicolor_options, PC, PCMulticolor, DiagonalShift, PetscReal)
RIBBON_OPTION(pc_multicolor_options, PC, PCMulticolor, Coloring, PCMulticolorColoring)
RIBBON_OPTION(pc_multicolor_options, PC, PCMulticolor, Cut, PCMulticolorCut)
RIBBON_OPTION(pc_multicolor_options, PC, PCMulticolor, Residual, PetscBool)

PetscErrorCode PCMulticolorSetSymmetric(PC pc, MatSORType flag)
{
  const auto f = static_cast<int>(flag);
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, flag, 2);
  PetscCheck((f >= SOR_FORWARD_SWEEP && f <= SOR_SYMMETRIC_SWEEP) || f == SOR_LOCAL_FORWARD_SWEEP ||
               f == SOR_LOCAL_BACKWARD_SWEEP || f == SOR_LOCAL_SYMMETRIC_SWEEP,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCMulticolorSetSymmetric: %d is no sweep forward, backward or symmetric", f);
  PetscTryMethod(pc, "PCMulticolorSetSymmetric_C", (PC, MatSORType), (pc, flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMulticolorGetSymmetric(PC pc, MatSORType *flag)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(flag, 2);
  PetscUseMethod(pc, "PCMulticolorGetSymmetric_C", (PC, MatSORType *), (pc, flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMulticolorSetIterations(PC pc, PetscInt its, PetscInt lits)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, its, 2);
  PetscValidLogicalCollectiveInt(pc, lits, 3);
  PetscCheck(its > 0 && lits > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCMulticolorSetIterations, %s: %" PetscInt_FMT " is not positive",
             option_of((PetscObject)pc, its > 0 ? "pc_multicolor_lits" : "pc_multicolor_its").c_str(),
             its > 0 ? lits : its);
  PetscTryMethod(pc, "PCMulticolorSetIterations_C", (PC, PetscInt, PetscInt), (pc, its, lits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMulticolorGetIterations(PC pc, PetscInt *its, PetscInt *lits)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCMulticolorGetIterations_C", (PC, PetscInt *, PetscInt *), (pc, its, lits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMulticolorGetColors(PC pc, PetscInt *colors, PetscInt *block, const char **how)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCMulticolorGetColors_C", (PC, PetscInt *, PetscInt *, const char **),
                 (pc, colors, block, how));
  PetscFunctionReturn(PETSC_SUCCESS);
}

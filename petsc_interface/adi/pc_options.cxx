// SPDX-License-Identifier: BSD-2-Clause
#include "../support/options.hpp"
#include "pc.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

PC_ADI *context(PC pc)
{
  return static_cast<PC_ADI *>(pc->data);
}

PetscErrorCode SetDirections(PC pc, PetscInt n, const PetscInt directions[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) {
    PetscCheck(directions[k] >= 0 && directions[k] < 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "PCADISetDirections: %" PetscInt_FMT " is not 0, 1 or 2", directions[k]);
    PetscCheck(std::find(directions, directions + k, directions[k]) == directions + k, comm,
               PETSC_ERR_ARG_OUTOFRANGE, "PCADISetDirections, -pc_adi_directions: %c is in the list twice",
               "xyz"[directions[k]]);
  }
  PetscCall(Stored<PC, &PC_ADI::directions, SetUpAgain>::set(pc, {directions, directions + n}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirections(PC pc, PetscInt *n, const PetscInt **directions)
{
  PetscFunctionBegin;
  if (n) *n = static_cast<PetscInt>(context(pc)->directions.size());
  if (directions) *directions = context(pc)->directions.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// "auto", or x, y, z separated by commas.
PetscErrorCode Parse(PC pc, const std::string &list, std::vector<PetscInt> *directions)
{
  static const char axes[] = "xyz";
  PetscFunctionBegin;
  for (std::size_t k = 0; k < list.size() && list != "auto"; k += 2) {
    const char *axis  = std::find(axes, axes + 3, list[k]);
    const bool  comma = k + 1 == list.size() || (list[k + 1] == ',' && k + 2 < list.size());
    PetscCheck(axis != axes + 3 && comma, PetscObjectComm((PetscObject)pc), PETSC_ERR_USER,
               "Unknown option %s for -%spc_adi_directions. Available options: auto, or a list of x, y and z",
               list.c_str(), ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
    directions->push_back(static_cast<PetscInt>(axis - axes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadDirections(PC pc, RibbonOptionItems PetscOptionsObject)
{
  char      list[128];
  PetscBool set;
  PetscFunctionBegin;
  PetscCall(PetscOptionsString(
    "-pc_adi_directions", "Order of the directions (choose one of) auto x y z, or a list of x, y and z",
    "PCADISetDirections", names_of(context(pc)->directions).c_str(), list, sizeof list, &set));
  if (set) {
    std::vector<PetscInt> directions;
    PetscCall(Parse(pc, list, &directions));
    PetscCall(PCADISetDirections(pc, static_cast<PetscInt>(directions.size()), directions.data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *NotAShift(PetscReal shift)
{
  return shift >= 0 && PetscIsNormalReal(shift + 1) ? nullptr : "is negative, or not a finite number";
}

constexpr auto pc_adi_options = std::make_tuple(
  Option("-pc_adi_shift", "Shift of a matrix that no time step made (0: that of the time step)",
         "PCADISetShift", stored<PC, &PC_ADI::shift, SetUpAgain>, NotAShift),
  SpecialOption<PC>{ReadDirections},
  Option("-pc_adi_symmetric", "There and back, for KSPCG", "PCADISetSymmetric",
         stored<PC, &PC_ADI::symmetric, SetUpAgain>, NotABool));

} // namespace

std::string names_of(const std::vector<PetscInt> &directions)
{
  std::string names;
  for (PetscInt d : directions) names += (names.empty() ? "" : ",") + std::string(1, "xyz"[d]);
  return names.empty() ? "auto" : names;
}

PetscErrorCode ComposeADIOptions(PC pc, bool attach)
{
  const auto compose = [&](const char *name, auto function) {
    return PetscObjectComposeFunction((PetscObject)pc, name, attach ? function : nullptr);
  };
  PetscFunctionBegin;
  PetscCall(ComposeOptions(pc, pc_adi_options, attach));
  PetscCall(compose("PCADISetDirections_C", &SetDirections));
  PetscCall(compose("PCADIGetDirections_C", &GetDirections));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetADIFromOptions(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "PC adi options");
  PetscCall(ReadOptions(pc, pc_adi_options, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

using namespace ribbon::petsc;

RIBBON_OPTION(pc_adi_options, PC, PCADI, Shift, PetscReal)
RIBBON_OPTION(pc_adi_options, PC, PCADI, Symmetric, PetscBool)

PetscErrorCode PCADISetDirections(PC pc, PetscInt n, const PetscInt directions[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscCheck(n >= 0 && n <= 3 && (n == 0 || directions), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "PCADISetDirections: %" PetscInt_FMT " directions%s", n,
             n > 0 && n <= 3 ? ", but the array is NULL" : "");
  for (PetscInt k = 0; k < n; ++k) PetscValidLogicalCollectiveInt(pc, directions[k], 3);
  PetscTryMethod(pc, "PCADISetDirections_C", (PC, PetscInt, const PetscInt[]), (pc, n, directions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADIGetDirections(PC pc, PetscInt *n, const PetscInt *directions[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCADIGetDirections_C", (PC, PetscInt *, const PetscInt **), (pc, n, directions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

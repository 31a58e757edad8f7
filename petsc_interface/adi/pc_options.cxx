// SPDX-License-Identifier: BSD-2-Clause
#include "pc.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

PC_ADI *context(PC pc)
{
  return static_cast<PC_ADI *>(pc->data);
}

/// An option changed: what was set up with the old value does not hold any more.
template <auto option, class T>
PetscErrorCode Set(PC pc, T value)
{
  PetscFunctionBegin;
  if (context(pc)->*option != value) {
    context(pc)->*option = value;
    pc->setupcalled      = decltype(pc->setupcalled)(0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <auto option, class T>
PetscErrorCode Get(PC pc, T *value)
{
  PetscFunctionBegin;
  *value = context(pc)->*option;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetDirections(PC pc, PetscInt n, const PetscInt directions[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) {
    PetscCheck(directions[k] >= 0 && directions[k] < 3, comm, PETSC_ERR_ARG_OUTOFRANGE, "PCADISetDirections: %" PetscInt_FMT " is not 0, 1 or 2", directions[k]);
    PetscCheck(std::find(directions, directions + k, directions[k]) == directions + k, comm, PETSC_ERR_ARG_OUTOFRANGE, "PCADISetDirections, -pc_adi_directions: %c is in the list twice", "xyz"[directions[k]]);
  }
  std::vector<PetscInt> list(directions, directions + n);
  PetscCall(Set<&PC_ADI::directions>(pc, list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirections(PC pc, PetscInt *n, const PetscInt **directions)
{
  PetscFunctionBegin;
  if (n) *n = static_cast<PetscInt>(context(pc)->directions.size());
  if (directions) *directions = context(pc)->directions.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// "auto", or x, y, z with commas.
PetscErrorCode Parse(PC pc, const std::string &list, std::vector<PetscInt> *directions)
{
  static const char axes[] = "xyz";
  PetscFunctionBegin;
  for (std::size_t k = 0; k < list.size() && list != "auto"; k += 2) {
    const char *axis  = std::find(axes, axes + 3, list[k]);
    const bool  comma = k + 1 == list.size() || (list[k + 1] == ',' && k + 2 < list.size());
    PetscCheck(axis != axes + 3 && comma, PetscObjectComm((PetscObject)pc), PETSC_ERR_USER, "Unknown option %s for -%spc_adi_directions. Available options: auto, or a list of x, y and z", list.c_str(),
               ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
    directions->push_back(static_cast<PetscInt>(axis - axes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::string names_of(const std::vector<PetscInt> &directions)
{
  std::string names;
  for (PetscInt d : directions) names += (names.empty() ? "" : ",") + std::string(1, "xyz"[d]);
  return names.empty() ? "auto" : names;
}

PetscErrorCode ComposeADIOptions(PC pc, bool attach)
{
  const auto compose = [&](const char *name, auto function) { return PetscObjectComposeFunction((PetscObject)pc, name, attach ? function : nullptr); };
  PetscFunctionBegin;
  PetscCall(compose("PCADISetShift_C", &Set<&PC_ADI::shift, PetscReal>));
  PetscCall(compose("PCADIGetShift_C", &Get<&PC_ADI::shift, PetscReal>));
  PetscCall(compose("PCADISetSymmetric_C", &Set<&PC_ADI::symmetric, PetscBool>));
  PetscCall(compose("PCADIGetSymmetric_C", &Get<&PC_ADI::symmetric, PetscBool>));
  PetscCall(compose("PCADISetDirections_C", &SetDirections));
  PetscCall(compose("PCADIGetDirections_C", &GetDirections));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetADIFromOptions(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PC_ADI   *adi       = context(pc);
  PetscReal shift     = adi->shift;
  PetscBool symmetric = adi->symmetric, set;
  char      list[128];
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "PC adi options");
  PetscCall(PetscOptionsReal("-pc_adi_shift", "Shift of a matrix that no time step made (0: that of the time step)", "PCADISetShift", shift, &shift, &set));
  if (set) PetscCall(PCADISetShift(pc, shift));
  PetscCall(PetscOptionsString("-pc_adi_directions", "Order of the directions (choose one of) auto x y z, or a list of x, y and z", "PCADISetDirections", names_of(adi->directions).c_str(), list, sizeof list, &set));
  if (set) {
    std::vector<PetscInt> directions;
    PetscCall(Parse(pc, list, &directions));
    PetscCall(PCADISetDirections(pc, static_cast<PetscInt>(directions.size()), directions.data()));
  }
  PetscCall(PetscOptionsBool("-pc_adi_symmetric", "There and back, for KSPCG", "PCADISetSymmetric", symmetric, &symmetric, &set));
  if (set) PetscCall(PCADISetSymmetric(pc, symmetric));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

PetscErrorCode PCADISetShift(PC pc, PetscReal shift)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, shift, 2);
  PetscCheck(shift >= 0 && PetscIsNormalReal(shift + 1), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "PCADISetShift, -pc_adi_shift: %g is negative, or no number", (double)shift);
  PetscTryMethod(pc, "PCADISetShift_C", (PC, PetscReal), (pc, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADIGetShift(PC pc, PetscReal *shift)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCADIGetShift_C", (PC, PetscReal *), (pc, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetSymmetric(PC pc, PetscBool symmetric)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, symmetric, 2);
  PetscTryMethod(pc, "PCADISetSymmetric_C", (PC, PetscBool), (pc, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADIGetSymmetric(PC pc, PetscBool *symmetric)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCADIGetSymmetric_C", (PC, PetscBool *), (pc, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetDirections(PC pc, PetscInt n, const PetscInt directions[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscCheck(n >= 0 && n <= 3 && (n == 0 || directions), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "PCADISetDirections: %" PetscInt_FMT " directions%s", n,
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

// SPDX-License-Identifier: BSD-2-Clause
#include "line.hpp"

const char *const PCLineDirections[] = {"auto", "x", "y", "z", "rows", "PCLineDirection", "PC_LINE_DIRECTION_", nullptr};
const char *const PCLineLhsTypes[]   = {"auto", "shared", "classes", "per_line", "PCLineLhs", "PC_LINE_LHS_", nullptr};
const char *const PCLineCuts[]       = {"local", "error", "PCLineCut", "PC_LINE_CUT_", nullptr};
const char *const PCLineAlgorithms[] = {"auto", "one_pass", "thomas", "pivoted", "PCLineAlgorithm", "PC_LINE_ALGORITHM_", nullptr};

namespace ribbon::petsc {

namespace {

PC_Line *context(PC pc)
{
  return static_cast<PC_Line *>(pc->data);
}

/// An option changed: what was set up with the old value does not hold any more.
template <class T>
PetscErrorCode Set(PC pc, T PC_Line::*option, T value)
{
  PetscFunctionBegin;
  if (context(pc)->*option != value) {
    context(pc)->*option = value;
    pc->setupcalled      = decltype(pc->setupcalled)(0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <auto option>
struct Access;
template <class T, T PC_Line::*option>
struct Access<option> {
  static PetscErrorCode set(PC pc, T value)
  {
    PetscFunctionBegin;
    PetscCall(Set(pc, option, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode get(PC pc, T *value)
  {
    PetscFunctionBegin;
    *value = context(pc)->*option;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <auto option>
PetscErrorCode Compose(PC pc, const char *set, const char *get, bool attach)
{
  PetscFunctionBegin;
  if (attach) {
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, set, Access<option>::set));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, get, Access<option>::get));
  } else {
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, set, nullptr));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, get, nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetInfo(PC pc, const char **direction, PetscInt *lines, PetscInt *rows, PetscInt *matrices, PetscInt *half_bandwidth, PetscLogDouble *bytes)
{
  const PC_Line *line = context(pc);
  PetscFunctionBegin;
  PetscCheck(line->op, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "PCLineGetInfo: call PCSetUp() first");
  if (direction) *direction = line->request.direction.name.c_str();
  if (lines) *lines = static_cast<PetscInt>(line->request.direction.lines.lines());
  if (rows) *rows = static_cast<PetscInt>(line->request.direction.lines.rows);
  if (matrices) *matrices = static_cast<PetscInt>(line->facts.matrices);
  if (half_bandwidth) *half_bandwidth = line->request.half_bandwidth;
  if (bytes) *bytes = static_cast<PetscLogDouble>(line->facts.bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ComposeLineOptions(PC pc, bool attach)
{
  PetscFunctionBegin;
  PetscCall(Compose<&PC_Line::direction>(pc, "PCLineSetDirection_C", "PCLineGetDirection_C", attach));
  PetscCall(Compose<&PC_Line::lhs>(pc, "PCLineSetLhs_C", "PCLineGetLhs_C", attach));
  PetscCall(Compose<&PC_Line::cut>(pc, "PCLineSetCut_C", "PCLineGetCut_C", attach));
  PetscCall(Compose<&PC_Line::algorithm>(pc, "PCLineSetAlgorithm_C", "PCLineGetAlgorithm_C", attach));
  PetscCall(Compose<&PC_Line::zero_pivot>(pc, "PCLineSetZeroPivot_C", "PCLineGetZeroPivot_C", attach));
  if (attach) PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineGetInfo_C", GetInfo));
  else PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineGetInfo_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetLineFromOptions(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PC_Line  *line = context(pc);
  PetscEnum choice;
  PetscReal tol = line->zero_pivot;
  PetscBool set;
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "PC line options");
  PetscCall(PetscOptionsEnum("-pc_line_direction", "Which couplings make the lines", "PCLineSetDirection", PCLineDirections, (PetscEnum)line->direction, &choice, &set));
  if (set) PetscCall(PCLineSetDirection(pc, (PCLineDirection)choice));
  PetscCall(PetscOptionsEnum("-pc_line_lhs", "How many different matrices are kept", "PCLineSetLhs", PCLineLhsTypes, (PetscEnum)line->lhs, &choice, &set));
  if (set) PetscCall(PCLineSetLhs(pc, (PCLineLhs)choice));
  PetscCall(PetscOptionsEnum("-pc_line_cut", "What to do with lines that the partition cuts", "PCLineSetCut", PCLineCuts, (PetscEnum)line->cut, &choice, &set));
  if (set) PetscCall(PCLineSetCut(pc, (PCLineCut)choice));
  PetscCall(PetscOptionsEnum("-pc_line_algorithm", "Kernel", "PCLineSetAlgorithm", PCLineAlgorithms, (PetscEnum)line->algorithm, &choice, &set));
  if (set) PetscCall(PCLineSetAlgorithm(pc, (PCLineAlgorithm)choice));
  PetscCall(PetscOptionsReal("-pc_line_zeropivot", "A pivot this small relative to its row is zero (0: 100 machine epsilon)", "PCLineSetZeroPivot", tol, &tol, &set));
  if (set) PetscCall(PCLineSetZeroPivot(pc, tol));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// The public functions: each does nothing, or raises an error where a result is asked for, on a PC of another type.

#define RIBBON_ENUM_OPTION(Name, Type, first, last)                                                                                                                                                                        \
  PetscErrorCode PCLineSet##Name(PC pc, Type value)                                                                                                                                                                        \
  {                                                                                                                                                                                                                        \
    PetscFunctionBegin;                                                                                                                                                                                                    \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);                                                                                                                                                                           \
    PetscValidLogicalCollectiveEnum(pc, value, 2);                                                                                                                                                                         \
    PetscCheck(value >= first && value <= last, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "PCLineSet" #Name ": %d is no " #Type, (int)value);                                                            \
    PetscTryMethod(pc, "PCLineSet" #Name "_C", (PC, Type), (pc, value));                                                                                                                                                   \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                                                                                                                    \
  }                                                                                                                                                                                                                        \
  PetscErrorCode PCLineGet##Name(PC pc, Type *value)                                                                                                                                                                       \
  {                                                                                                                                                                                                                        \
    PetscFunctionBegin;                                                                                                                                                                                                    \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);                                                                                                                                                                           \
    PetscUseMethod(pc, "PCLineGet" #Name "_C", (PC, Type *), (pc, value));                                                                                                                                                 \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                                                                                                                    \
  }

RIBBON_ENUM_OPTION(Direction, PCLineDirection, PC_LINE_DIRECTION_AUTO, PC_LINE_DIRECTION_ROWS)
RIBBON_ENUM_OPTION(Lhs, PCLineLhs, PC_LINE_LHS_AUTO, PC_LINE_LHS_PER_LINE)
RIBBON_ENUM_OPTION(Cut, PCLineCut, PC_LINE_CUT_LOCAL, PC_LINE_CUT_ERROR)
RIBBON_ENUM_OPTION(Algorithm, PCLineAlgorithm, PC_LINE_ALGORITHM_AUTO, PC_LINE_ALGORITHM_PIVOTED)

PetscErrorCode PCLineSetZeroPivot(PC pc, PetscReal tol)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, tol, 2);
  PetscCheck(tol >= 0 && tol < 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "PCLineSetZeroPivot, -pc_line_zeropivot: %g is not in [0, 1)", (double)tol);
  PetscTryMethod(pc, "PCLineSetZeroPivot_C", (PC, PetscReal), (pc, tol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetZeroPivot(PC pc, PetscReal *tol)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetZeroPivot_C", (PC, PetscReal *), (pc, tol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetInfo(PC pc, const char **direction, PetscInt *lines, PetscInt *rows, PetscInt *matrices, PetscInt *half_bandwidth, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetInfo_C", (PC, const char **, PetscInt *, PetscInt *, PetscInt *, PetscInt *, PetscLogDouble *), (pc, direction, lines, rows, matrices, half_bandwidth, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

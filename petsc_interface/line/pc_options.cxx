// SPDX-License-Identifier: BSD-2-Clause
#include "pc.hpp"

#include <algorithm>
#include <limits>

const char *const PCLineDirections[]   = {"auto", "x", "y", "z", "rows", "matrix", "PCLineDirection", "PC_LINE_DIRECTION_", nullptr};
const char *const PCLineCompositions[] = {"auto", "multiplicative", "additive", "symmetric", "PCLineComposition", "PC_LINE_COMPOSITION_", nullptr};
const char *const PCLineOrderings[]    = {"auto", "jacobi", "zebra", "PCLineOrdering", "PC_LINE_ORDERING_", nullptr};
const char *const PCLineLhsTypes[]     = {"auto", "shared", "classes", "per_line", "PCLineLhs", "PC_LINE_LHS_", nullptr};
const char *const PCLineCuts[]         = {"auto", "exact", "drop", "local", "error", "PCLineCut", "PC_LINE_CUT_", nullptr};
const char *const PCLineProbes[] = {"auto", "always", "never", "PCLineProbe", "PC_LINE_PROBE_", nullptr};
const char *const PCLineCutExchanges[] = {"auto", "every_rank", "dealt_out", "groups", "PCLineCutExchange", "PC_LINE_CUT_EXCHANGE_", nullptr};
const char *const PCLineAlgorithms[]   = {"auto", "one_pass", "thomas", "pivoted", "PCLineAlgorithm", "PC_LINE_ALGORITHM_", nullptr};
const char *const PCLinePrecisions[]   = {"same", "single", "single_unrefined", "PCLinePrecision", "PC_LINE_PRECISION_",
                                          nullptr};
const char *const PCLineShiftTypes[]   = {"none", "nonzero", "pin", "PCLineShiftType", "PC_LINE_SHIFT_", nullptr};

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

/// A list that changed is an option that changed; one that makes no sense is one error.
PetscErrorCode SetDirections(PC pc, PetscInt n, const PCLineDirection directions[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscFunctionBegin;
  PetscCheck(n > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "PCLineSetDirections, -pc_line_direction: the list is empty");
  for (PetscInt k = 0; k < n; ++k) {
    const PCLineDirection d = directions[k];
    PetscCheck(d >= PC_LINE_DIRECTION_AUTO && d <= PC_LINE_DIRECTION_MATRIX, comm, PETSC_ERR_ARG_OUTOFRANGE, "PCLineSetDirections: %d is no PCLineDirection", (int)d);
    PetscCheck(n == 1 || (d >= PC_LINE_DIRECTION_X && d <= PC_LINE_DIRECTION_Z), comm, PETSC_ERR_ARG_OUTOFRANGE, "PCLineSetDirections, -pc_line_direction: %s stands alone, a list has x, y and z", PCLineDirections[d]);
    PetscCheck(std::find(directions, directions + k, d) == directions + k, comm, PETSC_ERR_ARG_OUTOFRANGE, "PCLineSetDirections, -pc_line_direction: %s is in the list twice", PCLineDirections[d]);
  }
  PetscCall(Set(pc, &PC_Line::directions, std::vector<PCLineDirection>(directions, directions + n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirections(PC pc, PetscInt *n, const PCLineDirection **directions)
{
  PetscFunctionBegin;
  if (n) *n = static_cast<PetscInt>(context(pc)->directions.size());
  if (directions) *directions = context(pc)->directions.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The directions of a list with commas.
PetscErrorCode Parse(PC pc, const std::string &list, std::vector<PCLineDirection> *directions)
{
  PetscFunctionBegin;
  for (std::size_t begin = 0, end; begin <= list.size(); begin = end + 1) {
    PetscEnum choice;
    PetscBool found;
    end                    = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    PetscCall(PetscEnumFind(PCLineDirections, name.c_str(), &choice, &found));
    PetscCheck(found && !name.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_USER, "Unknown option %s for -%spc_line_direction. Available options: auto x y z rows matrix, or a list of x, y and z",
               name.empty() ? "(nothing)" : name.c_str(), ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
    directions->push_back(static_cast<PCLineDirection>(choice));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetInfo(PC pc, const char **direction, PetscInt *lines, PetscInt *rows, PetscInt *matrices, PetscInt *half_bandwidth, PetscLogDouble *bytes)
{
  const PC_Line *line = context(pc);
  PetscFunctionBegin;
  PetscCheck(!line->requests.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "PCLineGetInfo: call PCSetUp() first");
  std::int64_t sum_lines = 0, sum_matrices = 0;
  std::size_t  sum_bytes = 0;
  int          widest    = 0;
  for (const LineGroup &group : line->sweep.groups)
    for (const LineBatch &batch : group.batches) sum_lines += batch.request.direction.lines.lines(), sum_matrices += batch.facts.matrices, sum_bytes += batch.facts.bytes;
  for (const LineRequest &request : line->requests) widest = std::max(widest, request.half_bandwidth);
  if (direction) *direction = line->names.c_str();
  if (lines) *lines = static_cast<PetscInt>(sum_lines);
  if (rows) *rows = static_cast<PetscInt>(line->requests[0].direction.lines.rows);
  if (matrices) *matrices = static_cast<PetscInt>(sum_matrices);
  if (half_bandwidth) *half_bandwidth = widest;
  if (bytes) *bytes = static_cast<PetscLogDouble>(sum_bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetFactorInfo(PC pc, PetscReal *rcond, PetscInt *row, PetscReal *growth, PetscReal *log_abs_det,
                             PetscScalar *det_sign)
{
  LineCondition c;
  PetscFunctionBegin;
  PetscCheck(!context(pc)->requests.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PCLineGetFactorInfo: call PCSetUp() first");
  PetscCall(GetCondition(pc, 0, std::numeric_limits<double>::infinity(), &c));
  if (rcond) *rcond = static_cast<PetscReal>(c.rcond);
  if (row) *row = c.row;
  if (growth) *growth = static_cast<PetscReal>(c.growth);
  if (log_abs_det) *log_abs_det = static_cast<PetscReal>(c.log_abs_det);
  if (det_sign) {
#if defined(PETSC_USE_COMPLEX)
    *det_sign = PetscScalar(static_cast<PetscReal>(c.det_sign.real()), static_cast<PetscReal>(c.det_sign.imag()));
#else
    *det_sign = static_cast<PetscScalar>(c.det_sign.real());
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::string names_of(const std::vector<PCLineDirection> &directions)
{
  std::string names;
  for (PCLineDirection d : directions) names += (names.empty() ? "" : ",") + std::string(PCLineDirections[d]);
  return names;
}

PetscErrorCode ComposeLineOptions(PC pc, bool attach)
{
  PetscFunctionBegin;
  PetscCall(Compose<&PC_Line::composition>(pc, "PCLineSetComposition_C", "PCLineGetComposition_C", attach));
  PetscCall(Compose<&PC_Line::ordering>(pc, "PCLineSetOrdering_C", "PCLineGetOrdering_C", attach));
  PetscCall(Compose<&PC_Line::omega>(pc, "PCLineSetOmega_C", "PCLineGetOmega_C", attach));
  PetscCall(Compose<&PC_Line::iterations>(pc, "PCLineSetIterations_C", "PCLineGetIterations_C", attach));
  PetscCall(Compose<&PC_Line::lhs>(pc, "PCLineSetLhs_C", "PCLineGetLhs_C", attach));
  PetscCall(Compose<&PC_Line::lhs_tol>(pc, "PCLineSetLhsTol_C", "PCLineGetLhsTol_C", attach));
  PetscCall(Compose<&PC_Line::cut>(pc, "PCLineSetCut_C", "PCLineGetCut_C", attach));
  PetscCall(Compose<&PC_Line::cut_exchange>(pc, "PCLineSetCutExchange_C", "PCLineGetCutExchange_C", attach));
  PetscCall(Compose<&PC_Line::cut_parts>(pc, "PCLineSetCutParts_C", "PCLineGetCutParts_C", attach));
  PetscCall(Compose<&PC_Line::algorithm>(pc, "PCLineSetAlgorithm_C", "PCLineGetAlgorithm_C", attach));
  PetscCall(Compose<&PC_Line::probe>(pc, "PCLineSetProbe_C", "PCLineGetProbe_C", attach));
  PetscCall(Compose<&PC_Line::zero_pivot>(pc, "PCLineSetZeroPivot_C", "PCLineGetZeroPivot_C", attach));
  PetscCall(Compose<&PC_Line::shift_type>(pc, "PCLineSetShiftType_C", "PCLineGetShiftType_C", attach));
  PetscCall(Compose<&PC_Line::shift>(pc, "PCLineSetShiftAmount_C", "PCLineGetShiftAmount_C", attach));
  PetscCall(Compose<&PC_Line::compare>(pc, "PCLineSetCompare_C", "PCLineGetCompare_C", attach));
  PetscCall(Compose<&PC_Line::precision>(pc, "PCLineSetPrecision_C", "PCLineGetPrecision_C", attach));
  if (attach) {
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetDirections_C", SetDirections));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineGetDirections_C", GetDirections));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineGetInfo_C", GetInfo));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineGetFactorInfo_C", GetFactorInfo));
  } else
    for (const char *name :
         {"PCLineSetDirections_C", "PCLineGetDirections_C", "PCLineGetInfo_C", "PCLineGetFactorInfo_C"})
      PetscCall(PetscObjectComposeFunction((PetscObject)pc, name, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetLineFromOptions(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PC_Line  *line = context(pc);
  PetscEnum choice;
  PetscReal tol = line->zero_pivot, omega = line->omega, lhs_tol = line->lhs_tol, shift = line->shift;
  PetscInt  iterations = line->iterations, parts = line->cut_parts;
  PetscBool compare = line->compare, set;
  char      list[128];
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "PC line options");
  PetscCall(PetscOptionsString("-pc_line_direction", "Which couplings make the lines (choose one of) auto x y z rows matrix, or a list of x, y and z to sweep", "PCLineSetDirections", names_of(line->directions).c_str(),
                               list, sizeof list, &set));
  if (set) {
    std::vector<PCLineDirection> directions;
    PetscCall(Parse(pc, list, &directions));
    PetscCall(PCLineSetDirections(pc, static_cast<PetscInt>(directions.size()), directions.data()));
  }
  PetscCall(PetscOptionsEnum("-pc_line_composition", "How the solves along several directions are composed", "PCLineSetComposition", PCLineCompositions, (PetscEnum)line->composition, &choice, &set));
  if (set) PetscCall(PCLineSetComposition(pc, (PCLineComposition)choice));
  PetscCall(PetscOptionsEnum("-pc_line_ordering", "All lines of a direction at once, or every second line and then the others", "PCLineSetOrdering", PCLineOrderings, (PetscEnum)line->ordering, &choice, &set));
  if (set) PetscCall(PCLineSetOrdering(pc, (PCLineOrdering)choice));
  PetscCall(PetscOptionsReal("-pc_line_omega", "Damping of every solve (0: 1, or 0.8 or 0.6 where a multigrid level needs it)", "PCLineSetOmega", omega, &omega, &set));
  if (set) PetscCall(PCLineSetOmega(pc, omega));
  PetscCall(PetscOptionsInt("-pc_line_iterations", "Repeats of the whole", "PCLineSetIterations", iterations, &iterations, &set));
  if (set) PetscCall(PCLineSetIterations(pc, iterations));
  PetscCall(PetscOptionsEnum("-pc_line_lhs", "How many different matrices are kept", "PCLineSetLhs", PCLineLhsTypes, (PetscEnum)line->lhs, &choice, &set));
  if (set) PetscCall(PCLineSetLhs(pc, (PCLineLhs)choice));
  PetscCall(PetscOptionsReal("-pc_line_lhs_tol", "Lines whose entries agree to this times the largest of their row share a matrix (0: exactly)", "PCLineSetLhsTol", lhs_tol, &lhs_tol, &set));
  if (set) PetscCall(PCLineSetLhsTol(pc, lhs_tol));
  PetscCall(PetscOptionsEnum("-pc_line_cut", "What to do with lines that the partition cuts", "PCLineSetCut", PCLineCuts, (PetscEnum)line->cut, &choice, &set));
  if (set) PetscCall(PCLineSetCut(pc, (PCLineCut)choice));
  PetscCall(PetscOptionsEnum("-pc_line_cut_exchange", "Who solves the reduced systems of lines that the partition cuts", "PCLineSetCutExchange", PCLineCutExchanges, (PetscEnum)line->cut_exchange, &choice, &set));
  if (set) PetscCall(PCLineSetCutExchange(pc, (PCLineCutExchange)choice));
  PetscCall(PetscOptionsInt("-pc_line_cut_parts", "Parts of the lines that the partition cuts: messages of one travel while others are computed", "PCLineSetCutParts", parts, &parts, &set));
  if (set) PetscCall(PCLineSetCutParts(pc, parts));
  PetscCall(PetscOptionsEnum("-pc_line_algorithm", "Kernel", "PCLineSetAlgorithm", PCLineAlgorithms, (PetscEnum)line->algorithm, &choice, &set));
  if (set) PetscCall(PCLineSetAlgorithm(pc, (PCLineAlgorithm)choice));
  PetscCall(PetscOptionsEnum(
    "-pc_line_precision",
    "What lines are factored and solved in: PETSc's precision, or single, whose solves are refined, or not",
    "PCLineSetPrecision", PCLinePrecisions, (PetscEnum)line->precision, &choice, &set));
  if (set) PetscCall(PCLineSetPrecision(pc, (PCLinePrecision)choice));
  PetscCall(PetscOptionsEnum("-pc_line_probe", "How factors are judged: by what elimination proves, else by solves; by solves; by proofs and pivots alone",
                             "PCLineSetProbe", PCLineProbes, (PetscEnum)line->probe, &choice, &set));
  if (set) PetscCall(PCLineSetProbe(pc, (PCLineProbe)choice));
  PetscCall(PetscOptionsReal("-pc_line_zeropivot", "A pivot this small relative to its row is zero (0: 100 machine epsilon)", "PCLineSetZeroPivot", tol, &tol, &set));
  if (set) PetscCall(PCLineSetZeroPivot(pc, tol));
  PetscCall(PetscOptionsEnum("-pc_line_shift_type", "What becomes of singular lines", "PCLineSetShiftType", PCLineShiftTypes, (PetscEnum)line->shift_type, &choice, &set));
  if (set) PetscCall(PCLineSetShiftType(pc, (PCLineShiftType)choice));
  PetscCall(PetscOptionsReal("-pc_line_shift_amount", "First shift of nonzero, relative to the largest entry of a row (0: 100 machine epsilon)", "PCLineSetShiftAmount", shift, &shift, &set));
  if (set) PetscCall(PCLineSetShiftAmount(pc, shift));
  PetscCall(PetscViewerDestroy(&line->viewer));
  PetscCall(PetscOptionsViewer("-pc_line_view", "Every set-up says what lines it found, and what it made of them", "PCView", &line->viewer, &line->format, nullptr));
  PetscCall(PetscOptionsBool("-pc_line_compare", "Run the serial reference beside each application and say where they part", "PCLineSetCompare", compare, &compare, &set));
  if (set) PetscCall(PCLineSetCompare(pc, compare));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// The public functions: each does nothing, or raises an error where a result is asked for, on a PC of another type.

/// A value that is `allowed`, or one error of the other arguments.
#define RIBBON_OPTION(Name, Type, Kind, allowed, ...)                                                                                                                                                                      \
  PetscErrorCode PCLineSet##Name(PC pc, Type value)                                                                                                                                                                        \
  {                                                                                                                                                                                                                        \
    PetscFunctionBegin;                                                                                                                                                                                                    \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);                                                                                                                                                                           \
    PetscValidLogicalCollective##Kind(pc, value, 2);                                                                                                                                                                       \
    PetscCheck(allowed, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, __VA_ARGS__);                                                                                                                          \
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
#define RIBBON_ENUM_OPTION(Name, Type, first, last) RIBBON_OPTION(Name, Type, Enum, value >= first && value <= last, "PCLineSet" #Name ": %d is no " #Type, (int)value)

RIBBON_OPTION(Omega, PetscReal, Real, value >= 0 && value < 2, "PCLineSetOmega, -pc_line_omega: %g is not in [0, 2)", (double)value)
RIBBON_OPTION(Iterations, PetscInt, Int, value > 0, "PCLineSetIterations, -pc_line_iterations: %" PetscInt_FMT " is not positive", value)
RIBBON_OPTION(ZeroPivot, PetscReal, Real, value >= 0 && value < 1, "PCLineSetZeroPivot, -pc_line_zeropivot: %g is not in [0, 1)", (double)value)
RIBBON_OPTION(LhsTol, PetscReal, Real, value >= 0 && value < 1, "PCLineSetLhsTol, -pc_line_lhs_tol: %g is not in [0, 1)", (double)value)
RIBBON_OPTION(ShiftAmount, PetscReal, Real, value >= 0 && value < 1, "PCLineSetShiftAmount, -pc_line_shift_amount: %g is not in [0, 1)", (double)value)
RIBBON_ENUM_OPTION(ShiftType, PCLineShiftType, PC_LINE_SHIFT_NONE, PC_LINE_SHIFT_PIN)
RIBBON_OPTION(Compare, PetscBool, Bool, value == PETSC_FALSE || value == PETSC_TRUE, "PCLineSetCompare: %d is no PetscBool", (int)value)
RIBBON_ENUM_OPTION(Composition, PCLineComposition, PC_LINE_COMPOSITION_AUTO, PC_LINE_COMPOSITION_SYMMETRIC)
RIBBON_ENUM_OPTION(Ordering, PCLineOrdering, PC_LINE_ORDERING_AUTO, PC_LINE_ORDERING_ZEBRA)
RIBBON_ENUM_OPTION(Lhs, PCLineLhs, PC_LINE_LHS_AUTO, PC_LINE_LHS_PER_LINE)
RIBBON_ENUM_OPTION(Cut, PCLineCut, PC_LINE_CUT_AUTO, PC_LINE_CUT_ERROR)
RIBBON_ENUM_OPTION(CutExchange, PCLineCutExchange, PC_LINE_CUT_EXCHANGE_AUTO, PC_LINE_CUT_EXCHANGE_GROUPS)
RIBBON_OPTION(CutParts, PetscInt, Int, value > 0, "PCLineSetCutParts, -pc_line_cut_parts: %" PetscInt_FMT " is not positive", value)
RIBBON_ENUM_OPTION(Probe, PCLineProbe, PC_LINE_PROBE_AUTO, PC_LINE_PROBE_NEVER)
RIBBON_ENUM_OPTION(Algorithm, PCLineAlgorithm, PC_LINE_ALGORITHM_AUTO, PC_LINE_ALGORITHM_PIVOTED)
RIBBON_ENUM_OPTION(Precision, PCLinePrecision, PC_LINE_PRECISION_SAME, PC_LINE_PRECISION_SINGLE_UNREFINED)

PetscErrorCode PCLineSetDirections(PC pc, PetscInt n, const PCLineDirection directions[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscCheck(n <= 0 || directions, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCLineSetDirections: %" PetscInt_FMT " directions, but the array is NULL", n);
  for (PetscInt k = 0; k < n; ++k) PetscValidLogicalCollectiveEnum(pc, directions[k], 3);
  PetscTryMethod(pc, "PCLineSetDirections_C", (PC, PetscInt, const PCLineDirection[]), (pc, n, directions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetDirections(PC pc, PetscInt *n, const PCLineDirection *directions[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetDirections_C", (PC, PetscInt *, const PCLineDirection **), (pc, n, directions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetDirection(PC pc, PCLineDirection direction)
{
  PetscFunctionBegin;
  PetscCall(PCLineSetDirections(pc, 1, &direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetDirection(PC pc, PCLineDirection *direction)
{
  const PCLineDirection *directions;
  PetscFunctionBegin;
  PetscCall(PCLineGetDirections(pc, nullptr, &directions));
  *direction = directions[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetInfo(PC pc, const char **direction, PetscInt *lines, PetscInt *rows, PetscInt *matrices, PetscInt *half_bandwidth, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetInfo_C", (PC, const char **, PetscInt *, PetscInt *, PetscInt *, PetscInt *, PetscLogDouble *), (pc, direction, lines, rows, matrices, half_bandwidth, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetFactorInfo(PC pc, PetscReal *rcond, PetscInt *row, PetscReal *growth, PetscReal *log_abs_det,
                                   PetscScalar *det_sign)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetFactorInfo_C", (PC, PetscReal *, PetscInt *, PetscReal *, PetscReal *, PetscScalar *),
                 (pc, rcond, row, growth, log_abs_det, det_sign));
  PetscFunctionReturn(PETSC_SUCCESS);
}

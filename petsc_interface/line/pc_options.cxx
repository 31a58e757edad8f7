// SPDX-License-Identifier: BSD-2-Clause
#include "../support/options.hpp"
#include "pc.hpp"

#include <algorithm>
#include <limits>

const char *const PCLineDirections[] = {
  "auto", "x", "y", "z", "rows", "matrix", "PCLineDirection", "PC_LINE_DIRECTION_", nullptr};
const char *const PCLineCompositions[] = {
  "auto", "multiplicative", "additive", "symmetric", "PCLineComposition", "PC_LINE_COMPOSITION_", nullptr};
const char *const PCLineOrderings[] = {"auto", "jacobi", "zebra", "PCLineOrdering", "PC_LINE_ORDERING_",
                                       nullptr};
const char *const PCLineStrengths[] = {"abs",  "sa", "negative", "PCLineStrength", "PC_LINE_STRENGTH_",
                                       nullptr};
const char *const PCLineSearches[]  = {"auto", "host", "rounds", "PCLineSearch", "PC_LINE_SEARCH_", nullptr};
const char *const PCLineLhsTypes[]  = {"auto",      "shared",       "classes", "per_line",
                                       "PCLineLhs", "PC_LINE_LHS_", nullptr};
const char *const PCLineCuts[]      = {"auto",  "exact",     "drop",         "local",
                                       "error", "PCLineCut", "PC_LINE_CUT_", nullptr};
const char *const PCLineProbes[]    = {"auto", "always", "never", "PCLineProbe", "PC_LINE_PROBE_", nullptr};
const char *const PCLineCutExchanges[] = {
  "auto", "every_rank", "dealt_out", "PCLineCutExchange", "PC_LINE_CUT_EXCHANGE_", nullptr};
const char *const PCLineAlgorithms[] = {"auto",
                                        "one_pass",
                                        "thomas",
                                        "pivoted",
                                        "partition",
                                        "tile_products",
                                        "factored_reduction",
                                        "cyclic_reduction",
                                        "parallel_cyclic_reduction",
                                        "cr_pcr",
                                        "toeplitz_cr",
                                        "PCLineAlgorithm",
                                        "PC_LINE_ALGORITHM_",
                                        nullptr};
const char *const PCLinePrecisions[] = {
  "same", "single", "single_unrefined", "PCLinePrecision", "PC_LINE_PRECISION_", nullptr};
const char *const PCLineShiftTypes[] = {"none",           "nonzero", "pin", "PCLineShiftType",
                                        "PC_LINE_SHIFT_", nullptr};

namespace ribbon::petsc {

namespace {

PC_Line *context(PC pc)
{
  return static_cast<PC_Line *>(pc->data);
}

/// Stores a new list of directions, and marks the PC for set-up. An invalid list is one error.
PetscErrorCode SetDirections(PC pc, PetscInt n, const PCLineDirection directions[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscFunctionBegin;
  PetscCheck(n > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "PCLineSetDirections, -pc_line_direction: the list is empty");
  for (PetscInt k = 0; k < n; ++k) {
    const PCLineDirection d = directions[k];
    PetscCheck(d >= PC_LINE_DIRECTION_AUTO && d <= PC_LINE_DIRECTION_MATRIX, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "PCLineSetDirections: %d is no PCLineDirection", (int)d);
    PetscCheck(
      n == 1 || (d >= PC_LINE_DIRECTION_X && d <= PC_LINE_DIRECTION_Z), comm, PETSC_ERR_ARG_OUTOFRANGE,
      "PCLineSetDirections, -pc_line_direction: %s stands alone, a list has x, y and z", PCLineDirections[d]);
    PetscCheck(std::find(directions, directions + k, d) == directions + k, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "PCLineSetDirections, -pc_line_direction: %s is in the list twice", PCLineDirections[d]);
  }
  PetscCall(Stored<PC, &PC_Line::directions, SetUpAgain>::set(pc, {directions, directions + n}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetDirections(PC pc, PetscInt *n, const PCLineDirection **directions)
{
  PetscFunctionBegin;
  if (n) *n = static_cast<PetscInt>(context(pc)->directions.size());
  if (directions) *directions = context(pc)->directions.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Composes index sets of the rows of lines with the PC, where LinesFromRows() looks for them.
PetscErrorCode SetRows(PC pc, IS rows, IS offsets)
{
  PetscFunctionBegin;
  PetscCheck(!rows || offsets, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL,
             "PCLineSetRows: rows without offsets");
  PetscCall(PetscObjectCompose((PetscObject)pc, "PCLine_rows", (PetscObject)rows));
  PetscCall(PetscObjectCompose((PetscObject)pc, "PCLine_offsets", (PetscObject)offsets));
  SetUpAgain(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetRows(PC pc, IS *rows, IS *offsets)
{
  PetscFunctionBegin;
  if (rows) PetscCall(PetscObjectQuery((PetscObject)pc, "PCLine_rows", (PetscObject *)rows));
  if (offsets) PetscCall(PetscObjectQuery((PetscObject)pc, "PCLine_offsets", (PetscObject *)offsets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetLabel(PC pc, const char *name)
{
  return Stored<PC, &PC_Line::label, SetUpAgain>::set(pc, name ? name : "");
}

PetscErrorCode GetLabel(PC pc, const char **name)
{
  PetscFunctionBegin;
  *name = context(pc)->label.empty() ? nullptr : context(pc)->label.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadLabel(PC pc, RibbonOptionItems PetscOptionsObject)
{
  const std::string &now = context(pc)->label;
  char               name[PETSC_MAX_PATH_LEN];
  PetscBool          set, none;
  PetscFunctionBegin;
  PetscCall(PetscOptionsString("-pc_line_label", "Label of a DMPLEX whose values mark lines",
                               "PCLineSetLabel", now.empty() ? "none" : now.c_str(), name, sizeof name,
                               &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(name, "none", &none));
  PetscCall(PCLineSetLabel(pc, none ? nullptr : name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The directions of a list that is separated by commas.
PetscErrorCode Parse(PC pc, const std::string &list, std::vector<PCLineDirection> *directions)
{
  PetscFunctionBegin;
  for (std::size_t begin = 0, end; begin <= list.size(); begin = end + 1) {
    PetscEnum choice;
    PetscBool found;
    end                    = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    PetscCall(PetscEnumFind(PCLineDirections, name.c_str(), &choice, &found));
    PetscCheck(found && !name.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_USER,
               "Unknown option %s for -%spc_line_direction. Available options: auto x y z rows matrix, or a "
               "list of x, y and z",
               name.empty() ? "(nothing)" : name.c_str(),
               ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
    directions->push_back(static_cast<PCLineDirection>(choice));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetInfo(PC pc, const char **direction, PetscInt *lines, PetscInt *rows, PetscInt *matrices,
                       PetscInt *half_bandwidth, PetscLogDouble *bytes)
{
  const PC_Line *line = context(pc);
  PetscFunctionBegin;
  PetscCheck(!line->requests.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PCLineGetInfo: call PCSetUp() first");
  std::int64_t sum_lines = 0, sum_matrices = 0;
  std::size_t  sum_bytes = 0;
  int          widest    = 0;
  for (const LineGroup &group : line->sweep.groups)
    for (const LineBatch &batch : group.batches)
      sum_lines += batch.request.direction.lines.lines(), sum_matrices += batch.facts.matrices,
        sum_bytes += batch.facts.bytes;
  for (const LineRequest &request : line->requests) widest = std::max(widest, request.half_bandwidth);
  if (direction) *direction = line->names.c_str();
  if (lines) *lines = static_cast<PetscInt>(sum_lines);
  if (rows) *rows = static_cast<PetscInt>(line->requests[0].direction.lines.rows);
  if (matrices) *matrices = static_cast<PetscInt>(sum_matrices);
  if (half_bandwidth) *half_bandwidth = widest;
  if (bytes) *bytes = static_cast<PetscLogDouble>(sum_bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetFactorInfo(PC pc, PetscReal *rcond, PetscInt *row, PetscReal *growth,
                             PetscReal *log_abs_det, PetscScalar *det_sign)
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
    *det_sign =
      PetscScalar(static_cast<PetscReal>(c.det_sign.real()), static_cast<PetscReal>(c.det_sign.imag()));
#else
    *det_sign = static_cast<PetscScalar>(c.det_sign.real());
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadDirections(PC pc, RibbonOptionItems PetscOptionsObject)
{
  char      list[128];
  PetscBool set;
  PetscFunctionBegin;
  PetscCall(PetscOptionsString(
    "-pc_line_direction",
    "Which couplings make the lines (choose one of) auto x y z rows matrix, or a list of x, y and z to sweep",
    "PCLineSetDirections", names_of(context(pc)->directions).c_str(), list, sizeof list, &set));
  if (set) {
    std::vector<PCLineDirection> directions;
    PetscCall(Parse(pc, list, &directions));
    PetscCall(PCLineSetDirections(pc, static_cast<PetscInt>(directions.size()), directions.data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadView(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PC_Line *line = context(pc);
  PetscFunctionBegin;
  PetscCall(PetscViewerDestroy(&line->viewer));
  PetscCall(PetscOptionsViewer("-pc_line_view",
                               "Every set-up says what lines it found, and what it made of them", "PCView",
                               &line->viewer, &line->format, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *NotPositive(PetscInt n)
{
  return n > 0 ? nullptr : "is not positive";
}

const char *Negative(PetscInt n)
{
  return n < 0 ? "is negative" : nullptr;
}

const char *NotBelowOne(PetscReal x)
{
  return x >= 0 && x < 1 ? nullptr : "is not in [0, 1)";
}

const char *NotBelowTwo(PetscReal x)
{
  return x >= 0 && x < 2 ? nullptr : "is not in [0, 2)";
}

/// Factors depend on every option.
template <auto member>
constexpr auto kept = stored<PC, member, SetUpAgain>;

constexpr auto pc_line_options = std::make_tuple(
  SpecialOption<PC>{ReadDirections},
  Option("-pc_line_composition", "How the solves along several directions are composed",
         "PCLineSetComposition", kept<&PC_Line::composition>, PCLineCompositions),
  Option("-pc_line_ordering", "All lines of a direction at once, or every second line and then the others",
         "PCLineSetOrdering", kept<&PC_Line::ordering>, PCLineOrderings),
  Option("-pc_line_strength", "Measure of couplings along matrix", "PCLineSetStrength",
         kept<&PC_Line::strength>, PCLineStrengths),
  Option("-pc_line_search", "Search for lines along matrix", "PCLineSetSearch", kept<&PC_Line::search>,
         PCLineSearches),
  SpecialOption<PC>{ReadLabel},
  Option("-pc_line_omega", "Damping of every solve (0: 1, or 0.8 or 0.6 where a multigrid level needs it)",
         "PCLineSetOmega", kept<&PC_Line::omega>, NotBelowTwo),
  Option("-pc_line_iterations", "Repeats of the whole", "PCLineSetIterations", kept<&PC_Line::iterations>,
         NotPositive),
  Option("-pc_line_lhs", "How many different matrices are kept", "PCLineSetLhs", kept<&PC_Line::lhs>,
         PCLineLhsTypes),
  Option("-pc_line_lhs_tol",
         "Lines whose entries agree to this times the largest of their row share a matrix (0: exactly)",
         "PCLineSetLhsTol", kept<&PC_Line::lhs_tol>, NotBelowOne),
  Option("-pc_line_cut", "How lines that span ranks are solved", "PCLineSetCut", kept<&PC_Line::cut>,
         PCLineCuts),
  Option("-pc_line_cut_exchange", "Who solves the reduced systems of lines that span ranks",
         "PCLineSetCutExchange", kept<&PC_Line::cut_exchange>, PCLineCutExchanges),
  Option("-pc_line_cut_transport", "How their messages travel between devices", "PCLineSetCutTransport",
         kept<&PC_Line::cut_transport>, RibbonTransports),
  Option("-pc_line_algorithm", "Kernel", "PCLineSetAlgorithm", kept<&PC_Line::algorithm>, PCLineAlgorithms),
  Option("-pc_line_switch_rows",
         "Equations of a line that are left where cr_pcr changes to parallel cyclic reduction (0: chosen)",
         "PCLineSetSwitchRows", kept<&PC_Line::switch_rows>, Negative),
  Option("-pc_line_precision",
         "What lines are factored and solved in: PETSc's precision, or single, "
         "whose solves are refined, or not",
         "PCLineSetPrecision", kept<&PC_Line::precision>, PCLinePrecisions),
  Option("-pc_line_probe",
         "How factors are judged: by what elimination proves, else by solves; by solves; "
         "by proofs and pivots alone",
         "PCLineSetProbe", kept<&PC_Line::probe>, PCLineProbes),
  Option("-pc_line_zeropivot", "A pivot this small relative to its row is zero (0: 100 machine epsilon)",
         "PCLineSetZeroPivot", kept<&PC_Line::zero_pivot>, NotBelowOne),
  Option("-pc_line_shift_type", "Treatment of singular lines", "PCLineSetShiftType",
         kept<&PC_Line::shift_type>, PCLineShiftTypes),
  Option("-pc_line_shift_amount",
         "First shift of nonzero, relative to the largest entry of a row (0: 100 machine epsilon)",
         "PCLineSetShiftAmount", kept<&PC_Line::shift>, NotBelowOne),
  SpecialOption<PC>{ReadView},
  Option("-pc_line_compare", "Compare every application with a serial reference", "PCLineSetCompare",
         kept<&PC_Line::compare>, NotABool));

} // namespace

std::string names_of(const std::vector<PCLineDirection> &directions)
{
  std::string names;
  for (PCLineDirection d : directions) names += (names.empty() ? "" : ",") + std::string(PCLineDirections[d]);
  return names;
}

PetscErrorCode ComposeLineOptions(PC pc, bool attach)
{
  const auto compose = [&](const char *name, auto function) {
    return PetscObjectComposeFunction((PetscObject)pc, name, attach ? function : nullptr);
  };
  PetscFunctionBegin;
  PetscCall(ComposeOptions(pc, pc_line_options, attach));
  PetscCall(compose("PCLineSetDirections_C", &SetDirections));
  PetscCall(compose("PCLineGetDirections_C", &GetDirections));
  PetscCall(compose("PCLineSetRows_C", &SetRows));
  PetscCall(compose("PCLineGetRows_C", &GetRows));
  PetscCall(compose("PCLineSetLabel_C", &SetLabel));
  PetscCall(compose("PCLineGetLabel_C", &GetLabel));
  PetscCall(compose("PCLineGetInfo_C", &GetInfo));
  PetscCall(compose("PCLineGetFactorInfo_C", &GetFactorInfo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetLineFromOptions(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "PC line options");
  PetscCall(ReadOptions(pc, pc_line_options, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// The public functions. On a PC of another type a Set does nothing, and a Get is an error.

using namespace ribbon::petsc;

RIBBON_OPTION(pc_line_options, PC, PCLine, Composition, PCLineComposition)
RIBBON_OPTION(pc_line_options, PC, PCLine, Ordering, PCLineOrdering)
RIBBON_OPTION(pc_line_options, PC, PCLine, Strength, PCLineStrength)
RIBBON_OPTION(pc_line_options, PC, PCLine, Search, PCLineSearch)
RIBBON_OPTION(pc_line_options, PC, PCLine, Omega, PetscReal)
RIBBON_OPTION(pc_line_options, PC, PCLine, Iterations, PetscInt)
RIBBON_OPTION(pc_line_options, PC, PCLine, Lhs, PCLineLhs)
RIBBON_OPTION(pc_line_options, PC, PCLine, LhsTol, PetscReal)
RIBBON_OPTION(pc_line_options, PC, PCLine, Cut, PCLineCut)
RIBBON_OPTION(pc_line_options, PC, PCLine, CutExchange, PCLineCutExchange)
RIBBON_OPTION(pc_line_options, PC, PCLine, CutTransport, RibbonTransport)
RIBBON_OPTION(pc_line_options, PC, PCLine, Algorithm, PCLineAlgorithm)
RIBBON_OPTION(pc_line_options, PC, PCLine, SwitchRows, PetscInt)
RIBBON_OPTION(pc_line_options, PC, PCLine, Precision, PCLinePrecision)
RIBBON_OPTION(pc_line_options, PC, PCLine, Probe, PCLineProbe)
RIBBON_OPTION(pc_line_options, PC, PCLine, ZeroPivot, PetscReal)
RIBBON_OPTION(pc_line_options, PC, PCLine, ShiftType, PCLineShiftType)
RIBBON_OPTION(pc_line_options, PC, PCLine, ShiftAmount, PetscReal)
RIBBON_OPTION(pc_line_options, PC, PCLine, Compare, PetscBool)

PetscErrorCode PCLineSetDirections(PC pc, PetscInt n, const PCLineDirection directions[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscCheck(n <= 0 || directions, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL,
             "PCLineSetDirections: %" PetscInt_FMT " directions, but the array is NULL", n);
  for (PetscInt k = 0; k < n; ++k) PetscValidLogicalCollectiveEnum(pc, directions[k], 3);
  PetscTryMethod(pc, "PCLineSetDirections_C", (PC, PetscInt, const PCLineDirection[]), (pc, n, directions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetDirections(PC pc, PetscInt *n, const PCLineDirection *directions[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetDirections_C", (PC, PetscInt *, const PCLineDirection **),
                 (pc, n, directions));
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

PetscErrorCode PCLineSetRows(PC pc, IS rows, IS offsets)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  if (rows) PetscValidHeaderSpecific(rows, IS_CLASSID, 2);
  if (offsets) PetscValidHeaderSpecific(offsets, IS_CLASSID, 3);
  PetscTryMethod(pc, "PCLineSetRows_C", (PC, IS, IS), (pc, rows, offsets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetRows(PC pc, IS *rows, IS *offsets)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetRows_C", (PC, IS *, IS *), (pc, rows, offsets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetLabel(PC pc, const char name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCLineSetLabel_C", (PC, const char *), (pc, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetLabel(PC pc, const char *name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetLabel_C", (PC, const char **), (pc, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetInfo(PC pc, const char **direction, PetscInt *lines, PetscInt *rows,
                             PetscInt *matrices, PetscInt *half_bandwidth, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetInfo_C",
                 (PC, const char **, PetscInt *, PetscInt *, PetscInt *, PetscInt *, PetscLogDouble *),
                 (pc, direction, lines, rows, matrices, half_bandwidth, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetFactorInfo(PC pc, PetscReal *rcond, PetscInt *row, PetscReal *growth,
                                   PetscReal *log_abs_det, PetscScalar *det_sign)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetFactorInfo_C",
                 (PC, PetscReal *, PetscInt *, PetscReal *, PetscReal *, PetscScalar *),
                 (pc, rcond, row, growth, log_abs_det, det_sign));
  PetscFunctionReturn(PETSC_SUCCESS);
}

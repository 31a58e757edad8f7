// SPDX-License-Identifier: BSD-2-Clause
#include "../support/format.hpp"
#include "pc.hpp"

#include "../support/csr.hpp"
#include "../support/session.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace ribbon::petsc {

namespace {

/// Elements whose components do not couple are so many scalar lines.
void SplitComponents(LineDirection *direction)
{
  // lines of a whole grid are one set
  static_cast<LineLayout &>(*direction) = split_components(*direction, direction->components)[0];
  for (auto &colour : direction->colours) {
    std::vector<LineLayout> all;
    for (const LineLayout &layout : colour)
      for (LineLayout &part : split_components(layout, direction->components)) all.push_back(std::move(part));
    colour = std::move(all);
  }
  direction->components = 1;
}

/// What the entries along a direction ask of its lines.
PetscErrorCode Request(const ChosenDirection &chosen, const LineSource &source, LineRequest *request)
{
  const LineCouplings &found = chosen.found;
  PetscFunctionBegin;
  request->direction = chosen.direction;
  if (!chosen.blocks) request->siblings = chosen.direction.components;
  if (request->siblings > 1) PetscCallCXX(SplitComponents(&request->direction));
  request->block          = chosen.block(source);
  request->half_bandwidth = std::max(1, found.half_bandwidth);
  request->periodic       = found.periodic;
  request->coupled        = found.across;
  request->outside        = chosen.outside;
  request->zero_sums      = found.zero_sums || source.kronecker || chosen.direction.chain;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Global row of row i of a local line.
long long global_row(PetscInt rbegin, const LineRequest &request, std::int64_t line, std::int64_t row)
{
  const LineDirection &d     = request.direction;
  const std::int64_t   place = d.lines(line, row < 0 ? 0 : row),
                     element = d.element ? (*d.element)[static_cast<std::size_t>(place)] : place;
  return static_cast<long long>(rbegin + element * d.components);
}

/// Pivots that are zero, that the limit calls zero, or none though the matrix is singular to rounding. The
/// option that sets the limit is named where it decides.
std::string zero_pivot(const LineRequest &request, const LineFacts &facts, const std::string &place,
                       const std::string &matrix)
{
  const FactorReport &r = facts.report;
  const double        unit =
    facts.rounded ? std::numeric_limits<float>::epsilon() : static_cast<double>(PETSC_MACHINE_EPSILON);
  const double      limit = request.solver.zero_pivot > 0 ? request.solver.zero_pivot : 100 * unit;
  const std::string shift = std::string("-pc_line_shift_type says what becomes of it") +
                            (facts.rounded ? ", -pc_line_precision same has more digits" : "");
  if (r.smallest_pivot == 0)
    return format("PC line: zero pivot in %s: it is exactly zero; %s", place.c_str(), shift.c_str());
  if (r.smallest_pivot <= limit)
    return format(
      "PC line: zero pivot in %s: its size is %.2g of the largest entry of the row, -pc_line_zeropivot "
      "sets the limit, which is %.2g; %s",
      place.c_str(), r.smallest_pivot, limit, shift.c_str());
  if (r.row < 0)
    return format("PC line: %s is singular to rounding: its reciprocal condition number is %.1e; %s",
                  matrix.c_str(), r.rcond, shift.c_str());
  const std::string rcond =
    std::isnan(r.rcond) ? "" : format(", and the reciprocal condition number %.1e", r.rcond);
  return format("PC line: %s is singular to rounding: the smallest pivot, in %s, is %.2g of the largest "
                "entry of its row%s; %s",
                matrix.c_str(), place.c_str(), r.smallest_pivot, rcond.c_str(), shift.c_str());
}

/// The line a report speaks of: of class c, the first one.
std::string describe(PetscInt rbegin, const LineRequest &request, const LineFacts &facts)
{
  const FactorReport &r     = facts.report;
  const auto          which = static_cast<long long>(r.line), row = static_cast<long long>(r.row);
  std::string         place, matrix;
  if (facts.whole) { // counted along the whole line
    place =
      format("row %lld of a line along %s that the partition cuts", row, request.direction.name.c_str());
    matrix = "the matrix of a line along " + request.direction.name + " that the partition cuts";
  } else {
    switch (facts.lhs) {
    case Lhs::shared:
      place  = format("row %lld of every line", row);
      matrix = "the matrix of all lines";
      break;
    case Lhs::classes:
      place  = format("row %lld of the lines of class %lld", row, which);
      matrix = format("the matrix of class %lld", which);
      break;
    case Lhs::per_line:
    case Lhs::shifted: // a matrix per line, too
      place  = format("row %lld (line %lld of its rank)", global_row(rbegin, request, r.line, r.row), which);
      matrix = format("line %lld (first row %lld)", which, global_row(rbegin, request, r.line, 0));
    }
  }
  switch (r.status) {
  case FactorStatus::zero_pivot:
    return zero_pivot(request, facts, place, matrix);
  case FactorStatus::not_finite:
    return format("PC line: %s has an entry or a pivot that is not a finite number", place.c_str());
  case FactorStatus::unsound:
    if (facts.below_range >= 0)
      return format(
        "PC line: -pc_line_precision single: %s lies below the range of float, which ends 1e38 times below "
        "the largest entry of all lines; -pc_line_precision same has a larger one",
        place.c_str());
    if (facts.refinements < 0)
      return format(
        "PC line: -pc_line_precision single: refinement of lines along %s stagnates, their condition "
        "number is too large for single precision; -pc_line_precision same has more digits",
        request.direction.name.c_str());
    return format("PC line: %s loses its digits in algorithm %s (backward error %.1e)%s", matrix.c_str(),
                  r.algorithm.c_str(), r.probe_error,
                  facts.rounded ? "; -pc_line_precision same has more digits" : "");
  case FactorStatus::ok:
    break;
  }
  return "";
}

/// Damping of solves that nobody gave one: Richardson's iteration with undamped line Jacobi does not smooth,
/// and a multigrid level is there to smooth. Collective.
PetscErrorCode DefaultOmega(PC pc, const PC_Line *line, PetscReal *omega)
{
  // couplings that are left out of solves without damping of their own, largest half-bandwidth
  int found[2] = {0, 0};
  PetscFunctionBegin;
  *omega = 1;
  if (!IsOnLevel(pc) || (line->composed == PC_LINE_COMPOSITION_ADDITIVE && line->requests.size() > 1))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (const LineRequest &request : line->requests) {
    if (request.direction.colours.empty() && request.coupled) found[0] = 1;
    found[1] = PetscMax(found[1], request.half_bandwidth);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (found[0]) *omega = static_cast<PetscReal>(found[1] > 1 ? 0.6 : 0.8);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether singular lines are solved with zero mean: because it was asked for, or because a null space says
/// that the constants do not matter. Collective.
PetscErrorCode DecidePin(PC pc, PC_Line *line)
{
  PetscFunctionBegin;
  if (line->shift_type == PC_LINE_SHIFT_PIN) line->pinned = "asked for";
  if (line->shift_type != PC_LINE_SHIFT_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (line->given) PetscFunctionReturn(PETSC_SUCCESS); // whose null space nobody knows
  for (Mat A : {pc->pmat, pc->mat}) {
    MatNullSpace space = nullptr;
    Vec          ones;
    PetscReal    norm;
    PetscInt     n;
    if (A && line->pinned.empty()) PetscCall(MatGetNullSpace(A, &space));
    if (!space) continue;
    PetscCall(MatCreateVecs(pc->pmat, &ones, nullptr));
    PetscCall(VecGetSize(ones, &n));
    PetscCall(VecSet(ones, 1));
    PetscCall(MatNullSpaceRemove(space, ones));
    PetscCall(VecNorm(ones, NORM_2, &norm));
    PetscCall(VecDestroy(&ones));
    if (norm <= PETSC_SQRT_MACHINE_EPSILON * PetscSqrtReal(static_cast<PetscReal>(n)))
      line->pinned = A == pc->pmat ? "the null space of Pmat has the constants"
                                   : "the null space of Amat has the constants";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lines of A whose components in I x S + A x T are one set of lines: these, or a set for each
/// value of their second index.
std::vector<LineLayout> one_set_with_components(const LineLayout &layout, const LineSource &source)
{
  if (source.factors.coupled || split_components(layout.lines, source.factors.p).size() == 1) return {layout};
  std::vector<LineLayout> sets(static_cast<std::size_t>(layout.lines.count1), layout);
  for (std::size_t k = 0; k < sets.size(); ++k)
    sets[k].lines.offset += static_cast<std::int64_t>(k) * layout.lines.stride1, sets[k].lines.count1 = 1;
  return sets;
}

/// The groups of every direction, not yet factored.
void Divide(PC_Line *line, const LineSource &source)
{
  LineSweep &sweep = line->sweep;
  for (std::size_t d = 0; d < line->requests.size(); ++d) {
    const LineDirection                       &direction = line->requests[d].direction;
    const std::vector<std::vector<LineLayout>> all       = {{direction}};
    for (const auto &layouts : direction.colours.empty() ? all : direction.colours) {
      LineGroup group;
      group.direction = d, group.all_rows = direction.colours.empty();
      for (const LineLayout &layout : layouts)
        for (const LineLayout &part : one_set_with_components(layout, source)) {
          LineBatch batch;
          batch.request                                      = line->requests[d];
          static_cast<LineLayout &>(batch.request.direction) = part;
          batch.request.direction.colours.clear(); // every batch has its own lines
          group.batches.push_back(std::move(batch));
        }
      sweep.groups.push_back(std::move(group));
    }
  }
  sweep.iterations = line->iterations;
}

/// The sequences that groups are solved in. A symmetric one goes there with the colours of each
/// direction backwards, so that it ends with the last colour of the first direction: on multigrid levels
/// zebra ordering smooths so as it does in one sweep (snes/tutorials/ex5: 16 iterations, 20 where it
/// ends with the first colour).
std::vector<std::vector<int>> sequences_of(const LineSweep &sweep, PCLineComposition composition, bool twice)
{
  std::vector<std::vector<int>> of_direction;
  std::vector<int>              there;
  for (std::size_t g = 0; g < sweep.groups.size(); ++g) {
    of_direction.resize(sweep.groups[g].direction + 1);
    of_direction.back().push_back(static_cast<int>(g));
  }
  if (composition == PC_LINE_COMPOSITION_ADDITIVE) return of_direction;
  for (const std::vector<int> &colours : of_direction) {
    if (composition == PC_LINE_COMPOSITION_SYMMETRIC)
      there.insert(there.end(), colours.rbegin(), colours.rend());
    else there.insert(there.end(), colours.begin(), colours.end());
  }
  const std::vector<int> back(there.rbegin() + (there.empty() ? 0 : 1), there.rend());
  if (composition == PC_LINE_COMPOSITION_SYMMETRIC) there.insert(there.end(), back.begin(), back.end());
  if (twice) { // a symmetric one ends with the group that it begins with
    const std::vector<int> again(there.begin() + (composition == PC_LINE_COMPOSITION_SYMMETRIC ? 1 : 0),
                                 there.end());
    there.insert(there.end(), again.begin(), again.end());
  }
  return {there};
}

/// What auto stands for. Symmetric, since nobody tells a PC whether a method that needs that stands around
/// its KSP; and definite: wide lines overshoot where all of a direction are solved at once, and are averaged,
/// as are directions of which each is strong elsewhere. Collective.
PetscErrorCode AutoComposition(PC pc, const PC_Line *line, PCLineComposition *composed)
{
  int wide = 0;
  PetscFunctionBegin;
  *composed = PC_LINE_COMPOSITION_SYMMETRIC;
  if (line->ordered == PC_LINE_ORDERING_ZEBRA) PetscFunctionReturn(PETSC_SUCCESS);
  for (const LineRequest &request : line->requests) wide = wide || request.half_bandwidth > 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wide, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  const bool elsewhere = line->directions[0] == PC_LINE_DIRECTION_AUTO && !line->equal;
  // there is nothing to compose
  if (line->requests.size() == 1) *composed = PC_LINE_COMPOSITION_MULTIPLICATIVE;
  else if (wide || elsewhere) *composed = PC_LINE_COMPOSITION_ADDITIVE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Makes the sequences. Where auto pays for symmetry, a KSP that takes any preconditioner, and that this PC
/// can see, has it multiplicative (PreSolveLine()).
void Compose(PC_Line *line)
{
  LineSweep &sweep = line->sweep;
  const bool pays  = line->ordered == PC_LINE_ORDERING_ZEBRA ||
                    (line->directions.size() > 1 && line->composed == PC_LINE_COMPOSITION_ADDITIVE);
  sweep.sequences = sequences_of(sweep, line->composed, IsSweptTwice(line));
  line->one_way.clear();
  if (line->composition == PC_LINE_COMPOSITION_AUTO && pays)
    line->one_way = sequences_of(sweep, PC_LINE_COMPOSITION_MULTIPLICATIVE, IsSweptTwice(line));
}

/// Extracts and factors the lines of one set. What is wrong with them goes to the PC, what is wrong
/// with the options to `error`.
PetscErrorCode Build(PC_Line *line, const LineSource &source, PetscInt rbegin, bool on_device,
                     LineBatch *batch, std::string *error)
{
  const LineRequest &request = batch->request;
  LineFacts         &facts   = batch->facts;
  PetscFunctionBegin;
  PetscCallCXX(batch->op = LineOperator::create(on_device, line->precision));
  PetscCall(batch->op->build(source, request, &facts));
  if (Differ(request, facts))
    *error =
      format("PC line: -pc_line_lhs shared, but lines %lld and %lld (first rows %lld and %lld) differ; use "
             "auto, classes or per_line",
             static_cast<long long>(facts.first), static_cast<long long>(facts.different),
             global_row(rbegin, request, facts.first, 0), global_row(rbegin, request, facts.different, 0));
  if (!facts.refusal.empty())
    *error =
      format("PC line: -pc_line_algorithm %s: %s", PCLineAlgorithms[line->algorithm], facts.refusal.c_str());
  if (!facts.report.ok() && line->failure.empty()) {
    line->failure = describe(rbegin, request, facts), line->status = facts.report.status;
    if (request.block > 1 && !line->pinned.empty()) line->failure += "; lines of blocks are not pinned";
  }
  if (line->compare)
    PetscCall(LineReference::create(source, rbegin, request, facts.shift, &batch->reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether lines of direction d cannot be solved on some rank. Collective.
PetscErrorCode Fails(MPI_Comm comm, const LineSweep &sweep, std::size_t d, bool *fails)
{
  int found = 0;
  PetscFunctionBegin;
  for (const LineGroup &group : sweep.groups)
    for (const LineBatch &batch : group.batches) {
      const LineFacts &facts = batch.facts;
      if (group.direction == d &&
          (!facts.report.ok() || !facts.refusal.empty() || Differ(batch.request, facts)))
        found = 1;
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MAX, comm));
  *fails = found != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes away directions after the first one whose lines cannot be solved, and what was built. Collective.
PetscErrorCode DropFailing(MPI_Comm comm, PC_Line *line, bool *dropped)
{
  PetscFunctionBegin;
  *dropped = false;
  for (std::size_t d = line->requests.size() - 1; d > 0; --d) {
    bool fails = false;
    PetscCall(Fails(comm, line->sweep, d, &fails));
    if (!fails) continue;
    line->why += ", but lines along " + line->requests[d].direction.name + " cannot be solved";
    line->requests.erase(line->requests.begin() + static_cast<std::ptrdiff_t>(d));
    *dropped = true;
  }
  if (*dropped) PetscCall(line->sweep.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetUp(PC pc, PC_Line *line, const LineSource &source)
{
  const MPI_Comm comm    = PetscObjectComm((PetscObject)pc);
  const bool     is_auto = line->directions[0] == PC_LINE_DIRECTION_AUTO;
  bool           on_device;
  PetscInt       rbegin;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCall(BlockIsOnDevice(source.block, &on_device));
  std::unique_ptr<LineOperator> reader;
  std::vector<ChosenDirection>  directions;
  PetscCallCXX(reader = LineOperator::create(on_device));
  PetscCall(Logged(&Events::detect, [&] {
    PetscFunctionBegin;
    PetscCall(ChooseDirections(pc, line, *reader, source, &directions));
    PetscCall(DecidePin(pc, line));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  for (const ChosenDirection &chosen : directions) {
    const LineDirection &d     = chosen.direction;
    const auto           count = static_cast<long long>(d.lines_cut);
    std::string          refusal; // ranks may know grids of their own
    if (line->cut == PC_LINE_CUT_ERROR && d.lines_cut != 0)
      refusal = format(
        "PC line: the partition cuts %lld lines along %s among %d ranks; %s, or use -pc_line_cut local",
        count, d.name.c_str(), static_cast<int>(d.processes),
        d.name == "rows" ? "give each rank whole lines"
                         : format("use -da_processors_%s 1", d.name.c_str()).c_str());
    if ((line->cut == PC_LINE_CUT_EXACT || line->cut == PC_LINE_CUT_DROP) && d.lines_cut != 0 &&
        !d.place.joinable)
      refusal = format("PC line: the partition cuts %lld lines along %s, and the %s does not tell which "
                       "pieces belong together; give the matrix a DMDA, or use -pc_line_cut local",
                       count, d.name.c_str(), line->source.c_str());
    PetscCall(CollectiveError(comm, PETSC_ERR_SUP, refusal));
    LineRequest request;
    PetscCall(Request(chosen, source, &request));
    // a failure, not an error
    if (chosen.found.not_finite >= 0)
      line->failure = format("PC line: row %lld has an entry that is not a finite number",
                             static_cast<long long>(rbegin + chosen.found.not_finite));
    request.lhs               = line->lhs;
    request.cut               = {line->cut, line->cut_exchange};
    request.solver.algorithm  = PCLineAlgorithms[line->algorithm];
    request.solver.probe      = PCLineProbes[line->probe];
    request.solver.zero_pivot = static_cast<double>(line->zero_pivot);
    request.lhs_tol           = static_cast<double>(line->lhs_tol);
    if (line->shift_type == PC_LINE_SHIFT_NONZERO)
      request.shift = static_cast<double>(line->shift > 0 ? line->shift : 100 * PETSC_MACHINE_EPSILON);
    // a look at every matrix, so not without need
    if (!line->pinned.empty() && request.zero_sums && request.block == 1)
      request.solver.singular = "zero_mean";
    line->requests.push_back(request);
  }
  int number = static_cast<int>(FactorStatus::not_finite);
  PetscCall(AgreeOnSentence(comm, &line->failure, &number)); // what follows is done by all ranks, or by none
  const std::string not_finite = line->failure;
  line->not_finite             = !not_finite.empty();
  std::string error;
  for (bool again = true; again;) {
    const bool found = is_auto && line->requests.size() > 1;
    PetscReal  omega = line->omega;
    again            = false;
    error.clear(), line->failure = not_finite;
    line->composed = line->composition;
    if (line->composition == PC_LINE_COMPOSITION_AUTO) PetscCall(AutoComposition(pc, line, &line->composed));
    if (omega == 0) PetscCall(DefaultOmega(pc, line, &omega));
    for (LineRequest &request : line->requests) request.omega = omega, request.not_finite = line->not_finite;
    line->sweep.omega = omega;
    PetscCallCXX(Divide(line, source));
    PetscCallCXX(Compose(line));
    line->status = not_finite.empty() ? FactorStatus::ok : FactorStatus::not_finite;
    for (LineGroup &group : line->sweep.groups)
      for (LineBatch &batch : group.batches)
        PetscCall(
          Build(line, source, rbegin, on_device, &batch, &error)); // next to an entry that is not finite, too
    if (found) PetscCall(DropFailing(comm, line, &again));         // nobody asked for them
  }
  for (const LineRequest &request : line->requests)
    line->names += (line->names.empty() ? "" : ",") + request.direction.name;
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_INCOMP, error));
  PetscCall(line->sweep.allocate(pc->pmat, line->one_way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds to the sentence of a zero pivot what is wrong with a matrix that has zeros on its diagonal: nothing
/// says that lines of saddle points are regular. Collective.
PetscErrorCode ExplainZeroDiagonals(PC pc, PC_Line *line)
{
  Vec                diagonal;
  PetscInt           rows, begin;
  PetscInt64         found[2] = {0, PETSC_MAX_INT}; // how many, the first
  PetscBool          has;
  const PetscScalar *d;
  PetscFunctionBegin;
  PetscCall(MatHasOperation(pc->pmat, MATOP_GET_DIAGONAL, &has));
  if (!has || line->watched || line->given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(pc->pmat, nullptr, &diagonal));
  PetscCall(MatGetDiagonal(pc->pmat, diagonal));
  PetscCall(VecGetOwnershipRange(diagonal, &begin, nullptr));
  PetscCall(VecGetLocalSize(diagonal, &rows));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt r = rows; r-- > 0;)
    if (d[r] == PetscScalar(0)) ++found[0], found[1] = begin + r;
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(VecDestroy(&diagonal));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, found + 1, 1, MPIU_INT64, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if (found[0] > 0)
    line->failure +=
      format("; %lld rows have a zero on the diagonal, row %lld first: lines of a saddle point may be "
             "singular though "
             "it is not, use PCFIELDSPLIT, or -pc_type lu -pc_factor_mat_solver_type multifrontal",
             static_cast<long long>(found[0]), static_cast<long long>(found[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Tells PETSc of a failed factorization, the same on all ranks.
PetscErrorCode ReportFailure(PC pc, PC_Line *line)
{
  const MPI_Comm comm   = PetscObjectComm((PetscObject)pc);
  int            status = static_cast<int>(line->status);
  PetscFunctionBegin;
  PetscCall(AgreeOnSentence(comm, &line->failure, &status)); // rank 0 shows it, whichever rank has the lines
  line->status    = static_cast<FactorStatus>(status);
  line->some      = !line->failure.empty() && line->sweep.is_one_solve();
  const bool zero = line->status == FactorStatus::zero_pivot;
  PetscCall(PCSetFailedReason(pc, line->failure.empty() ? PC_NOERROR
                                  : zero                ? PC_FACTOR_NUMERIC_ZEROPIVOT
                                                        : PC_FACTOR_OTHER));
  if (line->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (zero) PetscCall(ExplainZeroDiagonals(pc, line));
  PetscCall(PetscInfo(pc, "%s\n", line->failure.c_str()));
  // SNES and TS say no more than that a linear solve failed; an entry that is not finite is
  // an error of the application
  if (line->not_finite && !pc->erroriffailure)
    PetscCall(WarnOnce(comm, option_of(pc, "pc_line") + " not finite", line->failure));
  PetscCheck(!pc->erroriffailure, comm, zero ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP, "%s",
             line->failure.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether lines are factored as they are in the matrix, and whether one solve is the inverse of it, to the
/// digits of the factors; on all ranks. Collective.
PetscErrorCode Describe(PC pc, PC_Line *line)
{
  const bool one_solve =
    line->sweep.sequences.size() == 1 && line->sweep.sequences[0].size() == 1 && line->requests[0].omega == 1;
  int found[3] = {line->lhs_tol > 0 || line->watched || line->precision != PC_LINE_PRECISION_SAME,
                  line->lhs_tol > 0 || line->requests[0].coupled, line->requests[0].coupled};
  PetscFunctionBegin;
  for (const LineGroup &group : line->sweep.groups)
    for (const LineBatch &batch : group.batches) {
      const LineFacts &facts = batch.facts;
      if (facts.shift > 0 || facts.report.singular_lines > 0) found[0] = found[1] = 1;
      if (!facts.exact) found[1] = 1;
      if (!facts.joined.empty() && !facts.exact) found[0] = 1;
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 3, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  line->plain    = found[0] == 0;
  line->direct   = found[1] == 0 && one_solve;
  line->left_out = found[2] != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

bool IsOnLevel(PC pc)
{
  const char *prefix = ((PetscObject)pc)->prefix;
  return prefix && std::strstr(prefix, "mg_levels_");
}

PetscErrorCode LinesAreWhole(PC pc, bool *whole)
{
  const auto *line = static_cast<const PC_Line *>(pc->data);
  int         found;
  PetscFunctionBegin;
  found = !line->requests.empty() && line->failure.empty();
  for (const LineRequest &request : line->requests)
    found = found && (request.direction.lines_cut == 0 || request.direction.place.joinable);
  for (const LineGroup &group : line->sweep.groups)
    for (const LineBatch &batch : group.batches) found = found && batch.facts.exact;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  *whole = found != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 NextSetUp()
{
  static PetscInt64 set_ups = 0;
  return ++set_ups;
}

PetscErrorCode SetUpLine(PC pc, PC_Line *line)
{
  LineSource source;
  PetscInt   rows, columns, m, n;
  PetscFunctionBegin;
  PetscCall(EnsureKokkos());
  line->set_up = NextSetUp();
  PetscCheck(line->precision == PC_LINE_PRECISION_SAME || std::is_floating_point_v<Scalar>,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC line: -pc_line_precision single: complex lines have no single precision");
  PetscCheck(line->precision == PC_LINE_PRECISION_SAME || !LineOperator::lacks_single(),
             PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC line: -pc_line_precision single: this libribbon was built without single precision; build "
             "it again after "
             "cmake -DRIBBON_SINGLE=ON <its build folder>");
  PetscCall(MatGetSize(pc->pmat, &rows, &columns));
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCheck(rows == columns, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "PC line: the matrix is not square: %" PetscInt_FMT " x %" PetscInt_FMT, rows, columns);
  PetscCall(CollectiveError(
    PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
    m == n ? "" : format("PC line: a rank owns %lld rows but %lld columns", (long long)m, (long long)n)));
  PetscErrorCode ierr = GetLineSource(pc->pmat, &source, JoinsPieces(line));
  source.given        = line->given;
  if (!ierr) ierr = SetUp(pc, line, source);
  PetscCall(RestoreLineSource(&source));
  PetscCall(ierr);
  if (source.kronecker) { // its state does not follow that of A
    PetscCall(PetscObjectReference((PetscObject)source.rows));
    line->watched = source.rows;
    PetscCall(PetscObjectStateGet((PetscObject)source.rows, &line->watched_state));
  }
  PetscCall(ReportFailure(pc, line));
  PetscCall(Describe(pc, line));
  if (line->plain && line->failure.empty()) PetscCall(line->sweep.keep(pc->pmat));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &line->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

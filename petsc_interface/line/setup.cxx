// SPDX-License-Identifier: BSD-2-Clause
#include "composition.hpp"
#include "failures.hpp"
#include "moved_lines.hpp"

#include "../support/csr.hpp"
#include "../support/format.hpp"
#include "../support/session.hpp"

#include <cstring>

namespace ribbon::petsc {

namespace {

/// Divides elements whose components do not couple into scalar lines, one set for each component.
void SplitComponents(LineDirection *direction)
{
  // the lines of a whole grid are one set
  static_cast<LineLayout &>(*direction) = split_components(*direction, direction->components)[0];
  for (auto &colour : direction->colours) {
    std::vector<LineLayout> all;
    for (const LineLayout &layout : colour)
      for (LineLayout &part : split_components(layout, direction->components)) all.push_back(std::move(part));
    colour = std::move(all);
  }
  direction->components = 1;
}

/// Fills the request for the lines of a direction according to its entries.
PetscErrorCode Request(const ChosenDirection &chosen, const LineSource &source, LineRequest *request)
{
  const LineCouplings &found = chosen.found;
  PetscFunctionBegin;
  request->direction        = chosen.direction;
  request->direction.lumped = chosen.direction.lumped && found.too_far_row >= 0;
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

/// Whether singular lines are solved with zero mean: because an option requests it, or because a null space
/// contains the constants. Collective.
PetscErrorCode DecidePin(PC pc, PC_Line *line)
{
  PetscFunctionBegin;
  if (line->shift_type == PC_LINE_SHIFT_PIN) line->pinned = "asked for";
  if (line->shift_type != PC_LINE_SHIFT_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (line->given) PetscFunctionReturn(PETSC_SUCCESS); // given bands have no matrix, and so no null space
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

/// Extracts and factors the lines of one set. Failures of the lines go to the PC, contradictions to the
/// options go to `error`.
PetscErrorCode Build(PC_Line *line, const LineSource &source, PetscInt rbegin, bool on_device,
                     LineBatch *batch, std::string *error)
{
  const LineRequest &request = batch->request;
  LineFacts         &facts   = batch->facts;
  PetscFunctionBegin;
  PetscCallCXX(batch->op = LineOperator::create(on_device, line->precision));
  if (request.direction.moved) PetscCallCXX(batch->op = move_lines(std::move(batch->op)));
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
    line->failure = describe_failure(rbegin, request, facts), line->status = facts.report.status;
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

/// Removes directions after the first one whose lines cannot be solved, and their factors. Collective.
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

/// Whether the option -pc_line_cut takes lines of this direction: one error on all ranks where it does not.
PetscErrorCode CheckCut(MPI_Comm comm, const PC_Line *line, const LineDirection &d)
{
  const auto  count = static_cast<long long>(d.lines_cut);
  std::string refusal; // ranks may find different grids
  PetscFunctionBegin;
  if (line->cut == PC_LINE_CUT_ERROR && d.lines_cut != 0)
    refusal = format("PC line: lines span ranks: %lld along %s, %d ranks; %s, or use -pc_line_cut local",
                     count, d.name.c_str(), static_cast<int>(d.processes),
                     d.consecutive ? "give each rank whole lines"
                                   : format("use -da_processors_%s 1", d.name.c_str()).c_str());
  if ((line->cut == PC_LINE_CUT_EXACT || line->cut == PC_LINE_CUT_DROP) && d.lines_cut != 0 &&
      !d.place.joinable && !d.moved)
    refusal = format("PC line: lines span ranks: %lld along %s, and the %s does not tell which "
                     "sub-lines belong together; give the matrix a DMDA, or use -pc_line_cut local",
                     count, d.name.c_str(), line->source.c_str());
  PetscCall(CollectiveError(comm, PETSC_ERR_SUP, refusal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The options of the PC for the lines of one direction.
void set_options(const PC_Line *line, LineRequest *request)
{
  request->lhs                = line->lhs;
  request->cut                = {line->cut, line->cut_exchange, line->cut_transport};
  request->solver.algorithm   = PCLineAlgorithms[line->algorithm];
  request->solver.probe       = PCLineProbes[line->probe];
  request->solver.switch_rows = static_cast<int>(PetscMin(line->switch_rows, PETSC_MPI_INT_MAX));
  request->solver.zero_pivot  = static_cast<double>(line->zero_pivot);
  request->lhs_tol            = static_cast<double>(line->lhs_tol);
  if (line->shift_type == PC_LINE_SHIFT_NONZERO)
    request->shift = static_cast<double>(line->shift > 0 ? line->shift : 100 * PETSC_MACHINE_EPSILON);
  // a search of every matrix, so only if it is needed
  if (!line->pinned.empty() && request->zero_sums && request->block == 1)
    request->zero_mean = true, request->solver.singular = "zero_mean";
}

/// Factors the lines of all directions. Directions that `auto` chose and that fail are dropped, and the rest
/// is factored again. `error` is a sentence of this rank. Collective.
PetscErrorCode BuildSweep(PC pc, PC_Line *line, const LineSource &source, bool on_device, std::string *error)
{
  const bool        is_auto    = line->directions[0] == PC_LINE_DIRECTION_AUTO;
  const std::string not_finite = line->failure;
  PetscInt          rbegin;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  line->not_finite = !not_finite.empty();
  for (bool again = true; again;) {
    const bool found = is_auto && line->requests.size() > 1;
    PetscReal  omega = line->omega;
    again            = false;
    error->clear(), line->failure = not_finite;
    line->composed = line->composition;
    if (line->composition == PC_LINE_COMPOSITION_AUTO) PetscCall(AutoComposition(pc, line, &line->composed));
    if (omega == 0) PetscCall(DefaultOmega(pc, line, &omega));
    for (LineRequest &request : line->requests) request.omega = omega, request.not_finite = line->not_finite;
    line->sweep.omega = omega;
    PetscCallCXX(DivideIntoGroups(line, source));
    PetscCallCXX(ComposeSweep(line));
    line->status = not_finite.empty() ? FactorStatus::ok : FactorStatus::not_finite;
    for (LineGroup &group : line->sweep.groups)
      for (LineBatch &batch : group.batches)
        PetscCall(Build(line, source, rbegin, on_device, &batch, error)); // even if an entry is not finite
    if (found) PetscCall(DropFailing(PetscObjectComm((PetscObject)pc), line, &again));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetUp(PC pc, PC_Line *line, const LineSource &source)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
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
    LineRequest request;
    PetscCall(CheckCut(comm, line, chosen.direction));
    PetscCall(Request(chosen, source, &request));
    // a failure, not an error
    if (chosen.found.not_finite >= 0)
      line->failure =
        format("PC line: row %lld has an entry that is not a finite number",
               static_cast<long long>(chosen.direction.global_row(rbegin, chosen.found.not_finite)));
    set_options(line, &request);
    line->requests.push_back(request);
  }
  int number = static_cast<int>(FactorStatus::not_finite);
  PetscCall(AgreeOnSentence(comm, &line->failure, &number)); // all ranks continue, or none does
  std::string error;
  PetscCall(BuildSweep(pc, line, source, on_device, &error));
  for (const LineRequest &request : line->requests)
    if (request.direction.moved) PetscCall(request.direction.moved->ForgetBlock());
  for (const LineRequest &request : line->requests)
    line->names += (line->names.empty() ? "" : ",") + request.direction.name;
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_INCOMP, error));
  PetscCall(line->sweep.allocate(pc->pmat, line->one_way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Determines on all ranks whether lines are factored with the entries of the matrix, and whether one solve
/// is its inverse, to the accuracy of the factors. Collective.
PetscErrorCode Describe(PC pc, PC_Line *line)
{
  const bool one_solve =
    line->sweep.sequences.size() == 1 && line->sweep.sequences[0].size() == 1 && line->requests[0].omega == 1;
  int found[3] = {line->lhs_tol > 0 || line->watched || line->precision != PC_LINE_PRECISION_SAME,
                  line->lhs_tol > 0 || line->requests[0].coupled, line->requests[0].coupled};
  PetscFunctionBegin;
  for (const LineRequest &request : line->requests) // vectors have other rows than lines
    if (request.direction.moved) found[0] = found[1] = 1;
  for (const LineGroup &group : line->sweep.groups)
    for (const LineBatch &batch : group.batches) {
      const LineFacts &facts = batch.facts;
      if (facts.shift > 0 || facts.lumped > 0 || facts.report.singular_lines > 0) found[0] = found[1] = 1;
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
    found = found &&
            (request.direction.lines_cut == 0 || request.direction.place.joinable || request.direction.moved);
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
  PetscCheck(line->switch_rows == 0 || line->algorithm == PC_LINE_ALGORITHM_CR_PCR,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "PC line: -pc_line_switch_rows %" PetscInt_FMT
             ": -pc_line_algorithm %s has no switch; use cr_pcr",
             line->switch_rows, PCLineAlgorithms[line->algorithm]);
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
  if (source.kronecker) { // the state of Pmat does not change with A
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

// SPDX-License-Identifier: BSD-2-Clause
#include "line.hpp"

#include "../session.hpp"

#include <cstdarg>
#include <cstdio>

namespace ribbon::petsc {

namespace {

std::string format(const char *what, ...)
{
  char    text[512];
  va_list arguments;
  va_start(arguments, what);
  std::vsnprintf(text, sizeof text, what, arguments);
  va_end(arguments);
  return text;
}

/// The rows of a matrix that this rank owns, as a sequential AIJ matrix: borrowed from it, or converted.
struct LocalBlock {
  Mat mat = nullptr, converted = nullptr;
};

PetscErrorCode GetLocalBlock(Mat pmat, LocalBlock *block)
{
  PetscBool   has_block, is_aij;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pmat), &size));
  PetscCall(MatHasOperation(pmat, MATOP_GET_DIAGONAL_BLOCK, &has_block));
  PetscCheck(has_block || size == 1, PetscObjectComm((PetscObject)pmat), PETSC_ERR_SUP, "PC line: a matrix of type %s hands out no local block; use an assembled AIJ matrix for Pmat", ((PetscObject)pmat)->type_name);
  if (has_block) PetscCall(MatGetDiagonalBlock(pmat, &block->mat));
  else block->mat = pmat;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)block->mat, &is_aij, MATSEQAIJ, MATSEQAIJCUSPARSE, MATSEQAIJKOKKOS, ""));
  if (!is_aij) {
    PetscBool assembled;
    PetscCall(MatHasOperation(block->mat, MATOP_GET_ROW, &assembled));
    PetscCheck(assembled, PetscObjectComm((PetscObject)pmat), PETSC_ERR_SUP, "PC line: a matrix of type %s stores no rows; use an assembled AIJ matrix for Pmat", ((PetscObject)pmat)->type_name);
    PetscCall(MatConvert(block->mat, MATSEQAIJ, MAT_INITIAL_MATRIX, &block->converted));
    block->mat = block->converted;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Directions that may be asked for, or one error that says why there are none.
PetscErrorCode FindLines(PC pc, PC_Line *line, Mat block, LineMap *map)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const char    *name = PCLineDirections[line->direction];
  PetscFunctionBegin;
  if (line->direction == PC_LINE_DIRECTION_ROWS) {
    PetscCall(LinesFromPattern(pc->pmat, block, false, map));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LinesFromDM(pc, pc->pmat, map));
  if (line->direction == PC_LINE_DIRECTION_AUTO) {
    const std::string no_dm = map->why_not;
    if (map->directions.empty()) PetscCall(LinesFromPattern(pc->pmat, block, true, map));
    PetscCheck(!map->directions.empty(), comm, PETSC_ERR_SUP,
               "PC line: the matrix has no lines: %s, and %s; give the PC a DMDA with dof 1 that fits (PCSetDM), or take the couplings of consecutive rows alone with -pc_line_direction rows", no_dm.c_str(),
               map->why_not.c_str());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!map->directions.empty(), comm, PETSC_ERR_SUP, "PC line: -pc_line_direction %s needs a DMDA, but %s; use auto or rows", name, map->why_not.c_str());
  const auto d = static_cast<std::size_t>(line->direction - PC_LINE_DIRECTION_X);
  PetscCheck(d < map->directions.size(), comm, PETSC_ERR_ARG_OUTOFRANGE, "PC line: -pc_line_direction %s: the grid has %d dimension%s", name, (int)map->directions.size(), map->directions.size() == 1 ? "" : "s");
  map->directions = {map->directions[d]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the direction with the largest median strength of coupling over all ranks, ties to the smallest stride.
PetscErrorCode Choose(PC pc, PC_Line *line, LineOperator &op, Mat block, const LineMap &map, LineDirection *chosen)
{
  int best = -1, best_bin = -1;
  PetscFunctionBegin;
  line->source = map.source;
  *chosen      = map.directions[0];
  if (map.directions.size() == 1) {
    line->why = line->direction == PC_LINE_DIRECTION_AUTO ? "the only one" : "asked for";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  line->why = "largest median of sum |a_ij|/|a_ii|:";
  for (std::size_t d = 0; d < map.directions.size(); ++d) {
    std::vector<PetscInt> votes, all(strength_bins, 0);
    PetscCall(op.histogram(block, map.directions[d], &votes));
    PetscCallMPI(MPI_Allreduce(votes.data(), all.data(), strength_bins, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc)));
    const int bin = median_bin(std::vector<std::int64_t>(all.begin(), all.end()));
    line->why += format(" %s %.2g", map.directions[d].name.c_str(), bin <= 0 ? 0.0 : strength_of_bin(bin));
    if (bin > best_bin) best_bin = bin, best = static_cast<int>(d);
  }
  if (best >= 0) *chosen = map.directions[static_cast<std::size_t>(best)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bandwidth and ring of the numbers that are there, or one error that names the row at fault. NaN is a failure, not an error.
PetscErrorCode Inspect(PC pc, LineOperator &op, Mat block, LineRequest *request, std::string *failure)
{
  LineCouplings found;
  PetscInt      rbegin;
  std::string   error;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &rbegin, nullptr));
  PetscCall(op.couplings(block, request->direction, &found));
  if (found.no_diagonal >= 0) error = format("PC line: row %lld stores no diagonal entry", static_cast<long long>(rbegin + found.no_diagonal));
  else if (found.too_far_row >= 0 && !request->direction.partial)
    error = format("PC line: row %lld couples to a row more than 2 away on its line along %s; only tridiagonal and pentadiagonal lines are supported", static_cast<long long>(rbegin + found.too_far_row),
                   request->direction.name.c_str());
  PetscCall(CollectiveError(PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, error));
  if (found.not_finite >= 0) *failure = format("PC line: row %lld has an entry that is not a finite number", static_cast<long long>(rbegin + found.not_finite));
  request->half_bandwidth = found.half_bandwidth <= 1 ? 1 : 2;
  request->periodic       = found.periodic;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Global row of row i of a local line.
long long global_row(PetscInt rbegin, const LineRequest &request, std::int64_t line, std::int64_t row)
{
  return static_cast<long long>(rbegin + request.direction.lines(line, row < 0 ? 0 : row));
}

/// The line a report speaks of: of class c, the first one.
std::string describe(PetscInt rbegin, const LineRequest &request, const LineFacts &facts)
{
  const FactorReport &r     = facts.report;
  const auto          which = static_cast<long long>(r.line), row = static_cast<long long>(r.row);
  std::string         place, matrix;
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
  switch (r.status) {
  case FactorStatus::zero_pivot:
    return format("PC line: zero pivot in %s: its size is %.2g of the largest entry of the row, -pc_line_zeropivot sets the limit", place.c_str(), r.smallest_pivot);
  case FactorStatus::not_finite:
    return format("PC line: %s has an entry or a pivot that is not a finite number", place.c_str());
  case FactorStatus::unsound:
    return format("PC line: %s loses its digits in algorithm %s (backward error %.1e)", matrix.c_str(), r.algorithm.c_str(), r.probe_error);
  case FactorStatus::ok:
    break;
  }
  return "";
}

PetscErrorCode SetUp(PC pc, PC_Line *line, Mat block)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  LineMap        map;
  bool           on_device;
  PetscInt       rbegin;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &rbegin, nullptr));
  PetscCall(FindLines(pc, line, block, &map));
  PetscCall(BlockIsOnDevice(block, &on_device));
  std::unique_ptr<LineOperator> op;
  PetscCallCXX(op = LineOperator::create(on_device));
  LineRequest &request = line->request;
  PetscCall(Choose(pc, line, *op, block, map, &request.direction));
  const LineDirection &d = request.direction;
  PetscCheck(line->cut == PC_LINE_CUT_LOCAL || d.lines_cut == 0, comm, PETSC_ERR_SUP, "PC line: the partition cuts %" PetscInt_FMT " lines along %s among %d ranks; %s, or use -pc_line_cut local", d.lines_cut,
             d.name.c_str(), (int)d.processes, d.name == "rows" ? "give each rank whole lines" : format("use -da_processors_%s 1", d.name.c_str()).c_str());
  PetscCall(Inspect(pc, *op, block, &request, &line->failure));
  request.lhs               = line->lhs;
  request.solver.algorithm  = PCLineAlgorithms[line->algorithm];
  request.solver.zero_pivot = static_cast<double>(line->zero_pivot);
  std::string error;
  if (line->failure.empty()) {
    PetscCall(op->build(block, request, &line->facts));
    if (line->lhs == PC_LINE_LHS_SHARED && line->facts.matrices > 1)
      error = format("PC line: -pc_line_lhs shared, but lines %lld and %lld (first rows %lld and %lld) differ; use auto, classes or per_line", static_cast<long long>(line->facts.first),
                     static_cast<long long>(line->facts.different), global_row(rbegin, request, line->facts.first, 0), global_row(rbegin, request, line->facts.different, 0));
    if (!line->facts.refusal.empty()) error = format("PC line: -pc_line_algorithm %s: %s", PCLineAlgorithms[line->algorithm], line->facts.refusal.c_str());
    line->failure = describe(rbegin, request, line->facts);
  } else line->facts.report.status = FactorStatus::not_finite;
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_INCOMP, error));
  line->op = std::move(op);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Tells PETSc of a failed factorization, the same on all ranks.
PetscErrorCode ReportFailure(PC pc, PC_Line *line)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const bool     zero = line->facts.report.status == FactorStatus::zero_pivot;
  int            mine = line->failure.empty() ? 0 : zero ? 1 : 2, worst = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm));
  PetscCall(PCSetFailedReason(pc, worst == 0 ? PC_NOERROR : worst == 1 ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_FACTOR_OTHER));
  if (worst == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "%s\n", line->failure.empty() ? "PC line: another rank failed" : line->failure.c_str()));
  if (pc->erroriffailure) PetscCall(CollectiveError(comm, zero ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP, line->failure));
  if (line->failure.empty()) line->failure = "PC line: another rank failed", line->facts.report.status = FactorStatus::unsound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SetUpLine(PC pc, PC_Line *line)
{
  LocalBlock block;
  PetscInt   rows, columns, m, n;
  PetscFunctionBegin;
  PetscCall(EnsureKokkos());
  PetscUseTypeMethod(pc, reset); // whatever happens below, nothing of the last matrix is left
  PetscCall(MatGetSize(pc->pmat, &rows, &columns));
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCheck(rows == columns, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ, "PC line: the matrix is not square: %" PetscInt_FMT " x %" PetscInt_FMT, rows, columns);
  PetscCall(CollectiveError(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ, m == n ? "" : format("PC line: a rank owns %lld rows but %lld columns", (long long)m, (long long)n)));
  PetscCall(GetLocalBlock(pc->pmat, &block));
  const PetscErrorCode ierr = SetUp(pc, line, block.mat);
  PetscCall(MatDestroy(&block.converted));
  PetscCall(ierr);
  PetscCall(ReportFailure(pc, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

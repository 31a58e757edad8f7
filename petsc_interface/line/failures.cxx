// SPDX-License-Identifier: BSD-2-Clause
#include "failures.hpp"

#include "../support/format.hpp"
#include "../support/session.hpp"

#include <cmath>
#include <limits>

namespace ribbon::petsc {

namespace {

/// Sentence of a pivot that is zero, of one below the limit, and of a matrix that is singular to rounding
/// without such a pivot. It names the option of the limit if the limit decides.
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

/// Whether all entries of a row are zero; false for types without MatGetRow().
PetscErrorCode RowIsZero(Mat A, PetscInt row, bool *zero)
{
  PetscInt           n;
  const PetscScalar *entry;
  PetscBool          has, is_symmetric; // MATSBAIJ has the operation, which is an error
  PetscFunctionBegin;
  PetscCall(MatHasOperation(A, MATOP_GET_ROW, &has));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &is_symmetric, MATSEQSBAIJ, MATMPISBAIJ, ""));
  *zero = has && !is_symmetric;
  if (!*zero) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetRow(A, row, &n, nullptr, &entry));
  for (PetscInt e = 0; e < n; ++e) *zero = *zero && entry[e] == PetscScalar(0);
  PetscCall(MatRestoreRow(A, row, &n, nullptr, &entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Explains a zero pivot by rows of zeros, as in coarse matrices of smoothed aggregation, or else by zeros on
/// the diagonal, as in saddle-point matrices. Collective.
PetscErrorCode ExplainZeroDiagonals(PC pc, PC_Line *line)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  Vec            diagonal;
  PetscInt       rows, begin;
  PetscInt64 count[2] = {0, 0}, first[2] = {PETSC_MAX_INT, PETSC_MAX_INT}; // with a zero diagonal; of zeros
  PetscBool  has;
  const PetscScalar *d;
  PetscFunctionBegin;
  PetscCall(MatHasOperation(pc->pmat, MATOP_GET_DIAGONAL, &has));
  if (!has || line->watched || line->given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(pc->pmat, nullptr, &diagonal));
  PetscCall(MatGetDiagonal(pc->pmat, diagonal));
  PetscCall(VecGetOwnershipRange(diagonal, &begin, nullptr));
  PetscCall(VecGetLocalSize(diagonal, &rows));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt r = rows; r-- > 0;) {
    if (d[r] != PetscScalar(0)) continue;
    bool zero = false;
    PetscCall(RowIsZero(pc->pmat, begin + r, &zero));
    for (int k = 0; k <= static_cast<int>(zero); ++k) ++count[k], first[k] = begin + r;
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(VecDestroy(&diagonal));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 2, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, first, 2, MPIU_INT64, MPI_MIN, comm));
  if (count[1] > 0)
    line->failure +=
      format("; the matrix has rows of zeros (%lld, row %lld first), as coarse ones of smoothed aggregation "
             "may have: -pc_line_shift_type nonzero solves them",
             static_cast<long long>(count[1]), static_cast<long long>(first[1]));
  else if (count[0] > 0)
    line->failure +=
      format("; %lld rows have a zero on the diagonal, row %lld first: lines of a saddle point may be "
             "singular though "
             "it is not, use PCFIELDSPLIT, or -pc_type lu -pc_factor_mat_solver_type multifrontal",
             static_cast<long long>(count[0]), static_cast<long long>(first[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

long long global_row(PetscInt rbegin, const LineRequest &request, std::int64_t line, std::int64_t row)
{
  const LineDirection &d     = request.direction;
  const std::int64_t   place = d.lines(line, row < 0 ? 0 : row),
                     element = d.element ? (*d.element)[static_cast<std::size_t>(place)] : place;
  return static_cast<long long>(d.global_row(rbegin, element * d.components));
}

std::string describe_failure(PetscInt rbegin, const LineRequest &request, const LineFacts &facts)
{
  const FactorReport &r     = facts.report;
  const auto          which = static_cast<long long>(r.line), row = static_cast<long long>(r.row);
  std::string         place, matrix;
  if (facts.whole) { // counted along the whole line
    place  = format("row %lld of a line along %s that spans ranks", row, request.direction.name.c_str());
    matrix = "the matrix of a line along " + request.direction.name + " that spans ranks";
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
    case Lhs::shifted: // each line has another matrix
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
    return format("PC line: %s is inaccurate with algorithm %s (backward error %.1e)%s", matrix.c_str(),
                  r.algorithm.c_str(), r.probe_error,
                  facts.rounded ? "; -pc_line_precision same has more digits" : "");
  case FactorStatus::ok:
    break;
  }
  return "";
}

bool solves_some(const LineBatch &batch)
{
  const FactorReport &report = batch.facts.report;
  const auto          failed = static_cast<std::int64_t>(report.failed.size());
  return batch.request.direction.lines.lines() > 0 &&
         (report.ok() || (failed > 0 && failed < batch.facts.matrices));
}

PetscErrorCode ReportFailure(PC pc, PC_Line *line)
{
  const MPI_Comm comm   = PetscObjectComm((PetscObject)pc);
  int            status = static_cast<int>(line->status), some = 0;
  PetscFunctionBegin;
  PetscCall(AgreeOnSentence(comm, &line->failure, &status)); // rank 0 prints it
  line->status = static_cast<FactorStatus>(status);
  if (!line->failure.empty()) { // a solve in which every line failed has failed
    for (const LineGroup &group : line->sweep.groups)
      for (const LineBatch &batch : group.batches) some |= static_cast<int>(solves_some(batch));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, comm));
  }
  line->some      = some && line->sweep.is_one_solve();
  const bool zero = line->status == FactorStatus::zero_pivot;
  PetscCall(PCSetFailedReason(pc, line->failure.empty() ? PC_NOERROR
                                  : zero                ? PC_FACTOR_NUMERIC_ZEROPIVOT
                                                        : PC_FACTOR_OTHER));
  if (line->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (zero) PetscCall(ExplainZeroDiagonals(pc, line));
  PetscCall(PetscInfo(pc, "%s\n", line->failure.c_str()));
  // SNES and TS only say that a linear solve failed. An entry that is not finite is an error of the
  // application, so the reason is printed here
  if (line->not_finite && !pc->erroriffailure)
    PetscCall(WarnOnce(comm, option_of(pc, "pc_line") + " not finite", line->failure));
  PetscCheck(!pc->erroriffailure, comm, zero ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP, "%s",
             line->failure.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

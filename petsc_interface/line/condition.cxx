// SPDX-License-Identifier: BSD-2-Clause
// Condition, growth and determinants of lines from their elimination, over all ranks.
#include "pc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon::petsc {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Global number of the first row of the line with the smallest rcond of a batch. For a class it is that of
/// its first line. -1 if unknown, or if the line spans ranks.
PetscErrorCode FirstRow(PC pc, const LineBatch &batch, PetscInt *row)
{
  const auto          *line = static_cast<const PC_Line *>(pc->data);
  const LineDirection &d    = batch.request.direction;
  std::int64_t         l    = batch.facts.report.rcond_line;
  PetscInt             begin;
  PetscFunctionBegin;
  *row = -1;
  if (batch.facts.lhs == Lhs::shared && d.lines.lines() > 0) l = 0;
  if (l < 0 || batch.facts.whole || line->watched) PetscFunctionReturn(PETSC_SUCCESS);
  if (batch.facts.lhs == Lhs::classes) PetscCall(batch.op->line_of_class(l, &l));
  if (l < 0 || l >= d.lines.lines()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, nullptr));
  const std::int64_t place   = d.lines(l, 0),
                     element = d.element ? (*d.element)[static_cast<std::size_t>(place)] : place;
  *row                       = d.global_row(begin, element * d.components);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode GetCondition(PC pc, std::size_t d, double most, LineCondition *condition)
{
  const auto          *line = static_cast<const PC_Line *>(pc->data);
  const MPI_Comm       comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt          rank;
  double               least = std::numeric_limits<double>::infinity(), growth = -1, log = 0;
  std::complex<double> sign  = 1;
  PetscInt             row   = -1;
  int                  knows = 1;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  for (const LineGroup &group : line->sweep.groups)
    for (const LineBatch &batch : group.batches) {
      if (group.direction != d || batch.facts.matrices == 0) continue;
      const FactorReport &report = batch.facts.report;
      if (report.rcond < least) { // false for NaN
        least = report.rcond;
        PetscCall(FirstRow(pc, batch, &row));
      }
      if (report.growth > growth) growth = report.growth;
      bool                 known = false;
      double               of_batch;
      std::complex<double> its_sign;
      most -=
        static_cast<double>(batch.facts.matrices * batch.request.direction.lines.rows * batch.request.block);
      if (line->failure.empty() && most >= 0) PetscCall(batch.op->determinant(&of_batch, &its_sign, &known));
      if (!known) knows = 0;
      else {
        const LineSet lines = batch.op->lines();
        log += of_batch + static_cast<double>(lines.rows * lines.lines() * batch.request.block) *
                            std::log(static_cast<double>(batch.request.omega)),
          sign *= its_sign;
      }
    }
  struct {
    double value;
    int    rank;
  } smallest      = {least, rank};
  double parts[3] = {log, std::arg(sign), std::abs(sign) == 0 ? 1. : 0.};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &smallest, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &growth, 1, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &knows, 1, MPI_INT, MPI_LAND, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, parts, 3, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Bcast(&row, 1, MPIU_INT, smallest.rank, comm));
  condition->rcond       = std::isinf(smallest.value) ? unknown : smallest.value;
  condition->row         = std::isinf(smallest.value) ? -1 : row;
  condition->growth      = growth < 0 ? unknown : growth;
  condition->log_abs_det = knows ? parts[0] : unknown;
  condition->det_sign    = !knows         ? std::complex<double>(unknown)
                           : parts[2] > 0 ? std::complex<double>(0)
                                          : std::polar(1., parts[1]);
  if (std::is_floating_point_v<Scalar> && knows)
    condition->det_sign = std::round(condition->det_sign.real()); // exact, unlike the cosine of a sum of pi
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

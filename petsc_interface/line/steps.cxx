// SPDX-License-Identifier: BSD-2-Clause
#include "steps.hpp"

#include "../support/session.hpp"
#include "pc.hpp"

namespace ribbon::petsc {

/// Why the solve of a PC line cannot be a part of a step; empty if it can.
static std::string WhyNoSteps(PC pc, const PC_Line *line)
{
  const LineSweep &sweep = line->sweep;
  if (!sweep.is_one_solve() || sweep.groups[0].batches.size() != 1) return "a solve has several parts";
  const LineRequest   &request   = sweep.groups[0].batches[0].request;
  const LineFacts     &facts     = sweep.groups[0].batches[0].facts;
  const LineDirection &direction = request.direction;
  if (direction.chain || direction.processes > 1 || direction.lines_cut > 0) return "lines span ranks";
  if (direction.element) return "rows of a line are not equidistant in memory";
  if (request.block > 1) return "components of a grid point couple";
  if (facts.shift > 0 || facts.report.singular_lines > 0) return "lines are singular";
  if (line->compare) return option_of(pc, "pc_line_compare") + " compares solves";
  if (request.omega != 1) return option_of(pc, "pc_line_omega") + " scales solves";
  const bool chosen[] = {line->algorithm != PC_LINE_ALGORITHM_AUTO, line->precision != PC_LINE_PRECISION_SAME,
                         line->lhs != PC_LINE_LHS_AUTO || line->lhs_tol > 0};
  const char *names[] = {"pc_line_algorithm", "pc_line_precision", "pc_line_lhs"};
  for (int k = 0; k < 3; ++k)
    if (chosen[k]) return option_of(pc, names[k]) + " chooses the kernels";
  return "";
}

PetscErrorCode MakeLineSteps(PC pc, const StepMatrix &A, const StepMatrix &B,
                             std::shared_ptr<const LineSteps> *steps, std::string *reason)
{
  const auto *line = static_cast<const PC_Line *>(pc->data);
  PetscBool   is_line;
  LineSource  of_A, of_B;
  int         number = 0;
  PetscFunctionBegin;
  steps->reset();
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLINE, &is_line));
  *reason = is_line ? WhyNoSteps(pc, line) : option_of(pc, "pc_type") + " is not line";
  PetscCall(AgreeOnSentence(PetscObjectComm((PetscObject)pc), reason, &number));
  if (!reason->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const LineBatch &batch = line->sweep.groups[0].batches[0];
  PetscCall(GetLineSource(A.rows, &of_A));
  PetscCall(GetLineSource(B.rows, &of_B));
  of_A.given = A.bands, of_B.given = B.bands;
  const PetscErrorCode error = batch.op->make_steps(of_A, of_B, batch.request, steps, reason);
  PetscCall(RestoreLineSource(&of_B));
  PetscCall(RestoreLineSource(&of_A));
  PetscCall(error);
  PetscCall(AgreeOnSentence(PetscObjectComm((PetscObject)pc), reason, &number));
  if (!reason->empty()) steps->reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

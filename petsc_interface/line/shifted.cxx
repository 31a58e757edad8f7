// SPDX-License-Identifier: BSD-2-Clause
// Lines of a matrix that differs from the matrix of another PC by a multiple of a diagonal.
#include "pc.hpp"

namespace ribbon::petsc {

PetscErrorCode SetUpShiftedLine(PC pc, PC of, Vec diagonal, PetscReal s, bool *done)
{
  auto     *line = static_cast<PC_Line *>(pc->data);
  auto     *from = static_cast<PC_Line *>(of->data);
  LineGroup group;
  int       all;
  PetscFunctionBegin;
  *done =
    from->sweep.is_one_solve() && from->plain && !from->compare && from->shift_type == PC_LINE_SHIFT_NONE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS); // on all ranks
  group.direction = from->sweep.groups[0].direction, group.all_rows = from->sweep.groups[0].all_rows;
  all = 1;
  for (const LineBatch &batch : from->sweep.groups[0].batches) {
    LineBatch own;
    bool      made;
    own.request = batch.request, own.facts = batch.facts;
    PetscCallCXX(own.op = LineOperator::create(batch.op->on_device()));
    PetscCall(own.op->build_shifted(*batch.op, diagonal, s, own.request, &own.facts, &made));
    all = all && made && own.facts.report.ok();
    group.batches.push_back(std::move(own));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  *done = all != 0;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(line->sweep.reset());
  line->requests = from->requests, line->composed = from->composed, line->names = from->names,
  line->source = from->source, line->why = from->why;
  line->failure.clear(), line->pinned.clear();
  line->status = FactorStatus::ok, line->plain = true, line->direct = from->direct,
  line->left_out = from->left_out;
  line->sweep.groups.push_back(std::move(group));
  line->sweep.sequences  = from->sweep.sequences;
  line->sweep.iterations = 1;
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &line->state));
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  pc->setupcalled = decltype(pc->setupcalled)(1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

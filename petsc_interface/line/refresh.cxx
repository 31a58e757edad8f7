// SPDX-License-Identifier: BSD-2-Clause
#include "pc.hpp"

#include "../support/session.hpp"

namespace ribbon::petsc {

namespace {

/// Whether entries in columns of other ranks are stored, including zeros, because a refresh does not
/// examine their values.
PetscErrorCode StoresOthers(Mat rows, bool *stores)
{
  Mat       off;
  PetscBool done;
  PetscInt  n;
  PetscFunctionBegin;
  *stores = false;
  PetscCall(GetOffProcessBlock(rows, &off, nullptr));
  if (!off) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt *begin, *columns;
  PetscCall(MatGetRowIJ(off, 0, PETSC_FALSE, PETSC_FALSE, &n, &begin, &columns, &done));
  *stores = !done || begin[n] > 0;
  PetscCall(MatRestoreRowIJ(off, 0, PETSC_FALSE, PETSC_FALSE, &n, &begin, &columns, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a sample of the rows chooses as it did at the last set-up that chose directions. A sample
/// suffices, because directions affect the quality of the preconditioner, not its correctness. Collective.
PetscErrorCode ChoosesTheSame(PC pc, const PC_Line *line, const LineSource &source, int *same)
{
  std::unique_ptr<LineOperator> reader;
  SampledChoice                 choice;
  bool                          on_device;
  PetscFunctionBegin;
  if (!line->candidates) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BlockIsOnDevice(source.block, &on_device));
  PetscCallCXX(reader = LineOperator::create(on_device));
  PetscCall(ChooseBySample(pc, line, *reader, source, &choice));
  *same = choice == line->sample;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether this rank can refresh the lines of the last set-up.
PetscErrorCode IsRefreshable(PC pc, const PC_Line *line, bool *is)
{
  bool others = false;
  PetscFunctionBegin;
  *is = pc->setupcalled && pc->flag == SAME_NONZERO_PATTERN && (line->settled || line->candidates) &&
        !line->requests.empty() && line->failure.empty() && line->pinned.empty() && !line->watched &&
        !line->given && !line->compare && line->lhs_tol == 0 && line->precision == PC_LINE_PRECISION_SAME;
  for (Mat A : {pc->pmat, pc->mat}) {
    MatNullSpace space = nullptr;
    if (A) PetscCall(MatGetNullSpace(A, &space));
    *is = *is && (!space || line->shift_type != PC_LINE_SHIFT_NONE); // the set-up may pin lines
  }
  if (*is) PetscCall(StoresOthers(pc->pmat, &others));
  for (const LineRequest &request : line->requests)
    *is = *is && request.block == request.direction.components && !request.direction.chain &&
          (request.coupled || !others);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Refresh(PC_Line *line, const LineSource &source, int *done)
{
  bool on_device;
  PetscFunctionBegin;
  PetscCall(BlockIsOnDevice(source.block, &on_device));
  for (LineGroup &group : line->sweep.groups)
    for (LineBatch &batch : group.batches) {
      bool refreshed = false;
      if (*done && on_device == batch.op->on_device())
        PetscCall(batch.op->refresh(source, batch.request, &batch.facts, &refreshed));
      *done = refreshed;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode RefreshLine(PC pc, PC_Line *line, bool *done)
{
  LineSource source;
  bool       is = false;
  int        able;
  PetscFunctionBegin;
  *done = false;
  PetscCall(IsRefreshable(pc, line, &is));
  able = is;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if (!able) PetscFunctionReturn(PETSC_SUCCESS);
  PetscErrorCode ierr = GetLineSource(pc->pmat, &source, JoinsPieces(line));
  if (!ierr) ierr = ChoosesTheSame(pc, line, source, &able);
  if (!ierr && able) ierr = Refresh(line, source, &able);
  PetscCall(RestoreLineSource(&source));
  PetscCall(ierr);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if (!able) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(line->sweep.refreshed());
  if (line->plain) PetscCall(line->sweep.keep(pc->pmat));
  ++line->refreshes;
  line->set_up = NextSetUp();
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &line->state));
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "line.hpp"

namespace ribbon::petsc {

PetscErrorCode ViewLine(PC pc, PC_Line *line, PetscViewer viewer)
{
  PetscBool ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!line->op) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction %s, lhs %s, cut %s (not set up)\n", PCLineDirections[line->direction], PCLineLhsTypes[line->lhs], PCLineCuts[line->cut]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const LineRequest   &q = line->request;
  const LineDirection &d = q.direction;
  const LineFacts     &f = line->facts;
  PetscMPIInt          size;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  const char *rank = size > 1 ? "on rank 0: " : "";
  PetscCall(PetscViewerASCIIPrintf(viewer, "  direction: %s (%s), from the %s\n", d.name.c_str(), line->why.c_str(), line->source.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines: %s%lld of %lld rows, %s%s\n", rank, static_cast<long long>(d.lines.lines()), static_cast<long long>(d.lines.rows), q.periodic ? "periodic " : "",
                                   q.half_bandwidth == 1 ? "tridiagonal" : "pentadiagonal"));
  if (size > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "  cut by the partition: %" PetscInt_FMT " of %" PetscInt_FMT " lines%s\n", d.lines_cut, d.lines_all, d.lines_cut ? ", each piece is solved on its rank" : ""));
  if (!line->failure.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", line->failure.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  matrices: %s%s, %lld distinct, %.3g bytes held on %s\n", rank, to_string(f.lhs), static_cast<long long>(f.matrices), static_cast<double>(f.bytes), f.space));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  algorithm: %s%s (%s)\n", rank, f.report.algorithm.c_str(), f.report.reason.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  probe error %.1e, smallest pivot %.1e of its row\n", f.report.probe_error, f.report.smallest_pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

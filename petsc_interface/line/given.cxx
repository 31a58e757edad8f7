// SPDX-License-Identifier: BSD-2-Clause
// A PC line that is set up with given bands instead of a matrix.
#include "pc.hpp"

namespace ribbon::petsc {

PetscErrorCode LineTakesBands(PC pc, PCLineDirection direction, bool *takes)
{
  PetscBool is_line;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLINE, &is_line));
  const auto *line = is_line ? static_cast<const PC_Line *>(pc->data) : nullptr;
  *takes = line && line->directions == std::vector<PCLineDirection>{direction} && line->iterations == 1 &&
           line->ordering != PC_LINE_ORDERING_ZEBRA && !line->compare;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetUpGivenLine(PC pc, Mat rows, const GivenBands *bands)
{
  PetscFunctionBegin;
  static_cast<PC_Line *>(pc->data)->given = bands;
  PetscCall(PCSetOperators(pc, rows, rows));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  RibbonMatState(pc) = -1; // the bands may be new although the rows are not
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE)); // also when the rows change
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

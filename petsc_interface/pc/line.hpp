// SPDX-License-Identifier: BSD-2-Clause
/// @file line.hpp  PC `line`: its context and the parts it is made of.
#pragma once

#include "line_operator.hpp"

PETSC_INTERN PetscErrorCode PCCreate_Line(PC pc);

namespace ribbon::petsc {

/// Context of PC line.
struct PC_Line {
  // options
  PCLineDirection direction  = PC_LINE_DIRECTION_AUTO;
  PCLineLhs       lhs        = PC_LINE_LHS_AUTO;
  PCLineCut       cut        = PC_LINE_CUT_LOCAL;
  PCLineAlgorithm algorithm  = PC_LINE_ALGORITHM_AUTO;
  PetscReal       zero_pivot = 0; ///< 0: 100 machine epsilon

  // what the last set-up made; null operator: none, or one that failed
  std::unique_ptr<LineOperator> op;
  LineRequest                   request;
  LineFacts                     facts;
  std::string                   source;  ///< where the lines come from
  std::string                   why;     ///< why this direction
  std::string                   failure; ///< one sentence, empty when the set-up succeeded
};

/// Finds the lines, extracts and factors them. Collective; leaves no operator behind when it raises an error.
PetscErrorCode SetUpLine(PC pc, PC_Line *line);
/// Prints what SetUpLine() found.
PetscErrorCode ViewLine(PC pc, PC_Line *line, PetscViewer viewer);
/// Attaches the Set and Get functions of the options to a PC.
PetscErrorCode ComposeLineOptions(PC pc, bool attach);
PetscErrorCode SetLineFromOptions(PC pc, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc

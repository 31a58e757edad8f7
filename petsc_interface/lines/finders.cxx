// SPDX-License-Identifier: BSD-2-Clause
#include "finders.hpp"

namespace ribbon::petsc {

PetscErrorCode ElementsOfSource::get(Elements *elements)
{
  PetscFunctionBegin;
  if (!known_) PetscCall(GetElements(source_, &elements_));
  known_    = true;
  *elements = elements_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode OfDM(PC pc, const LineSource &source, ElementsOfSource &, LineMap *map)
{
  return LinesFromDM(pc, source, map);
}

/// Consecutive rows that no entry joins to other lines.
PetscErrorCode OfRows(PC, const LineSource &source, ElementsOfSource &elements, LineMap *map)
{
  Elements of;
  PetscFunctionBegin;
  PetscCall(elements.get(&of));
  PetscCall(LinesFromPattern(source, of, true, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OfGrid(PC, const LineSource &source, ElementsOfSource &elements, LineMap *map)
{
  Elements of;
  PetscFunctionBegin;
  PetscCall(elements.get(&of));
  PetscCall(LinesFromGrid(source, of, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OfCouplings(PC, const LineSource &source, ElementsOfSource &elements, LineMap *map)
{
  Elements of;
  PetscFunctionBegin;
  PetscCall(elements.get(&of));
  PetscCall(LinesFromCouplings(source, of, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

const std::vector<LineFinder> &line_finders()
{
  static const std::vector<LineFinder> table = {
    {true, OfDM},
    {false, OfRows},
    {true, OfGrid},
    {false, OfCouplings},
  };
  return table;
}

} // namespace ribbon::petsc

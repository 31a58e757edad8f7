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

/// Consecutive rows, if no entry couples different lines.
PetscErrorCode SeparateRows(const LineSource &source, const Elements &elements, LineMap *map)
{
  return LinesFromPattern(source, elements, true, map);
}

/// Calls a function that finds lines from the elements of a source.
template <PetscErrorCode (*Find)(const LineSource &, const Elements &, LineMap *)>
PetscErrorCode OfElements(PC, const LineSource &source, ElementsOfSource &elements, LineMap *map)
{
  Elements of;
  PetscFunctionBegin;
  PetscCall(elements.get(&of));
  PetscCall(Find(source, of, map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

const std::vector<LineFinder> &line_finders()
{
  static const std::vector<LineFinder> table = {
    {false, LinesFromRows},
    {true, OfDM},
    {false, OfElements<SeparateRows>},
    {true, OfElements<LinesFromGrid>},
    {false, OfElements<LinesFromCouplings>},
  };
  return table;
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "couplings_along.hpp"

#include "../lines/given_bands.hpp"
#include "../support/format.hpp"
#include "../support/session.hpp"

#include <algorithm>
#include <utility>

namespace ribbon::petsc::directions {

bool IsOneRow(const LineSource &source, const LineDirection &direction)
{
  const PetscInt rows = source.rows->rmap->N;
  return rows > 0 && direction.lines_all == rows / direction.components;
}

PetscErrorCode NameLongLines(const LineSource &source, const LineMap &map, std::string *names)
{
  PetscFunctionBegin;
  names->clear();
  for (const LineDirection &direction : map.directions)
    if (!IsOneRow(source, direction)) *names += (names->empty() ? "" : ",") + direction.name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Finds the chain of the ranks that hold sub-lines of its lines, and the entries in columns of other
/// ranks, once. Collective.
PetscErrorCode LookOutside(const LineSource &source, LineDirection *direction)
{
  OutsideCouplings found;
  PetscInt         rbegin;
  PetscFunctionBegin;
  if (direction->couplings) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCall(MakeChain(PetscObjectComm((PetscObject)source.rows), direction->place,
                      static_cast<PetscInt>(direction->lines.rows), rbegin, &direction->chain));
  if (!source.given) PetscCall(ReadOutside(source, *direction, &found));
  PetscCallCXX(direction->couplings = std::make_shared<const OutsideCouplings>(std::move(found)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LookAlong(LineOperator &op, const LineSource &source, ChosenDirection *chosen,
                         std::string *refusal)
{
  LineDirection &direction = chosen->direction;
  LineCouplings &found     = chosen->found;
  const char    *along     = direction.name.c_str();
  PetscInt       rbegin;
  int            unused = 0;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCall(LookOutside(source, &direction));
  const OutsideCouplings &outside = *direction.couplings;
  if (source.given) {
    found          = source.given->couplings();
    found.periodic = found.periodic && (direction.wrap || direction.place.joinable);
    found.across   = direction.lines_cut > 0 && !direction.place.joinable;
  } else if (direction.known) found = *direction.known;
  else PetscCall(op.couplings(direction.moved ? direction.moved->block : source.block, direction, &found));
  for (auto [row, other] : {std::pair{&found.component_row, outside.component_row},
                            {&found.too_far_row, outside.too_far_row},
                            {&found.not_finite, outside.not_finite}})
    if (*row < 0) *row = other;
  int most[3] = {std::max(found.half_bandwidth, outside.half_bandwidth), found.periodic || outside.periodic,
                 found.component_row >= 0};
  // sub-lines of the same lines have one half-bandwidth
  if (direction.place.joinable)
    PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)source.rows)));
  found.half_bandwidth = most[0], found.periodic = most[1] != 0,
  found.across   = found.across || outside.across;
  chosen->blocks = most[2] != 0;
  if (direction.chain) chosen->outside = {direction.couplings, &outside.entries};
  const auto global = [&](std::int64_t row) {
    return static_cast<long long>(direction.global_row(rbegin, row));
  };
  const int block = chosen->block(source);
  refusal->clear();
  if (found.no_diagonal >= 0 && !source.kronecker)
    *refusal = format("row %lld stores no diagonal entry", global(found.no_diagonal));
  else if (found.too_far_row >= 0 && !direction.partial)
    *refusal = format(
      "row %lld couples to a row more than %d away on its line along %s; wider bands are not supported",
      global(found.too_far_row), largest_half_bandwidth, along);
  else if (block > 8 && (found.component_row >= 0 || source.factors.coupled))
    *refusal = format("row %lld couples to another of the %d components of its line along %s; blocks reach "
                      "up to 8 components",
                      global(found.component_row), block, along);
  else if (block > 1 && found.half_bandwidth > 1)
    *refusal = format("%d components couple with each other, and elements with others %d away on their line "
                      "along %s; block lines reach the next element only",
                      block, found.half_bandwidth, along);
  PetscCall(AgreeOnSentence(PetscObjectComm((PetscObject)source.rows), refusal, &unused));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumOutside(const LineSource &source, LineDirection *direction)
{
  PetscInt rows;
  PetscFunctionBegin;
  if (!direction->place.joinable) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LookOutside(source, direction));
  if (direction->couplings->entries.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(source.rows, &rows, nullptr));
  std::vector<double> sums(static_cast<std::size_t>(rows), 0);
  for (const OutsideEntry &entry : direction->couplings->entries)
    sums[static_cast<std::size_t>(entry.row)] += static_cast<double>(magnitude(entry.value));
  PetscCallCXX(direction->outside = std::make_shared<const std::vector<double>>(std::move(sums)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc::directions

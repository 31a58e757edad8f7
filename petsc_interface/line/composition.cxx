// SPDX-License-Identifier: BSD-2-Clause
#include "composition.hpp"

namespace ribbon::petsc {

namespace {

/// Lines of A whose components in I x S + A x T are one set of lines, or a set for each value of their
/// second index.
std::vector<LineLayout> one_set_with_components(const LineLayout &layout, const LineSource &source)
{
  if (source.factors.coupled || split_components(layout.lines, source.factors.p).size() == 1) return {layout};
  std::vector<LineLayout> sets(static_cast<std::size_t>(layout.lines.count1), layout);
  for (std::size_t k = 0; k < sets.size(); ++k)
    sets[k].lines.offset += static_cast<std::int64_t>(k) * layout.lines.stride1, sets[k].lines.count1 = 1;
  return sets;
}

/// The sequences in which groups are solved. A symmetric sequence begins with the colours of each direction
/// in reverse order, so that it ends with the last colour of the first direction. On multigrid levels zebra
/// ordering then smooths as well as in one sweep (snes/tutorials/ex5: 16 iterations, compared with 20 if
/// the sequence ends with the first colour).
std::vector<std::vector<int>> sequences_of(const LineSweep &sweep, PCLineComposition composition, bool twice)
{
  std::vector<std::vector<int>> of_direction;
  std::vector<int>              there;
  for (std::size_t g = 0; g < sweep.groups.size(); ++g) {
    of_direction.resize(sweep.groups[g].direction + 1);
    of_direction.back().push_back(static_cast<int>(g));
  }
  if (composition == PC_LINE_COMPOSITION_ADDITIVE) return of_direction;
  for (const std::vector<int> &colours : of_direction) {
    if (composition == PC_LINE_COMPOSITION_SYMMETRIC)
      there.insert(there.end(), colours.rbegin(), colours.rend());
    else there.insert(there.end(), colours.begin(), colours.end());
  }
  const std::vector<int> back(there.rbegin() + (there.empty() ? 0 : 1), there.rend());
  if (composition == PC_LINE_COMPOSITION_SYMMETRIC) there.insert(there.end(), back.begin(), back.end());
  if (twice) { // a symmetric sequence ends with its first group
    const std::vector<int> again(there.begin() + (composition == PC_LINE_COMPOSITION_SYMMETRIC ? 1 : 0),
                                 there.end());
    there.insert(there.end(), again.begin(), again.end());
  }
  return {there};
}

/// The half-bandwidth of lines, without the folding of rings, which doubles it.
int width_of(const LineRequest &request)
{
  return request.direction.rings > 0 ? (request.half_bandwidth + 1) / 2 : request.half_bandwidth;
}

} // namespace

PetscErrorCode DefaultOmega(PC pc, const PC_Line *line, PetscReal *omega)
{
  // whether undamped solves leave out couplings, largest half-bandwidth
  int found[2] = {0, 0};
  PetscFunctionBegin;
  *omega = 1;
  if (!IsOnLevel(pc) || (line->composed == PC_LINE_COMPOSITION_ADDITIVE && line->requests.size() > 1))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (const LineRequest &request : line->requests) {
    if (request.direction.colours.empty() && request.coupled) found[0] = 1;
    found[1] = PetscMax(found[1], width_of(request));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (found[0]) *omega = static_cast<PetscReal>(found[1] > 1 ? 0.6 : 0.8);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AutoComposition(PC pc, const PC_Line *line, PCLineComposition *composed)
{
  int wide = 0;
  PetscFunctionBegin;
  *composed = PC_LINE_COMPOSITION_SYMMETRIC;
  if (line->ordered == PC_LINE_ORDERING_ZEBRA) PetscFunctionReturn(PETSC_SUCCESS);
  for (const LineRequest &request : line->requests) wide = wide || width_of(request) > 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wide, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  const bool elsewhere = line->directions[0] == PC_LINE_DIRECTION_AUTO && !line->equal;
  // a single direction has no composition
  if (line->requests.size() == 1) *composed = PC_LINE_COMPOSITION_MULTIPLICATIVE;
  else if (wide || elsewhere) *composed = PC_LINE_COMPOSITION_ADDITIVE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DivideIntoGroups(PC_Line *line, const LineSource &source)
{
  LineSweep &sweep = line->sweep;
  for (std::size_t d = 0; d < line->requests.size(); ++d) {
    const LineDirection                       &direction = line->requests[d].direction;
    const std::vector<std::vector<LineLayout>> all       = {{direction}};
    for (const auto &layouts : direction.colours.empty() ? all : direction.colours) {
      LineGroup group;
      group.direction = d, group.all_rows = direction.colours.empty();
      for (const LineLayout &layout : layouts)
        for (const LineLayout &part : one_set_with_components(layout, source)) {
          LineBatch batch;
          batch.request                                      = line->requests[d];
          static_cast<LineLayout &>(batch.request.direction) = part;
          batch.request.direction.colours.clear(); // every batch has its lines already
          group.batches.push_back(std::move(batch));
        }
      sweep.groups.push_back(std::move(group));
    }
  }
  sweep.iterations = line->iterations;
}

void ComposeSweep(PC_Line *line)
{
  LineSweep &sweep = line->sweep;
  const bool pays  = line->ordered == PC_LINE_ORDERING_ZEBRA ||
                    (line->directions.size() > 1 && line->composed == PC_LINE_COMPOSITION_ADDITIVE);
  sweep.sequences = sequences_of(sweep, line->composed, IsSweptTwice(line));
  line->one_way.clear();
  if (line->composition == PC_LINE_COMPOSITION_AUTO && pays)
    line->one_way = sequences_of(sweep, PC_LINE_COMPOSITION_MULTIPLICATIVE, IsSweptTwice(line));
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "strengths.hpp"

#include "../support/format.hpp"
#include "couplings_along.hpp"

#include <algorithm>

namespace ribbon::petsc::directions {

namespace {

/// directions whose strength is at least this fraction of the largest are equally strong: all of them are
/// swept
constexpr double as_strong_as = 0.9;

} // namespace

PetscErrorCode Strongest(MPI_Comm comm, LineOperator &op, const LineSource &source, LineMap *map,
                         std::vector<LineDirection> *strongest, std::string *why)
{
  std::vector<int>                       bins;
  std::vector<std::vector<std::int64_t>> votes;
  std::vector<std::int64_t>              all;
  PetscFunctionBegin;
  strongest->clear();
  for (LineDirection &direction : map->directions) PetscCall(SumOutside(source, &direction));
  PetscCall(op.histograms(source.block, map->directions, &votes));
  for (const auto &v : votes) all.insert(all.end(), v.begin(), v.end());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<PetscMPIInt>(all.size()), MPI_INT64_T,
                             MPI_SUM, comm));
  *why = "largest median of sum |a_ij|/|a_ii|:";
  for (std::size_t d = 0; d < map->directions.size(); ++d) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(d) * strength_bins;
    const int  bin   = median_bin({begin, begin + strength_bins});
    *why += format(" %s %.2g", map->directions[d].name.c_str(), bin <= 0 ? 0.0 : strength_of_bin(bin));
    bins.push_back(bin);
  }
  const int best = *std::max_element(bins.begin(), bins.end());
  for (std::size_t d = 0; d < bins.size(); ++d)
    if (best >= 0 && (bins[d] == best ||
                      (bins[d] > 0 && strength_of_bin(bins[d]) >= as_strong_as * strength_of_bin(best))))
      strongest->push_back(map->directions[d]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Compare(MPI_Comm comm, LineOperator &op, const LineSource &source,
                       const std::vector<LineDirection>  &directions,
                       const std::vector<LineComparison> &comparisons, double factor,
                       std::vector<LinePreference> *found)
{
  std::vector<std::int64_t> counts;
  PetscFunctionBegin;
  found->clear();
  if (comparisons.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(op.preferences(source.block, directions, comparisons, factor, found));
  for (const LinePreference &f : *found) counts.insert(counts.end(), {f.rows, f.preferring});
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<PetscMPIInt>(counts.size()),
                             MPI_INT64_T, MPI_SUM, comm));
  for (std::size_t c = 0; c < found->size(); ++c) (*found)[c] = {counts[2 * c], counts[2 * c + 1]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

double share_of(const LinePreference &found)
{
  return found.rows > 0 ? static_cast<double>(found.preferring) / static_cast<double>(found.rows) : 0;
}

} // namespace ribbon::petsc::directions

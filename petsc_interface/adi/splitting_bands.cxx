// SPDX-License-Identifier: BSD-2-Clause
// Directions that are stored as bands.
#include "splitting.hpp"

#include <algorithm>

namespace ribbon::petsc {

std::unique_ptr<GivenBands> DirectionSplitting::shifted_bands(int d, PetscReal s, PetscReal a) const
{
  return tensor_ ? tensor_->bands(*kernels_, d, s, a) : kernels_->shifted_bands(d, s, a);
}

/// The shapes that the bands of all ranks need. Directions that bands cannot hold, or that PC line cannot
/// solve, are stored in no_bands_. Collective.
PetscErrorCode DirectionSplitting::agree_on_shapes(const SplitKernels::Task &task, bool few,
                                                   BandShape (&shapes)[3])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)task.J);
  FoundShapes    found;
  PetscFunctionBegin;
  PetscCall(kernels_->band_shapes(task, few, &found));
  int      widths[3];
  unsigned bits = found.periodic | found.blocks << 3;
  for (int d = 0; d < 3; ++d) widths[d] = static_cast<int>(found.half_bandwidth[d]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, widths, 3, MPI_INT, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UNSIGNED, MPI_BOR, comm));
  for (std::size_t d = 0; d < task.axes.size(); ++d) {
    shapes[d]       = {std::max(1, widths[d]), (bits >> d & 1) != 0, (bits >> (d + 3) & 1) != 0};
    const bool fits = shapes[d].half_bandwidth <= largest_half_bandwidth &&
                      (!shapes[d].blocks || (grid_.components() <= 8 && shapes[d].half_bandwidth == 1));
    if (!fits && task.bands >> d & 1) no_bands_ |= 1u << task.axes[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Updates the bands: one pass over J if lines share the same matrices as before, or have one matrix per
/// line. The first time it tries the matrix of the first line for all lines. Collective.
PetscErrorCode DirectionSplitting::refill_bands(const SplitKernels::Task &task, bool all, BandCounts *counts)
{
  SplitKernels::Task again = task;
  BandShape          shapes[3];
  BandCounts         more;
  PetscFunctionBegin;
  if (all) {
    PetscCall(agree_on_shapes(task, true, shapes_));
    if (no_bands_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(kernels_->begin_bands(task, shapes_));
  }
  PetscCall(kernels_->refresh_bands(task, counts));
  unsigned misfit = counts->misfit;
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &misfit, 1, MPI_UNSIGNED, MPI_BOR, PetscObjectComm((PetscObject)task.J)));
  if (misfit == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(agree_on_shapes(task, false, shapes));
  if (no_bands_) PetscFunctionReturn(PETSC_SUCCESS);
  again.bands = counts->misfit; // of this rank; other ranks may need another shape
  for (unsigned d = 0; d < 3; ++d)
    if (misfit >> d & 1) {
      if (!(shapes[d] == shapes_[d])) again.bands |= 1u << d;
      shapes_[d] = shapes[d];
    }
  if (again.bands) PetscCall(kernels_->extract_bands(again, shapes_, &more));
  counts->changed |= more.changed;
  if (again.bands) counts->counts = more.counts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

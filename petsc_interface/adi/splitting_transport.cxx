// SPDX-License-Identifier: BSD-2-Clause
// Transport along the directions of a splitting, by which TS adi chooses a method (docs/methods/adi.md).
#include "splitting.hpp"

namespace ribbon::petsc {

PetscErrorCode DirectionSplitting::transport(Transport (&along)[3], bool *known) const
{
  SplitKernels::Task task;
  Convection         found;
  PetscReal          largest[6];
  PetscReal          sums[18];
  PetscFunctionBegin;
  for (Transport &one : along) one = {};
  *known = rows_ && (!mass_matrix_ || tensor_);
  for (int d = 0; tensor_ && d < directions(); ++d) { // the same on all ranks
    const TensorMass::Transport one = tensor_->transport(d);
    along[d]                        = {one.transport, one.damping, one.mass};
    // M would vanish for the shortest waves with 1/2: finite elements of degree 1 have 1/3
    *known = *known && tensor_->is_tridiagonal(d) && one.mass < PetscReal(0.45);
  }
  if (tensor_) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
  task.J = rows_, task.mass = mass_, task.factor = factor_;
  for (const Direction &d : directions_) task.axes.push_back(d.axis);
  PetscCall(kernels_->convection(task, &found));
  const Convection::Rows *rows[2] = {found.both, found.one};
  for (int k = 0; k < 6; ++k) {
    const Convection::Rows &of = rows[k / 3][k % 3];
    largest[k]                 = static_cast<PetscReal>(of.transport);
    sums[3 * k]                = static_cast<PetscReal>(of.sum);
    sums[3 * k + 1]            = static_cast<PetscReal>(of.weighted_damping);
    sums[3 * k + 2]            = static_cast<PetscReal>(of.rows);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 6, MPIU_REAL, MPIU_MAX, comm()));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 18, MPIU_REAL, MPIU_SUM, comm()));
  for (int d = 0; d < directions(); ++d) {
    const bool upwind = sums[3 * (d + 3) + 2] > sums[3 * d + 2]; // otherwise these rows are line ends
    const int  k      = upwind ? d + 3 : d;
    if (sums[3 * k] > 0) along[d] = {largest[k], sums[3 * k + 1] / sums[3 * k]};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

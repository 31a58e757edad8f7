// SPDX-License-Identifier: BSD-2-Clause
// Directions of a mass matrix that is a Kronecker product (docs/methods/adi.md#kronecker-products).
#include "splitting.hpp"

#include "../support/aij.hpp"
#include "../support/csr.hpp"

namespace ribbon::petsc {

/// The axes along which entries of J are not zero, on this rank or in an earlier J. With a mass matrix those
/// of all ranks, and also its own: the terms of shift M - A may cancel.
PetscErrorCode DirectionSplitting::axes_that_couple(Mat aij, const SplitJacobian &jacobian, unsigned grid,
                                                    unsigned *axes)
{
  PetscBool is_aij = PETSC_FALSE;
  unsigned  more   = 0;
  PetscFunctionBegin;
  PetscCall(kernels_->coupling_axes(aij, grid, axes));
  *axes |= axes_;
  if (!jacobian.mass_matrix) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsAIJ(jacobian.mass_matrix, &is_aij));
  if (is_aij) PetscCall(kernels_->coupling_axes(jacobian.mass_matrix, grid, &more));
  *axes |= more;
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, axes, 1, MPI_UNSIGNED, MPI_BOR, PetscObjectComm((PetscObject)aij)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Writes M_d, K_d and s_b if those of J differ, or if `all`, as refill() does. Collective.
PetscErrorCode DirectionSplitting::refill_tensor(Mat aij, const SplitJacobian &jacobian, bool all,
                                                 bool *changed)
{
  std::vector<int> axes;
  bool             differs;
  PetscBool        is_aij;
  Mat              M = jacobian.mass_matrix;
  PetscFunctionBegin;
  patterns_.clear(); // until update() ends: after an error the next one begins anew
  for (const Direction &d : directions_) axes.push_back(d.axis);
  if (all) PetscCall(tensor_->set_pattern(aij, grid_, axes));
  if (all || *changed) {
    PetscCall(IsAIJ(M, &is_aij));
    if (!is_aij) PetscCall(ConvertToAIJ(M, &M));
    PetscCall(tensor_->set_mass(M, aij, jacobian.shift, is_algebraic_));
    if (!is_aij) PetscCall(MatDestroy(&M));
  }
  PetscCall(tensor_->split(aij, jacobian.shift, factor_ = jacobian.factor, algebraic_, &differs));
  int any = all || *changed || differs;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)aij)));
  *changed = any != 0;
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  remainder_  = {};
  generation_ = next_generation();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::set_tensor_factors(const PetscReal (&s)[3], const PetscReal (&a)[3])
{
  PetscFunctionBegin;
  PetscCall(tensor_->set_factors(s, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::scale_rhs(Vec rhs, Vec *scaled) const
{
  PetscFunctionBegin;
  PetscCall(make_work());
  PetscCall(tensor_->scale(rhs, work_[0]));
  *scaled = work_[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::scale_rhs_of_mass(Vec rhs, Vec *scaled) const
{
  PetscFunctionBegin;
  PetscCall(make_work());
  PetscCall(VecPointwiseMult(work_[0], tensor_->inverse_sums(), rhs));
  *scaled = work_[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

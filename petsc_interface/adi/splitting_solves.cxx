// SPDX-License-Identifier: BSD-2-Clause
// Products between solves along lines, and the algebraic equations after them.
#include "splitting.hpp"

namespace ribbon::petsc {

/// The mass matrix has the pattern of J, which may store zeros that A_d leaves out: couplings of the grid
/// across the only direction.
PetscErrorCode DirectionSplitting::make_mass_along(Mat A) const
{
  MatInfo                  of_A, of_mass;
  PetscInt                 begin, end;
  std::vector<PetscInt>    columns;
  std::vector<PetscScalar> values;
  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &of_A));
  PetscCall(MatGetInfo(mass_matrix_, MAT_GLOBAL_SUM, &of_mass));
  if (of_A.nz_used == of_mass.nz_used) {
    PetscCall(PetscObjectReference((PetscObject)mass_matrix_));
    mass_along_ = mass_matrix_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &mass_along_));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) {
    const PetscInt    *c;
    const PetscScalar *v;
    PetscInt           n;
    columns.clear(), values.clear();
    PetscCall(MatGetRow(mass_matrix_, r, &n, &c, &v));
    for (PetscInt k = 0; k < n; ++k)
      if (v[k] != PetscScalar(0)) columns.push_back(c[k]), values.push_back(v[k]);
    PetscCall(MatRestoreRow(mass_matrix_, r, &n, &c, &v));
    PetscCall(MatSetValues(mass_along_, 1, &r, static_cast<PetscInt>(columns.size()), columns.data(),
                           values.data(), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(mass_along_, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(mass_along_, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::shifted(int d, PetscReal s, PetscReal a, Mat P) const
{
  PetscFunctionBegin;
  PetscCall(kernels_->shifted(A(d), mass_, !mass_matrix_, s, a, P));
  if (mass_matrix_ && !mass_along_) PetscCall(make_mass_along(A(d)));
  if (mass_matrix_) PetscCall(MatAXPY(P, s, mass_along_, SUBSET_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::largest_row_sum(int d, double *sum) const
{
  PetscFunctionBegin;
  PetscCall(kernels_->largest_row_sum(A(d), mass_, sum));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)mass_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::multiply_mass(Vec x, Vec y) const
{
  PetscFunctionBegin;
  if (mass_matrix_) PetscCall(MatMult(mass_matrix_, x, y));
  else if (!mass_is_identity_) PetscCall(VecPointwiseMult(y, multiplier_, x));
  else if (x != y) PetscCall(VecCopy(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::multiply(PetscReal s, PetscReal a, Vec x, Vec y) const
{
  const PetscScalar of_mass = s - a * shift_; // J = shift M - A
  PetscFunctionBegin;
  PetscCall(MatMult(rows_, x, y));
  if (mass_is_identity_ && !algebraic_) {
    PetscCall(VecAXPBY(y, of_mass, a * factor_, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(make_work());
  if (mass_matrix_) PetscCall(MatMult(mass_matrix_, x, work_[0]));
  else PetscCall(VecPointwiseMult(work_[0], mass_, x));
  if (algebraic_) PetscCall(VecPointwiseMult(work_[1], algebraic_, y));
  PetscCall(VecAXPBY(y, of_mass, a * factor_, work_[0]));
  if (!algebraic_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecPointwiseMult(work_[0], is_algebraic_vector_, y));
  PetscCall(VecAXPBYPCZ(y, -1, factor_, 1, work_[0], work_[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::make_work() const
{
  PetscFunctionBegin;
  for (Vec &w : work_)
    if (!w) PetscCall(VecDuplicate(mass_, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::solve_algebraic(Vec g, Vec x) const
{
  PetscFunctionBegin;
  if (!couplings_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(make_work());
  for (int pass = 0; pass < directions(); ++pass) { // x += B (g - x - N x), B selects algebraic rows
    PetscCall(MatMult(couplings_, x, work_[0]));
    PetscCall(VecAXPBYPCZ(work_[0], 1, -1, -1, g, x));
    PetscCall(VecPointwiseMult(work_[0], work_[0], is_algebraic_vector_));
    PetscCall(VecAXPY(x, 1, work_[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::solve_algebraic_transposed(Vec x, Vec g) const
{
  PetscFunctionBegin;
  PetscCall(VecSet(g, 0));
  if (!couplings_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(make_work());
  for (int pass = 0; pass < directions(); ++pass) { // g += B x, x -= (I + N^T) B x
    PetscCall(VecPointwiseMult(work_[0], is_algebraic_vector_, x));
    PetscCall(VecAXPY(g, 1, work_[0]));
    PetscCall(MatMultTranspose(couplings_, work_[0], work_[1]));
    PetscCall(VecAXPBYPCZ(x, -1, -1, 1, work_[0], work_[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

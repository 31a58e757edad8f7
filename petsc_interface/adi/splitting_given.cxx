// SPDX-License-Identifier: BSD-2-Clause
// Directions whose matrices the application computes.
#include "splitting.hpp"

#include "../support/csr.hpp"
#include "../support/format.hpp"
#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

/// The first row of this rank without a stored diagonal entry, -1: none. It reads the pattern, because
/// MatMissingDiagonal() may return the result for an older one.
PetscErrorCode RowWithoutDiagonal(Mat A, PetscInt *row)
{
  Mat             block[2];
  const PetscInt *columns;
  HostRows        rows;
  PetscInt        first;
  PetscFunctionBegin;
  *row = -1;
  PetscCall(GetBlocks(A, block, &columns));
  PetscCall(MatGetOwnershipRange(A, &first, nullptr));
  PetscCall(GetHostRows(block[0], false, &rows));
  for (PetscInt r = 0; r < static_cast<PetscInt>(rows.rows) && *row < 0; ++r)
    if (!std::binary_search(rows.column + rows.row_begin[r], rows.column + rows.row_begin[r + 1], r))
      *row = first + r;
  PetscCall(RestoreHostRows(block[0], &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

/// Creates grid and matrices without values, for given directions.
PetscErrorCode DirectionSplitting::make_given(const std::vector<Mat> &A, const SplitJacobian &jacobian)
{
  const MPI_Comm comm  = PetscObjectComm((PetscObject)A[0]);
  DM             dm    = jacobian.dm;
  PetscBool      is_da = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(forget_directions());
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
  if (!is_da && jacobian.J) PetscCall(MatGetDM(jacobian.J, &dm));
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
  if (is_da) PetscCall(grid_.find(A[0], dm));
  else PetscCall(grid_.reset());
  PetscCheck(!grid_.dm() || A.size() <= static_cast<std::size_t>(grid_.dimensions()), comm,
             PETSC_ERR_ARG_OUTOFRANGE, "ADI: %d directions are given, and the grid has %d",
             static_cast<int>(A.size()), grid_.dimensions());
  PetscCheck(A.size() <= 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "ADI: %d directions are given; there are at most 3", static_cast<int>(A.size()));
  for (std::size_t axis = 0; axis < A.size(); ++axis) {
    PetscInt    row;
    std::string error;
    PetscCall(RowWithoutDiagonal(A[axis], &row));
    if (row >= 0)
      error = format("ADI: the matrix that is given for direction %c stores no diagonal entry in row %lld",
                     "xyz"[axis], static_cast<long long>(row));
    PetscCall(CollectiveError(comm, PETSC_ERR_ARG_WRONGSTATE, error));
    Direction d;
    d.name = axis_names[axis], d.axis = static_cast<int>(axis);
    if (grid_.dm()) d.line = static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + d.axis);
    directions_.push_back(d);
    PetscCall(MatDuplicate(A[axis], MAT_DO_NOT_COPY_VALUES, &directions_.back().A));
  }
  PetscCheck(
    !jacobian.mass_matrix || A.size() == 1, comm, PETSC_ERR_SUP,
    "ADI with matrices of the application for %d directions needs a diagonal mass matrix; one direction "
    "alone takes others",
    directions());
  PetscCall(SplitKernels::create(A[0], &kernels_));
  matrices_ = 7, structure_ = next_generation();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// s_b and the couplings of algebraic rows from the rows of A_d, which have -1 on the diagonal already.
PetscErrorCode DirectionSplitting::algebraic_of_given(const std::vector<Mat> &A)
{
  PetscReal norm = 0;
  PetscFunctionBegin;
  PetscCall(MatDestroy(&couplings_));
  PetscCall(make_work());
  PetscCall(VecSet(algebraic_, 0));
  for (Mat a : A) {
    PetscCall(AwaitCopies(work_[0]));
    PetscCall(MatGetDiagonal(a, work_[0]));
    PetscCall(VecAXPY(algebraic_, -1, work_[0]));
  }
  PetscCall(VecReciprocal(algebraic_)); // 0 stays 0
  PetscCall(VecPointwiseMult(algebraic_, algebraic_, is_algebraic_vector_));
  PetscCall(VecCopy(is_algebraic_vector_, work_[0]));
  PetscCall(VecScale(work_[0], -1));
  for (const Direction &d : directions_) {
    Mat rows;
    PetscCall(MatDuplicate(d.A, MAT_COPY_VALUES, &rows));
    PetscCall(MatDiagonalScale(rows, work_[0], nullptr));
    PetscCall(MatDiagonalSet(rows, work_[0], ADD_VALUES));
    if (!couplings_) couplings_ = rows;
    else {
      PetscCall(MatAXPY(couplings_, 1, rows, DIFFERENT_NONZERO_PATTERN));
      PetscCall(MatDestroy(&rows));
    }
  }
  PetscCall(MatNorm(couplings_, NORM_FROBENIUS, &norm));
  if (norm == 0) PetscCall(MatDestroy(&couplings_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::update(const std::vector<Mat> &A, const SplitJacobian &jacobian,
                                          bool *changed)
{
  PetscFunctionBegin;
  PetscCall(Logged(&Events::split, [&] { return update_given(A, jacobian, changed); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::update_given(const std::vector<Mat> &A, const SplitJacobian &jacobian,
                                                bool *changed)
{
  const MPI_Comm comm         = PetscObjectComm((PetscObject)A[0]);
  bool           mass_changed = false, rows_changed = false;
  PetscFunctionBegin;
  std::vector<Pattern> patterns(A.size());
  for (std::size_t d = 0; d < A.size(); ++d) {
    PetscCall(MatGetNonzeroState(A[d], &patterns[d].state));
    PetscCall(PetscObjectGetId((PetscObject)A[d], &patterns[d].of));
  }
  const bool anew = patterns != patterns_;
  if (anew) {
    PetscCall(reset());
    PetscCall(make_given(A, jacobian));
    patterns_ = patterns;
  }
  PetscCall(update_mass(A[0], jacobian, &mass_changed, &rows_changed));
  // a change; a mass; algebraic rows; whether these changed
  int flags[4] = {anew || rows_changed || mass_changed, !mass_is_identity_, 0, rows_changed};
  for (char is : is_algebraic_) flags[2] |= is;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, flags, 4, MPI_INT, MPI_MAX, comm));
  mass_is_identity_ = !flags[1];
  if (flags[3]) structure_ = next_generation();
  PetscCall(make_algebraic_vectors(flags[2] != 0));
  for (std::size_t k = 0; k < A.size(); ++k) {
    bool differs = anew, ignored;
    if (!anew) PetscCall(kernels_->scale_algebraic(A[k], mass_, directions_[k].A, false, &differs));
    int any = differs;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
    if (!any) continue;
    PetscCall(kernels_->scale_algebraic(A[k], mass_, directions_[k].A, true, &ignored));
    flags[0] = 1;
  }
  if (flags[0]) {
    if (flags[2]) PetscCall(algebraic_of_given(A));
    remainder_  = {};
    generation_ = next_generation();
  }
  if (changed) *changed = flags[0] != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

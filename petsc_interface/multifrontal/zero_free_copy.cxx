// SPDX-License-Identifier: BSD-2-Clause
#include "zero_free_copy.hpp"

#include "local_blocks.hpp"

namespace ribbon::petsc {

namespace {

PetscErrorCode PutPlaces(const HostRows &rows, const std::vector<PetscInt> &places, Mat to)
{
  PetscScalar *a;
  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(to, &a));
  for (std::size_t k = 0; k < places.size(); ++k) a[k] = static_cast<PetscScalar>(rows.value[places[k]]);
  PetscCall(MatSeqAIJRestoreArrayWrite(to, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether all entries except those at these places are zero.
bool others_are_zero(const HostRows &rows, PetscInt entries, const std::vector<PetscInt> &places)
{
  std::size_t k = 0;
  for (PetscInt e = 0; e < entries; ++e) {
    if (k < places.size() && places[k] == e) ++k;
    else if (rows.value[e] != Scalar(0)) return false;
  }
  return true;
}

} // namespace

PetscErrorCode CopyWithoutZeros(Mat aij, ZeroFreeCopy *places, Mat *copy)
{
  BothBlocks               A;
  MatType                  type;
  PetscInt                 n, total, first, zeros;
  std::vector<PetscInt>    near_count, far_count, columns;
  std::vector<PetscScalar> values;
  PetscFunctionBegin;
  *copy = nullptr;
  PetscCall(A.open(aij, true));
  *places = {};
  for (PetscInt i = 0; i < A.near.rows; ++i) {
    const auto take = [&](const HostRows &rows, std::vector<PetscInt> &to) {
      const std::size_t before = to.size();
      for (PetscInt e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e)
        if (rows.value[e] != Scalar(0)) to.push_back(e);
      return static_cast<PetscInt>(to.size() - before);
    };
    near_count.push_back(take(A.near, places->near));
    far_count.push_back(A.outside ? take(A.far, places->far) : 0);
  }
  zeros =
    A.near_entries() + A.far_entries() - static_cast<PetscInt>(places->near.size() + places->far.size());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &zeros, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)aij)));
  if (zeros > 0) {
    PetscCall(MatGetLocalSize(aij, &n, nullptr));
    PetscCall(MatGetSize(aij, &total, nullptr));
    PetscCall(MatGetType(aij, &type));
    PetscCall(MatGetOwnershipRange(aij, &first, nullptr));
    PetscCall(MatCreate(PetscObjectComm((PetscObject)aij), copy));
    PetscCall(MatSetSizes(*copy, n, n, total, total));
    PetscCall(MatSetType(*copy, type));
    PetscCall(MatXAIJSetPreallocation(*copy, 1, near_count.data(), far_count.data(), nullptr, nullptr));
    std::size_t near = 0, far = 0;
    for (PetscInt i = 0; i < A.near.rows; ++i) {
      const PetscInt row = first + i;
      columns.clear(), values.clear();
      for (PetscInt k = 0; k < near_count[static_cast<std::size_t>(i)]; ++k, ++near)
        columns.push_back(first + A.near.column[places->near[near]]),
          values.push_back(static_cast<PetscScalar>(A.near.value[places->near[near]]));
      for (PetscInt k = 0; k < far_count[static_cast<std::size_t>(i)]; ++k, ++far)
        columns.push_back(A.columns[A.far.column[places->far[far]]]),
          values.push_back(static_cast<PetscScalar>(A.far.value[places->far[far]]));
      PetscCall(MatSetValues(*copy, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(),
                             values.data(), INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(*copy, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*copy, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(A.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefillWithoutZeros(Mat aij, const ZeroFreeCopy &places, Mat copy, bool *is_done)
{
  BothBlocks      A;
  Mat             local, outside;
  const PetscInt *columns;
  int             done;
  PetscFunctionBegin;
  PetscCall(A.open(aij, true));
  done = others_are_zero(A.near, A.near_entries(), places.near) &&
         (!A.outside || others_are_zero(A.far, A.far_entries(), places.far));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)aij)));
  *is_done = done != 0;
  if (*is_done) {
    PetscCall(LocalBlocks(copy, &local, &outside, &columns));
    PetscCall(PutPlaces(A.near, places.near, local));
    if (outside) PetscCall(PutPlaces(A.far, places.far, outside));
    PetscCall(PetscObjectStateIncrease((PetscObject)copy));
  }
  PetscCall(A.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file open_arrays.hpp  Arrays of vectors and matrices in the memory of an execution space, until they
///   are closed.
#pragma once

#include "csr.hpp"

namespace ribbon::petsc {

enum class Access { read, write, update }; ///< write: every value is set

/// Whether the kernels reach the values of a vector on the device.
inline PetscErrorCode VecIsOnDevice(Vec v, bool *on_device)
{
  PetscBool is = PETSC_FALSE, bound = PETSC_FALSE;
  PetscFunctionBegin;
  if (has_device) {
    PetscCall(
      PetscObjectTypeCompareAny((PetscObject)v, &is, VECSEQCUDA, VECMPICUDA, VECSEQKOKKOS, VECMPIKOKKOS, ""));
    PetscCall(VecBoundToCPU(v, &bound));
  }
  *on_device = is && !bound;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of a vector. Errors: PETSC_ERR_PLIB if a vector is not in the memory of Exec.
template <class Exec>
class OpenVec {
public:
  Scalar *data() const { return reinterpret_cast<Scalar *>(a_); }

  PetscErrorCode open(Vec v, Access access)
  {
    PetscFunctionBegin;
    v_ = v, access_ = access;
    if constexpr (!is_device_space<Exec>) {
      if (access == Access::read) PetscCall(VecGetArrayRead(v, const_cast<const PetscScalar **>(&a_)));
      else PetscCall(access == Access::write ? VecGetArrayWrite(v, &a_) : VecGetArray(v, &a_));
    } else {
      PetscMemType where;
      if (access == Access::read)
        PetscCall(VecGetArrayReadAndMemType(v, const_cast<const PetscScalar **>(&a_), &where));
      else
        PetscCall(access == Access::write ? VecGetArrayWriteAndMemType(v, &a_, &where)
                                          : VecGetArrayAndMemType(v, &a_, &where));
      PetscCheck(PetscMemTypeDevice(where), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Ribbon: a vector of type %s is not on the device", ((PetscObject)v)->type_name);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode close()
  {
    PetscFunctionBegin;
    if constexpr (!is_device_space<Exec>) {
      if (access_ == Access::read) PetscCall(VecRestoreArrayRead(v_, const_cast<const PetscScalar **>(&a_)));
      else PetscCall(access_ == Access::write ? VecRestoreArrayWrite(v_, &a_) : VecRestoreArray(v_, &a_));
    } else {
      if (access_ == Access::read)
        PetscCall(VecRestoreArrayReadAndMemType(v_, const_cast<const PetscScalar **>(&a_)));
      else
        PetscCall(access_ == Access::write ? VecRestoreArrayWriteAndMemType(v_, &a_)
                                           : VecRestoreArrayAndMemType(v_, &a_));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Vec          v_      = nullptr;
  Access       access_ = Access::read;
  PetscScalar *a_      = nullptr;
};

/// The compressed rows of a sequential AIJ matrix. Index is PetscInt, or 32 bits for MATSEQAIJCUSPARSE on a
/// device.
template <class Exec, class Index>
class OpenRows {
public:
  /// without rows if nothing is open
  CsrMatrix<Scalar, Index> rows{};
  /// the entries, if they are open to be written
  Scalar *numbers() const { return const_cast<Scalar *>(rows.value); }

  PetscErrorCode open(Mat block, Access access)
  {
    PetscFunctionBegin;
    block_ = block, access_ = access;
    if constexpr (!is_device_space<Exec>) {
      PetscScalar *a;
      PetscCall(GetHostRows(block, false, &rows));
      if (access == Access::read)
        PetscCall(MatSeqAIJGetArrayRead(block, const_cast<const PetscScalar **>(&a)));
      else PetscCall(MatSeqAIJGetArrayWrite(block, &a));
      rows.value = reinterpret_cast<const Scalar *>(a);
    } else PetscCall(open_on_device());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode close()
  {
    PetscFunctionBegin;
    if (!block_) PetscFunctionReturn(PETSC_SUCCESS);
    if constexpr (!is_device_space<Exec>) {
      auto *a = reinterpret_cast<PetscScalar *>(numbers());
      if (access_ == Access::read)
        PetscCall(MatSeqAIJRestoreArrayRead(block_, const_cast<const PetscScalar **>(&a)));
      else PetscCall(MatSeqAIJRestoreArrayWrite(block_, &a));
      rows.value = nullptr;
      PetscCall(RestoreHostRows(block_, &rows));
    } else PetscCall(close_on_device());
    block_ = nullptr, rows = {};
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Mat    block_  = nullptr;
  Access access_ = Access::read;

  PetscErrorCode open_on_device()
  {
    PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
    PetscBool is_cusparse;
    PetscInt  n;
    PetscCall(MatGetLocalSize(block_, &n, nullptr));
    PetscCall(PetscObjectTypeCompare((PetscObject)block_, MATSEQAIJCUSPARSE, &is_cusparse));
    if constexpr (std::is_same_v<Index, std::int32_t>) {
      if (is_cusparse) {
        const int   *i, *j;
        PetscScalar *a;
        PetscCall(MatSeqAIJCUSPARSEGetIJ(block_, PETSC_FALSE, &i, &j)); // not compressed: every row is there
        if (access_ == Access::read)
          PetscCall(MatSeqAIJCUSPARSEGetArrayRead(block_, const_cast<const PetscScalar **>(&a)));
        else PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(block_, &a));
        rows = {n, i, j, reinterpret_cast<const Scalar *>(a)};
      }
    }
    if constexpr (std::is_same_v<Index, PetscInt>) {
      if (!is_cusparse) {
        const PetscInt *i, *j;
        PetscScalar    *a;
        PetscMemType    where;
        // on the device: marks the values there as the latest
        if (access_ != Access::read) PetscCall(MatZeroEntries(block_));
        PetscCall(MatSeqAIJGetCSRAndMemType(block_, &i, &j, &a, &where));
        PetscCheck(PetscMemTypeDevice(where), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "Ribbon: the rows of a matrix of type %s are not on the device",
                   ((PetscObject)block_)->type_name);
        rows = {n, i, j, reinterpret_cast<const Scalar *>(a)};
      }
    }
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode close_on_device()
  {
    PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
    PetscBool is_cusparse;
    PetscCall(PetscObjectTypeCompare((PetscObject)block_, MATSEQAIJCUSPARSE, &is_cusparse));
    if (is_cusparse) {
      auto *a = reinterpret_cast<PetscScalar *>(numbers());
      if (access_ == Access::read)
        PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(block_, const_cast<const PetscScalar **>(&a)));
      else PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(block_, &a));
    }
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace ribbon::petsc

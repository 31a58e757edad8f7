// SPDX-License-Identifier: BSD-2-Clause
/// @file native_vectors.hpp  Vectors of other types than those of a matrix, such as columns of a dense
///   matrix in host memory for a matrix on a device.
#pragma once

#include "csr.hpp"

#include <cstring>

namespace ribbon::petsc {

/// Raises an error for a vector by which PETSc does not multiply A. A matrix of a device type needs vectors
/// of the corresponding type, which PETSc checks only with debugging. Otherwise products are undefined, or
/// the program crashes. Errors: PETSC_ERR_ARG_INCOMP.
/// @param who  begins the sentence
inline PetscErrorCode CheckIsMultiplied(Mat A, Vec v, const char *who)
{
  PetscBool cusparse, kokkos, bound;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &cusparse, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &kokkos, MATSEQAIJKOKKOS, MATMPIAIJKOKKOS, ""));
  PetscCall(IsBoundToHost(A, &bound));
  if ((!cusparse && !kokkos) || bound) PetscFunctionReturn(PETSC_SUCCESS);
  const char *own = cusparse ? "cuda" : "kokkos", *type = ((PetscObject)v)->type_name;
  PetscCheck(std::strstr(type, own), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_INCOMP,
             "%s: the matrix is of type %s, which PETSc multiplies with %s vectors alone, and the right-hand "
             "side is of "
             "type %s: take -vec_type %s (-dm_vec_type %s with a DM), or -mat_type aij",
             who, ((PetscObject)A)->type_name, own, type, own, own);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// to = from, of any types.
inline PetscErrorCode CopyThroughHost(Vec from, Vec to)
{
  const PetscScalar *f;
  PetscScalar       *t;
  PetscInt           n;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(from, &n));
  PetscCall(VecGetArrayRead(from, &f));
  PetscCall(VecGetArrayWrite(to, &t));
  PetscCall(PetscArraycpy(t, f, n));
  PetscCall(VecRestoreArrayWrite(to, &t));
  PetscCall(VecRestoreArrayRead(from, &f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Copies in vectors by which PETSc can multiply a matrix. Its product with others is undefined: it
/// crashes, or reads an old copy on the device.
class NativeVectors {
public:
  /// Calls f(b, x) with b and x, or with copies if one of them has another type than `like`.
  /// @param reads_x  f reads x, so the copy has its values before the call
  template <class F>
  PetscErrorCode with(Vec like, Vec b, Vec x, const F &f, bool reads_x = false)
  {
    PetscBool b_is = PETSC_TRUE, x_is = PETSC_TRUE;
    PetscFunctionBegin;
    if (like) PetscCall(PetscObjectTypeCompare((PetscObject)b, ((PetscObject)like)->type_name, &b_is));
    if (like) PetscCall(PetscObjectTypeCompare((PetscObject)x, ((PetscObject)like)->type_name, &x_is));
    if (b_is && x_is) {
      PetscCall(f(b, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (!b_) PetscCall(VecDuplicate(like, &b_));
    if (!x_) PetscCall(VecDuplicate(like, &x_));
    PetscCall(CopyThroughHost(b, b_));
    if (reads_x) PetscCall(CopyThroughHost(x, x_));
    PetscCall(f(b_, x_));
    PetscCall(CopyThroughHost(x_, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode reset()
  {
    PetscFunctionBegin;
    PetscCall(VecDestroy(&b_));
    PetscCall(VecDestroy(&x_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Vec b_ = nullptr, x_ = nullptr; ///< created on first use
};

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "kronecker.hpp"

#include <Kokkos_Core.hpp>

#include <type_traits>

PetscErrorCode KroneckerCreate(int dim, const Mat A[], bool inverse, Kronecker *product)
{
  PetscInt rows[3] = {1, 1, 1}, columns[3] = {1, 1, 1}, others;

  PetscFunctionBeginUser;
  *product     = {};
  product->dim = dim;
  for (int k = 0; k < dim; k++) PetscCall(MatGetSize(A[k], &rows[k], &columns[k]));
  for (int k = 0; k < dim; k++) {
    VecType type;
    others = 1;
    for (int j = 0; j < dim; j++)
      if (j != k) others *= j < k ? rows[j] : columns[j];
    PetscCall(PetscObjectReference((PetscObject)A[k]));
    product->A[k] = A[k];
    PetscCall(MatGetVecType(A[k], &type));
    PetscCall(iga::CreateDense(PETSC_COMM_SELF, type, columns[k], columns[k], others, &product->in[k]));
    if (inverse) {
      PC pc;
      PetscCall(KSPCreate(PETSC_COMM_SELF, &product->inverse[k]));
      PetscCall(KSPSetOptionsPrefix(product->inverse[k], "direction_"));
      PetscCall(KSPSetOperators(product->inverse[k], A[k], A[k]));
      PetscCall(KSPSetType(product->inverse[k], KSPPREONLY));
      PetscCall(KSPSetErrorIfNotConverged(product->inverse[k], PETSC_TRUE));
      PetscCall(KSPGetPC(product->inverse[k], &pc));
      PetscCall(PCSetType(pc, PCLU));
      PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL));
      PetscCall(KSPSetFromOptions(product->inverse[k]));
      PetscCall(KSPSetUp(product->inverse[k]));
      PetscCall(MatDuplicate(product->in[k], MAT_DO_NOT_COPY_VALUES, &product->out[k]));
    } else PetscCall(MatMatMult(A[k], product->in[k], MAT_INITIAL_MATRIX, 1, &product->out[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KroneckerDestroy(Kronecker *product)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < product->dim; k++) {
    PetscCall(KSPDestroy(&product->inverse[k]));
    PetscCall(MatDestroy(&product->A[k]));
    PetscCall(MatDestroy(&product->in[k]));
    PetscCall(MatDestroy(&product->out[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// `to`, columns x rows, becomes the transpose of `from`. Both store their columns one after another.
template <class Exec>
static void Transpose(PetscInt rows, PetscInt columns, const PetscScalar *from, PetscScalar *to)
{
  using Space  = typename Exec::memory_space;
  using Traits = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<const PetscScalar **, Kokkos::LayoutLeft, Space, Traits> source(
    from, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const Kokkos::View<PetscScalar **, Kokkos::LayoutRight, Space, Traits> target(
    to, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  Kokkos::fence(); // wait for the streams of PETSc
  Kokkos::deep_copy(Exec(), target, source);
  Kokkos::fence();
}

static PetscErrorCode TransposeThere(PetscInt rows, PetscInt columns, const PetscScalar *from,
                                     PetscMemType where_from, PetscScalar *to, PetscMemType where_to)
{
  using Host   = Kokkos::DefaultHostExecutionSpace;
  using Device = Kokkos::DefaultExecutionSpace;

  PetscFunctionBeginUser;
  PetscCheck(PetscMemTypeHost(where_from) || !(std::is_same<Host, Device>::value), PETSC_COMM_SELF,
             PETSC_ERR_SUP, "-mat_type: this Kokkos has no device, where such matrices are");
  PetscCheck(PetscMemTypeHost(where_from) == PetscMemTypeHost(where_to), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-mat_type: vectors and dense matrices are not in the same memory");
  if (PetscMemTypeHost(where_from)) PetscCallCXX(Transpose<Host>(rows, columns, from, to));
  else PetscCallCXX(Transpose<Device>(rows, columns, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KroneckerApply(Kronecker &product, Vec x, Vec y)
{
  const PetscScalar *px;
  PetscScalar       *from, *to;
  PetscMemType       where_from, where_to;
  PetscInt           rows, columns;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &rows));
  PetscCall(VecGetArrayReadAndMemType(x, &px, &where_from));
  PetscCall(iga::GetDense(product.in[0], &to, &where_to));
  PetscCall(TransposeThere(rows, 1, px, where_from, to, where_to));
  PetscCall(iga::RestoreDense(product.in[0], &to));
  PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  for (int k = 0; k < product.dim; k++) {
    const bool last = k + 1 == product.dim;
    if (product.inverse[k]) PetscCall(KSPMatSolve(product.inverse[k], product.in[k], product.out[k]));
    else PetscCall(MatMatMult(product.A[k], product.in[k], MAT_REUSE_MATRIX, 1, &product.out[k]));
    PetscCall(MatGetSize(product.out[k], &rows, &columns));
    PetscCall(iga::GetDense(product.out[k], &from, &where_from));
    if (last) PetscCall(VecGetArrayWriteAndMemType(y, &to, &where_to));
    else PetscCall(iga::GetDense(product.in[k + 1], &to, &where_to));
    PetscCall(TransposeThere(rows, columns, from, where_from, to, where_to));
    if (last) PetscCall(VecRestoreArrayWriteAndMemType(y, &to));
    else PetscCall(iga::RestoreDense(product.in[k + 1], &to));
    PetscCall(iga::RestoreDense(product.out[k], &from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KroneckerAssemble(int dim, const Mat A[], Mat *C)
{
  MatType type;
  Mat     factor, smaller;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A[0], &type));
  PetscCall(MatConvert(A[0], MATSEQAIJ, MAT_INITIAL_MATRIX, C)); // PETSc has a product only of this type
  for (int k = 1; k < dim; k++) {
    smaller = *C;
    PetscCall(MatConvert(A[k], MATSEQAIJ, MAT_INITIAL_MATRIX, &factor));
    PetscCall(MatSeqAIJKron(factor, smaller, MAT_INITIAL_MATRIX, C));
    PetscCall(MatDestroy(&factor));
    PetscCall(MatDestroy(&smaller));
  }
  PetscCall(MatConvert(*C, type, MAT_INPLACE_MATRIX, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* compat.h  The only place that asks which PETSc this is (3.18 to 3.26). */
#pragma once

#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/snesimpl.h>
#include <petscdmda.h>
#include <petscdevice.h>
#include <petscksp.h>

#include <ribbon/compat.hpp>

#include <complex>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

#if PETSC_VERSION_LT(3, 23, 0)
using RibbonOptionItems = PetscOptionItems *;
#else
using RibbonOptionItems          = PetscOptionItems;
#endif

#if PETSC_VERSION_GE(3, 20, 0)
  #define RIBBON_PETSC_HAS_STREAMS 1 /* PetscDeviceContextGetStreamHandle() */
#endif

#if PETSC_VERSION_GE(3, 21, 0)
  #define RIBBON_PETSC_HAS_RESIZE 1 /* ts->ops->resizeregister, TSSetResize() with a choice of rolling back */
#endif

#if PETSC_VERSION_GE(3, 24, 0)
  #define RIBBON_PETSC_HAS_MATAPPLYTRANSPOSE 1 /* pc->ops->matapplytranspose */
#endif

/* Whether MPI takes pointers to device memory: PETSc finds out when it starts, -use_gpu_aware_mpi says otherwise. */
static inline PetscBool RibbonMPITakesDevicePointers(void)
{
  return use_gpu_aware_mpi;
}

/* What PCSetPreSolve() set is called by PETSc only where the type has no presolve of its own; from 3.24 there is no such function. */
static inline PetscErrorCode RibbonCallPreSolve([[maybe_unused]] PC pc, [[maybe_unused]] KSP ksp)
{
#if PETSC_VERSION_LT(3, 24, 0)
  if (pc->presolve) return (pc->presolve)(pc, ksp);
#endif
  return PETSC_SUCCESS;
}

/* For ksp->ops->matsolve: 3.18 cannot solve transposed systems for dense matrices, and leaves the mark of a transposed solve before. */
#if PETSC_VERSION_LT(3, 19, 0)
  #define RibbonMatSolveBegin(ksp) ((ksp)->transpose_solve = PETSC_FALSE)
#else
  #define RibbonMatSolveBegin(ksp) ((void)(ksp))
#endif

/* Arrays of a dense matrix where they are; 3.18 hands out host arrays only. */
#if PETSC_VERSION_LT(3, 19, 0)
static inline PetscErrorCode RibbonDenseGetArrayReadAndMemType(Mat A, const PetscScalar **a, PetscMemType *m)
{
  *m = PETSC_MEMTYPE_HOST;
  return MatDenseGetArrayRead(A, a);
}
static inline PetscErrorCode RibbonDenseRestoreArrayReadAndMemType(Mat A, const PetscScalar **a)
{
  return MatDenseRestoreArrayRead(A, a);
}
static inline PetscErrorCode RibbonDenseGetArrayWriteAndMemType(Mat A, PetscScalar **a, PetscMemType *m)
{
  *m = PETSC_MEMTYPE_HOST;
  return MatDenseGetArrayWrite(A, a);
}
static inline PetscErrorCode RibbonDenseRestoreArrayWriteAndMemType(Mat A, PetscScalar **a)
{
  return MatDenseRestoreArrayWrite(A, a);
}
#else
  #define RibbonDenseGetArrayReadAndMemType      MatDenseGetArrayReadAndMemType
  #define RibbonDenseRestoreArrayReadAndMemType  MatDenseRestoreArrayReadAndMemType
  #define RibbonDenseGetArrayWriteAndMemType     MatDenseGetArrayWriteAndMemType
  #define RibbonDenseRestoreArrayWriteAndMemType MatDenseRestoreArrayWriteAndMemType
#endif

/* Forgets that the application's function was outside its domain, as SNESComputeFunction() does before it calls. Newer PETScs have another name for it. */
template <class S>
auto RibbonClearDomainError(S snes, int) -> decltype(snes->domainerror, PetscErrorCode())
{
  snes->domainerror = PETSC_FALSE;
  return PETSC_SUCCESS;
}
template <class S>
auto RibbonClearDomainError(S snes, long) -> decltype(snes->functiondomainerror, PetscErrorCode())
{
  snes->functiondomainerror = PETSC_FALSE;
  return PETSC_SUCCESS;
}
inline PetscErrorCode RibbonClearDomainError(SNES snes)
{
  return RibbonClearDomainError(snes, 0);
}

namespace ribbon::petsc {

/// The kernels' name for PetscScalar.
template <class T>
struct KernelScalar {
  using type = void;
};
template <>
struct KernelScalar<float> {
  using type = float;
};
template <>
struct KernelScalar<double> {
  using type = double;
};
template <>
struct KernelScalar<std::complex<double>> {
  using type = Kokkos::complex<double>;
};
using Scalar = KernelScalar<PetscScalar>::type;
static_assert(!std::is_void_v<Scalar>, "Ribbon takes PETSc with real double, real single or complex double scalars; this PETSc has another PetscScalar");
static_assert(sizeof(Scalar) == sizeof(PetscScalar), "PetscScalar and the kernels' scalar must have one layout");

using HostExec   = Kokkos::DefaultHostExecutionSpace;
using DeviceExec = Kokkos::DefaultExecutionSpace;
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
inline constexpr bool has_device = true;
#else
inline constexpr bool has_device = false;
#endif

} // namespace ribbon::petsc

/* SPDX-License-Identifier: BSD-2-Clause */
/* compat.h  The only file that depends on the version of PETSc (3.18 to 3.26). */
#pragma once

#include <petsc/private/dmimpl.h>
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/snesimpl.h>
#include <petsc/private/tsimpl.h>
#include <petscdmda.h>
#include <petscdevice.h>
#include <petscksp.h>
#include <petscts.h>

#include <ribbon/compat.hpp>

#include <complex>
#include <limits>
#include <utility>

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

#if PETSC_VERSION_LT(3, 20, 0)
  #define PetscAssertPointer PetscValidPointer
#endif

#if PETSC_VERSION_LT(3, 23, 0)
using RibbonOptionItems = PetscOptionItems *;
#else
using RibbonOptionItems = PetscOptionItems;
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

/* Whether MPI accepts pointers to device memory. PETSc determines it at its start, and -use_gpu_aware_mpi
   overrides it. */
static inline PetscBool RibbonMPITakesDevicePointers(void)
{
  return use_gpu_aware_mpi;
}

/* Fills a vector with infinity, which cannot be mistaken for a solution. PETSC_INFINITY is finite in PETSc 3.18. */
static inline PetscErrorCode RibbonVecSetInfinity(Vec x)
{
  return VecSet(x, std::numeric_limits<PetscReal>::infinity());
}

/* Calls the function of PCSetPreSolve(). PETSc calls it only if the type has no presolve function; from 3.24
   on PCSetPreSolve() does not exist. */
static inline PetscErrorCode RibbonCallPreSolve([[maybe_unused]] PC pc, [[maybe_unused]] KSP ksp)
{
#if PETSC_VERSION_LT(3, 24, 0)
  if (pc->presolve) return (pc->presolve)(pc, ksp);
#endif
  return PETSC_SUCCESS;
}

/* For ksp->ops->matsolve: 3.18 cannot solve transposed systems for dense matrices, and does not reset the
   flag of an earlier transposed solve. */
#if PETSC_VERSION_LT(3, 19, 0)
  #define RibbonMatSolveBegin(ksp) ((ksp)->transpose_solve = PETSC_FALSE)
#else
  #define RibbonMatSolveBegin(ksp) ((void)(ksp))
#endif

/* PCSetUp() compares a state of Pmat with that of the last set-up. The state that this returns is set to -1 to
   force a set-up with the same pattern. PETSc 3.26 made it a member of MatState. */
static inline PetscObjectState &RibbonMatState(PC pc)
{
#if defined(MatStateInvalidate)
  return pc->matstate.state;
#else
  return pc->matstate;
#endif
}

/* Exchanges the right-hand sides of KSPMatSolve(). From 3.26 on the default convergence test takes the norm
   of these, not that of ksp->vec_rhs. */
static inline Mat RibbonSwapMatRHS([[maybe_unused]] KSP ksp, [[maybe_unused]] Mat B)
{
#if PETSC_VERSION_LT(3, 26, 0)
  return nullptr;
#else
  std::swap(ksp->mat_rhs, B);
  return B;
#endif
}

/* Arrays of a dense matrix in their memory; 3.18 only returns host arrays. */
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

/* Whether the application's function was out of its domain. SNESComputeFunction() resets the flag before the
   call. */
inline PetscBool &RibbonFunctionDomainError(SNES snes)
{
#if PETSC_VERSION_LT(3, 25, 0)
  return snes->domainerror;
#else
  return snes->functiondomainerror;
#endif
}

#if PETSC_VERSION_LT(3, 25, 0)
  #define RIBBON_SNES_DIVERGED_NANORINF SNES_DIVERGED_FNORM_NAN
#else
  #define RIBBON_SNES_DIVERGED_NANORINF SNES_DIVERGED_FUNCTION_NANORINF
#endif

#if PETSC_VERSION_LT(3, 26, 0)
using RibbonTSIFunction   = TSIFunction;
using RibbonTSRHSFunction = TSRHSFunction;
using RibbonTSIJacobian   = TSIJacobian;
using RibbonTSRHSJacobian = TSRHSJacobian;
  #define RibbonGMRESRefineAlways(ksp) KSPGMRESSetCGSRefinementType(ksp, KSP_GMRES_CGS_REFINE_ALWAYS)
#else
using RibbonTSIFunction   = TSIFunctionFn *;
using RibbonTSRHSFunction = TSRHSFunctionFn *;
using RibbonTSIJacobian   = TSIJacobianFn *;
using RibbonTSRHSJacobian = TSRHSJacobianFn *;
  #define RibbonGMRESRefineAlways(ksp)                                                                       \
    KSPOrthogonalizationSetCGSRefinementType(ksp, KSP_ORTHOGONALIZATION_CGS_REFINE_ALWAYS)
#endif

/* TSStep() stores a copy of the solution in ts->vec_sol0 before it calls the type, and TSRollBack() restores
   it. Null before 3.21: the type stores it. */
static inline Vec *RibbonStartOfStep([[maybe_unused]] TS ts)
{
#if PETSC_VERSION_LT(3, 21, 0)
  return nullptr;
#else
  return &ts->vec_sol0;
#endif
}

/* The next time of TSSetTimeSpan() or TSSetEvaluationTimes(), at which TSSolve() stores the solution. Large
   if there is none. */
static inline PetscReal RibbonNextEvaluationTime(TS ts)
{
#if PETSC_VERSION_LT(3, 23, 0)
  if (ts->tspan && ts->tspan->spanctr < ts->tspan->num_span_times)
    return ts->tspan->span_times[ts->tspan->spanctr];
#else
  if (ts->eval_times && ts->eval_times->time_point_idx < ts->eval_times->num_time_points)
    return ts->eval_times->time_points[ts->eval_times->time_point_idx];
#endif
  return PETSC_MAX_REAL;
}

/* TSStep() resets the tolerance of these times before each step, and TSAdaptChoose() sets it. */
static inline void RibbonResetEvaluationTolerance([[maybe_unused]] TS ts)
{
#if PETSC_VERSION_GE(3, 21, 0) && PETSC_VERSION_LT(3, 23, 0)
  if (ts->tspan) ts->tspan->worktol = 0;
#elif PETSC_VERSION_GE(3, 23, 0)
  if (ts->eval_times) ts->eval_times->worktol = 0;
#endif
}

/* The step size that TSAdaptChoose() uses again after it shortened a step to meet one of these times. */
static inline PetscReal &RibbonCachedStep(TSAdapt adapt)
{
#if PETSC_VERSION_LT(3, 23, 0)
  return adapt->dt_span_cached;
#else
  return adapt->dt_eval_times_cached;
#endif
}

/* The step number at which TSSolve() ends. */
static inline PetscInt RibbonLastStep(TS ts)
{
#if PETSC_VERSION_GE(3, 24, 0)
  if (ts->run_steps < ts->max_steps - ts->start_step) return ts->start_step + ts->run_steps;
#endif
  return ts->max_steps;
}

/* Whether TSSolve() asks the application after each step if the grid changes. */
static inline bool RibbonMayResize([[maybe_unused]] TS ts)
{
#if PETSC_VERSION_LT(3, 21, 0)
  return false;
#else
  return ts->resizesetup != nullptr;
#endif
}

/* PCSetDiagonalScale() does not exist from 3.26 on. */
static inline PetscErrorCode RibbonGetDiagonalScale([[maybe_unused]] PC pc, PetscBool *scales)
{
#if PETSC_VERSION_LT(3, 26, 0)
  return PCGetDiagonalScale(pc, scales);
#else
  *scales = PETSC_FALSE;
  return PETSC_SUCCESS;
#endif
}

namespace ribbon::petsc {

/// The type of the kernels for PetscScalar.
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
static_assert(!std::is_void_v<Scalar>, "Ribbon takes PETSc with real double, real single or complex double "
                                       "scalars; this PETSc has another PetscScalar");
static_assert(sizeof(Scalar) == sizeof(PetscScalar),
              "PetscScalar and the kernels' scalar must have one layout");

using HostExec   = Kokkos::DefaultHostExecutionSpace;
using DeviceExec = Kokkos::DefaultExecutionSpace;
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
inline constexpr bool has_device = true;
#else
inline constexpr bool has_device = false;
#endif

} // namespace ribbon::petsc

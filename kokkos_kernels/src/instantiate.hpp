// SPDX-License-Identifier: BSD-2-Clause
/// @file instantiate.hpp  The scalars and execution spaces that the library is built for.
#pragma once

#include <ribbon/compat.hpp>

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
  #define RIBBON_HAS_DEVICE 1 ///< the default execution space is not the default host execution space
#endif

/// INSTANTIATE(Scalar, Exec) for all of them.
#define RIBBON_INSTANTIATE_ON(INSTANTIATE, Exec)                                                             \
  INSTANTIATE(float, Exec) INSTANTIATE(double, Exec) INSTANTIATE(Kokkos::complex<double>, Exec)
/// INSTANTIATE(Scalar, Exec) for all spaces.
#ifdef RIBBON_HAS_DEVICE
  #define RIBBON_INSTANTIATE_SPACES(INSTANTIATE, Scalar)                                                     \
    INSTANTIATE(Scalar, Kokkos::DefaultHostExecutionSpace)                                                   \
    INSTANTIATE(Scalar, Kokkos::DefaultExecutionSpace)
  #define RIBBON_INSTANTIATE_ALL(INSTANTIATE)                                                                \
    RIBBON_INSTANTIATE_ON(INSTANTIATE, Kokkos::DefaultHostExecutionSpace)                                    \
    RIBBON_INSTANTIATE_ON(INSTANTIATE, Kokkos::DefaultExecutionSpace)
#else
  #define RIBBON_INSTANTIATE_SPACES(INSTANTIATE, Scalar)                                                     \
    INSTANTIATE(Scalar, Kokkos::DefaultHostExecutionSpace)
  #define RIBBON_INSTANTIATE_ALL(INSTANTIATE)                                                                \
    RIBBON_INSTANTIATE_ON(INSTANTIATE, Kokkos::DefaultHostExecutionSpace)
#endif

// SPDX-License-Identifier: BSD-2-Clause
/// @file staging.hpp  Host memory with fast copies from and to a device.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

template <class Exec>
struct StagingSpace {
  using type = Kokkos::HostSpace;
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct StagingSpace<Kokkos::Cuda> {
  using type = Kokkos::CudaHostPinnedSpace;
};
#endif

/// Scalars that a device copies to the host.
template <class Exec>
using StagedWords = Kokkos::View<double *, typename StagingSpace<Exec>::type>;

} // namespace ribbon

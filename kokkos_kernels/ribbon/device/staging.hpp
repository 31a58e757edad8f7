// SPDX-License-Identifier: BSD-2-Clause
/// @file staging.hpp  Host memory that a device copies to and from at full speed.
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

/// Numbers that a device copies to the host.
template <class Exec>
using StagedWords = Kokkos::View<double *, typename StagingSpace<Exec>::type>;

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file counters.hpp  Counters of kernels, read on the host.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>
#include <vector>

namespace ribbon::detail {

/// Copies counters to the host and waits.
template <class Exec>
std::vector<std::int64_t> counted(const Exec                                                      &exec,
                                  const Kokkos::View<std::int64_t *, typename Exec::memory_space> &there)
{
  std::vector<std::int64_t> here(there.extent(0));
  Kokkos::deep_copy(exec,
                    Kokkos::View<std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                      here.data(), here.size()),
                    there);
  exec.fence();
  return here;
}

} // namespace ribbon::detail

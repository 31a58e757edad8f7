// SPDX-License-Identifier: BSD-2-Clause
/// @file large.hpp  Free memory, and places of unknowns, for tests of large batches.
#pragma once

#include "batch.hpp"

#include <unistd.h>

namespace test {

/// Free memory of the default execution space.
inline std::size_t free_memory()
{
#ifdef KOKKOS_ENABLE_CUDA
  std::size_t free = 0, all = 0;
  cudaMemGetInfo(&free, &all);
  return free;
#else
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#endif
}

/// Place of component a of row i of line l, by the formula of LineSet.
KOKKOS_INLINE_FUNCTION std::int64_t place(const ribbon::LineSet &s, std::int64_t l, std::int64_t i,
                                          std::int64_t a)
{
  return s.offset + i * s.row_stride + l % s.count0 * s.stride0 + l / s.count0 * s.stride1 +
         a * s.component_stride;
}

} // namespace test

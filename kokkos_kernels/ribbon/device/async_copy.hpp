// SPDX-License-Identifier: BSD-2-Clause
/// @file async_copy.hpp  Copies from global memory to team scratch that do not pass through registers
///   (cp.async), plain copies elsewhere.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon::device {

/// Starts copying one scalar to team scratch. The same thread may read it after async_wait.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void async_copy(Scalar *to, const Scalar *from)
{
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (sizeof(Scalar) == 16)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
  else if constexpr (sizeof(Scalar) == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(from));
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(from));
#else
  *to                           = *from;
#endif
}

/// Scalars that fill 16 bytes.
template <class Scalar>
inline constexpr int pack = sizeof(Scalar) < 16 ? static_cast<int>(16 / sizeof(Scalar)) : 1;

/// async_copy of a pack of neighbouring scalars. Both addresses are multiples of 16 bytes. The copy
/// bypasses the L1 cache, which is too small next to the scratch to hold the rows in flight. CUDA only.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void async_copy_pack([[maybe_unused]] Scalar *to, [[maybe_unused]] const Scalar *from)
{
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile(
    "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
    "l"(from));
#elif defined(__CUDA_ARCH__)
  *reinterpret_cast<int4 *>(to) = *reinterpret_cast<const int4 *>(from);
#endif
}

/// Reads one scalar that is used once. On CUDA the load keeps its place in the code: ptxas would move it
/// behind the wait for the copies.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar streaming_load(const Scalar *from)
{
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Scalar, double>) {
    double value;
    asm volatile("ld.volatile.global.f64 %0, [%1];" : "=d"(value) : "l"(from));
    return value;
  } else if constexpr (std::is_same_v<Scalar, float>) {
    float value;
    asm volatile("ld.volatile.global.f32 %0, [%1];" : "=f"(value) : "l"(from));
    return value;
  } else {
    double real, imaginary;
    asm volatile("ld.volatile.global.v2.f64 {%0, %1}, [%2];" : "=d"(real), "=d"(imaginary) : "l"(from));
    return Scalar(real, imaginary);
  }
#else
  return *from;
#endif
}

/// Starts loading a cache line to the L2 cache. A later read uses it.
KOKKOS_INLINE_FUNCTION void prefetch([[maybe_unused]] const void *from)
{
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}

/// `lanes` lanes (a power of two, neighbours in a warp) copy `bytes` (a multiple of 16) to scratch
/// together.
/// @param keep  in the L1 cache for later teams. Otherwise all multiprocessors wait for the same few lines
///   of the L2 cache
KOKKOS_INLINE_FUNCTION void async_copy_block([[maybe_unused]] void *to, [[maybe_unused]] const void *from,
                                             [[maybe_unused]] int bytes, [[maybe_unused]] int lane,
                                             [[maybe_unused]] int lanes, [[maybe_unused]] bool keep)
{
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  for (int k = lane * 16; k < bytes; k += lanes * 16) {
    if (keep)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address + k),
                   "l"(static_cast<const char *>(from) + k));
    else
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address + k),
                   "l"(static_cast<const char *>(from) + k));
  }
#elif defined(__CUDA_ARCH__)
  for (int k = lane; k < bytes / 16; k += lanes)
    static_cast<int4 *>(to)[k] = static_cast<const int4 *>(from)[k];
#endif
}

#if defined(__CUDA_ARCH__)
/// Bit mask of the lanes of one chunk in a warp.
KOKKOS_INLINE_FUNCTION unsigned lane_mask(int lanes)
{
  return lanes >= 32 ? 0xffffffffu
                     : ((1u << lanes) - 1u)
                         << (threadIdx.x % 32u / static_cast<unsigned>(lanes) * static_cast<unsigned>(lanes));
}
#endif

/// The lanes of one chunk wait for each other.
KOKKOS_INLINE_FUNCTION void lane_barrier([[maybe_unused]] int lanes)
{
#if defined(__CUDA_ARCH__)
  if (lanes >= 32) __syncwarp();
  else __syncwarp(lane_mask(lanes));
#endif
}

/// The value of the first lane of one chunk.
template <class T>
KOKKOS_INLINE_FUNCTION T *of_first_lane([[maybe_unused]] int lanes, T *value)
{
#if defined(__CUDA_ARCH__)
  return reinterpret_cast<T *>(
    __shfl_sync(lane_mask(lanes), reinterpret_cast<unsigned long long>(value), 0, lanes < 32 ? lanes : 32));
#else
  return value;
#endif
}

/// Whether `condition` holds for all lanes of one chunk.
KOKKOS_INLINE_FUNCTION bool all_lanes([[maybe_unused]] int lanes, bool condition)
{
#if defined(__CUDA_ARCH__)
  return __all_sync(lane_mask(lanes), condition);
#else
  return condition;
#endif
}

/// Closes a group of copies.
KOKKOS_INLINE_FUNCTION void async_commit()
{
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}

/// Waits until at most `pending` of the closed groups are unfinished. `pending` must be a constant after
/// loops are unrolled.
KOKKOS_INLINE_FUNCTION void async_wait([[maybe_unused]] int pending)
{
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  #define RIBBON_WAIT(N)                                                                                     \
  case N:                                                                                                    \
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");                                             \
    break;
  switch (pending) {
    RIBBON_WAIT(7)
    RIBBON_WAIT(6)
    RIBBON_WAIT(5)
    RIBBON_WAIT(4)
    RIBBON_WAIT(3)
    RIBBON_WAIT(2)
    RIBBON_WAIT(1)
  default:
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
  #undef RIBBON_WAIT
#endif
}

} // namespace ribbon::device

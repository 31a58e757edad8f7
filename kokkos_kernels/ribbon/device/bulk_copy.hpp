// SPDX-License-Identifier: BSD-2-Clause
/// @file bulk_copy.hpp  Copies of whole lines between memory and team scratch by the copy engine
///   (cp.async.bulk), compute capability 9 and later.
///
/// One thread requests a line. The values pass neither through registers nor through the L1 cache.
/// Addresses and sizes are multiples of 16 bytes. Other devices never call these functions: bulk_copies is
/// false.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>

namespace ribbon::device {

template <class Team>
inline constexpr bool bulk_copies = false;

/// Counter of the bytes that the copy engine has delivered: one word of scratch.
struct Arrival {
  static constexpr std::size_t bytes = 16; ///< size in scratch
  std::uint64_t               *word;

  /// One thread announces `size` bytes (less than 2^20) before any copy starts. The other threads may wait
  /// after a barrier of the team.
  /// @param round  index of the tile, if a team loads several tiles one after another
  KOKKOS_INLINE_FUNCTION void expect([[maybe_unused]] int size, [[maybe_unused]] int round = 0) const
  {
#if defined(RIBBON_CUDA_90) && defined(__CUDA_ARCH__)
    if (round == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address()) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(size)
                 : "memory");
#endif
  }
  /// Starts a copy to scratch.
  KOKKOS_INLINE_FUNCTION void copy([[maybe_unused]] void *to, [[maybe_unused]] const void *from,
                                   [[maybe_unused]] int size) const
  {
#if defined(RIBBON_CUDA_90) && defined(__CUDA_ARCH__)
    asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
        static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(from), "r"(size), "r"(address())
      : "memory");
#endif
  }
  /// Waits for all announced bytes. Every thread that reads them calls this.
  KOKKOS_INLINE_FUNCTION void await([[maybe_unused]] int round = 0) const
  {
#if defined(RIBBON_CUDA_90) && defined(__CUDA_ARCH__)
    for (unsigned done = 0; done == 0;)
      asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(address()), "r"(round & 1)
        : "memory");
#endif
  }

private:
#if defined(RIBBON_CUDA_90) && defined(__CUDA_ARCH__)
  __device__ unsigned address() const
  {
    return static_cast<unsigned>(__cvta_generic_to_shared(word));
  }
#endif
};

/// Makes the writes of this thread to scratch visible to copies that another thread starts after a barrier
/// of the team.
KOKKOS_INLINE_FUNCTION void release_to_bulk_copies()
{
#if defined(RIBBON_CUDA_90) && defined(__CUDA_ARCH__)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Starts a copy from scratch to memory.
KOKKOS_INLINE_FUNCTION void bulk_store([[maybe_unused]] void *to, [[maybe_unused]] const void *from,
                                       [[maybe_unused]] int bytes)
{
#if defined(RIBBON_CUDA_90) && defined(__CUDA_ARCH__)
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
/// Waits until the copies that this thread started have read scratch.
KOKKOS_INLINE_FUNCTION void await_bulk_stores()
{
#if defined(RIBBON_CUDA_90) && defined(__CUDA_ARCH__)
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

#ifdef RIBBON_CUDA_90
template <>
inline constexpr bool bulk_copies<CudaTeam> = true;
#endif

} // namespace ribbon::device

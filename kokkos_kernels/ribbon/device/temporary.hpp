// SPDX-License-Identifier: BSD-2-Clause
/// @file temporary.hpp  Memory for a few kernels that run one after another.
#pragma once

#include <ribbon/compat.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace ribbon {

namespace device {

#ifdef KOKKOS_ENABLE_CUDA
/// One pool per process, on the first device that requests it, until Kokkos::finalize(). Null on any other
/// device, and without pool support.
inline cudaMemPool_t temporary_pool()
{
  static cudaMemPool_t pool           = nullptr;
  static int           device_of_pool = -1;
  int                  device = 0, has_pools = 0;
  cudaGetDevice(&device);
  if (pool) return device == device_of_pool ? pool : nullptr;
  cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device);
  cudaMemPoolProps properties = {};
  properties.allocType        = cudaMemAllocationTypePinned;
  properties.location.type    = cudaMemLocationTypeDevice;
  properties.location.id      = device;
  if (!has_pools || cudaMemPoolCreate(&pool, &properties) != cudaSuccess) {
    cudaGetLastError(); // clears the error, so that a later call does not report it
    return pool = nullptr;
  }
  device_of_pool = device;
  // bytes that the pool keeps when they are free: more than the search for lines in a large matrix takes
  std::size_t available = 0, total = 0;
  cudaMemGetInfo(&available, &total);
  std::uint64_t threshold = std::max<std::uint64_t>(std::uint64_t(1) << 28, total / 128);
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  Kokkos::push_finalize_hook([] {
    cudaMemPoolDestroy(pool);
    pool = nullptr;
  });
  return pool;
}

/// Empty if there is no pool or no room in it.
template <class Word>
std::shared_ptr<Word> take_from_pool(const Kokkos::Cuda &exec, std::size_t words)
{
  const cudaStream_t stream = exec.cuda_stream();
  void              *memory = nullptr;
  const auto         pool   = temporary_pool();
  if (words == 0 || !pool) return nullptr;
  if (cudaMallocFromPoolAsync(&memory, words * sizeof(Word), pool, stream) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return std::shared_ptr<Word>(static_cast<Word *>(memory), [stream](Word *p) { cudaFreeAsync(p, stream); });
}
#endif

} // namespace device

/// Uninitialised memory for kernels on one execution space instance. The last copy of the object frees it.
/// On CUDA it is from a pool, in the order of the stream, because cudaMalloc and cudaFree synchronise the
/// device. The pool keeps up to 256 MiB, or 1/128 of the memory of the device if that is more. Without a pool, or if
/// it is full, the memory is a View.
template <class Word, class Exec>
class Temporary {
public:
  Temporary() = default;
  Temporary(const Exec &exec, const std::string &label, std::size_t words)
  {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) pooled_ = device::take_from_pool<Word>(exec, words);
#endif
    if (!pooled_ && words > 0) plain_ = allocate<View>(exec, label, words);
  }
  Word *data() const
  {
    return pooled_ ? pooled_.get() : plain_.data();
  }

private:
  using View = Kokkos::View<Word *, typename Exec::memory_space>;
  std::shared_ptr<Word> pooled_;
  View                  plain_;
};

} // namespace ribbon

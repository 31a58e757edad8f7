// SPDX-License-Identifier: BSD-2-Clause
/// @file temporary.hpp  Memory for a few kernels that run one after another.
#pragma once

#include <ribbon/compat.hpp>

#include <memory>
#include <stdexcept>

namespace ribbon {

namespace device {

#ifdef KOKKOS_ENABLE_CUDA
/// The pool of the program until Kokkos ends, on the first device that asks for one; null on another device, and where there are no pools.
inline cudaMemPool_t temporary_pool()
{
  constexpr std::uint64_t kept           = std::uint64_t(1) << 28; // bytes, while nobody uses them
  static cudaMemPool_t    pool           = nullptr;
  static int              device_of_pool = -1;
  int                     device = 0, has_pools = 0;
  cudaGetDevice(&device);
  if (pool) return device == device_of_pool ? pool : nullptr;
  cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device);
  cudaMemPoolProps properties = {};
  properties.allocType        = cudaMemAllocationTypePinned;
  properties.location.type    = cudaMemLocationTypeDevice;
  properties.location.id      = device;
  if (!has_pools || cudaMemPoolCreate(&pool, &properties) != cudaSuccess) {
    cudaGetLastError(); // it is no error of a later call
    return pool = nullptr;
  }
  device_of_pool          = device;
  std::uint64_t threshold = kept;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  Kokkos::push_finalize_hook([] {
    cudaMemPoolDestroy(pool);
    pool = nullptr;
  });
  return pool;
}

/// Empty where there is no pool, or no room in it.
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

/// An uninitialised array for kernels on one execution space instance, while the object lives.
/// In CUDA it comes from a pool and goes back there in the order of the stream. cudaMalloc and cudaFree wait for the device, and
/// took a third of the time of a refresh. The pool keeps up to 256 MiB. Elsewhere, and where the pool has no room, it is a View.
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

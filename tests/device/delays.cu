// SPDX-License-Identifier: BSD-2-Clause
// Adds random delays before kernels and copies of a program, and after them on the host. This reveals reads
// of a buffer before it is written, and writes while it is still read, which otherwise succeed by timing.
// tests/device/stress builds this library and loads it with LD_PRELOAD. It intercepts functions of the CUDA
// runtime, which programs have to load from its shared library.
//
// RIBBON_DELAY_US      longest delay on the device, microseconds (default 300)
// RIBBON_DELAY_ONE_IN  one of this number of calls is delayed (default 8)
// RIBBON_DELAY_SEED    seed of the delays (default: depends on the process)
// RIBBON_NO_OVERLAP    launches begin after earlier ones have ended (no programmatic stream serialization)
#include <cuda_runtime.h>

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

/// Keeps a stream busy for `nanoseconds`, with one thread of the device.
__global__ void wait_kernel(unsigned long long nanoseconds)
{
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    __nanosleep(500);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

int number(const char *name, int otherwise)
{
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

struct Delays {
  std::uint64_t state;
  int           longest = number("RIBBON_DELAY_US", 300), one_in = number("RIBBON_DELAY_ONE_IN", 8);
  bool          no_overlap = getenv("RIBBON_NO_OVERLAP") != nullptr;
  long          calls = 0, delayed = 0;
  std::mutex    mutex;

  Delays()
      : state(static_cast<std::uint64_t>(number("RIBBON_DELAY_SEED", static_cast<int>(getpid()))) *
                0x9e3779b97f4a7c15ULL +
              1)
  {
  }
  ~Delays()
  {
    if (getenv("RIBBON_DELAY_REPORT")) fprintf(stderr, "delays: %ld of %ld calls\n", delayed, calls);
  }
  std::uint64_t draw() // xorshift
  {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  }
};

Delays &delays()
{
  static Delays d;
  return d;
}
thread_local bool inside = false;

/// The function with this name in the libraries that come after this one.
template <class Function>
Function next(const char *name)
{
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "delays: no %s in the libraries behind\n", name);
    abort();
  }
  return reinterpret_cast<Function>(found);
}

/// Calls the function, at random after a delay on its stream and before a wait on the host.
template <class Call>
cudaError_t late(cudaStream_t stream, const Call &call)
{
  if (inside) return call();
  std::uint64_t device = 0, host = 0;
  {
    Delays                     &d = delays();
    std::lock_guard<std::mutex> lock(d.mutex);
    ++d.calls;
    if (d.longest > 0 && d.draw() % static_cast<std::uint64_t>(d.one_in) == 0)
      device = 1 + d.draw() % (1000 * static_cast<std::uint64_t>(d.longest)), ++d.delayed;
    if (d.longest > 0 && d.draw() % static_cast<std::uint64_t>(4 * d.one_in) == 0)
      host = 1 + d.draw() % (1000 * static_cast<std::uint64_t>(d.longest));
  }
  if (device) {
    cudaStreamCaptureStatus captures = cudaStreamCaptureStatusNone;
    inside                           = true;
    if (cudaStreamIsCapturing(stream, &captures) == cudaSuccess && captures == cudaStreamCaptureStatusNone)
      wait_kernel<<<1, 1, 0, stream>>>(device);
    inside = false;
  }
  const cudaError_t error = call();
  if (host) {
    const timespec time = {0, static_cast<long>(host)};
    nanosleep(&time, nullptr);
  }
  return error;
}

} // namespace

// The symbols of the runtime's functions. In nvcc's headers some of them are inline device functions.
#define AS(name) __asm__(name)

extern "C" {

cudaError_t ribbon_late_launch(const void *f, dim3 grid, dim3 block, void **arguments, size_t scratch,
                               cudaStream_t stream) AS("cudaLaunchKernel");
cudaError_t ribbon_late_launch(const void *f, dim3 grid, dim3 block, void **arguments, size_t scratch,
                               cudaStream_t stream)
{
  static const auto real = next<decltype(&ribbon_late_launch)>("cudaLaunchKernel");
  return late(stream, [&] { return real(f, grid, block, arguments, scratch, stream); });
}

// The target of <<<>>> since CUDA 13.
cudaError_t ribbon_late_kernel(cudaKernel_t f, dim3 grid, dim3 block, void **arguments, size_t scratch,
                               cudaStream_t stream) AS("__cudaLaunchKernel");
cudaError_t ribbon_late_kernel(cudaKernel_t f, dim3 grid, dim3 block, void **arguments, size_t scratch,
                               cudaStream_t stream)
{
  static const auto real = next<decltype(&ribbon_late_kernel)>("__cudaLaunchKernel");
  return late(stream, [&] { return real(f, grid, block, arguments, scratch, stream); });
}

cudaError_t ribbon_late_launch_ex(const cudaLaunchConfig_t *config, const void *f, void **arguments)
  AS("cudaLaunchKernelExC");
cudaError_t ribbon_late_launch_ex(const cudaLaunchConfig_t *config, const void *f, void **arguments)
{
  static const auto   real  = next<decltype(&ribbon_late_launch_ex)>("cudaLaunchKernelExC");
  cudaLaunchConfig_t  plain = *config;
  cudaLaunchAttribute kept[16];
  if (delays().no_overlap && config->numAttrs <= 16) {
    plain.attrs = kept, plain.numAttrs = 0;
    for (unsigned k = 0; k < config->numAttrs; ++k)
      if (config->attrs[k].id != cudaLaunchAttributeProgrammaticStreamSerialization)
        kept[plain.numAttrs++] = config->attrs[k];
  }
  return late(config->stream, [&] { return real(&plain, f, arguments); });
}

cudaError_t ribbon_late_copy_async(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
  AS("cudaMemcpyAsync");
cudaError_t ribbon_late_copy_async(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
  static const auto real = next<decltype(&ribbon_late_copy_async)>("cudaMemcpyAsync");
  return late(stream, [&] { return real(to, from, bytes, kind, stream); });
}

cudaError_t ribbon_late_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) AS("cudaMemcpy");
cudaError_t ribbon_late_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  static const auto real = next<decltype(&ribbon_late_copy)>("cudaMemcpy");
  return late(nullptr, [&] { return real(to, from, bytes, kind); });
}

cudaError_t ribbon_late_set_async(void *to, int value, size_t bytes, cudaStream_t stream) AS("cudaMemsetAsync");
cudaError_t ribbon_late_set_async(void *to, int value, size_t bytes, cudaStream_t stream)
{
  static const auto real = next<decltype(&ribbon_late_set_async)>("cudaMemsetAsync");
  return late(stream, [&] { return real(to, value, bytes, stream); });
}

} // extern "C"

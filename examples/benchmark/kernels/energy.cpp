// SPDX-License-Identifier: BSD-2-Clause
#include "energy.hpp"

#include <Kokkos_Core.hpp>

#include <stdexcept>
#include <string>

#ifdef KOKKOS_ENABLE_CUDA
  #include <cuda_runtime_api.h>
  #include <dlfcn.h>
#endif

namespace bench {

#ifdef KOKKOS_ENABLE_CUDA

/// The library comes with the driver, so that a machine that only compiles does not need it.
struct EnergyMeter::Library {
  void *handle = nullptr, *device = nullptr;
  int (*shut_down)()                         = nullptr;
  int (*total)(void *, unsigned long long *) = nullptr;

  ~Library()
  {
    if (shut_down) shut_down();
    if (handle) dlclose(handle);
  }
  template <class Function>
  Function find(const char *name) const
  {
    void *const symbol = dlsym(handle, name);
    if (!symbol) throw std::runtime_error(std::string("--energy: libnvidia-ml.so.1 has no ") + name);
    return reinterpret_cast<Function>(symbol);
  }
};

EnergyMeter::EnergyMeter() : library_(std::make_unique<Library>())
{
  Library &l = *library_;
  l.handle   = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!l.handle) throw std::runtime_error("--energy: libnvidia-ml.so.1, a part of the driver, is not found");
  if (l.find<int (*)()>("nvmlInit_v2")() != 0) throw std::runtime_error("--energy: nvmlInit_v2 fails");
  l.shut_down  = l.find<int (*)()>("nvmlShutdown");
  l.total      = l.find<int (*)(void *, unsigned long long *)>("nvmlDeviceGetTotalEnergyConsumption");
  char bus[32] = "";
  if (cudaDeviceGetPCIBusId(bus, sizeof bus, Kokkos::Cuda().cuda_device()) != cudaSuccess)
    throw std::runtime_error("--energy: the bus of the device is unknown");
  if (l.find<int (*)(const char *, void **)>("nvmlDeviceGetHandleByPciBusId_v2")(bus, &l.device) != 0)
    throw std::runtime_error(std::string("--energy: NVML does not know the device on bus ") + bus);
  joules();
}

double EnergyMeter::joules() const
{
  unsigned long long millijoules = 0;
  if (library_->total(library_->device, &millijoules) != 0)
    throw std::runtime_error("--energy: this device does not count its energy");
  return static_cast<double>(millijoules) * 1e-3;
}

#else

struct EnergyMeter::Library { };

EnergyMeter::EnergyMeter()
{
  throw std::runtime_error("--energy needs an NVIDIA device: this program is built without CUDA");
}

double EnergyMeter::joules() const
{
  return 0;
}

#endif

EnergyMeter::~EnergyMeter() = default;

} // namespace bench

// SPDX-License-Identifier: BSD-2-Clause
/// @file energy.hpp  The energy that a device has consumed, by NVIDIA's management library (NVML).
#pragma once

#include <memory>
#include <stdexcept>

namespace bench {

/// Reads the counter of the whole device: other programs on it must not run at the same time.
class EnergyMeter {
public:
  /// @throws std::runtime_error if there is no NVIDIA device, or NVML or its counter is missing
  EnergyMeter();
  ~EnergyMeter();
  /// Since the driver was loaded.
  double joules() const;

private:
  struct Library;
  std::unique_ptr<Library> library_;
};

/// Least seconds over which joules_per_call() repeats a call. 0: energy is not measured. The counter advances
/// in steps of up to a tenth of a second.
inline double energy_seconds = 0;

} // namespace bench

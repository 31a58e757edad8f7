// SPDX-License-Identifier: BSD-2-Clause
/// @file hyperdiffusion.hpp  Whole time steps of a batch of periodic hyperdiffusion or diffusion problems,
///   the benchmarks of cuPentBatch and of the *ConstantBatch codes.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace bench {

struct HyperdiffusionSettings {
  std::vector<int> points{64, 128, 256, 512, 1024, 2048, 4096}; ///< of a line
  double           unknowns = 0;                                ///< in the batch
  std::int64_t     lines    = 0;                                ///< in the batch, instead
  /// of lines as long as 1; 0: that of the paper, 1e-8, and 1e-5 for diffusion
  double time_step = 0;
  /// C_t = C_xx instead, whose matrices are tridiagonal
  bool diffusion = false;
  int  steps = 250, repeat = 10;
};

/// Times steps of C_t = - C_xxxx, or C_t = C_xx, on [0, 1), periodic, by centred differences and
/// Crank-Nicolson (Gloster, O Naraigh & Pang, Comput. Phys. Commun. 241, 2019, sections II.B and III):
/// the right-hand side, a kernel of its own, and the pentadiagonal (diffusion: tridiagonal) solve;
/// with `auto` and one matrix, with a thread per line and one matrix, and with a thread per line and
/// factors of every line. All lines are interleaved and begin as the same mode, which has to decay by
/// the factor of the scheme.
/// @return the table  @throws std::invalid_argument for fewer than 5 points, std::runtime_error
///   where a mode decays otherwise
nlohmann::json hyperdiffusion(const HyperdiffusionSettings &settings);

} // namespace bench

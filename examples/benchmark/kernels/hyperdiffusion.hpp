// SPDX-License-Identifier: BSD-2-Clause
/// @file hyperdiffusion.hpp  Full time steps of a batch of periodic hyperdiffusion or diffusion problems:
///   the benchmarks of cuPentBatch and of the *ConstantBatch codes.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct HyperdiffusionSettings {
  std::vector<int> points{64, 128, 256, 512, 1024, 2048, 4096}; ///< of a line
  double           unknowns = 0;                                ///< in the batch
  std::int64_t     lines    = 0;                                ///< in the batch; replaces `unknowns`
  /// for lines of length 1; 0: the time step of the paper, 1e-8, and 1e-5 for diffusion
  double time_step = 0;
  /// C_t = C_xx instead, with tridiagonal matrices
  bool diffusion = false;
  int  steps = 250, repeat = 10;
  bool peers = true; ///< also by cuSPARSE and LAPACK
  /// those that are timed (hyperdiffusion_schemes()); empty: all
  std::vector<std::string> schemes;
};

/// Names of the schemes, as in the column "scheme" of the table.
std::vector<std::string> hyperdiffusion_schemes();

/// Times steps of C_t = - C_xxxx, or C_t = C_xx, on [0, 1), periodic, by centred differences and
/// Crank-Nicolson (Gloster, O Naraigh & Pang, Comput. Phys. Commun. 241, 2019, sections II.B and III). A
/// step has a kernel for the right-hand side and a pentadiagonal (diffusion: tridiagonal) solve. Five
/// schemes are timed: `auto` with one matrix, a thread per line with one matrix (the *ConstantBatch codes),
/// a thread per line with factors of every line, kept (cuPentBatchConstant) or made in every step
/// (cuPentBatchRewrite), and `auto` with new matrices of every line in every step. All lines are interleaved and
/// start from the same mode. The mode has to decay by the factor of the scheme. Peers: cuSPARSE
/// gpsvInterleavedBatch (diffusion: gtsvInterleavedBatch), LAPACK.
/// @return the table
/// @throws std::invalid_argument for fewer than 5 points, std::runtime_error if a mode decays otherwise
nlohmann::json hyperdiffusion(const HyperdiffusionSettings &settings);

} // namespace bench

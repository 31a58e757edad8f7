// SPDX-License-Identifier: BSD-2-Clause
/// @file equation.hpp  The Cahn-Hilliard equation on a ring with a travelling forcing, in the frame of the wave.
#pragma once

#include <cstdint>

namespace ch_lines {

/// How v C_x is computed.
enum class Advection {
  weno,   ///< explicit, the Hamilton-Jacobi WENO5 derivative (Jiang & Peng 2000), whose sum is not zero
  flux,   ///< explicit, differences of WENO5 fluxes (Jiang & Shu 1996), which conserve the mass
  central ///< implicit, central differences of fourth order
};

/// C_t = (C^3 - C - gamma C_xx)_xx + v C_x + f cos(k x), k = 2 pi waves / length. The frame moves with the wave:
/// x = X - v t, where the forcing is f cos(k (X - v t)).
struct Equation {
  std::int64_t rows   = 256;
  double       length = 1, gamma = 1, speed = 0;
  int          waves = 1;
  double       dt    = 1;
  /// S adds S (C_next - C_now)_xx, which is implicit for C_next; 0: dt is bounded by about 2 gamma
  double    stabilization = 0;
  Advection advection     = Advection::weno;

  double spacing() const { return length / static_cast<double>(rows); }
  bool   has_explicit_advection() const { return speed != 0 && advection != Advection::central; }
};

} // namespace ch_lines

// SPDX-License-Identifier: BSD-2-Clause
/// @file choices.hpp  The named options of LineSolver, as values. They are parsed once, at construction.
#pragma once

#include <ribbon/algorithm/name.hpp>

namespace ribbon::detail {

/// LineSolverOptions::probe: what judges the factors.
enum class Probing {
  automatic, ///< bounds, and test solves if there are none
  always,    ///< test solves
  never      ///< bounds and pivots
};
inline constexpr Named<Probing> probing_names[] = {
  {Probing::automatic, "auto"},
  {Probing::always, "always"},
  {Probing::never, "never"},
};

/// LineSolverOptions::singular.
enum class Singular { report, zero_mean };
inline constexpr Named<Singular> singular_names[] = {
  {Singular::report, "report"},
  {Singular::zero_mean, "zero_mean"},
};

struct SolverChoices {
  Algorithm algorithm = Algorithm::automatic;
  Singular  singular  = Singular::report;
  Probing   probe     = Probing::automatic;
  bool      continued = false; ///< lines are segments of longer ones (segments.hpp)
};

} // namespace ribbon::detail

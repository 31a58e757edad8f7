// SPDX-License-Identifier: BSD-2-Clause
/// @file ts_adi_problems.hpp  Methods of TS adi, and problems that all of them solve.
#pragma once

#include "diffusion.hpp"

namespace test {

inline constexpr const char *methods[] = {
  "hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas", "peaceman_rachford", "ra34pw2"};

inline Diffusion problem_with(const std::function<void(Diffusion &)> &change)
{
  Diffusion p;
  p.n = 9;
  change(p);
  return p;
}

inline const Diffusion heat     = problem_with([](Diffusion &) {});
inline const Diffusion heat_3d  = problem_with([](Diffusion &p) { p.dim = 3, p.n = 7; });
inline const Diffusion reaction = problem_with([](Diffusion &p) {
  p.boundary = Diffusion::rates, p.form = Diffusion::rhsfunction, p.cubic = p.growth = 1;
});

} // namespace test

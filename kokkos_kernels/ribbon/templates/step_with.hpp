// SPDX-License-Identifier: BSD-2-Clause
/// @file step_with.hpp  Time steps with functions of the application: u <- A^-1 (B u + D p(u) + g) for any p,
///   and sums of any energy of neighbouring rows. Compiled with the application.
#pragma once

#include <ribbon/line_stepper.hpp>
#include <ribbon/line_stepper/implementation.hpp>

#include <stdexcept>

namespace ribbon {

/// LineStepper::step() with functions that are called in the kernel. Asynchronous on exec.
///
///     struct Cubic {
///       KOKKOS_FUNCTION double operator()(double u, std::int64_t) const { return u * u * u - u; }
///     };
///     ribbon::step_with(exec, stepper, 100, u, lines, u, lines, {}, Cubic{});
///
/// @param function  p(u, row) for the term D p(u); NoFunction: none, and the stepper has no D. terms.p is not
///   used
/// @param energy    e(u_i, u_(i+1), i): the sum over i is the third quantity of terms.sums. In the last row
///   of an open line both values are u_i. NoEnergy: none
/// @throws std::invalid_argument as step(), and if only one of D and the function is given
template <class Scalar, class Exec, class Function, class Energy = NoEnergy>
void step_with(const Exec &exec, const LineStepper<Scalar, Exec> &stepper, int steps, const Scalar *u,
               const LineSet &in, Scalar *y, const LineSet &out, const StepTerms<Scalar> &terms,
               const Function &function, const Energy &energy = {})
{
  stepper.check(steps, in, out, terms);
  auto &made = stepper.implementation();
  if (is_given<Function> != made.has_D())
    throw std::invalid_argument(is_given<Function> ? "ribbon::step_with: a function, and the stepper has no D"
                                                   : "ribbon::step_with: the stepper has D, and no function");
  if (in.unknowns() > 0) made.step(exec, steps, u, in, y, out, terms, function, energy);
}

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file step_matrices.hpp  The matrices of a time step A C_next = B C + D p(C) + g.
#pragma once

#include "equation.hpp"

#include <ribbon/bands.hpp>

namespace ch_lines {

using DeviceBands = ribbon::Bands<double, Kokkos::DefaultExecutionSpace::memory_space>;

/// A = I + dt (gamma d^4 - S d^2), and - dt v d with central advection.
DeviceBands implicit_matrix(const Equation &equation);
/// B = I, with one diagonal.
DeviceBands identity(const Equation &equation);
/// D = dt d^2.
DeviceBands nonlinear_matrix(const Equation &equation);

} // namespace ch_lines

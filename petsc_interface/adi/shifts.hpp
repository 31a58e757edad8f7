// SPDX-License-Identifier: BSD-2-Clause
/// @file shifts.hpp  Shifts of stationary ADI iterations.
#pragma once

#include <vector>

namespace ribbon::petsc {

/// Bounds of the eigenvalues of a one-direction operator.
struct Spectrum {
  double least = 0, largest = 0;
};

/// Shifts of one iteration in two directions, x += (p + q) (V + q)^-1 (H + p)^-1 r. It multiplies the error
/// by (H - q) (V - p) / ((H + p) (V + q)).
struct ShiftPair {
  double p = 0, q = 0;
};

/// Ratio of bounds kappa of the spectra of H and V after Jordan's transformation, which makes them equal.
/// The spectra are [a, b] and [c, d] with a + c > 0. For equal spectra kappa is b / a.
double condition_of(const Spectrum &h, const Spectrum &v);

/// Wachspress' optimal shifts, n >= 1, in descending order: E. L. Wachspress, The ADI Model Problem,
/// Springer (2013), chapters 1 and 2.
std::vector<ShiftPair> wachspress_shifts(const Spectrum &h, const Spectrum &v, int n);

/// How many shifts reduce the error by `reduction` in two directions: ln(4 kappa) ln(4 / reduction) / pi^2.
double wachspress_count(double kappa, double reduction);

/// Shifts for Douglas' iteration in three directions, x += 2 rho^2 (C + rho)^-1 (B + rho)^-1 (A + rho)^-1
/// r, in geometric progression and descending order. n = 0: the best number for one cycle.
std::vector<double> douglas_shifts(const Spectrum &all, int n);

/// How many of these iterations reduce the error by `reduction`, by a search over the spectra.
double douglas_count(const Spectrum &all, const std::vector<double> &shifts, double reduction);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file pivot_watch.hpp  Data about the pivots of an elimination on the host.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

namespace ribbon {

/// Smallest pivot, relative to the largest entry of its row. If some matrices are bad, it is that of the
/// first bad one.
struct PivotWatch {
  long double               smallest   = std::numeric_limits<long double>::infinity();
  int                       row        = -1;
  int                       matrix     = -1; ///< of that pivot
  int                       current    = 0;  ///< matrix that is being eliminated
  long double               tolerance  = 0;  ///< pivots at or below it mark a bad matrix
  bool                      not_finite = false;
  long double               log_det    = 0; ///< sum of the logarithms of |pivots|
  std::complex<long double> sign       = 1; ///< product of pivots / |pivots|
  /// largest entry during elimination, relative to the largest of its row
  long double growth = 1;

  void see(std::complex<long double> signed_pivot, long double scale, int at)
  {
    const long double pivot = std::abs(signed_pivot);
    if (pivot > 0) log_det += std::log(pivot);
    sign *= pivot > 0 ? signed_pivot / pivot : 0;
    if (smallest == 0) return; // entries after a zero pivot are infinite because of it
    if (current != matrix && (not_finite || smallest <= tolerance)) return;
    if (!(pivot - pivot == 0) || !(scale - scale == 0)) {
      if (!not_finite) row = at, matrix = current;
      not_finite = true;
      return;
    }
    const long double relative = scale > 0 ? pivot / scale : 0;
    if (!not_finite && relative < smallest) smallest = relative, row = at, matrix = current;
  }

  /// Counts the same pivot `times` more.
  void see_again(std::complex<long double> pivot, int times)
  {
    if (!(std::abs(pivot) > 0)) return;
    log_det += times * std::log(std::abs(pivot));
    sign *= std::pow(pivot / std::abs(pivot), times);
  }
};

} // namespace ribbon

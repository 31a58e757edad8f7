// SPDX-License-Identifier: BSD-2-Clause
/// @file line_fit.hpp  Least-squares line through points.
#pragma once

#include <cmath>
#include <vector>

namespace ch {

/// y = slope x + offset, and the correlation of x and y.
struct LineFit {
  double slope = 0, offset = 0, correlation = 0;
  int    points = 0;

  LineFit(const std::vector<double> &x, const std::vector<double> &y) : points(static_cast<int>(x.size()))
  {
    const auto n  = static_cast<double>(x.size());
    double     mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    for (std::size_t k = 0; k < x.size(); k++) mx += x[k] / n, my += y[k] / n;
    for (std::size_t k = 0; k < x.size(); k++) {
      xx += (x[k] - mx) * (x[k] - mx);
      xy += (x[k] - mx) * (y[k] - my);
      yy += (y[k] - my) * (y[k] - my);
    }
    if (xx > 0 && yy > 0) slope = xy / xx, offset = my - slope * mx, correlation = xy / std::sqrt(xx * yy);
  }
};

} // namespace ch

// SPDX-License-Identifier: BSD-2-Clause
/// @file sums.hpp  Kernels over whole lines: initial states, means, domain sizes, changes.
#pragma once

#include "../noise.hpp"

#include <cmath>

namespace ch_lines {

using Index = std::int64_t;

/// C = mean of the line + amplitude times noise, or times one period of a cosine.
struct StartKernel {
  Index         lines, rows, first; ///< first: number of line 0 in the study
  const double *mean;
  double        amplitude;
  std::uint64_t seed;
  bool          cosine;
  double       *u;

  KOKKOS_FUNCTION void operator()(Index k) const
  {
    const Index  l = k % lines, i = k / lines;
    const auto   key  = (seed << 48) + static_cast<std::uint64_t>((first + l) * rows + i);
    const double turn = 2 * 3.14159265358979323846 * static_cast<double>(i) / static_cast<double>(rows);
    u[k]              = mean[l] + amplitude * (cosine ? std::cos(turn) : ch::hash_uniform(key));
  }
};

/// Mean of each line.
struct MeanKernel {
  Index                  lines, rows;
  const double          *u;
  double                *mean;
  KOKKOS_FUNCTION double of(Index l) const
  {
    double sum = 0;
    for (Index i = 0; i < rows; ++i) sum += u[i * lines + l];
    return sum / static_cast<double>(rows);
  }
  KOKKOS_FUNCTION void operator()(Index l) const { mean[l] = of(l); }
};

/// u += initial mean - mean on each line.
struct RestoreKernel {
  Index                lines, rows;
  const double        *mean;
  double              *u;
  KOKKOS_FUNCTION void operator()(Index l) const
  {
    const double shift = mean[l] - MeanKernel{lines, rows, u, nullptr}.of(l);
    for (Index i = 0; i < rows; ++i) u[i * lines + l] += shift;
  }
};

/// Sums of the domain size s = 1 / (1 - <C^2>) and of s^2 over lines, and the largest change of a mean.
struct SizeKernel {
  MeanKernel           means; ///< means.mean: the initial ones
  KOKKOS_FUNCTION void operator()(Index l, double &size, double &squares, double &drift) const
  {
    double square = 0;
    for (Index i = 0; i < means.rows; ++i)
      square += means.u[i * means.lines + l] * means.u[i * means.lines + l];
    const double s = 1 / (1 - square / static_cast<double>(means.rows)), moved = means.of(l) - means.mean[l],
                 magnitude = moved < 0 ? -moved : moved;
    size += s;
    squares += s * s;
    if (magnitude > drift) drift = magnitude;
  }
};

/// Change of the mean of each line, and root mean square of the change since another state.
struct ResultKernel {
  MeanKernel           means;
  const double        *before;
  double              *drift, *change;
  KOKKOS_FUNCTION void operator()(Index l) const
  {
    double sum = 0;
    for (Index i = 0; i < means.rows; ++i) {
      const double d = means.u[i * means.lines + l] - before[i * means.lines + l];
      sum += d * d;
    }
    drift[l]  = means.of(l) - means.mean[l];
    change[l] = std::sqrt(sum / static_cast<double>(means.rows));
  }
};

/// to(l, k) = u in row k stride of line l, in single precision.
struct ThinKernel {
  Index                lines, stride, points;
  const double        *u;
  float               *to;
  KOKKOS_FUNCTION void operator()(Index k) const
  {
    const Index l = k % lines, p = k / lines;
    to[l * points + p] = static_cast<float>(u[p * stride * lines + l]);
  }
};

} // namespace ch_lines

// SPDX-License-Identifier: BSD-2-Clause
/// @file bench.hpp  What the benchmark and its peers share: a case, its matrix, a timer.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace bench {

using Exec   = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using Vector = Kokkos::View<double *, Memory>;

/// One row of the table.
struct Case {
  int          rows           = 256;
  std::int64_t lines          = 1;
  int          half_bandwidth = 1;
  bool         periodic       = false;
  bool         interleaved    = true;
  double       sigma          = 0.4;   ///< A = I + sigma (second difference) or I + sigma (fourth difference)
  bool         general        = false; ///< coefficients vary along the line (still one matrix for all lines)

  double          unknowns() const { return static_cast<double>(rows) * static_cast<double>(lines); }
  ribbon::LineSet layout() const { return interleaved ? ribbon::LineSet::interleaved(rows, lines) : ribbon::LineSet::contiguous(rows, lines); }

  /// Row i of the matrix, 2 h + 1 numbers; what falls outside a matrix that is not periodic is not used.
  std::vector<double> row(int i) const
  {
    const double v = general ? sigma * (1 + 0.5 * (((i * 7919) % 101) / 101.0)) : sigma;
    if (half_bandwidth == 1) return {-v, 1 + 2 * v, -v};
    return {v, -4 * v, 1 + 6 * v, -4 * v, v};
  }
};

/// A result: `milliseconds` < 0 stands for "cannot do this case".
struct Timing {
  std::string solver;
  double      milliseconds = -1;
  double      error        = 0; ///< largest difference to the first solver of the case, relative
};

/// Median over `repeat` samples of the time of run(), each over `inner` calls between two fences; prepare() before each sample is not timed.
template <class Prepare, class Run>
double median_ms(int repeat, int inner, const Prepare &prepare, const Run &run)
{
  std::vector<double> t;
  for (int r = 0; r < repeat + 2; ++r) {
    prepare();
    Kokkos::fence();
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < inner; ++k) run();
    Kokkos::fence();
    if (r >= 2) t.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / inner);
  }
  std::sort(t.begin(), t.end());
  return t[t.size() / 2];
}

/// cuSPARSE's batched routines on the same right-hand sides (one matrix per line is what they take). Empty without CUDA.
std::vector<Timing> cusparse(const Case &c, const Vector &b, const Vector &x, const Vector &expected, int repeat);
/// LAPACK dgttrf/dgttrs and dgbtrf/dgbtrs on one core, on as many lines as take about a tenth of a second, scaled to the whole batch.
std::vector<Timing> lapack(const Case &c);

/// max |x - y| / max |y|.
double difference(const Vector &x, const Vector &y);

} // namespace bench

// SPDX-License-Identifier: BSD-2-Clause
/// @file bench.hpp  Common parts of the benchmark and its peers: a case, its matrix, a timer.
#pragma once

#include "energy.hpp"

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace bench {

using Exec   = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
template <class Scalar>
using VectorOf = Kokkos::View<Scalar *, Memory>;
using Vector   = VectorOf<double>; ///< type of the peers' arguments

/// One row of the table.
struct Case {
  int          rows           = 256; ///< rows of blocks
  std::int64_t lines          = 1;
  int          half_bandwidth = 1; ///< K
  int          block          = 1; ///< B
  bool         periodic       = false;
  bool         interleaved    = true;
  double       sigma          = 0.4;   ///< A = I + sigma (second difference) or I + sigma (fourth difference)
  bool         general        = false; ///< coefficients vary along the line (one matrix for all lines)
  bool         per_line       = false; ///< the same, with one matrix per line
  bool         shifted        = false; ///< one matrix alpha_l I + beta_l A per line
  bool         classes        = false; ///< three general matrices
  bool         layers         = false; ///< each of them serves 1000 lines in a row, instead of one
  /// of 128 lines in a row, the first and the last have another matrix than the lines between
  bool edges = false;

  double          unknowns() const { return static_cast<double>(rows) * block * static_cast<double>(lines); }
  ribbon::LineSet layout() const
  {
    return (interleaved ? ribbon::LineSet::interleaved(rows, lines)
                        : ribbon::LineSet::contiguous(rows, lines))
      .with_components(block);
  }
  /// Whether all rows of all lines are equal.
  bool stencil() const { return !general && !per_line && !shifted && !classes; }
  bool has_peers() const { return block == 1 && half_bandwidth <= 2 && !per_line && !shifted && !classes; }

  /// Row i of the matrix, (2 K + 1) B^2 entries. Entries outside a matrix that is not periodic are not
  /// used.
  std::vector<double> row(int i) const
  {
    const double v =
      general || per_line || classes ? sigma * (1 + 0.5 * (((i * 7919) % 101) / 101.0)) : sigma;
    if (block > 1) { // the second difference in every component; components couple by a tenth of it
      std::vector<double> a(static_cast<std::size_t>(3 * block * block), 0.0);
      for (int d = 0; d < 3; ++d)
        for (int p = 0; p < block; ++p)
          for (int q = 0; q < block; ++q)
            a[static_cast<std::size_t>((d * block + p) * block + q)] = p == q   ? (d == 1 ? 1 + 2.2 * v : -v)
                                                                       : d == 1 ? 0.1 * v / block
                                                                                : 0;
      return a;
    }
    if (half_bandwidth > 2) { // I + sigma (2 K - sum of neighbours)
      std::vector<double> a(static_cast<std::size_t>(2 * half_bandwidth + 1), -v);
      a[static_cast<std::size_t>(half_bandwidth)] = 1 + 2 * half_bandwidth * v;
      return a;
    }
    if (half_bandwidth == 1) return {-v, 1 + 2 * v, -v};
    return {v, -4 * v, 1 + 6 * v, -4 * v, v};
  }
};

/// A result. `milliseconds` < 0 means that the solver cannot do this case.
struct Timing {
  std::string solver;
  double      milliseconds = -1;
  double      error        = 0; ///< largest difference from the first solver of the case, relative
  /// memory in addition to right-hand sides and solution: matrices or factors, and work space
  std::size_t bytes  = 0;
  double      joules = -1; ///< of a call; < 0: not measured
};

/// Idle milliseconds before each sample. Devices lower their clocks after they have drawn their maximum
/// power for some tenths of a second.
inline int rest_ms = 0;

/// Median over `repeat` samples of the time of run(). A sample is `inner` calls between two fences.
/// prepare() runs before each sample and is not timed.
template <class Prepare, class Run>
double median_ms(int repeat, int inner, const Prepare &prepare, const Run &run)
{
  std::vector<double> t;
  for (int r = 0; r < repeat + 2; ++r) {
    prepare();
    Kokkos::fence();
    std::this_thread::sleep_for(std::chrono::milliseconds(rest_ms));
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < inner; ++k) run();
    Kokkos::fence();
    if (r >= 2)
      t.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / inner);
  }
  std::sort(t.begin(), t.end());
  return t[t.size() / 2];
}

/// Energy of the device in a call of run(), with energy_seconds; -1 without.
/// @throws std::runtime_error if the device does not report its energy
template <class Run>
double joules_per_call(const Run &run)
{
  if (energy_seconds <= 0) return -1;
  const EnergyMeter meter;
  run();
  Kokkos::fence();
  const double before = meter.joules();
  const auto   start  = std::chrono::steady_clock::now();
  double       calls  = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < energy_seconds) {
    for (int k = 0; k < 20; ++k) run();
    calls += 20;
    Kokkos::fence();
  }
  return (meter.joules() - before) / calls;
}

/// The lines of n unknowns in a batch of about `unknowns` unknowns: a multiple of 256, unless that is too
/// many.
inline std::int64_t lines_of(double unknowns, int n)
{
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(unknowns / n) / 256 * 256);
}

/// K and B of the systems, by name.
const std::map<std::string, std::pair<int, int>> &systems_known();
/// The matrices of a case, float, double or complex double.
template <class Scalar>
ribbon::Bands<Scalar, Memory> bands_of(const Case &c);
/// Random values between -1 and 1 (both parts, if they are complex), the same in every run.
template <class Scalar>
void fill(const VectorOf<Scalar> &b);

/// cuSPARSE's batched routines on the same right-hand sides. These routines need one matrix per line and
/// overwrite it. Empty without CUDA.
/// @param rewrites  the time includes that of copying the matrices
std::vector<Timing> cusparse(const Case &c, const Vector &b, const Vector &x, const Vector &expected,
                             int repeat, bool rewrites = false);
/// LAPACK dgttrf/dgttrs, dgbtrf/dgbtrs and, for tridiagonal stencils, dpttrf/dpttrs on as many lines as they
/// solve in about a tenth of a second, scaled to the whole batch.
/// @param threads  that solve lines at the same time
std::vector<Timing> lapack(const Case &c, int threads = 1);

/// max |x - y| / max |y|.
template <class Scalar>
double difference(const VectorOf<Scalar> &x, const VectorOf<Scalar> &y)
{
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> all(
    0, static_cast<std::int64_t>(x.extent(0)));
  double d = 0, m = 0;
  Kokkos::parallel_reduce(
    "bench::difference", all,
    KOKKOS_LAMBDA(const std::int64_t i, double &worst) {
      const double e = ribbon::magnitude(x(i) - y(i));
      if (!(e <= worst)) worst = e;
    },
    Kokkos::Max<double>(d));
  Kokkos::parallel_reduce(
    "bench::magnitude", all,
    KOKKOS_LAMBDA(const std::int64_t i, double &worst) {
      const double e = ribbon::magnitude(y(i));
      if (e > worst) worst = e;
    },
    Kokkos::Max<double>(m));
  return d / m;
}

} // namespace bench

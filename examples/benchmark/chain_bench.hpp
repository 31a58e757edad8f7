// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_bench.hpp  What ribbon-bench-chain and the peers of the multifrontal solver share: a matrix, a measurement.
#pragma once

#include "bench.hpp"

#include <random>
#include <stdexcept>

namespace bench {

/// A matrix with p entries on either side of the diagonal, or around a ring of 2 p + 1 rows at least, compressed rows on the host: random, the diagonal as large as a row.
struct Band {
  int                       p;
  bool                      ring;
  std::vector<std::int32_t> row_begin{0}, column;
  std::vector<double>       value;

  Band(std::int64_t n, int half_bandwidth, bool closed = false) : p(half_bandwidth), ring(closed)
  {
    if (ring && n < 2 * p + 1) throw std::invalid_argument("a ring of " + std::to_string(n) + " rows with " + std::to_string(p) + " entries on either side");
    std::mt19937_64                        g(1);
    std::uniform_real_distribution<double> u(-1, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = i - p; j <= i + p; ++j)
        if (ring || (j >= 0 && j < n)) column.push_back(static_cast<std::int32_t>((j + n) % n));
      std::sort(column.begin() + row_begin.back(), column.end());
      for (auto e = static_cast<std::size_t>(row_begin.back()); e < column.size(); ++e) value.push_back(column[e] == i ? p + 1.0 + u(g) : u(g));
      row_begin.push_back(static_cast<std::int32_t>(column.size()));
    }
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(row_begin.size()) - 1; }
  /// max |b - A x| / (max row sum of |A| max |x| + max |b|)
  double residual(const double *x, const double *b) const
  {
    double r = 0, a = 0, xs = 0, bs = 0;
    for (std::size_t i = 0; i + 1 < row_begin.size(); ++i) {
      double sum = b[i], row = 0;
      for (auto e = static_cast<std::size_t>(row_begin[i]); e < static_cast<std::size_t>(row_begin[i + 1]); ++e) sum -= value[e] * x[static_cast<std::size_t>(column[e])], row += std::abs(value[e]);
      r = std::max(r, std::abs(sum)), a = std::max(a, row), xs = std::max(xs, std::abs(x[i])), bs = std::max(bs, std::abs(b[i]));
      if (!(std::abs(sum) <= r)) return std::abs(sum); // NaN
    }
    return r / (a * xs + bs);
  }
};

/// Right-hand side k at row i: the same for every solver, on every machine.
inline double load(std::int64_t i, int k)
{
  return static_cast<double>((i * 7919 + k * 104729) % 1009) / 1009.0 - 0.5;
}

/// A phase of a solver: "analysis", "factor", "solve", or "factor + solve" where they are one.
struct ChainTiming {
  std::string solver, phase;
  int         columns = 1;
  double      ms = 0, error = 0; ///< backward error of the last column
  double      megabytes = 0;     ///< that the solver keeps, 0 where it does not tell
};

/// LAPACK's gbtrf and gbtrs on one core.
std::vector<ChainTiming> chain_lapack(const Band &A, const std::vector<int> &columns, int repeat);
/// cuDSS where it was found; cuSPARSE where it has the bandwidth; cuSOLVER for few rows. Empty without CUDA. What fails says so in its name.
std::vector<ChainTiming> chain_cuda(const Band &A, const std::vector<int> &columns, int repeat);

} // namespace bench

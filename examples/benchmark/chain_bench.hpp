// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_bench.hpp  What ribbon-bench-chain and the peers of the multifrontal solver share: a matrix, a measurement.
#pragma once

#include "bench.hpp"

#include <random>

namespace bench {

/// A matrix with p entries on either side of the diagonal, compressed rows on the host: random, the diagonal as large as a row.
struct Band {
  int                       p;
  std::vector<std::int32_t> row_begin{0}, column;
  std::vector<double>       value;

  Band(std::int64_t n, int half_bandwidth) : p(half_bandwidth)
  {
    std::mt19937_64                        g(1);
    std::uniform_real_distribution<double> u(-1, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = std::max<std::int64_t>(0, i - p); j <= std::min(n - 1, i + p); ++j) column.push_back(static_cast<std::int32_t>(j)), value.push_back(i == j ? p + 1.0 + u(g) : u(g));
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

// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_bench.hpp  Common parts of ribbon-bench-chain and the peers of the multifrontal solver: a
///   matrix, a measurement.
#pragma once

#include "bench.hpp"

#include <cmath>
#include <random>
#include <stdexcept>

namespace bench {

/// Shape of a matrix: chains of `rows` rows, each with kl entries below and ku above the diagonal, or
/// around a ring of at least kl + ku + 1 rows.
struct BandShape {
  std::int64_t rows;
  int          kl, ku;
  bool         ring   = false;
  std::int64_t chains = 1;
};

/// A matrix of this shape, in compressed rows on the host. Entries are random. The diagonal is larger by
/// max(kl, ku) + 1.
template <class Scalar>
struct BandOf {
  BandShape                 shape;
  std::vector<std::int32_t> row_begin{0}, column;
  std::vector<Scalar>       value;

  explicit BandOf(const BandShape &s) : shape(s)
  {
    const auto [n, kl, ku, ring, chains] = s;
    if (ring && n < kl + ku + 1)
      throw std::invalid_argument("a ring of " + std::to_string(n) + " rows with " + std::to_string(kl) +
                                  " + " + std::to_string(ku) + " off-diagonal entries");
    std::mt19937_64                        g(1);
    std::uniform_real_distribution<double> u(-1, 1);
    const auto                             number = [&](double size) {
      if constexpr (std::is_floating_point_v<Scalar>) return static_cast<Scalar>(size + u(g));
      else return Scalar(size + u(g), u(g));
    };
    const double diagonal = std::max(kl, ku) + 1.0;
    for (std::int64_t i = 0; i < n * chains; ++i) {
      const std::int64_t row = i % n;
      for (std::int64_t j = row - kl; j <= row + ku; ++j)
        if (ring || (j >= 0 && j < n)) column.push_back(static_cast<std::int32_t>(i - row + (j + n) % n));
      std::sort(column.begin() + row_begin.back(), column.end());
      for (auto e = static_cast<std::size_t>(row_begin.back()); e < column.size(); ++e)
        value.push_back(number(column[e] == i ? diagonal : 0));
      row_begin.push_back(static_cast<std::int32_t>(column.size()));
    }
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(row_begin.size()) - 1; }
  /// max |b - A x| / (max row sum of |A| max |x| + max |b|), with A^T if `transposed`
  double residual(const Scalar *x, const Scalar *b, bool transposed = false) const
  {
    using ribbon::magnitude;
    double              r = 0, a = 0, xs = 0, bs = 0;
    std::vector<Scalar> rest(b, b + rows());
    std::vector<double> sum(rest.size(), 0.0);
    for (std::size_t i = 0; i < rest.size(); ++i)
      for (auto e = static_cast<std::size_t>(row_begin[i]); e < static_cast<std::size_t>(row_begin[i + 1]);
           ++e) {
        const auto j = static_cast<std::size_t>(column[e]), to = transposed ? j : i;
        rest[to] -= value[e] * x[transposed ? i : j], sum[to] += static_cast<double>(magnitude(value[e]));
      }
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const double d = static_cast<double>(magnitude(rest[i]));
      if (!(d <= r)) r = d;
      if (std::isnan(r)) return r;
      a = std::max(a, sum[i]), xs = std::max(xs, static_cast<double>(magnitude(x[i]))),
      bs = std::max(bs, static_cast<double>(magnitude(b[i])));
    }
    return r / (a * xs + bs);
  }
};
using Band = BandOf<double>; ///< type of the peers' arguments

/// Right-hand side k at row i: the same for every solver, on every machine.
inline double load(std::int64_t i, int k)
{
  return static_cast<double>((i * 7919 + k * 104729) % 1009) / 1009.0 - 0.5;
}

/// A phase of a solver: "analysis", "factor", "solve", or "factor + solve" if they are one phase.
struct ChainTiming {
  std::string solver, phase;
  int         columns = 1;
  double      ms = 0, error = 0; ///< backward error of the last column
  double      megabytes = 0;     ///< that the solver keeps; 0 if it does not report them
};

/// LAPACK's gbtrf and gbtrs on one core, for one chain.
std::vector<ChainTiming> chain_lapack(const Band &A, const std::vector<int> &columns, bool transposed,
                                      int repeat);
/// As many entries above the diagonal as below: cuDSS if CMake found it, several chains as a uniform batch. For
/// one chain of doubles also cuSPARSE if it supports the bandwidth, and cuSOLVER for few rows. Empty without
/// CUDA. The name of a solver that fails says so. Scalar: double, float.
template <class Scalar>
std::vector<ChainTiming> chain_cuda(const BandOf<Scalar> &A, const std::vector<int> &columns, int repeat);

} // namespace bench

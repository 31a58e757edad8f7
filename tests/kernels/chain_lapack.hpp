// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_lapack.hpp  Chains compared with LAPACK's gbsv: backward errors are at most 1e-14, and at most
///   100 times those of gbsv.
#pragma once

#include "chains.hpp"

#include <ribbon/schur_solver.hpp>

#include <gtest/gtest.h>

extern "C" {
void dgbsv_(const int *n, const int *kl, const int *ku, const int *nrhs, void *ab, const int *ldab, int *ipiv,
            void *b, const int *ldb, int *info);
void zgbsv_(const int *n, const int *kl, const int *ku, const int *nrhs, void *ab, const int *ldab, int *ipiv,
            void *b, const int *ldb, int *info);
}

namespace test::chain_lapack {

/// Solutions by gbsv. A ring is folded: with its rows in the order 0, n - 1, 1, n - 2, ... it is a band of
/// twice the width.
template <class Scalar>
std::vector<Scalar> gbsv(const ChainSystem<Scalar> &s, const std::vector<Scalar> &b, std::int64_t columns,
                         bool transposed)
{
  const auto       n    = static_cast<std::size_t>(s.rows());
  const auto       rows = s.chain.rows;
  std::vector<int> place(n), pivots(n);
  int              kl = 0, ku = 0, info = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const std::int64_t at = s.place_of.empty() ? static_cast<std::int64_t>(r) : s.place_of[r], i = at % rows;
    place[r] = static_cast<int>(!s.chain.ring ? at : at - i + (2 * i < rows ? 2 * i : 2 * (rows - i) - 1));
  }
  const auto for_each = [&](const auto &body) {
    for (std::size_t r = 0; r < n; ++r)
      for (int e = s.row_begin[r]; e < s.row_begin[r + 1]; ++e) {
        const auto k = static_cast<std::size_t>(e);
        const int  i = place[r], j = place[static_cast<std::size_t>(s.column[k])];
        if (transposed) body(j, i, s.value[k]);
        else body(i, j, s.value[k]);
      }
  };
  for_each([&](int i, int j, const Scalar &) { kl = std::max(kl, i - j), ku = std::max(ku, j - i); });
  const int           ld = 2 * kl + ku + 1, size = static_cast<int>(n), m = static_cast<int>(columns);
  std::vector<Scalar> ab(n * static_cast<std::size_t>(ld)), y(b.size()), x(b.size());
  for_each([&](int i, int j, const Scalar &a) {
    ab[static_cast<std::size_t>(kl + ku + i - j) +
       static_cast<std::size_t>(j) * static_cast<std::size_t>(ld)] += a;
  });
  for (std::size_t k = 0; k < b.size(); ++k) y[k - k % n + static_cast<std::size_t>(place[k % n])] = b[k];
  (std::is_same_v<Scalar, double> ? dgbsv_ : zgbsv_)(&size, &kl, &ku, &m, ab.data(), &ld, pivots.data(),
                                                     y.data(), &size, &info);
  EXPECT_EQ(info, 0);
  for (std::size_t k = 0; k < b.size(); ++k) x[k] = y[k - k % n + static_cast<std::size_t>(place[k % n])];
  return x;
}

/// Right-hand sides, and backward errors of gbsv for A and its transpose.
template <class Scalar>
struct Wanted {
  std::int64_t        columns;
  std::vector<Scalar> b;
  double              error[2];
  Wanted(const ChainSystem<Scalar> &s, std::int64_t m, std::mt19937_64 &g) : columns(m)
  {
    for (std::int64_t k = 0; k < s.rows() * m; ++k) b.push_back(random_scalar<Scalar>(g));
    for (bool transposed : {false, true})
      error[transposed] = backward_error(s, gbsv(s, b, m, transposed), b, m, transposed);
  }
};

/// Factors and solves with leaves of `leaf` rows.
template <template <class, class> class Solver = ribbon::ChainSolver, class Scalar>
void expect_as_gbsv(const ChainSystem<Scalar> &s, const ChainOnDevice<Scalar> &device, std::int64_t leaf,
                    const Wanted<Scalar> &wanted)
{
  SCOPED_TRACE(testing::Message() << s.chain.chains << " of " << s.chain.rows << " rows, kl " << s.chain.kl
                                  << " ku " << s.chain.ku << (s.chain.ring ? " ring" : "") << " leaf " << leaf
                                  << " columns " << wanted.columns);
  Solver<Scalar, Exec> solver(Exec(), s.chain, {leaf, 1e-300}); // the test is about the backward error
  solver.factor(Exec(), device.matrix());
  ASSERT_TRUE(solver.report().ok()) << solver.report().algorithm << solver.report().smallest_pivot;
  for (bool transposed : {false, true}) {
    const double error = backward_error(s, solve(solver, wanted.b, wanted.columns, transposed), wanted.b,
                                        wanted.columns, transposed);
    EXPECT_LE(error, 1e-14) << solver.report().algorithm << (transposed ? ", transposed" : "");
    EXPECT_LE(error, 100 * std::max(wanted.error[transposed], 1e-17))
      << solver.report().algorithm << (transposed ? ", transposed" : "");
  }
}

enum class Values { dominant, random, symmetric };

template <class Scalar>
ChainSystem<Scalar> filled(const ribbon::Chain &chain, Values values, bool permuted, std::mt19937_64 &g)
{
  ChainSystem<Scalar> s{chain};
  if (permuted) s.shuffle(g);
  const std::int64_t  ku = chain.ku, n = chain.rows;
  std::vector<Scalar> upper; // upper triangles of symmetric matrices
  for (std::int64_t k = 0; values == Values::symmetric && k < s.rows() * (ku + 1); ++k)
    upper.push_back(random_scalar<Scalar>(g));
  s.fill([&](std::int64_t i, int d) {
    if (values == Values::symmetric)
      return upper[static_cast<std::size_t>((d >= 0 ? i : i - i % n + (i % n + d + n) % n) * (ku + 1) +
                                            std::abs(d))];
    return random_scalar<Scalar>(g) + (values == Values::dominant && d == 0
                                         ? Scalar(static_cast<double>(chain.width() + 1))
                                         : Scalar(0));
  });
  return s;
}

} // namespace test::chain_lapack

// SPDX-License-Identifier: BSD-2-Clause
/// @file chains.hpp  Seeded random chains for the tests of the multifrontal solver, with host copies.
#pragma once

#include "batch.hpp"

#include <ribbon/chain_solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace test {

/// A banded matrix as compressed rows on the host. The order of rows may differ from that of the chain.
template <class Scalar>
struct ChainSystem {
  ribbon::Chain             chain;
  std::vector<std::int64_t> row_of{}, place_of{}; ///< empty: rows in the order of the chain
  std::vector<int>          row_begin{}, column{};
  std::vector<Scalar>       value{};

  std::int64_t rows() const { return chain.rows * chain.chains; }

  /// Sets the entries. entry(i, d) is the entry d to the right of the diagonal in row i, where i counts the
  /// rows of all chains.
  template <class Entry>
  void fill(const Entry &entry)
  {
    row_begin.assign(1, 0), column.clear(), value.clear();
    for (std::int64_t r = 0; r < rows(); ++r) {
      const std::int64_t place = place_of.empty() ? r : place_of[static_cast<std::size_t>(r)],
                         base = place / chain.rows * chain.rows, i = place % chain.rows;
      std::vector<std::pair<int, Scalar>> entries;
      for (int d = -chain.kl; d <= chain.ku; ++d) {
        std::int64_t j = i + d;
        if (chain.ring) j = (j + chain.rows) % chain.rows;
        if (j < 0 || j >= chain.rows) continue;
        entries.emplace_back(
          static_cast<int>(row_of.empty() ? base + j : row_of[static_cast<std::size_t>(base + j)]),
          entry(place, d));
      }
      std::sort(entries.begin(), entries.end(),
                [](const auto &a, const auto &b) { return a.first < b.first; });
      for (const auto &e : entries) column.push_back(e.first), value.push_back(e.second);
      row_begin.push_back(static_cast<int>(column.size()));
    }
  }
  void shuffle(std::mt19937_64 &g)
  {
    row_of.resize(static_cast<std::size_t>(rows())), place_of = row_of;
    std::iota(row_of.begin(), row_of.end(), 0);
    std::shuffle(row_of.begin(), row_of.end(), g);
    for (std::size_t i = 0; i < row_of.size(); ++i)
      place_of[static_cast<std::size_t>(row_of[i])] = static_cast<std::int64_t>(i);
  }
};

/// A ChainSystem in the memory of Exec.
template <class Scalar>
struct ChainOnDevice {
  Kokkos::View<std::int64_t *, Memory> row_of, place_of;
  Kokkos::View<int *, Memory>          row_begin, column;
  Kokkos::View<Scalar *, Memory>       value;
  explicit ChainOnDevice(const ChainSystem<Scalar> &s)
      : row_of(ribbon::upload(Exec(), "test::row_of", s.row_of)),
        place_of(ribbon::upload(Exec(), "test::place_of", s.place_of)),
        row_begin(ribbon::upload(Exec(), "test::row_begin", s.row_begin)),
        column(ribbon::upload(Exec(), "test::column", s.column)),
        value(ribbon::upload(Exec(), "test::value", s.value))
  {
  }
  ribbon::ChainMatrix<Scalar, int> matrix() const
  {
    ribbon::ChainMatrix<Scalar, int> A{
      {static_cast<std::int64_t>(row_begin.extent(0)) - 1, row_begin.data(), column.data(), value.data()}};
    if (row_of.extent(0) > 0) A.row_of = row_of.data(), A.place_of = place_of.data();
    return A;
  }
};

/// @tparam Solver  ChainSolver or SchurSolver
template <class Solver, class Scalar>
std::vector<Scalar> solve(const Solver &solver, const std::vector<Scalar> &b, std::int64_t columns,
                          bool transposed, bool in_place = false)
{
  const auto rows = static_cast<std::int64_t>(b.size()) / columns;
  auto db = ribbon::upload(Exec(), "test::b", b), dx = in_place ? db : decltype(db)("test::x", b.size());
  solver.solve(Exec(), db.data(), rows, dx.data(), rows, columns, transposed);
  Kokkos::fence();
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, dx);
  return std::vector<Scalar>(result.data(), result.data() + b.size());
}

/// Largest ||b - A x|| / (||A|| ||x|| + ||b||) over all columns, in maximum norms.
template <class Scalar>
double backward_error(const ChainSystem<Scalar> &s, const std::vector<Scalar> &x,
                      const std::vector<Scalar> &b, std::int64_t columns, bool transposed)
{
  using Wide      = std::complex<long double>;
  const auto n    = static_cast<std::size_t>(s.rows());
  const auto wide = [](const Scalar &a) {
    if constexpr (std::is_floating_point_v<Scalar>) return Wide(a);
    else return Wide(a.real(), a.imag());
  };
  double worst = 0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
    std::vector<Wide>        r(n);
    std::vector<long double> sums(n, 0);
    long double              xs = 0, bs = 0, rs = 0, as = 0;
    for (std::size_t i = 0; i < n; ++i)
      r[i] = wide(b[c * n + i]), bs = std::max(bs, std::abs(r[i])),
      xs = std::max(xs, std::abs(wide(x[c * n + i])));
    for (std::size_t i = 0; i < n; ++i)
      for (auto e = static_cast<std::size_t>(s.row_begin[i]);
           e < static_cast<std::size_t>(s.row_begin[i + 1]); ++e) {
        const auto j = static_cast<std::size_t>(s.column[e]), to = transposed ? j : i,
                   from = transposed ? i : j;
        r[to] -= wide(s.value[e]) * wide(x[c * n + from]);
        sums[to] += std::abs(wide(s.value[e]));
      }
    for (std::size_t i = 0; i < n; ++i) {
      if (!(std::abs(r[i]) <= rs) && !std::isnan(rs)) rs = std::abs(r[i]);
      as = std::max(as, sums[i]);
    }
    const double error = rs == 0 ? 0 : static_cast<double>(rs / (as * xs + bs));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/// Largest allowed backward error of a chain.
template <class Scalar>
double chain_limit()
{
  return std::is_same_v<ribbon::real_t<Scalar>, float> ? 5e-6 : 1e-14;
}

/// Factors twice in the same memory, and solves. Includes transposed solves, and solves in place if the
/// solver supports them.
template <class Solver, class Scalar>
void check_solves(Solver &solver, const ChainSystem<Scalar> &s, const ChainOnDevice<Scalar> &device,
                  std::int64_t columns, bool in_place, std::mt19937_64 &g)
{
  std::vector<Scalar> b(static_cast<std::size_t>(s.rows() * columns));
  for (auto &a : b) a = random_scalar<Scalar>(g);
  for (int again = 0; again < 2; ++again) {
    solver.factor(Exec(), device.matrix());
    ASSERT_TRUE(solver.report().ok()) << solver.report().smallest_pivot;
    for (bool transposed : {false, true}) {
      const auto x = solve(solver, b, columns, transposed);
      EXPECT_LE(backward_error(s, x, b, columns, transposed), chain_limit<Scalar>())
        << (transposed ? "transposed" : "");
      if (in_place) {
        EXPECT_EQ(x, solve(solver, b, columns, transposed, true)) << "in place";
      }
    }
  }
}

} // namespace test

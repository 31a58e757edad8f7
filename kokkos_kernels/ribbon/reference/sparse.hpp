// SPDX-License-Identifier: BSD-2-Clause
/// @file sparse.hpp  Serial reference for long lines: Gaussian elimination with partial pivoting on sparse
///   rows.
#pragma once

#include <ribbon/elimination/host_matrix.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ribbon::reference {

/// Solves A x = b in extended precision. The matrix may have any bandwidth, rings, blocks and no dominance.
/// @param A  n rows of A: (column, value), columns of a row in any order; repeated columns add up
/// @param b  n values
/// @return x; empty if some column has no pivot
template <class Scalar>
std::vector<Scalar> solve(const std::vector<std::vector<std::pair<std::int64_t, Scalar>>> &A,
                          const std::vector<Scalar>                                       &b)
{
  using Wide      = wide_t<Scalar>;
  const auto n    = b.size();
  const auto wide = [](const Scalar &a) {
    if constexpr (std::is_floating_point_v<Scalar>) return static_cast<Wide>(a);
    else return Wide(a.real(), a.imag());
  };
  std::vector<std::map<std::size_t, Wide>> rows(n);
  std::vector<std::vector<std::size_t>>    begin(n); // remaining rows, by their first column
  std::vector<Wide>                        x(n);
  std::vector<std::size_t>                 pivot(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto &[j, value] : A[i]) rows[i][static_cast<std::size_t>(j)] += wide(value);
    x[i] = wide(b[i]);
    if (rows[i].empty()) return {};
    begin[rows[i].begin()->first].push_back(i);
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = n;
    for (std::size_t i : begin[k])
      if (p == n || std::abs(rows[i].begin()->second) > std::abs(rows[p].begin()->second)) p = i;
    if (p == n || rows[p].begin()->second == Wide(0)) return {};
    pivot[k] = p;
    for (std::size_t i : begin[k]) {
      if (i == p) continue;
      const Wide factor = rows[i].begin()->second / rows[p].begin()->second;
      for (auto e = std::next(rows[p].begin()); e != rows[p].end(); ++e)
        rows[i][e->first] -= factor * e->second;
      x[i] -= factor * x[p];
      rows[i].erase(rows[i].begin());
      if (rows[i].empty()) return {};
      begin[rows[i].begin()->first].push_back(i);
    }
  }
  std::vector<Wide>   y(n);
  std::vector<Scalar> result(n);
  for (std::size_t k = n; k-- > 0;) {
    const auto &row = rows[pivot[k]];
    y[k]            = x[pivot[k]];
    for (auto e = std::next(row.begin()); e != row.end(); ++e) y[k] -= e->second * y[e->first];
    y[k] /= row.begin()->second;
    result[k] = narrow<Scalar>(y[k]);
  }
  return result;
}

} // namespace ribbon::reference

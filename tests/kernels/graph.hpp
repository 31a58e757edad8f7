// SPDX-License-Identifier: BSD-2-Clause
// Sparse matrices in host memory, for tests of lines along their couplings.
#pragma once

#include <ribbon/lines_from_csr.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace test {

using Row = std::int64_t;

/// A sparse matrix in host memory, built entry by entry.
template <class Scalar = double, class Index = std::int32_t>
struct Host {
  Row                                   rows = 0;
  std::map<std::pair<Row, Row>, Scalar> entries;
  std::vector<Index>                    row_begin, column;
  std::vector<Scalar>                   value;

  explicit Host(Row n) : rows(n) { }
  /// A symmetric coupling, as of a graph Laplacian.
  void couple(Row i, Row j, double g)
  {
    entries[{i, j}] -= Scalar(g), entries[{j, i}] -= Scalar(g);
    entries[{i, i}] += Scalar(g), entries[{j, j}] += Scalar(g);
  }
  ribbon::CsrMatrix<Scalar, Index> csr()
  {
    row_begin.assign(static_cast<std::size_t>(rows) + 1, 0), column.clear(), value.clear();
    for (const auto &[at, a] : entries) {
      ++row_begin[static_cast<std::size_t>(at.first) + 1];
      column.push_back(static_cast<Index>(at.second));
      value.push_back(a);
    }
    std::partial_sum(row_begin.begin(), row_begin.end(), row_begin.begin());
    return {rows, row_begin.data(), column.data(), value.data()};
  }
  /// The matrix whose row to[i] is row i of this matrix.
  Host renumbered(const std::vector<Row> &to) const
  {
    Host other(rows);
    for (const auto &[at, a] : entries)
      other.entries[{to[static_cast<std::size_t>(at.first)], to[static_cast<std::size_t>(at.second)]}] = a;
    return other;
  }
};

inline std::vector<Row> shuffled(Row n, unsigned seed)
{
  std::vector<Row> to(static_cast<std::size_t>(n));
  std::iota(to.begin(), to.end(), Row(0));
  std::shuffle(to.begin(), to.end(), std::mt19937(seed));
  return to;
}

/// 5-point operator, or 7-point for nz > 1, with couplings by direction and place, optionally periodic.
using Coupling = std::function<double(int direction, Row x, Row y, Row z)>;
inline Host<> grid(Row nx, Row ny, Row nz, const Coupling &coupling,
                   std::array<bool, 3> ring = {false, false, false})
{
  Host<>    A(nx * ny * nz);
  const Row n[3] = {nx, ny, nz}, stride[3] = {1, nx, nx * ny};
  for (Row i = 0; i < A.rows; ++i) {
    const Row at[3] = {i % nx, i / nx % ny, i / (nx * ny)};
    for (int d = 0; d < 3; ++d) {
      const double g = coupling(d, at[0], at[1], at[2]);
      if (at[d] + 1 < n[d]) A.couple(i, i + stride[d], g);
      else if (ring[static_cast<std::size_t>(d)]) A.couple(i, i - at[d] * stride[d], g);
    }
    A.entries[{i, i}] += 1e-3;
  }
  return A;
}
inline Coupling constant(double x, double y, double z = 1)
{
  return [=](int d, Row, Row, Row) { return d == 0 ? x : d == 1 ? y : z; };
}

} // namespace test

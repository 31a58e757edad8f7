// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_lines.hpp  Lines that lines_by_rounds() finds in matrices of the host.
#pragma once

#include "graph_lines.hpp"

#include <ribbon/lines_by_rounds.hpp>

#include <algorithm>
#include <vector>

namespace test {

using Exec   = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

/// A matrix in the memory of Exec.
template <class Scalar, class Index>
struct Device {
  Kokkos::View<Index *, Memory>    row_begin, column;
  Kokkos::View<Scalar *, Memory>   value;
  ribbon::CsrMatrix<Scalar, Index> A;

  explicit Device(Host<Scalar, Index> &from)
  {
    const Exec exec;
    from.csr();
    row_begin = ribbon::upload(exec, "row_begin", from.row_begin);
    column    = ribbon::upload(exec, "column", from.column);
    value     = ribbon::upload(exec, "value", from.value);
    A         = {from.rows, row_begin.data(), column.data(), value.data()};
  }
};

template <class Scalar, class Index>
ribbon::LinesOfGraph by_rounds(Host<Scalar, Index> &from, const ribbon::LinesOfGraphOptions &options = {})
{
  const Exec                  exec;
  const Device<Scalar, Index> device(from);
  const auto                  found = ribbon::lines_by_rounds(exec, device.A, options);
  if (!found) {
    ADD_FAILURE() << "no lines";
    return {};
  }
  return ribbon::on_host(exec, *found);
}

/// Sum of the couplings along lines.
template <class Scalar, class Index>
double weight_of(const Host<Scalar, Index> &A, const ribbon::LinesOfGraph &lines)
{
  std::vector<double> largest(static_cast<std::size_t>(A.rows), 0);
  const auto          size = [](Scalar a) {
    const double s = static_cast<double>(ribbon::magnitude(a));
    return ribbon::is_finite(s) ? s : 0;
  };
  for (const auto &[at, a] : A.entries)
    if (at.first != at.second)
      largest[static_cast<std::size_t>(at.first)] =
        std::max(largest[static_cast<std::size_t>(at.first)], size(a));
  const auto one = [&](Row i, Row j) {
    const auto a = A.entries.find({i, j});
    return a == A.entries.end() || size(a->second) == 0
             ? 0
             : size(a->second) / largest[static_cast<std::size_t>(i)] / 2;
  };
  double sum = 0;
  for (std::size_t l = 0; l + 1 < lines.begin.size(); ++l)
    for (auto k = static_cast<std::size_t>(lines.begin[l]) + 1;
         k < static_cast<std::size_t>(lines.begin[l + 1]); ++k)
      sum += one(lines.order[k - 1], lines.order[k]) + one(lines.order[k], lines.order[k - 1]);
  return sum;
}

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
#include "fit_lines.hpp"
#include "graph_check.hpp"
#include "graph_strengths.hpp"
#include "path_cover.hpp"

namespace ribbon {

using graph::at;
using graph::check;

template <class Scalar, class Index>
std::vector<Scalar> entries_by_strength(const CsrMatrix<Scalar, Index> &A, const LinesOfGraphOptions &options)
{
  check(A.rows, options);
  std::vector<Scalar> value(A.value, A.value + (A.rows > 0 ? A.row_begin[A.rows] : 0));
  if (options.strength == CouplingStrength::aggregation) graph::divide_by_diagonals(A, options.block, &value);
  if (options.strength == CouplingStrength::negative) graph::keep_negative(A, options.block, &value);
  return value;
}

template <class Scalar, class Index>
LinesOfGraph lines_from_graph(const CsrMatrix<Scalar, Index> &A, const LinesOfGraphOptions &options)
{
  if (options.strength != CouplingStrength::absolute) {
    const std::vector<Scalar> value = entries_by_strength(A, options);
    LinesOfGraphOptions       same  = options;
    same.strength                   = CouplingStrength::absolute;
    return lines_from_graph(CsrMatrix<Scalar, Index>{A.rows, A.row_begin, A.column, value.data()}, same);
  }
  check(A.rows, options);
  const auto all = graph::couplings_of(A, options), strong = graph::strong_ones(all, options);
  return graph::PathCover<Index>(all, strong).lines();
}

PackedLines pack(const LinesOfGraph &lines, std::int64_t rows)
{
  const graph::FittedLines fitted = graph::fit_lines(lines.begin, rows);
  PackedLines              packed;
  const std::int64_t       unknowns = static_cast<std::int64_t>(lines.order.size());
  const auto length = [&lines](std::int64_t l) { return lines.begin[at(l) + 1] - lines.begin[at(l)]; };
  packed.rows = fitted.rows, packed.pieces = fitted.pieces;
  if (unknowns == 0) return packed;
  packed.row_at.assign(at(packed.rows * packed.pieces), -1);
  packed.line_at.assign(packed.row_at.size(), -1);
  packed.position_of.assign(at(unknowns), -1);
  const auto &longest_first = fitted.longest_first;
  // a few lines at once: they have neighbouring places
  constexpr std::int64_t tile = 16;
  for (std::int64_t first = 0; first < lines.lines(); first += tile) {
    const std::int64_t end = std::min(first + tile, lines.lines()), most = length(longest_first[at(first)]);
    for (std::int64_t k = 0; k < most; ++k)
      for (std::int64_t t = first; t < end; ++t) {
        const std::int64_t l = longest_first[at(t)];
        if (k >= length(l)) break;
        const std::int64_t row       = lines.order[at(lines.begin[at(l)] + k)],
                           position  = (fitted.first_of[at(l)] + k) * packed.pieces + fitted.piece_of[at(l)];
        packed.row_at[at(position)]  = row;
        packed.line_at[at(position)] = l;
        packed.position_of[at(row)]  = position;
      }
  }
  return packed;
}

#define RIBBON_INSTANTIATE_FOR(Scalar, Index)                                                                \
  template std::vector<Scalar> entries_by_strength(const CsrMatrix<Scalar, Index> &,                         \
                                                   const LinesOfGraphOptions &);                             \
  template LinesOfGraph lines_from_graph(const CsrMatrix<Scalar, Index> &, const LinesOfGraphOptions &);
#define RIBBON_INSTANTIATE(Scalar)                                                                           \
  RIBBON_INSTANTIATE_FOR(Scalar, std::int32_t)                                                               \
  RIBBON_INSTANTIATE_FOR(Scalar, std::int64_t)

RIBBON_INSTANTIATE(float)
RIBBON_INSTANTIATE(double)
RIBBON_INSTANTIATE(Kokkos::complex<double>)

} // namespace ribbon

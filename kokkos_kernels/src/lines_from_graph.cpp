// SPDX-License-Identifier: BSD-2-Clause
#include "graph_strengths.hpp"
#include "path_cover.hpp"

#include <deque>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

namespace ribbon {

namespace {

using graph::at;

/// Best fit of lines, the longest first, into packed lines: put(line, packed line, first element) for each
/// line. Returns the count of packed lines.
template <class Put>
std::int64_t best_fit(const LinesOfGraph &lines, const std::vector<std::int64_t> &longest_first,
                      std::int64_t rows, const Put &put)
{
  // packed lines by their free elements, the oldest first
  std::map<std::int64_t, std::deque<std::int64_t>> with_room;
  std::int64_t                                     pieces = 0;
  for (std::size_t k = 0; k < longest_first.size();) {
    const std::int64_t length = lines.begin[at(longest_first[k]) + 1] - lines.begin[at(longest_first[k])];
    const auto         fit    = with_room.lower_bound(length);
    std::int64_t       room = rows, piece = pieces;
    if (fit == with_room.end()) ++pieces;
    else {
      room  = fit->first;
      piece = fit->second.front();
      fit->second.pop_front();
      if (fit->second.empty()) with_room.erase(fit);
    }
    // the rest of the packed line is the best fit for the next line of the same length
    for (; room >= length && k < longest_first.size() &&
           lines.begin[at(longest_first[k]) + 1] - lines.begin[at(longest_first[k])] == length;
         ++k, room -= length)
      put(longest_first[k], piece, rows - room);
    if (room > 0) with_room[room].push_back(piece);
  }
  return pieces;
}

} // namespace

namespace {

void check(std::int64_t rows, const LinesOfGraphOptions &options)
{
  if (options.block < 1 || rows % options.block != 0)
    throw std::invalid_argument("ribbon::lines_from_graph: " + std::to_string(rows) +
                                " rows do not divide into blocks of " + std::to_string(options.block));
  if (!(options.threshold >= 0) || !(options.anisotropy >= 0) || !(options.least >= 0))
    throw std::invalid_argument(
      "ribbon::lines_from_graph: threshold, anisotropy and least have to be nonnegative");
}

} // namespace

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
  PackedLines        packed;
  const std::int64_t unknowns = static_cast<std::int64_t>(lines.order.size());
  auto         length  = [&lines](std::int64_t l) { return lines.begin[at(l) + 1] - lines.begin[at(l)]; };
  std::int64_t longest = 0;
  for (std::int64_t l = 0; l < lines.lines(); ++l) longest = std::max(longest, length(l));
  if (rows < 0 || (rows > 0 && rows < longest))
    throw std::invalid_argument("ribbon::pack: pieces of " + std::to_string(rows) +
                                " rows cannot hold a line of " + std::to_string(longest));
  packed.rows = rows > 0 ? rows : longest;
  if (unknowns == 0) return packed;

  std::vector<std::int64_t> place(at(longest) + 2, 0), longest_first(at(lines.lines())); // sorted by counting
  for (std::int64_t l = 0; l < lines.lines(); ++l) ++place[at(longest - length(l)) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  for (std::int64_t l = 0; l < lines.lines(); ++l) longest_first[at(place[at(longest - length(l))]++)] = l;

  if (rows == 0) {
    std::vector<std::int64_t> tries = {longest, 2 * longest, 3 * longest, 4 * longest, 64, 128, 192, 256};
    std::sort(tries.begin(), tries.end());
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t t : tries) {
      if (t < longest || (t > longest && t > 256)) continue;
      const double filled = static_cast<double>(t) *
                            static_cast<double>(best_fit(lines, longest_first, t,
                                                         [](std::int64_t, std::int64_t, std::int64_t) {})) /
                            static_cast<double>(unknowns);
      if (filled >= least) continue;
      least       = filled;
      packed.rows = t;
      if (filled <= 1.05) break;
    }
  }

  std::vector<std::int64_t> piece_of(at(lines.lines())), first_of(at(lines.lines()));
  packed.pieces = best_fit(lines, longest_first, packed.rows,
                           [&](std::int64_t line, std::int64_t piece, std::int64_t first) {
                             piece_of[at(line)] = piece;
                             first_of[at(line)] = first;
                           });
  packed.row_at.assign(at(packed.rows * packed.pieces), -1);
  packed.line_at.assign(packed.row_at.size(), -1);
  packed.position_of.assign(at(unknowns), -1);
  // a few lines at once: they have neighbouring places
  constexpr std::int64_t tile = 16;
  for (std::int64_t first = 0; first < lines.lines(); first += tile) {
    const std::int64_t end = std::min(first + tile, lines.lines()), most = length(longest_first[at(first)]);
    for (std::int64_t k = 0; k < most; ++k)
      for (std::int64_t t = first; t < end; ++t) {
        const std::int64_t l = longest_first[at(t)];
        if (k >= length(l)) break;
        const std::int64_t row       = lines.order[at(lines.begin[at(l)] + k)],
                           position  = (first_of[at(l)] + k) * packed.pieces + piece_of[at(l)];
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

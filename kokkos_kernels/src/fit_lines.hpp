// SPDX-License-Identifier: BSD-2-Clause
/// @file fit_lines.hpp  The packed line of every line, from their lengths, for pack().
#pragma once

#include <ribbon/lines_from_graph.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

namespace ribbon::graph {

/// Lines that are packed into `pieces` lines of `rows` rows.
struct FittedLines {
  std::int64_t              rows = 0, pieces = 0;
  std::vector<std::int64_t> piece_of, first_of; ///< packed line of every line, and its first element there
  std::vector<std::int64_t> longest_first;      ///< lines
};

/// Best fit of lines, the longest first, into packed lines: put(line, packed line, first element) for each
/// line. Returns the count of packed lines.
template <class Put>
std::int64_t best_fit(const std::vector<std::int64_t> &begin, const std::vector<std::int64_t> &longest_first,
                      std::int64_t rows, const Put &put)
{
  const auto length_of = [&](std::size_t k) {
    const auto l = static_cast<std::size_t>(longest_first[k]);
    return begin[l + 1] - begin[l];
  };
  // packed lines by their free elements, the oldest first
  std::map<std::int64_t, std::deque<std::int64_t>> with_room;
  std::int64_t                                     pieces = 0;
  for (std::size_t k = 0; k < longest_first.size();) {
    const std::int64_t length = length_of(k);
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
    for (; room >= length && k < longest_first.size() && length_of(k) == length; ++k, room -= length)
      put(longest_first[k], piece, rows - room);
    if (room > 0) with_room[room].push_back(piece);
  }
  return pieces;
}

/// Fits lines of these beginnings as pack() describes.
/// @throws std::invalid_argument if a line is longer than rows
inline FittedLines fit_lines(const std::vector<std::int64_t> &begin, std::int64_t rows)
{
  FittedLines        fitted;
  const std::size_t  lines    = begin.empty() ? 0 : begin.size() - 1;
  const std::int64_t unknowns = lines == 0 ? 0 : begin.back();
  const auto         length   = [&begin](std::size_t l) { return begin[l + 1] - begin[l]; };
  std::int64_t       longest  = 0;
  for (std::size_t l = 0; l < lines; ++l) longest = std::max(longest, length(l));
  if (rows < 0 || (rows > 0 && rows < longest))
    throw std::invalid_argument("ribbon::pack: pieces of " + std::to_string(rows) +
                                " rows cannot hold a line of " + std::to_string(longest));
  fitted.rows = rows > 0 ? rows : longest;
  if (unknowns == 0) return fitted;

  std::vector<std::int64_t> place(static_cast<std::size_t>(longest) + 2, 0); // sorted by counting
  fitted.longest_first.resize(lines);
  for (std::size_t l = 0; l < lines; ++l) ++place[static_cast<std::size_t>(longest - length(l)) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  for (std::size_t l = 0; l < lines; ++l)
    fitted.longest_first[static_cast<std::size_t>(place[static_cast<std::size_t>(longest - length(l))]++)] =
      static_cast<std::int64_t>(l);

  fitted.piece_of.resize(lines), fitted.first_of.resize(lines);
  const auto fit = [&](std::int64_t rows_of_piece) {
    return best_fit(begin, fitted.longest_first, rows_of_piece,
                    [&](std::int64_t line, std::int64_t piece, std::int64_t first) {
                      fitted.piece_of[static_cast<std::size_t>(line)] = piece;
                      fitted.first_of[static_cast<std::size_t>(line)] = first;
                    });
  };
  if (rows == 0) {
    std::vector<std::int64_t> tries = {longest, 2 * longest, 3 * longest, 4 * longest, 64, 128, 192, 256};
    std::sort(tries.begin(), tries.end());
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t t : tries) {
      if (t < longest || (t > longest && t > 256)) continue;
      fitted.pieces = fit(t);
      const double filled =
        static_cast<double>(t) * static_cast<double>(fitted.pieces) / static_cast<double>(unknowns);
      if (filled >= least) continue;
      least       = filled;
      fitted.rows = t;
      if (filled <= 1.05) return fitted;
    }
  }
  fitted.pieces = fit(fitted.rows);
  return fitted;
}

} // namespace ribbon::graph

// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_forest.hpp  Rounds of proposals by which rows join lines, for lines_by_rounds().
#pragma once

#include "rounds_graph.hpp"

namespace ribbon::rounds {

/// a line of at most this many rows may continue if its ends couple (path_cover.hpp: closes())
constexpr int short_ring = 9;
/// no coupling: after every rank
constexpr std::uint64_t none = ~std::uint64_t(0);

/// Lines in progress. Slot s of row i is at 2 i + s.
struct Forest {
  std::int32_t               *neighbor; ///< on the line; -1: none. The second slot is filled last
  unsigned char              *closed;   ///< 1: the row is an end of a ring
  std::int32_t               *label;    ///< smaller end of the line before the rounds
  std::int32_t               *length;   ///< rows of that line
  KOKKOS_INLINE_FUNCTION bool is_end(std::int64_t i) const { return neighbor[2 * i + 1] < 0 && !closed[i]; }
  KOKKOS_INLINE_FUNCTION bool is_single(std::int64_t i) const { return neighbor[2 * i] < 0; }
  KOKKOS_INLINE_FUNCTION std::int64_t before(std::int64_t i) const { return neighbor[2 * i]; }
};

/// Whether a row can only be on a line with all rows that couple strongly with it.
struct SimpleKernel {
  Graph                graph;
  unsigned char       *simple;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    const std::int32_t  count = graph.strong_count[i];
    const std::int32_t *side  = graph.strong_column + graph.begin[i];
    const float        *w     = graph.strong_weight + graph.begin[i];
    simple[i]                 = count < 2 || (count == 2 && !graph.is_turn(side[0], i, side[1],
                                                                           alike * (w[0] < w[1] ? w[0] : w[1]), false));
  }
};

/// Joins neighbours that are simple: no other coupling competes with theirs.
struct JoinSimpleKernel {
  Graph                graph;
  const unsigned char *simple;
  Forest               forest;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    const std::int64_t first = graph.begin[i];
    int                count = 0;
    for (std::int64_t e = first; e < first + graph.strong_count[i] && simple[i]; ++e)
      if (simple[graph.strong_column[e]]) forest.neighbor[2 * i + count++] = graph.strong_column[e];
    for (; count < 2; ++count) forest.neighbor[2 * i + count] = -1;
    forest.closed[i] = 0;
    forest.label[i]  = static_cast<std::int32_t>(i);
    forest.length[i] = 1;
  }
};

/// The rank of one free coupling of every row of a sample.
struct SampleKernel {
  Graph                graph;
  Forest               forest;
  std::int64_t         every;
  std::uint64_t       *sample;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const auto         hash = static_cast<std::uint64_t>(k) * 2654435761u >> 8;
    const std::int64_t i    = k * every + static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(every));
    std::int64_t       free = 0;
    sample[k]               = none;
    if (i >= graph.rows || !forest.is_end(i)) return;
    const std::int64_t first = graph.begin[i];
    for (int pass = 0; pass < 2; ++pass) {
      const std::int64_t which =
        free > 0 ? static_cast<std::int64_t>((hash >> 8) % static_cast<std::uint64_t>(free)) : -1;
      free = 0;
      for (std::int64_t e = first; e < first + graph.strong_count[i]; ++e) {
        const std::int64_t j = graph.strong_column[e];
        if (!forest.is_end(j) || forest.before(i) == j) continue;
        if (free++ == which) sample[k] = graph.rank(i, j, graph.strong_weight[e]).group_and_distance;
      }
    }
  }
};

/// A row proposes its best couplings, at most as many as it has free slots.
struct ProposeKernel {
  Graph               graph;
  Forest              forest;
  std::uint64_t       limit;    ///< couplings of later ranks do not begin lines
  const std::int32_t *changed;  ///< round in which a row or a neighbour changed last
  std::int32_t        since;    ///< rows that changed before keep their proposals
  bool                first;    ///< the limit is new: rows whose couplings it excluded propose again
  std::int32_t       *proposal; ///< 2 for every row
  std::uint64_t      *waits;    ///< for each row, the best rank among the couplings that the limit excludes

  struct Candidate {
    std::int64_t row = -1;
    float        weight;
    Rank         rank;
  };
  /// Ends grow by couplings that tie with the last ones which begin lines.
  KOKKOS_INLINE_FUNCTION bool excludes(std::int64_t i, std::int64_t j, std::uint64_t rank) const
  {
    const bool grows = !forest.is_single(i) || !forest.is_single(j);
    return rank > limit && (!grows || rank >> 32 > limit >> 32);
  }
  /// The best coupling of row i after a rank, or the first of all.
  /// @param excluded  becomes the best rank that the limit excludes
  KOKKOS_INLINE_FUNCTION Candidate next(std::int64_t i, const Rank *after, std::uint64_t &excluded) const
  {
    Candidate          best;
    const std::int64_t begin = graph.begin[i], end = begin + graph.strong_count[i];
    for (std::int64_t e = begin; e < end; ++e) {
      const float        w    = graph.strong_weight[e];
      const std::int64_t j    = graph.strong_column[e];
      const Rank         rank = graph.rank(i, j, w);
      if ((after && !(*after < rank)) || (best.row >= 0 && !(rank < best.rank))) continue;
      if (!forest.is_end(j) || forest.before(i) == j) continue;
      // a short line does not close to a ring
      if (forest.label[i] == forest.label[j] && forest.length[i] <= short_ring) continue;
      if (excludes(i, j, rank.group_and_distance)) {
        if (rank.group_and_distance < excluded) excluded = rank.group_and_distance;
      } else best.row = j, best.weight = w, best.rank = rank;
    }
    return best;
  }
  /// Whether the line of row i, whose last row before it is `before`, must not continue with a candidate.
  KOKKOS_INLINE_FUNCTION bool turns(std::int64_t before, std::int64_t i, const Candidate &c) const
  {
    return graph.turns(before, i, c.row, c.weight) || graph.turns(forest.before(c.row), c.row, i, c.weight);
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    if (changed[i] < since && !(first && waits[i] != none && waits[i] >> 32 <= limit >> 32)) return;
    const std::int64_t before = forest.before(i);
    std::int64_t       one = -1, two = -1;
    std::uint64_t      excluded = none;
    if (forest.is_end(i)) {
      Candidate c = next(i, nullptr, excluded);
      while (c.row >= 0 && turns(before, i, c)) c = after(i, c, excluded);
      one = c.row;
      if (before < 0 && one >= 0) {
        do c = after(i, c, excluded);
        while (c.row >= 0 && turns(-1, i, c));
        // a coupling that turns waits: the first one may not be accepted
        if (c.row >= 0 && !turns(one, i, c)) two = c.row;
      }
    }
    proposal[2 * i]     = static_cast<std::int32_t>(one);
    proposal[2 * i + 1] = static_cast<std::int32_t>(two);
    waits[i]            = excluded;
  }

private:
  KOKKOS_INLINE_FUNCTION Candidate after(std::int64_t i, const Candidate &c, std::uint64_t &excluded) const
  {
    const Rank rank = c.rank;
    return next(i, &rank, excluded);
  }
};

/// Accepts the couplings that both rows propose.
struct AcceptKernel {
  Graph               graph;
  Forest              forest;
  const std::int32_t *proposal;
  std::int32_t       *changed;
  std::int32_t        round;
  int                *any; ///< 1: a coupling was accepted

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    bool accepted = false;
    if (!forest.is_end(i)) return;
    for (int s = 0; s < 2; ++s) {
      const std::int32_t j = proposal[2 * i + s];
      if (j < 0 || (proposal[2 * j] != i && proposal[2 * j + 1] != i)) continue;
      forest.neighbor[2 * i + (forest.is_single(i) ? 0 : 1)] = j;
      accepted                                               = true;
    }
    if (!accepted) return;
    *any       = 1;
    changed[i] = round;
    for (std::int64_t e = graph.begin[i], end = e + graph.strong_count[i]; e < end; ++e)
      changed[graph.strong_column[e]] = round;
  }
};

} // namespace ribbon::rounds

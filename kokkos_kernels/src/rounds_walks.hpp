// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_walks.hpp  Lines that grow straight on by many rows at once, for lines_by_rounds().
#pragma once

#include "rounds_forest.hpp"

namespace ribbon::rounds {

/// The next row of a path that enters row i from row k: that of the best coupling that ties with (i, k) and does not
/// turn. Entry e of the strong couplings, (i, k), stands for such a path.
struct StraightKernel {
  static constexpr int place_bits = 33, most_couplings = 64;
  Graph                graph;
  /// of every e: the next row j in the upper bits, and below the index of (j, i) in the strong couplings. -1: the path
  /// ends, or row i has stronger couplings than (i, k), or many
  std::int64_t *straight;

  static KOKKOS_INLINE_FUNCTION std::int64_t row(std::int64_t next) { return next >> place_bits; }
  static KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t next)
  {
    return next & ((std::int64_t(1) << place_bits) - 1);
  }
  /// Place of column j in the strong couplings of row i; -1: it is not there.
  static KOKKOS_INLINE_FUNCTION std::int64_t find(const Graph &graph, std::int64_t i, std::int64_t j)
  {
    for (std::int64_t e = graph.begin[i], end = e + graph.strong_count[i]; e < end; ++e)
      if (graph.strong_column[e] == j) return e;
    return -1;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    const std::int64_t begin = graph.begin[i], end = begin + graph.strong_count[i];
    std::uint64_t      best = none;
    for (std::int64_t e = begin; e < end; ++e) {
      const std::uint64_t group = graph.group_of(graph.strong_weight[e]);
      if (group < best) best = group;
    }
    for (std::int64_t e = begin; e < end; ++e) {
      straight[e] = -1;
      if (end - begin > most_couplings) continue; // a row that couples with all others
      if (graph.group_of(graph.strong_weight[e]) != best) continue;
      std::int64_t to = -1;
      Rank         rank{};
      for (std::int64_t f = begin; f < end; ++f) {
        const std::int64_t j = graph.strong_column[f];
        const float        w = graph.strong_weight[f];
        if (f == e || graph.group_of(w) != best) continue;
        const Rank r = graph.rank(i, j, w);
        if ((to < 0 || r < rank) && !graph.turns(graph.strong_column[e], i, j, w)) to = j, rank = r;
      }
      if (to >= 0) straight[e] = to << place_bits | find(graph, to, i);
    }
  }
};

/// Extends the ends of lines, without turning, by rows that are on no line. First every end claims its rows; then it
/// takes them up to the first row that a better end claims.
struct WalkKernel {
  static constexpr int most = 4096; ///< most rows of a walk
  Graph                graph;
  Forest               forest;
  const std::int64_t  *straight; ///< of StraightKernel
  std::uint64_t        limit;    ///< as in ProposeKernel
  std::uint64_t       *claim; ///< of every row: distance of indices and row of the best end; none: unclaimed
  bool                 take;  ///< false: ends claim rows; true: they take them
  std::int32_t        *changed; ///< as in ProposeKernel
  std::int32_t         round;   ///< the last one

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    if (!forest.is_end(i) || forest.is_single(i)) return;
    const std::int64_t before = forest.before(i), e = StraightKernel::find(graph, i, before);
    const Rank         rank = graph.rank(i, before, graph.strong_weight[e]);
    if (rank.group_and_distance >> 32 > limit >> 32) return;
    const std::uint64_t key  = rank.group_and_distance << 32 | static_cast<std::uint64_t>(i);
    std::int64_t        last = i, next = straight[e];
    for (int step = 0; step < most && next >= 0; ++step) {
      const std::int64_t j = StraightKernel::row(next);
      if ((take && claim[j] != key) || !forest.is_single(j)) break;
      if (take) join(last, j);
      else Kokkos::atomic_fetch_min(claim + j, key);
      last = j, next = straight[StraightKernel::place(next)];
    }
  }

private:
  KOKKOS_INLINE_FUNCTION void join(std::int64_t last, std::int64_t j) const
  {
    forest.neighbor[2 * last + 1] = static_cast<std::int32_t>(j);
    forest.neighbor[2 * j]        = static_cast<std::int32_t>(last);
    propose_anew(last);
    propose_anew(j);
  }
  KOKKOS_INLINE_FUNCTION void propose_anew(std::int64_t i) const
  {
    changed[i] = round;
    for (std::int64_t e = graph.begin[i], end = e + graph.strong_count[i]; e < end; ++e)
      changed[graph.strong_column[e]] = round;
  }
};

} // namespace ribbon::rounds

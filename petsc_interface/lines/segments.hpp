// SPDX-License-Identifier: BSD-2-Clause
/// @file segments.hpp  The segments of lines that span ranks, how they connect, and the ranks that solve the lines.
#pragma once

#include "../support/compat.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace ribbon::petsc {

/// The part of a line on one rank that continues on other ranks. All numbers are global.
struct Segment {
  PetscInt end[2]  = {-1, -1}; ///< its first and last element
  PetscInt next[2] = {-1, -1}; ///< the elements of other ranks that continue it; -1: the line ends
  PetscInt length  = 0;
};
constexpr PetscInt numbers_of_segment = 5;
static_assert(sizeof(Segment) == numbers_of_segment * sizeof(PetscInt));

/// One line: its segments in order, each with whether it is passed from its last element to its first.
struct Chain {
  std::vector<std::pair<std::size_t, bool>> segments;
  PetscMPIInt                               owner = 0; ///< the rank that solves it
};

/// The segments of all ranks, and the lines that they form. All ranks compute the same.
struct Segments {
  std::vector<Segment>     all;
  std::vector<PetscMPIInt> rank; ///< of every segment
  std::vector<Chain>       chains;

  void connect()
  {
    std::vector<Side> sides; // that continue, ascending
    std::vector<char> seen(all.size(), 0);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < 2; ++k)
        if (all[i].next[k] >= 0) sides.push_back({{all[i].end[k], all[i].next[k]}, 2 * i + k});
    std::sort(sides.begin(), sides.end());
    const auto follow = [&](std::size_t s, std::size_t enters) {
      Chain chain;
      while (!seen[s]) {
        const Segment    &segment = all[s];
        const std::size_t leaves  = 1 - enters;
        seen[s]                   = 1;
        chain.segments.emplace_back(s, enters == 1);
        if (segment.next[leaves] < 0) break;
        const Side        other{{segment.next[leaves], segment.end[leaves]}, 0};
        const std::size_t to = std::lower_bound(sides.begin(), sides.end(), other)->number;
        s = to / 2, enters = to % 2;
      }
      chains.push_back(std::move(chain));
    };
    for (std::size_t s = 0; s < all.size(); ++s)
      for (std::size_t k = 0; k < 2; ++k)
        if (all[s].next[k] < 0 && !seen[s]) follow(s, k);
    for (std::size_t s = 0; s < all.size(); ++s) // rings are opened
      if (!seen[s]) follow(s, 0);
  }
  /// Of the ranks with at least half as much of a line as any other, the one with the least to do solves it.
  void deal(std::vector<PetscInt> load)
  {
    std::vector<PetscInt>    share(load.size(), 0); // of each rank in a line
    std::vector<PetscMPIInt> ranks;                 // of a line
    for (Chain &chain : chains) {
      PetscInt most = 0, length = 0;
      ranks.clear();
      for (const auto &[s, reversed] : chain.segments) {
        PetscInt &own = share[static_cast<std::size_t>(rank[s])];
        if (own == 0) ranks.push_back(rank[s]);
        own += all[s].length, length += all[s].length;
        most = std::max(most, own);
      }
      std::sort(ranks.begin(), ranks.end());
      chain.owner = -1;
      for (PetscMPIInt r : ranks) {
        const PetscInt own = std::exchange(share[static_cast<std::size_t>(r)], 0);
        if (2 * own >= most && (chain.owner < 0 || load[static_cast<std::size_t>(r)] <
                                                     load[static_cast<std::size_t>(chain.owner)]))
          chain.owner = r;
      }
      load[static_cast<std::size_t>(chain.owner)] += length;
    }
  }

private:
  /// An end of a segment, and the element of another rank that continues it there.
  struct Side {
    std::array<PetscInt, 2> elements;
    std::size_t             number; ///< 2 segment + end
    bool                    operator<(const Side &other) const { return elements < other.elements; }
  };
};

} // namespace ribbon::petsc

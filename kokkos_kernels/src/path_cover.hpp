// SPDX-License-Identifier: BSD-2-Clause
/// @file path_cover.hpp  Disjoint paths along the strongest couplings, for lines_from_graph().
#pragma once

#include "graph_edges.hpp"

#include <array>

namespace ribbon::graph {

/// couplings this strong relative to another one form triangles and quadrilaterals with it
constexpr float alike = 0.9f;
/// above this count of entries of two rows there is no search for quadrilaterals: its cost for dense rows
/// would be quadratic
constexpr int long_rows = 256;

/// Lines of two lists, in the order of their first rows.
inline LinesOfGraph merged(LinesOfGraph a, LinesOfGraph b)
{
  if (a.lines() == 0) return b;
  if (b.lines() == 0) return a;
  LinesOfGraph all;
  all.order.reserve(a.order.size() + b.order.size());
  all.begin.push_back(0);
  for (std::int64_t i = 0, j = 0; i < a.lines() || j < b.lines();) {
    const bool from_a =
      j == b.lines() || (i < a.lines() && a.order[at(a.begin[at(i)])] < b.order[at(b.begin[at(j)])]);
    const LinesOfGraph &from = from_a ? a : b;
    const std::int64_t  l    = from_a ? i++ : j++;
    all.order.insert(all.order.end(), from.order.begin() + from.begin[at(l)],
                     from.order.begin() + from.begin[at(l) + 1]);
    all.begin.push_back(static_cast<std::int64_t>(all.order.size()));
  }
  return all;
}

/// Vertex-disjoint paths. Strong couplings that form paths by themselves need no search: they are taken as
/// they are. All others are grown by edges between their ends.
template <class Index>
class PathCover {
public:
  PathCover(const Couplings<Index> &all, const Couplings<Index> &strong)
      : all_(all), strong_(strong), neighbour_(at(all.rows()))
  {
    take_simple_paths();
    if (static_cast<std::int64_t>(simple_.order.size()) == all_.rows()) return;
    closed_.assign(at(all.rows()), 0);
    other_end_.resize(at(all.rows()));
    std::iota(other_end_.begin(), other_end_.end(), Index(0));
    take_edges();
  }

  /// Can be called once.
  LinesOfGraph lines()
  {
    LinesOfGraph grown;
    add_paths([](std::size_t) { return true; }, &grown);
    return merged(std::move(simple_), std::move(grown));
  }

private:
  /// Whether a row can only be on a path with all rows that couple strongly with it.
  bool is_simple(Index i) const
  {
    const std::int64_t e = strong_.begin[at(i)], degree = strong_.degree(i);
    if (degree != 2) return degree < 2;
    return !is_turn(strong_.column[e], i, strong_.column[e + 1],
                    alike * std::min(strong_.weight[at(e)], strong_.weight[at(e + 1)]), false);
  }

  /// Finds the components of strong couplings that are paths without corners.
  void take_simple_paths()
  {
    std::vector<char>  mixed(at(all_.rows()), 0); // a row of its component is not simple
    std::vector<Index> reached;
    const Index        rows = static_cast<Index>(all_.rows());
    for (Index i = 0; i < rows; ++i) {
      if (mixed[at(i)] || is_simple(i)) continue;
      for (mixed[at(i)] = 1, reached.push_back(i); !reached.empty();) {
        const Index k = reached.back();
        reached.pop_back();
        for (std::int64_t e = strong_.begin[at(k)]; e < strong_.begin[at(k) + 1]; ++e)
          if (!std::exchange(mixed[at(strong_.column[e])], char(1))) reached.push_back(strong_.column[e]);
      }
    }
    for (Index i = 0; i < rows; ++i) {
      const std::int64_t e = strong_.begin[at(i)], degree = mixed[at(i)] ? 0 : strong_.degree(i);
      neighbour_[at(i)] = {degree > 0 ? strong_.column[e] : -1, degree > 1 ? strong_.column[e + 1] : -1};
    }
    done_.assign(mixed.size(), 0);
    simple_.order.reserve(mixed.size());
    add_paths([&](std::size_t row) { return !mixed[row]; }, &simple_);
    for (std::size_t i = 0; i < mixed.size(); ++i) // rings have no ends: they remain
      if (!done_[i]) neighbour_[i] = {-1, -1};
  }

  /// Adds the paths that begin in rows with may_begin(row) and are not done.
  template <class MayBegin>
  void add_paths(const MayBegin &may_begin, LinesOfGraph *to)
  {
    std::array<std::vector<Index>, 16> paths; // neighbouring paths have neighbouring rows
    to->begin.push_back(0);
    for (std::size_t first = 0; first < neighbour_.size();) {
      std::size_t count = 0;
      for (; first < neighbour_.size() && count < paths.size(); ++first)
        if (!done_[first] && neighbour_[first][1] < 0 && may_begin(first)) // not an interior row
          paths[count++].assign(1, static_cast<Index>(first));
      follow(&paths, count);
      for (std::size_t p = 0; p < count; ++p) {
        if (paths[p].back() < paths[p].front()) continue; // backwards
        to->order.insert(to->order.end(), paths[p].begin(), paths[p].end());
        to->begin.push_back(static_cast<std::int64_t>(to->order.size()));
        for (Index row : paths[p]) done_[at(row)] = 1;
      }
    }
  }

  /// Follows `count` paths from their first rows, side by side.
  template <class Paths>
  void follow(Paths *paths, std::size_t count) const
  {
    for (bool on = count > 0; on;) {
      on = false;
      for (std::size_t p = 0; p < count; ++p) {
        auto       &path   = (*paths)[p];
        const Index before = path.size() > 1 ? path[path.size() - 2] : -1;
        const auto &next   = neighbour_[at(path.back())];
        const Index to     = next[0] == before ? next[1] : next[0];
        if (to < 0) continue;
        path.push_back(to);
        on = true;
      }
    }
  }

  void take_edges()
  {
    const EdgeGroups<Index> groups = edges_of(strong_, [this](std::int64_t i) { return done_[at(i)] != 0; });
    for (std::size_t g = 0; g < groups.least.size(); ++g)
      for (std::size_t k = groups.begin[g]; k < groups.begin[g + 1]; ++k) {
        const Edge<Index> &e = groups.edges[k];
        if (closes(e.i, e.j, e.weight)) closed_[at(e.i)] = closed_[at(e.j)] = 1;
        if (!may_join(e.i, e.j, e.weight)) continue;
        // upwards first: a ring is opened between its last row and its first
        const Index ends[2] = {other_end_[at(e.j)], other_end_[at(e.i)]};
        join(e.i, e.j);
        for (Index end : ends) // both ends grow while there are ties
          while (end >= 0) end = grow(end, groups.least[g]);
      }
  }

  bool is_end(Index i) const { return neighbour_[at(i)][1] < 0 && !closed_[at(i)]; }

  /// Whether a path through i must not continue from k to j. k, i and j are corners of a triangle whose
  /// third side is about as strong as (i, j); or they are corners of a quadrilateral k, i, j, m with one
  /// such side, any fourth side, and no diagonal (i, m) as strong. Exception: a ring of three or four rows
  /// that couple strongly with no other rows.
  bool turns(Index k, Index i, Index j, float weight) const
  {
    if (k < 0) return false;
    const float side  = alike * weight;
    const bool  alone = strong_.degree(i) <= 2 && strong_.degree(j) <= 2 && strong_.degree(k) <= 2;
    return is_turn(k, i, j, side, alone);
  }

  bool is_turn(Index k, Index i, Index j, float side, bool alone) const
  {
    if (all_(k, j) >= side) return !alone;
    if (all_.degree(k) + all_.degree(j) > long_rows) return false;
    return is_corner(k, i, j, side, alone) || is_corner(j, i, k, side, alone);
  }

  /// Whether some m is the fourth corner, and (k, m) is the side that is about as strong as (i, j).
  bool is_corner(Index k, Index i, Index j, float side, bool alone) const
  {
    for (std::int64_t e = all_.begin[at(k)]; e < all_.begin[at(k) + 1]; ++e) {
      const Index m = all_.column[e];
      if (all_.weight[at(e)] < side || m == i || (alone && strong_.degree(m) <= 2)) continue;
      // most m do not couple with j, and then there is no quadrilateral
      const float opposite = all_(j, m);
      if (opposite > 0 && all_(i, m) < alike * std::min(all_.weight[at(e)], opposite)) return true;
    }
    return false;
  }

  bool may_join(Index i, Index j, float weight) const
  {
    return is_end(i) && is_end(j) && other_end_[at(i)] != j && may_meet(i, j, weight);
  }

  /// Whether (i, j) makes a ring of a path. Its ends then join no other path: by weaker couplings, rings would
  /// become one spiral. Rings of at most 9 rows may continue: unstructured meshes have many.
  bool closes(Index i, Index j, float weight) const
  {
    if (!is_end(i) || !is_end(j) || other_end_[at(i)] != j) return false;
    Index before = -1, row = i;
    for (int k = 0; k < 8; ++k) {
      const Index next = neighbour_[at(row)][0] == before ? neighbour_[at(row)][1] : neighbour_[at(row)][0];
      before           = std::exchange(row, next);
      if (row < 0 || row == j) return false;
    }
    return may_meet(i, j, weight);
  }

  /// Whether the paths that end in i and j do not turn a corner in (i, j).
  bool may_meet(Index i, Index j, float weight) const
  {
    return !turns(neighbour_[at(i)][0], i, j, weight) && !turns(neighbour_[at(j)][0], j, i, weight);
  }

  void join(Index i, Index j)
  {
    for (const auto &[from, to] : {std::make_pair(i, j), std::make_pair(j, i)})
      neighbour_[at(from)][neighbour_[at(from)][0] < 0 ? 0 : 1] = to;
    const Index a = other_end_[at(i)], b = other_end_[at(j)];
    other_end_[at(a)] = b;
    other_end_[at(b)] = a;
  }

  /// Joins the end of a path to the nearest row that can continue it; returns the new end, or -1.
  Index grow(Index end, float least)
  {
    Index best = -1, nearest = 0;
    for (std::int64_t e = strong_.begin[at(end)]; e < strong_.begin[at(end) + 1]; ++e) {
      const Index j = strong_.column[e], away = j > end ? j - end : end - j;
      if (strong_.weight[at(e)] >= least && closes(end, j, strong_.weight[at(e)])) {
        closed_[at(end)] = closed_[at(j)] = 1;
        return -1;
      }
      if (strong_.weight[at(e)] < least || (best >= 0 && away >= nearest) ||
          !may_join(end, j, strong_.weight[at(e)]))
        continue;
      best    = j;
      nearest = away;
    }
    if (best < 0) return -1;
    const Index new_end = other_end_[at(best)];
    join(end, best);
    return new_end;
  }

  /// all couplings define corners, strong ones define lines
  const Couplings<Index>           &all_, &strong_;
  LinesOfGraph                      simple_;    ///< paths that needed no search
  std::vector<char>                 done_;      ///< 1: the row is on one of them, or in the result
  std::vector<std::array<Index, 2>> neighbour_; ///< on the path, -1: no neighbour; the second one is set last
  std::vector<char>                 closed_;    ///< 1: the row is an end of a ring
  std::vector<Index>                other_end_; ///< of the path, valid at its ends
};

} // namespace ribbon::graph

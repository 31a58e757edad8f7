// SPDX-License-Identifier: BSD-2-Clause
/// @file graph_edges.hpp  The order in which lines_from_graph() visits couplings.
#pragma once

#include "graph_couplings.hpp"

#include <cstring>

namespace ribbon::graph {

/// couplings this close to the strongest coupling of a group belong to the group
constexpr float tie = 0.99f;

/// A coupling of rows i < j.
template <class Index>
struct Edge {
  float weight;
  Index i, j;
};

/// Edges, group after group.
template <class Index>
struct EdgeGroups {
  std::vector<Edge<Index>> edges;
  std::vector<std::size_t> begin; ///< of each group, and the end
  std::vector<float>       least; ///< weight of a member of each group
};

/// The bits of a positive float have the order of the floats.
inline std::uint32_t bits_of(float positive)
{
  std::uint32_t bits;
  std::memcpy(&bits, &positive, sizeof bits);
  return bits;
}

/// Stable sort by key(item), which is at most `largest`, digit after digit.
template <class Item, class Key>
void sort_by_digits(std::vector<Item> *items, std::uint64_t largest, const Key &key)
{
  constexpr int     digit = 11;
  std::vector<Item> other(items->size());
  for (int shift = 0; shift < 64 && largest >> shift > 0; shift += digit) {
    std::vector<std::size_t> place((1u << digit) + 1, 0);
    const auto               digit_of = [&](const Item &x) { return key(x) >> shift & ((1u << digit) - 1); };
    for (const Item &x : *items) ++place[digit_of(x) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (const Item &x : *items) other[place[digit_of(x)]++] = x;
    items->swap(other);
  }
}

/// The least weight of every group: a group begins with the strongest coupling that is in none.
template <class Index>
std::vector<float> groups_of(const std::vector<Edge<Index>> &edges)
{
  std::vector<float>         least;
  std::vector<std::uint32_t> weights;
  float                      strongest = 0;
  for (const auto &e : edges) strongest = std::max(strongest, e.weight);
  if (edges.empty()) return least;
  least.push_back(tie * strongest);
  for (const auto &e : edges)
    if (e.weight < least[0]) weights.push_back(bits_of(e.weight));
  sort_by_digits(&weights, bits_of(strongest), [](std::uint32_t w) { return std::uint64_t(w); });
  for (auto w = weights.rbegin(); w != weights.rend(); ++w) {
    float weight;
    std::memcpy(&weight, &*w, sizeof weight);
    if (weight < least.back()) least.push_back(tie * weight);
  }
  return least;
}

/// The edges i < j of symmetric couplings. Groups have decreasing weights. Edges of a group are in the order
/// of j - i, then of i. Rows with skip(i) are left out, with all rows that couple with them.
template <class Index, class Skip>
EdgeGroups<Index> edges_of(const Couplings<Index> &strong, const Skip &skip)
{
  EdgeGroups<Index> groups;
  auto             &edges   = groups.edges;
  std::uint64_t     largest = 0;
  for (std::int64_t i = 0; i < strong.rows(); ++i) {
    if (skip(i)) continue;
    for (std::int64_t e = strong.begin[at(i)]; e < strong.begin[at(i) + 1]; ++e) {
      const std::int64_t j = strong.column[e];
      if (j <= i) continue;
      edges.push_back({strong.weight[at(e)], static_cast<Index>(i), static_cast<Index>(j)});
      largest = std::max(largest, static_cast<std::uint64_t>(j - i));
    }
  }
  groups.least = groups_of(edges);
  // the group of a weight by its upper bits, which few groups share
  const std::size_t          count = groups.least.size();
  std::vector<std::uint32_t> first;
  const auto                 group_of = [&](float weight) {
    std::size_t g = first[bits_of(weight) >> 16];
    while (weight < groups.least[g]) ++g;
    return g;
  };
  sort_by_digits(&edges, largest, [](const auto &e) { return static_cast<std::uint64_t>(e.j - e.i); });
  groups.begin.assign(count + 1, 0);
  if (count > 1) {
    first.assign(1u << 16, 0);
    std::size_t g = count - 1;
    for (std::size_t upper = 0; upper < first.size(); ++upper) { // its largest weight is in group g or later
      while (g > 0 && static_cast<std::uint32_t>(upper << 16 | 0xffff) >= bits_of(groups.least[g - 1])) --g;
      first[upper] = static_cast<std::uint32_t>(g);
    }
    sort_by_digits(&edges, count - 1,
                   [&](const auto &e) { return static_cast<std::uint64_t>(group_of(e.weight)); });
    for (const auto &e : edges) ++groups.begin[group_of(e.weight) + 1];
    std::partial_sum(groups.begin.begin(), groups.begin.end(), groups.begin.begin());
  } else if (count == 1) groups.begin[1] = edges.size();
  return groups;
}

} // namespace ribbon::graph

// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/coloring.hpp>

#include "edges.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <vector>

namespace ribbon {

namespace {

/// Colours unknowns next to coloured ones. In a graph without odd cycles the result does not depend on the order.
struct SpreadParity {
  Edges                        graph;
  const volatile std::int32_t *color;
  std::int32_t                *result;
  std::int64_t                 unknowns;
  KOKKOS_FUNCTION void         operator()(const std::int64_t i, std::int64_t &changed) const
  {
    if (color[i] >= 0) return;
    for (std::int64_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e) {
      const std::int32_t c = graph.neighbor[e] < unknowns ? color[graph.neighbor[e]] : -1;
      if (c < 0) continue;
      result[i] = 1 - c;
      ++changed;
      return;
    }
  }
};
/// Counts neighbours with the same colour.
struct CountConflicts {
  Edges                graph;
  const std::int32_t  *color;
  std::int64_t         unknowns;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t &found) const
  {
    for (std::int64_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e)
      found += graph.neighbor[e] < unknowns && color[i] >= 0 && color[graph.neighbor[e]] == color[i];
  }
};
/// The first unknown without a colour.
struct FirstUncolored {
  const std::int32_t  *color;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t &first) const
  {
    if (color[i] < 0 && i < first) first = i;
  }
};

/// By a queue on one host thread.
bool search_breadth_first(const Edges &graph, std::int64_t unknowns, std::int32_t *color)
{
  std::vector<std::int32_t> queue;
  queue.reserve(static_cast<std::size_t>(unknowns));
  std::fill_n(color, unknowns, -1);
  for (std::int64_t first = 0; first < unknowns; ++first) {
    if (color[first] >= 0) continue;
    color[first] = 0;
    queue.assign(1, static_cast<std::int32_t>(first));
    for (std::size_t k = 0; k < queue.size(); ++k)
      for (std::int64_t e = graph.begin[queue[k]]; e < graph.begin[queue[k] + 1]; ++e) {
        const std::int32_t j = graph.neighbor[e];
        if (j >= unknowns) continue;
        if (color[j] == color[queue[k]]) return false;
        if (color[j] >= 0) continue;
        color[j] = 1 - color[queue[k]];
        queue.push_back(j);
      }
  }
  return true;
}

/// By launches that go one or more neighbours further each.
template <class Exec>
bool spread_parity(const Exec &exec, const Edges &graph, std::int64_t unknowns,
                   const ColorArray<Exec> &colors)
{
  const auto each   = indices(exec, unknowns);
  const auto proper = [&] {
    std::int64_t conflicts = 0;
    Kokkos::parallel_reduce("ribbon::coloring", each, CountConflicts{graph, colors.data(), unknowns},
                            conflicts);
    exec.fence();
    return conflicts == 0;
  };
  int rounds = 0;
  Kokkos::deep_copy(exec, colors, -1);
  for (int component = 0; component < 64; ++component) {
    std::int64_t first = unknowns;
    Kokkos::parallel_reduce("ribbon::coloring", each, FirstUncolored{colors.data()},
                            Kokkos::Min<std::int64_t>(first));
    exec.fence();
    if (first >= unknowns) return proper();
    Kokkos::deep_copy(exec, Kokkos::subview(colors, static_cast<std::size_t>(first)), 0);
    for (std::int64_t changed = 1; changed > 0;) {
      changed = 0;
      Kokkos::parallel_reduce("ribbon::coloring", each,
                              SpreadParity{graph, colors.data(), colors.data(), unknowns}, changed);
      exec.fence();
      ++rounds;
      if (rounds > 4096 || ((rounds == 4 || rounds == 32) && !proper()))
        return false; // most odd cycles are short
    }
  }
  return false;
}

} // namespace

template <class Exec>
bool color_bipartite(const Exec &exec, const UnknownGraph<Exec> &graph, const ColorArray<Exec> &colors)
{
  const Edges edges{graph.begin.data(), graph.neighbor.data()};
  if constexpr (is_device_space<Exec>) return spread_parity(exec, edges, graph.unknowns, colors);
  else {
    exec.fence();
    return search_breadth_first(edges, graph.unknowns, colors.data());
  }
}

#define RIBBON_TWO_COLORS_ON(Scalar, Exec)                                                                   \
  template bool color_bipartite<Exec>(const Exec &, const UnknownGraph<Exec> &, const ColorArray<Exec> &);
RIBBON_INSTANTIATE_SPACES(RIBBON_TWO_COLORS_ON, double)

} // namespace ribbon

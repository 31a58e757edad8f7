// SPDX-License-Identifier: BSD-2-Clause
// Colours by first fit in the order of the unknowns.
#include <ribbon/coloring.hpp>

#include "edges.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <vector>

namespace ribbon {

namespace {

/// A round of first fit: the unknowns whose earlier neighbours are all coloured. Each tells its later neighbours, and
/// the last one to tell a neighbour makes it ready for the next round. Rounds need not wait for the host: some threads
/// walk over as many unknowns as the device has counted.
struct FirstFitRound {
  Edges                graph;
  std::int32_t        *color;
  std::int32_t        *waits; ///< earlier neighbours of each unknown without a colour
  std::int32_t        *ready[2];
  std::int32_t        *counts; ///< of the unknowns that are ready in three rounds, and the largest colour
  std::int64_t         unknowns, threads;
  std::int64_t         round;
  KOKKOS_FUNCTION void operator()(const std::int64_t thread) const
  {
    const std::int32_t  now  = counts[round % 3];
    const std::int32_t *mine = ready[round % 2];
    if (thread == 0) counts[(round + 2) % 3] = 0;
    for (std::int64_t k = thread; k < now; k += threads) {
      const std::int32_t i = mine[k], c = smallest_free(graph, color, i);
      color[i] = c;
      if (c > counts[3]) Kokkos::atomic_fetch_max(counts + 3, c);
      for (std::int64_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e) {
        const std::int32_t j = graph.neighbor[e];
        if (j > i && j < unknowns && Kokkos::atomic_fetch_sub(waits + j, 1) == 1) append(j, round + 1);
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void append(std::int32_t i, std::int64_t to) const
  {
    ready[to % 2][Kokkos::atomic_fetch_add(counts + to % 3, 1)] = i;
  }
};
/// Counts the earlier neighbours of each unknown. Unknowns without any are ready for round 0.
struct FirstFitStart {
  FirstFitRound        of;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    std::int32_t earlier = 0;
    for (std::int64_t e = of.graph.begin[i]; e < of.graph.begin[i + 1]; ++e)
      earlier += of.graph.neighbor[e] < i;
    of.waits[i] = earlier;
    if (earlier == 0) of.append(static_cast<std::int32_t>(i), 0);
  }
};

/// One host thread. Returns the number of colours.
int fit_in_order(const Edges &graph, std::int64_t unknowns, std::int32_t *color)
{
  std::int32_t most = -1;
  for (std::int64_t i = 0; i < unknowns; ++i)
    most = std::max(most, color[i] = smallest_free(graph, color, i));
  return most + 1;
}

} // namespace

template <class Exec>
int color_greedily_in_rounds(const Exec &exec, const UnknownGraph<Exec> &graph,
                             const ColorArray<Exec> &colors, int most_rounds)
{
  using Words           = Kokkos::View<std::int32_t *, typename Exec::memory_space>;
  constexpr int at_once = 32; // rounds between questions of the host
  const auto    n       = static_cast<std::size_t>(graph.unknowns);
  const auto    waits   = allocate<Words>(exec, "ribbon::coloring", n),
             even       = allocate<Words>(exec, "ribbon::coloring", n),
             odd        = allocate<Words>(exec, "ribbon::coloring", n);
  const auto    counts  = upload(exec, "ribbon::coloring", std::vector<std::int32_t>{0, 0, 0, -1});
  const auto    threads = std::min<std::int64_t>(graph.unknowns, 1 << 16);
  FirstFitRound round{{graph.begin.data(), graph.neighbor.data()},
                      colors.data(),
                      waits.data(),
                      {even.data(), odd.data()},
                      counts.data(),
                      graph.unknowns,
                      threads,
                      0};
  Kokkos::deep_copy(exec, colors, -1);
  Kokkos::parallel_for("ribbon::coloring", indices(exec, graph.unknowns), FirstFitStart{round});
  while (round.round < most_rounds) {
    for (int k = 0; k < at_once; ++k, ++round.round)
      Kokkos::parallel_for("ribbon::coloring", indices(exec, threads), round);
    exec.fence();
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
    if (host(static_cast<std::size_t>(round.round % 3)) == 0) return host(3) + 1;
  }
  return 0;
}

template <class Exec>
int color_greedily(const Exec &exec, const UnknownGraph<Exec> &graph, const ColorArray<Exec> &colors)
{
  if constexpr (is_device_space<Exec>)
    if (const int count = color_greedily_in_rounds(exec, graph, colors); count > 0) return count;
  exec.fence();
  const auto begin    = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.begin);
  const auto neighbor = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.neighbor);
  const auto host     = Kokkos::create_mirror_view(colors);
  Kokkos::deep_copy(host, -1);
  const int count = fit_in_order({begin.data(), neighbor.data()}, graph.unknowns, host.data());
  Kokkos::deep_copy(colors, host);
  return count;
}

#define RIBBON_FIRST_FIT_ON(Scalar, Exec)                                                                    \
  template int color_greedily_in_rounds(const Exec &, const UnknownGraph<Exec> &, const ColorArray<Exec> &,  \
                                        int);                                                                \
  template int color_greedily(const Exec &, const UnknownGraph<Exec> &, const ColorArray<Exec> &);
RIBBON_INSTANTIATE_SPACES(RIBBON_FIRST_FIT_ON, double)

} // namespace ribbon

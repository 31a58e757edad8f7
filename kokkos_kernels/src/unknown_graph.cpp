// SPDX-License-Identifier: BSD-2-Clause
// The graph of A + A^T, and colours compared with the rows of a matrix.
#include <ribbon/multicolor/rows.hpp>

#include "edges.hpp"
#include "instantiate.hpp"
#include "positions.hpp"

#include <algorithm>

namespace ribbon {

namespace {

/// Counts couplings within a colour.
template <class Scalar, int Most>
struct CountImproper {
  BlockRowReader<Scalar, Most> reader;
  const std::int32_t          *color;
  KOKKOS_FUNCTION void         operator()(const std::int64_t i, std::int64_t &found) const
  {
    const std::int32_t own  = color[i];
    std::int64_t       here = 0;
    reader.each(i, [&](std::int64_t j, const Scalar *) { here += j != i && color[j] == own && own >= 0; });
    found += here;
  }
};

/// Neighbours of each unknown in its row.
template <class Scalar, int Most>
struct CountNeighbors {
  BlockRowReader<Scalar, Most> reader;
  std::int64_t                *begin;
  KOKKOS_FUNCTION void         operator()(const std::int64_t i) const
  {
    std::int64_t count = 0;
    reader.each(i, [&](std::int64_t j, const Scalar *) { count += j != i; });
    begin[i] = count;
  }
};
template <class Scalar, int Most>
struct ListNeighbors {
  BlockRowReader<Scalar, Most> reader;
  const std::int64_t          *begin;
  std::int32_t                *neighbor;
  KOKKOS_FUNCTION void         operator()(const std::int64_t i) const
  {
    std::int64_t at = begin[i];
    reader.each(i, [&](std::int64_t j, const Scalar *) {
      if (j != i) neighbor[at++] = static_cast<std::int32_t>(j);
    });
  }
};

/// Adds i to the list of its neighbour j if the row of j lacks it.
struct AddTransposed {
  Edges                from;
  std::int64_t         unknowns;
  std::int64_t        *count;    ///< of the list of each unknown
  const std::int64_t  *begin;    ///< of the new lists; null: only count
  std::int32_t        *neighbor; ///< the new lists
  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t &missing) const
  {
    for (std::int64_t e = from.begin[i]; e < from.begin[i + 1]; ++e) {
      const std::int64_t j = from.neighbor[e];
      if (j >= unknowns || from.has(j, i)) continue;
      ++missing;
      const std::int64_t at = Kokkos::atomic_fetch_add(&count[j], std::int64_t(1));
      if (begin) neighbor[begin[j] + at] = static_cast<std::int32_t>(i);
    }
  }
};
struct CopyLists {
  Edges                from;
  std::int64_t        *count;
  const std::int64_t  *begin; ///< null: only count
  std::int32_t        *neighbor;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    const std::int64_t n = from.begin[i + 1] - from.begin[i];
    count[i]             = n;
    for (std::int64_t e = 0; begin && e < n; ++e) neighbor[begin[i] + e] = from.neighbor[from.begin[i] + e];
  }
};

template <class Exec>
using Positions64 = Kokkos::View<std::int64_t *, typename Exec::memory_space>;
template <class Exec>
using Places32 = Kokkos::View<std::int32_t *, typename Exec::memory_space>;

/// begin[n] counts -> n + 1 positions. Returns the sum.
template <class Exec>
std::int64_t scan(const Exec &exec, const Positions64<Exec> &begin, std::int64_t n)
{
  std::int64_t all = 0;
  Kokkos::parallel_scan("ribbon::coloring", indices(exec, n + 1), detail::Positions{begin.data(), n}, all);
  exec.fence();
  return all;
}

inline std::size_t words(std::int64_t n)
{
  return static_cast<std::size_t>(n);
}

/// The graph with the transposed couplings that its rows lack.
template <class Exec>
UnknownGraph<Exec> symmetrized(const Exec &exec, const UnknownGraph<Exec> &graph)
{
  const std::int64_t n = graph.unknowns;
  const Edges        from{graph.begin.data(), graph.neighbor.data()};
  const auto         count   = allocate_zeros<Positions64<Exec>>(exec, "ribbon::coloring", words(n + 1));
  const auto         each    = indices(exec, n);
  std::int64_t       missing = 0;
  Kokkos::parallel_for("ribbon::coloring", each, CopyLists{from, count.data(), nullptr, nullptr});
  Kokkos::parallel_reduce("ribbon::coloring", each, AddTransposed{from, n, count.data(), nullptr, nullptr},
                          missing);
  exec.fence();
  if (missing == 0) return graph;
  UnknownGraph<Exec> both{
    n, graph.ghosts, allocate<Positions64<Exec>>(exec, "ribbon::graph", words(n + 1)), {}};
  Kokkos::deep_copy(exec, both.begin, count);
  const std::int64_t all = scan(exec, both.begin, n);
  both.neighbor          = allocate<Places32<Exec>>(exec, "ribbon::graph", words(all));
  Kokkos::parallel_for("ribbon::coloring", each,
                       CopyLists{from, count.data(), both.begin.data(), both.neighbor.data()});
  Kokkos::parallel_reduce("ribbon::coloring", each,
                          AddTransposed{from, n, count.data(), both.begin.data(), both.neighbor.data()},
                          missing);
  exec.fence();
  return both;
}

template <int Most, class Scalar, class Exec>
UnknownGraph<Exec> directed_graph(const Exec &exec, const MulticolorRows<Scalar> &rows)
{
  const std::int64_t                 n = rows.blocks();
  const BlockRowReader<Scalar, Most> reader{rows};
  UnknownGraph<Exec>                 graph{
    n, rows.ghosts, allocate<Positions64<Exec>>(exec, "ribbon::graph", words(n + 1)), {}};
  Kokkos::parallel_for("ribbon::coloring", indices(exec, n),
                       CountNeighbors<Scalar, Most>{reader, graph.begin.data()});
  const std::int64_t all = scan(exec, graph.begin, n);
  graph.neighbor         = allocate<Places32<Exec>>(exec, "ribbon::graph", words(all));
  Kokkos::parallel_for("ribbon::coloring", indices(exec, n),
                       ListNeighbors<Scalar, Most>{reader, graph.begin.data(), graph.neighbor.data()});
  return graph;
}

} // namespace

template <class Scalar, class Exec>
bool is_proper(const Exec &exec, const MulticolorRows<Scalar> &rows, const ColorArray<Exec> &colors,
               std::int64_t among)
{
  std::int64_t found = 0;
  const auto   each  = indices(exec, std::min(rows.blocks(), among));
  if (rows.block == 1)
    Kokkos::parallel_reduce("ribbon::is_proper", each, CountImproper<Scalar, 1>{{rows}, colors.data()},
                            found);
  else
    Kokkos::parallel_reduce("ribbon::is_proper", each,
                            CountImproper<Scalar, largest_point_block>{{rows}, colors.data()}, found);
  exec.fence();
  return found == 0;
}

template <class Scalar, class Exec>
UnknownGraph<Exec> unknown_graph(const Exec &exec, const MulticolorRows<Scalar> &rows)
{
  return symmetrized(exec, rows.block == 1 ? directed_graph<1>(exec, rows)
                                           : directed_graph<largest_point_block>(exec, rows));
}

#define RIBBON_COLORING(Scalar, Exec)                                                                        \
  template bool is_proper(const Exec &, const MulticolorRows<Scalar> &, const ColorArray<Exec> &,            \
                          std::int64_t);                                                                     \
  template UnknownGraph<Exec> unknown_graph(const Exec &, const MulticolorRows<Scalar> &);
RIBBON_INSTANTIATE_ALL(RIBBON_COLORING)

} // namespace ribbon

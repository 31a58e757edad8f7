// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/coloring.hpp>

#include "edges.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace ribbon {

namespace {

/// The colours of points, a device thread for each.
struct GridColors {
  GridColoring         grid;
  std::int32_t        *color;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { color[i] = grid.color(i); }
};
/// The same, a host thread for each line along x: with few divisions.
struct GridColorsOfLines {
  GridColoring  grid;
  std::int64_t  unknowns;
  std::int32_t *color;

  void operator()(const std::int64_t line) const
  {
    const std::int64_t nx = grid.size[0], at = line * nx - grid.shift, first = at < 0 ? 0 : at,
                       end = at + nx < unknowns ? at + nx : unknowns;
    if (first >= end) return;
    // along x the colour of a box changes in its residue of x, and that of a star altogether
    const std::int32_t m = grid.width + 1, begin = grid.color(first), base = grid.box ? begin - begin % m : 0;
    std::int32_t       x = begin - base;
    for (std::int64_t i = first; i < end; ++i) {
      color[i] = base + x;
      x        = x + 1 == m ? 0 : x + 1;
    }
  }
};

struct KeysOfNumbers {
  const std::int64_t  *ghost;
  std::int64_t         first, unknowns;
  std::uint64_t       *key;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    key[i] = coloring_key(static_cast<std::uint64_t>(i < unknowns ? first + i : ghost[i - unknowns]));
  }
};

/// A round of Jones and Plassmann. Counts the unknowns that are left.
struct ColorRound {
  Edges                        graph;
  const std::uint64_t         *key;
  const volatile std::int32_t *color;
  std::int32_t                *result;
  KOKKOS_FUNCTION void         operator()(const std::int64_t i, std::int64_t &left) const
  {
    if (color[i] >= 0) return;
    for (std::int64_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e) {
      const std::int64_t j = graph.neighbor[e];
      if (color[j] < 0 && key[j] > key[i]) {
        ++left;
        return;
      }
    }
    // neighbours with smaller keys wait for i, so the colours around i do not change now
    result[i] = smallest_free(graph, result, i);
  }
};

/// The unknowns of a class take the smallest free colour: none of them is a neighbour of another.
struct Lower {
  Edges                graph;
  std::int32_t        *color, which;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    if (color[i] == which) color[i] = smallest_free(graph, color, i);
  }
};

/// A random part of a class moves to free colours that have less than their share.
struct Spread {
  Edges                graph;
  const std::uint64_t *key;
  std::int32_t        *color, which;
  std::uint64_t        below; ///< keys that move
  std::uint64_t        small; ///< bit of each colour that may grow
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    if (color[i] != which || coloring_key(key[i]) >= below) return;
    std::uint64_t free = small;
    for (std::int64_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e) {
      const std::int32_t c = color[graph.neighbor[e]];
      if (c >= 0 && c < 64) free &= ~(std::uint64_t(1) << c);
    }
    int choices = 0;
    for (int c = 0; c < 64; ++c) choices += static_cast<int>(free >> c & 1);
    if (choices == 0) return;
    int nth = static_cast<int>(coloring_key(key[i] + 1) % static_cast<std::uint64_t>(choices));
    for (int c = 0; c < 64; ++c)
      if (free >> c & 1 && nth-- == 0) {
        color[i] = c;
        return;
      }
  }
};

struct CountColor {
  const std::int32_t  *color;
  std::int32_t         which;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t &count) const
  {
    count += color[i] == which;
  }
};
struct LargestColor {
  const std::int32_t  *color;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t &largest) const
  {
    if (color[i] > largest) largest = color[i];
  }
};
struct Renumber {
  std::int32_t        *color;
  const std::int32_t  *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    if (color[i] >= 0) color[i] = to[color[i]];
  }
};

/// A colouring over all ranks in progress.
template <class Exec>
class ParallelColoring {
public:
  ParallelColoring(const Exec &exec, const UnknownGraph<Exec> &graph, const std::uint64_t *keys,
                   const ColorArray<Exec> &colors, const ColoringRanks &ranks)
      : exec_(exec), edges_{graph.begin.data(), graph.neighbor.data()}, n_(graph.unknowns), keys_(keys),
        colors_(colors), ranks_(ranks)
  {
  }

  bool jones_plassmann()
  {
    Kokkos::deep_copy(exec_, colors_, -1);
    for (std::int64_t left = 1; left > 0;) {
      left = 0;
      Kokkos::parallel_reduce("ribbon::coloring", indices(exec_, n_),
                              ColorRound{edges_, keys_, colors_.data(), colors_.data()}, left);
      if (!share() || !sum(&left, 1)) return false;
    }
    return true;
  }

  /// Counts the unknowns of every colour.
  bool count(std::vector<std::int64_t> *sizes)
  {
    std::int64_t largest = -1;
    Kokkos::parallel_reduce("ribbon::coloring", indices(exec_, n_), LargestColor{colors_.data()},
                            Kokkos::Max<std::int64_t>(largest));
    exec_.fence();
    std::int64_t most = std::max<std::int64_t>(largest + 1, 0);
    if (ranks_.largest && !ranks_.largest(&most)) return false;
    sizes->assign(static_cast<std::size_t>(most), 0);
    for (std::size_t c = 0; c < sizes->size(); ++c)
      Kokkos::parallel_reduce("ribbon::coloring", indices(exec_, n_),
                              CountColor{colors_.data(), static_cast<std::int32_t>(c)}, (*sizes)[c]);
    exec_.fence();
    return sizes->empty() || sum(sizes->data(), static_cast<int>(sizes->size()));
  }

  bool lower(std::vector<std::int64_t> *sizes)
  {
    for (std::size_t c = sizes->size(); c-- > 1;) {
      Kokkos::parallel_for("ribbon::coloring", indices(exec_, n_),
                           Lower{edges_, colors_.data(), static_cast<std::int32_t>(c)});
      if (!share()) return false;
    }
    return count(sizes) && renumber(sizes);
  }

  bool balance(std::vector<std::int64_t> *sizes)
  {
    const std::size_t colors = sizes->size();
    std::int64_t      all    = 0;
    for (std::int64_t size : *sizes) all += size;
    for (std::size_t c = 0; c < colors && colors > 1 && colors <= 64; ++c) {
      const double mean = static_cast<double>(all) / static_cast<double>(colors),
                   mine = static_cast<double>((*sizes)[c]);
      if (mine <= 1.1 * mean) continue;
      std::uint64_t small = 0;
      for (std::size_t k = 0; k < colors; ++k)
        if (static_cast<double>((*sizes)[k]) < mean) small |= std::uint64_t(1) << k;
      const auto below = static_cast<std::uint64_t>((mine - mean) / mine * 18446744073709549568.0);
      Kokkos::parallel_for("ribbon::coloring", indices(exec_, n_),
                           Spread{edges_, keys_, colors_.data(), static_cast<std::int32_t>(c), below, small});
      if (!share() || !count(sizes)) return false;
    }
    return true;
  }

private:
  bool share()
  {
    exec_.fence();
    return !ranks_.exchange || ranks_.exchange();
  }
  bool sum(std::int64_t *values, int n)
  {
    exec_.fence();
    return !ranks_.sum || ranks_.sum(values, n);
  }
  /// Closes the gaps of colours that have no unknown.
  bool renumber(std::vector<std::int64_t> *sizes)
  {
    std::vector<std::int32_t> to(sizes->size());
    std::vector<std::int64_t> left;
    for (std::size_t c = 0; c < sizes->size(); ++c) {
      to[c] = static_cast<std::int32_t>(left.size());
      if ((*sizes)[c] > 0) left.push_back((*sizes)[c]);
    }
    if (left.size() == sizes->size()) return true;
    *sizes         = left;
    const auto map = upload(exec_, "ribbon::coloring", to);
    Kokkos::parallel_for("ribbon::coloring", indices(exec_, static_cast<std::int64_t>(colors_.size())),
                         Renumber{colors_.data(), map.data()});
    exec_.fence();
    return true;
  }

  Exec                    exec_;
  Edges                   edges_;
  std::int64_t            n_;
  const std::uint64_t    *keys_;
  const ColorArray<Exec> &colors_;
  const ColoringRanks    &ranks_;
};

} // namespace

template <class Exec>
void color_grid(const Exec &exec, const GridColoring &grid, std::int64_t unknowns,
                const ColorArray<Exec> &colors)
{
  if (unknowns == 0) return;
  if constexpr (is_device_space<Exec>)
    Kokkos::parallel_for("ribbon::color_grid", indices(exec, unknowns), GridColors{grid, colors.data()});
  else {
    const std::int64_t first = grid.shift / grid.size[0],
                       end   = (grid.shift + unknowns - 1) / grid.size[0] + 1;
    Kokkos::parallel_for("ribbon::color_grid",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, first, end),
                         GridColorsOfLines{grid, unknowns, colors.data()});
  }
}

template <class Exec>
Kokkos::View<std::uint64_t *, typename Exec::memory_space>
coloring_keys(const Exec &exec, std::int64_t first, std::int64_t unknowns,
              const std::vector<std::int64_t> &ghosts)
{
  const auto numbers = upload(exec, "ribbon::ghosts", ghosts);
  const auto all     = unknowns + static_cast<std::int64_t>(ghosts.size());
  const auto keys    = allocate<Kokkos::View<std::uint64_t *, typename Exec::memory_space>>(
    exec, "ribbon::keys", static_cast<std::size_t>(all));
  Kokkos::parallel_for("ribbon::coloring", indices(exec, all),
                       KeysOfNumbers{numbers.data(), first, unknowns, keys.data()});
  exec.fence();
  return keys;
}

template <class Exec>
int color_in_parallel(const Exec &exec, const UnknownGraph<Exec> &graph,
                      const Kokkos::View<std::uint64_t *, typename Exec::memory_space> &keys,
                      const ColorArray<Exec> &colors, const ColoringRanks &ranks)
{
  const auto all = static_cast<std::size_t>(graph.unknowns + graph.ghosts);
  if (colors.size() < all || keys.size() < all)
    throw std::invalid_argument("ribbon::color_in_parallel: an array is shorter than unknowns and ghosts");
  ParallelColoring<Exec>    coloring(exec, graph, keys.data(), colors, ranks);
  std::vector<std::int64_t> sizes;
  if (!coloring.jones_plassmann() || !coloring.count(&sizes)) return -1;
  for (int pass = 0; pass < 2; ++pass)
    if (!coloring.lower(&sizes)) return -1;
  if (!coloring.balance(&sizes)) return -1;
  return static_cast<int>(sizes.size());
}

#define RIBBON_COLORING_ON(Scalar, Exec)                                                                     \
  template void color_grid(const Exec &, const GridColoring &, std::int64_t, const ColorArray<Exec> &);      \
  template Kokkos::View<std::uint64_t *, typename Exec::memory_space> coloring_keys(                         \
    const Exec &, std::int64_t, std::int64_t, const std::vector<std::int64_t> &);                            \
  template int color_in_parallel<Exec>(const Exec &, const UnknownGraph<Exec> &,                             \
                                       const Kokkos::View<std::uint64_t *, typename Exec::memory_space> &,   \
                                       const ColorArray<Exec> &, const ColoringRanks &);
RIBBON_INSTANTIATE_SPACES(RIBBON_COLORING_ON, double)

} // namespace ribbon

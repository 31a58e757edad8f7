// SPDX-License-Identifier: BSD-2-Clause
/// @file coloring.hpp  Colours of the unknowns of a sparse matrix: two unknowns that couple have different
///   colours (a distance-1 colouring of the graph of A + A^T, without entries that are zero).
#pragma once

#include <ribbon/lines_from_csr.hpp>

#include <functional>
#include <vector>

namespace ribbon {

inline constexpr int largest_point_block = 8; ///< unknowns of a block

/// The rows of a matrix that one rank stores: `own` has the columns of this rank, `others` those of other
/// ranks. An unknown of the graph is a block of `block` consecutive rows. Blocks of other ranks follow the
/// own ones in the order of their numbers. Columns of a row are sorted. Memory: that of the kernels.
template <class Scalar>
struct MulticolorRows {
  AnyCsrMatrix<Scalar> own;
  AnyCsrMatrix<Scalar> others{CsrMatrix<Scalar, std::int32_t>{0, nullptr, nullptr, nullptr}};
  /// for each column of `others` its scalar place among the `ghosts` blocks; null: column = place
  const std::int32_t *place  = nullptr;
  std::int64_t        ghosts = 0; ///< blocks of other ranks
  int                 block  = 1;

  KOKKOS_INLINE_FUNCTION std::int64_t blocks() const { return own.rows / block; }
};

/// Colours of grid points by formula, for couplings up to `width` points away: along the axes (star), or
/// within a box. Colour of a star: (x + y + z) mod (width + 1), for width 1 red and black. Colour of a box:
/// (width + 1)^d colours by the residues of the coordinates.
struct GridColoring {
  std::int64_t size[3]  = {1, 1, 1}; ///< points along x, y, z
  std::int64_t begin[3] = {0, 0, 0}; ///< coordinates of point 0 in the whole grid
  std::int64_t shift    = 0;         ///< unknown i is point shift + i, counted along x first
  int          width    = 1;
  bool         box      = false;

  KOKKOS_INLINE_FUNCTION int color(std::int64_t unknown) const
  {
    const std::int64_t k = shift + unknown, m = width + 1, x = begin[0] + k % size[0],
                       y = begin[1] + k / size[0] % size[1], z = begin[2] + k / (size[0] * size[1]);
    return static_cast<int>(box ? x % m + m * (y % m) + m * m * (z % m) : (x + y + z) % m);
  }
  /// Colours of a grid of this number of dimensions.
  int colors(int dimensions) const
  {
    int all = width + 1;
    for (int d = 1; d < dimensions && box; ++d) all *= width + 1;
    return all;
  }
};

template <class Exec>
using ColorArray = Kokkos::View<std::int32_t *, typename Exec::memory_space>;

/// colors(i) = grid.color(i) for i < unknowns. Asynchronous on exec.
template <class Exec>
void color_grid(const Exec &exec, const GridColoring &grid, std::int64_t unknowns,
                const ColorArray<Exec> &colors);

/// Whether no unknown has a nonzero coupling with another one of its colour. Waits.
/// @param colors  of the own unknowns, then of those of other ranks; a negative colour couples with none
/// @param among   only the rows of so many first unknowns are read
template <class Scalar, class Exec>
bool is_proper(const Exec &exec, const MulticolorRows<Scalar> &rows, const ColorArray<Exec> &colors,
               std::int64_t among = std::int64_t(1) << 62);

/// The graph of A + A^T without zero entries and without the diagonal. Neighbours of other ranks are
/// numbered after the own unknowns.
template <class Exec>
struct UnknownGraph {
  using Memory                                  = typename Exec::memory_space;
  std::int64_t                         unknowns = 0, ghosts = 0;
  Kokkos::View<std::int64_t *, Memory> begin; ///< unknowns + 1
  Kokkos::View<std::int32_t *, Memory> neighbor;
};

/// The graph of the own rows. Couplings of other ranks with this one that this rank does not store are not in
/// it. Waits.
template <class Scalar, class Exec>
UnknownGraph<Exec> unknown_graph(const Exec &exec, const MulticolorRows<Scalar> &rows);

/// Two colours for a graph without odd cycles, such as that of a star on any grid in any numbering: the
/// parity of the distance from a first unknown. False: the graph has an odd cycle, or, on a device, more than
/// 64 components or a diameter above 4096; then colours are undefined. Ghosts are not coloured. Waits.
template <class Exec>
bool color_bipartite(const Exec &exec, const UnknownGraph<Exec> &graph, const ColorArray<Exec> &colors);

/// First fit in the order of the unknowns: each takes the smallest colour that no earlier neighbour has. Two
/// colours for stars on grids in natural numbering, 2^d for boxes. Ghosts are not coloured. A device colours
/// in rounds; where these are too many, a host thread does it. Waits.
/// @return number of colours
template <class Exec>
int color_greedily(const Exec &exec, const UnknownGraph<Exec> &graph, const ColorArray<Exec> &colors);

/// The same colours by rounds: each colours all unknowns whose earlier neighbours have colours.
/// @return number of colours; 0: more rounds are needed than `most_rounds`, and colours are undefined
template <class Exec>
int color_greedily_in_rounds(const Exec &exec, const UnknownGraph<Exec> &graph,
                             const ColorArray<Exec> &colors, int most_rounds = 4096);

/// Communication of a colouring over several ranks. Each function returns false after an error, which ends
/// the colouring. Empty functions: one rank.
struct ColoringRanks {
  std::function<bool()> exchange;               ///< copies colours of own unknowns to ghosts of other ranks
  std::function<bool(std::int64_t *, int)> sum; ///< sums values over all ranks
  std::function<bool(std::int64_t *)>      largest; ///< the largest value of all ranks
};

/// The colouring of M. T. Jones and P. E. Plassmann, A parallel graph coloring heuristic, SIAM J. Sci.
/// Comput. 14 (1993): an unknown takes the smallest free colour as soon as all neighbours with larger keys
/// are coloured. Then the classes, from the last, take smaller colours where these are free (J. C. Culberson,
/// Iterated greedy graph coloring, 1992), and large classes give unknowns to small ones (balance). The result
/// depends on graph and keys alone, not on threads or ranks.
/// @param keys    distinct keys of the own unknowns, then of the ghosts; see coloring_key()
/// @param colors  result for own unknowns and ghosts
/// @return number of colours, over all ranks; -1 after an error of `ranks`
template <class Exec>
int color_in_parallel(const Exec &exec, const UnknownGraph<Exec> &graph,
                      const Kokkos::View<std::uint64_t *, typename Exec::memory_space> &keys,
                      const ColorArray<Exec> &colors, const ColoringRanks &ranks = {});

/// A pseudorandom key of an unknown by its number over all ranks: distinct for distinct numbers. The
/// finalizer of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number
/// generators, OOPSLA 2014).
KOKKOS_INLINE_FUNCTION std::uint64_t coloring_key(std::uint64_t number)
{
  std::uint64_t z = number + 0x9e3779b97f4a7c15ull;
  z               = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z               = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// The keys of own unknowns first .. first + unknowns - 1, then those of ghosts, by their numbers over all
/// ranks: colours then do not depend on the ranks. Waits.
template <class Exec>
Kokkos::View<std::uint64_t *, typename Exec::memory_space>
coloring_keys(const Exec &exec, std::int64_t first, std::int64_t unknowns,
              const std::vector<std::int64_t> &ghosts);

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_products.hpp  The one-pass kernel whose sweeps are products of tiles with small matrices, for
///   one matrix of any width.
///
/// The elimination is that of chunk.hpp, and a team works as in one_pass.hpp: chunks of four tiles, two
/// sweeps, one barrier between them. But a step of a sweep is a tile of eight unknowns of 32 lines. The
/// effect of eight rows of the recurrences on it is one matrix,
///
///     forward    g_j = F_j f_j + P_j g_(j-1),                 r = sum_j R_j f_j    (to the reduced system)
///     backward   x_j = B_j g_j + N_j x_(j+1) + Z_j [zl, zr],  [zl, zr] = sum G r,
///
/// so that wide bands and blocks cost as much as narrow ones: about 26 matrix instructions for 512
/// unknowns. Coefficients need no registers of threads. Products of eight rows are accurate where a product
/// with the inverse of a chunk would be inaccurate.
#pragma once

#include <ribbon/algorithm/one_pass/staged.hpp>
#include <ribbon/device/line_tile.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// Layout of a line in tiles.
struct TileShape {
  static constexpr int tiles       = 4;  ///< per chunk
  static constexpr int most_chunks = 16; ///< per line
  ChunkSplit           split;
  int                  block = 1, rows = 8; ///< unknowns of a row, rows of a tile
  int                  inverse    = 256;    ///< 256 / block, rounded up
  int                  separators = 1;      ///< unknowns between two chunks
  bool                 ring       = false;
  /// blocks of the reduced inverse that matter to either side of the diagonal
  int reach = 0;
  /// chunks that matter to a chunk, on both sides of it and of its left neighbour
  int window = 1;

  /// The shape for lines of n rows that couple with `reach` rows on either side; split.chunks == 0 if they
  /// are too short, too long, or couple too far.
  static TileShape choose(int n, int reach, int block, bool periodic)
  {
    TileShape s;
    s.block = block, s.rows = device::tile_unknowns / block, s.inverse = (255 + block) / block,
    s.ring = periodic, s.separators = reach * block;
    if (s.separators <= device::tile_unknowns) s.split = ChunkSplit::make(n, 2 * reach, tiles * s.rows);
    if (s.split.chunks > most_chunks_of(s.separators)) s.split.chunks = 0;
    return s;
  }
  /// Maximum number of chunks of a line: those of many separators need more registers.
  KOKKOS_INLINE_FUNCTION static constexpr int most_chunks_of(int separators)
  {
    return separators <= 4 ? most_chunks : 12;
  }

  /// Whether place k of a tile holds an unknown, and its row in the tile.
  KOKKOS_INLINE_FUNCTION bool holds(int k) const { return k < rows * block; }
  KOKKOS_INLINE_FUNCTION int  row(int k) const { return k * inverse >> 8; } // k / block for k < 8
  /// The first chunk of the window of chunk c.
  KOKKOS_INLINE_FUNCTION int window_begin(int c) const
  {
    const int begin = c - 1 - reach, last = split.chunks - window;
    if (last == 0) return 0;
    if (ring) return begin < 0 ? begin + split.chunks : begin;
    return begin < 0 ? 0 : begin < last ? begin : last;
  }
};

/// @tparam Padded  separators of a chunk with empty places: 4 or 8
template <int Padded>
struct TileProducts {
  static constexpr int tiles = TileShape::tiles, unknowns = device::tile_unknowns,
                       matrix = device::tile_matrix;
  /// tiles for zl and zr together, or for the contributions of a chunk to its equations and those of its
  /// left neighbour
  static constexpr int sides = Padded / 4;
  /// limits the registers: 128 or 168
  static constexpr int max_threads = 32 * TileShape::most_chunks_of(Padded);
  /// Matrices of a chunk, in this order.
  static constexpr int F = 0, P = F + tiles, R = P + tiles - 1, B = R + tiles * sides, N = B + tiles,
                       Z = N + tiles - 1, matrices = Z + tiles * sides;

  const double *b;
  double       *x;
  LineSet       in, out;
  TileShape     shape;
  const double *tables;                           ///< (table, matrix)
  int           table_of[TileShape::most_chunks]; ///< chunk -> table
  const double *inverse;                          ///< G: (chunk, chunk of its window, its tile, side)
  std::int64_t  lines = 0;
  /// of the result: unknowns 2 k and 2 k + 1 of a tile are neighbours in memory, the first at a multiple of
  /// 16 bytes
  bool in_pairs = false;
  /// lines of the first team before line 0, so that tiles begin at multiples of their width in memory
  int shift = 0;

  template <class Team>
  using Tile = device::LineTile<Team::is_virtual>;
  template <class Team>
  using Sums = device::LineSums<Team::is_virtual>;
  template <class Team>
  struct State {
    Tile<Team> tile[tiles];
  };

  /// Distance of two lines in the array of contributions to the reduced right-hand sides.
  KOKKOS_FUNCTION static int pitch(const TileShape &s) { return (s.split.chunks * sides | 1) * unknowns; }
  static std::size_t         scratch(const TileShape &s, std::size_t state)
  {
    return device::tile_lines * static_cast<std::size_t>(pitch(s)) * sizeof(double) +
           static_cast<std::size_t>(s.split.chunks) * state;
  }

  /// Two neighbours, the first at a multiple of 16 bytes.
  template <class Number>
  KOKKOS_FUNCTION static auto pair(Number *at)
  {
    return reinterpret_cast<std::conditional_t<std::is_const_v<Number>, const Pack<double>, Pack<double>> *>(
      at);
  }
  /// Whether all places of chunk c hold unknowns.
  KOKKOS_FUNCTION bool whole(int c) const
  {
    return shape.split.size(c) == tiles * shape.rows && shape.holds(unknowns - 1);
  }

  /// Places of the unknowns that a thread holds of a chunk: the lines of its slots, and its places in the
  /// tiles.
  template <class Team, class Pointer>
  struct Places {
    Pointer line[Tile<Team>::slots]; ///< another line if there is no such line
    bool    exists[Tile<Team>::slots];
    int     first, size; ///< the first place of the thread in every tile, rows of the chunk

    /// Offset from the beginning of the chunk, in tile j, of the place `ahead` places after the first of
    /// the thread. For an empty place it is the offset of another one that is not empty.
    KOKKOS_FUNCTION std::int64_t operator()(const TileShape &shape, const LineSet &set, int j,
                                            int ahead) const
    {
      const int k = first + ahead, row = shape.row(k), component = k - row * shape.block,
                of_chunk = j * shape.rows + row;
      return (of_chunk < size ? of_chunk : size - 1) * set.row_stride +
             (component < shape.block ? component : 0) * set.component_stride;
    }
    /// The same in a chunk without empty places.
    KOKKOS_FUNCTION std::int64_t of_whole(const TileShape &shape, const LineSet &set, int j, int ahead) const
    {
      const int k = first + ahead, row = shape.row(k);
      return (row * set.row_stride + (k - row * shape.block) * set.component_stride) +
             j * (shape.rows * set.row_stride);
    }
    KOKKOS_FUNCTION bool holds(const TileShape &shape, int j, int ahead) const
    {
      return shape.holds(first + ahead) && j * shape.rows + shape.row(first + ahead) < size;
    }
  };
  template <class Team, class Pointer>
  KOKKOS_FUNCTION Places<Team, Pointer> places(const Team &team, int c, int lane, Pointer data,
                                               const LineSet &set) const
  {
    Places<Team, Pointer> p;
    p.first = Tile<Team>::unknown(lane), p.size = shape.split.size(c);
    data += set.offset + shape.split.begin(c) * set.row_stride;
    RIBBON_UNROLL
    for (int slot = 0; slot < Tile<Team>::slots; ++slot) {
      const std::int64_t l = team.league_rank() * device::tile_lines + Tile<Team>::line(lane) +
                             slot * Tile<Team>::apart - shift,
                         clamped = l < 0       ? 0
                                   : l < lines ? l
                                               : lines - 1;
      p.exists[slot]             = l >= 0 && l < lines;
      p.line[slot]               = data + (set.count1 == 1 ? clamped * set.stride0 : along_two(set, clamped));
    }
    return p;
  }
  RIBBON_NOINLINE KOKKOS_FUNCTION static std::int64_t along_two(const LineSet &set, std::int64_t line)
  {
    return line % set.count0 * set.stride0 + line / set.count0 * set.stride1;
  }

  /// Loads the chunk. Empty places get arbitrary values, which are multiplied by zero.
  template <class Team>
  KOKKOS_FUNCTION void load(const Team &team, int c, int lane, State<Team> &s) const
  {
    const auto from = places(team, c, lane, b, in);
    const auto each = [&](const auto &place) {
      RIBBON_UNROLL
      for (int j = 0; j < tiles; ++j)
        s.tile[j].for_pairs([&](int slot, int ahead, double &first, double &second) {
          first = from.line[slot][place(j, ahead)], second = from.line[slot][place(j, ahead + 1)];
        });
    };
    if (whole(c)) each([&](int j, int ahead) { return from.of_whole(shape, in, j, ahead); });
    else each([&](int j, int ahead) { return from(shape, in, j, ahead); });
  }

  /// The forward sweep and its contribution to the reduced right-hand sides: (line, chunk, separators of
  /// the chunk, then those of the left neighbour).
  template <class Team>
  KOKKOS_FUNCTION void forward(int c, int lane, State<Team> &s, double *reduced) const
  {
    const double *table = tables + static_cast<std::ptrdiff_t>(table_of[c]) * matrices * matrix;
    const auto    at    = [&](int m) { return table + m * matrix; };
    Sums<Team>    r[sides];
    for (int side = 0; side < sides; ++side) r[side].clear();
    RIBBON_UNROLL
    for (int j = 0; j < tiles; ++j) {
      RIBBON_UNROLL
      for (int side = 0; side < sides; ++side) r[side].add_product(lane, s.tile[j], at(R + j * sides + side));
      Sums<Team> g;
      g.clear();
      g.add_product(lane, s.tile[j], at(F + j));
      if (j > 0) g.add_product(lane, s.tile[j > 0 ? j - 1 : 0], at(P + j - 1));
      s.tile[j] = device::as_tile(g);
    }
    RIBBON_UNROLL
    for (int side = 0; side < sides; ++side)
      r[side].for_pairs([&](int slot, int ahead, double first, double second) {
        *pair(reduced + (Tile<Team>::line(lane) + slot * Tile<Team>::apart) * pitch(shape) +
              (c * sides + side) * unknowns + Tile<Team>::unknown(lane) + ahead) = {{first, second}};
      });
  }

  /// The separators left of the chunk and in it.
  template <class Team>
  KOKKOS_FUNCTION void separators(int c, int lane, const double *reduced, Sums<Team> (&z)[sides]) const
  {
    const double *G = inverse + static_cast<std::ptrdiff_t>(c) * shape.window * sides * sides * matrix;
    RIBBON_UNROLL
    for (int side = 0; side < sides; ++side) z[side].clear();
    int q = shape.window_begin(c);
    RIBBON_UNROLL_TWICE // unrolling all of it would need too many registers
      for (int w = 0; w < shape.window; ++w)
    {
      RIBBON_UNROLL
      for (int part = 0; part < sides; ++part) {
        Tile<Team> r;
        r.for_pairs([&](int slot, int ahead, double &first, double &second) {
          const Pack<double> both =
            *pair(reduced + (Tile<Team>::line(lane) + slot * Tile<Team>::apart) * pitch(shape) +
                  (q * sides + part) * unknowns + Tile<Team>::unknown(lane) + ahead);
          first = both.a[0], second = both.a[1];
        });
        RIBBON_UNROLL
        for (int side = 0; side < sides; ++side)
          z[side].add_product(lane, r, G + ((w * sides + part) * sides + side) * matrix);
      }
      q = q + 1 == shape.split.chunks ? 0 : q + 1;
    }
  }

  /// The backward sweep; stores the solution.
  template <class Team>
  KOKKOS_FUNCTION void backward(const Team &team, int c, int lane, State<Team> &s,
                                const Tile<Team> (&z)[sides]) const
  {
    const double      *table = tables + static_cast<std::ptrdiff_t>(table_of[c]) * matrices * matrix;
    const auto         at    = [&](int m) { return table + m * matrix; };
    const auto         to    = places(team, c, lane, x, out);
    const std::int64_t begin = team.league_rank() * device::tile_lines - shift;
    const bool         all   = whole(c) && begin >= 0 && begin + device::tile_lines <= lines;
    RIBBON_UNROLL
    for (int j = tiles - 1; j >= 0; --j) {
      Sums<Team> v;
      v.clear();
      v.add_product(lane, s.tile[j], at(B + j));
      RIBBON_UNROLL
      for (int side = 0; side < sides; ++side) v.add_product(lane, z[side], at(Z + j * sides + side));
      if (j + 1 < tiles) v.add_product(lane, s.tile[j + 1 < tiles ? j + 1 : j], at(N + j));
      if (all && !in_pairs)
        v.for_pairs([&](int slot, int ahead, double first, double second) {
          to.line[slot][to.of_whole(shape, out, j, ahead)] = first,
                                                   to.line[slot][to.of_whole(shape, out, j, ahead + 1)] =
                                                     second;
        });
      else if (in_pairs)
        v.for_pairs([&](int slot, int ahead, double first, double second) {
          if (to.exists[slot] && to.holds(shape, j, ahead))
            *pair(to.line[slot] + to(shape, out, j, ahead)) = {{first, second}};
        });
      else
        v.for_pairs([&](int slot, int ahead, double first, double second) {
          if (to.exists[slot] && to.holds(shape, j, ahead)) to.line[slot][to(shape, out, j, ahead)] = first;
          if (to.exists[slot] && to.holds(shape, j, ahead + 1))
            to.line[slot][to(shape, out, j, ahead + 1)] = second;
        });
      if (j > 0) s.tile[j] = device::as_tile(v);
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    constexpr int                      width   = Tile<Team>::threads;
    double                            *reduced = reinterpret_cast<double *>(team.scratch());
    device::Threads<State<Team>, Team> threads(
      team, reinterpret_cast<char *>(reduced + device::tile_lines * pitch(shape)));
    threads.for_each([&](int v, State<Team> &s) {
      load(team, v / width, v % width, s);
      forward<Team>(v / width, v % width, s, reduced);
    });
    team.barrier();
    threads.for_each([&](int v, State<Team> &s) {
      Sums<Team> sums[sides];
      Tile<Team> z[sides];
      separators<Team>(v / width, v % width, reduced, sums);
      RIBBON_UNROLL
      for (int side = 0; side < sides; ++side) z[side] = device::as_tile(sums[side]);
      backward(team, v / width, v % width, s, z);
    });
  }
};

} // namespace ribbon

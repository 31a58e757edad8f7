// SPDX-License-Identifier: BSD-2-Clause
/// @file line_tile.hpp  Eight unknowns of 32 lines, and their product with an 8 x 8 matrix that all lines
///   share.
///
/// On a device with matrix instructions in double precision (compute capability 9), a warp holds a tile in
/// registers, eight values per lane. A product is two instructions with lines as rows. The sums of one
/// product are in the lanes that the next product reads them from, if unknowns are numbered in that order.
/// So a chain of products moves no data between lanes. On a host one thread holds a tile.
#pragma once

#include <ribbon/device/team_launch.hpp>

namespace ribbon::device {

/// Whether products of tiles are matrix instructions.
template <class Exec>
constexpr bool has_matrix_instructions()
{
#ifdef RIBBON_CUDA_90
  return is_device_space<Exec>;
#else
  return false;
#endif
}

constexpr int tile_lines = 32, tile_unknowns = 8;
/// entries of a matrix: entry (k, column) at column * 8 + k, 16-byte aligned
constexpr int tile_matrix = tile_unknowns * tile_unknowns;

/// The values of a tile that one thread holds.
/// @tparam Virtual  one thread holds all of it
template <bool Virtual>
struct LineTile {
  static constexpr int threads = 1;             ///< that hold a tile together
  static constexpr int slots   = tile_lines;    ///< lines of which a thread holds values
  static constexpr int apart   = 1;             ///< between the lines of two slots
  static constexpr int held    = tile_unknowns; ///< unknowns of a line that a thread holds
  double               value[slots][held];

  /// The line of a thread's first slot, and the first unknown that it holds.
  KOKKOS_FUNCTION static int line(int) { return 0; }
  KOKKOS_FUNCTION static int unknown(int) { return 0; }
  /// Calls f(slot, ahead, first, second) for two consecutive unknowns. `ahead` is the distance of the first
  /// one from the first unknown of the thread.
  template <class F>
  KOKKOS_FUNCTION void for_pairs(const F &f)
  {
    for (int slot = 0; slot < slots; ++slot)
      for (int ahead = 0; ahead < held; ahead += 2)
        f(slot, ahead, value[slot][ahead], value[slot][ahead + 1]);
  }
};

/// A sum of products of tiles.
template <bool Virtual>
struct LineSums : LineTile<Virtual> {
  using Tile = LineTile<Virtual>;
  KOKKOS_FUNCTION void clear()
  {
    for (auto &line : this->value)
      for (double &v : line) v = 0;
  }
  KOKKOS_FUNCTION void add_product(int, const Tile &data, const double *matrix)
  {
    for (int line = 0; line < tile_lines; ++line)
      for (int column = 0; column < tile_unknowns; ++column)
        for (int k = 0; k < tile_unknowns; ++k)
          this->value[line][column] += data.value[line][k] * matrix[column * tile_unknowns + k];
  }
};

#ifdef RIBBON_CUDA_90
/// Lane l holds unknowns 2 (l % 4) and 2 (l % 4) + 1 of lines l / 4, l / 4 + 8, ... For every two lines it
/// holds the first unknown of both, then the second.
template <>
struct LineTile<false> {
  static constexpr int threads = 32, slots = 4, apart = 8, held = 2;
  double               value[slots * held];

  KOKKOS_INLINE_FUNCTION static int line(int lane) { return lane / 4; }
  KOKKOS_INLINE_FUNCTION static int unknown(int lane) { return lane % 4 * 2; }
  template <class F>
  KOKKOS_INLINE_FUNCTION void for_pairs(const F &f)
  {
    RIBBON_UNROLL
    for (int slot = 0; slot < slots; ++slot)
      f(slot, 0, value[slot / 2 * 4 + slot % 2], value[slot / 2 * 4 + slot % 2 + 2]);
  }
};

/// The same values, line by line.
template <>
struct LineSums<false> {
  using Tile = LineTile<false>;
  double value[Tile::slots * Tile::held];

  KOKKOS_INLINE_FUNCTION void clear()
  {
    RIBBON_UNROLL
    for (double &v : value) v = 0;
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void for_pairs(const F &f)
  {
    RIBBON_UNROLL
    for (int slot = 0; slot < Tile::slots; ++slot) f(slot, 0, value[2 * slot], value[2 * slot + 1]);
  }
  KOKKOS_INLINE_FUNCTION void add_product([[maybe_unused]] int lane, [[maybe_unused]] const Tile &data,
                                          [[maybe_unused]] const double *matrix)
  {
  #ifdef __CUDA_ARCH__
    const double2 m = __ldg(reinterpret_cast<const double2 *>(matrix) + lane);
    RIBBON_UNROLL
    for (int i = 0; i < 8; i += 4)
      asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+d"(value[i]), "+d"(value[i + 1]), "+d"(value[i + 2]), "+d"(value[i + 3])
          : "d"(data.value[i]), "d"(data.value[i + 1]), "d"(data.value[i + 2]), "d"(data.value[i + 3]),
            "d"(m.x), "d"(m.y));
  #endif
  }
};
#endif

/// Converts sums to a tile.
template <class Sums>
KOKKOS_INLINE_FUNCTION typename Sums::Tile as_tile(const Sums &sums)
{
  if constexpr (Sums::Tile::threads == 1) return sums;
  else
    return {{sums.value[0], sums.value[2], sums.value[1], sums.value[3], sums.value[4], sums.value[6],
             sums.value[5], sums.value[7]}};
}

} // namespace ribbon::device

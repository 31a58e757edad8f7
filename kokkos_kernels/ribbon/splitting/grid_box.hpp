// SPDX-License-Identifier: BSD-2-Clause
/// @file grid_box.hpp  The elements of a process as a box of a grid, and the rows of the lines in it.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// The elements of a process: a box of a grid, x running fastest. An element is
/// `components` consecutive rows.
struct GridBox {
  std::int64_t size[3]    = {1, 1, 1}; ///< elements of the process
  std::int64_t begin[3]   = {0, 0, 0}; ///< the first of them in the grid
  std::int64_t all[3]     = {1, 1, 1}; ///< elements of the grid
  bool         ring[3]    = {false, false, false};
  int          components = 1;

  std::int64_t rows() const { return size[0] * size[1] * size[2] * components; }
  std::int64_t lines(int axis) const { return size[axis == 0 ? 1 : 0] * size[axis == 2 ? 1 : 2]; }
};

/// The position of a row on the lines of all axes. Lines are numbered as in LineSet::box().
struct RowOfBox {
  std::int64_t along[3];
  int          component;

  KOKKOS_INLINE_FUNCTION RowOfBox(const GridBox &box, std::int64_t r)
  {
    const std::int64_t e = box.components == 1 ? r : r / box.components, plane = e / box.size[0];
    component = static_cast<int>(box.components == 1 ? 0 : r - e * box.components);
    along[0] = e - plane * box.size[0], along[2] = plane / box.size[1],
    along[1] = plane - along[2] * box.size[1];
  }
  KOKKOS_INLINE_FUNCTION RowOfBox(std::int64_t x, std::int64_t y, std::int64_t z)
      : along{x, y, z}, component(0)
  {
  }
  /// Element u of the box in the order of tiles: eight neighbouring lines along x. Their bands are
  /// neighbours, too.
  KOKKOS_INLINE_FUNCTION static RowOfBox in_tiles(const GridBox &box, std::int64_t u)
  {
    constexpr std::int64_t width = 8;
    const std::int64_t     nx = box.size[0], plane = nx * box.size[1], z = u / plane, v = u - z * plane;
    const std::int64_t tile = v / (width * nx), w = v - tile * width * nx, left = box.size[1] - tile * width;
    const std::int64_t wide = left < width ? left : width, block = w / (width * wide), first = block * width;
    const std::int64_t rest = w - first * wide, end = nx - first, length = end < width ? end : width,
                       y = rest / length;
    return RowOfBox(first + rest - y * length, tile * width + y, z);
  }
  /// Index of the element, for one component.
  KOKKOS_INLINE_FUNCTION std::int64_t element(const GridBox &box) const
  {
    return along[0] + box.size[0] * (along[1] + box.size[1] * along[2]);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t at(int axis) const
  {
    return axis == 0 ? along[0] : axis == 1 ? along[1] : along[2];
  }
  KOKKOS_INLINE_FUNCTION std::int64_t line(const GridBox &box, int axis) const
  {
    return axis == 0 ? along[1] + box.size[1] * along[2]
                     : along[0] + box.size[0] * (axis == 1 ? along[2] : along[1]);
  }
  /// Row `i` of a line.
  KOKKOS_INLINE_FUNCTION static std::int64_t row(const GridBox &box, int axis, std::int64_t line,
                                                 std::int64_t i, int component)
  {
    const std::int64_t first = box.size[axis == 0 ? 1 : 0], slow = line / first, fast = line - slow * first;
    const std::int64_t x = axis == 0 ? i : fast,
                       y = axis == 1   ? i
                           : axis == 0 ? fast
                                       : slow,
                       z = axis == 2 ? i : slow;
    return (x + box.size[0] * (y + box.size[1] * z)) * box.components + component;
  }
};

} // namespace ribbon

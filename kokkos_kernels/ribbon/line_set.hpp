// SPDX-License-Identifier: BSD-2-Clause
/// @file line_set.hpp  The places of the unknowns of a batch of lines in memory, as one index formula.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// All lines of one direction. Element i of line s lies at
///
///     offset + i * row_stride + (s % count0) * stride0 + (s / count0) * stride1,
///     0 <= i < rows, 0 <= s < count0 * count1,
///
/// In block matrices an element stands for several unknowns, and unknown c of an element lies
/// c * component_stride further. An interleaved batch of M lines has row_stride = M, stride0 = 1; a
/// contiguous batch has row_stride = 1, stride0 = rows. On an nx x ny x nz grid the x-lines have row_stride
/// 1, the y-lines nx, the z-lines nx * ny. Offsets are 64-bit.
struct LineSet {
  std::int64_t rows             = 0; ///< unknowns per line (n)
  std::int64_t count0           = 0; ///< lines along the first free direction
  std::int64_t count1           = 1; ///< lines along the second free direction
  std::int64_t row_stride       = 1;
  std::int64_t stride0          = 0;
  std::int64_t stride1          = 0;
  std::int64_t offset           = 0;
  int          components       = 1; ///< unknowns per element
  std::int64_t component_stride = 1;

  KOKKOS_INLINE_FUNCTION std::int64_t lines() const { return count0 * count1; }
  KOKKOS_INLINE_FUNCTION std::int64_t unknowns() const { return rows * lines() * components; }

  /// Whether rows of a line are closer in memory than neighbouring lines.
  bool is_contiguous() const
  {
    const auto size = [](std::int64_t stride) { return stride < 0 ? -stride : stride; };
    return lines() == 1 || size(row_stride) < size(stride0);
  }

  /// Position of the first row of a line.
  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t line) const
  {
    const std::int64_t s1 = count1 == 1 ? 0 : line / count0;
    return offset + (line - s1 * count0) * stride0 + s1 * stride1;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t line, std::int64_t row) const
  {
    return begin(line) + row * row_stride;
  }

  /// Splits every element into `count` adjacent unknowns; all strides grow by that factor.
  LineSet with_components(int count) const
  {
    LineSet s = *this;
    s.row_stride *= count, s.stride0 *= count, s.stride1 *= count, s.offset *= count, s.components = count;
    return s;
  }

  /// M lines of n rows; the same row of neighbouring lines is contiguous in memory.
  static LineSet interleaved(std::int64_t n, std::int64_t M) { return {n, M, 1, M, 1, 0, 0}; }
  /// M lines of n rows, one after another, `pitch` elements apart (n when not given).
  static LineSet contiguous(std::int64_t n, std::int64_t M, std::int64_t pitch = -1)
  {
    return {n, M, 1, 1, pitch < 0 ? n : pitch, 0, 0};
  }
  /// Lines of a box of nx * ny * nz unknowns along direction d (0: x, 1: y, 2: z), x running fastest.
  static LineSet box(const std::int64_t (&size)[3], int d)
  {
    const std::int64_t stride[3] = {1, size[0], size[0] * size[1]};
    const int          d0 = d == 0 ? 1 : 0, d1 = d == 2 ? 1 : 2;
    return LineSet{size[d], size[d0], size[d1], stride[d], stride[d0], stride[d1], 0}.merged();
  }

  /// The same lines with one stride (count1 == 1), if one stride describes them.
  LineSet merged() const
  {
    LineSet s = *this;
    if (s.count1 != 1 && s.stride1 == s.stride0 * s.count0) {
      s.count0 *= s.count1;
      s.count1 = 1;
    }
    if (s.count0 == 1) {
      s.count0  = s.count1;
      s.stride0 = s.stride1;
      s.count1  = 1;
    }
    return s;
  }

  /// As many lines in an array of unknowns() elements, contiguous or interleaved like these.
  LineSet without_gaps() const
  {
    LineSet s = *this;
    s.offset = 0, s.component_stride = 1;
    if (is_contiguous()) s.row_stride = 1, s.stride0 = s.rows, s.stride1 = s.rows * s.count0;
    else s.row_stride = s.lines(), s.stride0 = 1, s.stride1 = s.count0;
    s = s.with_components(components);
    // negative extents stay as they are: solvers reject them
    return s.rows > 0 && s.count0 > 0 && s.count1 > 0 ? s.merged() : s;
  }
};

} // namespace ribbon

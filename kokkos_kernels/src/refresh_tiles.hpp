// SPDX-License-Identifier: BSD-2-Clause
/// @file refresh_tiles.hpp  Bands of lines from new values of their matrix, on a host.
#pragma once

#include "refresh_rows.hpp"

#include <ribbon/host/vectors.hpp>

#include <algorithm>

namespace ribbon::detail {

/// RefreshKernel on a host, a tile of lines at a time, in the order of their rows in memory. Contiguous lines go
/// through a buffer that fits the cache: one by one they would write one entry to each of many cache lines.
template <class Csr, class Scalar, class Memory, bool Blocks>
struct RefreshTiles {
  using Kernel = RefreshKernel<Csr, Scalar, Memory, Blocks>;
  /// lines of a tile, and entries of the buffer
  static constexpr std::int64_t width = 32, room = 12288;

  Kernel        kernel;
  bool          compare;  ///< compares all lines with the shared matrices
  std::int64_t *straight; ///< RefreshPlan

  std::int64_t count() const { return (kernel.lines.lines() + width - 1) / width; }
  struct Look { }; ///< inspects the pattern of a line
  void operator()(Look, const std::int64_t l) const { straight[l] = first_value(kernel.lines(l, 0)); }
  void operator()(const std::int64_t t) const
  {
    const std::int64_t first = t * width, lanes = std::min(width, kernel.lines.lines() - first);
    std::int64_t       at[width]; // first row of each line
    Scalar             v[Kernel::most] = {};
    int                what            = 0;
    for (std::int64_t l = 0; l < lanes; ++l) at[l] = kernel.lines(first + l, 0);
    if (all_straight(first, lanes, at))
      what = compare ? compare_values(first, lanes) : move_values(first, lanes);
    else if (kernel.lines.row_stride > kernel.lines.stride0)
      for (std::int64_t i = 0; i < kernel.lines.rows; ++i)
        for (std::int64_t l = 0; l < lanes; ++l)
          what |= see(first + l, i, at[l] + i * kernel.lines.row_stride, v);
    else if (compare)
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t i = 0; i < kernel.lines.rows; ++i)
          what |= see(first + l, i, at[l] + i * kernel.lines.row_stride, v);
    else what = through_buffer(first, lanes, at, v);
    Kokkos::atomic_fetch_or(kernel.found, what);
  }

private:
  /// Distance of the first entry in the matrix row that is row i of a straight line, by elements.
  std::int64_t first_distance(std::int64_t i) const { return -std::min<std::int64_t>(i, kernel.reach()); }
  std::int64_t distances(std::int64_t i) const
  {
    return std::min<std::int64_t>(kernel.lines.rows - 1 - i, kernel.reach()) - first_distance(i) + 1;
  }
  std::int64_t values_of_line() const
  {
    const std::int64_t n = kernel.lines.rows, h = std::min<std::int64_t>(kernel.reach(), n - 1);
    return (n * (2 * h + 1) - h * (h + 1)) * kernel.rows_of_element() * kernel.rows_of_element();
  }
  /// Position of the first value of a line that begins with element k. -1: its rows hold entries off the
  /// line, or lack some on it.
  std::int64_t first_value(std::int64_t k) const
  {
    const std::int64_t B = kernel.rows_of_element();
    if (kernel.wrap || kernel.lines.row_stride != 1) return -1;
    for (std::int64_t r = k * B; r < (k + kernel.lines.rows) * B; ++r) {
      const std::int64_t i = r / B - k, n = distances(i) * B, begin = kernel.A.row_begin[r],
                         column = (k + i + first_distance(i)) * B;
      if (kernel.A.row_begin[r + 1] - begin != n) return -1;
      for (std::int64_t j = 0; j < n; ++j)
        if (kernel.A.column[begin + j] != column + j) return -1;
    }
    return kernel.A.row_begin[k * B];
  }
  /// Whether the lines of a tile are straight. Checks again that they begin and end at the same positions.
  bool all_straight(std::int64_t first, std::int64_t lanes, const std::int64_t (&at)[width]) const
  {
    const std::int64_t B = kernel.rows_of_element(), n = kernel.lines.rows * B, count = values_of_line();
    bool               all = true;
    for (std::int64_t l = 0; l < lanes && all; ++l) {
      const std::int64_t begin = straight[first + l];
      all                      = begin >= 0 && kernel.A.row_begin[at[l] * B] == begin &&
            kernel.A.row_begin[at[l] * B + n] == begin + count;
    }
    return all;
  }
  /// Whether an entry of a straight line is as far from the diagonal as the bands reach.
  bool reaches(const Scalar *v) const
  {
    const std::int64_t B = kernel.rows_of_element();
    for (std::int64_t i = 0; i < kernel.lines.rows; v += distances(i) * B * B, ++i)
      if (i + kernel.reach() < kernel.lines.rows && *(v + distances(i) * B - 1) != Scalar(0)) return true;
      else if (i >= kernel.reach() && *v != Scalar(0)) return true;
    return false;
  }
  /// Compares straight lines with the first ones of their classes, entry by entry.
  int compare_values(std::int64_t first, std::int64_t lanes) const
  {
    const std::int64_t count = values_of_line();
    int                what  = 0;
    for (std::int64_t l = 0; l < lanes; ++l) {
      const std::int64_t of =
        straight[kernel.class_of_line ? kernel.first[kernel.class_of_line[first + l]] : 0];
      if (of < 0) return found_differ; // a line of another pattern
      const Scalar *const v = kernel.A.value + straight[first + l], *const same = kernel.A.value + of;
      int differ = 0;
      host::with_widest_vectors_of_host([&] {
        for (std::int64_t t = 0; t < count; ++t) differ |= !(v[t] == same[t]);
      });
      if (differ) what |= found_differ;
      if (!(what & found_reach) && reaches(v)) what |= found_reach;
    }
    return what;
  }
  /// Copies straight lines to the bands.
  int move_values(std::int64_t first, std::int64_t lanes) const
  {
    const std::int64_t count = values_of_line();
    const Scalar      *v[width];
    int                what = 0;
    for (std::int64_t l = 0; l < lanes; ++l) {
      v[l] = kernel.A.value + straight[first + l];
      if (!(what & found_reach) && reaches(v[l])) what |= found_reach;
    }
    host::with_widest_vectors_of_host([&] {
      int bad = 0;
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t e = 0; e < count; ++e) bad |= !(v[l][e] - v[l][e] == Scalar(0));
      if (bad) what |= found_not_finite;
      const int    B = kernel.rows_of_element();
      Scalar      *to[4];
      int          held = 0;
      std::int64_t t    = 0;
      for (std::int64_t i = 0; i < kernel.lines.rows; ++i) {
        const std::int64_t n = distances(i), d0 = first_distance(i) + kernel.reach();
        for (std::int64_t e = 0; e < kernel.numbers() * B; ++e) // beyond the ends of the line
          if (e < d0 * B * B || e >= (d0 + n) * B * B)
            std::fill_n(&kernel.values(first, i, e), lanes, Scalar(0));
        for (int a = 0; a < B; ++a)
          for (std::int64_t d = d0; d < d0 + n; ++d)
            for (int b = 0; b < B; ++b) {
              to[held++] = &kernel.values(first, i, (d * B + a) * B + b);
              if (held < 4) continue;
              std::int64_t l = 0;
              for (; l + 4 <= lanes; l += 4)
                host::transpose_square<Scalar>({v[l] + t, v[l + 1] + t, v[l + 2] + t, v[l + 3] + t},
                                               {to[0] + l, to[1] + l, to[2] + l, to[3] + l});
              for (; l < lanes; ++l)
                for (int e = 0; e < 4; ++e) to[e][l] = v[l][t + e];
              held = 0, t += 4;
            }
      }
      for (int e = 0; e < held; ++e)
        for (std::int64_t l = 0; l < lanes; ++l) to[e][l] = v[l][t + e];
    });
    return what;
  }
  int see(std::int64_t line, std::int64_t i, std::int64_t k, Scalar (&v)[Kernel::most]) const
  {
    int what = 0;
    for (int a = 0; a < kernel.rows_of_element(); ++a) {
      what |= kernel.read(k, i, a, v);
      if (compare) what |= kernel.compare(line, i, a, v);
      else
        for (int j = 0; j < kernel.numbers(); ++j) kernel.values(line, i, kernel.entry(a, j)) = v[j];
    }
    return what;
  }
  int through_buffer(std::int64_t first, std::int64_t lanes, const std::int64_t (&at)[width],
                     Scalar (&v)[Kernel::most]) const
  {
    const std::int64_t  B = kernel.rows_of_element(), entries = kernel.numbers() * B, n = kernel.lines.rows;
    const std::int64_t  block = std::min(n, std::max<std::int64_t>(4, room / (entries * width)));
    std::vector<Scalar> rows(static_cast<std::size_t>(block * entries * width));
    const auto          place = [&](std::int64_t i, std::int64_t e) {
      return &rows[static_cast<std::size_t>((i * entries + e) * width)];
    };
    int what = 0;
    for (std::int64_t i0 = 0; i0 < n; i0 += block) {
      const std::int64_t i1 = std::min(i0 + block, n);
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t i = i0; i < i1; ++i)
          for (int a = 0; a < B; ++a) {
            what |= kernel.read(at[l] + i * kernel.lines.row_stride, i, a, v);
            for (int j = 0; j < kernel.numbers(); ++j) place(i - i0, kernel.entry(a, j))[l] = v[j];
          }
      for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t e = 0; e < entries; ++e)
          std::copy_n(place(i - i0, e), lanes, &kernel.values(first, i, e));
    }
    return what;
  }
};

} // namespace ribbon::detail

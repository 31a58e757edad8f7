// SPDX-License-Identifier: BSD-2-Clause
/// @file refresh_rows.hpp  Bands of lines from new values of their matrix, row by row.
#pragma once

#include <ribbon/matrix/refresh_bands.hpp>

namespace ribbon::detail {

/// Each finding is a bit.
enum Finding {
  found_across     = 1,
  found_beyond     = 2,
  found_not_finite = 4,
  found_differ     = 8,
  found_reach      = 16,
  found_wrapped    = 32,
  found_components = 64
};

/// Writes the entries of a row to bands, or compares them.
/// @tparam Blocks  elements of several rows; false: the compiler knows that elements have one row
/// @tparam H  the half-bandwidth if it is known at compile time, so that a device keeps rows in registers;
///   else 0
template <class Csr, class Scalar, class Memory, bool Blocks, int H = 0>
struct RefreshKernel {
  struct Each { };    ///< one matrix per line
  struct Shared { };  ///< the matrices of lines that share
  struct Compare { }; ///< all lines with the shared matrices

  /// most stored entries of a row
  static constexpr int most = Blocks ? 3 * 8 : 2 * (H ? H : largest_half_bandwidth) + 1;
  /// distance of entries that are off the line
  static constexpr std::int64_t off = std::int64_t(1) << 62;
  using Values                      = typename Bands<Scalar, Memory>::values_type;

  Csr                 A;
  LineSet             lines;
  bool                wrap;
  int                 half_bandwidth, block, siblings;
  Values              values;
  const int          *class_of_line; ///< null: all lines have matrix 0
  const std::int64_t *first;         ///< a line of each class
  int                *found;         ///< bits of Finding

  KOKKOS_INLINE_FUNCTION int         rows_of_element() const { return Blocks ? block : 1; }
  KOKKOS_INLINE_FUNCTION int         reach() const { return H ? H : half_bandwidth; }
  KOKKOS_INLINE_FUNCTION static void add(Scalar (&v)[most], int j, const Scalar &value)
  {
    if constexpr (H > 0)
      for (int e = 0; e < most; ++e) v[e] += e == j ? value : Scalar(0);
    else v[j] += value;
  }

  /// Reads row a of element k, which is row `row` of a line: (2 h + 1) B entries for elements of B rows.
  /// Returns its findings.
  KOKKOS_INLINE_FUNCTION int read(std::int64_t k, std::int64_t row, int a, Scalar (&v)[most]) const
  {
    const int          h = reach(), B = rows_of_element(), n = numbers();
    const std::int64_t r = k * B + a, begin = A.row_begin[r], end = A.row_begin[r + 1];
    // a fast path for interior rows of an isolated line: half of the time
    if (end - begin == n && row >= h && row + h < lines.rows) {
      bool straight = true;
      for (int d = 0; d <= 2 * h; ++d)
        for (int b = 0; b < B; ++b) {
          const int j = d * B + b;
          v[j]        = A.value[begin + j];
          straight    = straight && A.column[begin + j] - k * B - b == (d - h) * lines.row_stride * B &&
                     v[j] - v[j] == Scalar(0);
        }
      if (straight) return v[0] != Scalar(0) || v[n - 1] != Scalar(0) ? found_reach : 0;
    }
    int what = 0;
    for (int j = 0; j < n; ++j) v[j] = Scalar(0);
    for (std::int64_t e = begin; e < end; ++e) {
      const Scalar       value  = A.value[e];
      const std::int64_t column = A.column[e];
      int                b;
      const std::int64_t q = along(column, k, row, b);
      std::int64_t       d = q;
      // the shorter way
      if (wrap && q != off && 2 * (q < 0 ? -q : q) > lines.rows) d = q < 0 ? q + lines.rows : q - lines.rows;
      if (d >= -h && d <= h) {
        add(v, static_cast<int>(d + h) * B + b, value);
        if (!(value - value == Scalar(0))) what |= found_not_finite;
        if (value != Scalar(0)) what |= (d == h || d == -h ? found_reach : 0) | (d != q ? found_wrapped : 0);
      } else if (value != Scalar(0)) {
        what |= q != off ? found_beyond : found_across;
        if (siblings > 1 && (column - r) % siblings != 0) what |= found_components;
      }
    }
    return what;
  }
  /// Distance of a column from element k along its line, in elements, and its place in its element. Most
  /// columns need no division.
  KOKKOS_INLINE_FUNCTION std::int64_t along(std::int64_t column, std::int64_t k, std::int64_t row,
                                            int &b) const
  {
    const int          B     = rows_of_element();
    const std::int64_t delta = column - k * B, stride = lines.row_stride * B,
                       size = stride < 0 ? -stride : stride;
    const auto   within     = [&](std::int64_t from) { return delta >= from && delta < from + B; };
    std::int64_t q          = 0;
    b                       = 0;
    if (within(stride)) q = 1;
    else if (within(-stride)) q = -1;
    else if (!within(0)) {
      // count of elements of the line before k
      const std::int64_t before = stride > 0 ? row : lines.rows - 1 - row, behind = lines.rows - 1 - before;
      if ((delta > -size && delta < size) || delta < -before * size || delta >= behind * size + B) return off;
      q = delta >= 0 ? delta / stride : -((-delta + B - 1) / stride);
      if (!within(q * stride)) return off;
    }
    b = static_cast<int>(delta - q * stride);
    return row + q >= 0 && row + q < lines.rows ? q : off;
  }
  KOKKOS_INLINE_FUNCTION void place(std::int64_t u, std::int64_t count, std::int64_t &line,
                                    std::int64_t &row) const
  {
    const bool along = lines.row_stride < lines.stride0;
    line = along ? u / lines.rows : u % count, row = along ? u % lines.rows : u / count;
  }
  /// Place in Bands::values of entry j that read() returns for component a.
  KOKKOS_INLINE_FUNCTION int entry(int a, int j) const
  {
    const int B = rows_of_element();
    return Blocks ? (j / B * B + a) * B + j % B : j;
  }
  KOKKOS_INLINE_FUNCTION int numbers() const { return (2 * reach() + 1) * rows_of_element(); }
  KOKKOS_FUNCTION void       operator()(Each, const std::int64_t u) const
  {
    std::int64_t line, row;
    Scalar       v[most] = {};
    place(u, lines.lines(), line, row);
    for (int a = 0; a < rows_of_element(); ++a) {
      note(read(lines(line, row), row, a, v));
      for (int j = 0; j < numbers(); ++j) values(line, row, entry(a, j)) = v[j];
    }
  }
  KOKKOS_FUNCTION void operator()(Shared, const std::int64_t u) const
  {
    const std::int64_t c = u / lines.rows, row = u % lines.rows;
    Scalar             v[most] = {};
    for (int a = 0; a < rows_of_element(); ++a) {
      note(read(lines(class_of_line ? first[c] : 0, row), row, a, v) & found_not_finite);
      for (int j = 0; j < numbers(); ++j) values(c, row, entry(a, j)) = v[j];
    }
  }
  KOKKOS_FUNCTION void operator()(Compare, const std::int64_t u) const
  {
    std::int64_t line, row;
    Scalar       v[most] = {};
    place(u, lines.lines(), line, row);
    for (int a = 0; a < rows_of_element(); ++a) {
      const int what = read(lines(line, row), row, a, v);
      note(what | compare(line, row, a, v));
    }
  }
  /// Few threads have a new finding, so that atomics are rare.
  KOKKOS_INLINE_FUNCTION void note(int what) const
  {
    if (what & ~*found) Kokkos::atomic_fetch_or(found, what);
  }
  KOKKOS_INLINE_FUNCTION int compare(std::int64_t line, std::int64_t row, int a,
                                     const Scalar (&v)[most]) const
  {
    const int c    = class_of_line ? class_of_line[line] : 0;
    bool      same = true;
    for (int j = 0; j < numbers(); ++j) same &= v[j] == values(c, row, entry(a, j));
    return same ? 0 : found_differ;
  }
};

} // namespace ribbon::detail

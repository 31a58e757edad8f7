// SPDX-License-Identifier: BSD-2-Clause
/// @file row_on_lines.hpp  A row of a sparse matrix and the places of its entries on lines.
#pragma once

#include <ribbon/lines_from_csr.hpp>

#include "any_numbers.hpp"

namespace ribbon {

/// A CsrMatrix of any index and any scalar, for kernels that inspect it.
struct CsrNumbers {
  AnyIndices         row_begin, column;
  detail::AnyNumbers value;
  template <class Scalar, class Index>
  explicit CsrNumbers(const CsrMatrix<Scalar, Index> &A)
      : row_begin{A.row_begin, sizeof(Index) == 8}, column{A.column, sizeof(Index) == 8}, value(A.value)
  {
  }
};

/// The quotient of numbers >= 0. Divisions of 32 bits are several times as fast.
KOKKOS_INLINE_FUNCTION std::int64_t quotient(std::int64_t a, std::int64_t b)
{
  return (a | b) >> 32 == 0 ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b) : a / b;
}

/// Position of every unknown in its line: the inverse of a LineSet whose unknowns are 0 .. unknowns - 1.
struct Place {
  std::int64_t line, row;
};
KOKKOS_INLINE_FUNCTION Place place_of(const LineSet &s, std::int64_t k)
{
  // digits of k in the mixed radix of the three strides, largest stride first; a dimension of extent 1 has
  // no digit
  const std::int64_t row_stride = s.rows > 1 ? s.row_stride : 0, stride0 = s.count0 > 1 ? s.stride0 : 0;
  std::int64_t       rest = k - s.offset, i = 0, s0 = 0, s1 = 0;
  const auto         digit = [&rest](std::int64_t stride) {
    const std::int64_t d = stride == 0 ? 0 : stride == 1 ? rest : quotient(rest, stride);
    rest -= d * stride;
    return d;
  };
  if (s.count1 > 1) s1 = digit(s.stride1);
  if (row_stride > stride0) i = digit(row_stride), s0 = digit(stride0);
  else s0 = digit(stride0), i = digit(row_stride);
  return {s0 + s1 * s.count0, i};
}

/// Signed distance along its line from place k, which is p, to another place; 0 for places off the line or
/// more than `most` rows away. If the ends of a line are joined, the shorter way counts; of two equally
/// long ways the one inside. `wrapped` marks the way around the ends.
KOKKOS_INLINE_FUNCTION int distance(const LineSet &s, const Place &p, std::int64_t k, std::int64_t other,
                                    bool wrap, int most, bool &wrapped)
{
  const std::int64_t delta = other - k, size = delta < 0 ? -delta : delta,
                     stride = s.row_stride < 0 ? -s.row_stride : s.row_stride;
  wrapped                   = false;
  // most entries need no division
  if (size < stride || size == 0 || (!wrap && size > most * stride)) return 0;
  const std::int64_t q      = stride == 1      ? size
                              : size == stride ? 1
                                               : quotient(size, stride),
                     inside = (delta < 0) == (s.row_stride < 0) ? q : -q, around = s.rows - q;
  if (q * stride != size || p.row + inside < 0 || p.row + inside >= s.rows) return 0;
  wrapped              = wrap && around < q;
  const std::int64_t d = wrapped ? around : q;
  if (d > most) return wrapped = false, 0;
  return static_cast<int>((inside < 0) == wrapped ? d : -d);
}

/// The position of an entry relative to the lines.
struct Entry {
  int  distance;
  bool same;    ///< it couples components of one element
  bool wrapped; ///< around the ends of the line
};

/// A row of a matrix and its place on the lines.
struct RowOnLines {
  const LinePlaces      &lines;
  std::int64_t           row, k;
  Place                  place;
  KOKKOS_INLINE_FUNCTION RowOnLines(const LinePlaces &l, std::int64_t r)
      : lines(l), row(r), k(at(r)), place(place_of(l.lines, k))
  {
  }
  KOKKOS_INLINE_FUNCTION std::int64_t at(std::int64_t r) const
  {
    const std::int64_t element = lines.components == 1 ? r : quotient(r, lines.components);
    return lines.place ? lines.place[element] : element;
  }
  KOKKOS_INLINE_FUNCTION Entry to(std::int64_t column) const
  {
    Entry              e{0, false, false};
    const std::int64_t other = at(column);
    e.same                   = other == k;
    if (e.same) return e;
    e.distance = distance(lines.lines, place, k, other, lines.wrap, lines.reach, e.wrapped);
    // last: most entries are out of reach, and reading `part` misses the cache
    if (e.distance != 0 && !lines.same_line(k, other)) e.distance = 0, e.wrapped = false;
    return e;
  }
  KOKKOS_INLINE_FUNCTION bool other_component(std::int64_t column) const
  {
    return lines.components > 1 && (column - row) % lines.components != 0;
  }
};

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file line_pieces.hpp  Redistributes sub-lines so that each part gets some of the lines as a whole.
#pragma once

#include <ribbon/line_set.hpp>

namespace ribbon {

/// The lines of each of `parts` parts: consecutive ones, equal counts up to one.
struct LineShares {
  std::int64_t lines = 0;
  std::int64_t parts = 1;

  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t part) const { return lines * part / parts; }
  KOKKOS_INLINE_FUNCTION std::int64_t count(std::int64_t part) const { return begin(part + 1) - begin(part); }
  KOKKOS_INLINE_FUNCTION std::int64_t part_of(std::int64_t line) const
  {
    return ((line + 1) * parts - 1) / lines;
  }
};

/// Copies sub-lines to (`outwards`) or from a buffer. The buffer stores them part by part, row by row, with
/// lines fastest. Element (line l, row i, component c) of the part with lines l0 .. l0 + n - 1 lies at
/// (rows l0 + i n + (l - l0)) components + c. If part q has sub-lines of m_q rows, its buffers for all
/// parts, one after another, are the rows of an interleaved batch of whole lines.
template <class Scalar>
struct DealKernel {
  LineSet              pieces;
  LineShares           shares;
  Scalar              *array, *buffer;
  bool                 outwards;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const bool         along = pieces.row_stride < pieces.stride0;
    const std::int64_t l     = along ? k / pieces.rows : k % pieces.lines(),
                       i     = along ? k % pieces.rows : k / pieces.lines();
    const std::int64_t part = shares.part_of(l), l0 = shares.begin(part), n = shares.count(part),
                       from = pieces(l, i), to = (pieces.rows * l0 + i * n + (l - l0)) * pieces.components;
    for (int c = 0; c < pieces.components; ++c) {
      Scalar &element = array[from + c * pieces.component_stride], &place = buffer[to + c];
      if (outwards) place = element;
      else element = place;
    }
  }
};

/// Asynchronous on exec.
template <class Scalar, class Exec>
void deal_out(const Exec &exec, const LineSet &pieces, const LineShares &shares, const Scalar *array,
              Scalar *buffer)
{
  Kokkos::parallel_for("ribbon::deal_out", indices(exec, pieces.rows * pieces.lines()),
                       DealKernel<Scalar>{pieces, shares, const_cast<Scalar *>(array), buffer, true});
}
template <class Scalar, class Exec>
void take_back(const Exec &exec, const LineSet &pieces, const LineShares &shares, Scalar *array,
               const Scalar *buffer)
{
  Kokkos::parallel_for("ribbon::take_back", indices(exec, pieces.rows * pieces.lines()),
                       DealKernel<Scalar>{pieces, shares, array, const_cast<Scalar *>(buffer), false});
}

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file cut.hpp  Division of lines into segments for partition.hpp, and the subsets of a batch that one
///   launch solves.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ribbon {

/// Division of lines. Part 0 are the segments, part 1 the tails.
struct PartitionCut {
  std::int64_t rows = 0, lines = 0; ///< of the batch
  std::int64_t piece  = 0;          ///< R
  std::int64_t pieces = 0;          ///< Q, per line
  std::int64_t tail   = 0;          ///< rows after the last segment
  int          K = 1, B = 1;
  bool         ring = false, lines_fastest = true;
  /// lines at one stride, whose segments have consecutive indices if lines are fastest; 0: all lines
  std::int64_t run = 0;

  KOKKOS_INLINE_FUNCTION int S() const { return K * B; }
  KOKKOS_INLINE_FUNCTION std::int64_t parts() const { return pieces + (tail > 0 ? 1 : 0); }
  /// Separators per line, in groups of K rows: those of all segments, and of the tail if it closes a ring.
  KOKKOS_INLINE_FUNCTION std::int64_t separators() const { return pieces + (tail > 0 && ring ? 1 : 0); }
  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t q) const { return q * piece; }
  KOKKOS_INLINE_FUNCTION std::int64_t size(std::int64_t q) const { return q < pieces ? piece : tail; }
  KOKKOS_INLINE_FUNCTION std::int64_t interior(std::int64_t q) const
  {
    return q < pieces ? piece - K : ring ? tail - K : tail;
  }
  /// The separators right and left of part q; -1 at the ends of an open line.
  KOKKOS_INLINE_FUNCTION std::int64_t right_of(std::int64_t q) const { return q < separators() ? q : -1; }
  KOKKOS_INLINE_FUNCTION std::int64_t left_of(std::int64_t q) const
  {
    return q > 0 ? q - 1 : ring ? separators() - 1 : -1;
  }
  /// The part right of separators p; -1 at the end of an open line.
  KOKKOS_INLINE_FUNCTION std::int64_t next(std::int64_t p) const
  {
    return p + 1 < parts() ? p + 1 : ring ? 0 : -1;
  }
  /// Index of (line, segment) among the lines of the batch of segments, and the inverse.
  KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t l, std::int64_t q) const
  {
    if (!lines_fastest) return l * pieces + q;
    return run == 0 ? q * lines + l : (l / run * pieces + q) * run + l % run;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t line(std::int64_t place) const
  {
    if (!lines_fastest) return place / pieces;
    return run == 0 ? place % lines : place / (run * pieces) * run + place % run;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t piece_of(std::int64_t place) const
  {
    return !lines_fastest ? place % pieces : run == 0 ? place / lines : place / run % pieces;
  }
};

/// Division of these lines; pieces == 0 if they are too short.
/// @param piece  rows of a segment, at least 3 K
/// @param exact  false: segments may have half to five quarters as many rows, if no tail remains then
template <class Scalar, class Memory>
PartitionCut partition_cut(const LineSet &of, const Bands<Scalar, Memory> &bands, std::int64_t piece,
                           bool exact)
{
  constexpr std::int64_t long_piece = 512; // the interiors of longer ones have lengths that suit kernels
  const LineSet          lines      = of.merged();
  PartitionCut           c;
  c.rows = lines.rows, c.lines = lines.lines(), c.K = std::max(1, bands.half_bandwidth()), c.B = bands.block,
  c.ring          = bands.periodic;
  c.lines_fastest = !lines.is_contiguous();
  if (c.lines_fastest && lines.count1 > 1) c.run = lines.count0;
  if (lines.rows < 2 * piece) return c;
  // interiors of whole chunks that the copy engine can copy if lines are contiguous
  if (piece > long_piece) {
    if (lines.is_contiguous() && bands.lhs == Lhs::shared && c.B == 1 && sizeof(Scalar) == 8) c.K += c.K % 2;
    piece += c.K - piece % 32;
    if (2 * piece > lines.rows) piece -= 32;
    if (lines.is_contiguous() && !exact)
      for (std::int64_t p = piece + piece / 128 * 32; p > piece / 2; p -= 32)
        if (lines.rows % p == 0 && lines.rows > p) {
          c.piece = p, c.pieces = c.rows / p;
          return c;
        }
  }
  // a tail is empty, or long enough for one_pass; if no segment length gives such a tail, it is long enough
  // for its couplings
  for (int groups : {2, 1})
    for (c.piece = piece; c.piece >= 3 * c.K; c.piece -= c.piece > long_piece ? 32 : 1) {
      c.tail = c.rows % c.piece, c.pieces = c.rows / c.piece;
      if (c.tail == 0 || c.tail >= (c.ring ? groups + 1 : groups) * c.K) return c;
    }
  c.pieces = 0;
  return c;
}

/// Segments that have the same matrix because they are rows of one stencil (Bands::repeats): `count` of
/// them from segment `first` on.
struct EqualPieces {
  std::int64_t first = 0, count = 1;

  EqualPieces() = default;
  /// @param look  false: one matrix per segment
  template <class Scalar, class Memory>
  EqualPieces(const PartitionCut &cut, const Bands<Scalar, Memory> &bands, bool look)
  {
    const auto         begin = static_cast<std::int64_t>(bands.values.extent(1)) / 2;
    const std::int64_t left  = begin + bands.repeats - cut.interior(0);
    if (!look || left < 0) return;
    first = (begin + cut.piece - 1) / cut.piece;
    count = std::max<std::int64_t>(1, std::min(cut.pieces, left / cut.piece + 1) - first);
  }
  /// The matrix of a segment, and the first segment of a matrix.
  KOKKOS_INLINE_FUNCTION std::int64_t matrix(std::int64_t piece) const
  {
    return repeated_row(piece, first, count);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t piece(std::int64_t matrix) const
  {
    return matrix <= first ? matrix : matrix + count - 1;
  }
};

/// Segments (part 0) or tails (part 1) of some lines of a batch that form the lines of a LineSet and have
/// consecutive indices: one launch solves them.
struct PartitionBatch {
  std::int64_t line = 0, lines = 0;   ///< of the batch
  std::int64_t piece = 0, pieces = 0; ///< of each line

  /// All of a part.
  static PartitionBatch all(const PartitionCut &cut) { return {0, cut.lines, 0, cut.pieces}; }

  /// The index of the first segment.
  std::int64_t first(const PartitionCut &cut, int part) const
  {
    return part == 1 ? line : cut.place(line, piece);
  }

  /// As lines of a LineSet of the whole lines.
  LineSet of(const PartitionCut &cut, const LineSet &set, int part) const
  {
    LineSet s = set;
    s.rows    = cut.interior(part == 1 ? cut.pieces : 0),
    s.offset  = set.begin(line) + (part == 1 ? cut.pieces : piece) * cut.piece * set.row_stride;
    s.count0 = lines, s.count1 = 1;
    if (part == 1) return s;
    if (cut.lines_fastest) s.count1 = pieces, s.stride1 = cut.piece * set.row_stride;
    else s.count0 = pieces, s.stride0 = cut.piece * set.row_stride, s.count1 = lines, s.stride1 = set.stride0;
    return s;
  }

  /// Calls f(batch) for a minimum of batches that cover a part of lines with the layouts of `in` and `out`.
  /// @param one  line by line, unless all lines form one batch
  template <class F>
  static void each(const PartitionCut &cut, int part, bool one, const LineSet &in, const LineSet &out,
                   const F &f)
  {
    // indices of segments continue from run to run
    const bool         runs     = part == 0 && cut.lines_fastest && cut.run > 0;
    const std::int64_t most     = runs ? cut.run : cut.lines;
    std::int64_t       together = most;
    for (const LineSet *set : {&in, &out})
      if (set->count1 > 1) together = std::gcd(together, set->count0);
    if (one && together < cut.lines) together = 1;
    const bool whole = part == 1 || !cut.lines_fastest || together == most;
    for (std::int64_t l = 0; l < cut.lines; l += together)
      for (std::int64_t q = 0; q < (whole ? 1 : cut.pieces); ++q)
        f(PartitionBatch{l, together, q, whole ? cut.pieces : 1});
  }
};

/// Lines [first, first + cut.lines) of a LineSet, whose segments have the same strides.
inline LineSet group_of_lines(const PartitionCut &cut, const LineSet &of, std::int64_t first)
{
  const LineSet set = of.merged();
  LineSet       s   = set;
  s.offset = set.begin(first), s.count0 = cut.lines, s.count1 = 1;
  if (set.count1 == 1 || first % set.count0 + cut.lines <= set.count0) return s;
  if (first % set.count0 != 0)
    throw std::invalid_argument(
      "ribbon: algorithm partition: a right-hand side begins within a run of lines at one stride");
  s.count0 = set.count0, s.count1 = (cut.lines + set.count0 - 1) / set.count0;
  return s;
}

/// Whether the memory of right-hand sides and solution does not overlap.
template <class Scalar>
bool lie_apart(const Scalar *b, const LineSet &in, const Scalar *x, const LineSet &out)
{
  const auto ends = [](const Scalar *array, const LineSet &set) {
    const Scalar *least = array + set.offset, *most = least + 1;
    for (auto [count, stride] : {std::pair{set.rows, set.row_stride},
                                 {set.count0, set.stride0},
                                 {set.count1, set.stride1},
                                 {std::int64_t(set.components), set.component_stride}})
      (stride < 0 ? least : most) += (count - 1) * stride;
    return std::pair{least, most};
  };
  const auto [from, from_end] = ends(b, in);
  const auto [to, to_end]     = ends(x, out);
  return !std::less<const Scalar *>()(from, to_end) || !std::less<const Scalar *>()(to, from_end);
}

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file known_rows.hpp  Rows next to lines that are segments or sub-lines of longer lines. Their unknowns
///   are known when these lines are solved.
#pragma once

#include <ribbon/line_set.hpp>

#include <cstdint>

namespace ribbon {

/// Segments of longer lines that compute the adjacent separators themselves, all in one launch
/// (one_pass/joined.hpp). Every segment publishes a record: the first `width` and the last `width` unknowns
/// of its solution without neighbours, and the right-hand sides of the `separators` rows after it.
/// Separators are weighted sums of records.
template <class Scalar>
struct JoinedPieces {
  /// separators between two segments; boundaries on either side that a separator depends on
  static constexpr int most = 2, most_reach = 8;

  /// weights of unknown a of boundary p: word k of the 2 (reach + 1) records from segment p - reach on, at
  /// ((class_of[p] separators + a) 2 (reach + 1) words() + k)
  const Scalar *weights  = nullptr;
  const int    *class_of = nullptr;
  int           reach = 0, width = 1, separators = 1;
  /// two buffers of count() records, used in turn; one of them contains `none` before a launch
  std::uint64_t *records = nullptr;
  std::int64_t  *state   = nullptr; ///< launches so far, finished teams, assigned tiles
  std::int64_t   pieces = 0, lines = 0;
  /// null: lines have no tails. Else the first unknowns of the tails, as sums of `splits` terms: unknown e
  /// of term t of line l is at (t 2 width + e) lines + l
  const Scalar *tails  = nullptr;
  int           splits = 1;
  Scalar       *last   = nullptr; ///< the separators before the tails, unknown a of line l at a lines + l

  /// Marks a word that is not yet written: a NaN that no arithmetic operation produces.
  static constexpr std::uint64_t none = 0xfff7a5a5a5a5a5a5u;

  KOKKOS_INLINE_FUNCTION int words() const { return 2 * width + separators; }
  /// Count of terms in the sum of a separator.
  KOKKOS_INLINE_FUNCTION int numbers() const { return 2 * (reach + 1) * words(); }
  /// The longer line of a segment. @pre there are fewer than 2^32 segments
  KOKKOS_INLINE_FUNCTION std::int64_t line(std::int64_t piece) const
  {
    return static_cast<std::uint32_t>(piece) / static_cast<std::uint32_t>(pieces);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t of_line() const { return pieces + (tails ? 1 : 0); }
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return of_line() * lines; }
};

/// Separators between segments as sums of the adjacent right-hand sides, for longer lines whose inverse
/// decays within a few rows. The kernel of the segments forms the separators next to a tile
/// (one_pass/reduced.hpp). If right-hand sides and solution share their memory, one launch forms all
/// separators before another one solves.
template <class Scalar>
struct NearSeparators {
  static constexpr int separators = 2; ///< between two segments

  /// null: there are no such separators. Weights of unknown a: `reach` rows before the separators, the
  /// separators, and rows after them, at a rows(); then the same for the last separators of a line
  const Scalar *weights = nullptr;
  int           reach = 0, behind = 0; ///< behind: rows after the last separators of a line
  std::int64_t  pieces = 1, lines = 0; ///< segments per line
  /// null: no other kernel reads the last separators of a line. Else they are stored here, unknown a of
  /// separators p of line l at (p separators + a) lines + l
  Scalar *z    = nullptr;
  bool    only = false; ///< all separators are stored, and segments are not solved

  KOKKOS_INLINE_FUNCTION int rows() const { return 2 * reach + separators; }
  /// @pre there are fewer than 2^32 segments
  KOKKOS_INLINE_FUNCTION bool begins(std::int64_t piece) const
  {
    return static_cast<std::uint32_t>(piece) % static_cast<std::uint32_t>(pieces) == 0;
  }
};

/// The unknowns around line s, in an array with the unknowns of all boundaries of a longer line one after
/// another: u = 0, 1, ... after the line, u = -1, -2, ... before it, at lines.begin(s) + u
/// lines.row_stride. The array has as many on either side as the rows of a kernel reach.
template <class Scalar>
struct KnownRows {
  const Scalar *values = nullptr; ///< null: lines have no neighbours
  LineSet       lines;            ///< rows and components are not used
  int           stored = 0;       ///< count of unknowns after each line that are written behind its solution

  /// on the host: nothing is known, and the segments compute the unknowns
  const JoinedPieces<Scalar>   *joined = nullptr;
  const NearSeparators<Scalar> *near   = nullptr; ///< on the host, likewise

  KOKKOS_INLINE_FUNCTION const Scalar *place(std::int64_t line, int u) const
  {
    return values + (lines.begin(line) + u * lines.row_stride);
  }
};

} // namespace ribbon

// SPDX-License-Identifier: BSD-2-Clause
/// @file known_rows.hpp  Rows beside lines that are pieces of longer ones, whose unknowns are known
///   when the pieces are solved.
#pragma once

#include <ribbon/line_set.hpp>

#include <cstdint>

namespace ribbon {

/// Pieces of longer lines that find the separators beside them by themselves, all in one launch
/// (one_pass/joined.hpp). Every piece announces a record: the first `width` and the last `width` unknowns of
/// its solution without neighbours, and the right-hand sides of the `separators` rows behind it. Separators
/// are sums of records times numbers.
template <class Scalar>
struct JoinedPieces {
  /// separators between two pieces; boundaries on either side that a separator depends on
  static constexpr int most = 2, most_reach = 8;

  /// of unknown a of boundary p: word k of the 2 (reach + 1) records from piece p - reach on at ((class_of[p]
  /// separators + a) 2 (reach + 1) words() + k)
  const Scalar *weights  = nullptr;
  const int    *class_of = nullptr;
  int           reach = 0, width = 1, separators = 1;
  /// two buffers of count() records, in turn: one of which is `none` before a launch
  std::uint64_t *records = nullptr;
  std::int64_t  *state   = nullptr; ///< launches so far, teams that are done, tiles that were taken
  std::int64_t   pieces = 0, lines = 0;
  /// null: lines have none. Else their first unknowns, sums of `splits` terms: unknown e of term t of line l
  /// at (t 2 width + e) lines + l
  const Scalar *tails  = nullptr;
  int           splits = 1;
  Scalar       *last   = nullptr; ///< the separators before the tails, unknown a of line l at a lines + l

  /// What no record holds: a NaN that no arithmetic makes.
  static constexpr std::uint64_t none = 0xfff7a5a5a5a5a5a5u;

  KOKKOS_INLINE_FUNCTION int words() const { return 2 * width + separators; }
  /// that a separator is the sum of
  KOKKOS_INLINE_FUNCTION int numbers() const { return 2 * (reach + 1) * words(); }
  /// The longer line of a piece. @pre there are fewer than 2^32 pieces
  KOKKOS_INLINE_FUNCTION std::int64_t line(std::int64_t piece) const
  {
    return static_cast<std::uint32_t>(piece) / static_cast<std::uint32_t>(pieces);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t of_line() const { return pieces + (tails ? 1 : 0); }
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return of_line() * lines; }
};

/// Separators between pieces that are sums of the right-hand sides around them, where the inverse of the
/// longer lines decays within a few rows: the kernel of the pieces forms those beside a tile by itself
/// (one_pass/reduced.hpp). Where right-hand sides and solution share their places one launch forms all of
/// them before another one solves.
template <class Scalar>
struct NearSeparators {
  static constexpr int separators = 2; ///< between two pieces

  /// null: there are none. Of unknown a: `reach` rows before the separators, these, and rows after them, at a
  /// rows(); then the same of the last separators of a line
  const Scalar *weights = nullptr;
  int           reach = 0, behind = 0; ///< behind: rows after the last separators of a line
  std::int64_t  pieces = 1, lines = 0; ///< pieces of a line
  /// null: nobody else asks. Else the last separators of a line go there, unknown a of separators p of line l
  /// at (p separators + a) lines + l
  Scalar *z    = nullptr;
  bool    only = false; ///< all of them go there, and pieces are not solved

  KOKKOS_INLINE_FUNCTION int rows() const { return 2 * reach + separators; }
  /// @pre there are fewer than 2^32 pieces
  KOKKOS_INLINE_FUNCTION bool begins(std::int64_t piece) const
  {
    return static_cast<std::uint32_t>(piece) % static_cast<std::uint32_t>(pieces) == 0;
  }
};

/// The unknowns around line s, in an array that has those of all boundaries of a longer line one after
/// another: u = 0, 1, ... after the line, u = -1, -2, ... before it, at lines.begin(s) + u lines.row_stride.
/// As many as the rows of a kernel reach on either side can be read.
template <class Scalar>
struct KnownRows {
  const Scalar *values = nullptr; ///< null: lines end where they end
  LineSet       lines;            ///< rows and components are not used
  int           stored = 0;       ///< so many unknowns after each line are written behind its solution

  /// on the host: nothing is known, lines are pieces that find it
  const JoinedPieces<Scalar>   *joined = nullptr;
  const NearSeparators<Scalar> *near   = nullptr; ///< on the host, likewise

  KOKKOS_INLINE_FUNCTION const Scalar *place(std::int64_t line, int u) const
  {
    return values + (lines.begin(line) + u * lines.row_stride);
  }
};

} // namespace ribbon

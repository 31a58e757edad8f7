// SPDX-License-Identifier: BSD-2-Clause
/// @file add_lines.hpp  The band of lines that consist of any elements, and their direction.
#pragma once

#include "line_map.hpp"

namespace ribbon::petsc {

/// The entries along lines, by their distance in elements.
struct ReachOfLines {
  static constexpr PetscInt largest_in_band = 3; ///< rows of the largest block whose lines fit a band of rows

  static constexpr int    most   = largest_half_bandwidth;
  static constexpr double little = 0.05; ///< fraction of all couplings or elements that is neglected
  /// smallest coupling of both ends that closes a ring, relative to the largest couplings of their rows
  static constexpr double closes = 0.25;

  /// sums over rows of |a_ij| / max_k |a_ik|; the last one: entries further away than `most`
  double weight[most + 2] = {};
  int    largest          = 0; ///< distance, at most most + 1
  int    components       = 0; ///< 1: components couple along some line

  /// The smallest half-bandwidth that holds all entries. If `most` does not, one that leaves out a little
  /// more than `most` would: lines that fold back would fill their bands with zeros.
  int half_bandwidth() const;
  /// The weight that the half-bandwidth leaves out.
  double left_out() const;
  /// Whether folding rings can help: entries are beyond the band, and blocks fit a band of rows or do not couple.
  bool may_fold(PetscInt block) const;
  /// Whether lines of blocks have to become lines of rows: block lines reach the next element only, and 8 rows on
  /// either side hold at least two neighbouring blocks of 2 or 3 rows.
  bool needs_rows(PetscInt block) const;
  /// The half-bandwidth of the lines, in rows if needs_rows(), else in elements.
  int widest(PetscInt block) const;
};

/// Whether the block of some rank is in device memory. Collective.
PetscErrorCode SomeIsOnDevice(const LineSource &source, bool *is);

/// Collective.
PetscErrorCode SumOverRanks(MPI_Comm comm, ReachOfLines *reach);

/// Finds the colours of the lines of a direction, and packs the lines of each colour. Collective.
/// @param A      rows of the lines; an element consists of `components` rows
/// @param empty  ranks may have no lines of a colour
PetscErrorCode ColourLines(MPI_Comm comm, const HostRows &A, const LinesOfGraph &lines, PetscInt components,
                           bool empty, LineDirection *direction);

/// Adds a direction to a map. Its band may leave out entries. Collective.
/// @param lines  number of its lines on this rank
PetscErrorCode AddDirection(MPI_Comm comm, const char *name, std::int64_t lines, LineDirection direction,
                            LineMap *map);

} // namespace ribbon::petsc

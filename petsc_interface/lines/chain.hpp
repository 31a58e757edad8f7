// SPDX-License-Identifier: BSD-2-Clause
/// @file chain.hpp  Lines that span ranks: the ranks that hold their sub-lines, and the couplings between
///   these.
#pragma once

#include "../support/compat.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ribbon::petsc {

struct LineDirection;
struct LineSource;

/// The place of a rank among those that hold sub-lines of the same lines. Sub-lines with the same number
/// are parts of one line on all of these ranks.
struct ChainPlace {
  bool joinable = false; ///< on all ranks: it is known which sub-lines belong together
  bool ring     = false; ///< entries may join the ends of a line
  /// the same on the ranks of one chain; undefined: this rank has no sub-lines
  PetscMPIInt colour = MPI_UNDEFINED;
  PetscMPIInt order  = 0; ///< along the lines
};

/// The ranks that hold sub-lines of the same lines, in their order along the lines.
class LineChain {
public:
  /// The sub-lines of one rank, which all have this length.
  struct Piece {
    PetscInt rows  = 0; ///< elements
    PetscInt first = 0; ///< position of the first element
    PetscInt begin = 0; ///< global number of the first row that the rank owns
  };
  std::vector<Piece> pieces;
  MPI_Comm           comm = MPI_COMM_NULL;
  PetscMPIInt        own  = 0; ///< number of this rank

  LineChain()                             = default;
  LineChain(const LineChain &)            = delete;
  LineChain &operator=(const LineChain &) = delete;
  ~LineChain();

  PetscMPIInt  size() const { return static_cast<PetscMPIInt>(pieces.size()); }
  const Piece &mine() const { return pieces[static_cast<std::size_t>(own)]; }
  PetscInt     length() const { return pieces.back().first + pieces.back().rows; } ///< of a line, in elements
  /// Numbers of the neighbours along the lines, MPI_PROC_NULL at the end of an open line.
  PetscMPIInt left(bool ring) const { return own > 0 || ring ? (own + size() - 1) % size() : MPI_PROC_NULL; }
  PetscMPIInt right(bool ring) const { return own + 1 < size() || ring ? (own + 1) % size() : MPI_PROC_NULL; }
};

/// Creates the chain of this rank; null if it has no sub-lines. Collective on `comm`.
/// @param rows   elements of each of its sub-lines
/// @param begin  global number of its first row
PetscErrorCode MakeChain(MPI_Comm comm, const ChainPlace &place, PetscInt rows, PetscInt begin,
                         std::shared_ptr<const LineChain> *chain);

/// An entry of a row of this rank in a column of another rank, along a line.
struct OutsideEntry {
  PetscInt row;       ///< of the local block
  int      distance;  ///< along the line, in elements
  int      component; ///< of the column
  Scalar   value;
  PetscInt entry; ///< index among the stored entries in columns of other ranks
};

/// Properties of the entries in columns of other ranks; see LineCouplings.
struct OutsideCouplings {
  std::vector<OutsideEntry> entries; ///< nonzero entries within reach, by rows
  int                       half_bandwidth = 0;
  bool                      periodic = false, across = false;
  std::int64_t              too_far_row = -1, component_row = -1, not_finite = -1;
};

/// Reads the entries in columns of other ranks. If the direction has no chain, none of them is on a line.
/// Collective.
PetscErrorCode ReadOutside(const LineSource &source, const LineDirection &direction, OutsideCouplings *found);

} // namespace ribbon::petsc

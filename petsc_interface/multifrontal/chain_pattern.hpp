// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_pattern.hpp  Whether the pattern of a matrix is a chain, a ring, or several of them, in
///   its own order or another.
#pragma once

#include "../support/compat.h"

#include <ribbon/chain.hpp>

#include <string>
#include <vector>

namespace ribbon::petsc {

/// Largest kl and ku that the multifrontal solver takes.
inline constexpr PetscInt most_chain_bandwidth = 32;

struct ChainPattern {
  Chain chain; ///< the whole matrix; chain.rows > 0 counts all ranks
  /// rank 0 has it all: rows in another order, rings that ranks share, or ranks with fewer
  /// rows than a cut has unknowns
  bool gathered = false;
  /// several ranks have rows, and none an entry in a column of another: each has chains, or rings
  /// of chain.rows, of its own
  bool     separate = false;
  PetscInt fewest   = 0; ///< rows of a rank that has some, where there are several
  /// on the rank that has the rows; empty: rows in their own order
  std::vector<std::int64_t> row_of, place_of;
  std::string               refusal; ///< why it is no chain; empty when it is
};

/// Reads the pattern of a square AIJ matrix. Collective; all ranks get the same but for the order of rows.
PetscErrorCode FindChain(Mat aij, ChainPattern *pattern);

/// The rows of all ranks in one sequential AIJ matrix on rank 0, none elsewhere. Collective.
PetscErrorCode GatherOnFirstRank(Mat aij, Mat *gathered);

/// What GatherNumbers() keeps from call to call.
struct GatherRoom {
  std::vector<Scalar>      mine;
  std::vector<PetscMPIInt> counts, starts; ///< entries of the ranks
};
/// Puts the numbers of the MPIAIJ matrix that `gathered` was made of there, if its pattern is still the same.
/// Allocates in the first call alone, where MatCreateSubMatrices() does in each. Collective.
PetscErrorCode GatherNumbers(Mat aij, Mat gathered, GatherRoom *room);

} // namespace ribbon::petsc

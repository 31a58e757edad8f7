// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_pattern.hpp  Whether the pattern of a matrix is a chain, a ring, or several of them, in the
///   order of its rows or another.
#pragma once

#include "../support/compat.h"

#include <ribbon/chain.hpp>

#include <string>
#include <vector>

namespace ribbon::petsc {

/// Largest kl and ku of the multifrontal solver.
inline constexpr PetscInt most_chain_bandwidth = 32;

struct ChainPattern {
  Chain chain; ///< the whole matrix; chain.rows > 0 counts all ranks
  /// rank 0 has all rows: rows in another order, several rings that span ranks, or ranks with fewer rows
  /// than a cut has unknowns
  bool gathered = false;
  /// several ranks have rows, and none has an entry in a column of another rank: each has chains, or rings,
  /// of chain.rows rows
  bool     separate = false;
  PetscInt fewest   = 0; ///< least number of rows of a rank with rows, if there are several
  /// on the rank with the rows; empty: rows are in order
  std::vector<std::int64_t> row_of, place_of;
  std::string               refusal; ///< why it is not a chain; empty if it is
};

/// Reads the pattern of a square AIJ matrix. Collective; all ranks have the same result, except the order
/// of rows.
PetscErrorCode FindChain(Mat aij, ChainPattern *pattern);

/// Gathers the rows of all ranks in one sequential AIJ matrix on rank 0. Other ranks have no rows.
/// Collective.
PetscErrorCode GatherOnFirstRank(Mat aij, Mat *gathered);

/// Buffers of GatherNumbers() that it keeps between calls.
struct GatherRoom {
  std::vector<Scalar>      mine;
  std::vector<PetscMPIInt> counts, starts; ///< of each rank
};
/// Copies the entries of an MPIAIJ matrix to `gathered`, which was created from it and has the same
/// pattern. It allocates only in the first call; MatCreateSubMatrices() would allocate in each call.
/// Collective.
PetscErrorCode GatherNumbers(Mat aij, Mat gathered, GatherRoom *room);

} // namespace ribbon::petsc

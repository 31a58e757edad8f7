// SPDX-License-Identifier: BSD-2-Clause
/// @file reduced_matrix.hpp  The reduced matrices of lines that the partition cuts, from what
///   all pieces bring to them.
#pragma once

#include "../lines/chain.hpp"

namespace ribbon::petsc {

/// Block tridiagonal matrices R of S x S blocks, a row of blocks for each group of separators,
/// on every rank of a chain.
struct ReducedMatrix {
  std::int64_t matrices   = 0; ///< 1 where all lines have the same
  std::int64_t separators = 0;
  int          S          = 1;
  /// (matrix, separators, 3 S^2), the last fastest: sub-, main and superdiagonal blocks, row by row
  std::vector<Scalar> values;

  const Scalar &entry(std::int64_t matrix, std::int64_t p, std::size_t e) const
  {
    return values[static_cast<std::size_t>((matrix * separators + p) * 3 * S * S) + e];
  }
  /// Largest norm of R_pp^-1 R_pq, q != p: how much of one group of separators reaches the next. Infinite
  /// where a block is singular.
  double decay() const;
};

/// @param blocks  CutLines::blocks() of this rank. Collective on the chain.
PetscErrorCode GetReducedMatrix(const LineChain &chain, const std::vector<Scalar> &blocks, int S,
                                bool periodic, ReducedMatrix *R);

} // namespace ribbon::petsc

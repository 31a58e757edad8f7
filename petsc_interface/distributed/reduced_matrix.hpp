// SPDX-License-Identifier: BSD-2-Clause
/// @file reduced_matrix.hpp  The reduced matrices of lines that span ranks, from the blocks of all
///   sub-lines.
#pragma once

#include "../lines/chain.hpp"

namespace ribbon::petsc {

/// Block tridiagonal matrices R of S x S blocks on every rank of a chain. They have a row of blocks for
/// each group of separators.
struct ReducedMatrix {
  std::int64_t matrices   = 0; ///< 1 if all lines share it
  std::int64_t separators = 0;
  int          S          = 1;
  /// index (matrix, separators, 3 S^2), the last fastest: sub-, main and superdiagonal blocks, row by row
  std::vector<Scalar> values;

  const Scalar &entry(std::int64_t matrix, std::int64_t p, std::size_t e) const
  {
    return values[static_cast<std::size_t>((matrix * separators + p) * 3 * S * S) + e];
  }
  /// Largest norm of R_pp^-1 R_pq, q != p: the influence of one group of separators on the next. Infinite
  /// if a block is singular.
  double decay() const;
};

/// Gathers the reduced matrices. Collective on the chain.
/// @param blocks  CutLines::blocks() of this rank
PetscErrorCode GetReducedMatrix(const LineChain &chain, const std::vector<Scalar> &blocks, int S,
                                bool periodic, ReducedMatrix *R);

} // namespace ribbon::petsc

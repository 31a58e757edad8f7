// SPDX-License-Identifier: BSD-2-Clause
/// @file compare.hpp  -pc_line_compare: every solve along lines beside a plain serial one.
#pragma once

#include "operator.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace ribbon::petsc {

/// Where a solve and the reference part most, over all solves since the last look.
struct LineDifference {
  /// relative to the largest number of the line in the reference; infinity where either is not
  /// finite; -1: nothing was compared
  double       size = -1;
  std::int64_t row = -1, line = -1;   ///< global row, line of its set on this rank
  double       value = 0, wanted = 0; ///< real parts there
};

/// The lines of one LineSet as the matrix had them at set-up, on the host; those that the partition cuts are
/// on the first rank of their chain. Its elimination pivots and shares nothing with the kernels.
class LineReference {
public:
  /// Reads the entries along the lines that were asked for; those of a Kronecker product are multiplied out.
  /// @param rbegin  global number of the first row of source.block
  /// @param shift   what diagonals grow by, relative to the largest entry of their rows
  static PetscErrorCode create(const LineSource &source, PetscInt rbegin, const LineRequest &request,
                               double shift, std::unique_ptr<LineReference> *reference);

  /// Keeps the right-hand side of a solve that may overwrite it. This and what follows
  /// is collective on the chain.
  PetscErrorCode keep(Vec b);
  /// Looks at the solution for what was kept.
  PetscErrorCode compare(Vec x, bool transposed);
  /// The same for one column: host arrays of the block's rows.
  PetscErrorCode compare(const PetscScalar *b, const PetscScalar *x, bool transposed);

  LineDifference worst; ///< of all compare() so far; whoever reads it resets it

private:
  using Row = std::vector<std::pair<std::int64_t, Scalar>>;
  struct OneLine {
    std::vector<std::size_t> at;   ///< where the unknowns lie in vectors
    std::vector<Row>         rows; ///< of unknowns, with columns that are unknowns
  };

  /// Rows of this rank and what they hold, to the first rank of the chain.
  PetscErrorCode BringTogether(const LineRequest &request, std::int64_t unknowns_of_element);
  /// An array in the order that `at` speaks of.
  PetscErrorCode Order(const PetscScalar *from, std::vector<PetscScalar> *to) const;
  void           compare_line(std::size_t line, const PetscScalar *b, const PetscScalar *x, bool transposed);

  std::vector<OneLine>             lines_;
  std::shared_ptr<const LineChain> chain_; ///< null: lines are whole
  /// what goes to the first rank, line by line: places in vectors
  std::vector<std::size_t> sent_;
  /// there: how much comes from whom, and where it is put
  std::vector<PetscMPIInt>  count_, begin_at_;
  std::vector<std::int64_t> name_; ///< there: global numbers of rows
  std::vector<PetscScalar>  kept_;
  PetscReal                 omega_ = 1;
  /// singular pieces of lines are solved for least squares and zero mean
  bool         pinned_ = false;
  std::int64_t begin_  = 0; ///< global number of the first row of vectors
};

} // namespace ribbon::petsc

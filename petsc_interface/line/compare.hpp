// SPDX-License-Identifier: BSD-2-Clause
/// @file compare.hpp  -pc_line_compare: compares every solve along lines with a plain serial solve.
#pragma once

#include "operator.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace ribbon::petsc {

/// The largest difference between solves and the reference since the last reset.
struct LineDifference {
  /// relative to the largest value of the line in the reference; infinity if either is not finite; -1:
  /// nothing was compared
  double       size = -1;
  std::int64_t row = -1, line = -1;   ///< global row, line of its set on this rank
  double       value = 0, wanted = 0; ///< real parts of the values there
};

/// The lines of one LineSet with the entries of the matrix at set-up, on the host. Lines that span ranks
/// are on the first rank of their chain. The elimination pivots and shares no code with the kernels.
class LineReference {
public:
  /// Reads the entries along the lines of the request. Those of a Kronecker product are multiplied out.
  /// @param rbegin  global number of the first row of source.block
  /// @param shift   value that is added to diagonals, relative to the largest entry of their rows
  static PetscErrorCode create(const LineSource &source, PetscInt rbegin, const LineRequest &request,
                               double shift, std::unique_ptr<LineReference> *reference);

  /// Keeps the right-hand side of a solve that may overwrite it. This function and the next two are
  /// collective on the chain.
  PetscErrorCode keep(Vec b);
  /// Compares the solution with that of the reference for the right-hand side that was kept.
  PetscErrorCode compare(Vec x, bool transposed);
  /// The same for one column, given as host arrays of the rows of the block.
  PetscErrorCode compare(const PetscScalar *b, const PetscScalar *x, bool transposed);

  LineDifference worst; ///< of all compare() so far; the reader resets it

private:
  using Row = std::vector<std::pair<std::int64_t, Scalar>>;
  struct OneLine {
    std::vector<std::size_t> at;   ///< places of the unknowns in vectors
    std::vector<Row>         rows; ///< of the unknowns; columns are unknowns
  };

  /// Sends the rows of this rank and their entries to the first rank of the chain.
  PetscErrorCode BringTogether(const LineRequest &request, std::int64_t unknowns_of_element);
  /// Copies an array into the order of `at`.
  PetscErrorCode Order(const PetscScalar *from, std::vector<PetscScalar> *to) const;
  void           compare_line(std::size_t line, const PetscScalar *b, const PetscScalar *x, bool transposed);

  std::vector<OneLine>             lines_;
  std::shared_ptr<const LineChain> chain_; ///< null: lines are whole
  /// values that are sent to the first rank, line by line: places in vectors
  std::vector<std::size_t> sent_;
  /// on the first rank: how many values each rank sends, and where they are stored
  std::vector<PetscMPIInt>  count_, begin_at_;
  std::vector<std::int64_t> name_; ///< on the first rank: global numbers of rows
  std::vector<PetscScalar>  kept_;
  PetscReal                 omega_ = 1;
  /// singular parts of lines have the least-squares solution of zero mean
  bool         pinned_ = false;
  std::int64_t begin_  = 0; ///< global number of the first row of vectors
};

} // namespace ribbon::petsc

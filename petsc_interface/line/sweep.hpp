// SPDX-License-Identifier: BSD-2-Clause
/// @file sweep.hpp  Solves along lines, composed over directions and colours.
#pragma once

#include "../support/native_vectors.hpp"
#include "compare.hpp"
#include "rest.hpp"

namespace ribbon::petsc {

/// The lines of one LineSet, factored.
struct LineBatch {
  LineRequest                    request;
  LineFacts                      facts;
  std::unique_ptr<LineOperator>  op;
  std::unique_ptr<LineReference> reference; ///< compares its solves; nullptr: no comparison
};

/// Lines that are solved together: all lines of one direction, or those of one colour. B = omega R^T
/// A_lines^-1 R, where R selects their rows.
struct LineGroup {
  std::size_t            direction = 0;    ///< number of the direction in the PC
  bool                   all_rows  = true; ///< they hold every row; otherwise other rows do not change
  std::vector<LineBatch> batches;

  PetscErrorCode solve(Vec b, Vec x, bool transposed);
};

/// M is the average over all sequences of
///
///     z = 0;   for each group g of the sequence:   z += B_g (b - A z)
///
/// repeated: x = 0;   iterations times:   x += M (b - A x).
class LineSweep {
public:
  std::vector<LineGroup>        groups;
  std::vector<std::vector<int>> sequences; ///< numbers of groups
  PetscInt                      iterations = 1;
  PetscReal                     omega      = 1; ///< included in the factors of all groups, on all ranks

  /// Whether M is one group of one set of lines: it needs no residual and no work vector.
  bool is_one_solve() const { return sequences.size() == 1 && sequences[0].size() == 1 && iterations == 1; }
  /// Creates the vectors of apply(), also for the sequences `others`. Collective.
  PetscErrorCode allocate(Mat A, const std::vector<std::vector<int>> &others);
  /// Copies the entries of the factored matrix that lines leave out, if M consists of several solves. The
  /// lines must have the entries of this matrix. Collective.
  PetscErrorCode keep(Mat A);
  /// Creates the factors of transposed solves, once. Collective: lines that cannot be factored on some rank
  /// are one error on all ranks.
  PetscErrorCode transpose(MPI_Comm comm);
  /// x = M b, or, after transpose(), M^T b, with A^T, transposed solves and reversed sequences. Allocates
  /// nothing.
  /// @param splits  A is the matrix that was factored, and lines have its entries: the entries that they
  ///   leave out may be used if they are kept
  PetscErrorCode apply(Mat A, Vec b, Vec x, bool transposed, bool splits);
  /// Repeats x += M (b - A x) `times` times, without the vectors of M: every group acts on x. If M is one
  /// solve, this function keeps the entries that lines leave out, once.
  /// @param work       a vector like b; overwritten
  /// @param x_is_zero  the values of x are not read
  /// @param exact      one solve is A^-1: the initial x does not matter, and x is refined once if there are
  ///   several iterations
  /// @param splits     as above
  PetscErrorCode richardson(Mat A, Vec b, Vec x, Vec work, bool x_is_zero, PetscInt times, bool exact,
                            bool splits);
  PetscErrorCode reset();
  /// Discards the data of the old values after the groups have new factors.
  PetscErrorCode refreshed();
  /// Bytes of the entries that lines leave out; 0: they are not kept.
  std::size_t rest_bytes() const { return rest_.bytes(); }

private:
  /// Variants of a run of the sequences.
  struct Way {
    bool transposed = false;
    bool kept       = false; ///< use the entries that lines leave out
  };
  PetscErrorCode Renew(std::size_t g, Vec b, Vec z, Vec r);
  PetscErrorCode run(Mat A, const std::vector<int> &sequence, Vec b, Vec z, bool z_is_zero, const Way &way,
                     Vec r, int *last);
  PetscErrorCode iterate(Mat A, Vec b, Vec x, bool x_is_zero, PetscInt64 times, const Way &way, Vec work);

  /// of several solves; of one solve, if Richardson's iteration repays its set-up
  LineRest   rest_;
  PetscInt64 steps_          = 0; ///< of Richardson's iteration with one group, without rest_
  bool       has_transposed_ = false;
  /// residual in a sequence; result of a group that does not hold all rows
  Vec           residual_ = nullptr, correction_ = nullptr;
  Vec           outer_ = nullptr, part_ = nullptr; ///< residual before all sequences, result of one sequence
  NativeVectors native_;
};

} // namespace ribbon::petsc

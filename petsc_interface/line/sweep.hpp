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
  std::unique_ptr<LineReference> reference; ///< what is beside its solves; nullptr: nothing
};

/// Lines that are solved together: all of one direction, or those of one colour. B = omega R^T A_lines^-1 R,
/// with R picking their rows.
struct LineGroup {
  std::size_t            direction = 0;    ///< which one of the PC's
  bool                   all_rows  = true; ///< they hold every row; otherwise others are left as they are
  std::vector<LineBatch> batches;

  PetscErrorCode solve(Vec b, Vec x, bool transposed);
};

/// M, the average over all sequences of
///
///     z = 0;   for each group g of the sequence:   z += B_g (b - A z)
///
/// repeated: x = 0;   iterations times:   x += M (b - A x).
class LineSweep {
public:
  std::vector<LineGroup>        groups;
  std::vector<std::vector<int>> sequences; ///< numbers of groups
  PetscInt                      iterations = 1;
  PetscReal                     omega      = 1; ///< that is in the factors of all groups, on all ranks

  /// One group of one set of lines: no residual, no work vector.
  bool is_one_solve() const { return sequences.size() == 1 && sequences[0].size() == 1 && iterations == 1; }
  /// Makes the vectors that apply() needs, also with other sequences. Collective.
  PetscErrorCode allocate(Mat A, const std::vector<std::vector<int>> &others);
  /// Copies what lines leave out of the matrix that was factored, lines as they are in it, where M is
  /// several solves. Collective.
  PetscErrorCode keep(Mat A);
  /// Makes the factors of transposed solves, once. Collective: what cannot be factored on some
  /// rank is one error on all.
  PetscErrorCode transpose(MPI_Comm comm);
  /// x = M b, or, after transpose(), M^T b: A^T, transposed solves, sequences backwards. Allocates nothing.
  /// @param splits     A is the matrix that was factored, lines as they are in it: what they leave out
  ///   may be used where it is kept
  PetscErrorCode apply(Mat A, Vec b, Vec x, bool transposed, bool splits);
  /// `times` times x += M (b - A x), without M's own vectors in between: every group acts on x. Allocates
  /// what lines leave out, once, where M is one solve.
  /// @param work       a vector like b; overwritten
  /// @param x_is_zero  what x holds is not read
  /// @param exact      one solve is A^-1: x is solved for whatever it was, and refined once where
  ///   there are more iterations
  /// @param splits     as above
  PetscErrorCode richardson(Mat A, Vec b, Vec x, Vec work, bool x_is_zero, PetscInt times, bool exact,
                            bool splits);
  PetscErrorCode reset();
  /// The groups have new factors: what was made of the old values is let go.
  PetscErrorCode refreshed();
  /// Held for what lines leave out; 0: nothing is kept.
  std::size_t rest_bytes() const { return rest_.bytes(); }

private:
  /// How sequences are run.
  struct Way {
    bool transposed = false;
    bool kept       = false; ///< with what lines leave out
  };
  PetscErrorCode Renew(std::size_t g, Vec b, Vec z, Vec r);
  PetscErrorCode run(Mat A, const std::vector<int> &sequence, Vec b, Vec z, bool z_is_zero, const Way &way,
                     Vec r, int *last);
  PetscErrorCode iterate(Mat A, Vec b, Vec x, bool x_is_zero, PetscInt64 times, const Way &way, Vec work);

  /// of several solves; of one, when Richardson's iteration is worth its set-up
  LineRest   rest_;
  PetscInt64 steps_          = 0; ///< of Richardson's iteration with one group, without it
  bool       has_transposed_ = false;
  /// of a sequence; result of a group that does not hold all rows
  Vec           residual_ = nullptr, correction_ = nullptr;
  Vec           outer_ = nullptr, part_ = nullptr; ///< residual before all sequences, result of one
  NativeVectors native_;
};

} // namespace ribbon::petsc

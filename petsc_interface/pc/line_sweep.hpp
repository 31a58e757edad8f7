// SPDX-License-Identifier: BSD-2-Clause
/// @file line_sweep.hpp  Solves along lines, composed over directions and colours.
#pragma once

#include "../native_vectors.hpp"
#include "line_compare.hpp"
#include "line_rest.hpp"

namespace ribbon::petsc {

/// The lines of one LineSet, factored.
struct LineBatch {
  LineRequest                    request;
  LineFacts                      facts;
  std::unique_ptr<LineOperator>  op;
  std::unique_ptr<LineReference> reference; ///< what is beside its solves; nullptr: nothing
};

/// Lines that are solved together: all of one direction, or those of one colour. B = omega R^T A_lines^-1 R, with R picking their rows.
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

  /// One group of one set of lines: no residual, no work vector.
  bool is_one_solve() const { return sequences.size() == 1 && sequences[0].size() == 1 && iterations == 1; }
  /// Makes the vectors that apply() needs, also with other sequences. Collective.
  PetscErrorCode allocate(Mat A, const std::vector<std::vector<int>> &others);
  /// Makes the factors of transposed solves, once. Collective: what cannot be factored on some rank is one error on all.
  PetscErrorCode transpose(MPI_Comm comm);
  /// x = M b, or, after transpose(), M^T b: A^T, transposed solves, sequences backwards. Allocates nothing.
  PetscErrorCode apply(Mat A, Vec b, Vec x, bool transposed);
  /// `times` times x += M (b - A x), without M's own vectors in between: every group acts on x. Allocates nothing.
  /// @param work       a vector like b; overwritten
  /// @param x_is_zero  what x holds is not read
  /// @param exact      one solve is A^-1: x is solved for whatever it was, and refined once where there are more iterations
  /// @param splits     A is the matrix that was factored, lines as they are in it: what they leave out may be kept
  PetscErrorCode richardson(Mat A, Vec b, Vec x, Vec work, bool x_is_zero, PetscInt times, bool exact, bool splits);
  PetscErrorCode reset();
  /// The groups have new factors: what was made of the old values is let go.
  PetscErrorCode refreshed();
  /// Held by Richardson's iteration for what lines leave out; 0: nothing is kept.
  std::size_t rest_bytes() const { return rest_.bytes(); }

private:
  PetscErrorCode run(Mat A, const std::vector<int> &sequence, Vec b, Vec z, bool z_is_zero, bool transposed, Vec r);
  PetscErrorCode iterate(Mat A, Vec b, Vec x, bool x_is_zero, PetscInt64 times, bool transposed, Vec work);

  PetscErrorCode split(Vec b, Vec x, bool x_is_zero, PetscInt64 times, Vec work);

  LineRest      rest_;               ///< of the only group, made when it is worth its set-up
  PetscInt64    steps_          = 0; ///< of Richardson's iteration with it, or that could have been
  bool          has_transposed_ = false;
  Vec           residual_ = nullptr, correction_ = nullptr; ///< of a sequence; result of a group that does not hold all rows
  Vec           outer_ = nullptr, part_ = nullptr;          ///< residual before all sequences, result of one
  NativeVectors native_;
};

} // namespace ribbon::petsc

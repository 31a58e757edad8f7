// SPDX-License-Identifier: BSD-2-Clause
/// @file split_kernels.hpp  What a splitting computes from the numbers of its matrices, in the memory where these are.
#pragma once

#include "../compat.h"

#include <ribbon/direction_split.hpp>

#include <memory>
#include <vector>

namespace ribbon::petsc {

/// Whether a matrix is AIJ, of any kind.
PetscErrorCode IsAIJ(Mat A, PetscBool *is);

/// The diagonal and the off-diagonal block of AIJ, borrowed; the latter may be null.
PetscErrorCode GetBlocks(Mat aij, Mat (&block)[2], const PetscInt **columns);

/// Interface; the kernels of ribbon/direction_split.hpp on a host or a device do the work. Not collective.
class SplitKernels {
public:
  virtual ~SplitKernels() = default;
  /// For matrices of the type of `aij`, and vectors of the type that belongs to it.
  static PetscErrorCode create(Mat aij, std::unique_ptr<SplitKernels> *kernels);

  /// How the entries of J couple (see Way), once for each pattern.
  struct Pattern {
    std::vector<std::uint16_t> ways[2]; ///< of the entries of the diagonal and of the off-diagonal block
    int                        components = 1, first_component = 0, reach = 1;
  };
  virtual PetscErrorCode set_pattern(const Pattern &pattern) = 0;

  /// Bit a: some entry of J along axis a is not zero.
  virtual PetscErrorCode coupling_axes(Mat J, unsigned *axes) = 0;

  struct Task {
    Mat              J = nullptr, mass_matrix = nullptr; ///< the latter may be null
    Vec              mass  = nullptr;                    ///< 0 in algebraic rows
    PetscScalar      shift = 0;
    std::vector<int> axes;            ///< of the directions
    std::vector<Mat> parts;           ///< couplings of algebraic rows (may be null), A_1 .. A_D
    Vec              scale = nullptr; ///< s_b; may be null
  };
  /// Compares the parts with what J asks for, or writes them, and the scale.
  virtual PetscErrorCode split(const Task &task, bool write, SplitCounts *counts) = 0;

  /// scale_algebraic_rows() of a matrix that the application made. `differs`: where nothing is written.
  virtual PetscErrorCode scale_algebraic(Mat from, Vec mass, Mat to, bool write, bool *differs) = 0;
  /// P = s M - a A, -A in algebraic rows; without s M where not `diagonal`. P has the pattern of A.
  virtual PetscErrorCode shifted(Mat A, Vec mass, bool diagonal, PetscReal s, PetscReal a, Mat P) = 0;
  /// mass = 0 in rows that have a diagonal entry alone, and have one.
  virtual PetscErrorCode mark_diagonal_rows(Mat A, Vec mass) = 0;
  /// Largest sum of |A_ij| of a row of this rank where mass is not 0.
  virtual PetscErrorCode largest_row_sum(Mat A, Vec mass, double *sum) = 0;
};

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file split_kernels.hpp  What a splitting computes from the numbers of its matrices, in
///   the memory where these are.
#pragma once

#include "../support/aij.hpp"

#include <ribbon/splitting/band_shapes.hpp>
#include <ribbon/splitting/direction_bands.hpp>

#include <memory>
#include <vector>

namespace ribbon::petsc {

class GivenBands;

/// Interface; the kernels of ribbon/splitting/direction_split.hpp on a host or a device do
/// the work. Not collective.
class SplitKernels {
public:
  virtual ~SplitKernels() = default;
  /// For matrices of the type of `aij`, and vectors of the type that belongs to it.
  static PetscErrorCode create(Mat aij, std::unique_ptr<SplitKernels> *kernels);

  /// How the entries of J couple (see Way), once for each pattern.
  struct Pattern {
    std::vector<std::uint16_t> ways[2]; ///< of the entries of the diagonal and of the off-diagonal block
    int                        components = 1, first_component = 0, reach = 1;
    /// with it the ways of the diagonal block are found where J lives
    const GridBox *box = nullptr;
  };
  /// @param unsorted  the first row whose columns do not ascend, where there is a box, -1: there is none
  virtual PetscErrorCode set_pattern(Mat J, const Pattern &pattern, PetscInt64 *unsorted) = 0;

  /// Bit a: some entry of J along axis a is not zero; `axes`: those that the grid has.
  virtual PetscErrorCode coupling_axes(Mat J, unsigned grid, unsigned *axes) = 0;

  struct Task {
    Mat              J = nullptr, mass_matrix = nullptr; ///< the latter may be null
    Vec              mass   = nullptr;                   ///< 0 in algebraic rows; null: ones
    PetscScalar      shift  = 0;
    PetscReal        factor = 1; ///< J is this times the matrix
    std::vector<int> axes;       ///< of the directions
    /// couplings of algebraic rows (may be null), A_1 .. A_D (may be null, too)
    std::vector<Mat> parts;
    Vec              scale = nullptr; ///< s_b; may be null
    unsigned         bands = 0;       ///< bit d: direction d is kept as bands; needs a box
  };
  /// Compares the parts with what J asks for, or writes them, and the scale.
  virtual PetscErrorCode split(const Task &task, bool write, SplitCounts *counts) = 0;

  /// The shapes that the bands of all directions need on this rank; those of the first
  /// few rows alone where `few`.
  virtual PetscErrorCode band_shapes(const Task &task, bool few, FoundShapes *found) = 0;
  /// Bands of these shapes, without values: one matrix for all lines to begin with.
  virtual PetscErrorCode begin_bands(const Task &task, const BandShape (&shapes)[3]) = 0;
  /// Brings bands up to date; `misfit`: directions whose form J does not fit, which are left as they were.
  virtual PetscErrorCode refresh_bands(const Task &task, BandCounts *counts) = 0;
  /// Makes them anew, whichever form that gives.
  virtual PetscErrorCode extract_bands(const Task &task, const BandShape (&shapes)[3],
                                       BandCounts *counts) = 0;
  /// P = s M - a A_d as PC line takes it, until the next change of the bands.
  virtual std::unique_ptr<GivenBands> shifted_bands(int d, PetscReal s, PetscReal a) = 0;

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

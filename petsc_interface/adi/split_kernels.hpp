// SPDX-License-Identifier: BSD-2-Clause
/// @file split_kernels.hpp  Computations of a splitting with the entries of its matrices, in their memory.
#pragma once

#include "../support/aij.hpp"

#include <ribbon/splitting/band_shapes.hpp>
#include <ribbon/splitting/direction_bands.hpp>

#include <memory>
#include <vector>

namespace ribbon::petsc {

class GivenBands;

/// Interface. The kernels of ribbon/splitting/direction_split.hpp implement it on a host or a device. Not
/// collective.
class SplitKernels {
public:
  virtual ~SplitKernels() = default;
  /// For matrices of the type of `aij`, and vectors of the corresponding type.
  static PetscErrorCode create(Mat aij, std::unique_ptr<SplitKernels> *kernels);

  /// The couplings of the entries of J (see Way), once for each pattern.
  struct Pattern {
    std::vector<std::uint16_t> ways[2]; ///< of the entries of the diagonal and the off-diagonal block
    int                        components = 1, first_component = 0, reach = 1;
    /// if set, the ways of the diagonal block are found in the memory of J
    const GridBox *box = nullptr;
  };
  /// @param unsorted  with a box: the first row whose columns do not ascend, -1: no such row
  virtual PetscErrorCode set_pattern(Mat J, const Pattern &pattern, PetscInt64 *unsorted) = 0;

  /// Bit a: some entry of J along axis a is not zero. `grid`: the axes of the grid.
  virtual PetscErrorCode coupling_axes(Mat J, unsigned grid, unsigned *axes) = 0;

  struct Task {
    Mat              J = nullptr, mass_matrix = nullptr; ///< the latter may be null
    Vec              mass   = nullptr;                   ///< 0 in algebraic rows; null: ones
    PetscScalar      shift  = 0;
    PetscReal        factor = 1; ///< J is this times the matrix
    std::vector<int> axes;       ///< of the directions
    /// couplings of algebraic rows (may be null), then A_1 .. A_D (may be null)
    std::vector<Mat> parts;
    Vec              scale = nullptr; ///< s_b; may be null
    unsigned         bands = 0;       ///< bit d: direction d is stored as bands; needs a box
  };
  /// The convection of the rows of this rank (not with a mass matrix).
  virtual PetscErrorCode convection(const Task &task, Convection *sum) = 0;
  /// Compares the parts and the scale with those of J, or writes them.
  virtual PetscErrorCode split(const Task &task, bool write, SplitCounts *counts) = 0;

  /// The shapes that the bands of all directions need on this rank. `few`: only those of the first few
  /// rows.
  virtual PetscErrorCode band_shapes(const Task &task, bool few, FoundShapes *found) = 0;
  /// Creates bands of these shapes, without values, with one matrix for all lines.
  virtual PetscErrorCode begin_bands(const Task &task, const BandShape (&shapes)[3]) = 0;
  /// Updates the bands. `misfit`: directions whose form does not fit J, which do not change.
  virtual PetscErrorCode refresh_bands(const Task &task, BandCounts *counts) = 0;
  /// Creates the bands again, in the form that J requires.
  virtual PetscErrorCode extract_bands(const Task &task, const BandShape (&shapes)[3],
                                       BandCounts *counts) = 0;
  /// P = s M - a A_d as PC line reads it. Valid until the next change of the bands.
  virtual std::unique_ptr<GivenBands> shifted_bands(int d, PetscReal s, PetscReal a) = 0;

  /// Bands of `lines` lines, from the host, as PC line reads them.
  virtual std::unique_ptr<GivenBands> given_bands(const Bands<Scalar, Kokkos::HostSpace> &bands,
                                                  const LineCouplings &couplings, std::int64_t lines) = 0;

  /// scale_algebraic_rows() of a matrix of the application. `differs`: the result if nothing is written.
  virtual PetscErrorCode scale_algebraic(Mat from, Vec mass, Mat to, bool write, bool *differs) = 0;
  /// P = s M - a A, and -A in algebraic rows; without s M unless `diagonal`. P has the pattern of A.
  virtual PetscErrorCode shifted(Mat A, Vec mass, bool diagonal, PetscReal s, PetscReal a, Mat P) = 0;
  /// mass = 0 in rows with a nonzero diagonal entry alone.
  virtual PetscErrorCode mark_diagonal_rows(Mat A, Vec mass) = 0;
  /// Largest sum of |A_ij| over the rows of this rank with a nonzero mass.
  virtual PetscErrorCode largest_row_sum(Mat A, Vec mass, double *sum) = 0;
};

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file multifrontal.hpp  What a matrix factored by the solver type multifrontal holds.
#pragma once

#include "../support/native_vectors.hpp"
#include "chain_factor.hpp"
#include "equilibrate.hpp"
#include "symmetric_copy.hpp"
#include "zero_free_copy.hpp"

#include <ribbon_petsc/ribbon.h>

namespace ribbon::petsc {

struct MultifrontalFactor {
  PetscInt                     leaf_size = 0, refine = 0;
  MatMultifrontalPivot         pivot      = MAT_MULTIFRONTAL_PIVOT_QR;
  PetscReal                    zero_pivot = 0;
  PetscViewer                  viewer     = nullptr;
  PetscViewerFormat            format     = PETSC_VIEWER_DEFAULT;
  PetscObjectId                matrix     = 0; ///< whose pattern the tree was made for
  PetscObjectState             nonzeros   = 0; ///< and when
  PetscLogDouble               entries    = 0; ///< of all ranks, where it has blocks
  PetscInt                     steps      = 0; ///< of refinement, as the last factorization was told
  ChainPattern                 pattern;
  std::unique_ptr<ChainFactor> factor;                 ///< null on ranks without rows of it
  bool                         on_device      = false; ///< this rank's factors
  bool                         some_on_device = false; ///< those of any rank
  ChainReport                  report;
  MPI_Comm                     active = MPI_COMM_NULL; ///< ranks that have rows, in their order
  Mat                          aij    = nullptr;       ///< the matrix as AIJ: itself, or a copy
  /// the same without the zeros that it stores, where these would widen the band
  Mat          compact = nullptr;
  ZeroFreeCopy places; ///< its entries
  /// whether every factorization looks for scales of columns, since one before had some
  bool tries_scales  = false;
  bool was_looked_at = false; ///< for these, at least once
  /// band LU saw small columns of U, and the matrix has none: it is not asked again
  bool has_small_rows = false;
  bool exchanges      = false; ///< band LU is what factors, with rows as they are
  /// bits that rows were apart on a device where nothing was found to be scaled
  int  even_rows = 0;
  bool is_scaled = false; ///< whether `scaled` is what was factored, with its rows and columns
  /// `gathered` has the numbers of the matrix, not scaled, that is being factored
  bool          has_gathered = false;
  Scales        scales, gathered_scales; ///< the latter of all rows, on rank 0, where these are gathered
  Mat           scaled    = nullptr;     ///< scales of the rows times the matrix times those of the columns
  Vec           row_scale = nullptr, column_scale = nullptr, scaled_b = nullptr; ///< where there are such
  Mat           gathered = nullptr;                                              ///< all rows, on rank 0
  GatherRoom    gather_room;
  SymmetricCopy from_symmetric;     ///< where `aij` is a copy of an SBAIJ matrix
  Mat           turned   = nullptr; ///< the last B^T of MatMatTransposeSolve()
  VecScatter    to_first = nullptr; ///< vectors to rank 0
  Vec           all_b = nullptr, all_x = nullptr;
  /// where solutions are refined
  Vec residual = nullptr, correction = nullptr;
  /// where nothing is pivoted
  Vec probe_u = nullptr, probe_v = nullptr, probe_x = nullptr, probe_b = nullptr, probe_r = nullptr;
  /// where solutions of other types are refined
  NativeVectors native;
  bool          is_factored = false;
  /// what the last factorization was probed for, or -1
  PetscReal backward_error = -1, rcond = -1;
  PetscInt  inertia[3] = {
     -1, -1, -1}; ///< eigenvalues below zero, zero and above, where -mat_multifrontal_view counted them
  const char *refused = nullptr; ///< why factors without a zero pivot are none
};

inline MultifrontalFactor *Data(Mat F)
{
  return static_cast<MultifrontalFactor *>(F->data);
}

/// Drops what factorizations made; the options stay.
PetscErrorCode ResetMultifrontal(Mat F);
/// Reads -mat_multifrontal_...
PetscErrorCode SetMultifrontalFromOptions(Mat F);
/// Sets the operations that factor and solve.
void SetFactorOperations(Mat F);
void SetSolveOperations(Mat F);
/// The matrix whose factors there are: the scaled copy, or the matrix.
inline Mat FactoredMatrix(const MultifrontalFactor *f)
{
  return f->is_scaled ? f->scaled : f->aij;
}

/// Registers the solver type for all matrix types.
PetscErrorCode RegisterMultifrontal();

} // namespace ribbon::petsc

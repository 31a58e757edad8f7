// SPDX-License-Identifier: BSD-2-Clause
/// @file multifrontal.hpp  Context of a matrix factored by the solver type multifrontal.
#pragma once

#include "../support/native_vectors.hpp"
#include "chain_factor.hpp"
#include "equilibrate.hpp"
#include "symmetric_copy.hpp"
#include "zero_free_copy.hpp"

#include <ribbon_petsc/matsolvermultifrontal.h>

namespace ribbon::petsc {

struct MultifrontalFactor {
  PetscInt                     leaf_size = 0, refine = 0;
  MatMultifrontalPivot         pivot      = MAT_MULTIFRONTAL_PIVOT_QR;
  PetscReal                    zero_pivot = 0;
  PetscViewer                  viewer     = nullptr;
  PetscViewerFormat            format     = PETSC_VIEWER_DEFAULT;
  PetscObjectId                matrix     = 0; ///< matrix for whose pattern the tree was created
  PetscObjectState             nonzeros   = 0; ///< its nonzero state then
  PetscLogDouble               entries    = 0; ///< of all ranks, if it has blocks
  PetscInt                     steps      = 0; ///< steps of refinement at the last factorization
  ChainPattern                 pattern;
  std::unique_ptr<ChainFactor> factor;                 ///< null on ranks without rows
  bool                         on_device      = false; ///< factors of this rank
  bool                         some_on_device = false; ///< factors of any rank
  ChainReport                  report;
  MPI_Comm                     active = MPI_COMM_NULL; ///< ranks with rows, in their order
  Mat                          aij    = nullptr;       ///< the matrix as AIJ: itself, or a copy
  /// the same without stored zeros, if these would widen the band
  Mat          compact = nullptr;
  ZeroFreeCopy places; ///< places of its entries
  /// every factorization searches for scales of columns, because an earlier one needed them
  bool tries_scales  = false;
  bool was_looked_at = false; ///< the search ran at least once
  /// band LU found small columns of U, but the matrix has none: its columns are not searched again
  bool has_small_rows = false;
  bool exchanges      = false; ///< band LU factors rows as they are
  /// bits by which rows on a device differed when no scales were necessary
  int  even_rows = 0;
  bool is_scaled = false; ///< `scaled` was factored, with its rows and columns
  /// `gathered` has the entries of the current matrix, not scaled
  bool          has_gathered = false;
  Scales        scales, gathered_scales; ///< the latter of all rows, on rank 0, if gathered
  Mat           scaled    = nullptr;     ///< row scales times the matrix times column scales
  Vec           row_scale = nullptr, column_scale = nullptr, scaled_b = nullptr; ///< if there are scales
  Mat           gathered = nullptr;                                              ///< all rows, on rank 0
  GatherRoom    gather_room;
  SymmetricCopy from_symmetric;     ///< if `aij` is a copy of an SBAIJ matrix
  Mat           turned   = nullptr; ///< the last B^T of MatMatTransposeSolve()
  VecScatter    to_first = nullptr; ///< vectors to rank 0
  Vec           all_b = nullptr, all_x = nullptr;
  /// if solutions are refined
  Vec residual = nullptr, correction = nullptr;
  /// without pivoting
  Vec probe_u = nullptr, probe_v = nullptr, probe_x = nullptr, probe_b = nullptr, probe_r = nullptr;
  /// to refine solutions of other vector types
  NativeVectors native;
  bool          is_factored = false;
  /// results of the last probe, or -1
  PetscReal backward_error = -1, rcond = -1;
  PetscInt  inertia[3] = {
     -1, -1, -1}; ///< negative, zero and positive eigenvalues, if -mat_multifrontal_view counted them
  const char *refused = nullptr; ///< why factors without a zero pivot are rejected
};

inline MultifrontalFactor *Data(Mat F)
{
  return static_cast<MultifrontalFactor *>(F->data);
}

/// Deletes the results of factorizations, but not the options.
PetscErrorCode ResetMultifrontal(Mat F);
/// Reads the options -mat_multifrontal_...
PetscErrorCode SetMultifrontalFromOptions(Mat F);
/// Sets the operations that factor and solve.
void SetFactorOperations(Mat F);
void SetSolveOperations(Mat F);
/// The matrix that was factored: the scaled copy, or the matrix.
inline Mat FactoredMatrix(const MultifrontalFactor *f)
{
  return f->is_scaled ? f->scaled : f->aij;
}

/// Registers the solver type for all matrix types.
PetscErrorCode RegisterMultifrontal();

} // namespace ribbon::petsc

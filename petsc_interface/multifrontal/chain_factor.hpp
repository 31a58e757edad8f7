// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_factor.hpp  The factors of a chain on the ranks that have its rows, in the memory of the
///   matrix.
#pragma once

#include "chain_pattern.hpp"

#include <ribbon/chain_solver.hpp>
#include <ribbon/multifrontal/host/inertia.hpp>

#include <complex>
#include <limits>
#include <memory>
#include <string>

namespace ribbon::petsc {

/// Results of a factorization, first those of this rank alone.
struct ChainReport {
  static constexpr int none_apart = -100000;

  FactorStatus status         = FactorStatus::ok;
  PetscReal    smallest_pivot = 1;  ///< |R_jj| relative to the largest entry of column j
  PetscReal    doubtful_pivot = 1;  ///< ChainSolver::doubtful_pivot()
  PetscInt     column         = -1; ///< of the matrix: j, or the column of a NaN
  /// elimination met NaN between ranks, and another rank sent it
  bool        passed_on   = false;
  PetscReal   log_abs_det = 0;
  double      bytes       = 0;                      ///< of this rank
  PetscInt    leaves = 0, levels = 0, launches = 0; ///< of the first rank with rows
  const char *method = "", *space = "";
  /// ChainSolver::has_small_columns(); false without pivoting, where elimination does not depend on the
  /// units of columns
  bool has_small_columns = false;
  int  rows_apart[2] = {none_apart, none_apart}; ///< exponents of the largest entries of rows with several
                                                 ///< entries: the largest one, and minus the smallest one
  bool rows_are_steep = false; ///< of band LU, instead of rows_apart: multifrontal::rows_are_steep()
  bool is_tiny        = false; ///< ChainSolver::is_tiny()
  /// of band LU: largest entry of U relative to that of the matrix
  double growth = std::numeric_limits<double>::quiet_NaN();
};

/// Interface to the factors. ChainFactorOn<Exec> implements it on a host or a device. All functions are
/// collective over the ranks with rows (`active`).
class ChainFactor {
public:
  virtual ~ChainFactor() = default;
  static std::unique_ptr<ChainFactor> create(bool on_device);

  /// Whether elimination pivots. Without pivoting, ranks that couple need at least 2 max(kl, ku) rows each.
  /// Set it before symbolic().
  bool pivots = true;
  /// numeric() keeps the band for inertia(). Set it before symbolic().
  bool keeps_band = false;
  /// Creates the tree.
  /// @param pattern  gathered: the rows are those of this rank alone
  /// @param first    first row of this rank
  /// @param rows     rows of this rank
  virtual PetscErrorCode symbolic(MPI_Comm active, const ChainPattern &pattern, PetscInt first, PetscInt rows,
                                  const ChainSolverOptions &options) = 0;
  /// @param local    sequential AIJ
  /// @param outside  columns of other ranks, or null
  /// @param columns  global numbers of the columns of `outside`
  virtual PetscErrorCode numeric(Mat local, Mat outside, const PetscInt *columns, ChainReport *report) = 0;
  /// b and x are arrays in host or device memory, column by column.
  virtual PetscErrorCode solve(const PetscScalar *b, PetscMemType where_b, PetscInt ldb, PetscScalar *x,
                               PetscMemType where_x, PetscInt ldx, PetscInt columns, bool transposed) = 0;
  /// to(rows, columns) = b(columns, rows)^T, both in host memory or both on the device; `to` has no gaps.
  virtual PetscErrorCode transpose(const PetscScalar *b, PetscMemType where, PetscInt ldb, PetscInt rows,
                                   PetscInt columns, PetscScalar *to) = 0;
  /// Counts the signs of the eigenvalues of the last factored matrix, the same on all ranks.
  /// @param refusal  why they cannot be counted
  virtual PetscErrorCode inertia(Inertia *inertia, std::string *refusal) = 0;
  /// det / |det| of the rows of this rank if elimination computes it (band LU), otherwise NaN. Not
  /// collective.
  virtual std::complex<double> det_sign() const = 0;
};

} // namespace ribbon::petsc

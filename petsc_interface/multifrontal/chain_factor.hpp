// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_factor.hpp  The factors of a chain on the ranks that have its rows, in the
///   memory where the matrix lives.
#pragma once

#include "chain_pattern.hpp"

#include <ribbon/chain_solver.hpp>
#include <ribbon/multifrontal/host/inertia.hpp>

#include <complex>
#include <limits>
#include <memory>
#include <string>

namespace ribbon::petsc {

/// What a factorization found, at first on this rank alone.
struct ChainReport {
  static constexpr int none_apart = -100000;

  FactorStatus status         = FactorStatus::ok;
  PetscReal    smallest_pivot = 1;  ///< |R_jj| over the largest entry of column j
  PetscReal    doubtful_pivot = 1;  ///< ChainSolver::doubtful_pivot()
  PetscInt     column         = -1; ///< of the matrix, j, or where NaN was met
  /// NaN was met where pieces of ranks join, and came from another rank's
  bool        passed_on   = false;
  PetscReal   log_abs_det = 0;
  double      bytes       = 0;                      ///< of this rank
  PetscInt    leaves = 0, levels = 0, launches = 0; ///< of the first rank that has rows
  const char *method = "", *space = "";
  /// ChainSolver::has_small_columns(); false without pivots, where elimination does not change by the units
  /// of columns
  bool has_small_columns = false;
  int  rows_apart[2]     = {none_apart,
                            none_apart}; ///< exponent of the largest row, and minus that of the smallest, of
                                         ///< the largest entries of rows with two and more
  bool is_tiny = false;                  ///< ChainSolver::is_tiny()
  /// of band LU: largest entry of U over that of the matrix
  double growth = std::numeric_limits<double>::quiet_NaN();
};

/// Interface to the factors; ChainFactorOn<Exec> does the work on a host or a device. All functions are
/// collective over the ranks that have rows (`active`).
class ChainFactor {
public:
  virtual ~ChainFactor() = default;
  static std::unique_ptr<ChainFactor> create(bool on_device);

  /// Whether elimination is pivoted; without, ranks that couple have 2 max(kl, ku) rows each at
  /// least. Before symbolic().
  bool pivots = true;
  /// Has numeric() keep the band for inertia(). Before symbolic().
  bool keeps_band = false;
  /// Makes the tree.
  /// @param pattern  gathered: the rows are those of this rank alone
  /// @param first  first row of this rank
  /// @param rows  rows of this rank
  virtual PetscErrorCode symbolic(MPI_Comm active, const ChainPattern &pattern, PetscInt first, PetscInt rows,
                                  const ChainSolverOptions &options) = 0;
  /// @param local  sequential AIJ @param outside  columns of other ranks, or null @param
  ///   columns  their global numbers
  virtual PetscErrorCode numeric(Mat local, Mat outside, const PetscInt *columns, ChainReport *report) = 0;
  /// Arrays in host or device memory, by columns.
  virtual PetscErrorCode solve(const PetscScalar *b, PetscMemType where_b, PetscInt ldb, PetscScalar *x,
                               PetscMemType where_x, PetscInt ldx, PetscInt columns, bool transposed) = 0;
  /// to(rows, columns) = b(columns, rows)^T, both in host memory or both on the device; `to` has no gaps.
  virtual PetscErrorCode transpose(const PetscScalar *b, PetscMemType where, PetscInt ldb, PetscInt rows,
                                   PetscInt columns, PetscScalar *to) = 0;
  /// Signs of the eigenvalues of what was factored last, the same on all ranks.
  /// @param refusal  why they cannot be told
  virtual PetscErrorCode inertia(Inertia *inertia, std::string *refusal) = 0;
  /// det / |det| of this rank's rows, as far as elimination tells it (band LU), else NaN. Not collective.
  virtual std::complex<double> det_sign() const = 0;
};

} // namespace ribbon::petsc

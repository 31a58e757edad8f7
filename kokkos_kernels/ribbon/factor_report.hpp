// SPDX-License-Identifier: BSD-2-Clause
/// @file factor_report.hpp  The result of a factorization: status, pivots, condition and accuracy.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ribbon {

enum class Algorithm; // algorithm/name.hpp

enum class FactorStatus {
  ok,
  zero_pivot, ///< a pivot no larger than the tolerance times the largest entry of its row
  not_finite, ///< NaN or Inf among the entries or the factors
  unsound     ///< the algorithm is inaccurate for this matrix (found by the probe)
};

/// Every algorithm sets status, algorithm, used, reason, probe_error, rcond and bytes, and the pivot data
/// that its elimination provides:
///
///     smallest_pivot, line, row   All algorithms. If lines (or classes) are bad: those of the first bad one,
///                                 with its smallest pivot or its first entry that is not finite. Algorithm
///                                 partition: those of the first bad segment, else tail, else reduced system,
///                                 with the row of the longer line.
///     log_abs_det, det_sign       If few matrices are eliminated on the host: shared bands and classes, but
///                                 not with partition, nor with cyclic reductions other than toeplitz_cr.
///                                 Otherwise NaN.
///     growth                      Of these, the algorithms without pivoting, and toeplitz_cr. Otherwise NaN.
///
/// After a bad pivot there are no test solves: probe_error and rcond are NaN, and log_abs_det, if
/// available, is -inf for a zero pivot and NaN for a pivot that is not finite. If accuracy is proved
/// (certificate.hpp, row_dominance.hpp), probe_error is a bound for every right-hand side, and rcond is a
/// lower bound. For lines that are eliminated in flight, smallest_pivot is a lower bound, too, if the
/// diagonal dominates all rows. With LineSolverOptions::probe "never", probe_error and rcond are NaN
/// without a proof. If the probe finds a factorization unsound, `line` is the line with the largest
/// backward error and row is -1.
///
/// Pivots, condition and backward errors are those of the matrices with rows and columns scaled by powers
/// of two (column_scale.hpp). They do not depend on the units of equations and unknowns.
struct FactorReport {
  FactorStatus status = FactorStatus::ok;
  /// "one_pass", "one_pass with correction", "thomas", "pivoted one_pass" or "pivoted"
  std::string algorithm = "none";
  /// the algorithm without its variant; automatic: nothing was factored
  Algorithm   used      = {};
  bool        corrected = false; ///< solves refine the reduced system ("with correction")
  std::string reason;            ///< reason for the choice of this algorithm
  /// smallest |pivot| / max|entry of its row|; 0 if it is not finite
  double smallest_pivot = 1;
  /// line (or class) and row of that pivot, or of the first bad entry
  std::int64_t line = -1;
  std::int64_t row  = -1;
  /// largest entry during elimination / max|entry of its row|; NaN if not measured
  double growth = 1;
  /// reciprocal condition estimate in the maximum norm: smallest ||b|| / (||A|| ||x||) of the probe
  double       rcond      = 1;
  std::int64_t rcond_line = -1; ///< line (or class) with this rcond; -1 if rcond is 1
  /// log |det| of the matrix, summed over classes; NaN if the host eliminated no matrix (determinants.hpp
  /// computes it for every matrix)
  double log_abs_det = 0;
  /// det / |det|, multiplied over classes; 0 if a pivot is zero; NaN like log_abs_det, and for chains
  std::complex<double> det_sign = 1;
  /// lines, or uncoupled parts of lines, that are solved with zero mean (LineSolverOptions::singular)
  std::int64_t singular_lines = 0;
  /// largest backward error ||r|| / (||A|| ||x|| + ||b||) of the probe right-hand sides
  double      probe_error = 0;
  std::size_t bytes       = 0; ///< memory for factors and tables

  /// Lines (or classes), ascending, that a failed factorization of several matrices does not solve. Their
  /// solutions are not a number (NaN); the others are solved. If a line fails, lines whose rcond is below
  /// the limit of pivots count as failed, too. Empty if all lines share one matrix.
  std::vector<std::int64_t> failed;

  bool ok() const { return status == FactorStatus::ok; }
};

} // namespace ribbon

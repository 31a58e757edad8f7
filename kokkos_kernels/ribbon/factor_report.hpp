// SPDX-License-Identifier: BSD-2-Clause
/// @file factor_report.hpp  What a factorization found out about its matrices.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ribbon {

enum class FactorStatus {
  ok,
  zero_pivot, ///< a pivot no larger than the tolerance times the largest entry of its row
  not_finite, ///< NaN or Inf among the entries or the factors
  unsound     ///< the algorithm loses the digits of this matrix (found by the probe)
};

/// Every algorithm fills in status, algorithm, reason, probe_error, rcond and bytes, and what its
/// elimination tells of pivots:
///
///     smallest_pivot, line, row   all. Where lines (or classes) are bad, those of the first bad one, the
///                                 smallest pivot of it or its first entry that is not finite. By partition
///                                 those of the first bad piece, else tail, else reduced system, with the
///                                 row of the longer line.
///     log_abs_det, det_sign       where few matrices are eliminated on the host: shared bands and classes,
///                                 but not by partition and the cyclic reductions, toeplitz_cr excepted. NaN
///                                 elsewhere.
///     growth                      of these without pivoting and toeplitz_cr. NaN elsewhere.
///
/// A factorization that met a bad pivot solved nothing: its probe_error and rcond are NaN, log_abs_det, where
/// it is told, is -inf for a pivot of zero and NaN for one that is not finite. Where accuracy is proved
/// (certificate.hpp, row_dominance.hpp) probe_error is the bound that holds for every right-hand side, and
/// rcond a lower bound. Of lines that are eliminated in flight smallest_pivot is a lower bound, too, if the
/// diagonal dominates all rows. With LineSolverOptions::probe "never" they are NaN where nothing is proved. A
/// factorization that the probe finds unsound names the line with the largest backward error, row -1.
///
/// Pivots, condition and backward errors are those of the matrices with rows and columns scaled by powers of
/// two (column_scale.hpp): they do not depend on the units of equations and unknowns.
struct FactorReport {
  FactorStatus status = FactorStatus::ok;
  /// "one_pass", "one_pass with correction", "thomas", "pivoted one_pass" or "pivoted"
  std::string algorithm = "none";
  std::string reason; ///< why this algorithm
  /// smallest |pivot| / max|entry of its row|; 0 where it is not finite
  double smallest_pivot = 1;
  /// line (or class) and row of that pivot, or of the first bad entry
  std::int64_t line = -1;
  std::int64_t row  = -1;
  /// largest entry met during elimination / max|entry of its row|; NaN where nobody looks
  double growth = 1;
  /// reciprocal condition estimate in the maximum norm: smallest ||b|| / (||A|| ||x||) of the probe
  double       rcond      = 1;
  std::int64_t rcond_line = -1; ///< line (or class) with this rcond; -1 where rcond is 1
  /// log |det| of the matrix, summed over classes; NaN where the host eliminated none
  /// (determinants.hpp has it for every matrix)
  double log_abs_det = 0;
  /// det / |det|, multiplied over classes; 0 where a pivot is zero, NaN as log_abs_det and for chains
  std::complex<double> det_sign = 1;
  /// lines, or pieces of lines, that are solved with zero mean (LineSolverOptions::singular)
  std::int64_t singular_lines = 0;
  /// largest backward error ||r|| / (||A|| ||x|| + ||b||) of the probe right-hand sides
  double      probe_error = 0;
  std::size_t bytes       = 0; ///< held for factors and tables

  /// Lines (or classes) that a failed factorization of several matrices does not solve, ascending. Their
  /// solutions are not a number (NaN); the others are solved. Next to one that fails, a line whose rcond is
  /// below the limit of pivots counts as failed, too. Empty where one matrix is that of all lines.
  std::vector<std::int64_t> failed;

  bool ok() const { return status == FactorStatus::ok; }
};

} // namespace ribbon

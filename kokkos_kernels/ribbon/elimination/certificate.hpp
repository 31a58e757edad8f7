// SPDX-License-Identifier: BSD-2-Clause
/// @file certificate.hpp  Bounds of accuracy and condition that an elimination computes while it runs,
///   without test solves.
///
/// Elimination without pivoting, A = L U, solves (A + E) x = b with |E| <= gamma |L| |U| (Higham, Accuracy
/// and Stability of Numerical Algorithms, 2002, Theorem 9.4). In a band with P diagonals on either side
/// every sum has at most P + 1 terms. Then gamma <= (3 P + 6) u, including reciprocals of pivots instead of
/// divisions. If all rows satisfy
///
///     sum_j (|L| |U|)_ij <= growth sum_j |a_ij|,                                                     (1)
///
/// the residual of every solve, relative to the sums of magnitudes of the rows, is at most growth gamma
/// ||x|| (maximum norm). This is the backward error that the probe (probe.hpp) measures, for every
/// right-hand side. Wide bands have longer sums and need less growth, so that the bound stays below the
/// limit of the probe.
///
/// Block tridiagonal matrices with blocks of B, eliminated unknown by unknown, are bands with P = 2 B - 1:
/// the row of an unknown reaches at most the B - 1 others of its element and the B of the next one.
///
/// The same elimination bounds the condition: |A^-1| <= M(U)^-1 M(L)^-1. The comparison matrix M(T) has the
/// magnitudes of the diagonal of T and minus those of its other entries (Higham, Theorem 8.12). One solve
/// with these matrices and the row sums of |A| gives an upper bound of ||A^-1 D||, D = diag(row sums). Its
/// reciprocal is a lower bound of the reciprocal condition number of D^-1 A. So a certificate proves that
/// the matrix is regular. The probe checks matrices without a certificate.
///
/// Norms in (1) need unknowns in the same units. A row whose diagonal entry is below 1/16 of its largest
/// entry is not certified, because some column may need a scale (column_scale.hpp). Blocks are certified in
/// units W of their components (component_units.hpp): read A W for A and W^-1 x for x. W changes U to U W
/// and does not change L.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// Certificate of all matrices of a batch that is eliminated without pivoting.
struct Certificate {
  static constexpr double most = 45; ///< largest certified error in units of roundoff, `sound` of LineSolver

  /// smallest lower bound of a reciprocal condition number; negative: not certified
  double       rcond = -1;
  std::int64_t line  = -1;   ///< the matrix it belongs to
  double       error = most; ///< largest backward error of a solve, in units of the unit roundoff

  /// Growth in (1) that is certified for P diagonals on either side: 7, 7, 6, 5, 4.3 ...
  KOKKOS_INLINE_FUNCTION static constexpr double growth(int P) { return P <= 2 ? 7 : 2 * most / (3 * P + 6); }
  /// Error bound of an elimination with this growth everywhere. The unit roundoff is 2 u.
  static constexpr double error_of(int P) { return P <= 2 ? growth(P) * (3 * P + 6) / 2 : most; }
};

} // namespace ribbon

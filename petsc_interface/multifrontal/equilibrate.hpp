// SPDX-License-Identifier: BSD-2-Clause
/// @file equilibrate.hpp  Scales of the rows and columns of a matrix, and the scaled copy.
#pragma once

#include "../support/compat.h"

#include <petscsf.h>

#include <vector>

namespace ribbon::petsc {

/// Scales r and c, powers of two, for which the largest entry of every row and column of r A c is about 1:
/// D. Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034.
struct Scales {
  /// the matrix needs scales in addition to the scales of rows in the elimination
  bool             differ = false;
  std::vector<int> row, column; ///< exponents, of the rows of this rank
  std::vector<int> outside;     ///< of columns of other ranks in which this rank has entries
  std::vector<int> near, far;   ///< work: exponents of the entries,
  std::vector<int> largest_of_row, largest_of_column, largest_outside;
  PetscSF          others = nullptr; ///< from the ranks with these columns

  /// Mean of the values of several couplings.
  struct Mean {
    double sum = 0, weight = 0;

    void   add(double value, double by = 1) { sum += by * value, weight += by; }
    double value() const { return weight > 0 ? sum / weight : 0; }
  };
  /// work: nonzero entries of a row, exponents of the diagonal,
  std::vector<int>    entries, diagonal;
  std::vector<double> units; ///< of rows relative to those of columns
  std::vector<Mean>   means;

  PetscErrorCode reset();
};

/// The scales of a matrix are searched if its rows differ by more than this number of bits. Rows of one
/// entry do not count.
inline constexpr int uneven_rows = 10;

/// Options of FindScales().
struct ScaleSearch {
  bool symmetric = false; ///< r = c, so that a symmetric matrix remains symmetric
  /// elimination exchanges rows by size without scaling them: rows that differ by uneven_rows bits are
  /// scaled if some would be exchanged
  bool                             exchanges = false;
  const std::vector<std::int64_t> *order =
    nullptr; ///< of the rows of this rank along the chain; null or empty: as they are
};

/// Finds scales on the host. Columns have scales in two cases. First, if after the scaling of rows all
/// entries of a column are below 1/16 (multifrontal::least_of_column). Second, if rows differ by more than
/// 2^uneven_rows, and so do the units of unknowns along a chain (FindUnits()); single columns need not show
/// these. If rows and units are even after the scaling of columns by their largest entries, these are the
/// only scales. Rows and columns of zeros have a scale of 1. Exponents are at most 1000 in size (single
/// precision: 120). Collective.
PetscErrorCode FindScales(Mat aij, const ScaleSearch &search, Scales *scales);

/// The same for a matrix whose rows are gathered on rank 0, which finds the scales along the chain.
/// @param of_all  buffer of rank 0
PetscErrorCode FindScalesOnFirstRank(Mat aij, Mat gathered, const ScaleSearch &search, Scales *of_all,
                                     Scales *scales);

/// copy = r A c, of the same type and pattern; created if it is null. Collective.
PetscErrorCode CopyScaled(Mat aij, const Scales &scales, Mat *copy);

/// v_i = 2^exponents_i.
PetscErrorCode PutPowers(const std::vector<int> &exponents, Vec v);

} // namespace ribbon::petsc

// SPDX-License-Identifier: BSD-2-Clause
/// @file equilibrate.hpp  Scales of the rows and columns of a matrix, and the copy of it that has them.
#pragma once

#include "../support/compat.h"

#include <petscsf.h>

#include <vector>

namespace ribbon::petsc {

/// Scales r and c, powers of two, that bring the largest entry of every row and column of r A c to about 1:
/// D. Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034.
struct Scales {
  /// whether the matrix is to be scaled by more than what elimination does by rows
  bool             differ = false;
  std::vector<int> row, column; ///< exponents, of the rows of this rank
  std::vector<int> outside;     ///< of columns of other ranks that this one has entries in
  std::vector<int> near, far;   ///< room: exponents of the entries,
  std::vector<int> largest_of_row, largest_of_column, largest_outside;
  PetscSF          others = nullptr; ///< from the ranks that have these columns

  /// A mean of what several couplings say.
  struct Mean {
    double sum = 0, weight = 0;

    void   add(double value, double by = 1) { sum += by * value, weight += by; }
    double value() const { return weight > 0 ? sum / weight : 0; }
  };
  /// room: entries of a row that are not zero, exponents of the diagonal,
  std::vector<int>    entries, diagonal;
  std::vector<double> units; ///< of rows over those of columns
  std::vector<Mean>   means;

  PetscErrorCode reset();
};

/// Bits that the rows of a matrix may be apart before it is looked at: rows of one entry do not count.
inline constexpr int uneven_rows = 10;

/// What FindScales() is to find.
struct ScaleSearch {
  bool symmetric = false; ///< r = c, so that a symmetric matrix stays one
  /// rows are exchanged by size, as they are: rows that are uneven_rows apart are scaled where that would
  /// exchange some
  bool                             exchanges = false;
  const std::vector<std::int64_t> *order =
    nullptr; ///< of the rows of this rank along the chain; null, empty: their own
};

/// Finds them on the host. Columns get scales where, rows scaled, all entries of one are below 1/16
/// (multifrontal::least_of_column), or where rows are more than 2^uneven_rows apart and so are the units of
/// unknowns along a chain (FindUnits()), of which no column need show anything. Where the rows are even once
/// columns are scaled by their largest entries, and units then, that is all. Rows and columns of zeros have a
/// scale of 1; exponents are at most 1000 (single precision: 120) in size. Collective.
PetscErrorCode FindScales(Mat aij, const ScaleSearch &search, Scales *scales);

/// The same of a matrix whose rows rank 0 has all, which finds the scales along the chain.
/// @param of_all  room of rank 0
PetscErrorCode FindScalesOnFirstRank(Mat aij, Mat gathered, const ScaleSearch &search, Scales *of_all,
                                     Scales *scales);

/// copy = r A c, of the same type and pattern; made if it is null. Collective.
PetscErrorCode CopyScaled(Mat aij, const Scales &scales, Mat *copy);

/// v_i = 2^exponents_i.
PetscErrorCode PutPowers(const std::vector<int> &exponents, Vec v);

} // namespace ribbon::petsc

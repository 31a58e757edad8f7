// SPDX-License-Identifier: BSD-2-Clause
/// @file kronecker.hpp  Kronecker products of the matrices of all directions, or their inverses, applied in
///   one direction after another.
#pragma once

#include "dense.hpp"

#include <petscksp.h>

/// A_(d-1) (x) ... (x) A_0 or its inverse, for vectors whose entry i_0 + n_0 (i_1 + n_1 i_2) belongs to the
/// functions (or points) i_0, i_1, i_2 of the directions.
///
/// Direction k has a dense matrix with a column for every choice of the other indices (k + 1, ..., d - 1,
/// 0, ..., k - 1, the first fastest). A_k multiplies all its columns at once, or the solver of A_k solves
/// for all of them. The transpose is the dense matrix of the next direction. After the last direction it is
/// the result.
struct Kronecker {
  int dim        = 0;
  Mat A[3]       = {}; ///< of any shape; square if inverted
  KSP inverse[3] = {};
  Mat in[3]      = {}; ///< dense: columns of A_k x others
  Mat out[3]     = {}; ///< dense: rows of A_k x others
};

/// Stores references to A. Sets up inverses: preonly with LU in natural order, and the options with prefix
/// -direction_. One rank.
PetscErrorCode KroneckerCreate(int dim, const Mat A[], bool inverse, Kronecker *product);
PetscErrorCode KroneckerDestroy(Kronecker *product);
/// y = product x. Allocates nothing.
PetscErrorCode KroneckerApply(Kronecker &product, Vec x, Vec y);
/// The product as an AIJ matrix.
PetscErrorCode KroneckerAssemble(int dim, const Mat A[], Mat *C);

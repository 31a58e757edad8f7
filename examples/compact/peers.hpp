// SPDX-License-Identifier: BSD-2-Clause
/// @file peers.hpp  The same derivatives without Ribbon: a product with B and a library's tridiagonal solver.
#pragma once

#include "compact.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

using Index = std::int64_t;

/// Rows of A and B of a tridiagonal first derivative on open lines of n points, with ends of order 4.
struct TridiagonalRows {
  Index                    n = 0;
  std::vector<PetscScalar> lower, diagonal, upper; ///< n entries each; lower[0] and upper[n - 1] are 0
  /// Rows 0, 1, 2, any inner row, n - 3, n - 2, n - 1 of B: entry d multiplies u_(i + d - 3).
  std::array<std::array<PetscScalar, 7>, 7> product;
  int                                       reach = 1; ///< inner rows read u_(i - reach) to u_(i + reach)
};

/// @param h  distance of the points
TridiagonalRows OpenRows(const Scheme &scheme, Index n, PetscReal h);

/// dy/dx, dy/dy or dy/dz of all lines of a box of n^3 points, x fastest, in memory where the library works.
class Peer {
public:
  virtual ~Peer()                                                                = default;
  virtual const char *name() const                                               = 0;
  virtual void        apply(int direction, const PetscScalar *u, PetscScalar *y) = 0;
};

/// LAPACK gttrs on one core. Lines along y and z are transposed plane by plane, in the cache.
std::unique_ptr<Peer> MakeLapack(const TridiagonalRows &rows);
/// cuSPARSE gtsv2StridedBatch, which takes one matrix per line and contiguous lines. Arrays are transposed
/// for lines along y and z. Null without CUDA.
std::unique_ptr<Peer> MakeCusparse(const TridiagonalRows &rows);

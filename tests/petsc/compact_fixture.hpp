// SPDX-License-Identifier: BSD-2-Clause
/// @file compact_fixture.hpp  Grids with functions for the tests of Mat compact.
#pragma once

#include "fixture.hpp"

#include <ribbon_petsc/matcompact.h>

#include <cmath>

namespace test {

using Compact = Petsc;

inline const PetscReal turn = 2 * PETSC_PI;

inline std::string compact_view(Mat A)
{
  return printed([A](PetscViewer viewer) { return MatView(A, viewer); });
}

/// A DMDA on [0, 2 pi]^dim with uniform coordinates.
struct CompactDMDA {
  DM       da = nullptr;
  PetscInt dim, n[3] = {1, 1, 1}, dof, begin[3], local[3];
  bool     periodic;
  PetscInt points() const { return local[0] * local[1] * local[2]; }

  CompactDMDA(std::vector<PetscInt> size, PetscInt components, bool ring, std::vector<PetscInt> ranks = {})
      : dim(static_cast<PetscInt>(size.size())), dof(components), periodic(ring)
  {
    const DMBoundaryType b = ring ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    std::copy(size.begin(), size.end(), n);
    DMDACreate(PETSC_COMM_WORLD, &da);
    DMSetDimension(da, dim);
    DMDASetSizes(da, n[0], n[1], n[2]);
    DMDASetBoundaryType(da, b, b, b);
    DMDASetDof(da, dof);
    DMDASetStencilWidth(da, 1);
    ranks.resize(3, ranks.empty() ? PETSC_DECIDE : 1);
    DMDASetNumProcs(da, ranks[0], ranks[1], ranks[2]);
    DMSetFromOptions(da);
    DMSetUp(da);
    DMDASetUniformCoordinates(da, 0, turn, 0, turn, 0, turn);
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &local[0], &local[1], &local[2]);
  }
  CompactDMDA(const CompactDMDA &) = delete;
  ~CompactDMDA() { DMDestroy(&da); }

  /// Distance of the points along d.
  PetscReal h(int d) const { return turn / static_cast<PetscReal>(periodic ? n[d] : n[d] - 1); }

  /// A vector with the values f(x, weight), x the coordinate along d (shifted by `shift` points). The weight
  /// differs from line to line and from component to component.
  template <class F>
  Vec sample(int d, const F &f, PetscReal shift = 0) const
  {
    Vec          v;
    PetscScalar *a;
    DMCreateGlobalVector(da, &v);
    VecGetArrayWrite(v, &a);
    for (PetscInt p = 0; p < points(); ++p) {
      const PetscInt at[3]  = {begin[0] + p % local[0], begin[1] + p / local[0] % local[1],
                               begin[2] + p / local[0] / local[1]};
      PetscReal      weight = 1;
      for (int e = 0; e < 3; ++e)
        if (e != d) weight += static_cast<PetscReal>(0.1) * static_cast<PetscReal>(at[e]);
      for (PetscInt c = 0; c < dof; ++c)
        a[p * dof + c] =
          (weight + static_cast<PetscReal>(c)) * f((static_cast<PetscReal>(at[d]) + shift) * h(d));
    }
    VecRestoreArrayWrite(v, &a);
    return v;
  }
};

/// exp(sin x) and its derivatives.
inline PetscReal wave(int derivative, PetscReal x)
{
  const PetscReal f = std::exp(std::sin(x)), s = std::sin(x), c = std::cos(x);
  return derivative == 0 ? f : derivative == 1 ? f * c : f * (c * c - s);
}

/// max |a - b| / max |b|.
inline PetscReal difference(Vec a, Vec b)
{
  Vec       d;
  PetscReal norm, size;
  VecDuplicate(a, &d);
  VecWAXPY(d, -1, a, b);
  VecNorm(d, NORM_INFINITY, &norm);
  VecNorm(b, NORM_INFINITY, &size);
  VecDestroy(&d);
  return norm / size;
}

/// A Mat compact on a DMDA, and two vectors.
struct CompactMat {
  Mat A = nullptr;
  Vec u = nullptr, y = nullptr;

  CompactMat(const CompactDMDA &grid, MatCompactDirection direction, PetscInt derivative = 1,
             PetscInt order = 6)
  {
    MatCreate(PETSC_COMM_WORLD, &A);
    MatSetDM(A, grid.da);
    MatSetType(A, MATCOMPACT);
    MatCompactSetDirection(A, direction);
    MatCompactSetDerivative(A, derivative);
    MatCompactSetOrder(A, order);
    MatSetUp(A);
    DMCreateGlobalVector(grid.da, &u);
    VecDuplicate(u, &y);
    VecSetRandom(u, nullptr);
  }
  CompactMat(const CompactMat &) = delete;
  ~CompactMat()
  {
    MatDestroy(&A);
    VecDestroy(&u);
    VecDestroy(&y);
  }
};

/// The message of the first product.
inline std::string error_of(Mat A, Vec u, Vec y)
{
  last_error().clear();
  EXPECT_NE(static_cast<int>(MatMult(A, u, y)), 0);
  return last_error();
}

/// A scheme with its place in the table.
struct CompactCase {
  PetscInt            derivative, order;
  MatCompactStaggered staggered;
  bool                open; ///< has end rows
};
inline const CompactCase compact_cases[] = {
  {1, 4, MAT_COMPACT_STAGGERED_NONE, true},     {1, 6, MAT_COMPACT_STAGGERED_NONE, true},
  {1, 8, MAT_COMPACT_STAGGERED_NONE, true},     {1, 10, MAT_COMPACT_STAGGERED_NONE, true},
  {2, 4, MAT_COMPACT_STAGGERED_NONE, true},     {2, 6, MAT_COMPACT_STAGGERED_NONE, true},
  {2, 8, MAT_COMPACT_STAGGERED_NONE, true},     {2, 10, MAT_COMPACT_STAGGERED_NONE, true},
  {1, 6, MAT_COMPACT_STAGGERED_FORWARD, false}, {1, 6, MAT_COMPACT_STAGGERED_BACKWARD, false},
  {0, 6, MAT_COMPACT_STAGGERED_FORWARD, false}, {0, 6, MAT_COMPACT_STAGGERED_BACKWARD, false},
  {0, 6, MAT_COMPACT_STAGGERED_NONE, true}};

inline std::string name_of(const CompactCase &c, bool periodic)
{
  return "derivative " + std::to_string(c.derivative) + ", order " + std::to_string(c.order) + ", " +
         MatCompactStaggereds[c.staggered] + (periodic ? ", ring" : ", open");
}

/// Calls f(case, periodic) for all schemes.
template <class F>
void for_all_schemes(const F &f)
{
  for (const CompactCase &c : compact_cases)
    for (bool periodic : {true, false})
      if (periodic || c.open) {
        SCOPED_TRACE(name_of(c, periodic));
        f(c, periodic);
      }
}

} // namespace test

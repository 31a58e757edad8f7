// SPDX-License-Identifier: BSD-2-Clause
/// @file adi_bands.hpp  Jacobians of grids, and solves along their directions with bands and with matrices.
#pragma once

#include "adi_fixture.hpp"

#include <array>
#include <cmath>

namespace test::adi_bands {

using ribbon::petsc::DirectionFactors;
using ribbon::petsc::DirectionSplitting;
using ribbon::petsc::SplitJacobian;

/// J = shift M - A on a grid. Its stored pattern holds all couplings of the tests.
struct Problem {
  DM               da    = nullptr;
  Mat              J     = nullptr;
  Vec              mass  = nullptr; ///< null: ones
  PetscReal        shift = 3;
  PetscInt         dof, width;
  std::vector<int> n;

  Problem(const std::vector<PetscInt> &size, PetscInt dofs, PetscInt stencil, bool periodic,
          const std::vector<PetscInt> &processes)
      : dof(dofs), width(stencil), n(size.begin(), size.end())
  {
    const auto boundary = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    const auto dim      = static_cast<PetscInt>(size.size());
    const auto at       = [&](const std::vector<PetscInt> &of, std::size_t d, PetscInt other) {
      return d < of.size() ? of[d] : other;
    };
    DMDACreate(PETSC_COMM_WORLD, &da);
    DMSetDimension(da, dim);
    DMDASetSizes(da, at(size, 0, 1), at(size, 1, 1), at(size, 2, 1));
    DMDASetBoundaryType(da, boundary, dim > 1 ? boundary : DM_BOUNDARY_NONE,
                        dim > 2 ? boundary : DM_BOUNDARY_NONE);
    DMDASetStencilType(da, DMDA_STENCIL_BOX);
    DMDASetStencilWidth(da, stencil);
    DMDASetDof(da, dofs);
    DMDASetNumProcs(da, at(processes, 0, 1), at(processes, 1, 1), at(processes, 2, 1));
    DMSetFromOptions(da);
    DMSetUp(da);
    DMCreateMatrix(da, &J);
    n.resize(3, 1);
  }
  Problem(const Problem &)            = delete;
  Problem &operator=(const Problem &) = delete;
  ~Problem() { MatDestroy(&J), VecDestroy(&mass), DMDestroy(&da); }

  /// Sets entries by a function of (i, j, k), the offset and both components. The diagonal is minus the sum
  /// of the others, plus `damping`.
  template <class F>
  void fill(const F &coupling, PetscReal damping = 0)
  {
    PetscInt begin[3], size[3];
    MatZeroEntries(J);
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
      for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
        for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i)
          for (PetscInt c = 0; c < dof; ++c) fill_row({i, j, k}, c, coupling, damping);
    MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY);
  }
  template <class F>
  void fill_row(const std::array<PetscInt, 3> &at, PetscInt c, const F &coupling, PetscReal damping)
  {
    const MatStencil row      = {at[2], at[1], at[0], c};
    PetscScalar      diagonal = shift + damping;
    for (std::size_t d = 0; d < 3; ++d)
      for (PetscInt o = -width; o <= width; ++o)
        for (PetscInt e = 0; e < dof; ++e) {
          std::array<PetscInt, 3> to = at;
          to[d] += o;
          if (o == 0 && (e == c || d > 0)) continue;
          const PetscScalar v = coupling(at, static_cast<int>(d), o, c, e);
          if (v == PetscScalar(0)) continue;
          if (o != 0 && e == c) diagonal -= v; // includes eliminated neighbours
          if (n[d] == 1 || !inside(to[d], d)) continue;
          const MatStencil column = {to[2], to[1], to[0], e};
          MatSetValuesStencil(J, 1, &row, 1, &column, &v, ADD_VALUES);
        }
    MatSetValuesStencil(J, 1, &row, 1, &row, &diagonal, ADD_VALUES);
  }
  bool inside(PetscInt p, std::size_t d) const
  {
    DMBoundaryType b[3];
    DMDAGetInfo(da, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &b[0],
                &b[1], &b[2], nullptr);
    return b[d] == DM_BOUNDARY_PERIODIC || (p >= 0 && p < n[d]);
  }
  SplitJacobian jacobian(unsigned matrices) const { return {J, da, shift, mass, nullptr, 1, matrices}; }
};

/// Solves along all directions with bands and with matrices, plain and transposed, and compares the
/// solutions.
struct Both {
  DirectionSplitting splitting[2]; // first with bands, then with matrices
  DirectionFactors   factors[2];

  void compare(const Problem &p, const std::string &what, bool expect_change = true, PetscReal a = 0.25)
  {
    Vec  b, x[2];
    bool changed[2];
    for (int k = 0; k < 2; ++k) {
      OK(splitting[k].update(p.jacobian(k == 0 ? 0 : 7), &changed[k]));
      OK(factors[k].factor(splitting[k], a, nullptr));
      ASSERT_EQ(factors[k].failure(), PC_NOERROR) << what;
    }
    EXPECT_EQ(changed[0], expect_change) << what;
    EXPECT_EQ(changed[0], changed[1]) << what;
    ASSERT_EQ(splitting[0].directions(), splitting[1].directions()) << what;
    for (auto field : {&DirectionSplitting::Remainder::mixed, &DirectionSplitting::Remainder::growth,
                       &DirectionSplitting::Remainder::torn})
      EXPECT_EQ(splitting[0].remainder().*field, splitting[1].remainder().*field) << what;
    OK(MatCreateVecs(p.J, &x[0], &b));
    OK(VecDuplicate(x[0], &x[1]));
    OK(VecSetRandom(b, nullptr));
    for (int d = 0; d < splitting[0].directions(); ++d) {
      EXPECT_EQ(splitting[0].A(d), nullptr) << what;
      EXPECT_NE(splitting[1].A(d), nullptr) << what;
      for (bool transposed : {false, true}) {
        PetscReal norm, size;
        for (int k = 0; k < 2; ++k)
          OK(transposed ? factors[k].solve_transposed(d, b, x[k]) : factors[k].solve(d, b, x[k]));
        OK(VecNorm(x[1], NORM_INFINITY, &size));
        OK(VecAXPY(x[0], -1, x[1]));
        OK(VecNorm(x[0], NORM_INFINITY, &norm));
        EXPECT_LE(norm, 1e-13 * size)
          << what << ", along " << splitting[0].name(d) << (transposed ? ", transposed" : "");
      }
    }
    for (Vec *v : {&b, &x[0], &x[1]}) OK(VecDestroy(v));
  }
};

using At = std::array<PetscInt, 3>;

/// The same entries in every row.
inline PetscScalar constant(const At &, int d, PetscInt o, PetscInt c, PetscInt e)
{
  return c == e && std::abs(o) == 1 ? -1. - d : 0.;
}
/// Different entries in every row.
inline PetscScalar varying(const At &at, int d, PetscInt o, PetscInt c, PetscInt e)
{
  const auto place = static_cast<PetscReal>(3 * at[0] + 5 * at[1] + 7 * at[2]);
  return c == e && std::abs(o) == 1 ? -1 - 0.3 * std::sin(place + d + static_cast<PetscReal>(o)) : 0.;
}

inline std::vector<PetscInt> processes_along(std::size_t d)
{
  PetscMPIInt           ranks;
  std::vector<PetscInt> of(3, 1);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  of[d] = ranks;
  return of;
}

} // namespace test::adi_bands

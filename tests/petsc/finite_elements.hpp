// SPDX-License-Identifier: BSD-2-Clause
/// @file finite_elements.hpp  Time-dependent problems with a mass matrix that is a Kronecker product. Their
///   source terms make a known function the solution of the discrete equations. All errors of a TS are errors
///   in time.
#pragma once

#include "fixture.hpp"

#include <ribbon_petsc/tsadi.h>

#include <petscts.h>

#include <array>
#include <cmath>

namespace test {

/// Finite elements of degree 1 for u_t = div(a grad u) + mixed u_xy + (growth - reaction) u + f on a tensor
/// grid in [0, 1]^dim. The solution is g(t) times the nodal values shape().
struct FiniteElements {
  /// u = g(t) in rows of algebraic equations, natural, without the nodes of the boundary, periodic
  enum Boundary { dirichlet, neumann, eliminated, periodic };
  /// rhsfunction: the source term is in an RHSFunction
  enum Form { ifunction, rhsfunction };
  PetscInt                 dim = 2, n = 9, components = 1;
  Boundary                 boundary = dirichlet;
  Form                     form     = ifunction;
  std::array<PetscReal, 3> a{0.1, 0.2, 0.15};
  PetscReal                mixed = 0, growth = 0, reaction = 0;
  PetscReal                by_component = 0; ///< a (1 + by_component c)
  PetscReal                varies       = 0; ///< a (1 + varies sin(7 x) cos(5 y))
  bool                     stretched    = false;
  bool                     differences  = false; ///< the Jacobian is computed by coloured differences
  PetscReal                broken       = 0;     ///< change of one entry of M, off the diagonal, in percent
  bool                     partial      = false; ///< dirichlet: only for a part of one face
  PetscReal                coupled      = 0;     ///< dirichlet: u = g + `coupled` u in the next column

  PetscInt size(int d) const { return d < dim ? n + (d == 1 ? 2 : d == 2 ? 1 : 0) : 1; }
  PetscInt elements(int d) const
  {
    return size(d) + (boundary == eliminated ? 1 : boundary == periodic ? 0 : -1);
  }
  PetscReal node(int d, PetscInt k) const
  {
    const PetscReal s = static_cast<PetscReal>(k) / static_cast<PetscReal>(elements(d));
    return stretched ? s + 0.1 * std::sin(2 * PETSC_PI * s) : s;
  }
  /// Node of unknown i.
  PetscInt  node_of(PetscInt i) const { return boundary == eliminated ? i + 1 : i; }
  PetscReal g(PetscReal t) const { return 1 + 0.5 * std::sin(4 * t); }
  PetscReal g_t(PetscReal t) const { return 2 * std::cos(4 * t); }
  PetscReal shape(const PetscReal *x, PetscInt c) const
  {
    if (boundary == periodic)
      return 1 + std::sin(2 * PETSC_PI * x[0]) * std::cos(2 * PETSC_PI * x[1]) +
             0.1 * static_cast<PetscReal>(c);
    if (boundary == eliminated) {
      PetscReal product = 1;
      for (PetscInt d = 0; d < dim; ++d) product *= std::sin(PETSC_PI * x[d]) * (1 + 0.3 * x[d]);
      return product;
    }
    return 1 + x[0] * x[0] + x[1] - 0.5 * x[0] * x[1] + x[2] * (1 - x[0]) + 0.1 * static_cast<PetscReal>(c);
  }
};

/// Entries of the matrices of an element of length L.
struct Element {
  PetscReal mass[2][2], stiffness[2][2], slope[2][2];
  explicit Element(PetscReal L)
      : mass{{L / 3, L / 6}, {L / 6, L / 3}}, stiffness{{1 / L, -1 / L}, {-1 / L, 1 / L}}, slope{{-0.5, 0.5},
                                                                                                 {-0.5, 0.5}}
  {
  }
};

/// The grid of a problem, its matrices and functions. F = M U' + K U - b.
struct FiniteElementsTS {
  FiniteElements p;
  DM             da = nullptr;
  TS             ts = nullptr;
  Mat            M = nullptr, K = nullptr, J = nullptr;
  Vec            u = nullptr, shape = nullptr, M_shape = nullptr, K_shape = nullptr, work = nullptr;
  PetscInt       evaluations = 0, jacobians = 0;

  explicit FiniteElementsTS(const FiniteElements &problem, const char *method = "auto",
                            std::vector<PetscInt> processes = {}, MPI_Comm comm = PETSC_COMM_WORLD)
      : p(problem)
  {
    const DMBoundaryType b = p.boundary == FiniteElements::periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    DMDACreate(comm, &da);
    DMSetDimension(da, p.dim);
    DMDASetSizes(da, p.size(0), p.size(1), p.size(2));
    DMDASetBoundaryType(da, b, b, p.dim > 2 ? b : DM_BOUNDARY_NONE);
    DMDASetStencilType(da, DMDA_STENCIL_BOX);
    DMDASetStencilWidth(da, 1);
    DMDASetDof(da, p.components);
    if (!processes.empty()) {
      processes.resize(3, 1);
      DMDASetNumProcs(da, processes[0], processes[1], processes[2]);
    }
    DMSetFromOptions(da);
    DMSetUp(da);
    DMCreateGlobalVector(da, &u);
    for (Vec *v : {&shape, &M_shape, &K_shape, &work}) VecDuplicate(u, v);
    for (Mat *A : {&M, &K, &J}) DMCreateMatrix(da, A);
    assemble();
    fill();
    MatMult(M, shape, M_shape);
    MatMult(K, shape, K_shape);
    VecCopy(shape, u);
    VecScale(u, p.g(0));
    TSCreate(comm, &ts);
    TSSetDM(ts, da);
    TSSetType(ts, TSADI);
    PetscEnum type;
    PetscBool found;
    PetscEnumFind(TSADITypes, method, &type, &found);
    TSADISetType(ts, (TSADIType)type);
    TSSetIFunction(ts, nullptr, i_function, this);
    if (!p.differences) TSSetIJacobian(ts, J, J, i_jacobian, this);
    if (p.form == FiniteElements::rhsfunction) TSSetRHSFunction(ts, nullptr, rhs_function, this);
    TSSetSolution(ts, u);
    TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP);
    TSSetMaxSteps(ts, 100000);
    TSSetFromOptions(ts);
  }
  FiniteElementsTS(const FiniteElementsTS &)            = delete;
  FiniteElementsTS &operator=(const FiniteElementsTS &) = delete;
  ~FiniteElementsTS()
  {
    TSDestroy(&ts);
    for (Mat *A : {&M, &K, &J}) MatDestroy(A);
    for (Vec *v : {&u, &shape, &M_shape, &K_shape, &work}) VecDestroy(v);
    DMDestroy(&da);
  }

  void fixed(PetscReal dt, PetscReal end)
  {
    TSAdapt adapt;
    TSGetAdapt(ts, &adapt);
    TSAdaptSetType(adapt, TSADAPTNONE);
    TSSetTimeStep(ts, dt);
    TSSetMaxTime(ts, end);
  }
  PetscReal error(NormType type = NORM_INFINITY)
  {
    PetscReal t, norm;
    TSGetSolveTime(ts, &t);
    VecWAXPY(work, -p.g(t), shape, u);
    VecNorm(work, type, &norm);
    return norm;
  }

  /// Calls f(row, coordinates, component) for all rows of this rank.
  template <class F>
  void walk(const F &f) const
  {
    MatStencil row;
    PetscInt   begin[3], size[3];
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    for (row.k = begin[2]; row.k < begin[2] + size[2]; ++row.k)
      for (row.j = begin[1]; row.j < begin[1] + size[1]; ++row.j)
        for (row.i = begin[0]; row.i < begin[0] + size[0]; ++row.i)
          for (row.c = 0; row.c < p.components; ++row.c) {
            const PetscInt at[3]   = {row.i, row.j, row.k};
            PetscReal      x[3]    = {0, 0, 0};
            bool           on_edge = false;
            for (int d = 0; d < p.dim; ++d) {
              x[d]    = p.node(d, p.node_of(at[d]));
              on_edge = on_edge || at[d] == 0 || at[d] + 1 == p.size(d);
            }
            if (p.partial) on_edge = at[0] == 0 && at[1] < 4;
            f(row, at, x, on_edge && p.boundary == FiniteElements::dirichlet);
          }
  }
  /// Adds the entries that entry(elements, element, row, column, component) returns, for every element.
  template <class Entry>
  void assemble(Mat A, bool algebraic, const Entry &entry) const
  {
    const int D = static_cast<int>(p.dim);
    walk([&](const MatStencil &row, const PetscInt *at, const PetscReal *, bool on_edge) {
      if (on_edge) {
        const PetscScalar values[2] = {algebraic ? PetscScalar(1) : PetscScalar(0),
                                       algebraic ? PetscScalar(-p.coupled) : PetscScalar(0)};
        MatStencil both[2] = {row, row};
        both[1].i += at[0] == 0 ? 1 : -1;
        MatSetValuesStencil(A, 1, &row, 2, both, values, ADD_VALUES);
        return;
      }
      for (int e = 0; e < 1 << D; ++e) { // elements before and behind the node
        std::array<PetscInt, 3> element{};
        std::vector<Element>    along;
        bool                    there = true;
        for (int d = 0; d < D; ++d) {
          element[static_cast<std::size_t>(d)] = p.node_of(at[d]) - (e >> d & 1);
          PetscInt &k                          = element[static_cast<std::size_t>(d)];
          if (p.boundary == FiniteElements::periodic) k = (k + p.elements(d)) % p.elements(d);
          there = there && k >= 0 && k < p.elements(d);
          along.emplace_back(p.node(d, k + 1) - p.node(d, k));
        }
        for (int to = 0; to < 1 << D && there; ++to) {
          int      i[3], j[3];
          PetscInt place[3] = {at[0], at[1], at[2]};
          bool     outside  = false;
          for (int d = 0; d < D; ++d) {
            i[d] = e >> d & 1, j[d] = to >> d & 1, place[d] += j[d] - i[d];
            if (p.boundary != FiniteElements::periodic)
              outside = outside || place[d] < 0 || place[d] >= p.size(d);
          }
          MatStencil column = row;
          column.i = place[0], column.j = place[1], column.k = place[2];
          const PetscScalar value = entry(along, element, i, j, row.c);
          if (!outside) MatSetValuesStencil(A, 1, &row, 1, &column, &value, ADD_VALUES);
        }
      }
    });
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }

private:
  void assemble()
  {
    const int D = static_cast<int>(p.dim);
    assemble(M, false, [&](const auto &along, const auto &, const int *i, const int *j, PetscInt) {
      PetscReal product = 1;
      for (std::size_t d = 0; d < along.size(); ++d) product *= along[d].mass[i[d]][j[d]];
      return product;
    });
    assemble(K, true, [&](const auto &along, const auto &element, const int *i, const int *j, PetscInt c) {
      PetscReal sum = 0, mass = 1;
      for (std::size_t d = 0; d < along.size(); ++d) {
        PetscReal product = p.a[d];
        for (std::size_t e = 0; e < along.size(); ++e)
          product *= e == d ? along[e].stiffness[i[e]][j[e]] : along[e].mass[i[e]][j[e]];
        sum += product, mass *= along[d].mass[i[d]][j[d]];
      }
      const PetscReal x = p.node(0, element[0]), y = p.node(1, element[1]);
      sum *=
        (1 + p.varies * std::sin(7 * x) * std::cos(5 * y)) * (1 + p.by_component * static_cast<PetscReal>(c));
      PetscReal cross = (along[0].slope[j[0]][i[0]] * along[1].slope[i[1]][j[1]] +
                         along[0].slope[i[0]][j[0]] * along[1].slope[j[1]][i[1]]) /
                        2;
      for (int e = 2; e < D; ++e) cross *= along[static_cast<std::size_t>(e)].mass[i[e]][j[e]];
      return sum + p.mixed * cross + (p.reaction - p.growth) * mass;
    });
    if (p.broken == 0) return;
    const MatStencil  row = {1, 4, 4, 0}, column = {1, 5, 4, 0}; // k, j, i, c
    MatStencil        flat[2] = {row, column};
    const PetscScalar more    = p.broken * 1e-2;
    PetscInt          begin[3], size[3];
    if (p.dim < 3) flat[0].k = flat[1].k = 0;
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    const bool mine = 4 >= begin[0] && 4 < begin[0] + size[0] && 4 >= begin[1] && 4 < begin[1] + size[1] &&
                      flat[0].k >= begin[2] && flat[0].k < begin[2] + size[2];
    if (mine) MatSetValuesStencil(M, 1, &flat[0], 1, &flat[1], &more, ADD_VALUES);
    MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY);
  }

  void fill()
  {
    PetscScalar *v;
    VecGetArray(shape, &v);
    PetscScalar *entry = v;
    walk([&](const MatStencil &row, const PetscInt *, const PetscReal *x, bool) {
      *entry++ = p.shape(x, row.c);
    });
    VecRestoreArray(shape, &v);
  }

  /// b of the differential equations, or of the algebraic ones, which have no mass.
  PetscErrorCode source(PetscReal t, bool differential, bool algebraic, PetscScalar factor, Vec to) const
  {
    PetscScalar       *v;
    const PetscScalar *m, *k;
    PetscFunctionBegin;
    PetscCall(VecGetArray(to, &v));
    PetscCall(VecGetArrayRead(M_shape, &m));
    PetscCall(VecGetArrayRead(K_shape, &k));
    std::size_t r = 0;
    walk([&](const MatStencil &, const PetscInt *, const PetscReal *, bool on_edge) {
      if (on_edge ? algebraic : differential) v[r] += factor * (m[r] * p.g_t(t) + k[r] * p.g(t));
      ++r;
    });
    PetscCall(VecRestoreArrayRead(K_shape, &k));
    PetscCall(VecRestoreArrayRead(M_shape, &m));
    PetscCall(VecRestoreArray(to, &v));
    PetscFunctionReturn(PetscErrorCode(0));
  }

public:
  static PetscErrorCode i_function(TS, PetscReal t, Vec U, Vec Udot, Vec F, void *ctx)
  {
    auto *self = static_cast<FiniteElementsTS *>(ctx);
    PetscFunctionBegin;
    ++self->evaluations;
    PetscCall(MatMult(self->M, Udot, F));
    PetscCall(MatMultAdd(self->K, U, F, F));
    PetscCall(self->source(t, self->p.form == FiniteElements::ifunction, true, -1, F));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  static PetscErrorCode rhs_function(TS, PetscReal t, Vec, Vec G, void *ctx)
  {
    PetscFunctionBegin;
    PetscCall(VecSet(G, 0));
    PetscCall(static_cast<FiniteElementsTS *>(ctx)->source(t, true, false, 1, G));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  static PetscErrorCode i_jacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat, Mat B, void *ctx)
  {
    auto *self = static_cast<FiniteElementsTS *>(ctx);
    PetscFunctionBegin;
    ++self->jacobians;
    PetscCall(MatCopy(self->K, B, SAME_NONZERO_PATTERN));
    PetscCall(MatAXPY(B, shift, self->M, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PetscErrorCode(0));
  }
};

} // namespace test

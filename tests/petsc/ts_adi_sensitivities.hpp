// SPDX-License-Identifier: BSD-2-Clause
/// @file ts_adi_sensitivities.hpp  A model with parameters, for tests of sensitivities of TS adi.
#pragma once

#include "ts_adi_problems.hpp"

namespace test {

/// M U' = G = a(t) A U - cubic M U^3 + reacts p_1^2 M U^2 / 2 + p_0 (1 + t) s_0 + p_1 s_1, with M = 0 in algebraic
/// rows.
struct Model {
  enum Form { ifunction, rhsfunction, imex };
  enum Edges { rates, dirichlet, neumann };
  PetscInt              dim = 2, n = 6;
  Form                  form  = ifunction;
  Edges                 edges = rates;
  PetscReal             cubic = 0, reacts = 0, varies = 0, parameter_of_a = 0, transport = 1, mass_grows = 0;
  std::vector<PetscInt> processes;
  bool                  coloured = false; ///< Jacobians by differences
  bool                  couples  = false; ///< M is not diagonal
  bool                  derives  = true;  ///< the RHSFunction has a Jacobian
  bool                  fused    = false; ///< U' = J U, whose steps are fused
};

/// The largest differences between gradients and differences of runs, relative to the gradients.
struct Gradients {
  PetscReal initial = -1, parameters = -1;
};

struct ModelTS {
  Model       m;
  DM          da = nullptr;
  TS          ts = nullptr;
  Mat         A = nullptr, J[2] = {nullptr, nullptr}, Jp[2] = {nullptr, nullptr};
  Vec         u = nullptr, start = nullptr, mass = nullptr, s[2] = {nullptr, nullptr}, work = nullptr;
  PetscScalar p[2]         = {0.5, -0.7};
  PetscReal   size_of_step = 0.05;

  ModelTS(const Model &model, const char *method) : m(model)
  {
    PetscInt begin, end, begin_p, end_p;
    DMDACreate(PETSC_COMM_WORLD, &da);
    DMSetDimension(da, m.dim);
    DMDASetSizes(da, m.n, m.dim > 1 ? m.n + 1 : 1, m.dim > 2 ? m.n : 1);
    DMDASetStencilType(da, DMDA_STENCIL_STAR);
    DMDASetDof(da, 1);
    DMDASetStencilWidth(da, 1);
    if (!m.processes.empty()) {
      m.processes.resize(3, 1);
      DMDASetNumProcs(da, m.processes[0], m.processes[1], m.processes[2]);
    }
    DMSetFromOptions(da);
    DMSetUp(da);
    DMCreateGlobalVector(da, &u);
    for (Vec *v : {&start, &mass, &s[0], &s[1], &work}) VecDuplicate(u, v);
    DMCreateMatrix(da, &A);
    fill();
    for (Mat &one : J) MatDuplicate(A, MAT_COPY_VALUES, &one);
    VecGetOwnershipRange(u, &begin, &end);
    for (Mat &one : Jp) {
      MatCreateDense(PETSC_COMM_WORLD, end - begin, PETSC_DECIDE, PETSC_DETERMINE, 2, nullptr, &one);
      MatSetUp(one);
      MatGetOwnershipRangeColumn(one, &begin_p, &end_p);
    }
    TSCreate(PETSC_COMM_WORLD, &ts);
    TSSetDM(ts, da);
    TSSetType(ts, TSADI);
    PetscEnum type;
    PetscBool found;
    PetscEnumFind(TSADITypes, method, &type, &found);
    TSADISetType(ts, (TSADIType)type);
    if (m.form != Model::rhsfunction) {
      TSSetIFunction(ts, nullptr, i_function, this);
      if (!m.coloured) TSSetIJacobian(ts, J[0], J[0], i_jacobian, this);
    }
    if (m.form != Model::ifunction) {
      TSSetRHSFunction(ts, nullptr, rhs_function, this);
      if (!m.coloured && m.derives) TSSetRHSJacobian(ts, J[1], J[1], rhs_jacobian, this);
    }
    TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP);
    TSSetSolution(ts, u);
    if (m.fused) p[0] = p[1] = 0;
    TSADISetConstantLinear(ts, m.fused ? PETSC_TRUE : PETSC_FALSE);
    TSADISetFuseSteps(ts, m.fused ? 1 : -1);
    TSADISetTimeDerivative(ts, PETSC_FALSE); // sensitivities turn it off: runs without them must match
    fixed(size_of_step, 0.25);
  }
  ModelTS(const ModelTS &)            = delete;
  ModelTS &operator=(const ModelTS &) = delete;
  ~ModelTS()
  {
    TSDestroy(&ts);
    for (Mat *one : {&A, &J[0], &J[1], &Jp[0], &Jp[1]}) MatDestroy(one);
    for (Vec *v : {&u, &start, &mass, &s[0], &s[1], &work}) VecDestroy(v);
    DMDestroy(&da);
  }

  void fixed(PetscReal dt, PetscReal end) const
  {
    TSAdapt adapt;
    TSGetAdapt(ts, &adapt);
    TSAdaptSetType(adapt, TSADAPTNONE);
    TSSetTimeStep(ts, dt);
    TSSetMaxTime(ts, end);
    TSSetMaxSteps(ts, 1000);
  }

  /// Second differences with advection and one-sided Neumann rows; smooth vectors.
  void fill()
  {
    PetscInt     begin[3], size[3];
    PetscScalar *v[4];
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    Vec vectors[4] = {start, mass, s[0], s[1]};
    for (int q = 0; q < 4; ++q) VecGetArray(vectors[q], &v[q]);
    std::size_t    r    = 0;
    const PetscInt n[3] = {m.n, m.dim > 1 ? m.n + 1 : 1, m.dim > 2 ? m.n : 1};
    for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
      for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
        for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i, ++r) {
          const MatStencil row    = {k, j, i, 0};
          const PetscInt   at[3]  = {i, j, k};
          int              edge   = -1;
          PetscReal        x      = 1 + 0.3 * std::sin(1 + static_cast<PetscReal>(2 * i + 3 * j + 5 * k));
          PetscScalar      center = 0;
          for (int d = 0; d < m.dim && edge < 0; ++d)
            if (at[d] == 0 || at[d] == n[d] - 1) edge = d;
          const bool algebraic = edge >= 0 && m.edges != Model::rates;
          v[0][r] = x * turned, v[1][r] = algebraic ? 0 : m.form == Model::rhsfunction ? 1 : 2 + x;
          v[2][r] = std::cos(static_cast<PetscReal>(i + j)),
          v[3][r] = algebraic && m.form == Model::imex ? 0 : x;
          if (algebraic && m.form == Model::imex) v[2][r] = 0;
          for (int d = 0; d < m.dim; ++d)
            for (PetscInt to = at[d] - 1; to <= at[d] + 1; to += 2) {
              if (to < 0 || to >= n[d]) continue;
              MatStencil column                                  = row;
              (d == 0 ? column.i : d == 1 ? column.j : column.k) = to;
              PetscScalar value                                  = PetscScalar(8 + 2 * d) +
                                  PetscScalar(m.transport * PetscReal(to - at[d]) * (0.5 + 0.3 * x)) * turned;
              if (algebraic) value = m.edges == Model::neumann && d == edge ? 1 : 0;
              center -= algebraic ? 0 : value;
              MatSetValuesStencil(A, 1, &row, 1, &column, &value, INSERT_VALUES);
            }
          if (algebraic) center = m.edges == Model::neumann ? -1.5 : -1;
          MatSetValuesStencil(A, 1, &row, 1, &row, &center, INSERT_VALUES);
        }
    for (int q = 0; q < 4; ++q) VecRestoreArray(vectors[q], &v[q]);
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }

  PetscScalar a(PetscReal t) const { return 1 + m.varies * std::sin(5 * t) + m.parameter_of_a * p[0]; }

  /// to += factor G, or its explicit part with `rest` alone, or its implicit part.
  PetscErrorCode add(PetscReal t, Vec U, PetscScalar factor, bool linear, bool rest, Vec to) const
  {
    PetscFunctionBegin;
    if (linear) {
      PetscCall(MatMult(A, U, work));
      PetscCall(VecAXPY(to, factor * a(t), work));
    }
    if (!rest) PetscFunctionReturn(PetscErrorCode(0));
    PetscCall(VecAXPY(to, factor * p[0] * PetscScalar(1 + t), s[0]));
    PetscCall(VecAXPY(to, factor * p[1], s[1]));
    PetscCall(cube(U, 1));
    PetscCall(VecPointwiseMult(work, work, U));
    PetscCall(VecAXPY(to, -factor, work));
    if (m.reacts != 0) {
      PetscCall(square(U));
      PetscCall(VecAXPY(to, factor * PetscScalar(m.reacts / 2) * p[1] * p[1], work));
    }
    PetscFunctionReturn(PetscErrorCode(0));
  }
  /// work := M U^2
  PetscErrorCode square(Vec U) const
  {
    PetscFunctionBegin;
    PetscCall(VecPointwiseMult(work, U, U));
    PetscCall(VecPointwiseMult(work, work, mass));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  /// work := scale cubic M U^2
  PetscErrorCode cube(Vec U, PetscScalar scale) const
  {
    PetscFunctionBegin;
    PetscCall(square(U));
    PetscCall(VecScale(work, scale * m.cubic));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  PetscErrorCode jacobian(PetscReal t, Vec U, PetscScalar factor, bool linear, bool rest, Mat to) const
  {
    PetscFunctionBegin;
    PetscCall(MatZeroEntries(to));
    if (linear) PetscCall(MatAXPY(to, factor * a(t), A, SAME_NONZERO_PATTERN));
    if (rest && m.cubic != 0) {
      PetscCall(cube(U, -3 * factor));
      PetscCall(MatDiagonalSet(to, work, ADD_VALUES));
    }
    if (rest && m.reacts != 0) {
      PetscCall(VecPointwiseMult(work, U, mass));
      PetscCall(VecScale(work, factor * PetscScalar(m.reacts) * p[1] * p[1]));
      PetscCall(MatDiagonalSet(to, work, ADD_VALUES));
    }
    PetscFunctionReturn(PetscErrorCode(0));
  }
  /// dG/dp
  PetscErrorCode parameters(PetscReal t, Vec U, PetscScalar factor, Mat to) const
  {
    PetscInt           begin, end;
    const PetscScalar *v[5];
    const Vec          vectors[5] = {s[0], s[1], work, U, mass};
    PetscFunctionBegin;
    PetscCall(MatMult(A, U, work));
    PetscCall(VecGetOwnershipRange(U, &begin, &end));
    for (int k = 0; k < 5; ++k) PetscCall(VecGetArrayRead(vectors[k], &v[k]));
    for (PetscInt r = begin; r < end; ++r) {
      const PetscScalar row[2] = {
        factor * (PetscScalar(1 + t) * v[0][r - begin] + m.parameter_of_a * v[2][r - begin]),
        factor * (v[1][r - begin] + m.reacts * p[1] * v[4][r - begin] * v[3][r - begin] * v[3][r - begin])};
      const PetscInt columns[2] = {0, 1};
      PetscCall(MatSetValues(to, 1, &r, 2, columns, row, INSERT_VALUES));
    }
    for (int k = 0; k < 5; ++k) PetscCall(VecRestoreArrayRead(vectors[k], &v[k]));
    PetscCall(MatAssemblyBegin(to, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(to, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PetscErrorCode(0));
  }

  static const ModelTS &of(void *ctx) { return *static_cast<ModelTS *>(ctx); }
  bool                  is_imex() const { return m.form == Model::imex; }
  static PetscErrorCode i_function(TS, PetscReal t, Vec U, Vec Udot, Vec F, void *ctx)
  {
    PetscFunctionBegin;
    PetscCall(VecPointwiseMult(F, of(ctx).mass, Udot));
    PetscCall(VecScale(F, 1 + of(ctx).m.mass_grows * t));
    if (of(ctx).m.couples) {
      PetscCall(MatMult(of(ctx).A, Udot, of(ctx).work));
      PetscCall(VecAXPY(F, 0.04, of(ctx).work));
    }
    PetscCall(of(ctx).add(t, U, -1, true, !of(ctx).is_imex(), F));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  static PetscErrorCode rhs_function(TS, PetscReal t, Vec U, Vec G, void *ctx)
  {
    PetscFunctionBegin;
    PetscCall(VecSet(G, 0));
    PetscCall(of(ctx).add(t, U, 1, !of(ctx).is_imex(), true, G));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  static PetscErrorCode i_jacobian(TS, PetscReal t, Vec U, Vec, PetscReal shift, Mat, Mat P, void *ctx)
  {
    PetscFunctionBegin;
    PetscCall(of(ctx).jacobian(t, U, -1, true, !of(ctx).is_imex(), P));
    PetscCall(VecCopy(of(ctx).mass, of(ctx).work));
    PetscCall(VecScale(of(ctx).work, shift * (1 + of(ctx).m.mass_grows * t)));
    PetscCall(MatDiagonalSet(P, of(ctx).work, ADD_VALUES));
    if (of(ctx).m.couples) PetscCall(MatAXPY(P, 0.04 * shift, of(ctx).A, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  static PetscErrorCode rhs_jacobian(TS, PetscReal t, Vec U, Mat, Mat P, void *ctx)
  {
    return of(ctx).jacobian(t, U, 1, !of(ctx).is_imex(), true, P);
  }
  static PetscErrorCode i_parameters(TS, PetscReal t, Vec U, Vec, PetscReal, Mat to, void *ctx)
  {
    return of(ctx).parameters(t, U, -1, to);
  }
  static PetscErrorCode rhs_parameters(TS, PetscReal t, Vec U, Mat to, void *ctx)
  {
    return of(ctx).parameters(t, U, 1, to);
  }

  /// Runs from start + e d, with parameters p + q.
  PetscErrorCode run(PetscReal e, Vec d, PetscScalar q0, PetscScalar q1)
  {
    const PetscScalar kept[2] = {p[0], p[1]};
    PetscFunctionBegin;
    p[0] += q0, p[1] += q1;
    PetscCall(VecWAXPY(u, e, d, start));
    PetscCall(TSSetTime(ts, 0));
    PetscCall(TSSetStepNumber(ts, 0));
    PetscCall(TSSetTimeStep(ts, size_of_step));
    PetscCall(TSSolve(ts, u));
    p[0] = kept[0], p[1] = kept[1];
    PetscFunctionReturn(PetscErrorCode(0));
  }
  PetscErrorCode set_parameters()
  {
    PetscFunctionBegin;
    if (m.form == Model::ifunction) PetscCall(TSSetIJacobianP(ts, Jp[0], i_parameters, this));
    else PetscCall(TSSetRHSJacobianP(ts, Jp[1], rhs_parameters, this));
    PetscFunctionReturn(PetscErrorCode(0));
  }

  /// Gradients of w^T U(T) for two vectors w, and differences of runs with +-e.
  PetscErrorCode check(PetscReal e, Gradients *error, const char *trajectory = TSTRAJECTORYMEMORY,
                       bool only_solutions = false)
  {
    Vec          d, lambda[2], mu[2];
    PetscScalar  change[2][2], slope, part[2], value[2][2][2];
    PetscReal    size = 0;
    TSTrajectory tj;
    PetscFunctionBegin;
    *error = {};
    PetscCall(VecDuplicate(u, &d));
    for (int n = 0; n < 2; ++n) {
      PetscCall(VecDuplicate(u, &lambda[n]));
      PetscCall(MatCreateVecs(Jp[0], &mu[n], nullptr));
    }
    PetscCall(VecCopy(s[0], d));
    PetscCall(VecShift(d, 0.3));
    const auto        end  = [&](int n) { return n ? start : s[1]; }; // w
    const PetscScalar q[2] = {0.4, 0.9};
    PetscCall(run(0, d, 0, 0));          // keeps the Jacobian of this run if steps share one
    for (int what = 0; what < 2; ++what) // initial values, parameters
      for (int side = 0; side < 2; ++side) {
        const PetscReal by = side ? e : -e;
        if (what) PetscCall(run(0, d, m.fused ? 0 : by * q[0], m.fused ? 0 : by * q[1]));
        else PetscCall(run(by, d, 0, 0));
        for (int n = 0; n < 2; ++n) PetscCall(VecTDot(end(n), u, &value[what][side][n]));
      }
    for (int what = 0; what < 2; ++what)
      for (int n = 0; n < 2; ++n) change[what][n] = (value[what][1][n] - value[what][0][n]) / (2 * e);
    PetscCall(TSSetSaveTrajectory(ts));
    PetscCall(TSGetTrajectory(ts, &tj));
    PetscCall(TSTrajectorySetType(tj, ts, trajectory));
    PetscCall(TSTrajectorySetSolutionOnly(tj, only_solutions ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(run(0, d, 0, 0));
    for (int n = 0; n < 2; ++n) {
      PetscCall(VecCopy(end(n), lambda[n]));
      PetscCall(VecSet(mu[n], 0));
    }
    PetscCall(set_parameters());
    PetscCall(TSSetCostGradients(ts, 2, lambda, mu));
    PetscErrorCode failed = TSAdjointSolve(ts);
    for (int n = 0; n < 2 && !failed; ++n) {
      PetscInt begin, finish;
      PetscCall(VecTDot(lambda[n], d, &slope));
      size           = PetscMax(PetscAbsScalar(slope), PetscReal(1));
      error->initial = PetscMax(error->initial, PetscAbsScalar(slope - change[0][n]) / size);
      PetscCall(VecGetOwnershipRange(mu[n], &begin, &finish));
      part[0] = 0;
      const PetscScalar *v;
      PetscCall(VecGetArrayRead(mu[n], &v));
      for (PetscInt k = begin; k < finish; ++k) part[0] += v[k - begin] * q[k];
      PetscCall(VecRestoreArrayRead(mu[n], &v));
      PetscCallMPI(MPI_Allreduce(&part[0], &part[1], 1, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
      size = PetscMax(PetscAbsScalar(part[1]), PetscReal(1));
      if (m.fused) change[1][n] = part[1]; // the equation has no other term
      error->parameters = PetscMax(error->parameters, PetscAbsScalar(part[1] - change[1][n]) / size);
    }
    for (int n = 0; n < 2; ++n) {
      PetscCall(VecDestroy(&lambda[n]));
      PetscCall(VecDestroy(&mu[n]));
    }
    PetscCall(VecDestroy(&d));
    PetscFunctionReturn(failed);
  }
};

inline Model with(const std::function<void(Model &)> &change)
{
  Model m;
  change(m);
  return m;
}

} // namespace test

// SPDX-License-Identifier: BSD-2-Clause
// Adjoint of second order of TS adi: products with Hessians of costs against differences of gradients.
#include "ts_adi_sensitivities.hpp"

using namespace test;

namespace {

class TSADIHessian : public Petsc { };

/// The model with products of its second derivatives, and with two costs, s_1^T U(T) and U(T)^T U(T) / 2. The
/// initial values may depend on the parameters: u_0 = start + p_0 s_1 - p_1 start.
struct SecondOrderTS : ModelTS {
  static constexpr int costs = 2;
  Vec                  lambda[costs], lambda2[costs], of_u[costs];      ///< rows of the solution
  Vec                  mu[costs], mu2[costs], of_p[costs], q = nullptr; ///< of the parameters
  Vec                  of_d    = nullptr;                               ///< the direction of initial values
  bool                 forward = false;                                 ///< TSAdjointSetForward() was called

  SecondOrderTS(const Model &model, const char *method, const char *trajectory = TSTRAJECTORYMEMORY)
      : ModelTS(model, method)
  {
    TSTrajectory tj;
    for (Vec *all : {lambda, lambda2, of_u})
      for (int n = 0; n < costs; ++n) VecDuplicate(u, &all[n]);
    for (Vec *all : {mu, mu2, of_p})
      for (int n = 0; n < costs; ++n) MatCreateVecs(Jp[0], &all[n], nullptr);
    MatCreateVecs(Jp[0], &q, nullptr);
    TSSetSaveTrajectory(ts);
    TSGetTrajectory(ts, &tj);
    TSTrajectorySetType(tj, ts, trajectory);
    set_parameters();
  }
  SecondOrderTS(const SecondOrderTS &)            = delete;
  SecondOrderTS &operator=(const SecondOrderTS &) = delete;
  ~SecondOrderTS()
  {
    for (Vec *all : {lambda, lambda2, of_u, mu, mu2, of_p})
      for (int n = 0; n < costs; ++n) VecDestroy(&all[n]);
    VecDestroy(&q);
  }

  /// Both values of a vector of parameters, on all ranks.
  static PetscErrorCode values(Vec v, PetscScalar (&all)[2])
  {
    PetscInt           begin, end;
    const PetscScalar *local;
    PetscFunctionBegin;
    all[0] = all[1] = 0;
    PetscCall(VecGetOwnershipRange(v, &begin, &end));
    PetscCall(VecGetArrayRead(v, &local));
    for (PetscInt k = begin; k < end; ++k) all[k] = local[k - begin];
    PetscCall(VecRestoreArrayRead(v, &local));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  static PetscErrorCode set_values(Vec v, PetscScalar v0, PetscScalar v1)
  {
    PetscFunctionBegin;
    for (PetscInt k = 0; k < 2; ++k) PetscCall(VecSetValue(v, k, k ? v1 : v0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(v));
    PetscCall(VecAssemblyEnd(v));
    PetscFunctionReturn(PetscErrorCode(0));
  }

  static const SecondOrderTS &that(void *ctx) { return *static_cast<SecondOrderTS *>(ctx); }
  /// Whether the part has the linear terms, or the others.
  bool linear(bool implicit) const { return !is_imex() || implicit; }
  bool rest(bool implicit) const { return !is_imex() || !implicit; }

  template <bool implicit>
  static PetscErrorCode uu(TS, PetscReal, Vec U, Vec *left, Vec right, Vec *product, void *ctx)
  {
    const SecondOrderTS &x    = that(ctx);
    const PetscScalar    sign = implicit ? -1 : 1;
    PetscFunctionBegin;
    for (int n = 0; n < costs && x.rest(implicit); ++n) {
      PetscCall(VecCopy(U, x.work));
      PetscCall(VecScale(x.work, -6 * x.m.cubic));
      PetscCall(VecShift(x.work, x.m.reacts * x.p[1] * x.p[1]));
      PetscCall(VecPointwiseMult(x.work, x.work, x.mass));
      PetscCall(VecPointwiseMult(x.work, x.work, right));
      PetscCall(VecPointwiseMult(product[n], x.work, left[n]));
      PetscCall(VecScale(product[n], sign));
    }
    PetscFunctionReturn(PetscErrorCode(0));
  }
  template <bool implicit>
  static PetscErrorCode up(TS, PetscReal, Vec U, Vec *left, Vec right, Vec *product, void *ctx)
  {
    const SecondOrderTS &x    = that(ctx);
    const PetscScalar    sign = implicit ? -1 : 1;
    PetscScalar          dp[2];
    PetscFunctionBegin;
    PetscCall(values(right, dp));
    for (int n = 0; n < costs; ++n) {
      PetscCall(VecSet(product[n], 0));
      if (x.linear(implicit)) {
        PetscCall(MatMultTranspose(x.A, left[n], product[n]));
        PetscCall(VecScale(product[n], sign * x.m.parameter_of_a * dp[0]));
      }
      if (!x.rest(implicit)) continue;
      PetscCall(VecPointwiseMult(x.work, U, x.mass));
      PetscCall(VecPointwiseMult(x.work, x.work, left[n]));
      PetscCall(VecAXPY(product[n], sign * PetscScalar(2 * x.m.reacts) * x.p[1] * dp[1], x.work));
    }
    PetscFunctionReturn(PetscErrorCode(0));
  }
  template <bool implicit>
  static PetscErrorCode pu(TS, PetscReal, Vec U, Vec *left, Vec right, Vec *product, void *ctx)
  {
    const SecondOrderTS &x    = that(ctx);
    const PetscScalar    sign = implicit ? -1 : 1;
    PetscFunctionBegin;
    for (int n = 0; n < costs; ++n) {
      PetscScalar dots[2] = {0, 0};
      PetscCall(MatMult(x.A, right, x.work));
      if (x.linear(implicit)) PetscCall(VecTDot(x.work, left[n], &dots[0]));
      PetscCall(VecPointwiseMult(x.work, U, x.mass));
      PetscCall(VecPointwiseMult(x.work, x.work, right));
      if (x.rest(implicit)) PetscCall(VecTDot(x.work, left[n], &dots[1]));
      PetscCall(set_values(product[n], sign * x.m.parameter_of_a * dots[0],
                           sign * PetscScalar(2 * x.m.reacts) * x.p[1] * dots[1]));
    }
    PetscFunctionReturn(PetscErrorCode(0));
  }
  template <bool implicit>
  static PetscErrorCode pp(TS, PetscReal, Vec U, Vec *left, Vec right, Vec *product, void *ctx)
  {
    const SecondOrderTS &x    = that(ctx);
    const PetscScalar    sign = implicit ? -1 : 1;
    PetscScalar          dp[2];
    PetscFunctionBegin;
    PetscCall(values(right, dp));
    for (int n = 0; n < costs; ++n) {
      PetscScalar dot = 0;
      PetscCall(x.square(U));
      if (x.rest(implicit)) PetscCall(VecTDot(x.work, left[n], &dot));
      PetscCall(set_values(product[n], 0, sign * PetscScalar(x.m.reacts) * dp[1] * dot));
    }
    PetscFunctionReturn(PetscErrorCode(0));
  }
  /// Functions of which bit k is not set are missing: FUU, FUP, FPU, FPP.
  PetscErrorCode set_hessians(unsigned set = 15)
  {
    const auto one     = [set](int k, auto function) { return set >> k & 1 ? function : nullptr; };
    using Function     = PetscErrorCode (*)(TS, PetscReal, Vec, Vec *, Vec, Vec *, void *);
    const Function i[] = {uu<true>, up<true>, pu<true>, pp<true>};
    const Function r[] = {uu<false>, up<false>, pu<false>, pp<false>};
    PetscFunctionBegin;
    if (m.form != Model::rhsfunction)
      PetscCall(TSSetIHessianProduct(ts, of_u, one(0, i[0]), of_u, one(1, i[1]), of_p, one(2, i[2]), of_p,
                                     one(3, i[3]), this));
    if (m.form != Model::ifunction)
      PetscCall(TSSetRHSHessianProduct(ts, of_u, one(0, r[0]), of_u, one(1, r[1]), of_p, one(2, r[2]), of_p,
                                       one(3, r[3]), this));
    PetscFunctionReturn(PetscErrorCode(0));
  }

  /// d u_0 = s_1 - 0.3 start, by p in the direction (1, 0.3); d: its vector
  PetscErrorCode direction(Vec d) const
  {
    PetscFunctionBegin;
    PetscCall(VecWAXPY(d, -0.3, start, s[1]));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  /// Runs from start + e d, with parameters p + e (1, 0.3) if `parameters`, then the adjoint. The Hessian
  /// products are computed if TSAdjointSetForward() was called.
  PetscErrorCode gradients(PetscReal e, bool parameters)
  {
    const PetscScalar kept[2] = {p[0], p[1]};
    Vec               d;
    PetscFunctionBegin;
    PetscCall(VecDuplicate(u, &d));
    PetscCall(direction(d));
    PetscCall(VecWAXPY(u, e, d, start));
    PetscCall(VecDestroy(&d));
    if (parameters) p[0] += e, p[1] += 0.3 * e;
    PetscCall(TSSetTime(ts, 0));
    PetscCall(TSSetStepNumber(ts, 0));
    PetscCall(TSSetTimeStep(ts, 0.05));
    PetscCall(TSSolve(ts, u));
    PetscCall(VecCopy(s[1], lambda[0]));
    PetscCall(VecCopy(u, lambda[1]));
    for (int n = 0; n < costs; ++n) {
      PetscCall(VecSet(mu[n], 0));
      PetscCall(VecSet(mu2[n], 0));
      PetscCall(VecSet(lambda2[n], 0));
    }
    if (forward) {
      Mat S;
      Vec column;
      PetscCall(TSForwardGetSensitivities(ts, nullptr, &S));
      PetscCall(MatDenseGetColumnVecRead(S, 0, &column));
      PetscCall(VecCopy(column, lambda2[1]));
      PetscCall(MatDenseRestoreColumnVecRead(S, 0, &column));
    }
    PetscCall(TSSetCostGradients(ts, costs, lambda, mu));
    const PetscErrorCode failed = TSAdjointSolve(ts);
    p[0] = kept[0], p[1] = kept[1];
    PetscFunctionReturn(failed);
  }
  PetscErrorCode set_direction(bool parameters)
  {
    Mat      didp;
    Vec      column, d;
    PetscInt rows;
    PetscFunctionBegin;
    forward = true;
    PetscCall(TSAdjointReset(ts));
    PetscCall(VecDuplicate(u, &d));
    PetscCall(direction(d));
    if (parameters) {
      PetscCall(set_values(q, 1, 0.3));
      PetscCall(TSSetCostHessianProducts(ts, costs, lambda2, mu2, q));
      PetscCall(VecGetLocalSize(u, &rows));
      PetscInt columns;
      PetscCall(VecGetLocalSize(q, &columns));
      PetscCall(
        MatCreateDense(PETSC_COMM_WORLD, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, nullptr, &didp));
      for (PetscInt k = 0; k < 2; ++k) { // PETSc doubles the product
        PetscCall(MatDenseGetColumnVecWrite(didp, k, &column));
        PetscCall(VecCopy(k ? start : s[1], column));
        PetscCall(VecScale(column, k ? -0.5 : 0.5));
        PetscCall(MatDenseRestoreColumnVecWrite(didp, k, &column));
      }
      PetscCall(TSAdjointSetForward(ts, didp));
      PetscCall(MatDestroy(&didp));
    } else {
      PetscCall(VecCopy(d, of_d));
      PetscCall(TSSetCostHessianProducts(ts, costs, lambda2, nullptr, of_d));
      PetscCall(TSAdjointSetForward(ts, nullptr));
    }
    PetscCall(VecDestroy(&d));
    PetscFunctionReturn(PetscErrorCode(0));
  }

  /// The largest difference of the products to differences of gradients with +-e, relative to these.
  PetscErrorCode check(PetscReal e, bool parameters, PetscReal *error, unsigned functions = 15)
  {
    Vec       change[2 * costs];
    PetscReal size, difference;
    PetscFunctionBegin;
    *error = -1;
    for (int n = 0; n < 2 * costs; ++n)
      PetscCall(VecDuplicate(n < costs ? lambda[n] : mu[n - costs], &change[n]));
    if (!of_d) PetscCall(VecDuplicate(u, &of_d));
    PetscCall(gradients(0, parameters)); // keeps the Jacobian of this run if steps share one
    for (int side = 1; side >= -1; side -= 2) {
      PetscCall(gradients(side * e, parameters));
      for (int n = 0; n < 2 * costs; ++n) {
        const Vec v = n < costs ? lambda[n] : mu[n - costs];
        if (side > 0) PetscCall(VecCopy(v, change[n]));
        else PetscCall(VecAXPBY(change[n], -1 / (2 * e), 1 / (2 * e), v));
      }
    }
    PetscCall(set_direction(parameters));
    PetscCall(set_hessians(functions));
    const PetscErrorCode failed = gradients(0, parameters);
    for (int n = 0; n < (parameters ? 2 : 1) * costs && !failed; ++n) {
      PetscCall(VecNorm(change[n], NORM_INFINITY, &size));
      PetscCall(VecAXPY(change[n], -1, n < costs ? lambda2[n] : mu2[n - costs]));
      PetscCall(VecNorm(change[n], NORM_INFINITY, &difference));
      *error = PetscMax(*error, difference / PetscMax(size, PetscReal(0.01)));
    }
    for (Vec &v : change) PetscCall(VecDestroy(&v));
    PetscCall(VecDestroy(&of_d));
    PetscCall(TSAdjointReset(ts));
    PetscCall(TSAdjointResetForward(ts));
    PetscFunctionReturn(failed);
  }
};

Model nonlinear_with(Model::Form form)
{
  return with([=](Model &m) {
    m.form = form, m.cubic = 0.8, m.reacts = 0.5, m.parameter_of_a = form == Model::imex ? 0 : 0.3;
    m.edges = form == Model::rhsfunction ? Model::rates : Model::dirichlet;
  });
}

void expect(SecondOrderTS &run, PetscReal e, PetscReal tolerance, const std::string &what, bool parameters)
{
  PetscReal error;
  OK(run.check(e, parameters, &error));
  EXPECT_GE(error, 0) << what;
  EXPECT_LT(error, tolerance) << what << (parameters ? ", parameters" : ", initial values");
}

} // namespace

/// Gradients are linear in initial values and parameters. Second derivatives that are zero need no function.
TEST_F(TSADIHessian, LinearProblemsAreExact) // one rank
{
  for (const char *method : {"auto", "hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas",
                             "peaceman_rachford", "ra34pw2"}) {
    const Model m = with([](Model &one) { one.edges = Model::neumann, one.varies = 0.2; });
    PetscReal   error;
    for (bool parameters : {false, true}) {
      SecondOrderTS run(m, method);
      OK(run.check(1, parameters, &error, parameters ? 8 : 0));
      EXPECT_GE(error, 0) << method;
      EXPECT_LT(error, 1e-10) << method << " " << parameters;
    }
  }
}

TEST_F(TSADIHessian, NonlinearProblemsWithFixedFactors) // one rank
{
  for (const char *method : {"auto", "hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas",
                             "peaceman_rachford"}) {
    for (Model::Form form : {Model::ifunction, Model::rhsfunction, Model::imex}) {
      for (bool parameters : {false, true}) {
        SecondOrderTS run(nonlinear_with(form), method);
        if (form != Model::imex) {
          OK(TSADISetLagJacobian(run.ts, -1));
        }
        expect(run, 1e-4, 1e-7, std::string(method) + " " + std::to_string(form), parameters);
      }
    }
  }
}

TEST_F(TSADIHessian, TrajectoriesAndRanks)
{
  for (const char *trajectory : {TSTRAJECTORYMEMORY, TSTRAJECTORYBASIC})
    for (bool only_solutions : {false, true}) {
      Model m     = nonlinear_with(Model::ifunction);
      m.n         = 7;
      m.processes = {1, ranks};
      if (ranks == 4) m.processes = {2, 2};
      SecondOrderTS run(m, "auto", trajectory);
      TSTrajectory  tj;
      if (only_solutions && trajectory == std::string(TSTRAJECTORYBASIC)) continue; // PETSc refuses it
      OK(TSGetTrajectory(run.ts, &tj));
      OK(TSTrajectorySetSolutionOnly(tj, only_solutions ? PETSC_TRUE : PETSC_FALSE));
      OK(TSADISetLagJacobian(run.ts, -1));
      expect(run, 1e-4, 1e-7, trajectory, true);
    }
}

/// A product that would not be that of the run is an error.
TEST_F(TSADIHessian, OneErrorForWhatIsNotExact) // one rank
{
  const auto refused = [&](const char *words, const Model &m, bool parameters, unsigned functions) {
    Model cut     = m;
    cut.n         = 9;
    cut.processes = {1, ranks};
    PetscReal     error;
    SecondOrderTS run(cut, "auto");
    if (m.form != Model::imex) {
      OK(TSADISetLagJacobian(run.ts, -1));
    }
    EXPECT_EQ(static_cast<int>(run.check(1e-3, parameters, &error, functions)),
              static_cast<int>(PETSC_ERR_SUP))
      << words;
    EXPECT_TRUE(contains(last_error(), words)) << last_error();
  };
  for (Model::Form form : {Model::ifunction, Model::rhsfunction, Model::imex})
    refused("pass the first function, of F_UU, to TSSetIHessianProduct() or TSSetRHSHessianProduct()",
            nonlinear_with(form), false, 14);
  refused("pass the second and third function, of F_UP and F_PU", nonlinear_with(Model::ifunction), true, 13);
  refused("pass the second and third function, of F_UP and F_PU", nonlinear_with(Model::ifunction), true, 11);
  refused("pass the fourth function, of F_PP", {}, true, 7);
}

/// In equilibrium the Jacobians of all steps are equal, although they depend on the solution.
TEST_F(TSADIHessian, FactorsThatDependOnTheSolution) // one rank
{
  SecondOrderTS run(with([](Model &m) { m.cubic = 0.5; }), "auto");
  OK(VecSet(run.start, 0));
  run.p[0] = run.p[1] = 0;
  OK(VecDuplicate(run.u, &run.of_d));
  OK(run.set_direction(false));
  OK(run.set_hessians());
  EXPECT_EQ(static_cast<int>(run.gradients(0, false)), static_cast<int>(PETSC_ERR_SUP));
  EXPECT_TRUE(contains(last_error(), "TS adi: the Jacobian depends on the solution")) << last_error();
  OK(VecDestroy(&run.of_d));
}

TEST_F(TSADIHessian, TheRunBeforeHasTangents) // one rank
{
  SecondOrderTS run({}, "auto");
  OK(run.gradients(0, false)); // an adjoint of first order, with the set-up of one
  OK(TSSetCostHessianProducts(run.ts, run.costs, run.lambda2, nullptr, run.start));
  EXPECT_EQ(static_cast<int>(run.gradients(0, false)), static_cast<int>(PETSC_ERR_ARG_WRONGSTATE));
  EXPECT_TRUE(contains(last_error(), "call it and TSAdjointSetForward() before TSSolve()")) << last_error();
}

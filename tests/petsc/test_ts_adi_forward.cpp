// SPDX-License-Identifier: BSD-2-Clause
// Forward sensitivities of TS adi against differences of runs.
#include "ts_adi_sensitivities.hpp"

using namespace test;

namespace {

class TSADIForward : public Petsc { };

/// A dense matrix with the rows of the solution.
Mat dense_columns(Vec u, PetscInt columns)
{
  PetscInt size;
  Mat      S;
  VecGetLocalSize(u, &size);
  MatCreateDense(PETSC_COMM_WORLD, size, PETSC_DECIDE, PETSC_DETERMINE, columns, nullptr, &S);
  MatZeroEntries(S);
  return S;
}

void set_column(Mat S, PetscInt column, Vec v)
{
  Vec to;
  OK(MatDenseGetColumnVecWrite(S, column, &to));
  OK(VecCopy(v, to));
  OK(MatDenseRestoreColumnVecWrite(S, column, &to));
}

/// The largest difference of d u(T) / d p to differences of runs with +-e, relative to its values. The initial
/// values depend on the parameters as well: u_0 = start + p_0 s_1 - p_1 start.
PetscErrorCode forward_error(ModelTS &run, PetscReal e, PetscReal *error)
{
  Vec       change[2], direction[2], S;
  Mat       all = dense_columns(run.u, 2);
  PetscReal size, difference;
  PetscFunctionBegin;
  *error = -1;
  for (int k = 0; k < 2; ++k) {
    PetscCall(VecDuplicate(run.u, &change[k]));
    PetscCall(VecDuplicate(run.u, &direction[k]));
    PetscCall(VecCopy(k ? run.start : run.s[1], direction[k]));
    PetscCall(VecScale(direction[k], k ? -1 : 1));
    set_column(all, k, direction[k]);
  }
  PetscCall(run.run(0, run.s[0], 0, 0)); // keeps the Jacobian of this run if steps share one
  for (int k = 0; k < 2; ++k) {
    const PetscReal by = run.m.fused ? 0 : e;
    PetscCall(run.run(e, direction[k], k ? 0 : by, k ? by : 0));
    PetscCall(VecCopy(run.u, change[k]));
    PetscCall(run.run(-e, direction[k], k ? 0 : -by, k ? -by : 0));
    PetscCall(VecAXPY(change[k], -1, run.u));
    PetscCall(VecScale(change[k], 1 / (2 * e)));
  }
  if (!run.m.fused) PetscCall(run.set_parameters()); // otherwise dG/dp is 0
  PetscCall(TSForwardSetSensitivities(run.ts, 2, all));
  PetscErrorCode failed = run.run(0, run.s[0], 0, 0);
  for (int k = 0; k < 2 && !failed; ++k) {
    PetscCall(VecNorm(change[k], NORM_INFINITY, &size));
    PetscCall(MatDenseGetColumnVecRead(all, k, &S));
    PetscCall(VecAXPY(change[k], -1, S));
    PetscCall(MatDenseRestoreColumnVecRead(all, k, &S));
    PetscCall(VecNorm(change[k], NORM_INFINITY, &difference));
    *error = PetscMax(*error, difference / size);
  }
  for (int k = 0; k < 2; ++k) {
    PetscCall(VecDestroy(&change[k]));
    PetscCall(VecDestroy(&direction[k]));
  }
  PetscCall(TSForwardReset(run.ts));
  PetscCall(MatDestroy(&all));
  PetscFunctionReturn(failed);
}

/// A linear problem: differences are exact to rounding.
void expect_exact(
  const Model &m, const char *method, const std::string &what,
  const std::function<void(ModelTS &)> &set = [](ModelTS &) {})
{
  ModelTS   run(m, method);
  PetscReal error;
  set(run);
  OK(forward_error(run, 1, &error));
  EXPECT_GE(error, 0) << method << ", " << what;
  EXPECT_LT(error, 1e-10) << method << ", " << what;
}

} // namespace

TEST_F(TSADIForward, LinearProblemsAreExact) // one rank
{
  for (const char *method : {"auto", "hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas",
                             "peaceman_rachford", "ra34pw2"}) {
    for (Model::Form form : {Model::ifunction, Model::rhsfunction, Model::imex}) {
      for (Model::Edges edges : {Model::rates, Model::dirichlet, Model::neumann}) {
        if (form == Model::rhsfunction && edges != Model::rates) continue;
        expect_exact(with([&](Model &m) { m.form = form, m.edges = edges, m.varies = edges ? 0.2 : 0; }),
                     method, std::to_string(form) + " " + std::to_string(edges));
      }
    }
    if (method != std::string("peaceman_rachford")) {
      expect_exact(with([](Model &m) { m.dim = 1, m.n = 9; }), method, "1D");
      expect_exact(with([](Model &m) { m.dim = 1, m.n = 9, m.couples = true; }), method, "M with couplings");
      expect_exact(with([](Model &m) { m.dim = 3, m.n = 4, m.edges = Model::neumann; }), method, "3D");
    }
  }
  for (const char *method : {"douglas", "craig_sneyd"})
    expect_exact(with([](Model &m) { m.dim = 1, m.n = 9, m.form = Model::rhsfunction, m.fused = true; }),
                 method, "fused steps");
  expect_exact(with([](Model &m) { m.transport = 14, m.varies = 0.9; }), "auto", "the method changes");
  expect_exact(with([](Model &m) { m.varies = 0.9; }), "auto", "one Jacobian for five steps",
               [](ModelTS &run) { OK(TSADISetLagJacobian(run.ts, 5)); });
}

TEST_F(TSADIForward, LinesOfSeveralRanks)
{
  std::vector<std::vector<PetscInt>> all = {{1, ranks}, {ranks, 1}};
  if (ranks == 4) all = {{2, 2}};
  for (const std::vector<PetscInt> &processes : all)
    for (const char *method : {"auto", "modified_craig_sneyd"})
      expect_exact(
        with([&](Model &m) { m.n = 9, m.edges = Model::neumann, m.processes = processes, m.varies = 0.1; }),
        method, std::to_string(processes[0]) + " x " + std::to_string(processes[1]) + " ranks");
}

TEST_F(TSADIForward, NonlinearProblemsWithFixedFactors) // one rank
{
  for (const char *method : {"auto", "hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas",
                             "peaceman_rachford"}) {
    for (Model::Form form : {Model::ifunction, Model::rhsfunction, Model::imex}) {
      ModelTS   run(with([&](Model &m) {
                    m.form = form, m.cubic = 0.8, m.reacts = 0.5;
                    m.edges          = form == Model::rhsfunction ? Model::rates : Model::dirichlet;
                    m.parameter_of_a = form == Model::imex ? 0 : 0.3;
                  }),
                    method);
      PetscReal error;
      if (form != Model::imex) {
        OK(TSADISetLagJacobian(run.ts, -1));
      }
      OK(forward_error(run, 1e-3, &error));
      EXPECT_GE(error, 0) << method << " " << form;
      EXPECT_LT(error, 2e-6) << method << " " << form;
    }
  }
}

/// Runs from other initial values that compute other factors differ in their derivatives, by the order of the
/// method.
TEST_F(TSADIForward, FixedFactorsHaveTheOrderOfTheMethod) // one rank
{
  const std::pair<const char *, PetscReal> methods[] = {{"hundsdorfer_verwer", 2}, {"ra34pw2", 3}};
  for (const auto &[method, order] : methods) {
    PetscReal difference[2];
    for (int k = 0; k < 2; ++k) {
      const auto at = [&, name = method](PetscReal e, Vec result, Mat S) {
        ModelTS run(with([](Model &m) { m.cubic = 0.8; }), name);
        run.size_of_step = k ? 0.00625 : 0.0125;
        OK(TSADISetLagJacobian(run.ts, -1));
        if (S) {
          OK(TSForwardSetSensitivities(run.ts, 1, S));
        }
        OK(run.run(e, run.start, 0, 0));
        OK(VecCopy(run.u, result));
      };
      ModelTS like(with([](Model &) {}), method);
      Vec     change, S;
      Mat     column = dense_columns(like.u, 1);
      set_column(column, 0, like.start);
      OK(VecDuplicate(like.u, &change));
      at(1e-4, change, nullptr);
      at(-1e-4, like.u, nullptr);
      OK(VecAXPBY(change, -1 / 2e-4, 1 / 2e-4, like.u));
      at(0, like.u, column);
      OK(MatDenseGetColumnVecRead(column, 0, &S));
      OK(VecAXPY(change, -1, S));
      OK(MatDenseRestoreColumnVecRead(column, 0, &S));
      OK(VecNorm(change, NORM_INFINITY, &difference[k]));
      OK(MatDestroy(&column));
      OK(VecDestroy(&change));
    }
    EXPECT_GT(difference[1], 1e-8) << method; // the effect of the factors, not of the differences
    EXPECT_NEAR(std::log2(difference[0] / difference[1]), order, 0.25) << method;
  }
}

/// A rolled back step restores sensitivities, too. The time of the event does not depend on the solution.
TEST_F(TSADIForward, StepsThatMeetEvents)
{
  const auto at = [](TS, PetscReal t, Vec, PetscScalar *value, void *) -> PetscErrorCode {
    value[0] = t - 0.1137;
    return PetscErrorCode(0);
  };
  const auto handle = [](TS, PetscInt, PetscInt *, PetscReal, Vec, PetscBool, void *) -> PetscErrorCode {
    return PetscErrorCode(0);
  };
  expect_exact(with([&](Model &m) {
                 m.edges = Model::dirichlet, m.n = 9, m.processes = {1, ranks};
               }),
               "auto", "event", [&](ModelTS &run) {
                 PetscInt  direction = 0;
                 PetscBool terminate = PETSC_FALSE;
                 OK(TSSetEventHandler(run.ts, 1, &direction, &terminate, at, handle, nullptr));
               });
}

TEST_F(TSADIForward, OneErrorForWhatIsNotExact)
{
  const auto refused = [&](const char *words, const Model &m, const std::function<void(ModelTS &)> &set) {
    Model cut     = m;
    cut.n         = 9;
    cut.processes = {1, ranks};
    ModelTS   run(cut, "auto");
    PetscReal error;
    set(run);
    const int code = static_cast<int>(forward_error(run, 1e-3, &error));
    EXPECT_EQ(code, static_cast<int>(PETSC_ERR_SUP)) << words;
    EXPECT_TRUE(contains(last_error(), words)) << last_error();
  };
  refused("TS adi: the Jacobian depends on the solution", with([](Model &m) { m.cubic = 0.5; }),
          [](ModelTS &) {});
  refused("TS adi: the Jacobian depends on the parameters", with([](Model &m) { m.parameter_of_a = 0.5; }),
          [](ModelTS &) {});
  refused("sensitivities need the Jacobian of the RHSFunction",
          with([](Model &m) { m.form = Model::imex, m.derives = false; }), [](ModelTS &) {});
  refused("TS adi: the mass matrix dF/dU' changes", with([](Model &m) { m.mass_grows = 0.5; }),
          [](ModelTS &run) { OK(TSADISetLagJacobian(run.ts, -1)); });
  refused("TS adi: forward sensitivities do not support -ts_adi_rannacher 2", {},
          [](ModelTS &run) { OK(TSADISetRannacher(run.ts, 2)); });
}

TEST_F(TSADIForward, OneErrorForMatricesThatDoNotFit)
{
  const auto refused = [&](const char *words, bool again, const std::function<Mat(ModelTS &)> &matrix) {
    ModelTS run(with([&](Model &m) { m.n = 9, m.processes = {1, ranks}; }), "auto");
    Mat     S = matrix(run);
    OK(run.set_parameters());
    if (again) {
      Mat two = dense_columns(run.u, 2);
      OK(TSForwardSetSensitivities(run.ts, 2, two));
      OK(run.run(0, run.s[0], 0, 0));
      OK(MatDestroy(&two));
    }
    OK(TSForwardSetSensitivities(run.ts, PETSC_DEFAULT, S));
    EXPECT_EQ(static_cast<int>(run.run(0, run.s[0], 0, 0)), static_cast<int>(PETSC_ERR_ARG_WRONG));
    EXPECT_TRUE(contains(last_error(), words)) << last_error();
    OK(MatDestroy(&S));
  };
  for (bool again : {false, true}) // other sensitivities after a run
    refused("has 3 columns, and that of TSSetRHSJacobianP() or TSSetIJacobianP() 2", again,
            [](ModelTS &run) { return dense_columns(run.u, 3); });
  refused("pass a dense matrix with the 90 rows of the solution", false, [](ModelTS &run) {
    Mat S;
    MatDuplicate(run.A, MAT_COPY_VALUES, &S);
    return S;
  });
}

// SPDX-License-Identifier: BSD-2-Clause
// TSAdjointSolve() of TS adi: gradients against differences of runs. Runs of linear problems depend linearly on
// initial values and parameters, so that these differences have no error but rounding.
#include "ts_adi_sensitivities.hpp"

using namespace test;

namespace {

class TSADIAdjoint : public Petsc { };

/// Two gradients are exact to rounding: a linear problem, with any difference.
void expect_exact(const Model &m, const char *method, const std::string &what, PetscReal tolerance = 1e-10)
{
  ModelTS   run(m, method);
  Gradients error;
  OK(run.check(1, &error));
  EXPECT_GE(error.initial, 0) << method << ", " << what;
  EXPECT_LT(error.initial, tolerance) << method << ", " << what;
  EXPECT_LT(error.parameters, tolerance) << method << ", " << what;
}

} // namespace

TEST_F(TSADIAdjoint, LinearProblemsAreExact) // one rank
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
}

TEST_F(TSADIAdjoint, LinesOfSeveralRanks)
{
  std::vector<std::vector<PetscInt>> all = {{1, ranks}, {ranks, 1}};
  if (ranks == 4) all = {{2, 2}};
  for (const std::vector<PetscInt> &processes : all)
    for (const char *method : {"auto", "modified_craig_sneyd"})
      expect_exact(
        with([&](Model &m) { m.n = 9, m.edges = Model::neumann, m.processes = processes, m.varies = 0.1; }),
        method, std::to_string(processes[0]) + " x " + std::to_string(processes[1]) + " ranks");
}

/// The factors are constants: those of the first run, or of a linear implicit part, or of the application.
TEST_F(TSADIAdjoint, NonlinearProblemsWithFixedFactors) // one rank
{
  const auto expect = [](ModelTS &run, const std::string &what) {
    Gradients error;
    OK(run.check(1e-3, &error));
    EXPECT_LT(error.initial, 1e-6) << what;
    EXPECT_LT(error.parameters, 1e-6) << what;
    EXPECT_GE(error.initial, 0) << what;
  };
  for (const char *method : {"auto", "hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas",
                             "peaceman_rachford"}) {
    for (Model::Form form : {Model::ifunction, Model::rhsfunction, Model::imex}) {
      const Model m =
        with([&](Model &one) { one.form = form, one.cubic = 0.8, one.edges = Model::dirichlet; });
      Model n = m;
      if (form == Model::rhsfunction) n.edges = Model::rates;
      ModelTS run(n, method);
      if (form != Model::imex) {
        OK(TSADISetLagJacobian(run.ts, -1));
      }
      expect(run, std::string(method) + " " + std::to_string(form));
    }
    // the Jacobian of a depends on p
    ModelTS run(with([](Model &m) { m.parameter_of_a = 0.3, m.cubic = 0.2; }), method);
    OK(TSADISetLagJacobian(run.ts, -1));
    expect(run, std::string(method) + ", parameters of the Jacobian");
  }
}

TEST_F(TSADIAdjoint, DirectionsOfTheApplication) // one rank
{
  ModelTS    run(with([](Model &m) { m.cubic = 0.8; }), "ra34pw2");
  const auto nothing = [](TS, PetscReal, Vec, Mat, void *) -> PetscErrorCode { return PetscErrorCode(0); };
  Mat        D[2];
  Gradients  error;
  for (int d = 0; d < 2; ++d) { // -2 on the diagonals, 1 along the direction
    PetscInt begin, end;
    OK(MatDuplicate(run.A, MAT_DO_NOT_COPY_VALUES, &D[d]));
    OK(MatGetOwnershipRange(D[d], &begin, &end));
    for (PetscInt r = begin; r < end; ++r) {
      const PetscInt    x = r % run.m.n, y = r / run.m.n, at = d ? y : x, last = d ? run.m.n : run.m.n - 1;
      const PetscInt    columns[3] = {r, at > 0 ? r - (d ? run.m.n : 1) : -1,
                                   at < last ? r + (d ? run.m.n : 1) : -1};
      const PetscScalar values[3]  = {-16, 8, 8};
      OK(MatSetValues(D[d], 1, &r, 3, columns, values, INSERT_VALUES));
    }
    OK(MatAssemblyBegin(D[d], MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(D[d], MAT_FINAL_ASSEMBLY));
    OK(TSADISetDirectionJacobian(run.ts, d, D[d], nothing, nullptr));
  }
  OK(run.check(1e-3, &error));
  EXPECT_GE(error.initial, 0);
  EXPECT_LT(error.initial, 1e-6);
  EXPECT_LT(error.parameters, 1e-6);
  for (Mat &one : D) OK(MatDestroy(&one));
}

TEST_F(TSADIAdjoint, TrajectoriesAndJacobians) // one rank
{
  const auto expect = [](const Model &m, const char *method, const char *trajectory, bool only_solutions,
                         PetscReal tolerance, const std::function<void(ModelTS &)> &set) {
    ModelTS   run(m, method);
    Gradients error;
    set(run);
    OK(run.check(1, &error, trajectory, only_solutions));
    EXPECT_GE(error.initial, 0);
    EXPECT_LT(error.initial, tolerance) << method << " " << trajectory;
    EXPECT_LT(error.parameters, tolerance) << method << " " << trajectory;
  };
  const auto  none = [](ModelTS &) {};
  const Model m    = with([](Model &one) { one.edges = Model::neumann; });
  for (const char *method : {"auto", "craig_sneyd", "douglas"}) {
    expect(m, method, TSTRAJECTORYMEMORY, true, 1e-10, none);
    expect(m, method, TSTRAJECTORYBASIC, false, 1e-10, none);
  }
  Model coloured    = m;
  coloured.coloured = true;
  expect(coloured, "auto", TSTRAJECTORYMEMORY, false, 1e-5, none);
  const Model fused =
    with([](Model &one) { one.dim = 1, one.n = 9, one.form = Model::rhsfunction, one.fused = true; });
  for (const char *method : {"douglas", "craig_sneyd"})
    expect(fused, method, TSTRAJECTORYMEMORY, false, 1e-10, none);
  // the method changes with the step
  const Model windy = with([](Model &one) { one.transport = 14, one.varies = 0.9; });
  expect(windy, "auto", TSTRAJECTORYMEMORY, false, 1e-9, none);
  expect(windy, "auto", TSTRAJECTORYBASIC, false, 1e-9, none);
}

/// The time of an event does not depend on the solution.
TEST_F(TSADIAdjoint, StepsThatMeetEvents) // one rank
{
  const auto at = [](TS, PetscReal t, Vec, PetscScalar *value, void *) -> PetscErrorCode {
    value[0] = t - 0.1137;
    return PetscErrorCode(0);
  };
  const auto handle = [](TS, PetscInt, PetscInt *, PetscReal, Vec, PetscBool, void *) -> PetscErrorCode {
    return PetscErrorCode(0);
  };
  ModelTS   run(with([](Model &m) { m.edges = Model::dirichlet; }), "auto");
  Gradients error;
  PetscInt  direction = 0;
  PetscBool terminate = PETSC_FALSE;
  OK(TSSetEventHandler(run.ts, 1, &direction, &terminate, at, handle, nullptr));
  OK(run.check(1, &error));
  EXPECT_GE(error.initial, 0);
  EXPECT_LT(error.initial, 1e-10);
  EXPECT_LT(error.parameters, 1e-10);
}

/// A gradient that would not be that of the run is an error.
TEST_F(TSADIAdjoint, OneErrorForWhatIsNotExact)
{
  const auto refused = [&](const char *words, const Model &m, const char *method,
                           const std::function<void(ModelTS &)> &set) {
    Model cut     = m;
    cut.n         = 9;
    cut.processes = {1, ranks};
    ModelTS   run(cut, method);
    Gradients error;
    set(run);
    const int code = static_cast<int>(run.check(1e-3, &error));
    EXPECT_EQ(code, static_cast<int>(PETSC_ERR_SUP)) << words;
    EXPECT_TRUE(contains(last_error(), words)) << last_error();
  };
  const auto  none      = [](ModelTS &) {};
  const Model nonlinear = with([](Model &m) { m.cubic = 0.5; });
  for (const char *method : {"auto", "douglas", "craig_sneyd"})
    refused("TS adi: the Jacobian depends on the solution", nonlinear, method, none);
  refused("TS adi: the Jacobian depends on the solution", nonlinear, "auto",
          [](ModelTS &run) { run.fixed(0.05, 0.05); });
  refused("TS adi: the Jacobian depends on the parameters", with([](Model &m) { m.parameter_of_a = 0.5; }),
          "auto", none);
  refused("that of earlier steps of -ts_adi_lag_jacobian 2", with([](Model &m) { m.varies = 0.5; }), "auto",
          [](ModelTS &run) { OK(TSADISetLagJacobian(run.ts, 2)); });
  refused("TSAdjointSolve() does not support -ts_adi_rannacher 2", {}, "auto",
          [](ModelTS &run) { OK(TSADISetRannacher(run.ts, 2)); });
  refused("call TSSetRHSJacobian() with a matrix",
          with([](Model &m) { m.form = Model::imex, m.derives = false; }), "auto", none);
  refused("TS adi: the mass matrix dF/dU' changes", with([](Model &m) { m.mass_grows = 0.5; }), "auto",
          [](ModelTS &run) { OK(TSADISetLagJacobian(run.ts, -1)); });
  refused("TS adi does not integrate costs over time (TSCreateQuadratureTS())", {}, "auto", [](ModelTS &run) {
    TS integral;
    OK(TSCreateQuadratureTS(run.ts, PETSC_FALSE, &integral));
  });
}

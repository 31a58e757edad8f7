// SPDX-License-Identifier: BSD-2-Clause
// TS adi: orders on problems with known solutions, and boundedness.
#include "ts_adi_problems.hpp"

using namespace test;

namespace {

class TSADIOrder : public Petsc { };
class TSADIBounds : public Petsc { };

struct Errors {
  PetscReal largest, mean;
};

Errors errors_with(const Diffusion &problem, const char *method, PetscReal dt,
                   const std::vector<PetscInt> &processes = {})
{
  DiffusionTS run(problem, method, processes);
  run.fixed(dt, 0.5);
  EXPECT_EQ(static_cast<int>(TSSolve(run.ts, run.u)), 0) << last_error();
  return {run.error(NORM_INFINITY), run.error(NORM_2)};
}

struct Case {
  const char *name;
  Diffusion   problem;
  PetscReal   order[6]; ///< of `methods`, between two steps; 0: not for this problem
};

/// No less than what is listed by a tenth, in the maximum norm and in the mean.
void expect_orders(const std::vector<Case> &cases)
{
  for (const Case &c : cases) {
    for (std::size_t k = 0; k < 6; ++k) {
      if (c.order[k] == 0) continue;
      const Errors coarse   = errors_with(c.problem, methods[k], 0.0125),
                   fine     = errors_with(c.problem, methods[k], 0.00625);
      const PetscReal order = std::log2(coarse.largest / fine.largest);
      EXPECT_GT(order, c.order[k] - 0.1)
        << c.name << ", " << methods[k] << ": " << coarse.largest << ", " << fine.largest;
      EXPECT_GT(std::log2(coarse.mean / fine.mean), c.order[k] - 0.1)
        << c.name << ", " << methods[k] << ", mean";
    }
  }
}

} // namespace

TEST_F(TSADIOrder, BoundariesOfEveryKind) // one rank
{
  expect_orders(
    {{"Dirichlet", heat, {1.8, 1.9, 2, 2, 2, 2.9}},
     {"Neumann", problem_with([](Diffusion &p) { p.boundary = Diffusion::neumann; }), {2, 2, 2, 2, 2, 2.9}},
     {"rows u_t = g'",
      problem_with([](Diffusion &p) { p.boundary = Diffusion::rates, p.form = Diffusion::rhsfunction; }),
      {2, 2, 2, 2, 2, 3}},
     {"eliminated boundary",
      problem_with([](Diffusion &p) { p.boundary = Diffusion::eliminated, p.form = Diffusion::rhsfunction; }),
      {1.9, 2, 2, 2, 2, 2.9}}});
}

TEST_F(TSADIOrder, OneAndThreeDirectionsAndMass) // one rank
{
  expect_orders(
    {{"Dirichlet 3D", heat_3d, {1.8, 1.9, 2, 2, 0, 2.9}},
     {"Neumann 3D",
      problem_with([](Diffusion &p) { p.dim = 3, p.n = 6, p.boundary = Diffusion::neumann; }),
      {1.8, 1.8, 1.9, 2, 0, 2.8}},
     {"one direction", problem_with([](Diffusion &p) { p.dim = 1, p.n = 33; }), {2, 2, 2, 2, 0, 2.9}},
     {"mass 3", problem_with([](Diffusion &p) { p.mass = 3; }), {1.8, 1.9, 2, 2, 2, 2.9}}});
}

TEST_F(TSADIOrder, MixedDerivativesReactionAndAdvection) // one rank
{
  expect_orders(
    {{"mixed derivative", problem_with([](Diffusion &p) { p.mixed = 0.1; }), {1.8, 1.9, 2, 0, 0, 2.9}},
     {"reaction", reaction, {1.9, 1.75, 2, 0, 0, 2.9}},
     {"advection", problem_with([](Diffusion &p) { p.v = 0.5; }), {1.8, 1.9, 2, 2, 2, 2.9}},
     {"IMEX: advection and reaction explicit",
      problem_with([](Diffusion &p) { p.form = Diffusion::imex, p.v = 0.2, p.cubic = 0.1, p.growth = 1; }),
      {1.8, 1.8, 1.9, 0.8, 0, 2.6}},
     {"periodic, reaction",
      problem_with([](Diffusion &p) { p.n = 10, p.boundary = Diffusion::periodic, p.cubic = p.growth = 1; }),
      {2, 2, 1.95, 0, 0, 2.9}}});
}

/// Stiff problems whose functions depend on time. Without terms for that the order is 1 to 2.
TEST_F(TSADIOrder, FunctionsOfTime)
{
  struct Case {
    const char *name;
    Diffusion   problem;
    PetscReal   gain[2]; ///< quotient of the errors without and with these terms: hundsdorfer_verwer, ra34pw2
  };
  const Case cases[] = {
    {"boundary values",
     problem_with([](Diffusion &p) {
       p.n = 17, p.a = 1, p.boundary = Diffusion::eliminated, p.form = Diffusion::rhsfunction;
     }),
     {4, 4}},
    {"boundary values and a mass",
     problem_with([](Diffusion &p) { p.n = 17, p.a = 1, p.boundary = Diffusion::eliminated, p.mass = 3; }),
     {4, 4}},
    {"boundary values, 3D, two components",
     problem_with([](Diffusion &p) {
       p.dim = 3, p.n = 6, p.components = 2, p.boundary = Diffusion::eliminated,
       p.form = Diffusion::rhsfunction;
     }),
     {4, 1.1}},
    {"a source",
     problem_with([](Diffusion &p) { p.n = 10, p.boundary = Diffusion::periodic, p.cubic = p.growth = 1; }),
     {1.2, 3}},
  };
  const char *const tested[] = {"hundsdorfer_verwer", "ra34pw2"};
  for (const Case &c : cases)
    for (int k = 0; k < 2; ++k) {
      PetscReal error[2];
      for (int with = 0; with < 2; ++with) {
        DiffusionTS run(c.problem, tested[k],
                        k ? std::vector<PetscInt>{1, ranks} : std::vector<PetscInt>{ranks, 1});
        run.fixed(0.025, 0.5);
        OK(TSADISetTimeDerivative(run.ts, with ? PETSC_TRUE : PETSC_FALSE));
        OK(TSSolve(run.ts, run.u));
        error[with] = run.error();
      }
      EXPECT_LT(error[1] * c.gain[k], error[0]) << c.name << ", " << tested[k];
    }
}

/// Ranks with one or two rows, and lines of two elements.
TEST_F(TSADIOrder, FunctionsOfTimeOnFewRows)
{
  for (PetscInt n : {2, 3})
    for (const char *method : {"hundsdorfer_verwer", "ra34pw2"}) {
      if (n < ranks && ranks != 4) continue;
      DiffusionTS run(problem_with([&](Diffusion &p) { p.n = n, p.boundary = Diffusion::eliminated; }),
                      method, ranks == 4 ? std::vector<PetscInt>{2, 2} : std::vector<PetscInt>{1, ranks});
      run.fixed(0.025, 0.5);
      EXPECT_EQ(static_cast<int>(TSSolve(run.ts, run.u)), 0) << last_error();
      EXPECT_LT(run.error(), 2e-3) << method << ", " << n;
    }
}

TEST_F(TSADIOrder, LinesOfSeveralRanks)
{
  const Diffusion batch = problem_with([](Diffusion &p) { p.along = 1, p.components = 2; });
  for (const char *method : {"hundsdorfer_verwer", "douglas", "ra34pw2"}) {
    const Errors coarse   = errors_with(batch, method, 0.025, {1, ranks}),
                 fine     = errors_with(batch, method, 0.0125, {1, ranks});
    const PetscReal order = std::log2(coarse.largest / fine.largest);
    EXPECT_GT(order, method == std::string("ra34pw2") ? 2.8 : 1.9) << method;
  }
}

TEST_F(TSADIOrder, LinesThatRanksCut)
{
  for (const char *method : {"hundsdorfer_verwer", "douglas", "ra34pw2"}) {
    const Errors coarse   = errors_with(heat, method, 0.025, {1, ranks}),
                 fine     = errors_with(heat, method, 0.0125, {1, ranks});
    const PetscReal order = std::log2(coarse.largest / fine.largest);
    EXPECT_GT(order, method == std::string("ra34pw2") ? 2.7 : 1.7) << method;
  }
}

/// One formula: its order does not depend on the weight (K. J. in 't Hout, B. D. Welfert, Appl. Numer. Math.
/// 59 (2009), modified Craig-Sneyd).
TEST_F(TSADIOrder, CraigSneydWithAnyWeight) // one rank
{
  for (const char *method : {"craig_sneyd", "modified_craig_sneyd"})
    for (const PetscReal theta : {1. / 3, 0.5, 0.7}) {
      PetscReal error[2];
      for (int k = 0; k < 2; ++k) {
        DiffusionTS run(heat, method);
        run.fixed(k ? 0.0125 : 0.025, 0.5);
        OK(TSADISetTheta(run.ts, theta));
        OK(TSSolve(run.ts, run.u));
        error[k] = run.error();
      }
      EXPECT_GT(std::log2(error[0] / error[1]), 1.8) << method << ", theta " << theta;
    }
}

TEST_F(TSADIOrder, RannacherStartKeepsTheOrder) // one rank
{
  PetscReal error[2];
  for (int k = 0; k < 2; ++k) {
    DiffusionTS run(heat, "craig_sneyd");
    run.fixed(k ? 0.0125 : 0.025, 0.5);
    OK(TSADISetRannacher(run.ts, 2));
    OK(TSSolve(run.ts, run.u));
    error[k] = run.error();
  }
  EXPECT_GT(std::log2(error[0] / error[1]), 1.8);
}

/// 10^4 times the step of an explicit method, from a start that is not smooth.
TEST_F(TSADIBounds, LargeSteps) // one rank
{
  for (const Diffusion &problem : {problem_with([](Diffusion &p) { p.steady = true; }),
                                   problem_with([](Diffusion &p) { p.steady = true, p.dim = 3, p.n = 7; }),
                                   problem_with([](Diffusion &p) {
                                     p.steady = true, p.boundary = Diffusion::eliminated, p.mixed = 0.15;
                                   })}) {
    for (const char *method : methods) {
      // with an explicit part it is not
      if (method == std::string("peaceman_rachford") && (problem.dim == 3 || problem.mixed != 0)) continue;
      DiffusionTS     run(problem, method);
      const PetscReal dt =
        1e4 * problem.step() * problem.step() / (2 * static_cast<PetscReal>(problem.dim) * problem.a);
      run.fixed(dt, 40 * dt);
      run.walk(
        [&](const PetscInt *at, const PetscReal *, PetscScalar *value) {
          value[0] += static_cast<PetscReal>((at[0] * 7 + at[1] * 5 + at[2] * 3) % 11 - 5);
        },
        run.u);
      TSSetTime(run.ts, 0);
      const PetscReal before = [&] {
        PetscReal norm;
        run.fill(0, run.exact);
        VecAXPY(run.exact, -1, run.u);
        VecNorm(run.exact, NORM_2, &norm);
        return norm;
      }();
      PetscInt size;
      OK(VecGetSize(run.u, &size));
      OK(TSSolve(run.ts, run.u));
      const PetscReal after = run.error(NORM_2) * std::sqrt(static_cast<PetscReal>(size));
      EXPECT_LT(after, 1.5 * before) << method << " in " << problem.dim << "D, mixed " << problem.mixed;
    }
  }
}

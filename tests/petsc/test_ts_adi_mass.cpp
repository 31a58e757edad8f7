// SPDX-License-Identifier: BSD-2-Clause
// TS adi with mass matrices that are Kronecker products: finite elements on tensor grids.
#include "finite_elements.hpp"

#include "adi/factors.hpp"

#include <petsc/private/tsimpl.h>

using namespace test;

namespace {

class TSADIMass : public Petsc { };

FiniteElements elements_with(const std::function<void(FiniteElements &)> &change)
{
  FiniteElements p;
  change(p);
  return p;
}

PetscReal error_with(const FiniteElements &problem, const char *method, PetscReal dt,
                     const std::vector<PetscInt> &processes = {})
{
  FiniteElementsTS run(problem, method, processes);
  run.fixed(dt, 0.5);
  EXPECT_EQ(static_cast<int>(TSSolve(run.ts, run.u)), 0) << last_error();
  return run.error();
}

/// Natural, so that runs on other ranks can be compared.
std::vector<PetscScalar> values_of(DM da, Vec u)
{
  Vec                      natural, all;
  VecScatter               scatter;
  const PetscScalar       *v;
  PetscInt                 n;
  std::vector<PetscScalar> values;
  DMDACreateNaturalVector(da, &natural);
  DMDAGlobalToNaturalBegin(da, u, INSERT_VALUES, natural);
  DMDAGlobalToNaturalEnd(da, u, INSERT_VALUES, natural);
  VecScatterCreateToAll(natural, &scatter, &all);
  VecScatterBegin(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD);
  VecScatterEnd(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD);
  VecGetLocalSize(all, &n);
  VecGetArrayRead(all, &v);
  values.assign(v, v + n);
  VecRestoreArrayRead(all, &v);
  VecScatterDestroy(&scatter);
  VecDestroy(&all);
  VecDestroy(&natural);
  return values;
}

using P = FiniteElements;

} // namespace

/// Solves along the directions are those of the product of M_d - a K_d, for every kind of boundary.
TEST_F(TSADIMass, SolvesWithTheProduct)
{
  using namespace ribbon::petsc;
  const PetscReal a = 0.3, shift = 2;
  for (PetscInt dim : {2, 3})
    for (auto boundary : {P::dirichlet, P::neumann, P::eliminated, P::periodic})
      for (PetscInt components : {1, 2}) {
        FiniteElements problem;
        problem.dim = dim, problem.n = 6, problem.boundary = boundary, problem.components = components;
        problem.stretched = boundary != P::periodic, problem.reaction = 3, problem.by_component = 4;
        FiniteElementsTS   run(problem);
        DirectionSplitting splitting;
        DirectionFactors   factors;
        Mat                product;
        Vec                mass, b, x, scaled;
        PetscReal          norm;
        bool               changed;
        for (Vec *v : {&mass, &b, &x}) OK(VecDuplicate(run.u, v));
        OK(MatGetRowSum(run.M, mass));
        OK(FiniteElementsTS::i_jacobian(run.ts, 0, run.u, run.u, shift, run.J, run.J, &run));
        OK(splitting.update({run.J, run.da, shift, mass, run.M}, &changed));
        ASSERT_TRUE(changed && splitting.has_tensor_mass());
        ASSERT_EQ(splitting.directions(), dim);
        OK(DMCreateMatrix(run.da, &product));
        run.assemble(
          product, true, [&](const auto &along, const auto &, const int *i, const int *j, PetscInt c) {
            PetscReal of_directions = 1;
            for (std::size_t d = 0; d < along.size(); ++d) {
              const PetscReal m = along[d].mass[i[d]][j[d]], k = along[d].stiffness[i[d]][j[d]];
              of_directions *=
                m + a * (problem.a[d] * (1 + problem.by_component * static_cast<PetscReal>(c)) * k +
                         problem.reaction / static_cast<PetscReal>(dim) * m);
            }
            return of_directions;
          });
        OK(VecSetRandom(b, nullptr));
        for (int d = 0; d < dim; ++d) OK(factors.factor(splitting, d, 0, 1, a, nullptr));
        OK(splitting.set_tensor_factors({1, 1, 1}, {a, a, a}));
        OK(splitting.scale_rhs(b, &scaled));
        OK(VecCopy(scaled, run.work));
        for (int d = 0; d < dim; ++d) {
          OK(factors.solve(d, run.work, x));
          OK(VecCopy(x, run.work));
        }
        OK(MatMult(product, x, run.work));
        OK(VecAXPY(run.work, -1, b));
        OK(VecNorm(run.work, NORM_INFINITY, &norm));
        EXPECT_LT(norm, 1e-11) << dim << "D, boundary " << boundary << ", components " << components;
        OK(splitting.update({run.J, run.da, shift, mass, run.M}, &changed));
        EXPECT_FALSE(changed);
        OK(MatScale(run.K, 2));
        OK(FiniteElementsTS::i_jacobian(run.ts, 0, run.u, run.u, shift, run.J, run.J, &run));
        OK(splitting.update({run.J, run.da, shift, mass, run.M}, &changed));
        EXPECT_TRUE(changed);
        for (Vec *v : {&mass, &b, &x}) OK(VecDestroy(v));
        OK(MatDestroy(&product));
      }
}

namespace {

struct Case {
  const char    *name;
  FiniteElements problem;
  PetscReal      douglas; ///< least order of `douglas`
};

void expect_orders(const Case &c)
{
  for (const char *method : {"hundsdorfer_verwer", "douglas", "auto"}) {
    const PetscReal coarse = error_with(c.problem, method, 0.025),
                    fine = error_with(c.problem, method, 0.0125), order = std::log2(coarse / fine);
    const PetscReal least = *method == 'd' ? c.douglas : *method == 'h' ? 1.65 : 2.6;
    EXPECT_GT(order, least) << c.name << ", " << method << ": " << coarse << ", " << fine;
  }
}

} // namespace

TEST_F(TSADIMass, Orders) // one rank
{
  const Case cases[] = {
    {"Dirichlet", elements_with([](P &) {}), 1.95},
    {"Dirichlet, rounding of differences", elements_with([](P &p) { p.coupled = 1e-12; }), 1.95},
    {"Neumann", elements_with([](P &p) { p.boundary = P::neumann; }), 1.95},
    {"stretched", elements_with([](P &p) { p.stretched = true; }), 1.95},
    {"coefficients that vary", elements_with([](P &p) { p.varies = 0.5, p.stretched = true; }), 0.8},
    {"mixed derivative", elements_with([](P &p) { p.mixed = 0.1; }), 0.8},
    {"growth", elements_with([](P &p) { p.growth = 1; }), 0.8},
    {"IMEX", elements_with([](P &p) { p.form = P::rhsfunction; }), 1.95},
    {"3D", elements_with([](P &p) { p.dim = 3, p.n = 5; }), 1.95},
    {"3D Neumann, components", elements_with([](P &p) {
       p.dim = 3, p.n = 4, p.boundary = P::neumann, p.components = 2, p.by_component = 1;
     }),
     1.95},
  };
  for (const Case &c : cases) expect_orders(c);
}

TEST_F(TSADIMass, OrdersWithJacobiansByDifferences) // one rank
{
  const FiniteElements problem = elements_with([](P &p) { p.differences = true; });
  if (is_on_device(FiniteElementsTS(problem).u))
    GTEST_SKIP() << "with coloured differences of such a function TSBEULER does not converge on a device";
  expect_orders({"differences", problem, 1.95});
}

/// The default measures transport with the symbols of K and M. Diffusion has none.
TEST_F(TSADIMass, TheDefaultIsOfOrderThreeForDiffusion) // one rank
{
  const FiniteElements problem = elements_with([](P &p) { p.boundary = P::eliminated; });
  const PetscReal expected     = error_with(problem, "ra34pw2", 0.025); // sums on a device differ by rounding
  EXPECT_NEAR(error_with(problem, "auto", 0.025), expected, 1e-6 * expected);
}

TEST_F(TSADIMass, RanksAgree)
{
  for (auto boundary : {P::dirichlet, P::neumann, P::periodic})
    for (PetscInt dim : {2, 3}) {
      const FiniteElements problem = elements_with(
        [&](P &p) { p.boundary = boundary, p.dim = dim, p.n = 8, p.varies = dim == 2 ? 0.3 : 0; });
      FiniteElementsTS alone(problem, "auto", {1}, PETSC_COMM_SELF);
      alone.fixed(0.05, 0.2);
      OK(TSSolve(alone.ts, alone.u));
      const auto                         expected = values_of(alone.da, alone.u);
      std::vector<std::vector<PetscInt>> layouts  = {{ranks, 1, 1}, {1, ranks, 1}};
      if (ranks == 4) layouts.push_back({2, 2, 1});
      if (dim == 3) layouts.push_back({1, 1, ranks});
      for (const auto &layout : layouts) {
        FiniteElementsTS run(problem, "auto", layout);
        run.fixed(0.05, 0.2);
        OK(TSSolve(run.ts, run.u));
        const auto found   = values_of(run.da, run.u);
        PetscReal  largest = 0;
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t k = 0; k < found.size(); ++k)
          largest = PetscMax(largest, PetscAbsScalar(found[k] - expected[k]));
        EXPECT_LT(largest, 1e-11) << dim << "D, boundary " << boundary << ", " << layout[0] << " "
                                  << layout[1];
      }
    }
}

/// Steps far beyond those of explicit methods, also with couplings that stay explicit.
TEST_F(TSADIMass, LongStepsAreBounded) // one rank
{
  for (auto boundary : {P::dirichlet, P::neumann, P::eliminated})
    for (int kind = 0; kind < 3; ++kind) {
      const FiniteElements problem = elements_with([&](P &p) {
        p.boundary = boundary, p.n = 17, p.stretched = true;
        if (kind == 0) p.a = {10, 0.01, 1};
        if (kind == 1) p.varies = 0.9, p.components = 2, p.by_component = 99;
        if (kind == 2) p.a = {1, 1, 1}, p.mixed = 1;
      });
      FiniteElementsTS     run(problem, kind == 1 ? "auto" : "hundsdorfer_verwer");
      PetscReal            norm;
      run.fixed(0.1, 10);
      OK(TSADISetRannacher(run.ts, kind == 0 ? 2 : 0));
      OK(VecSetRandom(run.u, nullptr));
      OK(TSSolve(run.ts, run.u));
      OK(VecNorm(run.u, NORM_INFINITY, &norm));
      EXPECT_LT(norm, 10) << "boundary " << boundary << ", kind " << kind;
    }
}

/// Error estimates by embedded methods and, in the first step of douglas, with factored solves of M.
TEST_F(TSADIMass, StepsFollowTheTolerance) // one rank
{
  for (const char *method : {"auto", "hundsdorfer_verwer", "douglas"}) {
    PetscReal error[2];
    PetscInt  steps[2];
    for (int k = 0; k < 2; ++k) {
      const PetscReal  tolerance = k ? 1e-6 : 1e-4;
      FiniteElementsTS run(FiniteElements{}, method);
      TSAdapt          adapt;
      OK(TSGetAdapt(run.ts, &adapt));
      OK(TSAdaptSetType(adapt, TSADAPTBASIC));
      OK(TSSetTolerances(run.ts, tolerance, nullptr, tolerance, nullptr));
      OK(TSSetTimeStep(run.ts, 0.5));
      OK(TSSetMaxTime(run.ts, 1));
      OK(TSSolve(run.ts, run.u));
      OK(TSGetStepNumber(run.ts, &steps[k]));
      error[k] = run.error();
    }
    EXPECT_LT(error[0], 2e-2) << method;
    EXPECT_LT(error[1], error[0] / 5) << method;
    EXPECT_GT(steps[1], steps[0]) << method;
    EXPECT_LT(steps[1], 2000) << method;
  }
}

/// M is computed once and compared afterwards. Factors are kept.
TEST_F(TSADIMass, OneJacobianInAStep) // one rank
{
  FiniteElementsTS run(FiniteElements{}, "ra34pw2");
  run.fixed(0.125, 1);
  OK(TSSolve(run.ts, run.u));
  EXPECT_EQ(run.jacobians, 8 + 1);
}

TEST_F(TSADIMass, Refusals)
{
  const auto refused = [](const FiniteElements &problem, const char *method, const std::string &text,
                          const char *option = nullptr) {
    if (option) PetscOptionsInsertString(nullptr, option);
    FiniteElementsTS run(problem, method);
    run.fixed(0.1, 0.2);
    EXPECT_NE(static_cast<int>(TSSolve(run.ts, run.u)), 0) << text;
    EXPECT_NE(last_error().find(text), std::string::npos) << last_error();
    if (option) PetscOptionsClear(nullptr);
  };
  PetscInt row = 4 + 4 * FiniteElements{}.size(0); // whose entry is broken
  {
    AO               ao;
    FiniteElementsTS run(FiniteElements{});
    OK(DMDAGetAO(run.da, &ao));
    OK(AOApplicationToPetsc(ao, 1, &row));
  }
  for (PetscReal change : {1e-2, 1.})
    refused(
      elements_with([=](P &p) { p.broken = change, p.boundary = P::neumann; }), "auto",
      "ADI in 2 directions needs a mass matrix that is diagonal, or a Kronecker product of one matrix for "
      "each direction: row " +
        std::to_string(row) +
        " is no product of rows along the directions; one direction alone takes others");
  for (const char *method : {"craig_sneyd", "modified_craig_sneyd", "peaceman_rachford"})
    refused(FiniteElements{}, method,
            std::string("TS adi: -ts_adi_type ") + method +
              " with several directions needs a diagonal mass matrix");
  refused(FiniteElements{}, "auto", "the options of -adi_y_", "-adi_y_pc_line_compare");
  refused(FiniteElements{}, "douglas", "steps cannot be fused: the Jacobian couples along 2 directions",
          "-ts_adi_constant_linear -ts_adi_fuse_steps 1");
  refused(elements_with([](P &p) { p.partial = true; }), "auto",
          " is zero, but not all rows of a face of the grid are");
  refused(elements_with([](P &p) { p.coupled = 0.1; }), "auto",
          "several directions take equations of the form u = g");
}

/// The gradient of such steps is not implemented.
TEST_F(TSADIMass, NoAdjoint) // one rank
{
  FiniteElementsTS run(FiniteElements{}, "ra34pw2");
  Vec              gradient;
  OK(TSSetSaveTrajectory(run.ts));
  OK(TSTrajectorySetType(run.ts->trajectory, run.ts, TSTRAJECTORYMEMORY));
  run.fixed(0.1, 0.2);
  OK(TSSolve(run.ts, run.u));
  OK(VecDuplicate(run.u, &gradient));
  OK(VecSet(gradient, 1));
  OK(TSSetCostGradients(run.ts, 1, &gradient, nullptr));
  EXPECT_NE(static_cast<int>(TSAdjointSolve(run.ts)), 0);
  EXPECT_NE(last_error().find("TSAdjointSolve() with several directions needs a diagonal mass matrix"),
            std::string::npos)
    << last_error();
  OK(VecDestroy(&gradient));
}

/// The problem is linear, so that a difference of two runs is the derivative by initial values.
TEST_F(TSADIMass, ForwardSensitivities) // one rank
{
  for (const char *method : {"hundsdorfer_verwer", "ra34pw2", "douglas"}) {
    for (FiniteElements::Boundary boundary : {FiniteElements::neumann, FiniteElements::dirichlet}) {
      FiniteElementsTS run(elements_with([&](FiniteElements &p) { p.boundary = boundary; }), method);
      Mat              S;
      Vec              column, start, before;
      PetscInt         size;
      PetscReal        norm, difference;
      OK(VecDuplicate(run.u, &start));
      OK(VecDuplicate(run.u, &before));
      OK(VecCopy(run.u, start));
      run.fixed(0.05, 0.2);
      OK(TSSolve(run.ts, run.u));
      OK(VecCopy(run.u, before));
      // the direction is 1 + start
      OK(VecGetLocalSize(run.u, &size));
      OK(MatCreateDense(PETSC_COMM_WORLD, size, PETSC_DECIDE, PETSC_DETERMINE, 1, nullptr, &S));
      OK(MatDenseGetColumnVecWrite(S, 0, &column));
      OK(VecCopy(start, column));
      OK(VecShift(column, 1));
      OK(VecWAXPY(run.u, 1, start, column));
      OK(MatDenseRestoreColumnVecWrite(S, 0, &column));
      OK(TSForwardSetSensitivities(run.ts, 1, S));
      OK(TSSetTime(run.ts, 0));
      OK(TSSetStepNumber(run.ts, 0));
      OK(TSSetTimeStep(run.ts, 0.05));
      OK(TSSolve(run.ts, run.u));
      OK(VecAXPY(before, -1, run.u));
      OK(VecNorm(before, NORM_INFINITY, &norm));
      OK(MatDenseGetColumnVecRead(S, 0, &column));
      OK(VecAXPY(before, 1, column));
      OK(MatDenseRestoreColumnVecRead(S, 0, &column));
      OK(VecNorm(before, NORM_INFINITY, &difference));
      EXPECT_GT(norm, 0.1) << method;
      EXPECT_LT(difference, 1e-11 * norm) << method << " " << boundary;
      OK(MatDestroy(&S));
      OK(VecDestroy(&start));
      OK(VecDestroy(&before));
    }
  }
}

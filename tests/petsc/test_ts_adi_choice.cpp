// SPDX-License-Identifier: BSD-2-Clause
// The default method of TS adi, what it looks at, and rows of algebraic equations that are not linear.
#include "adi_fixture.hpp"
#include "diffusion.hpp"

#include "adi/wmethod.hpp"

#include <array>

using namespace test;
using ribbon::petsc::amplification;
using ribbon::petsc::DirectionSplitting;
using ribbon::petsc::hundsdorfer_verwer;
using ribbon::petsc::ra34pw2;

namespace {

class TSADIChoice : public test::Adi { };

const PetscReal weight = 0.5 + std::sqrt(PetscReal(3)) / 6; // of hundsdorfer_verwer

/// Number of stages of the last step of a run with equal steps, and the lines of its view.
PetscInt stages_of(const Diffusion &p, PetscReal dt, std::string *view, PetscReal theta = 0)
{
  DiffusionTS run(p, "auto");
  PetscInt    stages = 0;
  run.fixed(dt, 3 * dt);
  EXPECT_EQ(static_cast<int>(TSADISetTheta(run.ts, theta)), 0) << last_error();
  EXPECT_EQ(static_cast<int>(TSSolve(run.ts, run.u)), 0) << last_error();
  EXPECT_EQ(static_cast<int>(TSGetStages(run.ts, &stages, nullptr)), 0) << last_error();
  *view = printed([&](PetscViewer viewer) { TSView(run.ts, viewer); });
  return stages;
}

} // namespace

/// The table of docs/methods/adi.md.
TEST_F(TSADIChoice, AmplificationsAreThoseOfTheory) // one rank
{
  const PetscReal none[3] = {0, 0, 0}, waves[3] = {5, 5, 5}, slow[3] = {1, 1, 1}, stiff[3] = {1e4, 30, 2};
  for (int directions : {1, 2, 3}) {
    EXPECT_LE(amplification(ra34pw2(), directions, none, stiff), 1 + 1e-6);
    EXPECT_LE(amplification(hundsdorfer_verwer(weight), directions, none, stiff), 1 + 1e-6);
    EXPECT_LE(amplification(ra34pw2(), directions, slow, none), 1.001);
  }
  EXPECT_LE(amplification(ra34pw2(), 1, waves, none), 1 + 1e-6);
  EXPECT_GT(amplification(ra34pw2(), 2, waves, none), 2);
  EXPECT_GT(amplification(ra34pw2(), 3, waves, none), 5);
  EXPECT_LE(amplification(hundsdorfer_verwer(weight), 2, waves, none), 1 + 1e-6);
}

TEST_F(TSADIChoice, TransportOfTheRows)
{
  DirectionSplitting::Transport along[3];
  bool                          known = false;
  const Grid                    grid({8, 8}, {2, 5, 0}, 1, true);
  DirectionSplitting            splitting;
  OK(splitting.update({grid.A, grid.da, 1}, nullptr));
  OK(splitting.transport(along, &known));
  EXPECT_TRUE(known);
  EXPECT_LT(along[0].transport + along[1].transport, 1e-12);
  PetscInt begin[2], size[2];
  OK(DMDAGetCorners(grid.da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr));
  OK(MatZeroEntries(grid.A)); // central differences along x, upwind differences along y
  for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
    for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) {
      const MatStencil  row        = {0, j, i, 0};
      const MatStencil  columns[4] = {row, {0, j, i - 1, 0}, {0, j, i + 1, 0}, {0, j - 1, i, 0}};
      const PetscScalar v[4]       = {2 + 6 + 20, -3 - 4, -3 + 4, -20};
      OK(MatSetValuesStencil(grid.A, 1, &row, 4, columns, v, INSERT_VALUES));
    }
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  OK(splitting.update({grid.A, grid.da, 2}, nullptr));
  OK(splitting.transport(along, &known));
  ASSERT_EQ(splitting.directions(), 2);
  EXPECT_NEAR(static_cast<double>(along[0].transport), 8, 1e-12);
  EXPECT_NEAR(static_cast<double>(along[0].damping), 6, 1e-12);
  EXPECT_NEAR(static_cast<double>(along[1].transport), 20, 1e-12);
  EXPECT_NEAR(static_cast<double>(along[1].damping), 20, 1e-12);
}

TEST_F(TSADIChoice, DependsOnTransportAndOnTheStep)
{
  std::string view;
  Diffusion   p;
  EXPECT_EQ(stages_of(p, 0.1, &view), 4) << view;
  EXPECT_NE(view.find("method: auto, in the last step ra34pw2\n"), std::string::npos) << view;
  EXPECT_NE(view.find("diffusion dominates"), std::string::npos) << view;
  EXPECT_EQ(stages_of(p, 0.1, &view, 0.5), 2) << view; // a weight
  EXPECT_NE(view.find("hundsdorfer_verwer, theta = 0.5\n    -ts_adi_theta"), std::string::npos) << view;
  p.v = 20, p.a = 0.01;
  EXPECT_EQ(stages_of(p, 0.1, &view), 2) << view;
  EXPECT_NE(view.find("stable for steps up to"), std::string::npos) << view;
  EXPECT_EQ(stages_of(p, 1e-3, &view), 4) << view;
  p.dim = 1;
  EXPECT_EQ(stages_of(p, 0.1, &view), 4) << view;
  EXPECT_NE(view.find("there is one direction"), std::string::npos) << view;
}

/// Steps of 10^3 times that of an explicit method do not grow without bound, for any ratio of transport and
/// diffusion.
TEST_F(TSADIChoice, StepsOfTheChoiceStayBounded) // one rank
{
  for (const PetscReal v : {0., 1., 30.}) {
    Diffusion p;
    p.n = 20, p.boundary = Diffusion::periodic, p.v = v, p.a = 0.02, p.form = Diffusion::rhsfunction;
    p.steady = true;
    DiffusionTS run(p, "auto");
    run.fixed(2, 200);
    PetscRandom random;
    PetscReal   before, after;
    OK(PetscRandomCreate(PETSC_COMM_WORLD, &random));
    OK(VecSetRandom(run.u, random));
    OK(PetscRandomDestroy(&random));
    OK(VecShift(run.u, 1));
    OK(VecNorm(run.u, NORM_2, &before));
    OK(TSSolve(run.ts, run.u));
    OK(VecNorm(run.u, NORM_2, &after));
    EXPECT_LE(after, 1.05 * before) << "v = " << v;
  }
}

/// Components of a grid point react as a block: with the growth of its diagonal, too.
TEST_F(TSADIChoice, ReactionsOfComponentsAreSplitWholly)
{
  DM                 da;
  Mat                A;
  PetscInt           begin[2], size[2];
  DirectionSplitting splitting;
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, 8, 8,
                  PETSC_DECIDE, PETSC_DECIDE, 2, 1, nullptr, nullptr, &da));
  OK(DMSetUp(da));
  OK(DMCreateMatrix(da, &A));
  OK(DMDAGetCorners(da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr));
  for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
    for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i)
      for (PetscInt c = 0; c < 2; ++c) {
        const MatStencil row        = {0, j, i, c};
        const MatStencil columns[6] = {
          row, {0, j, i, 1 - c}, {0, j, i - 1, c}, {0, j, i + 1, c}, {0, j - 1, i, c}, {0, j + 1, i, c}};
        const PetscReal   own = c ? 17 : 12, other = c ? 4 : -5; // with the shift 6
        const PetscScalar v[6] = {own, other, -2, -2, -2, -2};
        OK(MatSetValuesStencil(A, 1, &row, 6, columns, v, INSERT_VALUES));
      }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  OK(splitting.update({A, da, 6}, nullptr));
  EXPECT_EQ(splitting.directions(), 2);
  EXPECT_EQ(splitting.remainder().growth, 0);
  EXPECT_LT(left_out(splitting, A, 6), 1e-12);
  OK(MatDestroy(&A));
  OK(DMDestroy(&da));
}

/// y' = -z, 0 = y - (z^3 / 3 - z): PETSc's ts/tutorials/ex19.
TEST_F(TSADIChoice, AlgebraicEquationsKeepTheOrder) // one rank
{
  const auto function = [](TS, PetscReal, Vec at, Vec rate, Vec f, void *) -> PetscErrorCode {
    const PetscScalar *u, *v;
    PetscScalar       *r;
    PetscFunctionBegin;
    PetscCall(VecGetArrayRead(at, &u));
    PetscCall(VecGetArrayRead(rate, &v));
    PetscCall(VecGetArray(f, &r));
    r[0] = v[0] + u[1], r[1] = u[0] - (u[1] * u[1] * u[1] / PetscReal(3) - u[1]);
    PetscCall(VecRestoreArray(f, &r));
    PetscCall(VecRestoreArrayRead(rate, &v));
    PetscCall(VecRestoreArrayRead(at, &u));
    PetscFunctionReturn(PetscErrorCode(0));
  };
  const auto jacobian = [](TS, PetscReal, Vec at, Vec, PetscReal shift, Mat, Mat P,
                           void *) -> PetscErrorCode {
    const PetscInt     rows[2] = {0, 1};
    const PetscScalar *u;
    PetscFunctionBegin;
    PetscCall(VecGetArrayRead(at, &u));
    const PetscScalar v[4] = {shift, 1, 1, PetscReal(1) - u[1] * u[1]};
    PetscCall(VecRestoreArrayRead(at, &u));
    PetscCall(MatSetValues(P, 2, rows, 2, rows, v, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PetscErrorCode(0));
  };
  const auto solution = [&](PetscReal dt) {
    const PetscScalar start[2] = {-2, PetscReal(-2.355301397608119909925287735864250951918L)};
    const PetscInt    rows[2]  = {0, 1};
    PetscScalar       end[2]   = {0, 0};
    TSAdapt           adapt;
    Mat               J;
    Vec               u;
    TS                ts;
    MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, nullptr, &J);
    MatCreateVecs(J, &u, nullptr);
    VecSetValues(u, 2, rows, start, INSERT_VALUES);
    VecAssemblyBegin(u), VecAssemblyEnd(u);
    TSCreate(PETSC_COMM_SELF, &ts);
    TSSetType(ts, TSADI);
    TSSetIFunction(ts, nullptr, function, nullptr);
    TSSetIJacobian(ts, J, J, jacobian, nullptr);
    TSGetAdapt(ts, &adapt);
    TSAdaptSetType(adapt, TSADAPTNONE);
    TSSetTimeStep(ts, dt);
    TSSetMaxTime(ts, 0.4);
    TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP);
    EXPECT_EQ(static_cast<int>(TSSolve(ts, u)), 0) << last_error();
    VecGetValues(u, 2, rows, end);
    TSDestroy(&ts);
    VecDestroy(&u);
    MatDestroy(&J);
    return std::array<PetscScalar, 2>{end[0], end[1]};
  };
  const auto exact = solution(0.4 / 1024), coarse = solution(0.4 / 32), fine = solution(0.4 / 64);
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_GT(std::log2(std::abs(coarse[k] - exact[k]) / std::abs(fine[k] - exact[k])), 2.7) << k;
}

// SPDX-License-Identifier: BSD-2-Clause
// Stages of TS adi that GMRES solves: strong transport in long steps, and equations without time derivatives that
// couple along several directions.
#include "adi_fixture.hpp"
#include "diffusion.hpp"

using namespace test;
using ribbon::petsc::DirectionSplitting;

namespace {

class TSADIIterated : public test::Adi { };

struct Outcome {
  PetscInt    steps = 0;
  PetscReal   error = 0;
  std::string view;
  bool        iterated() const { return view.find("GMRES solved its stages, in ") != std::string::npos; }
};

/// An adaptive run to `end`.
template <class Problem>
Outcome adaptive(Problem &run, PetscReal tolerance, PetscReal end, bool iterate)
{
  Outcome found;
  TSSetTimeStep(run.ts, PetscReal(1e-3));
  TSSetMaxTime(run.ts, end);
  TSSetMaxSteps(run.ts, 5000);
  TSSetTolerances(run.ts, tolerance, nullptr, tolerance, nullptr);
  TSADISetIterate(run.ts, iterate ? PETSC_TRUE : PETSC_FALSE);
  EXPECT_EQ(static_cast<int>(TSSolve(run.ts, run.u)), 0) << last_error();
  PetscReal t = 0;
  TSGetSolveTime(run.ts, &t);
  EXPECT_NEAR(static_cast<double>(t), static_cast<double>(end), 1e-6);
  TSGetStepNumber(run.ts, &found.steps);
  found.view  = printed([&](PetscViewer viewer) { TSView(run.ts, viewer); });
  found.error = run.error();
  return found;
}

/// u_t = a lap u - w, 0 = w - b lap w - u, periodic. Waves in u and w decay equally.
struct Elliptic {
  static constexpr PetscReal a = 0.02, b = 0.5;
  PetscInt                   n;
  PetscReal                  size; ///< of the solution
  DM                         da = nullptr;
  TS                         ts = nullptr;
  Vec                        u = nullptr, exact = nullptr;

  explicit Elliptic(PetscInt points, PetscReal largest = 1) : n(points), size(largest)
  {
    DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, n, n,
                 PETSC_DECIDE, PETSC_DECIDE, 2, 1, nullptr, nullptr, &da);
    DMSetFromOptions(da);
    DMSetUp(da);
    DMCreateGlobalVector(da, &u);
    VecDuplicate(u, &exact);
    TSCreate(PETSC_COMM_WORLD, &ts);
    TSSetDM(ts, da);
    TSSetType(ts, TSADI);
    TSSetIFunction(ts, nullptr, function, this);
    fill(0, u);
    TSSetSolution(ts, u);
    TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP);
    TSSetFromOptions(ts);
  }
  Elliptic(const Elliptic &)            = delete;
  Elliptic &operator=(const Elliptic &) = delete;
  ~Elliptic()
  {
    TSDestroy(&ts);
    VecDestroy(&u), VecDestroy(&exact);
    DMDestroy(&da);
  }
  /// Minus the eigenvalue of the difference operator for the wave cos(2 pi x) cos(4 pi y).
  PetscReal eigenvalue() const
  {
    const PetscReal h = 1 / static_cast<PetscReal>(n);
    return (4 - 2 * std::cos(2 * PETSC_PI * h) - 2 * std::cos(4 * PETSC_PI * h)) / (h * h);
  }
  void fill(PetscReal t, Vec to) const
  {
    PetscInt        begin[2], count[2];
    PetscScalar  ***v;
    const PetscReal mu = eigenvalue(), of_w = 1 / (1 + b * mu), decay = std::exp(-(a * mu + of_w) * t);
    DMDAGetCorners(da, &begin[0], &begin[1], nullptr, &count[0], &count[1], nullptr);
    DMDAVecGetArrayDOF(da, to, &v);
    for (PetscInt j = begin[1]; j < begin[1] + count[1]; ++j)
      for (PetscInt i = begin[0]; i < begin[0] + count[0]; ++i) {
        const PetscReal x = static_cast<PetscReal>(i) / static_cast<PetscReal>(n),
                        y = static_cast<PetscReal>(j) / static_cast<PetscReal>(n);
        v[j][i][0]        = size * decay * std::cos(2 * PETSC_PI * x) * std::cos(4 * PETSC_PI * y);
        v[j][i][1]        = of_w * v[j][i][0];
      }
    DMDAVecRestoreArrayDOF(da, to, &v);
  }
  PetscReal error() const
  {
    PetscReal t, norm;
    TSGetSolveTime(ts, &t);
    fill(t, exact);
    VecAXPY(exact, -1, u);
    VecNorm(exact, NORM_INFINITY, &norm);
    return norm;
  }
  static PetscErrorCode function(TS, PetscReal, Vec U, Vec Udot, Vec F, void *ctx)
  {
    const auto     *self = static_cast<Elliptic *>(ctx);
    const PetscReal h    = 1 / static_cast<PetscReal>(self->n);
    PetscScalar  ***v, ***f, ***rate;
    PetscInt        begin[2], size[2];
    Vec             local;
    PetscFunctionBegin;
    PetscCall(DMGetLocalVector(self->da, &local));
    PetscCall(DMGlobalToLocalBegin(self->da, U, INSERT_VALUES, local));
    PetscCall(DMGlobalToLocalEnd(self->da, U, INSERT_VALUES, local));
    PetscCall(DMDAVecGetArrayDOFRead(self->da, local, &v));
    PetscCall(DMDAVecGetArrayDOFRead(self->da, Udot, &rate));
    PetscCall(DMDAVecGetArrayDOF(self->da, F, &f));
    PetscCall(DMDAGetCorners(self->da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr));
    for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
      for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) {
        const auto laplacian = [&](int c) {
          return (v[j][i - 1][c] + v[j][i + 1][c] + v[j - 1][i][c] + v[j + 1][i][c] -
                  PetscReal(4) * v[j][i][c]) /
                 (h * h);
        };
        f[j][i][0] = rate[j][i][0] - a * laplacian(0) + v[j][i][1];
        f[j][i][1] = v[j][i][1] - b * laplacian(1) - v[j][i][0];
      }
    PetscCall(DMDAVecRestoreArrayDOF(self->da, F, &f));
    PetscCall(DMDAVecRestoreArrayDOFRead(self->da, Udot, &rate));
    PetscCall(DMDAVecRestoreArrayDOFRead(self->da, local, &v));
    PetscCall(DMRestoreLocalVector(self->da, &local));
    PetscFunctionReturn(PetscErrorCode(0));
  }
};

} // namespace

/// Beyond the bound of ra34pw2 steps are as long as the error permits.
TEST_F(TSADIIterated, StrongTransport)
{
  const PetscReal tolerance = sizeof(PetscReal) < 8 ? 1e-3 : 1e-4;
  for (int k = 0; k < 6; ++k) {
    Diffusion p;
    p.v = 20, p.a = 0.01, p.n = k == 4 ? 9 : 33;
    if (k == 1) p.mass = 2;
    if (k == 2) p.form = Diffusion::rhsfunction, p.boundary = Diffusion::eliminated;
    if (k == 3) p.boundary = Diffusion::neumann;
    if (k == 4) p.dim = 3;
    if (k == 5) p.components = 2;
    SCOPED_TRACE(testing::Message() << "case " << k);
    DiffusionTS   of_order_3(p, "auto");
    const Outcome with = adaptive(of_order_3, tolerance, 0.5, true);
    EXPECT_TRUE(with.iterated()) << with.view;
    EXPECT_LT(with.steps, k == 2 ? 90 : 40);
    EXPECT_LT(with.error, 20 * tolerance);
  }
}

TEST_F(TSADIIterated, WithoutItStepsAreShorter)
{
  Diffusion p;
  p.v = 20, p.a = 0.01, p.n = 33;
  DiffusionTS   of_order_3(p, "auto"), bounded(p, "auto");
  const Outcome with = adaptive(of_order_3, 1e-3, 0.3, true), without = adaptive(bounded, 1e-3, 0.3, false);
  EXPECT_FALSE(without.iterated()) << without.view;
  EXPECT_LT(2 * with.steps, without.steps);
}

/// Rows without time derivatives that couple along both directions keep the order of the method.
TEST_F(TSADIIterated, EllipticEquations)
{
  const PetscReal tolerance = sizeof(PetscReal) < 8 ? 1e-3 : 1e-4;
  Elliptic        of_order_3(20), of_order_1(20);
  const Outcome   with  = adaptive(of_order_3, tolerance, 0.3, true),
                without = adaptive(of_order_1, tolerance, 0.3, false);
  EXPECT_TRUE(with.iterated()) << with.view;
  EXPECT_NE(with.view.find("400 algebraic rows couple along several directions\n"), std::string::npos)
    << with.view;
  EXPECT_NE(without.view.find("several directions: they hold to first order"), std::string::npos)
    << without.view;
  EXPECT_LT(with.steps, without.steps);
  EXPECT_LT(with.error, 5 * tolerance);
}

/// A step whose stages do not converge is computed without GMRES, which later steps use only if they are shorter.
TEST_F(TSADIIterated, TooFewIterations)
{
  reset_options("-adi_ksp_max_it 1");
  Elliptic  elliptic(20);
  Diffusion p;
  p.v = 20, p.a = 0.01, p.n = 33;
  DiffusionTS   transport(p, "auto");
  const Outcome a = adaptive(elliptic, 1e-3, 0.1, true), b = adaptive(transport, 1e-3, 0.1, true);
  EXPECT_FALSE(a.iterated()) << a.view;
  EXPECT_FALSE(b.iterated()) << b.view;
  EXPECT_NE(b.view.find("GMRES did not converge in "), std::string::npos) << b.view;
  EXPECT_LT(a.error, 2e-2);
  EXPECT_LT(b.error, 2e-2);
  reset_options();
}

/// GMRES has the tolerances of the TS for solutions of any size, and solves rows that the TS does not control, too.
TEST_F(TSADIIterated, TolerancesOfTheTS)
{
  const PetscReal size      = sizeof(PetscReal) < 8 ? 1e-4 : 1e-12,
                  tolerance = sizeof(PetscReal) < 8 ? 1e-3 : 1e-4;
  Elliptic small(20, size);
  OK(TSSetTolerances(small.ts, tolerance * size, nullptr, tolerance, nullptr));
  OK(TSSetTimeStep(small.ts, 1e-3));
  OK(TSSetMaxTime(small.ts, 0.3));
  OK(TSSetMaxSteps(small.ts, 1000));
  OK(TSSolve(small.ts, small.u));
  EXPECT_LT(small.error(), 5 * tolerance * size);
  Diffusion p;
  p.v = 20, p.a = 0.01, p.n = 33, p.components = 2;
  for (const PetscReal second : {PetscReal(1e5), PetscReal(-1)}) {
    DiffusionTS run(p, "auto");
    Vec         absolute;
    PetscInt    begin, end;
    OK(VecDuplicate(run.u, &absolute));
    OK(VecGetOwnershipRange(absolute, &begin, &end));
    for (PetscInt r = begin; r < end; ++r)
      OK(VecSetValue(absolute, r, r % 2 == 0 ? tolerance : second, INSERT_VALUES));
    OK(VecAssemblyBegin(absolute));
    OK(VecAssemblyEnd(absolute));
    OK(TSSetTolerances(run.ts, PETSC_DECIDE, absolute, tolerance, nullptr));
    OK(TSSetTimeStep(run.ts, 1e-3));
    OK(TSSetMaxTime(run.ts, 0.5));
    OK(TSSetMaxSteps(run.ts, 1000));
    OK(TSSolve(run.ts, run.u));
    EXPECT_LT(run.error(), 50 * tolerance) << second;
    OK(VecDestroy(&absolute));
  }
}

TEST_F(TSADIIterated, EqualStepsAndTrajectoriesAreNotIterated)
{
  Diffusion p;
  p.v = 20, p.a = 0.01;
  DiffusionTS equal(p, "auto"), saved(p, "auto");
  equal.fixed(0.05, 0.2);
  OK(TSSolve(equal.ts, equal.u));
  EXPECT_EQ(printed([&](PetscViewer viewer) { TSView(equal.ts, viewer); }).find("GMRES"), std::string::npos);
  OK(TSSetSaveTrajectory(saved.ts));
  EXPECT_FALSE(adaptive(saved, 1e-3, 0.1, true).iterated());
}

/// y = s M x - a A x with all couplings, and s_b J_b x in rows of algebraic equations.
TEST_F(TSADIIterated, ProductsWithTheWholeJacobian)
{
  Elliptic           of(6);
  DirectionSplitting splitting;
  Mat                J;
  Vec                mass, x, y, expected, sum;
  OK(DMCreateMatrix(of.da, &J));
  OK(DMCreateGlobalVector(of.da, &mass));
  for (Vec *v : {&x, &y, &expected, &sum}) OK(VecDuplicate(mass, v));
  PetscInt begin, end;
  OK(VecGetOwnershipRange(mass, &begin, &end));
  for (PetscInt r = begin; r < end; ++r) OK(VecSetValue(mass, r, r % 2 == 0 ? 3 : 0, INSERT_VALUES));
  OK(VecAssemblyBegin(mass));
  OK(VecAssemblyEnd(mass));
  PetscInt corner[2], size[2];
  OK(DMDAGetCorners(of.da, &corner[0], &corner[1], nullptr, &size[0], &size[1], nullptr));
  const PetscReal shift = 7;
  for (PetscInt j = corner[1]; j < corner[1] + size[1]; ++j)
    for (PetscInt i = corner[0]; i < corner[0] + size[0]; ++i)
      for (PetscInt c = 0; c < 2; ++c) {
        const MatStencil  row = {0, j, i, c}, columns[6] = {row,
                                                            {0, j, i - 1, c},
                                                            {0, j, i + 1, c},
                                                            {0, j - 1, i, c},
                                                            {0, j + 1, i, c},
                                                            {0, j, i, 1 - c}};
        const PetscScalar v[6] = {c ? PetscReal(5) : 3 * shift + 6, -1, -1, -2, -2, c ? -1. : 0.5};
        OK(MatSetValuesStencil(J, 1, &row, 6, columns, v, INSERT_VALUES));
      }
  OK(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  OK(splitting.update({J, of.da, shift, mass}, nullptr));
  PetscRandom random;
  OK(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  OK(VecSetRandom(x, random));
  OK(PetscRandomDestroy(&random));
  const PetscReal s = 2, a = 0.25;
  OK(splitting.multiply(s, a, x, y));
  OK(MatMult(J, x, expected)); // s M x - a (shift M x - J x), or J x / 5
  OK(VecPointwiseMult(sum, mass, x));
  PetscScalar       *e;
  const PetscScalar *m;
  OK(VecGetArray(expected, &e));
  OK(VecGetArrayRead(sum, &m));
  for (PetscInt r = 0; r < end - begin; ++r)
    e[r] = (begin + r) % 2 == 0 ? (s - a * shift) * m[r] + a * e[r] : e[r] / PetscReal(5);
  OK(VecRestoreArrayRead(sum, &m));
  OK(VecRestoreArray(expected, &e));
  PetscReal norm;
  OK(VecAXPY(y, -1, expected));
  OK(VecNorm(y, NORM_INFINITY, &norm));
  EXPECT_LT(norm, 100 * PETSC_MACHINE_EPSILON);
  OK(MatDestroy(&J));
  for (Vec *v : {&mass, &x, &y, &expected, &sum}) OK(VecDestroy(v));
}

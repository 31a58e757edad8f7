// SPDX-License-Identifier: BSD-2-Clause
// TS adi: costs of a step, Jacobians of the application, lagged Jacobians, grids that change.
#include "allocations.hpp"
#include "diffusion.hpp"

using namespace test;

namespace {

class TSADISteps : public Petsc { };

Diffusion problem_with(const std::function<void(Diffusion &)> &change)
{
  Diffusion p;
  p.n = 9;
  change(p);
  return p;
}

/// A_d of a problem: second differences along d. On Dirichlet rows it is -J along x and zero along y.
PetscErrorCode jacobian_along(TS, PetscReal, Vec, Mat A, void *context)
{
  auto       *call = static_cast<std::pair<const DiffusionTS *, int> *>(context);
  const auto &p    = call->first->p;
  PetscInt    begin[3], size[3];
  const auto  c = static_cast<PetscScalar>(p.a / (p.step() * p.step()));
  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(call->first->da, &begin[0], &begin[1], nullptr, &size[0], &size[1], nullptr));
  PetscCall(MatZeroEntries(A));
  for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
    for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) {
      const bool on_edge =
        p.boundary == Diffusion::dirichlet && (i == 0 || j == 0 || i == p.n - 1 || j == p.n - 1);
      const MatStencil  row = {0, j, i, 0};
      const PetscScalar own = on_edge ? (call->second == 0 ? -1 : 0) : -2. * c;
      PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &own, INSERT_VALUES));
      for (int side = -1; side <= 1 && !on_edge; side += 2) {
        MatStencil column = row;
        (call->second == 0 ? column.i : column.j) += side;
        if (column.i < 0 || column.j < 0 || column.i >= p.n || column.j >= p.n) continue;
        PetscCall(MatSetValuesStencil(A, 1, &row, 1, &column, &c, INSERT_VALUES));
      }
    }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PetscErrorCode(0));
}

} // namespace

/// For this problem the Jacobians of directions from the application equal those of the splitting.
TEST_F(TSADISteps, JacobiansOfDirectionsFromTheApplication)
{
  for (auto boundary : {Diffusion::eliminated, Diffusion::dirichlet})
    for (const char *method : {"hundsdorfer_verwer", "douglas", "modified_craig_sneyd"}) {
      const Diffusion problem = problem_with([&](Diffusion &p) {
        p.boundary = boundary,
        p.form     = boundary == Diffusion::eliminated ? Diffusion::rhsfunction : Diffusion::ifunction;
      });
      PetscReal       error[2];
      for (int given = 0; given < 2; ++given) {
        DiffusionTS                         run(problem, method, {1, ranks});
        std::pair<const DiffusionTS *, int> calls[2] = {{&run, 0}, {&run, 1}};
        Mat                                 A;
        run.fixed(0.025, 0.25);
        for (int d = 0; d < 2 && given; ++d) {
          OK(DMCreateMatrix(run.da, &A));
          OK(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
          OK(TSADISetDirectionJacobian(run.ts, d, A, jacobian_along, &calls[d]));
          OK(MatDestroy(&A));
        }
        OK(TSSolve(run.ts, run.u));
        error[given] = run.error();
      }
      // One of the Jacobians is computed by finite differences.
      EXPECT_NEAR(error[0], error[1], 1e-4 * error[0]) << method;
    }
}

namespace {

/// u' = (1 + t) A u, or A u, with A of a grid in one direction. Douglas' method is then the implicit
/// midpoint rule.
struct Linear {
  Mat A; ///< without the factor
};

PetscErrorCode jacobian_in_time(TS, PetscReal t, Vec, Mat J, Mat, void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(MatCopy(static_cast<Linear *>(ctx)->A, J, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(J, 1 + t));
  PetscFunctionReturn(PetscErrorCode(0));
}

} // namespace

/// Without an IFunction the TS uses the matrix of the RHSJacobian directly: it neither copies nor shifts
/// it. Its SNES gets matrices when another type needs them.
TEST_F(TSADISteps, RHSJacobiansAreReadWhereTheyAre)
{
  const Grid grid({24, 1}, {1, 0, 0}, 0, false, {ranks, 1, 1});
  for (bool constant : {true, false}) {
    Linear linear{grid.A};
    Mat    J, before, copies[2];
    Vec    u[2];
    TS     ts;
    OK(MatScale(grid.A, constant ? -1 : 1));
    OK(MatDuplicate(grid.A, MAT_COPY_VALUES, &J));
    OK(MatDuplicate(grid.A, MAT_COPY_VALUES, &before));
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, grid.da));
    OK(TSSetProblemType(ts, TS_LINEAR));
    OK(TSSetType(ts, TSADI));
    OK(TSADISetType(ts, TS_ADI_DOUGLAS));
    OK(TSSetRHSFunction(ts, nullptr, TSComputeRHSFunctionLinear, nullptr));
    OK(TSSetRHSJacobian(ts, J, J, constant ? TSComputeRHSJacobianConstant : jacobian_in_time, &linear));
    OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    OK(TSSetFromOptions(ts));
    for (int other = 0; other < 2; ++other) { // then the midpoint rule of PETSc
      PetscRandom random;
      OK(MatCreateVecs(J, &u[other], nullptr));
      OK(PetscRandomCreate(PETSC_COMM_WORLD, &random));
      OK(PetscRandomSetSeed(random, 7));
      OK(PetscRandomSeed(random));
      OK(VecSetRandom(u[other], random));
      OK(PetscRandomDestroy(&random));
      if (other) {
        KSP ksp;
        OK(TSSetType(ts, TSTHETA));
        OK(TSGetKSP(ts, &ksp));
        OK(KSPSetTolerances(ksp, 1e-13, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
      }
      OK(TSSetTime(ts, 0));
      OK(TSSetStepNumber(ts, 0));
      OK(TSSetMaxTime(ts, 0.25));
      OK(TSSetTimeStep(ts, 0.0625));
      OK(TSSolve(ts, u[other]));
      if (other) break;
      SNES      snes;
      PetscBool same;
      OK(TSGetSNES(ts, &snes));
      OK(SNESGetJacobian(snes, &copies[0], &copies[1], nullptr, nullptr));
      EXPECT_EQ(copies[0], copies[1]);
      if (constant) {
        PetscBool shell; // not a copy
        OK(PetscObjectTypeCompare((PetscObject)copies[0], MATSHELL, &shell));
        EXPECT_TRUE(shell);
      } else {
        EXPECT_EQ(copies[0], J);
      }
      if (!constant) {
        OK(MatScale(before, 1 + PetscReal(0.21875))); // at the middle of the last step
      }
      OK(MatEqual(J, before, &same));
      EXPECT_TRUE(same);
    }
    PetscReal norm;
    OK(VecAXPY(u[0], -1, u[1]));
    OK(VecNorm(u[0], NORM_INFINITY, &norm));
    EXPECT_LT(norm, 1e-11) << constant;
    OK(MatScale(grid.A, -1));
    for (Vec &v : u) OK(VecDestroy(&v));
    OK(MatDestroy(&before));
    OK(MatDestroy(&J));
    OK(TSDestroy(&ts));
  }
}

/// W-methods keep their order with a Jacobian of some earlier step. The number of evaluations is as
/// requested.
TEST_F(TSADISteps, LaggedJacobiansKeepTheOrder) // one rank
{
  const Diffusion reaction = problem_with([](Diffusion &p) {
    p.boundary = Diffusion::rates, p.form = Diffusion::rhsfunction, p.cubic = p.growth = 1;
  });
  for (const char *method : {"hundsdorfer_verwer", "ra34pw2"}) {
    PetscReal error[2];
    PetscInt  evaluations[2];
    for (int k = 0; k < 2; ++k) {
      DiffusionTS run(reaction, method);
      run.fixed(k ? 0.00625 : 0.0125, 0.5);
      OK(TSADISetLagJacobian(run.ts, 5));
      OK(TSSolve(run.ts, run.u));
      error[k] = run.error(), evaluations[k] = run.evaluations;
    }
    EXPECT_GT(std::log2(error[0] / error[1]), method == std::string("ra34pw2") ? 2.7 : 1.75) << method;
    DiffusionTS each(reaction, method);
    each.fixed(0.0125, 0.5);
    OK(TSSolve(each.ts, each.u));
    // Evaluations for a Jacobian.
    const PetscInt stages    = method == std::string("ra34pw2") ? 4 : 2,
                   functions = stages + 2, // two for the time derivative
      differences            = (each.evaluations - 40 * functions) / 40;
    EXPECT_GT(differences, 4) << method;
    EXPECT_NEAR(static_cast<double>(evaluations[0]), static_cast<double>(40 * functions + 8 * differences),
                12)
      << method;
  }
}

/// Boundary values and source terms that depend on time: rows of algebraic equations and the time derivative of the
/// others need the functions at t + h and t + h / 2, once each.
TEST_F(TSADISteps, FunctionsLaterInAStepAreEvaluatedOnce) // one rank
{
  for (const char *method : {"hundsdorfer_verwer", "ra34pw2"}) {
    PetscInt evaluations[2];
    for (int k = 0; k < 2; ++k) {
      DiffusionTS run(problem_with([](Diffusion &) {}), method);
      run.fixed(0.0125, k ? 0.5 : 0.25);
      OK(TSADISetLagJacobian(run.ts, -1));
      OK(TSSolve(run.ts, run.u));
      EXPECT_LT(run.error(), 1e-3) << method;
      evaluations[k] = run.evaluations;
    }
    EXPECT_EQ(evaluations[1] - evaluations[0], 20 * (method == std::string("ra34pw2") ? 6 : 4)) << method;
  }
}

/// The size of the last step differs from that of the others by rounding of the times.
TEST_F(TSADISteps, TheStepThatEndsARunTakesTheFactorsOfTheOthers) // one rank
{
  PetscLogEvent      factor;
  PetscEventPerfInfo before, after;
  OK(PetscLogDefaultBegin());
  DiffusionTS run(problem_with([](Diffusion &) {}), "douglas");
  run.fixed(0.05 / 20, 0.05);
  OK(TSADISetLagJacobian(run.ts, -1));
  OK(TSStep(run.ts));
  OK(PetscLogEventGetId("PCLineFactor", &factor));
  OK(PetscLogEventGetPerfInfo(0, factor, &before));
  OK(TSSolve(run.ts, run.u));
  OK(PetscLogEventGetPerfInfo(0, factor, &after));
  PetscReal size, time;
  OK(TSGetPrevTime(run.ts, &time));
  size = 0.05 - time;
  EXPECT_NE(size, 0.05 / 20);
  EXPECT_GT(before.count, 0);
  EXPECT_EQ(after.count, before.count);
}

/// A solve of a linear problem allocates nothing after its first step. Jacobians are kept, or computed
/// again and found equal.
TEST_F(TSADISteps, AStepAllocatesNothing)
{
  for (const char *method : {"hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas",
                             "peaceman_rachford", "ra34pw2"})
    for (auto boundary : {Diffusion::dirichlet, Diffusion::neumann, Diffusion::eliminated}) {
      DiffusionTS run(problem_with([&](Diffusion &p) {
                        p.boundary = boundary, p.mass = boundary == Diffusion::neumann ? 3 : 1,
                        p.form =
                          boundary == Diffusion::eliminated ? Diffusion::rhsfunction : Diffusion::ifunction;
                      }),
                      method, {1, ranks});
      run.fixed(0.01, 10);
      OK(TSADISetLagJacobian(run.ts, -1));
      for (int k = 0; k < 3; ++k) OK(TSStep(run.ts));
      EXPECT_EQ(allocations_of([&] {
                  for (int k = 0; k < 3; ++k) OK(TSStep(run.ts));
                }),
                0)
        << method << ": " << allocations();
    }
}

#if PETSC_VERSION_GE(3, 21, 0)
namespace {

/// In the middle of the run the grid gets a point between any two along each direction.
struct Refinement {
  DiffusionTS *run;
  Diffusion    finer;
  DiffusionTS *after       = nullptr;
  PetscInt     transferred = 0;
};

PetscErrorCode refine_once(TS, PetscInt step, PetscReal, Vec, PetscBool *resize, void *context)
{
  *resize = step == 3 && !static_cast<Refinement *>(context)->transferred ? PETSC_TRUE : PETSC_FALSE;
  return PetscErrorCode(0);
}

PetscErrorCode interpolate(TS ts, PetscInt count, Vec in[], Vec out[], void *context)
{
  auto *refinement = static_cast<Refinement *>(context);
  DM    finer      = refinement->after->da;
  Mat   P;
  PetscFunctionBegin;
  PetscCall(DMCreateInterpolation(refinement->run->da, finer, &P, nullptr));
  for (PetscInt k = 0; k < count; ++k) {
    PetscCall(DMCreateGlobalVector(finer, &out[k]));
    PetscCall(MatInterpolate(P, in[k], out[k]));
  }
  PetscCall(MatDestroy(&P));
  PetscCall(TSSetDM(ts, finer));
  PetscCall(TSSetIFunction(ts, nullptr, DiffusionTS::i_function, refinement->after));
  refinement->transferred = count;
  PetscFunctionReturn(PetscErrorCode(0));
}

} // namespace

TEST_F(TSADISteps, GridsThatChange) // one rank
{
  for (const char *method : {"hundsdorfer_verwer", "douglas", "ra34pw2"})
    for (PetscBool rollback : {PETSC_FALSE, PETSC_TRUE}) {
      DiffusionTS run(problem_with([](Diffusion &) {}), method),
        after(problem_with([](Diffusion &p) { p.n = 17; }), method);
      Refinement refinement{&run, after.p, &after};
      TSAdapt    adapt;
      Vec        u;
      PetscReal  t, error;
      run.fixed(0.0125, 0.5);
      OK(TSGetAdapt(run.ts, &adapt));
      OK(TSAdaptSetType(adapt, TSADAPTBASIC)); // douglas estimates errors from earlier solutions
      OK(TSSetTolerances(run.ts, 1e-4, nullptr, 1e-4, nullptr));
      OK(TSSetResize(run.ts, rollback, refine_once, interpolate, &refinement));
      OK(TSSolve(run.ts, nullptr));
      EXPECT_EQ(refinement.transferred, 3) << method;
      OK(TSGetSolution(run.ts, &u));
      OK(TSGetSolveTime(run.ts, &t));
      after.fill(t, after.exact);
      OK(VecAXPY(after.exact, -1, u));
      OK(VecNorm(after.exact, NORM_INFINITY, &error));
      EXPECT_LT(error, 2e-2) << method; // mostly errors of bilinear interpolation
    }
}
#endif

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
namespace {

PetscErrorCode product(TS, PetscReal, Vec U, Vec G, void *A)
{
  return MatMult(static_cast<Mat>(A), U, G);
}

} // namespace

/// A linear step on a device copies nothing between host and device: u' = A u with A on the device.
TEST_F(TSADISteps, ADeviceStepCrossesTheBusZeroTimes) // one rank: products of several ranks exchange halos
{
  for (TSADIType type : {TS_ADI_HUNDSDORFER_VERWER, TS_ADI_DOUGLAS}) {
    Grid    grid({64, 64}, {-20, -20}, 0);
    Vec     u;
    TS      ts;
    TSAdapt adapt;
    Mat     J;
    OK(DMCreateGlobalVector(grid.da, &u));
    OK(VecSet(u, 1));
    if (!is_on_device(u)) GTEST_SKIP() << "host vectors";
    OK(MatDuplicate(grid.A, MAT_COPY_VALUES, &J));
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, grid.da));
    OK(TSSetType(ts, TSADI));
    OK(TSADISetType(ts, type));
    OK(TSADISetLagJacobian(ts, -1));
    OK(TSSetRHSFunction(ts, nullptr, product, grid.A));
    OK(TSSetRHSJacobian(ts, J, J, TSComputeRHSJacobianConstant, nullptr));
    OK(TSSetTimeStep(ts, 1e-3));
    OK(TSSetMaxSteps(ts, 10));
    OK(TSGetAdapt(ts, &adapt));
    OK(TSAdaptSetType(adapt, TSADAPTNONE));
    OK(TSSetSolution(ts, u));
    for (int k = 0; k < 3; ++k) OK(TSStep(ts));
    const PetscLogDouble up = petsc_ctog_ct, down = petsc_gtoc_ct;
    for (int k = 0; k < 3; ++k) OK(TSStep(ts));
    EXPECT_EQ(petsc_ctog_ct, up) << TSADITypes[type];
    EXPECT_EQ(petsc_gtoc_ct, down) << TSADITypes[type];
    OK(TSDestroy(&ts));
    OK(MatDestroy(&J));
    OK(VecDestroy(&u));
  }
}
#endif

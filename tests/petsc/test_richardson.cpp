// SPDX-License-Identifier: BSD-2-Clause
// Richardson's iteration, which runs inside of PC line if no norms are needed.
#include "richardson_fixture.hpp"
#include "sweep_reference.hpp"

using namespace test;

namespace {

class PCLineRichardson : public Petsc { };

constexpr PCLineComposition compositions[] = {PC_LINE_COMPOSITION_MULTIPLICATIVE,
                                              PC_LINE_COMPOSITION_ADDITIVE, PC_LINE_COMPOSITION_SYMMETRIC};
constexpr PCLineOrdering    orderings[]    = {PC_LINE_ORDERING_JACOBI, PC_LINE_ORDERING_ZEBRA};

TEST_F(PCLineRichardson, IsTheIterationOfPETSc)
{
  Grid grid({9, 10}, {3, 1}, 0.1, false, {ranks, 1});
  Mat  same; // another matrix with the same entries: PETSc runs the iteration
  OK(MatDuplicate(grid.A, MAT_COPY_VALUES, &same));
  count_products(grid.A);
  for (const auto &directions : {std::vector<int>{1}, std::vector<int>{1, 0}})
    for (PCLineComposition composition : compositions)
      for (PCLineOrdering ordering : orderings)
        for (PetscInt repeats : {1, 2}) {
          const Sweep sweep = {directions, composition, ordering, repeats == 1 ? 1. : 0.75, repeats};
          Richardson  fused(grid.A, grid.A, grid.da, 1), own(same, grid.A, grid.da, 1);
          const auto  groups =
            static_cast<PetscInt>(directions.size()) * (ordering == PC_LINE_ORDERING_ZEBRA ? 2 : 1);
          sweep.set(fused.pc);
          sweep.set(own.pc);
          PetscInt steps = 0; // of one group
          for (PetscInt its : {1, 4})
            for (PetscBool nonzero : {PETSC_FALSE, PETSC_TRUE}) {
              for (const Richardson *r : {&fused, &own}) {
                OK(KSPSetTolerances(r->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, its));
                OK(KSPSetInitialGuessNonzero(r->ksp, nonzero));
              }
              const Outcome expected = own.solve();
              products               = 0;
              const Outcome found    = fused.solve();
              EXPECT_EQ(found.applications, 0);
              EXPECT_EQ(expected.applications, its);
              EXPECT_EQ(found.reason, expected.reason);
              EXPECT_EQ(found.iterations, its);
              EXPECT_LT(difference(fused.x, own.x), 1e-12)
                << directions.size() << PCLineCompositions[composition] << PCLineOrderings[ordering]
                << repeats << its << nonzero;
              // several ranks keep the couplings later
              if (composition == PC_LINE_COMPOSITION_MULTIPLICATIVE && ranks == 1) {
                if (groups == 1) steps += its;
                // With several solves the PC keeps the couplings that lines leave out from the set-up on.
                const bool several = groups * repeats > 1;
                EXPECT_EQ(products, (several || steps > 4) && is_kept(grid.A)
                                      ? 0
                                      : groups * repeats * its - (nonzero ? 0 : 1))
                  << "one product for each solve that starts from something, until it is worth to keep what "
                     "lines leave out";
              }
            }
        }
  OK(MatDestroy(&same));
}

TEST_F(PCLineRichardson, NormsThatAreAskedForAreTaken)
{
  Grid       grid({16, 16}, {100, 1}, 0.1);
  Richardson plain(grid.A, grid.A, grid.da, 10000, KSP_NORM_PRECONDITIONED);
  // joined lines have entries of other ranks, and need products
  OK(PCLineSetCut(plain.pc, PC_LINE_CUT_LOCAL));
  Outcome o = plain.solve();
  EXPECT_EQ(o.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(o.iterations, 1000);
  EXPECT_GT(o.applications, 0);
  EXPECT_GT(o.norm, 0);
  const PetscInt its = o.iterations;
  OK(KSPSetNormType(plain.ksp, KSP_NORM_UNPRECONDITIONED));
  EXPECT_EQ(plain.solve().reason, KSP_CONVERGED_RTOL);
  OK(KSPSetNormType(plain.ksp, KSP_NORM_PRECONDITIONED));
  OK(KSPSetTolerances(plain.ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 7));
  OK(KSPSetConvergenceTest(plain.ksp, KSPConvergedSkip, nullptr, nullptr));
  count_products(grid.A);
  o = plain.solve();
  EXPECT_EQ(o.reason, KSP_CONVERGED_ITS);
  EXPECT_EQ(o.iterations, 7);
  EXPECT_EQ(o.applications, 0) << "nobody looks at these norms";
  if (is_kept(grid.A)) {
    EXPECT_EQ(products, 0) << "what lines leave out is kept";
  }
  PetscReal history[16];
  OK(KSPSetResidualHistory(plain.ksp, history, 16, PETSC_TRUE));
  o = plain.solve();
  EXPECT_EQ(o.reason, KSP_CONVERGED_ITS);
  EXPECT_GT(o.applications, 0) << "the history has them";
  EXPECT_GT(history[0], history[5]);
  EXPECT_GT(history[5], 0);
  Richardson again(grid.A, grid.A, grid.da, 10000, KSP_NORM_PRECONDITIONED); // as before
  OK(PCLineSetCut(again.pc, PC_LINE_CUT_LOCAL));
  EXPECT_EQ(again.solve().iterations, its);
}

TEST_F(PCLineRichardson, WhatIsNotThisIterationIsLeftToPETSc)
{
  Grid          grid({8, 4 * ranks}, {3, 1}, 0.2);
  const Dense   dense(grid.A, grid.da);
  Richardson    scaled(grid.A, grid.A, grid.da, 1);
  const Sweep   sweep = {{0}};
  const Numbers b = gathered(scaled.b), once = dense.apply(sweep, b);
  sweep.set(scaled.pc);
  OK(KSPRichardsonSetScale(scaled.ksp, 0.25));
  EXPECT_EQ(scaled.solve().applications, 1);
  const Numbers x = gathered(scaled.x);
  for (std::size_t k = 0; k < x.size(); ++k)
    EXPECT_LT(PetscAbsScalar(x[k] - PetscReal(0.25) * once[k]), 1e-13);
  Richardson self(grid.A, grid.A, grid.da, 3);
  OK(KSPRichardsonSetSelfScale(self.ksp, PETSC_TRUE));
  EXPECT_GT(self.solve().applications, 3) << "the scale has to be computed";
  Richardson other(grid.A, grid.A, grid.da, 3); // another KSP than Richardson's iteration
  OK(KSPSetType(other.ksp, KSPGMRES));
  EXPECT_GT(other.solve().applications, 0);
  MatNullSpace constant; // every correction has to get zero mean
  PetscScalar  sum;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constant));
  OK(MatSetNullSpace(grid.A, constant));
  Richardson projected(grid.A, grid.A, grid.da, 3);
  EXPECT_EQ(projected.solve().applications, 3);
  OK(VecSum(projected.x, &sum));
  EXPECT_LT(PetscAbsScalar(sum), 1e-12);
  OK(MatSetNullSpace(grid.A, nullptr));
  OK(MatNullSpaceDestroy(&constant));
}

TEST_F(PCLineRichardson, LinesThatCoupleWithNothingAreSolvedOnce)
{
  Grid       grid({6, 3 * ranks}, {2, 0}, 1, false, {1, ranks});
  Richardson r(grid.A, grid.A, grid.da, 1);
  OK(KSPSetInitialGuessNonzero(r.ksp, PETSC_TRUE));
  const auto residual = [&] {
    Vec       v;
    PetscReal norm, size;
    VecDuplicate(r.b, &v);
    MatResidual(grid.A, r.b, r.x, v);
    VecNorm(v, NORM_2, &norm);
    VecNorm(r.b, NORM_2, &size);
    VecDestroy(&v);
    return norm / size;
  };
  count_products(grid.A);
  EXPECT_EQ(r.solve().iterations, 1);
  EXPECT_EQ(products, 0) << "the guess does not matter";
  EXPECT_LT(residual(), 1e-14);
  OK(KSPSetTolerances(r.ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 9));
  products = 0;
  EXPECT_EQ(r.solve().iterations, 9);
  EXPECT_EQ(products, 1) << "one refinement";
  EXPECT_LT(residual(), 1e-14);
  OK(PCLineSetOmega(r.pc, 0.5)); // the PC is not the inverse any more
  r.solve();
  EXPECT_GT(residual(), 1e-6);
  OK(PCLineSetOmega(r.pc, 1));
  r.solve();
  OK(PCSetReusePreconditioner(r.pc, PETSC_TRUE)); // another matrix with the old factors
  grid.fill({6, 3 * ranks}, {2, 0}, 1.5);
  OK(KSPSetTolerances(r.ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  r.solve();
  EXPECT_LT(residual(), 1e-13);
  Grid     coupled({6, 3 * ranks}, {2, 0}, 1, false, {1, ranks}); // one entry of one rank counts for all
  PetscInt begin;
  OK(MatGetOwnershipRange(coupled.A, &begin, nullptr));
  OK(MatSetOption(coupled.A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (rank == ranks - 1) {
    OK(MatSetValue(coupled.A, begin, begin + 6, 0.5, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(coupled.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(coupled.A, MAT_FINAL_ASSEMBLY));
  Richardson many(coupled.A, coupled.A, coupled.da, 3);
  Sweep{{0}}.set(many.pc);
  count_products(coupled.A);
  many.solve();
  EXPECT_EQ(products, 2);
}

TEST_F(PCLineRichardson, AFailureIsSaid)
{
  Grid       singular({8, 6}, {0, 1}, 0, true, {ranks, 1});
  Richardson r(singular.A, singular.A, singular.da, 3);
  Sweep{{1}}.set(r.pc);
  EXPECT_EQ(r.solve().reason, KSP_DIVERGED_PC_FAILED);
  PetscReal norm;
  OK(VecNorm(r.x, NORM_INFINITY, &norm));
  EXPECT_GT(norm, PETSC_MAX_REAL / 10) << "never a number that could be taken for an answer";
}

PetscErrorCode see_nothing(KSP, PetscInt, PetscReal, void *)
{
  return 0;
}

TEST_F(PCLineRichardson, LevelsOfMultigridAreTheSameWithAndWithoutIt)
{
  PetscInt  its[2];
  PetscReal error[2];
  int       calls[2];
  Grid      grid({33, 33}, {1, 10}, 0.01, false, {}, true);
  for (int watched : {0, 1}) { // with a monitor PETSc runs the iteration
    KSP      ksp;
    PC       mg;
    PetscInt levels = 3;
    Line     vectors(grid.A);
    DM       fine = grid.da, coarse;
    Mat      P;
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetType(ksp, KSPFGMRES));
    OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 50));
    OK(KSPSetOperators(ksp, grid.A, grid.A));
    OK(KSPGetPC(ksp, &mg));
    OK(PCSetType(mg, PCMG));
    OK(PCMGSetLevels(mg, levels, nullptr));
    OK(PCMGSetGalerkin(mg, PC_MG_GALERKIN_BOTH));
    OK(PetscObjectReference((PetscObject)fine));
    for (PetscInt l = levels - 1; l > 0; --l) {
      KSP level;
      PC  smoother;
      OK(DMCoarsen(fine, PETSC_COMM_WORLD, &coarse));
      OK(DMCreateInterpolation(coarse, fine, &P, nullptr));
      OK(PCMGSetInterpolation(mg, l, P));
      OK(MatDestroy(&P));
      OK(PCMGGetSmoother(mg, l, &level));
      OK(KSPSetType(level, KSPRICHARDSON));
      OK(KSPSetTolerances(level, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 2));
      OK(KSPGetPC(level, &smoother));
      OK(PCSetType(smoother, PCLINE));
      count_applications(smoother);
      OK(PCSetDM(smoother, fine));
      Sweep{{0, 1}, PC_LINE_COMPOSITION_SYMMETRIC, PC_LINE_ORDERING_ZEBRA, 1, 1}.set(smoother);
      if (watched) {
        OK(KSPMonitorSet(level, see_nothing, nullptr, nullptr));
      }
      OK(DMDestroy(&fine));
      fine = coarse;
    }
    OK(DMDestroy(&fine));
    OK(KSPSetUp(ksp));
    applications = 0;
    OK(KSPSolve(ksp, vectors.b, vectors.x));
    calls[watched] = applications;
    OK(KSPGetIterationNumber(ksp, &its[watched]));
    OK(KSPGetResidualNorm(ksp, &error[watched]));
    OK(KSPDestroy(&ksp));
  }
  EXPECT_LT(its[0], 20);
  EXPECT_EQ(its[0], its[1]);
  EXPECT_NEAR(error[0] / error[1], 1, 1e-4);
  EXPECT_EQ(calls[0], 0);
  EXPECT_EQ(calls[1], its[0] * 2 * 4) << "two levels, two iterations before and after";
}

#if PETSC_VERSION_LT(3, 24, 0)
int presolves = 0;

PetscErrorCode count_presolves(PC, KSP)
{
  ++presolves;
  return 0;
}

TEST_F(PCLineRichardson, APresolveOfTheProgramIsCalled)
{
  Grid       grid({8, 8}, {3, 1}, 0.2);
  Richardson r(grid.A, grid.A, grid.da, 2);
  presolves = 0;
  OK(PCSetPreSolve(r.pc, count_presolves));
  r.solve();
  EXPECT_EQ(presolves, 1);
}
#endif

} // namespace

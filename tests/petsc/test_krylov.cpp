// SPDX-License-Identifier: BSD-2-Clause
// Requirements of Krylov methods on PC line: symmetry if they need it or if the KSP is unknown, and equally
// strong directions.
#include "fixture.hpp"
#include "warnings.hpp"

using namespace test;

namespace {

class PCLineKrylov : public Petsc { };

constexpr PCLineDirection both[] = {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y};

/// |y . M x - M y . x| relative to its terms.
PetscReal asymmetry(const Line &line)
{
  Vec         y, My;
  PetscScalar left = 0, right = 0;
  VecDuplicate(line.b, &y);
  VecDuplicate(line.b, &My);
  VecPointwiseMult(y, line.b, line.b);
  PCApply(line.pc, line.b, line.x);
  PCApply(line.pc, y, My);
  VecDot(line.x, y, &left);
  VecDot(line.b, My, &right);
  VecDestroy(&y);
  VecDestroy(&My);
  return PetscAbsScalar(left - right) / (PetscAbsScalar(left) + PetscAbsScalar(right));
}

/// A KSP of some type around a PC line.
struct Krylov {
  KSP                ksp    = nullptr;
  PC                 pc     = nullptr;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  Line               line;

  Krylov(const Grid &grid, const char *type, const char *prefix = nullptr) : line(grid.A, grid.da)
  {
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOptionsPrefix(ksp, prefix);
    KSPSetType(ksp, type);
    KSPSetOperators(ksp, grid.A, grid.A);
    KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 400);
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCLINE);
    PCSetDM(pc, grid.da);
  }
  Krylov(const Krylov &)            = delete;
  Krylov &operator=(const Krylov &) = delete;
  ~Krylov() { KSPDestroy(&ksp); }

  PetscInt iterations()
  {
    PetscInt its = -1;
    EXPECT_EQ(KSPSolve(ksp, line.b, line.x), 0) << last_error();
    KSPGetConvergedReason(ksp, &reason);
    KSPGetIterationNumber(ksp, &its);
    return its;
  }
  std::string view() const
  {
    return printed([this](PetscViewer viewer) { PCView(pc, viewer); });
  }
};

TEST_F(PCLineKrylov, AutoIsSymmetricWhereNobodySeesTheKSP)
{
  for (const PetscInt width : {1, 2}) {
    const Grid grid({20, 17}, {1, 1.03}, 0.1, false, {}, false, width),
      x({20, 17}, {9, 1}, 0.1, false, {}, false, width);
    for (const Grid *g : {&grid, &x})
      for (PCLineOrdering ordering : {PC_LINE_ORDERING_JACOBI, PC_LINE_ORDERING_ZEBRA})
        for (const bool listed : {false, true}) {
          Line line(g->A, g->da);
          OK(PCLineSetOrdering(line.pc, ordering));
          if (listed) {
            OK(PCLineSetDirections(line.pc, 2, both));
          }
          EXPECT_LT(asymmetry(line), 1e-13) << line.view();
        }
  }
}

TEST_F(PCLineKrylov, MethodsForSymmetricMatricesConvergeInZebraOrdering)
{
  const Grid grid({40, 36}, {1, 1}, 0.01);
  Warnings   warnings;
  for (const char *type : {KSPCG, KSPMINRES, KSPCR, KSPSYMMLQ, KSPPIPECG}) {
    Krylov k(grid, type);
    OK(PCLineSetOrdering(k.pc, PC_LINE_ORDERING_ZEBRA));
    EXPECT_LT(k.iterations(), 60) << type;
    EXPECT_GT(k.reason, 0) << type;
  }
  EXPECT_EQ(warnings.take(), "");
}

TEST_F(PCLineKrylov, AnExplicitChoiceThatIsNotSymmetricIsWarnedOfOnce)
{
  const Grid grid({24, 20}, {1, 1}, 0.1);
  Warnings   warnings;
  Krylov     k(grid, KSPCG, "asymmetric_");
  OK(PCLineSetOrdering(k.pc, PC_LINE_ORDERING_ZEBRA));
  OK(PCLineSetDirections(k.pc, 2, both));
  for (PCLineComposition composition : {PC_LINE_COMPOSITION_MULTIPLICATIVE, PC_LINE_COMPOSITION_ADDITIVE}) {
    OK(PCLineSetComposition(k.pc, composition));
    k.iterations();
    const std::string text = warnings.take(), zebra = composition == PC_LINE_COMPOSITION_ADDITIVE
                                                        ? " with -asymmetric_pc_line_ordering zebra"
                                                        : "";
    if (rank == 0) {
      EXPECT_EQ(text,
                std::string("WARNING! PC line: -asymmetric_pc_line_composition ") +
                  PCLineCompositions[composition] + zebra +
                  " is not symmetric, but KSP cg needs a symmetric preconditioner and may not converge; use "
                  "-asymmetric_pc_line_composition symmetric\n");
    } else {
      EXPECT_EQ(text, "");
    }
    k.iterations();
    EXPECT_EQ(warnings.take(), "") << "once";
  }
  OK(PCLineSetComposition(k.pc, PC_LINE_COMPOSITION_SYMMETRIC));
  k.iterations();
  OK(PCLineSetComposition(k.pc, PC_LINE_COMPOSITION_ADDITIVE));
  OK(PCLineSetOrdering(k.pc, PC_LINE_ORDERING_JACOBI));
  k.iterations();
  OK(KSPSetType(k.ksp, KSPGMRES));
  OK(PCLineSetComposition(k.pc, PC_LINE_COMPOSITION_MULTIPLICATIVE));
  k.iterations();
  EXPECT_EQ(warnings.take(), "") << "symmetric, or under a method that takes any preconditioner";
}

TEST_F(PCLineKrylov, AKSPThatTakesAnyPreconditionerHasOneSweepInZebraOrdering)
{
  const Grid grid({40, 36}, {30, 1}, 0.01);
  Krylov     automatic(grid, KSPGMRES), one_way(grid, KSPGMRES);
  for (Krylov *k : {&automatic, &one_way}) OK(PCLineSetOrdering(k->pc, PC_LINE_ORDERING_ZEBRA));
  OK(PCLineSetComposition(one_way.pc, PC_LINE_COMPOSITION_MULTIPLICATIVE));
  EXPECT_EQ(automatic.iterations(), one_way.iterations());
  PetscReal difference;
  OK(VecAXPY(automatic.line.x, -1, one_way.line.x));
  OK(VecNorm(automatic.line.x, NORM_INFINITY, &difference));
  EXPECT_EQ(difference, 0);
  EXPECT_TRUE(contains(
    automatic.view(),
    "sweep: symmetric (auto: multiplicative in the last solve, as its KSP takes any preconditioner), "
    "zebra"))
    << automatic.view();
  Line direct(grid.A, grid.da); // outside of a KSP the same PC is symmetric again
  OK(PCLineSetOrdering(direct.pc, PC_LINE_ORDERING_ZEBRA));
  OK(PCLineSetComposition(direct.pc, PC_LINE_COMPOSITION_SYMMETRIC));
  OK(PCApply(direct.pc, direct.b, direct.x));
  OK(PCApply(automatic.pc, direct.b, direct.r));
  OK(VecAXPY(direct.r, -1, direct.x));
  OK(VecNorm(direct.r, NORM_INFINITY, &difference));
  EXPECT_EQ(difference, 0);
}

TEST_F(PCLineKrylov, ChebyshevsIterationIsSymmetricFromItsEstimateOn)
{
  const Grid grid({40, 36}, {30, 1}, 0.01);
  Krylov     automatic(grid, KSPCHEBYSHEV), symmetric(grid, KSPCHEBYSHEV);
  PetscReal  difference;
  for (Krylov *k : {&automatic, &symmetric}) {
    OK(PCLineSetOrdering(k->pc, PC_LINE_ORDERING_ZEBRA));
    OK(KSPSetTolerances(k->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 10));
  }
  OK(PCLineSetComposition(symmetric.pc, PC_LINE_COMPOSITION_SYMMETRIC));
  EXPECT_EQ(automatic.iterations(), symmetric.iterations());
  OK(VecAXPY(automatic.line.x, -1, symmetric.line.x));
  OK(VecNorm(automatic.line.x, NORM_INFINITY, &difference));
  EXPECT_LT(difference, 1e-12) << "eigenvalues are estimated of what is iterated with";
}

TEST_F(PCLineKrylov, EquallyStrongDirectionsAreAllSwept)
{
  const Grid plane({30, 26}, {1, 1}, 0.01), nearly({30, 26}, {1, 1.05}, 0.01), far({30, 26}, {1, 1.3}, 0.01),
    cube({9, 10, 11}, {1, 1.02, 0.97}, 0.01), flat({9, 10, 11}, {1, 1.02, 0.5}, 0.01);
  const auto directions = [](const Grid &grid, bool with_dm) {
    Line line(grid.A, with_dm ? grid.da : nullptr);
    EXPECT_EQ(PCSetUp(line.pc), 0) << last_error();
    return line.direction() + (contains(line.view(), "sweep: symmetric, jacobi") ? " symmetric" : "");
  };
  for (const bool with_dm : {true, false}) {
    if (!with_dm && ranks > 1) continue; // with several ranks the numbering is not that of a grid
    EXPECT_EQ(directions(plane, with_dm), "x,y symmetric");
    EXPECT_EQ(directions(nearly, with_dm), "x,y symmetric");
    EXPECT_EQ(directions(far, with_dm), "y");
    EXPECT_EQ(directions(cube, with_dm), "x,y,z symmetric");
    EXPECT_EQ(directions(flat, with_dm), "x,y symmetric");
  }
  const Grid squares({30, 26}, {1, 1}, 0.01, false, {}, false,
                     2); // sweeps with wide lines overshoot; the additive composition keeps the PC definite
  Line       line(squares.A, squares.da);
  OK(PCSetUp(line.pc));
  EXPECT_EQ(line.direction(), "x,y");
  EXPECT_TRUE(contains(line.view(), "sweep: additive, jacobi")) << line.view();
  if (ranks == 1) return;
  // with PC_LINE_CUT_ERROR only the direction without distributed lines is used
  const Grid strips({30, 26}, {1, 1}, 0.01, false, {1, ranks});
  Line       whole(strips.A, strips.da);
  OK(PCLineSetCut(whole.pc, PC_LINE_CUT_ERROR));
  OK(PCSetUp(whole.pc));
  EXPECT_EQ(whole.direction(), "x");
}

TEST_F(PCLineKrylov, EquallyStrongDirectionsTakeFewerIterationsThanOne)
{
  const Grid grid({60, 60}, {1, 1}, 0);
  Krylov     automatic(grid, KSPGMRES), one(grid, KSPGMRES);
  OK(PCLineSetDirection(one.pc, PC_LINE_DIRECTION_X));
  EXPECT_LT(2 * automatic.iterations(), one.iterations());
}

} // namespace

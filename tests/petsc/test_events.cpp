// SPDX-License-Identifier: BSD-2-Clause
// Events of -log_view: their counts are those of docs/reference/logging.md, and they end if their work
// fails.
#include "adi_fixture.hpp"
#include "chain_fixture.hpp"
#include "diffusion.hpp"
#include "support/session.hpp"

#include <ribbon_petsc/kspadi.h>
#include <ribbon_petsc/pcadi.h>

#include <map>

using namespace test;

namespace {

/// Counts of events since the last query.
class LogEvents : public Petsc {
protected:
  void SetUp() override
  {
    const ribbon::petsc::Events *registered;
    Petsc::SetUp();
    OK(PetscLogDefaultBegin());
    OK(ribbon::petsc::GetEvents(&registered));
    restart();
  }
  void TearDown() override
  {
    reset_options();
    Petsc::TearDown();
  }

  static int total(const std::string &name)
  {
    PetscLogEvent      event = -1;
    PetscEventPerfInfo info;
    if (PetscLogEventGetId(name.c_str(), &event) != 0 || event < 0) return -1;
    return PetscLogEventGetPerfInfo(0, event, &info) == 0 ? info.count : -1;
  }
  void restart()
  {
    for (const char *name : names) before[name] = total(name);
  }
  /// The events since the last query, in the order of the table: "PCLineDetect 1, PCLineFactor 2".
  std::string counted()
  {
    std::string text;
    for (const char *name : names)
      if (const int more = total(name) - before[name])
        text += (text.empty() ? "" : ", ") + (name + (" " + std::to_string(more)));
    restart();
    return text;
  }
  /// The count of one event. It resets the counts of all events.
  int counted(const char *name)
  {
    const int more = total(name) - before[name];
    restart();
    return more;
  }

private:
  static constexpr const char *names[] = {"PCLineDetect",   "PCLineExtract",   "PCLineFactor", "PCLineRest",
                                          "KSPLinePrepare", "KSPLineResidual", "KSPLineJudge", "ADISplit",
                                          "ADIMass",        "ADISpectra",      "MFAnalyse",    "MFScale",
                                          "MFFactor",       "MFJudge",         "PCLineSolve"};
  std::map<std::string, int>   before;
};

} // namespace

TEST_F(LogEvents, SetUpsOfPCLine)
{
  const Grid grid({12, 9}, {1, 2}, 1, false, {1, ranks});
  Line       line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(counted(), "PCLineDetect 1, PCLineExtract 1, PCLineFactor 1");
  OK(PCApply(line.pc, line.b, line.x));
  EXPECT_EQ(counted(), "PCLineSolve 1");
  OK(MatScale(grid.A, 2));
  OK(PCSetUp(line.pc)); // the lines are known
  EXPECT_EQ(counted(), "PCLineExtract 1, PCLineFactor 1");
  OK(PCSetUp(line.pc)); // so are the values
  EXPECT_EQ(counted(), "");
}

TEST_F(LogEvents, SeveralDirections)
{
  const Grid            grid({12, 9}, {1, 2}, 1, false, {1, ranks});
  Line                  line(grid.A, grid.da);
  const PCLineDirection both[]  = {PC_LINE_DIRECTION_X, PC_LINE_DIRECTION_Y};
  PetscBool             on_host = PETSC_FALSE;
  OK(PetscObjectTypeCompareAny((PetscObject)grid.A, &on_host, MATSEQAIJ, MATMPIAIJ, ""));
  OK(PCLineSetDirections(line.pc, 2, both));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(counted(), std::string("PCLineDetect 1, PCLineExtract 2, PCLineFactor 2") +
                         (on_host && ranks == 1 ? ", PCLineRest 1" : ""));
}

/// PETSc never counts an event again after an error leaves it open.
TEST_F(LogEvents, EndWithErrors)
{
  const Grid grid({12, 9}, {1, 2}, 1, false, {1, ranks});
  Line       line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Z));
  ASSERT_NE(static_cast<int>(PCSetUp(line.pc)), 0);
  EXPECT_EQ(counted(), "PCLineDetect 1");
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
  OK(PCSetUp(line.pc));
  EXPECT_EQ(counted(), "PCLineDetect 1, PCLineExtract 1, PCLineFactor 1");
}

TEST_F(LogEvents, SolvesOfKSPLine)
{
  const Grid grid({60, 7}, {1, 0}, 1e-3, false, {1, ranks}); // uncoupled lines
  KSP        ksp;
  PC         pc;
  PetscInt   its;
  const Line vectors(grid.A);
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetType(ksp, KSPLINE));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetDM(pc, grid.da));
  OK(PCLineSetDirection(pc, PC_LINE_DIRECTION_X));
  OK(KSPSetTolerances(ksp, 1e-3, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  OK(KSPSolve(ksp, vectors.b, vectors.x));
  OK(KSPGetIterationNumber(ksp, &its));
  EXPECT_EQ(its, 1);
  EXPECT_EQ(
    counted(),
    "PCLineDetect 1, PCLineExtract 1, PCLineFactor 1, KSPLinePrepare 1, KSPLineJudge 2, PCLineSolve 1");
  OK(KSPSolve(ksp, vectors.b, vectors.x));
  EXPECT_EQ(counted(), "KSPLineJudge 2, PCLineSolve 1");
  OK(KSPSetNormType(ksp, KSP_NORM_NONE)); // one refinement, with residuals in doubled precision
  OK(KSPSolve(ksp, vectors.b, vectors.x));
  EXPECT_EQ(counted(), "KSPLinePrepare 1, KSPLineResidual 1, PCLineSolve 2");
  OK(KSPDestroy(&ksp));
}

TEST_F(LogEvents, FactorizationsOfMultifrontal)
{
  Mat             A = RandomChain{120, 1, 1}.matrix();
  Vec             units;
  PetscInt        begin, end;
  PC              pc;
  const ByOptions by(A);
  EXPECT_LE(by.error(A), rounding);
  EXPECT_EQ(counted(), "MFAnalyse 1, MFFactor 1, MFJudge 1");
  OK(MatScale(A, 3));
  EXPECT_LE(by.error(A), rounding);
  EXPECT_EQ(counted(), "MFFactor 1, MFJudge 1");
  OK(MatCreateVecs(A, &units, nullptr));
  OK(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) OK(VecSetValue(units, i, i % 3 == 0 ? 1e-9 : 1e9, INSERT_VALUES));
  OK(VecAssemblyBegin(units));
  OK(VecAssemblyEnd(units));
  OK(MatDiagonalScale(A, nullptr, units));
  OK(KSPGetPC(by.ksp, &pc));
  OK(PCSetUp(pc));
  EXPECT_EQ(counted(), "MFScale 1, MFFactor 2, MFJudge 1"); // the factorization detects the units
  OK(VecDestroy(&units));
  OK(MatDestroy(&A));
}

TEST_F(LogEvents, StepsOfTSAdi)
{
  Diffusion problem;
  problem.cubic = problem.growth = 1; // a Jacobian that changes
  DiffusionTS run(problem, "douglas", {1, ranks});
  run.fixed(0.01, 10);
  OK(TSStep(run.ts));
  EXPECT_EQ(counted("ADISplit"), 1);
  OK(TSStep(run.ts));
  EXPECT_EQ(counted("ADISplit"), 1);
  DiffusionTS other(problem, "douglas", {1, ranks});
  other.fixed(0.01, 10);
  OK(TSADISetLagJacobian(other.ts, -1));
  restart();
  OK(TSStep(other.ts));
  EXPECT_EQ(counted(),
            "PCLineDetect 2, PCLineExtract 2, PCLineFactor 2, ADISplit 1, ADIMass 1, PCLineSolve 2");
  OK(TSStep(other.ts));
  EXPECT_EQ(counted(), "PCLineSolve 2");
}

TEST_F(LogEvents, SetUpsOfAdi)
{
  const WithoutPhases real;
  const Grid grid({8, 8}, {1, 2}, 3, false, {1, ranks}), x({8, 8}, {-1, 0}, 0), y({8, 8}, {0, -2}, 0);
  PC         pc;
  KSP        ksp;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(PCSetType(pc, PCADI));
  OK(PCSetOperators(pc, grid.A, grid.A));
  OK(PCSetDM(pc, grid.da));
  OK(PCADISetShift(pc, 3));
  OK(PCSetUp(pc));
  EXPECT_EQ(counted(), "PCLineDetect 2, PCLineExtract 2, PCLineFactor 2, ADISplit 1, ADIMass 1");
  OK(PCDestroy(&pc));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetDM(ksp, grid.da));
  OK(deactivate_dm(ksp));
  OK(KSPSetType(ksp, KSPADI));
  OK(KSPSetUp(ksp));
  EXPECT_EQ(counted("ADISpectra"), 1);
  OK(KSPDestroy(&ksp));
  ribbon::petsc::DirectionSplitting splitting;
  restart();
  OK(splitting.update({x.A, y.A}, {grid.A, grid.da, 3}, nullptr)); // matrices of the application
  EXPECT_EQ(counted(), "ADISplit 1");
}

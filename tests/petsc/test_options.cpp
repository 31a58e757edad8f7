// SPDX-License-Identifier: BSD-2-Clause
// Guarantees of the tables of options for all types (petsc_interface/support/options.hpp).
#include "chain_fixture.hpp"

#include <ribbon_petsc/kspadi.h>
#include <ribbon_petsc/kspline.h>
#include <ribbon_petsc/matcompact.h>
#include <ribbon_petsc/pcadi.h>
#include <ribbon_petsc/pcmulticolor.h>
#include <ribbon_petsc/tsadi.h>

#include <petsc/private/pcimpl.h>

#include <cstring>
#include <limits>

namespace {

using namespace test;

class OptionTables : public Petsc { };

/// An object of a type, and one of a type without its options.
template <class Object>
struct Pair {
  Pair(PetscErrorCode (*create)(MPI_Comm, Object *), PetscErrorCode (*type)(Object, const char *),
       const char *name, const char *other_name, PetscErrorCode (*destroy_one)(Object *))
      : destroy(destroy_one)
  {
    EXPECT_EQ(static_cast<int>(create(PETSC_COMM_WORLD, &object)), 0);
    EXPECT_EQ(static_cast<int>(create(PETSC_COMM_WORLD, &other)), 0);
    EXPECT_EQ(static_cast<int>(type(object, name)), 0);
    EXPECT_EQ(static_cast<int>(type(other, other_name)), 0);
  }
  ~Pair()
  {
    destroy(&object);
    destroy(&other);
  }
  Pair(const Pair &)            = delete;
  Pair &operator=(const Pair &) = delete;

  /// Checks the default, a value that is set, and a value that is refused with a message (null: every value
  /// is allowed). The other type ignores a Set and has no Get. A matrix of another type ignores a bad value,
  /// too.
  template <class T>
  void check(PetscErrorCode (*set)(Object, T), PetscErrorCode (*get)(Object, T *), T first, T value, T bad,
             const char *sentence) const
  {
    T now = bad;
    EXPECT_EQ(static_cast<int>(get(object, &now)), 0);
    EXPECT_EQ(now, first);
    EXPECT_EQ(static_cast<int>(set(object, value)), 0);
    if (sentence) {
      EXPECT_EQ(error_of([&] { return set(object, bad); }), sentence);
      EXPECT_EQ(error_of([&] { return set(other, bad); }), (std::is_same_v<Object, Mat> ? "" : sentence));
    }
    EXPECT_EQ(static_cast<int>(get(object, &now)), 0);
    EXPECT_EQ(now, value);
    EXPECT_EQ(static_cast<int>(set(other, value)), 0);
    EXPECT_NE(static_cast<int>(get(other, &now)), 0);
  }

  Object object = nullptr, other = nullptr;
  PetscErrorCode (*destroy)(Object *);
};

/// A value after the last of an enum.
template <class T>
T after(T last)
{
  return static_cast<T>(last + 1);
}

TEST_F(OptionTables, PCLineChoices)
{
  const Pair<PC> p(PCCreate, PCSetType, PCLINE, PCNONE, PCDestroy);
  p.check(PCLineSetComposition, PCLineGetComposition, PC_LINE_COMPOSITION_AUTO, PC_LINE_COMPOSITION_SYMMETRIC,
          after(PC_LINE_COMPOSITION_SYMMETRIC), "PCLineSetComposition: 4 is no PCLineComposition");
  p.check(PCLineSetOrdering, PCLineGetOrdering, PC_LINE_ORDERING_AUTO, PC_LINE_ORDERING_ZEBRA,
          after(PC_LINE_ORDERING_ZEBRA), "PCLineSetOrdering: 3 is no PCLineOrdering");
  p.check(PCLineSetStrength, PCLineGetStrength, PC_LINE_STRENGTH_ABS, PC_LINE_STRENGTH_NEGATIVE,
          after(PC_LINE_STRENGTH_NEGATIVE), "PCLineSetStrength: 3 is no PCLineStrength");
  p.check(PCLineSetSearch, PCLineGetSearch, PC_LINE_SEARCH_AUTO, PC_LINE_SEARCH_ROUNDS,
          after(PC_LINE_SEARCH_ROUNDS), "PCLineSetSearch: 3 is no PCLineSearch");
  p.check(PCLineSetLhs, PCLineGetLhs, PC_LINE_LHS_AUTO, PC_LINE_LHS_PER_LINE, after(PC_LINE_LHS_PER_LINE),
          "PCLineSetLhs: 4 is no PCLineLhs");
  p.check(PCLineSetCut, PCLineGetCut, PC_LINE_CUT_AUTO, PC_LINE_CUT_ERROR, after(PC_LINE_CUT_ERROR),
          "PCLineSetCut: 5 is no PCLineCut");
  p.check(PCLineSetCutExchange, PCLineGetCutExchange, PC_LINE_CUT_EXCHANGE_AUTO,
          PC_LINE_CUT_EXCHANGE_DEALT_OUT, after(PC_LINE_CUT_EXCHANGE_DEALT_OUT),
          "PCLineSetCutExchange: 3 is no PCLineCutExchange");
  p.check(PCLineSetCutTransport, PCLineGetCutTransport, RIBBON_TRANSPORT_AUTO, RIBBON_TRANSPORT_PEER,
          after(RIBBON_TRANSPORT_PEER), "PCLineSetCutTransport: 5 is no RibbonTransport");
  p.check(PCLineSetAlgorithm, PCLineGetAlgorithm, PC_LINE_ALGORITHM_AUTO, PC_LINE_ALGORITHM_TOEPLITZ_CR,
          after(PC_LINE_ALGORITHM_TOEPLITZ_CR), "PCLineSetAlgorithm: 11 is no PCLineAlgorithm");
  p.check(PCLineSetPrecision, PCLineGetPrecision, PC_LINE_PRECISION_SAME, PC_LINE_PRECISION_SINGLE_UNREFINED,
          after(PC_LINE_PRECISION_SINGLE_UNREFINED), "PCLineSetPrecision: 3 is no PCLinePrecision");
  p.check(PCLineSetProbe, PCLineGetProbe, PC_LINE_PROBE_AUTO, PC_LINE_PROBE_NEVER, after(PC_LINE_PROBE_NEVER),
          "PCLineSetProbe: 3 is no PCLineProbe");
  p.check(PCLineSetShiftType, PCLineGetShiftType, PC_LINE_SHIFT_NONE, PC_LINE_SHIFT_PIN,
          after(PC_LINE_SHIFT_PIN), "PCLineSetShiftType: 3 is no PCLineShiftType");
}

TEST_F(OptionTables, PCLineNumbers)
{
  const Pair<PC> p(PCCreate, PCSetType, PCLINE, PCNONE, PCDestroy);
  p.check<PetscReal>(PCLineSetOmega, PCLineGetOmega, 0, 1.5, 2,
                     "PCLineSetOmega, -pc_line_omega: 2. is not in [0, 2)");
  p.check<PetscInt>(PCLineSetIterations, PCLineGetIterations, 1, 3, 0,
                    "PCLineSetIterations, -pc_line_iterations: 0 is not positive");
  p.check<PetscInt>(PCLineSetSwitchRows, PCLineGetSwitchRows, 0, 64, -1,
                    "PCLineSetSwitchRows, -pc_line_switch_rows: -1 is negative");
  p.check<PetscReal>(PCLineSetLhsTol, PCLineGetLhsTol, 0, 0.25, 1,
                     "PCLineSetLhsTol, -pc_line_lhs_tol: 1. is not in [0, 1)");
  p.check<PetscReal>(PCLineSetZeroPivot, PCLineGetZeroPivot, 0, 0.5, -0.5,
                     "PCLineSetZeroPivot, -pc_line_zeropivot: -0.5 is not in [0, 1)");
  p.check<PetscReal>(PCLineSetShiftAmount, PCLineGetShiftAmount, 0, 0.5, 3,
                     "PCLineSetShiftAmount, -pc_line_shift_amount: 3. is not in [0, 1)");
  p.check<PetscBool>(PCLineSetCompare, PCLineGetCompare, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE, nullptr);
}

/// A value that the compiler would reject.
template <class T>
T number(int n)
{
  T value{};
  std::memcpy(&value, &n, std::min(sizeof value, sizeof n));
  return value;
}

TEST_F(OptionTables, KSPLineAndADI)
{
  const Pair<KSP> line(KSPCreate, KSPSetType, KSPLINE, KSPPREONLY, KSPDestroy);
  line.check(KSPLineSetPrecision, KSPLineGetPrecision, PC_LINE_PRECISION_SAME, PC_LINE_PRECISION_SINGLE,
             PC_LINE_PRECISION_SINGLE_UNREFINED,
             "KSPLineSetPrecision: 2 is neither PC_LINE_PRECISION_SAME nor PC_LINE_PRECISION_SINGLE");
  const Pair<PC> pc(PCCreate, PCSetType, PCADI, PCNONE, PCDestroy);
  pc.check<PetscReal>(PCADISetShift, PCADIGetShift, 0, 2, -1,
                      "PCADISetShift, -pc_adi_shift: -1. is negative, or not a finite number");
  const bool is_enum = sizeof(PetscBool) == sizeof(int); // since PETSc 3.24 it is C++'s bool
  pc.check<PetscBool>(PCADISetSymmetric, PCADIGetSymmetric, PETSC_FALSE, PETSC_TRUE,
                      is_enum ? number<PetscBool>(7) : PETSC_FALSE,
                      is_enum ? "PCADISetSymmetric: 7 is no PetscBool" : nullptr);
  const Pair<KSP> ksp(KSPCreate, KSPSetType, KSPADI, KSPPREONLY, KSPDestroy);
  ksp.check<PetscInt>(KSPADISetShifts, KSPADIGetShifts, 0, 1024, -1,
                      "KSPADISetShifts, -ksp_adi_shifts: -1 is negative");
  const Pair<TS> ts(TSCreate, TSSetType, TSADI, TSEULER, TSDestroy);
  ts.check(TSADISetType, TSADIGetType, TS_ADI_AUTO, TS_ADI_DOUGLAS, after(TS_ADI_RA34PW2),
           "TSADISetType: 7 is no TSADIType");
  ts.check<PetscReal>(TSADISetTheta, TSADIGetTheta, 0, 0.5, 11,
                      "TSADISetTheta, -ts_adi_theta: 11. is not in [0, 10]");
  ts.check<PetscInt>(TSADISetLagJacobian, TSADIGetLagJacobian, 1, -1, 0,
                     "TSADISetLagJacobian, -ts_adi_lag_jacobian: 0 is neither positive nor -1");
  ts.check<PetscInt>(TSADISetRannacher, TSADIGetRannacher, 0, 2, -1,
                     "TSADISetRannacher, -ts_adi_rannacher: -1 is negative");
  ts.check<PetscInt>(TSADISetFuseSteps, TSADIGetFuseSteps, -1, 50, -2,
                     "TSADISetFuseSteps, -ts_adi_fuse_steps: -2 is less than -1");
  ts.check<PetscBool>(TSADISetTimeDerivative, TSADIGetTimeDerivative, PETSC_TRUE, PETSC_FALSE,
                      is_enum ? number<PetscBool>(7) : PETSC_TRUE,
                      is_enum ? "TSADISetTimeDerivative: 7 is no PetscBool" : nullptr);
  ts.check<PetscBool>(TSADISetIterate, TSADIGetIterate, PETSC_TRUE, PETSC_FALSE,
                      is_enum ? number<PetscBool>(7) : PETSC_TRUE,
                      is_enum ? "TSADISetIterate: 7 is no PetscBool" : nullptr);
  ts.check<PetscBool>(TSADISetConstantLinear, TSADIGetConstantLinear, PETSC_FALSE, PETSC_TRUE,
                      is_enum ? number<PetscBool>(7) : PETSC_FALSE,
                      is_enum ? "TSADISetConstantLinear: 7 is no PetscBool" : nullptr);
}

TEST_F(OptionTables, MatCompact)
{
  const Pair<Mat> A(MatCreate, MatSetType, MATCOMPACT, MATSHELL, MatDestroy);
  A.check(MatCompactSetDirection, MatCompactGetDirection, MAT_COMPACT_X, MAT_COMPACT_Z, after(MAT_COMPACT_Z),
          "MatCompactSetDirection: 3 is no MatCompactDirection");
  A.check<PetscInt>(MatCompactSetDerivative, MatCompactGetDerivative, 1, 2, 3,
                    "MatCompactSetDerivative, -mat_compact_derivative: 3 is not 0, 1 or 2");
  A.check<PetscInt>(MatCompactSetOrder, MatCompactGetOrder, 6, 10, 5,
                    "MatCompactSetOrder, -mat_compact_order: 5 is not 4, 6, 8 or 10");
  A.check<PetscInt>(MatCompactSetEnds, MatCompactGetEnds, 4, 3, 2,
                    "MatCompactSetEnds, -mat_compact_ends: 2 is not 3 or 4");
  A.check(MatCompactSetFilter, MatCompactGetFilter, static_cast<PetscReal>(0.45),
          static_cast<PetscReal>(0.25), static_cast<PetscReal>(0.5),
          "MatCompactSetFilter, -mat_compact_filter: 0.5 is not in [0, 1/2)");
  A.check(MatCompactSetStaggered, MatCompactGetStaggered, MAT_COMPACT_STAGGERED_NONE,
          MAT_COMPACT_STAGGERED_BACKWARD, after(MAT_COMPACT_STAGGERED_BACKWARD),
          "MatCompactSetStaggered: 3 is no MatCompactStaggered");
  A.check<PetscReal>(MatCompactSetSpacing, MatCompactGetSpacing, 0, 0.25, -1,
                     "MatCompactSetSpacing, -mat_compact_spacing: -1. is negative, or not a finite number");
  const bool is_enum = sizeof(PetscBool) == sizeof(int); // since PETSc 3.24 it is C++'s bool
  A.check<PetscBool>(MatCompactSetPeriodic, MatCompactGetPeriodic, PETSC_FALSE, PETSC_TRUE,
                     is_enum ? number<PetscBool>(7) : PETSC_FALSE,
                     is_enum ? "MatCompactSetPeriodic: 7 is no PetscBool" : nullptr);
}

TEST_F(OptionTables, PCMulticolor)
{
  const Pair<PC> p(PCCreate, PCSetType, PCMULTICOLOR, PCNONE, PCDestroy);
  p.check<PetscReal>(PCMulticolorSetOmega, PCMulticolorGetOmega, 1, 1.5, 2,
                     "PCMulticolorSetOmega, -pc_multicolor_omega: 2. is not in (0, 2)");
  p.check<PetscReal>(
    PCMulticolorSetDiagonalShift, PCMulticolorGetDiagonalShift, 0, -0.5,
    std::numeric_limits<PetscReal>::infinity(),
    "PCMulticolorSetDiagonalShift, -pc_multicolor_diagonal_shift: inf. is not a finite number");
  p.check(PCMulticolorSetColoring, PCMulticolorGetColoring, PC_MULTICOLOR_COLORING_AUTO,
          PC_MULTICOLOR_COLORING_GREEDY, after(PC_MULTICOLOR_COLORING_GREEDY),
          "PCMulticolorSetColoring: 4 is no PCMulticolorColoring");
  p.check(PCMulticolorSetCut, PCMulticolorGetCut, PC_MULTICOLOR_CUT_LOCAL, PC_MULTICOLOR_CUT_EXACT,
          after(PC_MULTICOLOR_CUT_EXACT), "PCMulticolorSetCut: 2 is no PCMulticolorCut");
  p.check<PetscBool>(PCMulticolorSetResidual, PCMulticolorGetResidual, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE,
                     nullptr);
  p.check(PCMulticolorSetSymmetric, PCMulticolorGetSymmetric, SOR_SYMMETRIC_SWEEP, SOR_BACKWARD_SWEEP,
          SOR_EISENSTAT, "PCMulticolorSetSymmetric: 32 is no sweep forward, backward or symmetric");
}

TEST_F(OptionTables, MatricesOfOtherSolverTypesIgnoreAnyValue)
{
  const auto bad = after(MAT_MULTIFRONTAL_PIVOT_NONE);
  Mat        A   = RandomChain{30, 1, 1}.matrix();
  {
    Factored             f(A);
    MatMultifrontalPivot pivot = MAT_MULTIFRONTAL_PIVOT_NONE;
    OK(MatMultifrontalGetPivot(f.F, &pivot));
    EXPECT_EQ(pivot, MAT_MULTIFRONTAL_PIVOT_QR);
    EXPECT_EQ(error_of([&] { return MatMultifrontalSetPivot(f.F, bad); }),
              "MatMultifrontalSetPivot: 2 is no MatMultifrontalPivot");
    OK(MatMultifrontalSetPivot(f.F, MAT_MULTIFRONTAL_PIVOT_NONE));
    OK(MatMultifrontalGetPivot(f.F, &pivot));
    EXPECT_EQ(pivot, MAT_MULTIFRONTAL_PIVOT_NONE);
    EXPECT_NE(error_of([&] { return MatMultifrontalGetPivot(A, &pivot); }), "");
  }
  OK(MatMultifrontalSetPivot(A, bad));
  OK(MatMultifrontalSetLeafSize(A, -5));
  OK(MatDestroy(&A));
}

TEST_F(OptionTables, OnlyANewValueAsksForASetUp)
{
  const Grid grid({12, 4 * ranks}, {1, 0}, 1, false, {1, ranks});
  PC         pc;
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(PCSetType(pc, PCLINE));
  OK(PCSetOperators(pc, grid.A, grid.A));
  OK(PCSetUp(pc));
  OK(PCLineSetIterations(pc, 1));
  EXPECT_TRUE(pc->setupcalled);
  OK(PCLineSetIterations(pc, 2));
  EXPECT_FALSE(pc->setupcalled);
  OK(PCSetUp(pc));
  OK(PCSetType(pc, PCNONE)); // the methods disappear with the type
  PetscInt its;
  EXPECT_EQ(error_of([&] { return PCLineGetIterations(pc, &its); }),
            "Cannot locate function PCLineGetIterations_C in object");
  OK(PCDestroy(&pc));
}

} // namespace

// SPDX-License-Identifier: BSD-2-Clause
#include "../support/options.hpp"
#include "ts.hpp"

#include <petsc/private/linesearchimpl.h>

namespace ribbon::petsc {

namespace {

/// Another method has other vectors, and another default of -ts_adapt_type.
PetscErrorCode SetType(TS ts, TSADIType type)
{
  PetscFunctionBegin;
  ts->default_adapt_type = method_of(type).estimates ? TSADAPTBASIC : TSADAPTNONE;
  if (adi_of(ts)->type == type) PetscFunctionReturn(PETSC_SUCCESS);
  adi_of(ts)->type = type;
  if (ts->setupcalled) PetscUseTypeMethod(ts, setup);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetDirectionJacobian(TS ts, PetscInt direction, Mat A, TSADIDirectionJacobian func, void *ctx)
{
  TS_ADI::DirectionJacobian &given = adi_of(ts)->given[static_cast<std::size_t>(direction)];
  PetscFunctionBegin;
  if (A) PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(&given.A));
  given           = {A, func, ctx};
  adi_of(ts)->age = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *NotAWeight(PetscReal theta)
{
  return theta >= 0 && theta <= 10 ? nullptr : "is not in [0, 10]";
}

const char *NotALag(PetscInt steps)
{
  return steps == -1 || steps > 0 ? nullptr : "is neither positive nor -1";
}

const char *NotACall(PetscInt steps)
{
  return steps >= -1 ? nullptr : "is less than -1";
}

/// The next step looks at the problem again.
void ForgetFused(TS ts)
{
  adi_of(ts)->fused.lines.reset();
  adi_of(ts)->fused.generation = -1;
}

const char *NotACount(PetscInt steps)
{
  return steps >= 0 ? nullptr : "is negative";
}

constexpr auto ts_adi_options = std::make_tuple(
  Option("-ts_adi_type", "Method", "TSADISetType",
         OptionMethods<TS, TSADIType>{SetType, stored<TS, &TS_ADI::type>.get}, TSADITypes),
  Option("-ts_adi_theta", "Implicit weight (0: the weight of the method)", "TSADISetTheta",
         stored<TS, &TS_ADI::theta>, NotAWeight),
  Option("-ts_adi_lag_jacobian", "Steps between two Jacobians (-1: one Jacobian for all steps)",
         "TSADISetLagJacobian", stored<TS, &TS_ADI::lag_jacobian>, NotALag),
  Option("-ts_adi_rannacher", "Steps after a start that consist of two half steps of backward Euler each",
         "TSADISetRannacher", stored<TS, &TS_ADI::rannacher>, NotACount),
  Option("-ts_adi_time_derivative", "Terms for functions that depend on time, in several directions",
         "TSADISetTimeDerivative", stored<TS, &TS_ADI::time_derivative>, NotABool),
  Option("-ts_adi_iterate", "Adaptive steps of auto solve their stages with GMRES if necessary",
         "TSADISetIterate", stored<TS, &TS_ADI::iterate>, NotABool),
  Option("-ts_adi_constant_linear", "The equation is M U' = J U with constant M and J",
         "TSADISetConstantLinear", stored<TS, &TS_ADI::constant_linear, ForgetFused>, NotABool),
  Option("-ts_adi_fuse_steps", "Most steps of one call (0: steps are not fused, -1: as many as possible)",
         "TSADISetFuseSteps", stored<TS, &TS_ADI::fuse_steps>, NotACall));

} // namespace

PetscErrorCode ComposeADIOptions(TS ts, bool attach)
{
  PetscFunctionBegin;
  PetscCall(ComposeOptions(ts, ts_adi_options, attach));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSADISetDirectionJacobian_C",
                                       attach ? SetDirectionJacobian : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrepareSNES(TS ts)
{
  PetscFunctionBegin;
  PetscCall(TSGetSNES(ts, &ts->snes));
  if (!((PetscObject)ts->snes)->type_name) PetscCall(SNESSetType(ts->snes, SNESKSPONLY));
  ts->snes->usesksp = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TakeMatrices(TS ts)
{
  TS_ADI             *adi  = adi_of(ts);
  const SNES          snes = ts->snes;
  DM                  dm;
  RibbonTSIJacobian   ijacobian;
  RibbonTSRHSJacobian rhsjacobian;
  PetscInt            m, n, M, N;
  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIJacobian(dm, &ijacobian, nullptr));
  PetscCall(DMTSGetRHSJacobian(dm, &rhsjacobian, nullptr));
  if (ijacobian || rhsjacobian != TSComputeRHSJacobianConstant || !ts->Arhs || !ts->Brhs)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (snes->jacobian != ts->Arhs || snes->jacobian_pre != ts->Brhs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&adi->placeholder));
  PetscCall(MatGetLocalSize(ts->Arhs, &m, &n));
  PetscCall(MatGetSize(ts->Arhs, &M, &N));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)ts), m, n, M, N, nullptr, &adi->placeholder));
  PetscCall(SNESSetJacobian(snes, adi->placeholder, adi->placeholder, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GiveMatrices(TS ts, bool copies)
{
  TS_ADI    *adi  = adi_of(ts);
  const SNES snes = ts->snes;
  Mat        A = ts->Arhs, B = ts->Brhs;
  PetscFunctionBegin;
  const bool wants = adi->placeholder && snes && snes->jacobian == adi->placeholder && A && B;
  PetscCall(MatDestroy(&adi->placeholder)); // the SNES still has it
  if (!wants) PetscFunctionReturn(PETSC_SUCCESS);
  if (copies) {
    PetscCall(MatDuplicate(ts->Brhs, MAT_COPY_VALUES, &B));
    if (ts->Arhs == ts->Brhs) A = B;
    else PetscCall(MatDuplicate(ts->Arhs, MAT_COPY_VALUES, &A));
  }
  PetscCall(SNESSetJacobian(snes, A, B, nullptr, nullptr));
  if (copies && A != B) PetscCall(MatDestroy(&A));
  if (copies) PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefuseWhatIsIgnored(TS ts)
{
  const MPI_Comm       comm   = PetscObjectComm((PetscObject)ts);
  const SNES           snes   = ts->snes;
  const SNESLineSearch search = snes->linesearch;
  PetscBool            is_vi, has;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)snes, &is_vi, SNESVINEWTONRSLS, SNESVINEWTONSSLS, ""));
  PetscCheck(
    !is_vi && !snes->xl && !snes->xu && !snes->ops->computevariablebounds, comm, PETSC_ERR_SUP,
    "TS adi does not support bounds on the solution (TSVISetVariableBounds(), -snes_type vinewtonrsls): its "
    "steps are linear solves; take -ts_type beuler -snes_type vinewtonrsls");
  PetscCheck(
    !snes->ops->update, comm, PETSC_ERR_SUP,
    "TS adi calls no SNESSolve(), and so not the function of SNESSetUpdate() either: take another -ts_type, "
    "or TSSetPreStage()");
  PetscCheck(!search || (!search->ops->precheck && !search->ops->postcheck), comm, PETSC_ERR_SUP,
             "TS adi has no line search, and does not call the functions of SNESLineSearchSetPreCheck() and "
             "SNESLineSearchSetPostCheck(): take another -ts_type, or TSSetPostStage()");
  PetscCall(TSHasTransientVariable(ts, &has));
  PetscCheck(!has, comm, PETSC_ERR_SUP,
             "TS adi does not support TSSetTransientVariable(): take -ts_type bdf, or beuler");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetADIFromOptions(TS ts, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "ADI ODE solver options");
  PetscCall(ReadOptions(ts, ts_adi_options, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscCall(PrepareSNES(ts));
  PetscCall(TakeMatrices(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

// The public functions. On a TS of another type a Set does nothing, and a Get is an error.

using namespace ribbon::petsc;

RIBBON_OPTION(ts_adi_options, TS, TSADI, Type, TSADIType)
RIBBON_OPTION(ts_adi_options, TS, TSADI, Theta, PetscReal)
RIBBON_OPTION(ts_adi_options, TS, TSADI, LagJacobian, PetscInt)
RIBBON_OPTION(ts_adi_options, TS, TSADI, Rannacher, PetscInt)
RIBBON_OPTION(ts_adi_options, TS, TSADI, TimeDerivative, PetscBool)
RIBBON_OPTION(ts_adi_options, TS, TSADI, Iterate, PetscBool)
RIBBON_OPTION(ts_adi_options, TS, TSADI, ConstantLinear, PetscBool)
RIBBON_OPTION(ts_adi_options, TS, TSADI, FuseSteps, PetscInt)

PetscErrorCode TSADISetDirectionJacobian(TS ts, PetscInt direction, Mat A, TSADIDirectionJacobian func,
                                         void *ctx)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ts, direction, 2);
  if (A) PetscValidHeaderSpecific(A, MAT_CLASSID, 3);
  PetscCheck(direction >= 0 && direction < 3, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "TSADISetDirectionJacobian: direction %" PetscInt_FMT " is not 0, 1 or 2", direction);
  PetscCheck(!A || func, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_NULL,
             "TSADISetDirectionJacobian: direction %" PetscInt_FMT
             " has a matrix, but no function that computes it",
             direction);
  PetscTryMethod(ts, "TSADISetDirectionJacobian_C", (TS, PetscInt, Mat, TSADIDirectionJacobian, void *),
                 (ts, direction, A, func, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}
